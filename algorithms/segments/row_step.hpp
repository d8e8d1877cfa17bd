#pragma once

#include <algorithm>
#include <array>

#include "algorithms/chains/columns/row_lanes.hpp"
#include "algorithms/segments/turning_rows.hpp"

namespace espalier {

/// Where the lanes of a row find the bodies at a step of their ways.
template <class T>
struct RowStep {
  static constexpr int lanes = RowLanes<T>::size;
  using Place = typename TurningRows<lanes>::Place;

  RowStep() = default;
  explicit RowStep(const std::array<Place, lanes>& places)
      : row(places[0].row),
        shared(std::count(places.begin(), places.end(), places[0]) == lanes),
        place(places) {
    for (int k = 0; k < lanes; ++k) {
      if (places[k] != Place{places[0].row, k}) row = -1;
    }
  }

  int row = -1;         ///< of all lanes, each in its own; -1: apart, at their places
  bool shared = false;  ///< one body for all lanes
  std::array<Place, lanes> place;
};

/// Numbers first, first + 1, ... of what rows show, of the bodies at a step.
/// @param of  of(row): its numbers, a real array, since lanes are picked out of it by number
template <int first, int count, class T, class Of, class V>
ESPALIER_ALWAYS_INLINE void read_lanes(const RowStep<T>& step, Of&& of, V* out) {
  constexpr int lanes = RowStep<T>::lanes;
  if (step.row >= 0) {
    const V* all = of(step.row);
    for (int n = 0; n < count; ++n) out[n] = all[first + n];
    return;
  }
  const T* at[lanes];
  for (int k = 0; k < lanes; ++k) {
    at[k] = &row_of<T>(of(step.place[k].row), lanes * first + step.place[k].lane);
  }
  if (step.shared) {
    for (int n = 0; n < count; ++n) out[n] = V(at[0][lanes * n]);
    return;
  }
  for (int n = 0; n < count; ++n) {
    out[n] = side_by_side<T>([&](int k) { return at[k][lanes * n]; });
  }
}

}  // namespace espalier
