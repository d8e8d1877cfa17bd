#pragma once

#include "algorithms/chains/pairs.hpp"

/// Kernels of the forward pass for a chain that is computed alone, at double, two numbers at a
/// time. A vector is [x|-y] and [z|z]: with that sign a turn about z is two products, and the
/// wrench of a body takes its moments two by two as they stand in memory (theory/chains 4). Sixteen
/// registers hold them, which spill the numbers of chains/kernels.hpp. paired_motion_test.cpp holds
/// each kernel to dense algebra.

namespace espalier {

/// Whether it pays: thirty-two registers hold single numbers, which wait for fewer others.
#ifdef __AVX512VL__
constexpr bool pairs_motion = false;
#else
constexpr bool pairs_motion = true;
#endif

/// The first or the second lane in both.
ESPALIER_ALWAYS_INLINE Pair first(Pair x) {
  return Pair(__builtin_shufflevector(x.lanes, x.lanes, 0, 0));
}
ESPALIER_ALWAYS_INLINE Pair second(Pair x) {
  return Pair(__builtin_shufflevector(x.lanes, x.lanes, 1, 1));
}
/// The first or the second lanes of both.
ESPALIER_ALWAYS_INLINE Pair firsts(Pair x, Pair y) {
  return Pair(__builtin_shufflevector(x.lanes, y.lanes, 0, 2));
}
ESPALIER_ALWAYS_INLINE Pair seconds(Pair x, Pair y) {
  return Pair(__builtin_shufflevector(x.lanes, y.lanes, 1, 3));
}
/// Changes signs bit by bit: clang would negate all and then choose.
ESPALIER_ALWAYS_INLINE Pair with_signs(Pair x, long long of_first, long long of_second) {
  using Bits __attribute__((vector_size(sizeof(Pair)))) = long long;
  const Bits signs{of_first, of_second};
  return Pair(reinterpret_cast<Pair::Lanes>(reinterpret_cast<Bits>(x.lanes) ^ signs));
}
constexpr long long sign_bit = static_cast<long long>(1ull << 63);
ESPALIER_ALWAYS_INLINE Pair first_negated(Pair x) { return with_signs(x, sign_bit, 0); }
ESPALIER_ALWAYS_INLINE Pair second_negated(Pair x) { return with_signs(x, 0, sign_bit); }

/// A vector as [x|-y] and [z|z].
struct PairedVector {
  Pair xy, z;

  ESPALIER_ALWAYS_INLINE static PairedVector of(const Vec3<double>& v) {
    return {Pair(v.x, -v.y), Pair(v.z)};
  }
  ESPALIER_ALWAYS_INLINE Vec3<double> plain() const { return {xy[0], -xy[1], z[0]}; }
  ESPALIER_ALWAYS_INLINE PairedVector& operator+=(const PairedVector& b) {
    xy += b.xy, z += b.z;
    return *this;
  }
};
/// Om = alpha x + omega x omega x: the first two rows by columns x, -y and z, [x|-y] of each; of
/// the last row zx, -zy and -zz, each twice.
struct PairedOm {
  Pair x, y, z, zx, zy, zz;

  ESPALIER_ALWAYS_INLINE static PairedOm of(const Mat3<double>& M) {
    return {Pair(M(0, 0), -M(1, 0)), Pair(-M(0, 1), M(1, 1)), Pair(M(0, 2), -M(1, 2)),
            Pair(M(2, 0)),           Pair(-M(2, 1)),          Pair(-M(2, 2))};
  }
  ESPALIER_ALWAYS_INLINE Mat3<double> plain() const {
    return {{{x[0], -y[0], z[0]}, {-x[1], y[1], -z[1]}, {zx[0], -zy[0], -zz[0]}}};
  }
};
/// BodyMotion.
struct PairedMotion {
  PairedVector omega, alpha, a;
  PairedOm Om;

  ESPALIER_ALWAYS_INLINE static PairedMotion of(const BodyMotion<double>& m) {
    return {PairedVector::of(m.omega), PairedVector::of(m.alpha), PairedVector::of(m.a),
            PairedOm::of(m.Om)};
  }
  ESPALIER_ALWAYS_INLINE BodyMotion<double> plain() const {
    BodyMotion<double> m;
    m.omega = omega.plain(), m.alpha = alpha.plain(), m.a = a.plain(), m.Om = Om.plain();
    return m;
  }
};
/// What x and -y become: [c|s] and [-s|c].
struct PairedTurn {
  Pair of_x, of_y;

