#pragma once

#include <concepts>

#include "espalier/kernel/scalar/refused.hpp"

/// Elementary functions of every scalar, made of sincos, sqrt and atan2, so that a law can be
/// written as on paper: sin, cos, tan, asin, acos, atan, atan2, sqrt, hypot, abs, pow with a whole
/// exponent, select_less. For double they are those of the standard library. refused.hpp says what
/// there is not.

namespace espalier {

using std::acos;
using std::asin;
using std::atan;
using std::cos;
using std::hypot;
using std::pow;
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

/// The scalar among scalars and numbers, which stand for constants of that scalar.
template <class... A>
requires(detail::KernelScalar<A> || ...) &&
    (detail::Number<A> || ...) using Mixed = typename detail::FirstScalar<A...>::type;

template <class Y, class X>
inline Mixed<Y, X> atan2(const Y& y, const X& x) {
  using T = Mixed<Y, X>;
  return atan2(T(y), T(x));
}
template <class X, class Y>
inline Mixed<X, Y> hypot(const X& x, const Y& y) {
  using T = Mixed<X, Y>;
  return hypot(T(x), T(y));
}
template <class A, class B, class X, class Y>
inline Mixed<A, B, X, Y> select_less(const A& a, const B& b, const X& x, const Y& y) {
  using T = Mixed<A, B, X, Y>;
  return select_less(T(a), T(b), T(x), T(y));
}

/// x to a whole power, by multiplications.
template <NotDouble T, std::integral I>
inline T pow(const T& x, I exponent) {
  if (exponent < 0) return T(1.0) / pow(x, -exponent);
  T result(1.0), square = x;
  for (; exponent > 0; exponent /= 2, square = square * square) {
    if (exponent % 2 == 1) result = result * square;
  }
  return result;
}
template <detail::KernelScalar T, class E>
requires(!std::integral<E>) inline T pow(const T& x, const E&) {
  return detail::NoPower<detail::once<T>>::done ? -x : x;
}

}  // namespace espalier

/// Authors write std::cos(x) out of habit, and get pages of errors at all scalars but double. The
/// standard reserves its namespace; that overloads for a program's own types work in it is what the
/// two compilers do that Espalier is built with.
namespace std {
// NOLINTBEGIN(cert-dcl58-cpp)
#define ESPALIER_IN_STD(function)               \
  template <::espalier::detail::KernelScalar T> \
  inline T function(const T& x) {               \
    using ::espalier::function;                 \
    return function(x);                         \
  }
ESPALIER_IN_STD(sin)
ESPALIER_IN_STD(cos)
ESPALIER_IN_STD(tan)
ESPALIER_IN_STD(asin)
ESPALIER_IN_STD(acos)
ESPALIER_IN_STD(atan)
ESPALIER_IN_STD(sqrt)
ESPALIER_IN_STD(abs)
#undef ESPALIER_IN_STD
template <::espalier::detail::KernelScalar T>
inline T atan2(const T& y, const T& x) {
  using ::espalier::atan2;
  return atan2(y, x);
}
template <class Y, class X>
inline ::espalier::Mixed<Y, X> atan2(const Y& y, const X& x) {
  return ::espalier::atan2(y, x);
}
template <::espalier::detail::KernelScalar T>
inline T hypot(const T& x, const T& y) {
  return ::espalier::hypot(x, y);
}
template <class X, class Y>
inline ::espalier::Mixed<X, Y> hypot(const X& x, const Y& y) {
  return ::espalier::hypot(x, y);
}
template <::espalier::detail::KernelScalar T, ::std::integral I>
inline T pow(const T& x, I exponent) {
  return ::espalier::pow(x, exponent);
}
template <::espalier::detail::KernelScalar T, class E>
requires(!::std::integral<E>) inline T pow(const T& x, const E& exponent) {
  return ::espalier::pow(x, exponent);
}
// NOLINTEND(cert-dcl58-cpp)
}  // namespace std
