#pragma once

#include "espalier/kernel/spatial/transform.hpp"

namespace espalier {

/// Inertia of a rigid body about the origin of its frame: ten numbers.
/// As a 6 x 6 matrix: [I h×; -h× m 1], h = m times the centre of mass.
template <class T>
struct RigidInertia {
  T m;        ///< mass [kg]
  Vec3<T> h;  ///< mass times centre of mass [kg·m]
  Sym3<T> I;  ///< rotational inertia about the frame's origin [kg·m²]

  static RigidInertia zero() { return {T(0.0), Vec3<T>::zero(), Sym3<T>::zero()}; }  ///< no body

  /// From mass, centre of mass and inertia about the centre of mass.
  static RigidInertia from_com(const T& mass, const Vec3<T>& com, const Sym3<T>& I_com) {
    RigidInertia I{mass, scale(mass, com), I_com};
    const T cc = dot(com, com);
    I.I.xx += mass * (cc - com.x * com.x);
    I.I.yy += mass * (cc - com.y * com.y);
    I.I.zz += mass * (cc - com.z * com.z);
    I.I.xy -= mass * (com.x * com.y);
    I.I.xz -= mass * (com.x * com.z);
    I.I.yz -= mass * (com.y * com.z);
    return I;
  }

  template <class U>
  RigidInertia& operator+=(const RigidInertia<U>& b) {  ///< welds b to it
    m += b.m, h += b.h, I += b.I;
    return *this;
  }
};

/// I v: momentum of a body with twist v [N·m·s, N·s].
template <class A, class B>
inline Force<Product<A, B>> operator*(const RigidInertia<A>& I, const Motion<B>& v) {
  return {I.I * v.w + cross(I.h, v.v), scale(I.m, v.v) - cross(I.h, v.w)};
}

/// X^T I X: the inertia of the same body about the origin of frame A, for X from A to B.
template <class A, class B>
inline RigidInertia<Product<A, B>> congruence(const Transform<A>& X, const RigidInertia<B>& I) {
  using T = Product<A, B>;
  RigidInertia<T> out;
  out.m = I.m;
  const Vec3<T> h = transpose_times(X.E, I.h);
  out.h = h + scale(I.m, X.r);
  out.I = congruence(X.E, I.I);
  // Steiner from B's origin to A's: I + (2 h·r + m r·r) 1 - (h r' + r h') - m r r'.
  const Vec3<T> g = h + scale(I.m, X.r);  // h + m r
  const T rg = dot(X.r, h) + dot(X.r, g);
  out.I.xx += rg - (X.r.x * h.x + X.r.x * g.x);
  out.I.yy += rg - (X.r.y * h.y + X.r.y * g.y);
  out.I.zz += rg - (X.r.z * h.z + X.r.z * g.z);
  out.I.xy -= h.x * X.r.y + X.r.x * g.y;
  out.I.xz -= h.x * X.r.z + X.r.x * g.z;
  out.I.yz -= h.y * X.r.z + X.r.y * g.z;
  return out;
}

/// Articulated-body inertia: symmetric 6 x 6 matrix [A B; B^T C], 21 numbers.
template <class T>
struct ArticulatedInertia {
  Sym3<T> A;  ///< moment per angular acceleration
  Mat3<T> B;  ///< moment per linear acceleration
  Sym3<T> C;  ///< force per linear acceleration

