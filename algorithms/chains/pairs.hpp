#pragma once

#include "algorithms/chains/kernels.hpp"

/// Kernels of the backward pass for a chain that is computed alone, at double, with no other chain
/// for the lanes of a register. An articulated inertia [A B; B^T C] is twelve pairs of numbers that
/// turn alike, [A|C] and [B|B^T] (theory/chains 4). They stay in registers; 33 doubles would not.
/// The counting scalar takes chains/kernels.hpp instead. chain_composites_test.cpp holds each
/// kernel to dense algebra.

namespace espalier {

/// Two doubles of one state. No scalar of algorithms.
using Pair = BasicPack<double, 2>;

ESPALIER_ALWAYS_INLINE Pair swapped(Pair x) {
  return Pair(__builtin_shufflevector(x.lanes, x.lanes, 1, 0));
}
/// One lane of x beside one lane of y.
template <int of_x, int of_y>
ESPALIER_ALWAYS_INLINE Pair lanes(Pair x, Pair y) {
  return Pair(__builtin_shufflevector(x.lanes, y.lanes, of_x, 2 + of_y));
}
ESPALIER_ALWAYS_INLINE void add_low(Pair& to, double x) { to.lanes[0] += x; }

/// A wrench as [n|f].
struct PairedForce {
  Pair x, y, z;

  static PairedForce zero() { return {Pair(0.0), Pair(0.0), Pair(0.0)}; }
  ESPALIER_ALWAYS_INLINE static PairedForce of(const Force<double>& F) {
    return {Pair(F.n.x, F.f.x), Pair(F.n.y, F.f.y), Pair(F.n.z, F.f.z)};
  }
  ESPALIER_ALWAYS_INLINE Force<double> plain() const {
    return {{x[0], y[0], z[0]}, {x[1], y[1], z[1]}};
  }
  ESPALIER_ALWAYS_INLINE PairedForce& operator+=(const PairedForce& b) {
    x += b.x, y += b.y, z += b.z;
    return *this;
  }
};

/// An articulated inertia as [A|C] and [B|B^T].
struct PairedInertia {
  Sym3<Pair> AC, B;

  static PairedInertia zero() { return {Sym3<Pair>::zero(), Sym3<Pair>::zero()}; }
  static PairedInertia of(const ArticulatedInertia<double>& I) {
    const auto pair = [](const auto& a, const auto& b, int i, int j) {
      return Pair(a(i, j), b(i, j));
    };
    const auto across = [&](int i, int j) { return Pair(I.B(i, j), I.B(j, i)); };
    return {{pair(I.A, I.C, 0, 0), pair(I.A, I.C, 0, 1), pair(I.A, I.C, 0, 2), pair(I.A, I.C, 1, 1),
             pair(I.A, I.C, 1, 2), pair(I.A, I.C, 2, 2)},
            {across(0, 0), across(0, 1), across(0, 2), across(1, 1), across(1, 2), across(2, 2)}};
  }
  ArticulatedInertia<double> plain() const {
    const auto lane = [&](int k) {
      return Sym3<double>{AC.xx[k], AC.xy[k], AC.xz[k], AC.yy[k], AC.yz[k], AC.zz[k]};
    };
    return {
        lane(0),
        {{{B.xx[0], B.xy[0], B.xz[0]}, {B.xy[1], B.yy[0], B.yz[0]}, {B.xz[1], B.yz[1], B.zz[0]}}},
        lane(1)};
  }
};

/// A body's placement and moments as pairs.
struct PairedPlacement : ChainPlacement<double> {
  Pair low_a, high_a, low_d;  ///< [a|0], [0|a], [d|0]
  Pair a_a, d_d, d_a;         ///< [-a|a], [-d|d], [-d|a]

  void make_pairs() {
    low_a = {a, 0.0}, high_a = {0.0, a}, low_d = {d, 0.0};
    a_a = {-a, a}, d_d = {-d, d}, d_a = {-d, a};
  }
};
struct PairedMoments : ChainMoments<double> {
  Pair x_x, y_y;  ///< [-x|x] and [y|-y]

