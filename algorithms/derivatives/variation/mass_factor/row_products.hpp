#pragma once

#include "espalier/kernel/scalar/pack.hpp"

namespace espalier {

/// Products of small matrices by blocks: a few rows, a Pack of columns each, stay in registers
/// while rows of the other factor pass by.
namespace row_products {

/// As many rows at once as registers hold sums of, beside what they are made of.
#ifdef __AVX512F__
inline constexpr int most_rows = 8;
inline constexpr bool halves_pay = false;
#else
inline constexpr int most_rows = 6;
inline constexpr bool halves_pay = true;  ///< whether half a Pack takes half the time
#endif

/// sum_r += sum over t of F_rt X_t, or less these.
/// @param F       F_rt stands at r row_step + t step
/// @param X       row t stands at t stride
template <bool add, int rows, long row_step, class P>
inline void accumulate(P (&sum)[rows], const double* F, long step, const double* X, long stride,
                       int count) {
  for (int t = 0; t < count; ++t, F += step, X += stride) {
    const P x = P::load(X);
    for (int r = 0; r < rows; ++r) {
      if constexpr (add) {
        sum[r] += P(F[r * row_step]) * x;
      } else {
        sum[r] -= P(F[r * row_step]) * x;
      }
    }
  }
}

inline Pack halves(const Quad& first, const Quad& second) {
  return Pack(__builtin_shufflevector(first.lanes, second.lanes, 0, 1, 2, 3, 4, 5, 6, 7));
}

/// Rows of `size` in as few parts as there can be, of which the first has so many.
template <int size>
inline constexpr int first_part = size <= most_rows ? size : (size + 1) / 2;

}  // namespace row_products
}  // namespace espalier
