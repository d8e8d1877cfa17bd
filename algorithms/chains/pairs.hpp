#pragma once

#include "algorithms/chains/kernels.hpp"

/// Kernels of the backward pass for a chain that is computed alone, at double, with no other chain
/// for the lanes of a register. An articulated inertia [A B; B^T C] is six times four numbers that
/// turn alike, [A|C|B|B^T] (theory/chains 4). They stay in registers; 33 doubles would not. The
/// counting scalar takes chains/kernels.hpp instead. chain_composites_test.cpp holds each kernel to
/// dense algebra.

namespace espalier {

/// Two doubles of one state. No scalar of algorithms.
using Pair = BasicPack<double, 2>;

ESPALIER_ALWAYS_INLINE Pair swapped(Pair x) {
  return Pair(__builtin_shufflevector(x.lanes, x.lanes, 1, 0));
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

/// Lanes of x, or of x (0 to 3) and y (4 to 7).
template <int a, int b, int c, int d>
ESPALIER_ALWAYS_INLINE Quad lanes(Quad x, Quad y) {
  return Quad(__builtin_shufflevector(x.lanes, y.lanes, a, b, c, d));
}
template <int a, int b, int c, int d>
ESPALIER_ALWAYS_INLINE Quad lanes(Quad x) {
  return lanes<a, b, c, d>(x, x);
}
ESPALIER_ALWAYS_INLINE Quad twice(Pair x) {
  return Quad(__builtin_shufflevector(x.lanes, x.lanes, 0, 1, 0, 1));
}
ESPALIER_ALWAYS_INLINE Pair lower_half(Quad x) {
  return Pair(__builtin_shufflevector(x.lanes, x.lanes, 0, 1));
}
/// In one lane, or half of them; zeros in others.
ESPALIER_ALWAYS_INLINE Quad lowest(double x) { return Quad(x, 0.0, 0.0, 0.0); }

/// C of an entry of [A|C|B|B^T], or of two in the places of B and of B^T.
ESPALIER_ALWAYS_INLINE Quad C_of(Quad x) { return lanes<1, 1, 1, 1>(x); }
ESPALIER_ALWAYS_INLINE Quad C_of(Quad to_B, Quad to_BT) { return lanes<1, 5, 1, 5>(to_B, to_BT); }
/// B or B^T of an entry, in the place of A.
ESPALIER_ALWAYS_INLINE Quad B_of(Quad x) { return lanes<2, 2, 2, 2>(x); }
ESPALIER_ALWAYS_INLINE Quad BT_of(Quad x) { return lanes<3, 3, 3, 3>(x); }
/// B and B^T change places.
ESPALIER_ALWAYS_INLINE Quad transposed(Quad x) { return lanes<0, 1, 3, 2>(x); }
/// n and f of [n|f|n|f] do.
ESPALIER_ALWAYS_INLINE Quad swapped(Quad x) { return lanes<1, 0, 3, 2>(x); }

/// An articulated inertia as [A|C|B|B^T].
struct QuadInertia : Sym3<Quad> {
  static QuadInertia zero() { return {Sym3<Quad>::zero()}; }
  static QuadInertia of(const ArticulatedInertia<double>& I) {
    const auto at = [&](int i, int j) { return Quad(I.A(i, j), I.C(i, j), I.B(i, j), I.B(j, i)); };
    return {{at(0, 0), at(0, 1), at(0, 2), at(1, 1), at(1, 2), at(2, 2)}};
  }
  ArticulatedInertia<double> plain() const {
    const auto lane = [&](int k) { return Sym3<double>{xx[k], xy[k], xz[k], yy[k], yz[k], zz[k]}; };
    return {
        lane(0), {{{xx[2], xy[2], xz[2]}, {xy[3], yy[2], yz[2]}, {xz[3], yz[3], zz[2]}}}, lane(1)};
  }
};
/// JointWrenches as [U.n|U.f|p.n|p.f].
struct QuadWrenches {
  Quad x, y, z;

  static QuadWrenches zero() { return {Quad(0.0), Quad(0.0), Quad(0.0)}; }
  void set_wrench(const Force<double>& p) {
    x = Quad(0.0, 0.0, p.n.x, p.f.x), y = Quad(0.0, 0.0, p.n.y, p.f.y);
    z = Quad(0.0, 0.0, p.n.z, p.f.z);
  }
  ESPALIER_ALWAYS_INLINE Force<double> wrench() const {
    return {{x[2], y[2], z[2]}, {x[3], y[3], z[3]}};
  }
  ESPALIER_ALWAYS_INLINE double axis_moment() const { return z[2]; }
  ESPALIER_ALWAYS_INLINE void add_wrench(const PairedForce& f) {
    // U is not there yet.
    x += twice(f.x), y += twice(f.y), z += twice(f.z);
  }
  ESPALIER_ALWAYS_INLINE void set_column(const QuadInertia& I) {
    const auto column = [](Quad entry, Quad here) {
      return lanes<0, 1, 6, 7>(lanes<0, 3, 0, 3>(entry), here);
    };
    x = column(I.xz, x), y = column(I.yz, y), z = column(I.zz, z);
  }
  ESPALIER_ALWAYS_INLINE PairedForce column() const {
    return {lower_half(x), lower_half(y), lower_half(z)};
  }
  ESPALIER_ALWAYS_INLINE void add_to_column(const Force<double>& f) {
    x += Quad(f.n.x, f.f.x, 0.0, 0.0), y += Quad(f.n.y, f.f.y, 0.0, 0.0);
    z += Quad(f.n.z, f.f.z, 0.0, 0.0);
  }
  ESPALIER_ALWAYS_INLINE void add_axis_moment_to_column(double moment) { z += lowest(moment); }
  ESPALIER_ALWAYS_INLINE void add_moments(const Vec3<double>& column, const Vec3<double>& wrench) {
    x += Quad(column.x, 0.0, wrench.x, 0.0), y += Quad(column.y, 0.0, wrench.y, 0.0);
    z += Quad(column.z, 0.0, wrench.z, 0.0);
  }
};

/// A Quad at any address, so that a body has no gaps.
class KeptQuad {
 public:
  KeptQuad() = default;
  KeptQuad(Quad x) { x.store(numbers_); }
  ESPALIER_ALWAYS_INLINE operator Quad() const { return Quad::load(numbers_); }

 private:
  double numbers_[Quad::size];
};
/// A body's placement and moments side by side, as the kernels below want them. One four is kept,
/// the others are made of numbers: a chain's bodies have to stay in the nearest cache.
struct PairedPlacement : ChainPlacement<double> {
  KeptQuad minus_d_d;  ///< [0|0|-d|d]

  void make_pairs() { minus_d_d = Quad(0.0, 0.0, -d, d); }

  // By products where clang would make a move between registers that valgrind does not know.
  /// [a|0] and [d|0].
  ESPALIER_ALWAYS_INLINE Pair pair_a() const { return Pair(a) * Pair(1.0, 0.0); }
  ESPALIER_ALWAYS_INLINE Pair pair_d() const { return Pair(d) * Pair(1.0, 0.0); }
  /// [a|0|0|0] and [d|0|0|0].
  ESPALIER_ALWAYS_INLINE Quad first_a() const { return Quad(a) * lowest(1.0); }
  ESPALIER_ALWAYS_INLINE Quad first_d() const { return Quad(d) * lowest(1.0); }
  /// [a|0|a|0] and [d|0|d|0].
  ESPALIER_ALWAYS_INLINE Quad low_a() const { return lanes<0, 5, 2, 7>(Quad(a), Quad(0.0)); }
  ESPALIER_ALWAYS_INLINE Quad low_d() const { return lanes<0, 5, 2, 7>(Quad(d), Quad(0.0)); }
  // What B and B^T take from C: [0|0|a|a], [0|0|d|d], [0|0|-a|a], [0|0|-d|a], [0|0|0|a], [0|0|d|0].
  ESPALIER_ALWAYS_INLINE Quad a_a() const { return lanes<4, 5, 2, 3>(Quad(a), Quad(0.0)); }
  ESPALIER_ALWAYS_INLINE Quad d_d() const { return lanes<4, 5, 2, 3>(Quad(d), Quad(0.0)); }
  ESPALIER_ALWAYS_INLINE Quad minus_a_a() const { return Quad(a) * Quad(0.0, 0.0, -1.0, 1.0); }
  ESPALIER_ALWAYS_INLINE Quad minus_d_a() const { return lanes<0, 1, 2, 7>(minus_d_d, Quad(a)); }
  ESPALIER_ALWAYS_INLINE Quad none_a() const { return lanes<4, 5, 6, 3>(Quad(a), Quad(0.0)); }
  ESPALIER_ALWAYS_INLINE Quad d_none() const { return lanes<4, 5, 2, 7>(Quad(d), Quad(0.0)); }
};
struct PairedMoments : ChainMoments<double> {
  KeptQuad to_xz, to_yz;  ///< what these entries of an inertia gain

  void make_pairs() { to_xz = Quad(-xz, 0.0, y, -y), to_yz = Quad(-yz, 0.0, -x, x); }

  /// [y|x] and [yz|xz], [yy|xy], [xy|xx].
  ESPALIER_ALWAYS_INLINE Pair yx() const { return Pair::load(&y); }
  ESPALIER_ALWAYS_INLINE Pair yz_xz() const { return Pair::load(&yz); }
  ESPALIER_ALWAYS_INLINE Pair yy_xy() const { return Pair::load(&yy); }
  ESPALIER_ALWAYS_INLINE Pair xy_xx() const { return Pair::load(&xy); }
};

ESPALIER_ALWAYS_INLINE void add_body(const PairedMoments& b, QuadInertia& I) {
  I.xx += lowest(b.yy), I.xy -= lowest(b.xy), I.xz += b.to_xz;
  I.yy += lowest(b.xx), I.yz += b.to_yz, I.zz += lowest(b.xx + b.yy);
}

/// X^T f: wrenches about the origin of the body before, in its axes. In every two lanes n and f.
ESPALIER_ALWAYS_INLINE void turn_to_parent(const Turn<Pair>& t, PairedForce& w) {
  rotate_to_parent(w.x, w.y, t);
}
ESPALIER_ALWAYS_INLINE void turn_to_parent(const Turn<Quad>& t, QuadWrenches& w) {
  rotate_to_parent(w.x, w.y, t);
}
/// @param a, d  shifts in the lanes of n
template <ChainKind kind, class Wrenches, class V>
ESPALIER_ALWAYS_INLINE void place_on_parent(const PairedPlacement& P, const V& a, const V& d,
                                            Wrenches& w) {
  if constexpr (kind.twist == Twist::right) w = {w.x, -w.z, w.y};
  if constexpr (kind.twist == Twist::any) rotate_to_parent(w.y, w.z, P.alpha);
  if constexpr (kind.offset) {
    const V y = swapped(w.y), z = swapped(w.z);
    if constexpr (kind.twist != Twist::parallel) {
      const V x = swapped(w.x);
      w.x -= d * y;
      w.y += d * x;
    }
    w.y -= a * z;
    w.z += a * y;
  }
}
template <ChainKind kind>
ESPALIER_ALWAYS_INLINE void place_on_parent(const PairedPlacement& P, PairedForce& f) {
  place_on_parent<kind>(P, P.pair_a(), P.pair_d(), f);
}
template <ChainKind kind>
ESPALIER_ALWAYS_INLINE void place_on_parent(const PairedPlacement& P, QuadWrenches& w) {
  place_on_parent<kind>(P, P.low_a(), P.low_d(), w);
}

/// E^T M E for a turn about axis 3 - i - j, of A, C, B and B^T.
template <int i, int j, class C>
ESPALIER_ALWAYS_INLINE void rotate_all_to_parent(Sym3<Quad>& M, const Turn<C>& t) {
  constexpr int k = 3 - i - j;
  Quad &ii = entry<i, i>(M), &jj = entry<j, j>(M), &ij = entry<i, j>(M);
  const Quad d = jj - ii, g = ij + transposed(ij);
  ij = ij - t.sc * d - t.ss * g;
  ii = ii + t.ss * d - t.sc * g;
  jj = jj - t.ss * d + t.sc * g;
  rotate_to_parent(entry<i, k>(M), entry<j, k>(M), t);
}

/// X^T I X: inertia about the origin of the body before, in its axes (inertia.hpp, shifted()).
ESPALIER_ALWAYS_INLINE void turn_to_parent(const Turn<Quad>& t, QuadInertia& I) {
  rotate_all_to_parent<0, 1>(I, t);
}
template <ChainKind kind>
ESPALIER_ALWAYS_INLINE void place_on_parent(const PairedPlacement& P, QuadInertia& I) {
  if constexpr (kind.twist == Twist::right) {
    I = {{I.xx, -I.xz, I.xy, I.zz, -transposed(I.yz), I.yy}};
  }
  if constexpr (kind.twist == Twist::any) rotate_all_to_parent<1, 2>(I, P.alpha);
  if constexpr (!kind.offset) return;
  const QuadInertia old = I;
  // B' = B + r x C.
  const Quad C_yz = C_of(old.yz);
  I.yy -= P.a_a() * C_yz;
  I.zz += P.a_a() * C_yz;
  I.yz += P.minus_a_a() * C_of(old.zz, old.yy);
  if constexpr (kind.twist == Twist::parallel) {
    I.xy -= P.none_a() * C_of(old.xz);
    I.xz += P.none_a() * C_of(old.xy);
  } else {
    const Quad C_xy = C_of(old.xy), C_xz = C_of(old.xz);
    I.xx -= P.d_d() * C_xy;
    I.yy += P.d_d() * C_xy;
    I.xy = I.xy + P.minus_d_d * C_of(old.yy, old.xx) - P.none_a() * C_xz;
    I.xz += P.minus_d_a() * C_of(old.yz, old.xy);
    I.yz += P.d_none() * C_xz;
  }
  // A' = A + r x B'^T + B (r x)^T.
  const QuadInertia shifted = I;
  const Quad a = P.first_a(), yz_both = I.yz + old.yz, yy_zz = old.yy - I.zz;
  I.xy -= a * B_of(old.xz);
  I.xz += a * B_of(old.xy);
  I.yy -= a * B_of(yz_both);
  I.yz += a * B_of(yy_zz);
  I.zz += a * BT_of(yz_both);
  if constexpr (kind.twist != Twist::parallel) {
    const Quad d = P.first_d(), xy_both = shifted.xy + old.xy;
    I.xx -= d * B_of(xy_both);
    I.xy += d * B_of(old.xx - shifted.yy);
    I.xz -= d * BT_of(shifted.yz);
    I.yy += d * BT_of(xy_both);
    I.yz += d * BT_of(shifted.xz);
  }
}

template <ChainKind kind, class V, class X>
ESPALIER_ALWAYS_INLINE void to_parent(const PairedPlacement& P, const Turn<V>& t, X& x) {
  turn_to_parent(t, x);
  place_on_parent<kind>(P, x);
}

// --- elimination of a joint about z, as in chains/kernels.hpp ------------------------------------

ESPALIER_ALWAYS_INLINE double axis_inertia(const QuadInertia& I) { return I.zz[0]; }
ESPALIER_ALWAYS_INLINE double axis_moment(const PairedForce& f) { return f.z[0]; }
ESPALIER_ALWAYS_INLINE void add_axis_moment(PairedForce& f, double x) { add_low(f.z, x); }
ESPALIER_ALWAYS_INLINE void add_moment(PairedForce& f, const Vec3<double>& n) {
  add_low(f.x, n.x), add_low(f.y, n.y), add_low(f.z, n.z);
}
/// Adds to the moment that an angular acceleration takes.
ESPALIER_ALWAYS_INLINE void add_rotation(QuadInertia& I, const Sym3<double>& A) {
  I.xx += lowest(A.xx), I.xy += lowest(A.xy), I.xz += lowest(A.xz);
  I.yy += lowest(A.yy), I.yz += lowest(A.yz), I.zz += lowest(A.zz);
}
/// I -= s U U^T, p += u U for the column U.
/// @returns  s U
ESPALIER_ALWAYS_INLINE PairedForce eliminate(QuadInertia& I, QuadWrenches& w, double s, double u) {
  const auto both = [](Quad x) { return lanes<0, 1, 0, 1>(x); };
  const Quad x = both(w.x), y = both(w.y), z = both(w.z);
  const Quad sx = s * x, sy = s * y, sz = s * z;
  // [n|f|n|f] of one axis times this of another: n n, f f, n f and f n.
  const Quad X = transposed(x), Y = transposed(y), Z = transposed(z);
  I.xx -= sx * X, I.xy -= sx * Y, I.xz -= sx * Z;
  I.yy -= sy * Y, I.yz -= sy * Z, I.zz -= sz * Z;
  w.x += u * x, w.y += u * y, w.z += u * z;
  return {lower_half(sx), lower_half(sy), lower_half(sz)};
}

// --- conversions, for code that is written for pairs and for single numbers --------------------

/// @tparam Body  of ChainUnits
template <class Body>
ESPALIER_ALWAYS_INLINE const PairedForce& wrench_of(const PairedForce& f) {
  return f;
}
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
    return QuadInertia::of(I);
  } else {
    return I;
  }
}
ESPALIER_ALWAYS_INLINE Force<double> plain(const PairedForce& f) { return f.plain(); }
inline ArticulatedInertia<double> plain(const QuadInertia& I) { return I.plain(); }
template <class S>
ESPALIER_ALWAYS_INLINE const Force<S>& plain(const Force<S>& f) {
  return f;
}
template <class S>
const ArticulatedInertia<S>& plain(const ArticulatedInertia<S>& I) {
  return I;
}

}  // namespace espalier
