#pragma once

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "algorithms/differences/halved_steps.hpp"
#include "espalier/kernel/model/closure.hpp"
#include "espalier/kernel/model/motion/passive.hpp"
#include "espalier/kernel/problems/derivatives/derivatives.hpp"
#include "tests/support/host.hpp"
#include "tests/support/random_cluster_robot.hpp"
#include "tests/support/random_robot.hpp"
#include "tests/support/state.hpp"

/// Derivatives by central differences of eighth order of the dense algorithms, with loops closed
/// by Newton's method at every point: nothing of the formulas for derivatives is used.

namespace espalier::test {

/// All kinds of loads on one robot at one state.
struct LoadCase {
  std::vector<FramedWrenches<double>::Item> items;
  std::vector<double> stiffness, damping, motor;  ///< per spanning rate; empty: none

  /// Springs about position 0 act on joints of one position.
  void joint_forces(const Model& model, const double* q, const double* qd,
                    JointForces<double>& out) const {
    out.force.assign(model.spanning_nv(), 0.0);
    out.by_position = out.by_rate = out.force;
    for (const Joint& joint : model.joints()) {
      for (int k = 0; k < joint.nv; ++k) {
        const int rate = joint.v + k;
        out.force[rate] = motor[rate] - damping[rate] * qd[rate];
        out.by_rate[rate] = -damping[rate];
        if (joint.nq != 1 || joint.nv != 1) continue;
        out.force[rate] -= stiffness[rate] * q[joint.q];
        out.by_position[rate] = -stiffness[rate];
      }
    }
  }
};

class DifferenceOracle {
 public:
  DifferenceOracle(ModelPtr model, const LoadCase* loads = nullptr)
      : model_(std::move(model)),
        inverse_(host().create<InverseDynamics<double>>("dense", model_)),
        forward_(host().create<ForwardDynamics<double>>("dense", model_)),
        motion_(*model_),
        loads_(loads) {}

  /// q moved along coordinate k for t, on closed loops.
  std::vector<double> moved(const std::vector<double>& q, int k, double t) {
    std::vector<double> unit(model_->nv(), 0.0);
    unit[k] = t;
    return moved_along(q, unit);
  }
  std::vector<double> moved_along(const std::vector<double>& q, const std::vector<double>& unit) {
    motion_.update(q.data(), nullptr);
    std::vector<double> step(model_->spanning_nv(), 0.0), out(q.size());
    if (model_->is_tree()) {
      step = unit;
    } else {
      motion_.expand(unit.data(), step.data());
    }
    model_->integrate(q.data(), step.data(), out.data());
    model_->apply_couplings(out.data());
    if (model_->has_variable_constraints()) {
      project(*model_, out.data(), {.tolerance = 1e-15});
    }
    return out;
  }
  std::vector<double> tau(const std::vector<double>& q, const std::vector<double>& v,
                          const std::vector<double>& vdot) {
    std::vector<double> out(model_->nv());
    const Wrenches<double> wrenches = this->wrenches(q);
    inverse_->evaluate(q, v, vdot, out, &wrenches);
    const std::vector<double> load = joint_loads(q, v);
    for (std::size_t i = 0; i < out.size(); ++i) out[i] -= load[i];
    return out;
  }
  std::vector<double> vdot(const std::vector<double>& q, const std::vector<double>& v,
                           std::vector<double> tau) {
    std::vector<double> out(model_->nv());
    const Wrenches<double> wrenches = this->wrenches(q);
    const std::vector<double> load = joint_loads(q, v);
    for (std::size_t i = 0; i < out.size(); ++i) tau[i] += load[i];
    forward_->evaluate(q, v, tau, out, &wrenches);
    return out;
  }

  /// Matrix whose column k is d/dt of f(t, k) at 0; how far steps disagree stays in uncertainty().
  template <class F>
  std::vector<double> matrix(F&& f) {
    const int n = model_->nv();
    std::vector<double> out(static_cast<std::size_t>(n) * n);
    double& uncertainty = uncertainty_ = 0.0;
    for (int k = 0; k < n; ++k) {
      const auto [best, least] = best_difference([&](double t) { return f(t, k); });
      for (int i = 0; i < n; ++i) out[static_cast<std::size_t>(i) * n + k] = best[i];
      uncertainty = std::max(uncertainty, least);
    }
    uncertainty /= std::max(1.0, largest(out));
    return out;
  }
  /// Of the last matrix(), relative to its largest entry.
  double uncertainty() const { return uncertainty_; }

