#pragma once

#include <span>

#include "espalier/kernel/scalar/pack.hpp"

/// Packs out of structures of arrays of doubles, which floats are rounded from. Not for plugins.

namespace espalier::detail {

template <class P>
inline P load(const double* row) {
  P x;
  for (int k = 0; k < P::size; ++k) x.lanes[k] = static_cast<typename P::Element>(row[k]);
  return x;
}
template <class P>
inline void store(const P& x, double* row) {
  for (int k = 0; k < P::size; ++k) row[k] = x.lanes[k];
}

/// Neighbours of a row of N numbers; beyond the end, the last one.
template <class P>
inline P gather(const double* row, int first, int N) {
  if (first + P::size <= N) return load<P>(row + first);
  P x(row[N - 1]);
  for (int k = first; k < N; ++k) x.set(k - first, static_cast<typename P::Element>(row[k]));
  return x;
}

template <class P>
inline void scatter(const P& x, double* row, int first, int N) {
  if (first + P::size <= N) return store(x, row + first);
  for (int k = first; k < N; ++k) row[k] = x[k - first];
}

/// Rows of structures of arrays lie far apart, and for N like 4096 in few sets of the caches: they
/// are asked for so many rows ahead.
constexpr int rows_ahead = 3;
inline void prefetch(const double* row, int count) {
  for (int k = 0; k < count; k += 8) __builtin_prefetch(row + k);
}

/// Whole packs of neighbours in all rows, row r of pack k in packs[k][r].
/// @param first  in row 0  @param N  from row to row
template <class P>
void load_rows(const double* first, long N, int rows, std::span<P* const> packs) {
  const int count = static_cast<int>(packs.size());
  for (int r = 0; r < rows; ++r, first += N) {
    if (r + rows_ahead < rows) prefetch(first + rows_ahead * N, count * P::size);
    for (int k = 0; k < count; ++k) packs[k][r] = load<P>(first + k * P::size);
  }
}
template <class P>
void store_rows(std::span<const P* const> packs, int rows, double* first, long N) {
  const int count = static_cast<int>(packs.size());
  for (int r = 0; r < rows; ++r, first += N) {
    if (r + rows_ahead < rows) prefetch(first + rows_ahead * N, count * P::size);
    for (int k = 0; k < count; ++k) store(packs[k][r], first + k * P::size);
  }
}

}  // namespace espalier::detail
