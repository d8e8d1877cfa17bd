#pragma once

#include "algorithms/chains/plan.hpp"
#include "espalier/kernel/spatial/second_moments.hpp"

/// Kernels of recursive algorithms for one body of a chain (chains/plan.hpp), whose placement is
///   E = Rz(q + theta) Rx(alpha),  r = (a, 0, d),
/// expanded by hand for each class of placements (theory/chains 3). Turns about axes of the frames
/// instead of general rotations, and known zeros, leave less than half of the operations of
/// transform.hpp and inertia.hpp. tests/algorithms/chains/chain_kernels_test.cpp holds each to
/// dense algebra.
///
/// Scalars: S of the state; C of the robot's constants: double, or S where chains are lanes.

// Numbers stay in registers only if kernels are inlined into the loop over bodies.
#ifdef __OPTIMIZE__
#define ESPALIER_ALWAYS_INLINE [[gnu::always_inline]] inline
#define ESPALIER_INLINED __attribute__((always_inline))
#else
#define ESPALIER_ALWAYS_INLINE inline
#define ESPALIER_INLINED
#endif

namespace espalier {

/// The axes of a joint and of the one before.
enum class Twist { parallel, right, any };

/// Class of placements and joints that a kernel is expanded for.
struct ChainKind {
  Twist twist = Twist::any;
  bool offset = true;  ///< whether a or d is not zero
  bool geared = true;  ///< whether rotors or armature are reflected on the joint's rate
};

/// Calls f with the twist as a constant.
template <class F>
ESPALIER_ALWAYS_INLINE void with_twist(Twist twist, F&& f) {
  switch (twist) {
    case Twist::parallel:
      return f.template operator()<Twist::parallel>();
    case Twist::right:
      return f.template operator()<Twist::right>();
    case Twist::any:
      return f.template operator()<Twist::any>();
  }
}

/// The same with the class of placements. Kernels do in it what depends on the class, and no more:
/// all bodies of a chain then run the same lines of code (docs/performance.md).
template <class F>
ESPALIER_ALWAYS_INLINE void with_placement(const ChainKind& kind, F&& f) {
  with_twist(kind.twist, [&]<Twist twist>() ESPALIER_INLINED {
    if (kind.offset) return f.template operator()<ChainKind{twist, true, false}>();
    f.template operator()<ChainKind{twist, false, false}>();
  });
}

/// The same of any joints. Kernels of geared ones allow any offset; they stand apart, so that those
/// of the others share pages.
template <class F>
ESPALIER_ALWAYS_INLINE void with_kind(const ChainKind& kind, F&& f) {
  if (!kind.geared) {
    with_placement(kind, f);
  } else {
    with_twist(kind.twist, [&]<Twist twist>() ESPALIER_INLINED {
      f.template operator()<ChainKind{twist, true, true}>();
    });
  }
}

// --- turns about an axis -----------------------------------------------------------------------

/// An angle by its cosine and sine, with the products that turning a matrix needs.
template <class C>
struct Turn {
  C c, s, ss, sc;

