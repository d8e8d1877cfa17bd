#pragma once

#include "espalier/kernel/scalar/scalar.hpp"

namespace espalier {

/// A quantity along a path parameter t with its first two derivatives by t: differentiates what is
/// written once for all scalars. With q(t) = q + t e_j, `d` of phi(q(t)) is column j of dphi/dq;
/// with q(t) = q + t qd, `dd` is (d/dt dphi/dq) qd.
/// Source: Taylor arithmetic, Griewank and Walther (2008), chapter 13.
template <class T>
struct Jet {
  T x;            ///< value
  T d = T(0.0);   ///< first derivative
  T dd = T(0.0);  ///< second derivative

  Jet() = default;
  // NOLINTNEXTLINE(google-explicit-constructor): a number is a constant jet.
  Jet(double value) : x(value) {}
  Jet(const T& value, const T& first, const T& second = T(0.0)) : x(value), d(first), dd(second) {}

  friend Jet operator+(const Jet& a, const Jet& b) { return {a.x + b.x, a.d + b.d, a.dd + b.dd}; }
  friend Jet operator-(const Jet& a, const Jet& b) { return {a.x - b.x, a.d - b.d, a.dd - b.dd}; }
  friend Jet operator-(const Jet& a) { return {-a.x, -a.d, -a.dd}; }
  friend Jet operator*(const Jet& a, const Jet& b) {
    const T cross = a.d * b.d;
    return {a.x * b.x, a.d * b.x + a.x * b.d, a.dd * b.x + (cross + cross) + a.x * b.dd};
  }
  friend Jet operator/(const Jet& a, const Jet& b) {
    const T inverse = T(1.0) / b.x;
    const T ratio = a.x * inverse;
    const T first = (a.d - ratio * b.d) * inverse;
    return {ratio, first, (a.dd - (first + first) * b.d - ratio * b.dd) * inverse};
  }
  Jet& operator+=(const Jet& b) { return *this = *this + b; }
  Jet& operator-=(const Jet& b) { return *this = *this - b; }
  Jet& operator*=(const Jet& b) { return *this = *this * b; }
  Jet& operator/=(const Jet& b) { return *this = *this / b; }

  /// f(a) from f, f' and f'' at a.x.
  static Jet chain(const Jet& a, const T& f, const T& df, const T& ddf) {
    return {f, df * a.d, ddf * (a.d * a.d) + df * a.dd};
  }
};

template <class T>
inline constexpr bool is_single<Jet<T>> = is_single<T>;

template <class T>
inline void sincos(const Jet<T>& a, Jet<T>& s, Jet<T>& c) {
  T sx, cx;
  sincos(a.x, sx, cx);
  s = Jet<T>::chain(a, sx, cx, -sx);
  c = Jet<T>::chain(a, cx, -sx, -cx);
}
template <class T>
inline Jet<T> sqrt(const Jet<T>& a) {
  const T root = sqrt(a.x);
  const T df = T(0.5) / root;
  return Jet<T>::chain(a, root, df, -(df * T(0.5)) / a.x);
}
template <class T>
inline Jet<T> atan2(const Jet<T>& y, const Jet<T>& x) {
  // d atan2 = (x dy - y dx) / (x² + y²), and that once more.
  const T r2 = x.x * x.x + y.x * y.x;
  const T d = (x.x * y.d - y.x * x.d) / r2;
  const T half_r2_d = x.x * x.d + y.x * y.d;
  const T dd = (x.x * y.dd - y.x * x.dd - (half_r2_d + half_r2_d) * d) / r2;
  return {atan2(y.x, x.x), d, dd};
}
template <class T>
inline Jet<T> select_less(const Jet<T>& a, const Jet<T>& b, const Jet<T>& x, const Jet<T>& y) {
  return {select_less(a.x, b.x, x.x, y.x), select_less(a.x, b.x, x.d, y.d),
          select_less(a.x, b.x, x.dd, y.dd)};
}
template <class T>
inline Jet<T> abs(const Jet<T>& a) {
  return select_less(a, Jet<T>(0.0), -a, a);
}

}  // namespace espalier
