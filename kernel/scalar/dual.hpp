#pragma once

#include "espalier/kernel/scalar/scalar.hpp"

namespace espalier {

/// A quantity x with its derivative d along one direction: x + d e with e² = 0. What is written
/// once for all scalars gives at Dual<T> its directional derivative, exact to rounding; Jet over
/// Dual differentiates derivatives by time once more.
/// Source: forward mode, Griewank and Walther (2008), chapter 3.
template <class T>
struct Dual {
  T x;           ///< value
  T d = T(0.0);  ///< derivative

  Dual() = default;
  // NOLINTNEXTLINE(google-explicit-constructor): a number is a constant.
  Dual(double value) : x(value) {}
  Dual(const T& value, const T& derivative) : x(value), d(derivative) {}

  friend Dual operator+(const Dual& a, const Dual& b) { return {a.x + b.x, a.d + b.d}; }
  friend Dual operator-(const Dual& a, const Dual& b) { return {a.x - b.x, a.d - b.d}; }
  friend Dual operator-(const Dual& a) { return {-a.x, -a.d}; }
  friend Dual operator*(const Dual& a, const Dual& b) { return {a.x * b.x, a.d * b.x + a.x * b.d}; }
  friend Dual operator/(const Dual& a, const Dual& b) {
    const T inverse = T(1.0) / b.x;
    const T ratio = a.x * inverse;
    return {ratio, (a.d - ratio * b.d) * inverse};
  }
  Dual& operator+=(const Dual& b) { return *this = *this + b; }
  Dual& operator-=(const Dual& b) { return *this = *this - b; }
  Dual& operator*=(const Dual& b) { return *this = *this * b; }
  Dual& operator/=(const Dual& b) { return *this = *this / b; }
};

template <class T>
inline constexpr bool is_single<Dual<T>> = is_single<T>;

template <class T>
inline void sincos(const Dual<T>& a, Dual<T>& s, Dual<T>& c) {
  T sx, cx;
  sincos(a.x, sx, cx);
  s = {sx, cx * a.d};
  c = {cx, -(sx * a.d)};
}
template <class T>
inline Dual<T> sqrt(const Dual<T>& a) {
  const T root = sqrt(a.x);
  return {root, T(0.5) * a.d / root};
}
template <class T>
inline Dual<T> atan2(const Dual<T>& y, const Dual<T>& x) {
  return {atan2(y.x, x.x), (x.x * y.d - y.x * x.d) / (x.x * x.x + y.x * y.x)};
}
template <class T>
inline Dual<T> select_less(const Dual<T>& a, const Dual<T>& b, const Dual<T>& x, const Dual<T>& y) {
  return {select_less(a.x, b.x, x.x, y.x), select_less(a.x, b.x, x.d, y.d)};
}
template <class T>
inline Dual<T> abs(const Dual<T>& a) {
  return select_less(a, Dual<T>(0.0), -a, a);
}

}  // namespace espalier