  static Turn of(const C& cosine, const C& sine) {
    return {cosine, sine, sine * sine, sine * cosine};
  }
};

/// The constants of ChainBody.
template <class C>
struct ChainPlacement {
  Turn<C> alpha;
  C a, d;
};

/// Regrouped moments of a body (chains/plan.hpp): first moments x and y, second moments without zz.
/// In the order in which chains/units/paired_motion.hpp reads two at a time.
template <class C>
struct ChainMoments {
  C y, x;
  C yz, xz, yy, xy, xx;
};

/// Entry (i, j) of a symmetric matrix.
template <int i, int j, class T>
ESPALIER_ALWAYS_INLINE T& entry(Sym3<T>& m) {
  constexpr int first = i < j ? i : j, second = i < j ? j : i;
  if constexpr (first == 0) return second == 0 ? m.xx : second == 1 ? m.xy : m.xz;
  if constexpr (first == 1) return second == 1 ? m.yy : m.yz;
  if constexpr (first == 2) return m.zz;
}

/// Rotates coordinates i and j by E^T of a turn about the third axis.
template <class S, class C>
ESPALIER_ALWAYS_INLINE void rotate_to_parent(S& x_i, S& x_j, const Turn<C>& t) {
  const S old = x_i;
  x_i = t.c * old - t.s * x_j;
  x_j = t.s * old + t.c * x_j;
}
template <int i, int j, class S, class C>
ESPALIER_ALWAYS_INLINE void rotate_to_parent(Force<S>& f, const Turn<C>& t) {
  rotate_to_parent(f.n[i], f.n[j], t);
  rotate_to_parent(f.f[i], f.f[j], t);
}
/// E^T M E for a turn about axis k = 3 - i - j. Of the 2 x 2 block of i and j, trace and
/// antisymmetric part are invariant; the rest turns by twice the angle (theory/chains 3).
/// @tparam flat  row k is zero (symmetric matrices: and column k)
template <int i, int j, bool flat, class S, class C>
ESPALIER_ALWAYS_INLINE void rotate_to_parent(Sym3<S>& A, const Turn<C>& t) {
  constexpr int k = 3 - i - j;
  S &ii = entry<i, i>(A), &jj = entry<j, j>(A), &ij = entry<i, j>(A);
  const S d = jj - ii, g = ij + ij;
  const S e = t.ss * d - t.sc * g;
  ij -= t.sc * d + t.ss * g;
  ii += e, jj -= e;
  if constexpr (!flat) rotate_to_parent(entry<i, k>(A), entry<j, k>(A), t);
}
template <int i, int j, bool flat, class S, class C>
ESPALIER_ALWAYS_INLINE void rotate_to_parent(Mat3<S>& B, const Turn<C>& t) {
  constexpr int k = 3 - i - j;
  const S d = B(j, j) - B(i, i), g = B(i, j) + B(j, i);
  const S e = t.ss * d - t.sc * g, f = t.sc * d + t.ss * g;
  B(i, i) += e, B(j, j) -= e, B(i, j) -= f, B(j, i) -= f;
  rotate_to_parent(B(i, k), B(j, k), t);
  if constexpr (!flat) rotate_to_parent(B(k, i), B(k, j), t);
}

// --- bodies ------------------------------------------------------------------------------------

/// Om = alpha x + omega x omega x: acceleration_matrix (second_moments.hpp) by more products, each
/// added at once, for a chain that is computed alone and waits for its sums.
template <class S>
ESPALIER_ALWAYS_INLINE Mat3<S> turning_matrix(const Vec3<S>& w, const Vec3<S>& alpha) {
  const S yy = w.y * w.y, zz = w.z * w.z;
  return {{{-yy - zz, w.x * w.y - alpha.z, w.x * w.z + alpha.y},
           {w.x * w.y + alpha.z, -zz - w.x * w.x, w.y * w.z - alpha.x},
           {w.x * w.z - alpha.y, w.y * w.z + alpha.x, -yy - w.x * w.x}}};
}
/// Wrench of a body by the Newton-Euler equations (second_moments.hpp, inertial_wrench), for
/// regrouped moments: f = Om h, n = h x a + axial(Om Sigma).
template <class S, class C>
ESPALIER_ALWAYS_INLINE Force<S> inertial_wrench(const ChainMoments<C>& b, const BodyMotion<S>& m) {
  const Mat3<S>& Om = m.Om;
  const Vec3<S>&x = Om.row[0], &y = Om.row[1], &z = Om.row[2];
  return {{b.xy * z.x + b.yy * z.y + b.yz * z.z - b.xz * y.x - b.yz * y.y + b.y * m.a.z,
           b.xz * x.x + b.yz * x.y - b.xx * z.x - b.xy * z.y - b.xz * z.z - b.x * m.a.z,
           (b.xx * y.x + b.xy * y.y + b.xz * y.z + b.x * m.a.y) -
               (b.xy * x.x + b.yy * x.y + b.yz * x.z + b.y * m.a.x)},
          {b.x * x.x + b.y * x.y, b.x * y.x + b.y * y.y, b.x * z.x + b.y * z.y}};
}
/// I += inertia of the body: [tr(Sigma) - Sigma, h x; -h x, 0].
template <class S, class C>
ESPALIER_ALWAYS_INLINE void add_body(const ChainMoments<C>& b, ArticulatedInertia<S>& I) {
  I.A += Sym3<C>{b.yy, -b.xy, -b.xz, b.xx, -b.yz, b.xx + b.yy};
  I.B(0, 2) += b.y;
  I.B(1, 2) -= b.x;
  I.B(2, 0) -= b.y, I.B(2, 1) += b.x;
}

// --- placements --------------------------------------------------------------------------------

/// E v, from the body before.
template <ChainKind kind, class S, class C>
ESPALIER_ALWAYS_INLINE Vec3<S> rotate_to_child(const ChainPlacement<C>& P, const Turn<S>& t,
                                               const Vec3<S>& v) {
  S y = v.y, z = v.z;
  if constexpr (kind.twist == Twist::right) y = v.z, z = -v.y;
  if constexpr (kind.twist == Twist::any) {
    y = P.alpha.c * v.y + P.alpha.s * v.z;
    z = P.alpha.c * v.z - P.alpha.s * v.y;
  }
  return {t.c * v.x + t.s * y, t.c * y - t.s * v.x, z};
}
/// E v + x e_z, in which z waits for one sum less.
template <ChainKind kind, class S, class C>
ESPALIER_ALWAYS_INLINE Vec3<S> rotate_to_child(const ChainPlacement<C>& P, const Turn<S>& t,
                                               const Vec3<S>& v, const S& x) {
  Vec3<S> turned = rotate_to_child<kind>(P, t, v);
  if constexpr (kind.twist == Twist::parallel) turned.z = x + v.z;
  if constexpr (kind.twist == Twist::right) turned.z = x - v.y;
  if constexpr (kind.twist == Twist::any) turned.z = x - P.alpha.s * v.y + P.alpha.c * v.z;
  return turned;
}
/// alpha += omega x (qd e_z) + qdd e_z.
/// @param omega  of the body
template <bool accelerated, class S>
ESPALIER_ALWAYS_INLINE void add_turning(Vec3<S>& alpha, const Vec3<S>& omega, const S& qd,
                                        const S& qdd) {
  const S x = omega.x * qd, y = omega.y * qd;
  alpha.x += y;
  alpha.y -= x;
  if constexpr (accelerated) alpha.z += qdd;
}
/// X^T f: wrench about the origin of the body before, in its axes. First the turn about the axis,
template <class S>
ESPALIER_ALWAYS_INLINE void turn_to_parent(const Turn<S>& t, Force<S>& f) {
  rotate_to_parent<0, 1>(f, t);
}
/// then what depends on the class of placements.
template <ChainKind kind, class S, class C>
ESPALIER_ALWAYS_INLINE void place_on_parent(const ChainPlacement<C>& P, Force<S>& f) {
  if constexpr (kind.twist == Twist::right) {
    f = {{f.n.x, -f.n.z, f.n.y}, {f.f.x, -f.f.z, f.f.y}};
  }
  if constexpr (kind.twist == Twist::any) rotate_to_parent<1, 2>(f, P.alpha);
  if constexpr (kind.offset) {
    f.n.z += P.a * f.f.y;
    if constexpr (kind.twist == Twist::parallel) {
      f.n.y -= P.a * f.f.z;
    } else {
      f.n.x -= P.d * f.f.y;
      f.n.y += P.d * f.f.x - P.a * f.f.z;
    }
  }
}
template <ChainKind kind, class S, class C>
ESPALIER_ALWAYS_INLINE void to_parent(const ChainPlacement<C>& P, const Turn<S>& t, Force<S>& f) {
  turn_to_parent(t, f);
  place_on_parent<kind>(P, f);
}
/// v + w x r: linear part of m at the body's origin, axes of the body before.
template <ChainKind kind, class S, class C>
ESPALIER_ALWAYS_INLINE Vec3<S> shifted_velocity(const ChainPlacement<C>& P, const Motion<S>& m) {
  if constexpr (!kind.offset) return m.v;
  if constexpr (kind.twist == Twist::parallel) {
    return {m.v.x, m.v.y + P.a * m.w.z, m.v.z - P.a * m.w.y};
  } else {
    return {m.v.x + P.d * m.w.y, m.v.y + P.a * m.w.z - P.d * m.w.x, m.v.z - P.a * m.w.y};
  }
}
/// Om r for the acceleration matrix of the body before.
template <ChainKind kind, class S, class C>
ESPALIER_ALWAYS_INLINE Vec3<S> swept(const ChainPlacement<C>& P, const Mat3<S>& Om) {
  if constexpr (kind.twist == Twist::parallel) return scale(P.a, Om.column(0));
  return {P.a * Om(0, 0) + P.d * Om(0, 2), P.a * Om(1, 0) + P.d * Om(1, 2),
          P.a * Om(2, 0) + P.d * Om(2, 2)};
}
/// X^T I X: first the turn about the axis.
/// @tparam flat  nothing resists about the joint's axis: its rows of A and B are zero
template <bool flat = false, class S>
ESPALIER_ALWAYS_INLINE void turn_to_parent(const Turn<S>& t, ArticulatedInertia<S>& I) {
  rotate_to_parent<0, 1, false>(I.C, t);
  rotate_to_parent<0, 1, flat>(I.B, t);
  rotate_to_parent<0, 1, flat>(I.A, t);
}
/// The rest in three parts, first C = E^T C E,
template <ChainKind kind, class S, class C>
ESPALIER_ALWAYS_INLINE void place_C(const ChainPlacement<C>& P, Sym3<S>& m) {
  if constexpr (kind.twist == Twist::right) m = Sym3<S>(m.xx, -m.xz, m.xy, m.zz, -m.yz, m.yy);
  if constexpr (kind.twist == Twist::any) rotate_to_parent<1, 2, false>(m, P.alpha);
}
/// then B = E^T B E + r x C with that C (r.y = 0; parallel: r.z = 0),
/// @param m     C of the body before
/// @returns  E^T B E, before the shift
template <ChainKind kind, bool flat, class S, class C>
ESPALIER_ALWAYS_INLINE Mat3<S> place_B(const ChainPlacement<C>& P, const Sym3<S>& m, Mat3<S>& B) {
  if constexpr (kind.twist == Twist::right) {
    const Mat3<S> o = B;
    B = {{{o(0, 0), -o(0, 2), o(0, 1)},
          {-o(2, 0), o(2, 2), -o(2, 1)},
          {o(1, 0), -o(1, 2), o(1, 1)}}};
    if constexpr (flat) B.row[1] = Vec3<S>::zero();
  }
  if constexpr (kind.twist == Twist::any) rotate_to_parent<1, 2, false>(B, P.alpha);
  const Mat3<S> b = B;
  if constexpr (kind.offset) {
    const Vec3<S> y{m.xy, m.yy, m.yz};
    B.row[2] += scale(P.a, y);
    if constexpr (kind.twist == Twist::parallel) {
      B.row[1] -= scale(P.a, Vec3<S>{m.xz, m.yz, m.zz});
    } else {
      B.row[0] -= scale(P.d, y);
      B.row[1] += scale(P.d, Vec3<S>{m.xx, m.xy, m.xz}) - scale(P.a, Vec3<S>{m.xz, m.yz, m.zz});
    }
  }
  return b;
}
/// and A = E^T A E + r x B_new^T + B_old (r x)^T.
/// @param b, n  B before and after its shift
template <ChainKind kind, bool flat, class S, class C>
ESPALIER_ALWAYS_INLINE void place_A(const ChainPlacement<C>& P, const Mat3<S>& b, const Mat3<S>& n,
                                    Sym3<S>& A) {
  if constexpr (kind.twist == Twist::right) {
    const S none = S(0.0);
    A = flat ? Sym3<S>(A.xx, none, A.xy, none, none, A.yy)
             : Sym3<S>(A.xx, -A.xz, A.xy, A.zz, -A.yz, A.yy);
  }
  if constexpr (kind.twist == Twist::any) rotate_to_parent<1, 2, false>(A, P.alpha);
  if constexpr (kind.offset) {
    const C &a = P.a, &d = P.d;
    if constexpr (kind.twist == Twist::parallel) {
      A.xy -= a * b(0, 2);
      A.xz += a * b(0, 1);
      A.yy -= a * (n(1, 2) + b(1, 2));
      A.yz += a * (b(1, 1) - n(2, 2));
    } else {
      A.xx -= d * (n(0, 1) + b(0, 1));
      A.xy += d * (b(0, 0) - n(1, 1)) - a * b(0, 2);
      A.xz += a * b(0, 1) - d * n(2, 1);
      A.yy += d * (n(1, 0) + b(1, 0)) - a * (n(1, 2) + b(1, 2));
      A.yz += d * n(2, 0) + a * (b(1, 1) - n(2, 2));
    }
    A.zz += a * (n(2, 1) + b(2, 1));
  }
}

template <ChainKind kind, bool flat = false, class S, class C>
ESPALIER_ALWAYS_INLINE void place_on_parent(const ChainPlacement<C>& P, ArticulatedInertia<S>& I) {
  place_C<kind>(P, I.C);
  const Mat3<S> B = place_B<kind, flat>(P, I.C, I.B);
  place_A<kind, flat>(P, B, I.B, I.A);
}
template <ChainKind kind, bool flat = false, class S, class C>
ESPALIER_ALWAYS_INLINE void to_parent(const ChainPlacement<C>& P, const Turn<S>& t,
                                      ArticulatedInertia<S>& I) {
  turn_to_parent<flat>(t, I);
  place_on_parent<kind, flat>(P, I);
}

// --- elimination of a joint about z -------------------------------------------------------------

/// I S, S^T I S and S^T f for S = (e_z; 0).
template <class S>
ESPALIER_ALWAYS_INLINE Force<S> axis_column(const ArticulatedInertia<S>& I) {
  return I.column(2);
}
template <class S>
ESPALIER_ALWAYS_INLINE S axis_inertia(const ArticulatedInertia<S>& I) {
  return I.A.zz;
}
template <class S>
ESPALIER_ALWAYS_INLINE S axis_moment(const Force<S>& f) {
  return f.n.z;
}
template <class S, class C>
ESPALIER_ALWAYS_INLINE void add_axis_moment(Force<S>& f, const C& x) {
  f.n.z += x;
}
template <class S, class C>
ESPALIER_ALWAYS_INLINE void add_moment(Force<S>& f, const Vec3<C>& n) {
  f.n += n;
}
/// Adds to the moment that an angular acceleration takes.
template <class S>
ESPALIER_ALWAYS_INLINE void add_rotation(ArticulatedInertia<S>& I, const Sym3<S>& A) {
  I.A += A;
}
/// U = I S of a joint and the wrench p of what its body carries.
template <class S>
struct JointWrenches {
  Force<S> U, p;

