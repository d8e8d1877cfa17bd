#pragma once

#include "espalier/kernel/spatial/vec3.hpp"

/// Plücker motion and force vectors, angular part first (Featherstone 2008, chapter 2).

namespace espalier {

/// Motion vector: twist or spatial acceleration [rad/s, m/s] or [rad/s², m/s²].
template <class T>
struct Motion {
  Vec3<T> w;  ///< angular
  Vec3<T> v;  ///< linear, of the point at the frame's origin

  static Motion zero() { return {Vec3<T>::zero(), Vec3<T>::zero()}; }  ///< all zero
  template <class U>
  static Motion from(const Motion<U>& u) {  ///< of another scalar
    return {Vec3<T>::from(u.w), Vec3<T>::from(u.v)};
  }
  const T& operator[](int i) const { return i < 3 ? w[i] : v[i - 3]; }  ///< angular first
  T& operator[](int i) { return i < 3 ? w[i] : v[i - 3]; }              ///< angular first
  template <class U>
  Motion& operator+=(const Motion<U>& b) {  ///< adds b
    w += b.w, v += b.v;
    return *this;
  }
  Motion operator-() const { return {-w, -v}; }  ///< the opposite
};

/// Force vector: wrench [N·m, N].
template <class T>
struct Force {
  Vec3<T> n;  ///< moment about the frame's origin
  Vec3<T> f;  ///< force

  static Force zero() { return {Vec3<T>::zero(), Vec3<T>::zero()}; }  ///< all zero
  template <class U>
  static Force from(const Force<U>& u) {  ///< of another scalar
    return {Vec3<T>::from(u.n), Vec3<T>::from(u.f)};
  }
  const T& operator[](int i) const { return i < 3 ? n[i] : f[i - 3]; }  ///< angular first
  T& operator[](int i) { return i < 3 ? n[i] : f[i - 3]; }              ///< angular first
  template <class U>
  Force& operator+=(const Force<U>& b) {  ///< adds b
    n += b.n, f += b.f;
    return *this;
  }
  template <class U>
  Force& operator-=(const Force<U>& b) {  ///< subtracts b
    n -= b.n, f -= b.f;
    return *this;
  }
  Force operator-() const { return {-n, -f}; }  ///< the opposite
};

template <class A, class B>
inline Motion<Product<A, B>> operator+(const Motion<A>& a, const Motion<B>& b) {  ///< the sum
  return {a.w + b.w, a.v + b.v};
}
template <class A, class B>
inline Motion<Product<A, B>> operator-(const Motion<A>& a, const Motion<B>& b) {  ///< a - b
  return {a.w - b.w, a.v - b.v};
}
template <class A, class B>
inline Force<Product<A, B>> operator+(const Force<A>& a, const Force<B>& b) {  ///< the sum
  return {a.n + b.n, a.f + b.f};
}
template <class A, class B>
inline Force<Product<A, B>> operator-(const Force<A>& a, const Force<B>& b) {  ///< a - b
  return {a.n - b.n, a.f - b.f};
}
template <class A, class B>
inline Motion<Product<A, B>> scale(const A& s, const Motion<B>& b) {  ///< s b, with a scalar s
  return {scale(s, b.w), scale(s, b.v)};
}
template <class A, class B>
inline Force<Product<A, B>> scale(const A& s, const Force<B>& b) {  ///< s b, with a scalar s
  return {scale(s, b.n), scale(s, b.f)};
}
/// Power of a force on a motion [W].
template <class A, class B>
inline Product<A, B> dot(const Motion<A>& m, const Force<B>& f) {
  return dot(m.w, f.n) + dot(m.v, f.f);
}
/// v x m: rate of a motion vector m that is fixed in a frame moving with v.
template <class A, class B>
inline Motion<Product<A, B>> cross(const Motion<A>& v, const Motion<B>& m) {
  return {cross(v.w, m.w), cross(v.w, m.v) + cross(v.v, m.w)};
}
/// v x* f: rate of a force vector f that is fixed in a frame moving with v.
template <class A, class B>
inline Force<Product<A, B>> cross_star(const Motion<A>& v, const Force<B>& f) {
  return {cross(v.w, f.n) + cross(v.v, f.f), cross(v.w, f.f)};
}

}  // namespace espalier
