#pragma once

#include <concepts>

#include "espalier/kernel/scalar/jet.hpp"

/// Elementary functions of every scalar, made of sincos, sqrt and atan2, so that a law can be
/// written as on paper. For double they are those of the standard library.

namespace espalier {

using std::acos;
using std::asin;
using std::atan;
using std::cos;
using std::hypot;
using std::sin;
using std::tan;

template <class T>
concept NotDouble = !std::is_arithmetic_v<T>;

template <NotDouble T>
inline T sin(const T& x) {
  T s, c;
  sincos(x, s, c);
  return s;
}
template <NotDouble T>
inline T cos(const T& x) {
  T s, c;
  sincos(x, s, c);
  return c;
}
template <NotDouble T>
inline T tan(const T& x) {
  T s, c;
  sincos(x, s, c);
  return s / c;
}
template <NotDouble T>
inline T atan(const T& x) {
  return atan2(x, T(1.0));
}
template <NotDouble T>
inline T asin(const T& x) {
  return atan2(x, sqrt((T(1.0) - x) * (T(1.0) + x)));
}
template <NotDouble T>
inline T acos(const T& x) {
  return atan2(sqrt((T(1.0) - x) * (T(1.0) + x)), x);
}
template <NotDouble T>
inline T hypot(const T& x, const T& y) {
  return sqrt(x * x + y * y);
}

}  // namespace espalier
