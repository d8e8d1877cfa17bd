#pragma once

#include "espalier/kernel/scalar/scalar_list.hpp"

/// Three-dimensional building blocks: plain structs of scalars that the compiler keeps in
/// registers. Operands may have different scalars (model parameters are doubles).

namespace espalier {

template <class T>
struct Vec3 {
  T x, y, z;

  Vec3() = default;
  Vec3(const T& x_, const T& y_, const T& z_) : x(x_), y(y_), z(z_) {}
  // Written out: g++ copies trivially copyable structs in blocks of 16 bytes right after it has
  // written them in pieces of 8, and the processor waits for its store buffer each time.
  Vec3(const Vec3& o) : x(o.x), y(o.y), z(o.z) {}
  Vec3& operator=(const Vec3& o) {
    x = o.x, y = o.y, z = o.z;
    return *this;
  }

  static Vec3 zero() { return {T(0.0), T(0.0), T(0.0)}; }
  template <class U>
  static Vec3 from(const Vec3<U>& u) {
    return {T(u.x), T(u.y), T(u.z)};
  }

  // Spelled out, so that a vector whose index is known at compile time stays in registers.
  const T& operator[](int i) const { return i == 0 ? x : i == 1 ? y : z; }
  T& operator[](int i) { return i == 0 ? x : i == 1 ? y : z; }

