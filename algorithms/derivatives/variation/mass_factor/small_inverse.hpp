#pragma once

#include <array>
#include <utility>

#include "algorithms/derivatives/variation/lanes/slot_moves.hpp"
#include "espalier/kernel/scalar/pack.hpp"

namespace espalier {

/// Inverse of a symmetric positive definite matrix of up to eight rows in registers, by pivots in
/// place, one after the other (Gauss and Jordan); pivots of such matrices need no exchange.
class SmallInverse {
 public:
  static constexpr int most = Pack::size;
  /// Numbers of a row: whole registers, of which what is behind the matrix does not count.
  static constexpr int width(int size) { return size > Quad::size ? 2 * Quad::size : Quad::size; }

  /// Calls f<size>() for a size from 1 to `most`.
  template <class F>
  static void with_size(int size, F&& f) {
    [&]<int... n>(std::integer_sequence<int, n...>) {
      ((size == n + 1 ? f.template operator()<n + 1>() : void()), ...);
    }
    (std::make_integer_sequence<int, most>());
  }
  /// @param rows  n of them up to the diagonal, of which width(n) numbers may be read
  /// @param[out] inverse  n rows of width(n) numbers
  template <int n>
  static void invert(const std::array<const double*, n>& rows, double* inverse) {
    Rows<n> x;
    for (int j = 0; j < x.quads; ++j) {
      for (int k = Quad::size * j; k < n; ++k) x.of[k][j] = Quad::load(rows[k] + Quad::size * j);
    }
    fill_upper(x);
    eliminate(x, 1.0 / x.of[0][0][0]);
    for (int k = 0; k < n; ++k) {
      for (int j = 0; j < x.quads; ++j) x.of[k][j].store(inverse + width(n) * k + Quad::size * j);
    }
  }

 private:
  template <int n>
  struct Rows {
    static constexpr int quads = width(n) / Quad::size;
    Quad of[n][quads];
  };

  /// What is above the diagonal, of rows up to it; zero behind the matrix. In registers: numbers
  /// that are written one by one cannot soon be read as a whole register.
  template <int n>
  [[gnu::always_inline]] static void fill_upper(Rows<n>& x) {
    fill_upper<n, 0>(x);
    if constexpr (n > Quad::size) {
      Quad beside[Quad::size];
      for (int k = 0; k < Quad::size; ++k) {
        beside[k] = Quad::size + k < n ? x.of[Quad::size + k][0] : Quad(0.0);
      }
      slot_moves::transpose(beside[0], beside[1], beside[2], beside[3]);
      for (int k = 0; k < Quad::size; ++k) x.of[k][1] = beside[k];
      fill_upper<n, 1>(x);
    }
  }
  /// The same of one block on the diagonal.
  template <int n, int block>
  [[gnu::always_inline]] static void fill_upper(Rows<n>& x) {
    constexpr int first = block * Quad::size;
    Quad upper[Quad::size];
    for (int k = 0; k < Quad::size; ++k) {
      upper[k] = first + k < n ? x.of[first + k][block] : Quad(0.0);
    }
    slot_moves::transpose(upper[0], upper[1], upper[2], upper[3]);
    const auto take = [&]<int... from>(int k, std::integer_sequence<int, from...>) {
      if (first + k >= n) return;
      Quad& row = x.of[first + k][block];
      row.lanes = __builtin_shufflevector(row.lanes, upper[k].lanes, from...);
    };
    take(0, std::integer_sequence<int, 0, 5, 6, 7>());
    take(1, std::integer_sequence<int, 0, 1, 6, 7>());
    take(2, std::integer_sequence<int, 0, 1, 2, 7>());
  }

  /// Inlined, as is pivot(), so that rows stay in registers.
  template <int n, int p = 0>
  [[gnu::always_inline]] static void eliminate(Rows<n>& x, double inverse) {
    inverse = pivot<n, p>(x, inverse);
    if constexpr (p + 1 < n) eliminate<n, p + 1>(x, inverse);
  }
  /// @param inverse  of the pivot
  /// @return that of the next one, which would wait longest for its row
  template <int n, int p>
  [[gnu::always_inline]] static double pivot(Rows<n>& x, double inverse) {
    constexpr int quad = p / Quad::size, lane = p % Quad::size;
    double next = 0.0;
    if constexpr (p + 1 < n) {
      const double beside = x.of[p + 1][quad][lane];
      next = 1.0 /
             (x.of[p + 1][(p + 1) / Quad::size][(p + 1) % Quad::size] - beside * beside * inverse);
    }
    x.of[p][quad].set(lane, 1.0);
    for (int j = 0; j < x.quads; ++j) x.of[p][j] *= Quad(inverse);
    for (int k = 0; k < n; ++k) {
      if (k == p) continue;
      const Quad factor(x.of[k][quad][lane]);
      x.of[k][quad].set(lane, 0.0);
      for (int j = 0; j < x.quads; ++j) x.of[k][j] -= factor * x.of[p][j];
    }
    return next;
  }
};

}  // namespace espalier
