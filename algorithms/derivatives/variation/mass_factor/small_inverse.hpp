#pragma once

#include <utility>

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
  /// Replaces n rows of width(n) numbers by those of the inverse.
  template <int n>
  static void invert(double* rows) {
    Rows<n> x;
    for (int k = 0; k < n; ++k) {
      for (int j = 0; j < x.quads; ++j) {
        x.of[k][j] = Quad::load(rows + width(n) * k + Quad::size * j);
      }
    }
    [&]<int... p>(std::integer_sequence<int, p...>) { (pivot<n, p>(x), ...); }
    (std::make_integer_sequence<int, n>());
    for (int k = 0; k < n; ++k) {
      for (int j = 0; j < x.quads; ++j) {
        x.of[k][j].store(rows + width(n) * k + Quad::size * j);
      }
    }
  }

 private:
  template <int n>
  struct Rows {
    static constexpr int quads = width(n) / Quad::size;
    Quad of[n][quads];
  };

  template <int n, int p>
  static void pivot(Rows<n>& x) {
    constexpr int quad = p / Quad::size, lane = p % Quad::size;
    const Quad inverse(1.0 / x.of[p][quad][lane]);
    x.of[p][quad].set(lane, 1.0);
    for (int j = 0; j < x.quads; ++j) x.of[p][j] *= inverse;
    for (int k = 0; k < n; ++k) {
      if (k == p) continue;
      const Quad factor(x.of[k][quad][lane]);
      x.of[k][quad].set(lane, 0.0);
      for (int j = 0; j < x.quads; ++j) x.of[k][j] -= factor * x.of[p][j];
    }
  }
};

}  // namespace espalier
