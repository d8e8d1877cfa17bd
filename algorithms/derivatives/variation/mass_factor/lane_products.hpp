#pragma once

#include <algorithm>
#include <span>

#include "espalier/kernel/scalar/pack.hpp"

namespace espalier {

/// Products of small matrices of robots as lanes: blocks of a few rows and columns stay in
/// registers, as many as there are, while the products pass by.
template <class T>
class LaneProducts {
 public:
  /// F X, or less that: F_rt stands at r row_step + t step, row t of X at t stride.
  struct Term {
    const T* F;
    long row_step, step;
    const T* X;
    long stride;
    long count;
    bool is_less = false;  ///< whether it is taken off
  };

  /// C = sum of terms, or C += that. @param apart  how far rows of C are
  static void write(std::span<const Term> terms, long rows, long columns, T* C, long apart,
                    bool keep = false) {
    long r = 0;
    for (; r + 3 <= rows; r += 3) write_rows<3>(terms, r, columns, C + r * apart, apart, keep);
    if (r + 2 == rows) write_rows<2>(terms, r, columns, C + r * apart, apart, keep);
    if (r + 1 == rows) write_rows<1>(terms, r, columns, C + r * apart, apart, keep);
  }

 private:
#ifdef __AVX512F__
  using Register = Pack;
#else
  using Register = Quad;
#endif
  static_assert(T::size % Register::size == 0);

  template <int rows>
  static void write_rows(std::span<const Term> terms, long r, long columns, T* C, long apart,
                         bool keep) {
    long j = 0;
    for (; j + 4 <= columns; j += 4) block<rows, 4>(terms, r, j, C + j, apart, keep);
    if (j + 3 == columns) block<rows, 3>(terms, r, j, C + j, apart, keep);
    if (j + 2 == columns) block<rows, 2>(terms, r, j, C + j, apart, keep);
    if (j + 1 == columns) block<rows, 1>(terms, r, j, C + j, apart, keep);
  }
  template <int rows, int columns>
  static void block(std::span<const Term> terms, long row, long column, T* C, long apart,
                    bool keep) {
    for (int part = 0; part < T::size; part += Register::size) {
      double* to = numbers(C) + part;
      Register sum[rows][columns];
      for (int r = 0; r < rows; ++r) {
        for (int c = 0; c < columns; ++c) {
          sum[r][c] = keep ? Register::load(to + (r * apart + c) * T::size) : Register(0.0);
        }
      }
      for (const Term& term : terms) {
        const double* F = numbers(term.F + row * term.row_step) + part;
        const double* X = numbers(term.X + column) + part;
        if (term.is_less) {
          accumulate<false, rows, columns>(term, F, X, sum);
        } else {
          accumulate<true, rows, columns>(term, F, X, sum);
        }
      }
      for (int r = 0; r < rows; ++r) {
        for (int c = 0; c < columns; ++c) sum[r][c].store(to + (r * apart + c) * T::size);
      }
    }
  }
  template <bool add, int rows, int columns>
  static void accumulate(const Term& term, const double* F, const double* X,
                         Register (&sum)[rows][columns]) {
    const long row_step = term.row_step * T::size, step = term.step * T::size;
    const long stride = term.stride * T::size;
    for (long t = 0; t < term.count; ++t, F += step, X += stride) {
      Register f[rows];
      for (int r = 0; r < rows; ++r) f[r] = Register::load(F + r * row_step);
      for (int c = 0; c < columns; ++c) {
        const Register x = Register::load(X + c * T::size);
        for (int r = 0; r < rows; ++r) {
          if constexpr (add) {
            sum[r][c] += f[r] * x;
          } else {
            sum[r][c] -= f[r] * x;
          }
        }
      }
    }
  }
  static const double* numbers(const T* x) { return reinterpret_cast<const double*>(x); }
  static double* numbers(T* x) { return reinterpret_cast<double*>(x); }
};

}  // namespace espalier
