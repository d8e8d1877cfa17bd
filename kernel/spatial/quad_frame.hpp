#pragma once

#include <array>
#include <type_traits>

#include "espalier/kernel/scalar/pack.hpp"
#include "espalier/kernel/spatial/transform.hpp"

namespace espalier {

/// A Plücker transform X = (E, r) of doubles, each row of E and r in a register of its own. The
/// last number of each is zero.
struct QuadFrame {
  std::array<Quad, 3> E;  ///< by rows
  Quad r;                 ///< origin [m]

  /// Three numbers and a zero.
  static Quad quad(const Vec3<double>& a) { return {a.x, a.y, a.z, 0.0}; }
  static QuadFrame from(const Transform<double>& X) {  ///< from memory
    return {{quad(X.E.row[0]), quad(X.E.row[1]), quad(X.E.row[2])}, quad(X.r)};
  }
  static QuadFrame identity() {  ///< of one frame
    return {{Quad(1.0, 0.0, 0.0, 0.0), Quad(0.0, 1.0, 0.0, 0.0), Quad(0.0, 0.0, 1.0, 0.0)},
            Quad(0.0)};
  }
  /// E^T a
  Quad transpose_times(const Vec3<double>& a) const {
    return Quad(a.x) * E[0] + Quad(a.y) * E[1] + Quad(a.z) * E[2];
  }
};

/// Columns of the matrix of three rows, or rows of that of three columns.
inline std::array<Quad, 3> transposed(const std::array<Quad, 3>& m) {
  const auto even = __builtin_shufflevector(m[0].lanes, m[1].lanes, 0, 4, 2, 6);
  const auto odd = __builtin_shufflevector(m[0].lanes, m[1].lanes, 1, 5, 3, 7);
  return {Quad(__builtin_shufflevector(even, m[2].lanes, 0, 1, 4, 7)),
          Quad(__builtin_shufflevector(odd, m[2].lanes, 0, 1, 5, 7)),
          Quad(__builtin_shufflevector(even, m[2].lanes, 2, 3, 6, 7))};
}
/// a x b
inline Quad cross(const Quad& a, const Quad& b) {
  const auto turned = [](const Quad& x) {
    return Quad(__builtin_shufflevector(x.lanes, x.lanes, 1, 2, 0, 3));
  };
  return turned(a * turned(b) - turned(a) * b);
}
/// The three numbers of a Quad, where they stand side by side.
inline void store_three(const Quad& x, double* to) {
  using Two [[gnu::vector_size(16), gnu::aligned(8), gnu::may_alias]] = double;
  *reinterpret_cast<Two*>(to) = __builtin_shufflevector(x.lanes, x.lanes, 0, 1);
  to[2] = x[2];
}
/// They alone.
inline Vec3<double> three(const Quad& x) { return {x[0], x[1], x[2]}; }

/// (B to C) * (A to B) = (A to C).
inline QuadFrame operator*(const Transform<double>& bc, const QuadFrame& ab) {
  QuadFrame ac;
  for (int i = 0; i < 3; ++i) ac.E[i] = ab.transpose_times(bc.E.row[i]);
  ac.r = ab.r + ab.transpose_times(bc.r);
  return ac;
}
/// Turned about z of the frame that it leads to.
inline QuadFrame turned(double s, double c, const QuadFrame& X) {
  return {{Quad(c) * X.E[0] + Quad(s) * X.E[1], Quad(c) * X.E[1] - Quad(s) * X.E[0], X.E[2]}, X.r};
}
/// The same of any scalar.
template <class T>
Transform<T> turned(const T& s, const T& c, const Transform<T>& X) {
  return {rotate_rows(s, c, X.E), X.r};
}

/// To memory. @param[out] X  the transform
inline void store(const QuadFrame& F, Transform<double>& X) {
  static_assert(sizeof(Transform<double>) == 12 * sizeof(double));
  double* const to = &X.E.row[0].x;
  for (int i = 0; i < 3; ++i) F.E[i].store(to + 3 * i);  // the last number is overwritten
  store_three(F.r, to + 9);
}

/// How a transform is kept: of doubles row by row in registers.
template <class T>
using KeptFrame = std::conditional_t<std::is_same_v<T, double>, QuadFrame, Transform<T>>;

}  // namespace espalier
