#pragma once

#include <type_traits>
#include <utility>

namespace espalier {

/// Calls f(j) for 0 <= j < n. With `fixed` > 0, which is n then, every j is a constant, so that
/// what arrays hold at j may stay in registers.
template <int fixed, class F>
[[gnu::always_inline]] inline void for_each_below(int n, F&& f) {
  if constexpr (fixed > 0) {
    [&]<int... j>(std::integer_sequence<int, j...>) __attribute__((always_inline)) {
      (f(std::integral_constant<int, j>{}), ...);
    }
    (std::make_integer_sequence<int, fixed>{});
  } else {
    for (int j = 0; j < n; ++j) f(j);
  }
}

/// A += s row^T row, lower triangle, n x n, row-major.
template <class T>
inline void add_square(const T& s, const T* row, int n, T* A) {
  for (int j = 0; j < n; ++j) {
    const T t = s * row[j];
    for (int l = 0; l <= j; ++l) A[j * n + l] += t * row[l];
  }
}
/// A += s (a^T b + b^T a), likewise.
template <class T>
inline void add_product(const T& s, const T* a, const T* b, int n, T* A) {
  for (int j = 0; j < n; ++j) {
    const T x = s * a[j], y = s * b[j];
    for (int l = 0; l <= j; ++l) A[j * n + l] += x * b[l] + y * a[l];
  }
}

/// Factors a symmetric positive definite n x n matrix as L D L^T in place: lower triangle,
/// row-major; afterwards the unit factor below the diagonal and 1 / D on it.
/// @tparam fixed  n if it is known (for_each_below)
template <int fixed = 0, class T>
inline void ldlt(T* A, int n) {
  for_each_below<fixed>(
      n, [&](int j) __attribute__((always_inline)) {
        for (int k = 0; k < j; ++k) {
          // Row j still holds L_jk D_k.
          const T w = A[j * n + k];
          const T l = w * A[k * n + k];
          A[j * n + j] -= w * l;
          for (int i = j + 1; i < n; ++i) A[i * n + j] -= A[i * n + k] * l;
          A[j * n + k] = l;
        }
        A[j * n + j] = T(1.0) / A[j * n + j];
      });
}

/// x = A^-1 x with the factor of ldlt(). X may be a pack of right-hand sides.
template <int fixed = 0, class T, class X>
inline void ldlt_solve(const T* A, int n, X* x) {
  for_each_below<fixed>(
      n, [&](int i) __attribute__((always_inline)) {
        for (int k = 0; k < i; ++k) x[i] -= A[i * n + k] * x[k];
      });
  for_each_below<fixed>(
      n, [&](int j) __attribute__((always_inline)) {
        const int i = n - 1 - j;
        x[i] *= A[i * n + i];
        for (int k = i + 1; k < n; ++k) x[i] -= A[k * n + i] * x[k];
      });
}

}  // namespace espalier