  static ArticulatedInertia zero() { return {Sym3<T>::zero(), Mat3<T>::zero(), Sym3<T>::zero()}; }
  template <class U>
  static ArticulatedInertia from(const RigidInertia<U>& I) {  ///< of one rigid body
    const T z = T(0.0), m = T(I.m);
    return {Sym3<T>::from(I.I), Mat3<T>::from(cross_matrix(I.h)), {m, z, z, m, z, m}};
  }
  template <class U>
  ArticulatedInertia& operator+=(const ArticulatedInertia<U>& b) {  ///< adds b
    A += b.A, C += b.C;
    for (int i = 0; i < 3; ++i) B.row[i] += b.B.row[i];
    return *this;
  }
  /// Column k, that is the wrench for a unit acceleration along axis k (0-2 angular, 3-5 linear).
  Force<T> column(int k) const {
    if (k < 3) return {{A(0, k), A(1, k), A(2, k)}, B.row[k]};
    k -= 3;
    return {B.column(k), {C(0, k), C(1, k), C(2, k)}};
  }
  /// this -= s u u^T.
  [[gnu::always_inline]] void subtract_outer(const T& s, const Force<T>& u) {
    const Force<T> t = scale(s, u);
    A -= Sym3<T>{t.n.x * u.n.x, t.n.x * u.n.y, t.n.x * u.n.z,
                 t.n.y * u.n.y, t.n.y * u.n.z, t.n.z * u.n.z};
    B.row[0] -= scale(t.n.x, u.f);
    B.row[1] -= scale(t.n.y, u.f);
    B.row[2] -= scale(t.n.z, u.f);
    C -= Sym3<T>{t.f.x * u.f.x, t.f.x * u.f.y, t.f.x * u.f.z,
                 t.f.y * u.f.y, t.f.y * u.f.z, t.f.z * u.f.z};
  }
};
/// I a: the wrench that acceleration a takes.
template <class A, class B>
inline Force<Product<A, B>> operator*(const ArticulatedInertia<A>& I, const Motion<B>& a) {
  return {I.A * a.w + I.B * a.v, transpose_times(I.B, a.w) + I.C * a.v};
}

/// The inertia of the same articulated body about a point from which its frame's origin is seen at
/// r, same axes: B' = B + r× C, A' = A + r× B'^T + B (r×)^T (42 multiplications).
template <class S, class U>
inline ArticulatedInertia<Product<S, U>> shifted(const ArticulatedInertia<U>& I, const Vec3<S>& r) {
  using T = Product<S, U>;
  const Vec3<T> c0 = cross(r, Vec3<T>{I.C.xx, I.C.xy, I.C.xz});
  const Vec3<T> c1 = cross(r, Vec3<T>{I.C.xy, I.C.yy, I.C.yz});
  const Vec3<T> c2 = cross(r, Vec3<T>{I.C.xz, I.C.yz, I.C.zz});
  const Vec3<T>&b0 = I.B.row[0], &b1 = I.B.row[1], &b2 = I.B.row[2];
  const Mat3<T> B{{{b0.x + c0.x, b0.y + c1.x, b0.z + c2.x},
                   {b1.x + c0.y, b1.y + c1.y, b1.z + c2.y},
                   {b2.x + c0.z, b2.y + c1.z, b2.z + c2.z}}};
  // (r× B'^T)(i,j) = (r × row j of B')_i and (B (r×)^T)(i,j) = (r × row i of B)_j.
  const Vec3<T>&n0 = B.row[0], &n1 = B.row[1], &n2 = B.row[2];
  return {{I.A.xx + r.y * (n0.z + b0.z) - r.z * (n0.y + b0.y),
           I.A.xy + (r.y * n1.z - r.z * n1.y) + (r.z * b0.x - r.x * b0.z),
           I.A.xz + (r.y * n2.z - r.z * n2.y) + (r.x * b0.y - r.y * b0.x),
           I.A.yy + r.z * (n1.x + b1.x) - r.x * (n1.z + b1.z),
           I.A.yz + (r.z * n2.x - r.x * n2.z) + (r.x * b1.y - r.y * b1.x),
           I.A.zz + r.x * (n2.y + b2.y) - r.y * (n2.x + b2.x)},
          B,
          {I.C.xx, I.C.xy, I.C.xz, I.C.yy, I.C.yz, I.C.zz}};
}

/// X^T I X for X from A to B (Featherstone 2008, section 2.13).
template <class S, class U>
inline ArticulatedInertia<Product<S, U>> congruence(const Transform<S>& X,
                                                    const ArticulatedInertia<U>& I) {
  using T = Product<S, U>;
  const Mat3<T> BE = I.B * X.E;
  const ArticulatedInertia<T> turned{congruence(X.E, I.A), X.E.transposed() * BE,
                                     congruence(X.E, I.C)};
  return shifted(turned, X.r);
}

}  // namespace espalier