  static JointWrenches zero() { return {Force<S>::zero(), Force<S>::zero()}; }
  void set_wrench(const Force<S>& f) { p = f; }
  ESPALIER_ALWAYS_INLINE const Force<S>& wrench() const { return p; }
  ESPALIER_ALWAYS_INLINE S axis_moment() const { return p.n.z; }
  ESPALIER_ALWAYS_INLINE void add_wrench(const Force<S>& f) { p += f; }
  ESPALIER_ALWAYS_INLINE void set_column(const ArticulatedInertia<S>& I) { U = axis_column(I); }
  ESPALIER_ALWAYS_INLINE const Force<S>& column() const { return U; }
  ESPALIER_ALWAYS_INLINE void add_to_column(const Force<S>& f) { U += f; }
  template <class C>
  ESPALIER_ALWAYS_INLINE void add_axis_moment_to_column(const C& x) {
    U.n.z += x;
  }
  template <class C>
  ESPALIER_ALWAYS_INLINE void add_moments(const Vec3<C>& column, const Vec3<S>& wrench) {
    U.n += column, p.n += wrench;
  }
};
template <class S>
ESPALIER_ALWAYS_INLINE void turn_to_parent(const Turn<S>& t, JointWrenches<S>& w) {
  turn_to_parent(t, w.U), turn_to_parent(t, w.p);
}
template <ChainKind kind, class S, class C>
ESPALIER_ALWAYS_INLINE void place_on_parent(const ChainPlacement<C>& P, JointWrenches<S>& w) {
  place_on_parent<kind>(P, w.U), place_on_parent<kind>(P, w.p);
}
/// I -= s U U^T, p += u U.
/// @returns  s U
template <class S>
ESPALIER_ALWAYS_INLINE Force<S> eliminate(ArticulatedInertia<S>& I, JointWrenches<S>& w, const S& s,
                                          const S& u) {
  I.subtract_outer(s, w.U);
  w.p += scale(u, w.U);
  return scale(s, w.U);
}

}  // namespace espalier
