#pragma once

#include <espalier/plugin.hpp>

#include "espalier/kernel/spatial/exponential.hpp"

namespace espalier {

/// Rotation about a point: q = [qx, qy, qz, qw], unit quaternion that takes body coordinates to
/// parent coordinates; v = angular velocity in the body frame. The axis has no meaning.
/// Source: Featherstone (2008), Table 4.1 and section 4.5.
struct Spherical {
  static constexpr int nq = 4, nv = 3;
  using Subspace = SphericalAxes;

  explicit Spherical(const JointSpec& /*joint*/) {}

  static Mat3<double> alignment(const JointSpec& /*joint*/) { return Mat3<double>::identity(); }

  /// Origins together.
  static std::vector<LoopRow> loop_rows(const JointSpec& /*joint*/) {
    std::vector<LoopRow> rows;
    for (const Vec3<double>& direction :
         {Vec3<double>{1, 0, 0}, Vec3<double>{0, 1, 0}, Vec3<double>{0, 0, 1}}) {
      keep_offset(direction, rows);
    }
    return rows;
  }

  template <class T>
  Rotation<T> position(const T* q) const {
    return {quaternion_to_E(q)};
  }
  template <class T>
  void integrate(const T* q, const T* v, T* q_out) const {
    const Quaternion<T> step = exp_rotation(Vec3<T>{v[0], v[1], v[2]});
    (Quaternion<T>::load(q) * step).store(q_out);
  }
  /// The shorter of the two ways around: |v| <= pi.
  template <class T>
  void difference(const T* q0, const T* q1, T* v) const {
    const Vec3<T> phi = log_rotation(Quaternion<T>::load(q0).conjugate() * Quaternion<T>::load(q1));
    v[0] = phi.x, v[1] = phi.y, v[2] = phi.z;
  }
  /// To unit length; the zero quaternion becomes the identity.
  template <class T>
  void normalize(T* q) const {
    normalized(Quaternion<T>::load(q)).store(q);
  }
  void neutral(double* q) const {
    q[0] = q[1] = q[2] = 0.0;
    q[3] = 1.0;
  }
};

}  // namespace espalier
