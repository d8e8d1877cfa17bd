#pragma once

#include "espalier/kernel/model/joint.hpp"
#include "espalier/kernel/model/layout.hpp"
#include "espalier/kernel/problems/algorithm.hpp"
#include "espalier/kernel/spatial/second_moments.hpp"

namespace espalier {

/// Inverse dynamics of a robot that is one body which nothing holds, such as a drone: its
/// Newton-Euler equations, second_moments.hpp. What segments, rates of a spanning tree and wrenches
/// between bodies take beside them would be half of a call.
/// Frame: body.  Source: Featherstone (2008), Table 5.1 with one body.
template <class T>
class LoneBody {
 public:
  static bool is(const Model& m) {
    return m.body_count() == 1 && m.is_tree() && m.spanning_nv() == 6 && m.nv() == 6 &&
           m.runs()[0].subspace == SubspaceKind::free && m.armature().empty() &&
           m.bodies_with_equations().empty();
  }
  explicit LoneBody(const Model& m)
      : joint_(m.runs()[0].joints.get()), moments_(Moments<double>::from(m.body(1).inertia)) {}

  /// @param vdot  or nullptr for zero
  void compute(const T* q, const T* v, const T* vdot, const Vec3<double>& gravity,
               const Wrenches<T>* wrenches, T* tau) {
    Transform<T> X;
    joint_->kinematics(q, nullptr, {.X = &X, .S = nullptr, .bias = nullptr});
    const Vec3<T> omega{v[0], v[1], v[2]};
    Vec3<T> alpha = Vec3<T>::zero();
    Vec3<T> a = cross(omega, Vec3<T>{v[3], v[4], v[5]}) - X.E * gravity;
    if (vdot != nullptr) {
      alpha = {vdot[0], vdot[1], vdot[2]};
      a += Vec3<T>{vdot[3], vdot[4], vdot[5]};
    }
    Force<T> f = inertial_wrench(moments_, a, acceleration_matrix(omega, alpha));
    if (wrenches != nullptr) f -= (*wrenches)[1];
    for (int i = 0; i < 6; ++i) tau[i] = f[i];
  }

 private:
  const JointRun* joint_;
  Moments<double> moments_;
};

}  // namespace espalier
