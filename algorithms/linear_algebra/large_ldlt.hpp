#pragma once

namespace espalier {

/// Factors a symmetric positive definite n x n matrix as U^T D U in place: upper triangle,
/// row-major; afterwards 1 / D on the diagonal and D times the unit factor U above it. Rows are
/// updated by rows, which the compiler turns into vector code.
template <class T>
inline void large_ldlt(T* A, long n) {
  for (long k = 0; k < n; ++k) {
    const T* row = A + k * n;
    const T inverse = T(1.0) / row[k];
    for (long i = k + 1; i < n; ++i) {
      const T u = row[i] * inverse;
      T* __restrict A_i = A + i * n;
      for (long j = i; j < n; ++j) A_i[j] -= u * row[j];
    }
    A[k * n + k] = inverse;
  }
}

/// x = A^-1 x with the factor of large_ldlt().
template <class T>
inline void large_ldlt_solve(const T* A, long n, T* x) {
  for (long k = 0; k < n; ++k) {
    const T* row = A + k * n;
    x[k] *= row[k];
    for (long j = k + 1; j < n; ++j) x[j] -= row[j] * x[k];
  }
  for (long k = n - 1; k >= 0; --k) {
    const T* row = A + k * n;
    T sum = T(0.0);
    for (long j = k + 1; j < n; ++j) sum += row[j] * x[j];
    x[k] -= row[k] * sum;
  }
}

}  // namespace espalier