  void make_pairs() { x_x = {-x, x}, y_y = {y, -y}; }
};

ESPALIER_ALWAYS_INLINE void add_body(const PairedMoments& b, PairedInertia& I) {
  Sym3<Pair>& AC = I.AC;
  add_low(AC.xx, b.yy), add_low(AC.xy, -b.xy), add_low(AC.xz, -b.xz);
  add_low(AC.yy, b.xx), add_low(AC.yz, -b.yz), add_low(AC.zz, b.xx + b.yy);
  I.B.xz += b.y_y, I.B.yz += b.x_x;
}

/// X^T f: wrench about the origin of the body before, in its axes.
template <ChainKind kind>
ESPALIER_ALWAYS_INLINE void to_parent(const PairedPlacement& P, const Turn<Pair>& t,
                                      PairedForce& f) {
  rotate_to_parent(f.x, f.y, t);
  if constexpr (kind.twist == Twist::right) f = {f.x, -f.z, f.y};
  if constexpr (kind.twist == Twist::any) rotate_to_parent(f.y, f.z, P.alpha);
  if constexpr (kind.offset) {
    const Pair y = swapped(f.y), z = swapped(f.z);
    if constexpr (kind.twist != Twist::parallel) {
      const Pair x = swapped(f.x);
      f.x -= P.low_d * y;
      f.y += P.low_d * x;
    }
    f.y -= P.low_a * z;
    f.z += P.low_a * y;
  }
}

/// E^T B E for a turn about axis 3 - i - j, of [B|B^T].
template <int i, int j, class C>
ESPALIER_ALWAYS_INLINE void rotate_both_to_parent(Sym3<Pair>& B, const Turn<C>& t) {
  constexpr int k = 3 - i - j;
  Pair &ii = entry<i, i>(B), &jj = entry<j, j>(B), &ij = entry<i, j>(B);
  const Pair d = jj - ii, g = ij + swapped(ij);
  const Pair e = t.ss * d - t.sc * g;
  ij -= t.sc * d + t.ss * g;
  ii += e, jj -= e;
  rotate_to_parent(entry<i, k>(B), entry<j, k>(B), t);
}

/// X^T I X: inertia about the origin of the body before, in its axes (inertia.hpp, shifted()).
template <ChainKind kind>
ESPALIER_ALWAYS_INLINE void to_parent(const PairedPlacement& P, const Turn<Pair>& t,
                                      PairedInertia& I) {
  Sym3<Pair>&AC = I.AC, &B = I.B;
  rotate_to_parent<0, 1, false>(AC, t);
  rotate_both_to_parent<0, 1>(B, t);
  if constexpr (kind.twist == Twist::right) {
    AC = {AC.xx, -AC.xz, AC.xy, AC.zz, -AC.yz, AC.yy};
    B = {B.xx, -B.xz, B.xy, B.zz, -swapped(B.yz), B.yy};
  }
  if constexpr (kind.twist == Twist::any) {
    rotate_to_parent<1, 2, false>(AC, P.alpha);
    rotate_both_to_parent<1, 2>(B, P.alpha);
  }
  if constexpr (!kind.offset) return;
  const Sym3<Pair> b = B;
  const Pair xz = lanes<1, 1>(AC.xz, AC.xz), yz = lanes<1, 1>(AC.yz, AC.yz);  // of C
  B.xy -= P.high_a * AC.xz;
  B.yz += P.a_a * lanes<1, 1>(AC.zz, AC.yy);
  B.yy -= P.a * yz;
  B.zz += P.a * yz;
  if constexpr (kind.twist == Twist::parallel) {
    B.xz += P.high_a * AC.xy;
  } else {
    const Pair xy = lanes<1, 1>(AC.xy, AC.xy);
    B.xy += P.d_d * lanes<1, 1>(AC.yy, AC.xx);
    B.xz += P.d_a * lanes<1, 1>(AC.yz, AC.xy);
    B.yz += P.low_d * xz;
    B.xx -= P.d * xy;
    B.yy += P.d * xy;
  }
  const Pair yz_both = B.yz + b.yz;
  AC.xy -= P.low_a * b.xz;
  AC.xz += P.low_a * b.xy;
  AC.yy -= P.low_a * yz_both;
  AC.yz += P.low_a * (b.yy - B.zz);
  AC.zz += P.low_a * swapped(yz_both);
  if constexpr (kind.twist != Twist::parallel) {
    const Pair xy_both = B.xy + b.xy;
    AC.xx -= P.low_d * xy_both;
    AC.xy += P.low_d * (b.xx - B.yy);
    AC.xz -= P.low_d * swapped(B.yz);
    AC.yy += P.low_d * swapped(xy_both);
    AC.yz += P.low_d * swapped(B.xz);
  }
}

// --- elimination of a joint about z, as in chains/kernels.hpp ------------------------------------

ESPALIER_ALWAYS_INLINE PairedForce axis_column(const PairedInertia& I) {
  return {lanes<0, 1>(I.AC.xz, I.B.xz), lanes<0, 1>(I.AC.yz, I.B.yz), lanes<0, 1>(I.AC.zz, I.B.zz)};
}
ESPALIER_ALWAYS_INLINE double axis_inertia(const PairedInertia& I) { return I.AC.zz[0]; }
ESPALIER_ALWAYS_INLINE double axis_moment(const PairedForce& f) { return f.z[0]; }
ESPALIER_ALWAYS_INLINE void add_axis_moment(PairedForce& f, double x) { add_low(f.z, x); }
ESPALIER_ALWAYS_INLINE void add_moment(PairedForce& f, const Vec3<double>& n) {
  add_low(f.x, n.x), add_low(f.y, n.y), add_low(f.z, n.z);
}
/// Adds to the moment that an angular acceleration takes.
ESPALIER_ALWAYS_INLINE void add_rotation(PairedInertia& I, const Sym3<double>& A) {
  Sym3<Pair>& AC = I.AC;
  add_low(AC.xx, A.xx), add_low(AC.xy, A.xy), add_low(AC.xz, A.xz);
  add_low(AC.yy, A.yy), add_low(AC.yz, A.yz), add_low(AC.zz, A.zz);
}
ESPALIER_ALWAYS_INLINE PairedForce scale(double s, const PairedForce& f) {
  return {s * f.x, s * f.y, s * f.z};
}
ESPALIER_ALWAYS_INLINE void subtract_outer(PairedInertia& I, double s, const PairedForce& U) {
  const PairedForce V = scale(s, U);
  Sym3<Pair>&AC = I.AC, &B = I.B;
  AC.xx -= V.x * U.x, AC.xy -= V.x * U.y, AC.xz -= V.x * U.z;
  AC.yy -= V.y * U.y, AC.yz -= V.y * U.z, AC.zz -= V.z * U.z;
  // [V.n_i|U.f_i] and [U.f_j|V.n_j]
  const Pair x = lanes<0, 1>(V.x, U.x), y = lanes<0, 1>(V.y, U.y), z = lanes<0, 1>(V.z, U.z);
  const Pair X = lanes<1, 0>(U.x, V.x), Y = lanes<1, 0>(U.y, V.y), Z = lanes<1, 0>(U.z, V.z);
  B.xx -= x * X, B.xy -= x * Y, B.xz -= x * Z;
  B.yy -= y * Y, B.yz -= y * Z, B.zz -= z * Z;
}

// --- conversions, for code that is written for pairs and for single numbers --------------------

/// @tparam Body  of ChainUnits
template <class Body, class S>
ESPALIER_ALWAYS_INLINE auto wrench_of(const Force<S>& f) {
  if constexpr (Body::paired) {
    return PairedForce::of(f);
  } else {
    return f;
  }
}
template <class Body, class S>
auto inertia_of(const ArticulatedInertia<S>& I) {
  if constexpr (Body::paired) {
    return PairedInertia::of(I);
  } else {
    return I;
  }
}
ESPALIER_ALWAYS_INLINE Force<double> plain(const PairedForce& f) { return f.plain(); }
inline ArticulatedInertia<double> plain(const PairedInertia& I) { return I.plain(); }
template <class S>
ESPALIER_ALWAYS_INLINE const Force<S>& plain(const Force<S>& f) {
  return f;
}
template <class S>
const ArticulatedInertia<S>& plain(const ArticulatedInertia<S>& I) {
  return I;
}

}  // namespace espalier
