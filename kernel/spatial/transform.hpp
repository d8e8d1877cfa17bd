#pragma once

#include "espalier/kernel/export.hpp"
#include "espalier/kernel/spatial/spatial.hpp"

/// Plücker transforms X = [E 0; -E r× E] from a parent frame A to a frame B, and the special ones
/// that joints about and along z produce.

namespace espalier {

/// Plücker transform from frame A to frame B.
template <class T>
struct Transform {
  Mat3<T> E;  ///< takes coordinates in A to coordinates in B
  Vec3<T> r;  ///< origin of B in A [m]

  static Transform identity() { return {Mat3<T>::identity(), Vec3<T>::zero()}; }  ///< of one frame
  template <class U>
  static Transform from(const Transform<U>& u) {  ///< of another scalar
    return {Mat3<T>::from(u.E), Vec3<T>::from(u.r)};
  }

  /// X m: motion vector from A to B.
  template <class U>
  Motion<Product<T, U>> operator*(const Motion<U>& m) const {
    return {E * m.w, E * (m.v - cross(r, m.w))};
  }
  /// X^-1 m: motion vector from B to A.
  template <class U>
  Motion<Product<T, U>> inverse_times(const Motion<U>& m) const {
    const auto w = transpose_times(E, m.w);
    return {w, transpose_times(E, m.v) + cross(r, w)};
  }
  /// X^T f: force vector from B to A.
  template <class U>
  Force<Product<T, U>> transpose_times_force(const Force<U>& f) const {
    const auto force = transpose_times(E, f.f);
    return {transpose_times(E, f.n) + cross(r, force), force};
  }
  /// X^-T f: force vector from A to B.
  template <class U>
  Force<Product<T, U>> force_to(const Force<U>& f) const {
    return {E * (f.n - cross(r, f.f)), E * f.f};
  }
  Transform inverse() const { return {E.transposed(), -(E * r)}; }  ///< from B to A
};

/// (B to C) * (A to B) = (A to C).
template <class A, class B>
inline Transform<Product<A, B>> operator*(const Transform<A>& bc, const Transform<B>& ab) {
  return {bc.E * ab.E, ab.r + transpose_times(ab.E, bc.r)};
}

/// Rotation without translation; E takes coordinates in A to coordinates in B.
template <class T>
struct Rotation {
  Mat3<T> E;  ///< from A to B
};
/// Rotation about z by an angle with sine s and cosine c.
template <class T>
struct RotationZ {
  T s, c;  ///< cosine
  template <class A>
  static RotationZ by(const A& angle) {  ///< by an angle [rad]
    RotationZ R;
    sincos(angle, R.s, R.c);
    return R;
  }
};
/// Translation along z by d.
template <class T>
struct TranslationZ {
  T d;  ///< [m]
};
/// Screw about z: rotation with sine s and cosine c, and translation by d.
template <class T>
struct ScrewZ {
  T s, c, d;  ///< translation [m]
};

template <class T>
inline Mat3<T> rotation_z(const T& s, const T& c) {  ///< E of a turn about z
  return {{{c, s, T(0.0)}, {-s, c, T(0.0)}, {T(0.0), T(0.0), T(1.0)}}};
}
/// Rotates the x and y rows of a constant placement: 12 multiplications instead of 27.
template <class T, class P>
inline Mat3<T> rotate_rows(const T& s, const T& c, const Mat3<P>& E) {
  return {{scale(c, E.row[0]) + scale(s, E.row[1]), scale(c, E.row[1]) - scale(s, E.row[0]),
           Vec3<T>::from(E.row[2])}};
}
template <class T, class P>
inline Transform<T> operator*(const Rotation<T>& J, const Transform<P>& placement) {  ///< J X
  return {J.E * placement.E, Vec3<T>::from(placement.r)};
}
template <class T, class P>
inline Transform<T> operator*(const RotationZ<T>& J, const Transform<P>& placement) {  ///< J X
  return {rotate_rows(J.s, J.c, placement.E), Vec3<T>::from(placement.r)};
}
template <class T, class P>
inline Transform<T> operator*(const TranslationZ<T>& J, const Transform<P>& placement) {  ///< J X
  return {Mat3<T>::from(placement.E), placement.r + scale(J.d, placement.E.row[2])};
}
template <class T, class P>
inline Transform<T> operator*(const ScrewZ<T>& J, const Transform<P>& placement) {  ///< J X
  return {rotate_rows(J.s, J.c, placement.E), placement.r + scale(J.d, placement.E.row[2])};
}

/// The matrix E (parent to body coordinates) of a quaternion x y z w (body to parent). Its length
/// does not matter; of the zero quaternion E is NaN.
template <class T>
inline Mat3<T> quaternion_to_E(const T* quat) {
  const T x = quat[0], y = quat[1], z = quat[2], w = quat[3];
  const T s = T(2.0) / (x * x + y * y + z * z + w * w);
  const T x2 = s * x, y2 = s * y, z2 = s * z;
  const T xx = x * x2, yy = y * y2, zz = z * z2;
  const T xy = x * y2, xz = x * z2, yz = y * z2;
  const T wx = w * x2, wy = w * y2, wz = w * z2;
  const T one = T(1.0);
  return {{{one - (yy + zz), xy + wz, xz - wy},
           {xy - wz, one - (xx + zz), yz + wx},
           {xz + wy, yz - wx, one - (xx + yy)}}};
}

/// E of the fixed-axis angles roll, pitch, yaw [rad] of URDF: E^T = Rz(yaw) Ry(pitch) Rx(roll).
inline Mat3<double> rpy_to_E(const Vec3<double>& rpy) {
  double sr, cr, sp, cp, sy, cy;
  sincos(rpy.x, sr, cr);
  sincos(rpy.y, sp, cp);
  sincos(rpy.z, sy, cy);
  return {{{cy * cp, sy * cp, -sp},
           {cy * sp * sr - sy * cr, sy * sp * sr + cy * cr, cp * sr},
           {cy * sp * cr + sy * sr, sy * sp * cr - cy * sr, cp * cr}}};
}

/// Placement of a child frame in its parent: the child's origin and fixed-axis roll-pitch-yaw, as
/// in URDF.
struct Pose {
  Vec3<double> xyz{0, 0, 0};  ///< [m]
  Vec3<double> rpy{0, 0, 0};  ///< [rad]

  /// Plücker transform from the parent to the child frame.
  ESPALIER_API Transform<double> transform() const;
  /// The pose with the same transform; roll-pitch-yaw in their principal ranges.
  ESPALIER_API static Pose from(const Transform<double>& X);
  ESPALIER_API bool operator==(const Pose& other) const;  ///< whether all numbers are equal
};

}  // namespace espalier
