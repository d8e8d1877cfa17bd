#pragma once

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

}  // namespace espalier::detail
