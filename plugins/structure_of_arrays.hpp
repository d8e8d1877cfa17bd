#pragma once

#include "espalier/kernel/scalar/pack.hpp"

/// Packs out of structures of arrays. Not for plugins.

namespace espalier::detail {

/// Four neighbours of a row of N numbers; beyond the end, the last one.
inline Pack gather(const double* row, int first, int N) {
  if (first + Pack::size <= N) return Pack::load(row + first);
  Pack x(row[N - 1]);
  for (int k = first; k < N; ++k) x.set(k - first, row[k]);
  return x;
}

inline void scatter(const Pack& x, double* row, int first, int N) {
  if (first + Pack::size <= N) return x.store(row + first);
  for (int k = first; k < N; ++k) row[k] = x[k - first];
}

}  // namespace espalier::detail