  Vec3 operator-() const { return {-x, -y, -z}; }
  template <class U>
  Vec3& operator+=(const Vec3<U>& b) {
    x += b.x, y += b.y, z += b.z;
    return *this;
  }
  template <class U>
  Vec3& operator-=(const Vec3<U>& b) {
    x -= b.x, y -= b.y, z -= b.z;
    return *this;
  }
};

template <class A, class B>
inline Vec3<Product<A, B>> operator+(const Vec3<A>& a, const Vec3<B>& b) {
  return {a.x + b.x, a.y + b.y, a.z + b.z};
}
template <class A, class B>
inline Vec3<Product<A, B>> operator-(const Vec3<A>& a, const Vec3<B>& b) {
  return {a.x - b.x, a.y - b.y, a.z - b.z};
}
/// s a, with a scalar s.
template <class A, class B>
inline Vec3<Product<A, B>> scale(const A& s, const Vec3<B>& b) {
  return {s * b.x, s * b.y, s * b.z};
}
template <class A, class B>
inline Product<A, B> dot(const Vec3<A>& a, const Vec3<B>& b) {
  return a.x * b.x + a.y * b.y + a.z * b.z;
}
template <class A, class B>
inline Vec3<Product<A, B>> cross(const Vec3<A>& a, const Vec3<B>& b) {
  return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

/// 3 x 3 matrix by its rows.
template <class T>
struct Mat3 {
  Vec3<T> row[3];

  static Mat3 zero() { return {{Vec3<T>::zero(), Vec3<T>::zero(), Vec3<T>::zero()}}; }
  static Mat3 identity() {
    Mat3 m = zero();
    m.row[0].x = m.row[1].y = m.row[2].z = T(1.0);
    return m;
  }
  template <class U>
  static Mat3 from(const Mat3<U>& u) {
    return {{Vec3<T>::from(u.row[0]), Vec3<T>::from(u.row[1]), Vec3<T>::from(u.row[2])}};
  }

  const T& operator()(int i, int j) const { return row[i][j]; }
  T& operator()(int i, int j) { return row[i][j]; }

  Vec3<T> column(int j) const { return {row[0][j], row[1][j], row[2][j]}; }
  Mat3 transposed() const { return {{column(0), column(1), column(2)}}; }
};

template <class A, class B>
inline Vec3<Product<A, B>> operator*(const Mat3<A>& m, const Vec3<B>& v) {
  return {dot(m.row[0], v), dot(m.row[1], v), dot(m.row[2], v)};
}
/// m^T v.
template <class A, class B>
inline Vec3<Product<A, B>> transpose_times(const Mat3<A>& m, const Vec3<B>& v) {
  return {m.row[0].x * v.x + m.row[1].x * v.y + m.row[2].x * v.z,
          m.row[0].y * v.x + m.row[1].y * v.y + m.row[2].y * v.z,
          m.row[0].z * v.x + m.row[1].z * v.y + m.row[2].z * v.z};
}
template <class A, class B>
inline Mat3<Product<A, B>> operator*(const Mat3<A>& a, const Mat3<B>& b) {
  return {
      {transpose_times(b, a.row[0]), transpose_times(b, a.row[1]), transpose_times(b, a.row[2])}};
}
template <class A, class B>
inline Mat3<Product<A, B>> operator+(const Mat3<A>& a, const Mat3<B>& b) {
  return {{a.row[0] + b.row[0], a.row[1] + b.row[1], a.row[2] + b.row[2]}};
}
template <class A, class B>
inline Mat3<Product<A, B>> operator-(const Mat3<A>& a, const Mat3<B>& b) {
  return {{a.row[0] - b.row[0], a.row[1] - b.row[1], a.row[2] - b.row[2]}};
}
/// The matrix [a x] of the cross product with a.
template <class T>
inline Mat3<T> cross_matrix(const Vec3<T>& a) {
  return {{{T(0.0), -a.z, a.y}, {a.z, T(0.0), -a.x}, {-a.y, a.x, T(0.0)}}};
}

/// Symmetric 3 x 3 matrix: six numbers.
template <class T>
struct Sym3 {
  T xx, xy, xz, yy, yz, zz;

  Sym3() = default;
  Sym3(const T& xx_, const T& xy_, const T& xz_, const T& yy_, const T& yz_, const T& zz_)
      : xx(xx_), xy(xy_), xz(xz_), yy(yy_), yz(yz_), zz(zz_) {}
  Sym3(const Sym3& o) : xx(o.xx), xy(o.xy), xz(o.xz), yy(o.yy), yz(o.yz), zz(o.zz) {}
  Sym3& operator=(const Sym3& o) {
    xx = o.xx, xy = o.xy, xz = o.xz, yy = o.yy, yz = o.yz, zz = o.zz;
    return *this;
  }

  static Sym3 zero() { return {T(0.0), T(0.0), T(0.0), T(0.0), T(0.0), T(0.0)}; }
  template <class U>
  static Sym3 from(const Sym3<U>& u) {
    return {T(u.xx), T(u.xy), T(u.xz), T(u.yy), T(u.yz), T(u.zz)};
  }
  template <class U>
  Sym3& operator+=(const Sym3<U>& b) {
    xx += b.xx, xy += b.xy, xz += b.xz, yy += b.yy, yz += b.yz, zz += b.zz;
    return *this;
  }
  template <class U>
  Sym3& operator-=(const Sym3<U>& b) {
    xx -= b.xx, xy -= b.xy, xz -= b.xz, yy -= b.yy, yz -= b.yz, zz -= b.zz;
    return *this;
  }
  T operator()(int i, int j) const {
    if (i > j) std::swap(i, j);
    return i == 0 ? (j == 0 ? xx : j == 1 ? xy : xz) : i == 1 ? (j == 1 ? yy : yz) : zz;
  }
  Mat3<T> full() const { return {{{xx, xy, xz}, {xy, yy, yz}, {xz, yz, zz}}}; }
};

template <class A, class B>
inline Sym3<Product<A, B>> operator+(const Sym3<A>& a, const Sym3<B>& b) {
  return {a.xx + b.xx, a.xy + b.xy, a.xz + b.xz, a.yy + b.yy, a.yz + b.yz, a.zz + b.zz};
}
template <class A, class B>
inline Vec3<Product<A, B>> operator*(const Sym3<A>& m, const Vec3<B>& v) {
  return {m.xx * v.x + m.xy * v.y + m.xz * v.z, m.xy * v.x + m.yy * v.y + m.yz * v.z,
          m.xz * v.x + m.yz * v.y + m.zz * v.z};
}
/// E^T m E for a symmetric m.
template <class A, class B>
inline Sym3<Product<A, B>> congruence(const Mat3<A>& E, const Sym3<B>& m) {
  // w_j = m times column j of E; the result's (i,j) entry is column i of E dotted with w_j.
  const auto e0 = E.column(0), e1 = E.column(1), e2 = E.column(2);
  const auto w0 = m * e0, w1 = m * e1, w2 = m * e2;
  return {dot(e0, w0), dot(e0, w1), dot(e0, w2), dot(e1, w1), dot(e1, w2), dot(e2, w2)};
}
/// The upper triangle of a matrix that is symmetric up to rounding.
template <class T>
inline Sym3<T> upper(const Mat3<T>& m) {
  return {m.row[0].x, m.row[0].y, m.row[0].z, m.row[1].y, m.row[1].z, m.row[2].z};
}

}  // namespace espalier
