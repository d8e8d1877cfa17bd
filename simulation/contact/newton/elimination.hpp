#pragma once

#include <algorithm>
#include <cstddef>

#include "espalier/kernel/scalar/reciprocal.hpp"

namespace espalier::contact {

/// Entries [first, first + p) of row i once the rows above are taken off: factors left of the
/// diagonal, the rest right of it. Sums stay in registers.
template <int p, class T>
inline void eliminate_entries(int n, T* A, int i, int first) {
  T* row = A + static_cast<std::size_t>(i) * n + first;
  T sum[p];
  for (int r = 0; r < p; ++r) sum[r] = row[r];
  const T* factors = A + static_cast<std::size_t>(i) * n;
  const int before = std::min(i, first);
  for (int k = 0; k < before; ++k) {
    const T factor = factors[k];
    const T* above = A + static_cast<std::size_t>(k) * n + first;
    for (int r = 0; r < p; ++r) sum[r] -= factor * above[r];
  }
  for (int r = 0; r < p; ++r) {
    if (first + r >= i) continue;  // a count that is known keeps the sums in registers
    const T* pivot = A + static_cast<std::size_t>(first + r) * n + first;
    sum[r] *= pivot[r];
    for (int c = r + 1; c < p; ++c) sum[c] -= sum[r] * pivot[c];
  }
  for (int r = 0; r < p; ++r) row[r] = sum[r];
}

/// x = A^-1 x without exchange of rows, the same in every lane. A n x n, row-major, is overwritten;
/// x n x columns, row-major.
template <class T>
inline void eliminate(int n, T* A, int columns, T* x) {
  for (int i = 0; i < n; ++i) {
    int first = 0;
    for (; first + 4 <= n; first += 4) eliminate_entries<4>(n, A, i, first);
    for (; first < n; ++first) eliminate_entries<1>(n, A, i, first);
    T* row = A + static_cast<std::size_t>(i) * n;
    row[i] = reciprocal(row[i]);
    for (int c = 0; c < columns; ++c) {
      T sum = x[i * columns + c];
      for (int k = 0; k < i; ++k) sum -= row[k] * x[k * columns + c];
      x[i * columns + c] = sum;
    }
  }
  for (int i = n - 1; i >= 0; --i) {
    const T* row = A + static_cast<std::size_t>(i) * n;
    for (int c = 0; c < columns; ++c) {
      T sum = x[i * columns + c];
      for (int k = i + 1; k < n; ++k) sum -= row[k] * x[k * columns + c];
      x[i * columns + c] = sum * row[i];
    }
  }
}

}  // namespace espalier::contact
