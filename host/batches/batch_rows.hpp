#pragma once

#include <algorithm>
#include <array>
#include <span>

#include "espalier/kernel/model/packs/pack_code.hpp"

/// Packs of a batch out of the caller's arrays and back, as far as PackCode leaves it to batches.

namespace espalier::detail {

/// Packs that a thread takes at once, at most.
inline constexpr int most_blocks = 16;

/// Numbers of fewer states than a pack has, the last one in the lanes that are left. Each goes to
/// its place by itself: packs that are put together in registers would wait for one another.
template <class P>
void load_some(const double* row, const Strides& at, int rows, int count, P* pack) {
  using Element [[gnu::may_alias]] = typename P::Element;
  for (int r = 0; r < rows; ++r, row += at.number) {
    auto* const lane = reinterpret_cast<Element*>(&pack[r]);
    for (int k = 0; k < count; ++k) lane[k] = static_cast<Element>(row[k * at.state]);
    for (int k = count; k < P::size; ++k) lane[k] = lane[count - 1];
  }
}
/// The first states of a pack.
template <class P>
void store_some(const P* pack, int rows, double* row, const Strides& at, int count) {
  for (int r = 0; r < rows; ++r, row += at.number) scatter(pack[r], row, at, 0, count);
}

/// Writes whole packs of neighbours, number r of pack k in packs[k][r], and looks at a few rows
/// while the first cache holds them.
/// @param first       number 0 of the first state
/// @param not_finite  of each pack: stays zero in the lanes in which all numbers are finite; or
///                    empty, then nobody looks
template <class P>
void store_and_look(const PackCode& code, std::span<const P* const> packs, int rows, double* first,
                    const Strides& at, std::span<P> not_finite) {
  // States that stand one after the other are transposed as a whole.
  const int rows_at_once = at.state == 1 ? 64 : std::max(1, rows);
  std::array<const P*, most_blocks> part;
  for (int r = 0; r < rows; r += rows_at_once) {
    const int count = std::min(rows_at_once, rows - r);
    for (std::size_t k = 0; k < packs.size(); ++k) part[k] = packs[k] + r;
    code.store(std::span(part.data(), packs.size()), count, first + r * at.number, at);
    for (std::size_t k = 0; k < not_finite.size(); ++k) {
      code.take_not_finite(std::span(part[k], static_cast<std::size_t>(count)), not_finite[k]);
    }
  }
}

}  // namespace espalier::detail
