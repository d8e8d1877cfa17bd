#pragma once

#include "espalier/kernel/spatial/inertia.hpp"

/// What varies of one body: its motion along a column, its inertia, its wrench.

namespace espalier {

/// A body along one coordinate of its own cluster.
template <class T>
struct VariationColumn {
  Motion<T> S;     ///< Theta: its twist per unit of the coordinate
  Motion<T> psi1;  ///< relative variation of its velocity along the coordinate
  Motion<T> psi2;  ///< the same of its acceleration, plus v × psi1
  Motion<T> ups;   ///< that of its acceleration along the coordinate's rate, plus v × S
};

/// Rate of a moving body's inertia, and its momentum (of rotors folded into it, too): what the
/// relative variation of its wrench reads, Bhat of (11.1) in twelve numbers.
template <class T>
struct InertiaRate {
  Sym3<T> J;   ///< rate of the rotational inertia
  Force<T> h;  ///< momentum

  /// Bhat x for the angular part x of a motion.
  Force<T> times(const Vec3<T>& x) const {
    const Vec3<T> f = cross(x, h.f);
    return {J * x + cross(x, h.n), f + f};
  }
  /// Bhat^T s, which has no linear part.
  Vec3<T> transpose_times(const Motion<T>& s) const {
    const Vec3<T> n = cross(h.f, s.v);
    return J * s.w + cross(h.n, s.w) + (n + n);
  }
  InertiaRate& operator+=(const InertiaRate& b) {
    J += b.J, h += b.h;
    return *this;
  }
};

/// d/dt of the rotational inertia of a body about a point fixed in space (11.1).
template <class T>
inline Sym3<T> inertia_rate(const RigidInertia<T>& I, const Motion<T>& v) {
  const Vec3<T>&w = v.w, &u = v.v, &h = I.h;
  const Vec3<T> x = cross(w, Vec3<T>{I.I.xx, I.I.xy, I.I.xz});
  const Vec3<T> y = cross(w, Vec3<T>{I.I.xy, I.I.yy, I.I.yz});
  const Vec3<T> z = cross(w, Vec3<T>{I.I.xz, I.I.yz, I.I.zz});
  const T hx = h.x * u.x, hy = h.y * u.y, hz = h.z * u.z;
  return {T(2.0) * (x.x + (hy + hz)),          x.y + y.x - (h.x * u.y + h.y * u.x),
          x.z + z.x - (h.x * u.z + h.z * u.x), T(2.0) * (y.y + (hx + hz)),
          y.z + z.y - (h.y * u.z + h.z * u.y), T(2.0) * (z.z + (hx + hy))};
}

/// Half of Bhat^T w of a moving body, whose rate of inertia it does not need (19.1a).
/// @param mu  I w
template <class T>
inline Vec3<T> half_inertia_rate_transpose_times(const RigidInertia<T>& I, const Motion<T>& v,
                                                 const Motion<T>& w, const Force<T>& mu) {
  const Vec3<T> x = cross(v.w, w.w);
  const T half_trace = T(0.5) * (I.I.xx + I.I.yy + I.I.zz);
  return scale(half_trace, x) - I.I * x + cross(v.v, mu.f) + cross(w.v, cross(I.h, v.w));
}

/// Relative variation of the external wrenches on a body by its twist (E of section 14): 6 x 6.
template <class T>
struct WrenchVariation {
  Mat3<T> nw, nv, fw;  ///< by the angular and linear part; forces never by the linear one

  static WrenchVariation zero() { return {Mat3<T>::zero(), Mat3<T>::zero(), Mat3<T>::zero()}; }
  Force<T> times(const Motion<T>& s) const { return {nw * s.w + nv * s.v, fw * s.w}; }
  Motion<T> transpose_times(const Motion<T>& s) const {
    return {espalier::transpose_times(nw, s.w) + espalier::transpose_times(fw, s.v),
            espalier::transpose_times(nv, s.w)};
  }
  WrenchVariation& operator+=(const WrenchVariation& b) {
    nw = nw + b.nw, nv = nv + b.nv, fw = fw + b.fw;
    return *this;
  }
};

}  // namespace espalier
