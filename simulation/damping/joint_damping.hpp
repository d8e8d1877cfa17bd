#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "espalier/kernel/integrator.hpp"
#include "espalier/kernel/model/motion/spanning_motion.hpp"
#include "espalier/kernel/problems/dynamics/forward_dynamics.hpp"

/// Damping of joints, which is stiff where a damper is strong and what it moves is light: how fast
/// it is, and steps that stay stable however fast (docs/simulation.md).

namespace espalier {

/// Makes forward dynamics of another form of a simulation's robot.
using MakeDynamics = std::function<std::unique_ptr<ForwardDynamics<double>>(const ModelPtr& model)>;

/// Dampers of each spanning rate [N·m·s/rad, N·s/m].
ESPALIER_API std::vector<double> viscous_damping(const Model& model);
/// What dry friction, friction tanh(rate / friction_rate), is about rest: a damper.
ESPALIER_API std::vector<double> friction_slopes(const Model& model, double friction_rate);

/// The dampers of one model. Belongs to one thread.
class ESPALIER_API JointDamping {
 public:
  /// @param dampers  of each spanning rate
  JointDamping(const ModelPtr& model, MakeDynamics make, std::vector<double> dampers);

  /// Whether any joint has a damper.
  bool any() const { return any_; }
  /// Whether it can be taken implicitly: not where joints bring equations of their own, to which
  /// no armature can be added.
  bool can_be_implicit() const { return any_ && model_->bodies_with_equations().empty(); }
  /// The fastest rate of decay [1/s] at a position: the largest eigenvalue of M^-1 G^T D G, from
  /// below, by power iteration that goes on from its last result.
  /// @param motion      updated at q
  /// @param iterations  of two evaluations of forward dynamics each
  double decay(const double* q, const SpanningMotion<double>& motion, int iterations);
  /// The joint, among Model::joints(), that has most of the power of that motion.
  int joint() const { return joint_; }
  /// Forward dynamics with M + h G^T D G for M: with forces that hold the dampers' own at the
  /// step's start it gives the accelerations of linearly implicit Euler. Kept for the next call
  /// of the same h. Two are kept.
  ForwardDynamics<double>& implicit(int which, double h);
  void set_gravity(const Vec3<double>& gravity);

 private:
  ModelPtr model_;
  MakeDynamics make_;
  bool any_ = false;
  int joint_ = -1;
  std::vector<double> damping_;  ///< of each spanning rate
  std::unique_ptr<ForwardDynamics<double>> still_, implicit_[2];
  double step_[2] = {0.0, 0.0};
  Vec3<double> gravity_;
  std::vector<double> x_, y_, zero_, tau_, qd_;
};

/// The largest product of step and rate of decay at which an integrator's step does not grow,
/// found by its own steps on dv/dt = -z v; infinity for those that take their own steps.
ESPALIER_API double stability_limit(Integrator& integrator);

}  // namespace espalier
