#pragma once

#include <espalier/plugin.hpp>

#include "espalier/kernel/spatial/exponential.hpp"

namespace espalier {

/// Free motion.
///   q = [x, y, z, qx, qy, qz, qw]: position of the body's origin in the parent and unit quaternion
///       that takes body coordinates to parent coordinates;
///   v = [omega, v]: the body's twist in its own frame, angular first.
/// The axis has no meaning.
/// Source: Featherstone (2008), Table 4.1 and section 4.5.
struct Floating {
  static constexpr int nq = 7, nv = 6;
  using Subspace = FreeAxes;

  explicit Floating(const JointSpec& /*joint*/) {}

  static Mat3<double> alignment(const JointSpec& /*joint*/) { return Mat3<double>::identity(); }

  template <class T>
  Transform<T> position(const T* q) const {
    return {quaternion_to_E(q + 3), {q[0], q[1], q[2]}};
  }
  /// Constant twist of the body for unit time: the exponential of SE(3).
  template <class T>
  void integrate(const T* q, const T* v, T* q_out) const {
    const Vec3<T> phi{v[0], v[1], v[2]};
    const Vec3<T> step = exp_translation(phi, Vec3<T>{v[3], v[4], v[5]});
    const Vec3<T> moved = transpose_times(quaternion_to_E(q + 3), step);
    const Quaternion<T> orientation = Quaternion<T>::load(q + 3) * exp_rotation(phi);
    for (int i = 0; i < 3; ++i) q_out[i] = q[i] + moved[i];
    orientation.store(q_out + 3);
  }
  /// The shorter of the two ways around: |omega| <= pi.
  template <class T>
  void difference(const T* q0, const T* q1, T* v) const {
    const Vec3<T> phi =
        log_rotation(Quaternion<T>::load(q0 + 3).conjugate() * Quaternion<T>::load(q1 + 3));
    const Vec3<T> moved{q1[0] - q0[0], q1[1] - q0[1], q1[2] - q0[2]};
    const Vec3<T> step = log_translation(phi, quaternion_to_E(q0 + 3) * moved);
    for (int i = 0; i < 3; ++i) {
      v[i] = phi[i];
      v[3 + i] = step[i];
    }
  }
  /// The quaternion to unit length; a zero one becomes the identity.
  template <class T>
  void normalize(T* q) const {
    normalized(Quaternion<T>::load(q + 3)).store(q + 3);
  }
  void neutral(double* q) const {
    for (int i = 0; i < 6; ++i) q[i] = 0.0;
    q[6] = 1.0;
  }
};

}  // namespace espalier
