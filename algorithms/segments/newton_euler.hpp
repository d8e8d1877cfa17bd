#pragma once

#include <span>

#include "espalier/kernel/problems/algorithm.hpp"
#include "espalier/kernel/model/subspace.hpp"
#include "espalier/kernel/model/tree_kinematics.hpp"
#include "espalier/kernel/spatial/second_moments.hpp"

/// The outward pass of the Newton-Euler equations: the wrench that each body needs to move as it
/// does. Inverse dynamics needs nothing else on its way out; forward dynamics takes it at vdot = 0
/// for its bias.
/// Source: Luh, Walker, Paul (1980); Featherstone (2008), section 5.3. The formulas hold in any axes
/// that body and parent share: RNEA takes each body's own (class NewtonEuler), ABA the world's.
/// The motion of frames and the wrench of a body: kernel/spatial/second_moments.hpp.

namespace espalier {

/// What the spin of a folded rotor takes of its parent and of its own rate, body frames.
/// @param qd, qdd        of the rotor's rate; qdd may be nullptr for zero
/// @param[in,out] f      wrench that the parent needs
/// @returns  force that the rate needs  Source: theory/clusters 5.4
template <class T>
inline T spin(const Rotor& rotor, const BodyMotion<T>& parent, const T& qd, const T* qdd,
              Force<T>& f) {
  T tau = dot(parent.alpha, rotor.momentum);
  f.n += cross(parent.omega, scale(qd, rotor.momentum));
  if (qdd == nullptr) return tau;
  f.n += scale(*qdd, rotor.momentum);
  tau += rotor.inertia * *qdd;
  return tau;
}

/// The outward pass, body frames: for all bodies that are not folded rotors, or, with rotors that
/// count as bodies, for all.
template <class T>
class NewtonEuler {
 public:
  enum class Rotors { folded, bodies };

  explicit NewtonEuler(const Model& model, Rotors rotors = Rotors::folded)
      : motion(model.body_count() + 1),
        runs_(rotors == Rotors::folded ? model.active_runs() : model.runs()) {
    const int count = rotors == Rotors::folded ? model.active_body_count() : model.body_count();
    for (int i = 0; i <= count; ++i) {
      moments_.push_back(Moments<double>::from(
          rotors == Rotors::folded ? model.folded_inertia(i) : model.body(i).inertia));
    }
    rest_ground();
  }
  /// For some of the bodies. @param runs  outlives this; inertia  per body
  NewtonEuler(std::span<const BodyRun> runs, std::span<const RigidInertia<double>> inertia)
      : motion(inertia.size()), runs_(runs) {
    for (const RigidInertia<double>& I : inertia) moments_.push_back(Moments<double>::from(I));
    rest_ground();
  }

  /// Other inertias. @param inertia  per body, body frame
  void set_inertia(std::span<const RigidInertia<double>> inertia) {
    for (std::size_t i = 0; i < inertia.size(); ++i) {
      moments_[i] = Moments<double>::from(inertia[i]);
    }
  }

  /// @param v, vdot  spanning rates and accelerations; vdot may be nullptr for zero
  /// @param[out] f   f[i]: wrench that body i needs, external wrenches already taken off
  void outward(const Model& model, const Vec3<double>& gravity, const TreeKinematics<T>& kinematics,
               const T* v, const T* vdot, const Wrenches<T>* wrenches, Force<T>* f) {
    start(gravity);
    for (const BodyRun& run : runs_) outward(model, run, 0, run.count, kinematics, v, vdot, f);
    if (wrenches != nullptr) {
      for (const BodyRun& run : runs_) {
        for (int i = run.first; i < run.first + run.count; ++i) f[i] -= (*wrenches)[i];
      }
    }
  }

  /// The same in parts: first the ground,
  void start(const Vec3<double>& gravity) { motion[0].a = Vec3<T>::from(-gravity); }
  /// then bodies begin <= k < end of a run, after their parents.
  void outward(const Model& model, const BodyRun& run, int begin, int end,
               const TreeKinematics<T>& kinematics, const T* v, const T* vdot, Force<T>* f) {
    with_subspace(run, [&](auto subspace) {
      if (vdot == nullptr) {
        outward_run<decltype(subspace), false>(model, run, begin, end, kinematics, v, vdot, f);
      } else {
        outward_run<decltype(subspace), true>(model, run, begin, end, kinematics, v, vdot, f);
      }
    });
  }

  std::vector<BodyMotion<T>> motion;

 private:
  template <class Ops, bool accelerated>
  void outward_run(const Model& model, const BodyRun& run, int begin, int end,
                   const TreeKinematics<T>& kinematics, const T* v, const T* vdot, Force<T>* f) {
    for (int k = begin; k < end; ++k) {
      const int i = run.first + k;
      const BodyMotion<T>& p = motion[model.body(i).parent];
      BodyMotion<T>& b = motion[i];
      const Transform<T>& X = kinematics.X[i];
      const Motion<T>* S = kinematics.S.data() + run.v + k * Ops::n;
      const T* qd = v + run.v + k * Ops::n;

      const Vec3<T> omega_p = X.E * p.omega;
      b.alpha = X.E * p.alpha;
      b.a = X.E * (p.a + p.Om * X.r);
      if constexpr (std::is_same_v<Ops, SubspaceOps<RevoluteAxes>>) {
        b.omega = {omega_p.x, omega_p.y, omega_p.z + qd[0]};
        b.alpha.x += omega_p.y * qd[0];
        b.alpha.y -= omega_p.x * qd[0];
        if constexpr (accelerated) b.alpha.z += vdot[run.v + k];
      } else {
        Motion<T> J = Motion<T>::zero();  // joint velocity S qd
        Ops::add(J, S, qd);
        b.omega = omega_p + J.w;
        b.alpha += cross(omega_p, J.w);
        b.a += cross(b.omega + omega_p, J.v);
        Motion<T> c = Motion<T>::zero();
        if constexpr (accelerated) Ops::add(c, S, vdot + run.v + k * Ops::n);
        if constexpr (Ops::dense) c += kinematics.bias[i];
        b.alpha += c.w;
        b.a += c.v;
      }
      b.Om = acceleration_matrix(b.omega, b.alpha);
      f[i] = inertial_wrench(moments_[i], b);
    }
  }

  void rest_ground() {
    motion[0] = {{Vec3<T>::zero(), Vec3<T>::zero(), Vec3<T>::zero()}, Mat3<T>::zero()};
  }

  std::span<const BodyRun> runs_;
  std::vector<Moments<double>> moments_;
};

}  // namespace espalier
