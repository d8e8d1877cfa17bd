#pragma once

#include <espalier/plugin.hpp>

#include "espalier/kernel/spatial/exponential.hpp"

namespace espalier {

/// Motion in the plane perpendicular to the axis.
///   q = [x, y, theta]: where the body's origin is along two directions fixed in the parent, and
///   how
///       far the body is turned about the axis; theta counts turns;
///   v = [omega, vx, vy]: the body's twist in its own frame, so that S is constant and angular
///   rates
///       come first, as in all joints.
/// For the axis z, x and y are the joint frame's; for x they are y and z, for y they are z and x;
/// for other axes see turn_onto_z(). Source: Featherstone (2008), Table 4.1, with the translation
/// before the rotation.
struct Planar {
  static constexpr int nq = 3, nv = 3;
  using Subspace = Axes<2, 3, 4>;

  explicit Planar(const JointSpec& /*joint*/) {}

  /// Origin of the successor in the plane, normals parallel.
  static std::vector<LoopRow> loop_rows(const JointSpec& joint) {
    std::vector<LoopRow> rows;
    keep_offset(joint.axis, rows);
    keep_axis(joint.axis, rows);
    return rows;
  }

  template <class T>
  Transform<T> position(const T* q) const {
    T s, c;
    sincos(q[2], s, c);
    return {rotation_z(s, c), {q[0], q[1], T(0.0)}};
  }

  /// Constant twist of the body for unit time.
  template <class T>
  void integrate(const T* q, const T* v, T* q_out) const {
    const Vec3<T> step = exp_translation(turn(v[0]), Vec3<T>{v[1], v[2], T(0.0)});
    T s, c;
    sincos(q[2], s, c);
    q_out[0] = q[0] + (c * step.x - s * step.y);
    q_out[1] = q[1] + (s * step.x + c * step.y);
    q_out[2] = q[2] + v[0];
  }
  /// The shortest way: |omega| <= pi, so that the thetas may in the end differ by full turns.
  template <class T>
  void difference(const T* q0, const T* q1, T* v) const {
    const T dx = q1[0] - q0[0], dy = q1[1] - q0[1];
    T s, c;
    sincos(q1[2] - q0[2], s, c);
    const T omega = atan2(s, c);
    sincos(q0[2], s, c);
    const Vec3<T> step =
        log_translation(turn(omega), Vec3<T>{c * dx + s * dy, c * dy - s * dx, T(0.0)});
    v[0] = omega;
    v[1] = step.x;
    v[2] = step.y;
  }

 private:
  template <class T>
  static Vec3<T> turn(const T& angle) {
    return {T(0.0), T(0.0), angle};
  }
};

}  // namespace espalier