  std::vector<double> dtau_dq(const State& s) {
    return matrix([&](double t, int k) { return tau(moved(s.q, k, t), s.v, s.vdot); });
  }
  std::vector<double> dtau_dv(const State& s) {
    return matrix([&](double t, int k) { return tau(s.q, shifted(s.v, k, t), s.vdot); });
  }
  std::vector<double> dvdot_dq(const State& s) {
    return matrix([&](double t, int k) { return vdot(moved(s.q, k, t), s.v, s.tau); });
  }
  std::vector<double> dvdot_dv(const State& s) {
    return matrix([&](double t, int k) { return vdot(s.q, shifted(s.v, k, t), s.tau); });
  }
  std::vector<double> mass_matrix(const std::vector<double>& q) {
    std::vector<double> M(static_cast<std::size_t>(model_->nv()) * model_->nv());
    host().create<MassMatrix<double>>("dense", model_)->evaluate(q, M);
    return M;
  }
  static std::vector<double> shifted(std::vector<double> x, int k, double t) {
    x[k] += t;
    return x;
  }

  /// The loads' wrenches as they are at q.
  Wrenches<double> wrenches(const std::vector<double>& q) {
    Wrenches<double> all(model_);
    if (loads_ == nullptr) return all;
    motion_.update(q.data(), nullptr);
    std::vector<Transform<double>> X(model_->body_count() + 1, Transform<double>::identity());
    for (int i = 1; i <= model_->body_count(); ++i) {
      X[i] = motion_.joints.X[i] * X[model_->body(i).parent];
    }
    for (const auto& item : loads_->items) {
      Link frame;  // the body's own
      frame.body = item.body;
      frame.X = Transform<double>::identity();
      Force<double> f = item.wrench;
      const Transform<double>& E = X[item.body];
      if (item.frame == WrenchFrame::world) {
        f = E.force_to(item.wrench);
      } else if (item.frame == WrenchFrame::world_at_point) {
        const Vec3<double> force = E.E * item.wrench.f;
        f = {E.E * item.wrench.n + cross(item.point, force), force};
      }
      all.add(frame, f);
    }
    return all;
  }
  /// Generalized forces of the loads on joints.
  std::vector<double> joint_loads(const std::vector<double>& q, const std::vector<double>& v) {
    std::vector<double> out(model_->nv(), 0.0);
    if (loads_ == nullptr || loads_->motor.empty()) return out;
    motion_.update(q.data(), v.data());
    JointForces<double> forces;
    loads_->joint_forces(*model_, q.data(), motion_.qd(), forces);
    if (model_->is_tree()) return forces.force;
    motion_.reduce(forces.force.data(), out.data());
    return out;
  }

 private:
  ModelPtr model_;
  std::unique_ptr<InverseDynamics<double>> inverse_;
  std::unique_ptr<ForwardDynamics<double>> forward_;
  SpanningMotion<double> motion_;
  const LoadCase* loads_;
  double uncertainty_ = 0.0;
};

/// A random robot of any kind: a tree for every third seed.
inline ModelPtr any_robot(unsigned long long seed,
                          CompileOptions::Rotors rotors = CompileOptions::Rotors::fold) {
  const Registry& registry = host().registry();
  CompileOptions options;
  options.rotors = rotors;
  if (seed % 3 == 0) {
    RobotOptions tree;
    tree.seed = seed, tree.bodies = 3 + static_cast<int>(seed % 7);
    tree.floating_base = seed % 2 == 0;
    return host().compile(random_robot(registry, tree), options);
  }
  ClusterRobotOptions loops;
  loops.seed = seed, loops.parts = 2 + static_cast<int>(seed % 3);
  loops.floating_base = seed % 2 == 0;
  return host().compile(random_cluster_robot(registry, loops), options);
}

inline State any_state(const Model& model, unsigned long long seed) {
  return model.is_tree() ? random_state(model, seed) : random_cluster_state(model, seed);
}

/// Wrenches in all three frames, springs and dampers on all joints, motors on any of them.
inline LoadCase any_loads(const Model& model, unsigned long long seed) {
  Rng rng(seed + 77);
  LoadCase loads;
  for (int k = 0; k < 6; ++k) {
    FramedWrenches<double>::Item item;
    item.body = 1 + rng.below(std::max(1, model.active_body_count()));
    item.frame = static_cast<WrenchFrame>(k % 3);
    item.wrench = {rng.vec3(3.0), rng.vec3(3.0)};
    item.point = rng.vec3(0.3);
    loads.items.push_back(item);
  }
  loads.stiffness.resize(model.spanning_nv());
  for (double& x : loads.stiffness) x = rng.uniform(0.0, 3.0);
  loads.damping.resize(model.spanning_nv());
  for (double& x : loads.damping) x = rng.uniform(0.0, 1.0);
  loads.motor = rng.vector(model.spanning_nv(), 2.0);
  return loads;
}

/// The same as an algorithm takes it.
struct BoundLoads {
  BoundLoads(const ModelPtr& model, const LoadCase& of, const State& s) : framed(model) {
    for (const auto& item : of.items) framed.add_item(item);
    SpanningMotion<double> motion(*model);
    motion.update(s.q.data(), s.v.data());
    of.joint_forces(*model, s.q.data(), motion.qd(), joints);
    loads = {nullptr, &framed, &joints};
  }
  FramedWrenches<double> framed;
  JointForces<double> joints;
  Loads<double> loads;
};

}  // namespace espalier::test
