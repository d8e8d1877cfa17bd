#pragma once

#include <cmath>

#include "espalier/kernel/scalar/dual.hpp"
#include "espalier/kernel/scalar/scalar.hpp"

/// Decisions of several robots at once: a comparison of packs is a mask, and code that would branch
/// selects. At the scalar double a mask is a bool, so that one text serves both.

namespace espalier::contact {

/// Truth of a comparison in each lane.
template <class T>
struct Mask {
  bool bits;

  static Mask none() { return {false}; }
  static Mask every() { return {true}; }
  friend Mask operator&(Mask a, Mask b) { return {a.bits && b.bits}; }
  friend Mask operator|(Mask a, Mask b) { return {a.bits || b.bits}; }
  Mask operator~() const { return {!bits}; }
  bool lane(int /*k*/) const { return bits; }
  bool any() const { return bits; }
};
template <class S, int n>
struct Mask<BasicPack<S, n>> {
  using Lanes = typename BasicPack<S, n>::Lanes;
  using Bits = decltype(std::declval<Lanes>() < std::declval<Lanes>());
  Bits bits;

  static Mask none() { return {Bits{}}; }
  static Mask every() { return {~Bits{}}; }
  friend Mask operator&(Mask a, Mask b) { return {a.bits & b.bits}; }
  friend Mask operator|(Mask a, Mask b) { return {a.bits | b.bits}; }
  Mask operator~() const { return {~bits}; }
  bool lane(int k) const { return bits[k] != 0; }
  bool any() const {
    auto sum = bits[0];
    for (int k = 1; k < n; ++k) sum |= bits[k];
    return sum != 0;
  }
};

/// Number of robots in a scalar.
template <class T>
inline constexpr int lane_count = 1;
template <class S, int n>
inline constexpr int lane_count<BasicPack<S, n>> = n;

inline Mask<double> less(double a, double b) { return {a < b}; }
inline Mask<double> less_equal(double a, double b) { return {a <= b}; }
inline double select(Mask<double> m, double x, double y) { return m.bits ? x : y; }
template <class S, int n>
inline Mask<BasicPack<S, n>> less(const BasicPack<S, n>& a, const BasicPack<S, n>& b) {
  return {a.lanes < b.lanes};
}
template <class S, int n>
inline Mask<BasicPack<S, n>> less_equal(const BasicPack<S, n>& a, const BasicPack<S, n>& b) {
  return {a.lanes <= b.lanes};
}
template <class S, int n>
inline BasicPack<S, n> select(Mask<BasicPack<S, n>> m, const BasicPack<S, n>& x,
                              const BasicPack<S, n>& y) {
  return BasicPack<S, n>(m.bits ? x.lanes : y.lanes);
}

/// Dual numbers are compared by their values; what is selected brings its derivative along.
template <class T>
inline Mask<Dual<T>> less(const Dual<T>& a, const Dual<T>& b) {
  return {a.x < b.x};
}
template <class T>
inline Mask<Dual<T>> less_equal(const Dual<T>& a, const Dual<T>& b) {
  return {a.x <= b.x};
}
template <class T>
inline Dual<T> select(Mask<Dual<T>> m, const Dual<T>& x, const Dual<T>& y) {
  return m.bits ? x : y;
}
using espalier::lane;
template <class T>
inline double lane(const Dual<T>& x, int k) {
  return espalier::lane(x.x, k);
}
/// What is set lane by lane is piecewise constant.
inline void set_lane(Dual<double>& x, int /*k*/, double value) { x = value; }

/// NaN in a gives b.
template <class T>
inline T smaller(const T& a, const T& b) {
  return select(less(a, b), a, b);
}
template <class T>
inline T larger(const T& a, const T& b) {
  return select(less(b, a), a, b);
}
template <class T>
inline T clip(const T& x, const T& low, const T& high) {
  return smaller(larger(x, low), high);
}

inline void set_lane(double& x, int /*k*/, double value) { x = value; }
template <class S, int n>
inline void set_lane(BasicPack<S, n>& x, int k, double value) {
  x.set(k, static_cast<S>(value));
}

}  // namespace espalier::contact
