#pragma once

#include "espalier/kernel/spatial/transform.hpp"

/// Exponential and logarithm of rotations and rigid motions, on unit quaternions x y z w that take
/// body coordinates to parent coordinates. All formulas are free of branches and hold at every
/// angle, zero included.
/// Source: Murray, Li and Sastry (1994), section 2.3 and appendix A; Featherstone (2008), 4.5.

namespace espalier {

namespace detail {

/// Below this square of an argument, series take over. The closed forms that use it lose nothing
/// until x is zero, so that two or three terms of a series suffice.
inline constexpr double series_below = 1e-6;
/// The same for closed forms that subtract nearly equal numbers; as many terms as leave out less
/// than 1e-15 there, or than 2e-7 at scalars of floats.
template <class T>
inline constexpr double long_series_below = is_single<T> ? 0.5 : 1e-2;
/// Nothing beside any number that matters, without being zero.
template <class T>
inline constexpr double tiny = is_single<T> ? 1e-30 : 1e-300;

// Functions of x take x², so that no square root is taken at zero: a scalar that carries
// derivatives has them there, too.

/// sin(x) / x and cos(x) of x² >= 0.
template <class T>
inline void sinc_cos(const T& x2, T& sinc, T& cos) {
  const T limit = T(series_below), one = T(1.0);
  const T x = sqrt(select_less(x2, limit, one, x2));
  T s, c;
  sincos(x, s, c);
  sinc = select_less(x2, limit, one - x2 * (one - x2 * T(1.0 / 20)) * T(1.0 / 6), s / x);
  cos = select_less(x2, limit, one - x2 * (one - x2 * T(1.0 / 12)) * T(0.5), c);
}

/// (x - sin x) / x³ of x² >= 0; 1/6 at zero.
template <class T>
inline T x_minus_sin(const T& x2) {
  const T limit = T(long_series_below<T>);
  const T square = select_less(x2, limit, T(1.0), x2);
  const T x = sqrt(square);
  T s, c;
  sincos(x, s, c);
  const T series = T(1.0 / 6) - x2 * (T(1.0 / 120) - x2 * (T(1.0 / 5040) - x2 * T(1.0 / 362880)));
  return select_less(x2, limit, series, (x - s) / (square * x));
}

/// (1 - x cot x) / x² of 0 <= x² < pi²; 1/3 at zero.
template <class T>
inline T one_minus_x_cot(const T& x2) {
  const T limit = T(long_series_below<T>);
  const T square = select_less(x2, limit, T(1.0), x2);
  const T x = sqrt(square);
  T s, c;
  sincos(x, s, c);
  const T tail = T(2.0 / 945) + x2 * (T(1.0 / 4725) + x2 * T(2.0 / 93555));
  const T series = T(1.0 / 3) + x2 * (T(1.0 / 45) + x2 * tail);
  return select_less(x2, limit, series, (s - x * c) / (square * s));
}

}  // namespace detail

/// Quaternion with vector part v and scalar part w; in memory x y z w.
template <class T>
struct Quaternion {
  Vec3<T> v;
  T w;

  static Quaternion load(const T* p) { return {{p[0], p[1], p[2]}, p[3]}; }
  void store(T* p) const { p[0] = v.x, p[1] = v.y, p[2] = v.z, p[3] = w; }
  Quaternion conjugate() const { return {-v, w}; }
};

template <class T>
inline Quaternion<T> operator*(const Quaternion<T>& a, const Quaternion<T>& b) {
  return {scale(a.w, b.v) + scale(b.w, a.v) + cross(a.v, b.v), a.w * b.w - dot(a.v, b.v)};
}

/// The unit quaternion of the same direction; of the zero quaternion, which has none, and of one
/// that vanishes beside 1e-300 (at scalars of floats 1e-30), the identity.
/// Components that are not finite give a result that is not a number.
template <class T>
inline Quaternion<T> normalized(const Quaternion<T>& q) {
  // Scaled by the largest component first, so that squares neither overflow nor vanish.
  T largest = abs(q.w);
  for (int i = 0; i < 3; ++i) {
    const T size = abs(q.v[i]);
    largest = select_less(largest, size, size, largest);
  }
  const T tiny = T(detail::tiny<T>), zero = T(0.0), one = T(1.0);
  const T s = one / select_less(largest, tiny, one, largest);
  const auto scaled = [&](const T& x, const T& identity) {
    return select_less(largest, tiny, identity, s * x);
  };
  const Quaternion<T> u{{scaled(q.v.x, zero), scaled(q.v.y, zero), scaled(q.v.z, zero)},
                        scaled(q.w, one)};
  const T n = one / sqrt(dot(u.v, u.v) + u.w * u.w);
  return {scale(n, u.v), n * u.w};
}

/// Turning about phi by |phi| [rad].
template <class T>
inline Quaternion<T> exp_rotation(const Vec3<T>& phi) {
  T sinc, cos;
  detail::sinc_cos(T(0.25) * dot(phi, phi), sinc, cos);
  return {scale(T(0.5) * sinc, phi), cos};
}

/// The shortest phi, |phi| <= pi, with exp_rotation(phi) = q or -q: both are the same rotation.
/// The length of q does not matter; of the zero quaternion it is zero.
template <class T>
inline Vec3<T> log_rotation(const Quaternion<T>& q) {
  const T zero = T(0.0), one = T(1.0);
  const T sign = select_less(q.w, zero, T(-1.0), one);
  const T w = sign * q.w, n2 = dot(q.v, q.v);
  const T limit = T(detail::series_below) * (w * w) + T(detail::tiny<T>);
  const T n = sqrt(select_less(n2, limit, one, n2));
  const T direct = T(2.0) * atan2(n, w) / n;
  // 2 atan(t) / |v| with t = |v| / w.
  const T r = one / select_less(n2, limit, select_less(zero, w, w, one), one);
  const T t2 = n2 * r * r;
  const T series = T(2.0) * r * (one - t2 * (T(1.0 / 3) - t2 * T(0.2)));
  return scale(sign * select_less(n2, limit, series, direct), q.v);
}

/// Where the origin of a body gets to, in its frame at the start, that moves with the constant
/// twist (phi, v) of its own frame for unit time.
template <class T>
inline Vec3<T> exp_translation(const Vec3<T>& phi, const Vec3<T>& v) {
  const T angle2 = dot(phi, phi);
  T sinc, cos;
  detail::sinc_cos(T(0.25) * angle2, sinc, cos);
  // v + (1 - cos) / angle² phi × v + (angle - sin) / angle³ phi × (phi × v); the first factor is
  // sinc² / 2 of half the angle, without cancellation.
  const Vec3<T> c = cross(phi, v);
  return v + scale(T(0.5) * sinc * sinc, c) + scale(detail::x_minus_sin(angle2), cross(phi, c));
}

/// The v with exp_translation(phi, v) = p, for |phi| < 2 pi.
template <class T>
inline Vec3<T> log_translation(const Vec3<T>& phi, const Vec3<T>& p) {
  const Vec3<T> c = cross(phi, p);
  const T k = T(0.25) * detail::one_minus_x_cot(T(0.25) * dot(phi, phi));
  return p - scale(T(0.5), c) + scale(k, cross(phi, c));
}

}  // namespace espalier
