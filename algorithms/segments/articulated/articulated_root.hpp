#pragma once

#include "algorithms/segments/articulated/articulated_row.hpp"
#include "espalier/kernel/model/motion/tree_kinematics.hpp"
#include "espalier/kernel/problems/algorithm.hpp"

namespace espalier {

/// What rows hang on in the articulated-body recursion: the ground, or a floating body, in whose
/// axes they are then computed.
template <class T>
class ArticulatedRoot {
 public:
  /// @param floating  body; 0: none
  ArticulatedRoot(const Model& model, int floating)
      : body(floating), model_(model), joints_(model) {
    if (body == 0) return;
    moments_ = Moments<double>::from(model.folded_inertia(body));
    for (const auto& [rate, value] : model.armature()) {
      if (rate < 6) armature_[rate] = value;
    }
  }

  /// Motion, rigid inertia and wrench of the root; of the ground its acceleration against gravity.
  void start(const T* q, const T* v, const Vec3<double>& gravity) {
    motion = {Vec3<T>::zero(), Vec3<T>::zero(), Vec3<T>::from(-gravity)};
    da = Motion<T>::zero();
    if (body == 0) return;
    joints_.update(model_.runs()[model_.body(body).run], q, v);
    const Vec3<T> omega{v[0], v[1], v[2]}, velocity{v[3], v[4], v[5]};
    motion.omega = omega;
    motion.a = joints_.X[body].E * motion.a + cross(omega, velocity);
    const Moments<T> moments{moments_.m, Vec3<T>::from(moments_.h), Sym3<T>::from(moments_.Sigma)};
    put_inertia(moments.articulated(), IA);
    const Force<T> pA =
        inertial_wrench(moments, motion.a, acceleration_matrix(omega, motion.alpha));
    for (int a = 0; a < 6; ++a) IA[21 + a] = pA[a];
  }
  /// Accelerations of the floating root, once all rows are eliminated.
  void accelerate(const T* tau, T* vdot) {
    if (body == 0) return;
    ArticulatedInertia<T> I = get_inertia(IA);
    I.A.xx += armature_[0], I.A.yy += armature_[1], I.A.zz += armature_[2];
    I.C.xx += armature_[3], I.C.yy += armature_[4], I.C.zz += armature_[5];
    Force<T> force;
    for (int a = 0; a < 6; ++a) force[a] = tau[a] - IA[21 + a];
    da = free_acceleration(I, force);
    for (int a = 0; a < 6; ++a) vdot[a] = da[a];
  }

  const int body;
  FrameMotion<T> motion;  ///< at vdot = 0
  T IA[27];               ///< as ArticulatedRow::IA
  Motion<T> da;           ///< as ArticulatedRow::da

 private:
  const Model& model_;
  TreeKinematics<T> joints_;
  Moments<double> moments_ = Moments<double>::zero();
  double armature_[6] = {};
};

}  // namespace espalier