  ESPALIER_ALWAYS_INLINE static PairedTurn of(double c, double s) {
    return {Pair(c, s), Pair(-s, c)};
  }
};

/// E v, from the body before.
template <ChainKind kind>
ESPALIER_ALWAYS_INLINE PairedVector rotate_to_child(const PairedPlacement& P, const PairedTurn& t,
                                                    const PairedVector& v) {
  const Pair x = first(v.xy) * t.of_x, y = second(v.xy);
  if constexpr (kind.twist == Twist::parallel) return {x + y * t.of_y, v.z};
  if constexpr (kind.twist == Twist::right) return {x - v.z * t.of_y, y};
  const Pair c = P.alpha.c, s = P.alpha.s;
  return {x + (c * y - s * v.z) * t.of_y, c * v.z + s * y};
}
/// E v + x e_z.
template <ChainKind kind>
ESPALIER_ALWAYS_INLINE PairedVector rotate_to_child(const PairedPlacement& P, const PairedTurn& t,
                                                    const PairedVector& v, double x) {
  PairedVector turned = rotate_to_child<kind>(P, t, v);
  turned.z += Pair(x);
  return turned;
}
/// alpha += omega x (qd e_z) + qdd e_z.
/// @param omega  of the body
template <bool accelerated>
ESPALIER_ALWAYS_INLINE void add_turning(PairedVector& alpha, const PairedVector& omega, double qd,
                                        double qdd) {
  alpha.xy += first_negated(Pair(qd)) * swapped(omega.xy);
  if constexpr (accelerated) alpha.z += Pair(qdd);
}
/// Om r for the acceleration matrix of the body before.
template <ChainKind kind>
ESPALIER_ALWAYS_INLINE PairedVector swept(const PairedPlacement& P, const PairedOm& Om) {
  const Pair a = P.a, d = P.d;
  if constexpr (kind.twist == Twist::parallel) return {a * Om.x, a * Om.zx};
  return {a * Om.x + d * Om.z, a * Om.zx - d * Om.zz};
}
/// Om of a body.
ESPALIER_ALWAYS_INLINE PairedOm turning_matrix(const PairedVector& w, const PairedVector& alpha) {
  const Pair &p = w.xy, y = second(p), squares = p * p;
  const Pair zz = squares + swapped(squares), square = zz + w.z * w.z;
  const Pair across = first_negated(swapped(alpha.xy)), pz = p * w.z;  // [alpha_y|alpha_x]
  const Pair last = pz - across;                                       // [zx|-zy]
  return {first(p) * p - firsts(square, alpha.z),
          y * p + second_negated(firsts(alpha.z, square)),
          pz + across,
          first(last),
          second(last),
          zz};
}
/// Wrench of a body by the Newton-Euler equations, as in chains/kernels.hpp: f = Om h,
/// n = h x a + axial(Om Sigma). Sums in halves, which wait for fewer others.
ESPALIER_ALWAYS_INLINE PairedForce inertial_wrench(const PairedMoments& b, const PairedMotion& m) {
  const PairedOm& Om = m.Om;
  const Pair h = b.yx(), of_x = b.xy_xx(), of_y = b.yy_xy(), of_z = b.yz_xz();
  const Pair across = swapped(Pair(b.xz) * Om.x - Pair(b.yz) * Om.y);
  const Pair n = (of_x * Om.zx - of_y * Om.zy) +  // [n_x|-n_y]
                 (second_negated(across) - of_z * Om.zz + h * m.a.z);
  const Pair parts = (of_x * Om.x - of_y * Om.y) + (of_z * Om.z + h * m.a.xy);
  const Pair n_z = -parts - swapped(parts);
  const Pair f = Pair(b.x) * Om.x - Pair(b.y) * Om.y;  // [f_x|-f_y]
  const Pair f_z = Pair(b.x) * Om.zx - Pair(b.y) * Om.zy;
  return {firsts(n, f), -seconds(n, f), firsts(n_z, f_z)};
}

// --- conversions, for code that is written for pairs and for single numbers --------------------

/// @tparam Body  of ChainUnits, with its turn
template <class Body>
ESPALIER_ALWAYS_INLINE auto outward_turn(const Body& b) {
  if constexpr (Body::paired && pairs_motion) {
    return PairedTurn::of(b.c, b.s);
  } else {
    return Turn<std::decay_t<decltype(b.c)>>::of(b.c, b.s);
  }
}
/// m itself where motion goes by single numbers: packs are dear to copy.
template <class Body, class S>
ESPALIER_ALWAYS_INLINE decltype(auto) motion_of(BodyMotion<S>& m) {
  if constexpr (Body::paired && pairs_motion) {
    return PairedMotion::of(m);
  } else {
    return (m);
  }
}
ESPALIER_ALWAYS_INLINE Vec3<double> plain(const PairedVector& v) { return v.plain(); }
ESPALIER_ALWAYS_INLINE BodyMotion<double> plain(const PairedMotion& m) { return m.plain(); }
template <class S>
ESPALIER_ALWAYS_INLINE const Vec3<S>& plain(const Vec3<S>& v) {
  return v;
}
template <class S>
ESPALIER_ALWAYS_INLINE const BodyMotion<S>& plain(const BodyMotion<S>& m) {
  return m;
}

}  // namespace espalier
