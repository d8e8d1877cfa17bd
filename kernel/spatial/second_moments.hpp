#pragma once

#include "espalier/kernel/spatial/inertia.hpp"

/// The Newton-Euler equations with second moments.
///
/// Featherstone's (2008) spatial acceleration (alpha; a) is here (alpha; a + omega x v): the
/// acceleration of the point at the frame's origin. With that choice no linear velocity is needed,
/// gravity is an acceleration of the ground, and a body's wrench comes from one matrix
///   Om = alpha x + omega x omega x,   f = m a + Om h,   n = h x a + axial(Om Sigma)
/// with the second moments Sigma = tr(I)/2 - I. The formulas hold in any axes that body and parent
/// share.

namespace espalier {

/// A rigid body as the Newton-Euler equations want it: mass (of scalar M), first and second
/// moments.
template <class T, class M = double>
struct Moments {
  M m;
  Vec3<T> h;
  Sym3<T> Sigma;

  template <class U>
  static Moments from(const RigidInertia<U>& I) {
    const U half_trace = 0.5 * (I.I.xx + I.I.yy + I.I.zz);
    return {
        I.m,
        I.h,
        {half_trace - I.I.xx, -I.I.xy, -I.I.xz, half_trace - I.I.yy, -I.I.yz, half_trace - I.I.zz}};
  }
  static Moments zero() { return {M(0.0), Vec3<T>::zero(), Sym3<T>::zero()}; }
  /// Rotational inertia about the same point.
  Sym3<T> inertia() const {
    return {Sigma.yy + Sigma.zz, -Sigma.xy, -Sigma.xz,
            Sigma.xx + Sigma.zz, -Sigma.yz, Sigma.xx + Sigma.yy};
  }
  /// The same as a 6 x 6 inertia.
  ArticulatedInertia<T> articulated() const {
    const T zero = T(0.0), mass = T(m);
    return {inertia(), cross_matrix(h), {mass, zero, zero, mass, zero, mass}};
  }
  /// Both bodies' as one.
  Moments& operator+=(const Moments& b) {
    m += b.m, h += b.h, Sigma += b.Sigma;
    return *this;
  }
  /// I += this.
  void add_to(ArticulatedInertia<T>& I) const {
    I.A += inertia();
    I.B(0, 1) -= h.z, I.B(1, 0) += h.z;
    I.B(0, 2) += h.y, I.B(2, 0) -= h.y;
    I.B(1, 2) -= h.x, I.B(2, 1) += h.x;
    I.C.xx += m, I.C.yy += m, I.C.zz += m;
  }
};

/// Moments about a point from which their own is seen at r, same axes:
/// Sigma' = Sigma + r h^T + h r^T + m r r^T (12 multiplications).
template <class T>
inline Moments<T> shifted(const Moments<T>& b, const Vec3<T>& r) {
  const Vec3<T>& h = b.h;
  const Vec3<T> g = h + scale(b.m, r);
  return {b.m,
          g,
          {b.Sigma.xx + r.x * (h.x + g.x), b.Sigma.xy + (r.x * h.y + g.x * r.y),
           b.Sigma.xz + (r.x * h.z + g.x * r.z), b.Sigma.yy + r.y * (h.y + g.y),
           b.Sigma.yz + (r.y * h.z + g.y * r.z), b.Sigma.zz + r.z * (h.z + g.z)}};
}

/// Moments in the axes that E takes to the body's: E^T Sigma E, E^T h.
template <class T>
inline Moments<T> turned(const Moments<double>& b, const Mat3<T>& E) {
  return {b.m, transpose_times(E, b.h), congruence(E, b.Sigma)};
}

/// How a frame moves.
template <class T>
struct FrameMotion {
  Vec3<T> omega;
  Vec3<T> alpha;
  Vec3<T> a;  ///< acceleration of its origin minus gravity
};
/// How a body moves, by its frame.
template <class T>
struct BodyMotion : FrameMotion<T> {
  Mat3<T> Om;  ///< alpha x + omega x omega x
};

template <class T>
inline Mat3<T> acceleration_matrix(const Vec3<T>& w, const Vec3<T>& alpha) {
  const T xx = w.x * w.x, yy = w.y * w.y, zz = w.z * w.z;
  const T xy = w.x * w.y, xz = w.x * w.z, yz = w.y * w.z;
  return {{{-(yy + zz), xy - alpha.z, xz + alpha.y},
           {xy + alpha.z, -(xx + zz), yz - alpha.x},
           {xz - alpha.y, yz + alpha.x, -(xx + yy)}}};
}

/// Motion of a body at vdot = 0 from that of its parent, all in the same axes.
/// @param r   from the parent's origin to the body's
/// @param vJ  velocity of the joint, S qd
/// @param c   (dS/dt) qd with S seen from the body
template <class T>
inline FrameMotion<T> next_motion(const FrameMotion<T>& p, const Vec3<T>& r, const Motion<T>& vJ,
                                  const Motion<T>& c) {
  const Vec3<T> omega = p.omega + vJ.w;
  return {omega, p.alpha + cross(p.omega, vJ.w) + c.w,
          p.a + acceleration_matrix(p.omega, p.alpha) * r + cross(omega + p.omega, vJ.v) + c.v};
}
/// The same on a joint that turns. @param turn, c  (omega; alpha) of the joint: S qd, (dS/dt) qd
template <class T>
inline FrameMotion<T> next_motion(const FrameMotion<T>& p, const Vec3<T>& r, const Vec3<T>& turn,
                                  const Vec3<T>& c) {
  return {p.omega + turn, p.alpha + cross(p.omega, turn) + c,
          p.a + acceleration_matrix(p.omega, p.alpha) * r};
}

/// The wrench that a body needs to move so, about its frame's origin.
template <class P, class M, class T>
inline Force<T> inertial_wrench(const Moments<P, M>& b, const Vec3<T>& a, const Mat3<T>& Om) {
  const Sym3<P>& S = b.Sigma;
  const Vec3<P> Sx{S.xx, S.xy, S.xz}, Sy{S.xy, S.yy, S.yz}, Sz{S.xz, S.yz, S.zz};
  const Vec3<T> axial{dot(Om.row[2], Sy) - dot(Om.row[1], Sz),
                      dot(Om.row[0], Sz) - dot(Om.row[2], Sx),
                      dot(Om.row[1], Sx) - dot(Om.row[0], Sy)};
  return {axial + cross(b.h, a), scale(b.m, a) + Om * b.h};
}
template <class P, class M, class T>
inline Force<T> inertial_wrench(const Moments<P, M>& b, const BodyMotion<T>& motion) {
  return inertial_wrench(b, motion.a, motion.Om);
}

}  // namespace espalier
