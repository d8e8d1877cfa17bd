#pragma once

#include <vector>

#include "algorithms/segments/newton_euler/newton_euler_run.hpp"
#include "espalier/kernel/model/motion/spanning_motion.hpp"

namespace espalier {

/// Wrenches of bodies and forces of rates at vdot = 0, from gravity, velocity products and external
/// wrenches, before they are collected at the joints. Bodies of chains are left out: chains add the
/// wrenches that their parents need by add().
/// Frame: body.  Cost: O(n).
/// Source: Featherstone (2008), section 5.3; theory/clusters 5.3 and 5.4 (folded rotors).
template <class T>
class BiasForces {
 public:
  BiasForces(const Model& model, const ChainPlan& chains)
      : model_(model), variable_(model.has_variable_constraints()), state_(model, chains.inertia) {
    for (const BodyRun& run : model.active_runs()) {
      for (int k = 0; k < run.count; ++k) {
        if (chains.chain_of[run.first + k] >= 0) continue;
        segments_.add(PlainRun{&run, k, k + 1, 0});
        bodies_.push_back(run.first + k);
      }
    }
    // Elsewhere joints and G are the same at rest and in motion.
    moving_joints_ = variable_;
    for (const BodyRun& run : model.active_runs()) {
      moving_joints_ = moving_joints_ || run.subspace == SubspaceKind::dense;
    }
    const int rotor_rates = model.rotors().empty() ? model.spanning_nv() : model.rotors().front().v;
    for (const auto& entry : model.armature()) {  // a folded rotor's is part of its inertia
      if (variable_ && entry.first < rotor_rates) armature_.push_back(entry);
    }
    for (const Cluster& c : model.clusters()) {
      for (int r = c.rotor; r < c.rotor + c.rotors; ++r) {
        if (chains.chain_of[c.first] < 0) rotors_.push_back(r);
      }
    }
    if (!model.is_tree()) qd_.resize(model.spanning_nv());
    if (!rotors_.empty() || !armature_.empty()) {
      tau_.resize(model.spanning_nv(), T(0.0));
      rates_.resize(model.nv(), T(0.0));
    }
  }

  /// @param motion  updated at q; may be updated again
  void compute(SpanningMotion<T>& motion, const T* q, const T* v, const Vec3<double>& gravity,
               const Wrenches<T>* wrenches) {
    const T *qd = v, *g = nullptr;
    if (moving_joints_) {
      motion.update(q, v);
      qd = motion.qd(), g = motion.g();
    } else if (!qd_.empty()) {
      motion.expand(v, qd_.data());
      qd = qd_.data();
    }
    state_.start(motion.joints, qd, g, gravity);
    segments_.outward([&](const PlainRun& s) { forward_motion(s, state_, g); });
    if (wrenches != nullptr) {
      for (const int i : bodies_) state_.apply(i, (*wrenches)[i]);
      if (!model_.rotors().empty()) motion.place_rotors(q);
    }
    if (rates_.empty()) return;
    for (const int r : rotors_) spin(model_.rotors()[r], motion, wrenches);
    if (g != nullptr) {
      for (const auto& [rate, inertia] : armature_) tau_[rate] = inertia * g[rate];
    }
    motion.reduce(tau_.data(), rates_.data());
  }

  /// Bodies that are in no chain.
  const std::vector<int>& bodies() const { return bodies_; }
  /// Of a body, or of the ground: at vdot = 0.
  const BodyMotion<T>& motion(int body) const { return state_.body[body].motion; }
  /// Adds to the wrench that a body needs.
  void add(int body, const Force<T>& wrench) { state_.body[body].f += wrench; }
  /// Wrench that a body needs, with those of the folded rotors on it.
  const Force<T>& wrench(int body) const { return state_.body[body].f; }
  /// Forces that the independent rates need besides, or nullptr where that is none.
  const T* rates() const { return rates_.empty() ? nullptr : rates_.data(); }

 private:
  void spin(const Rotor& rotor, const SpanningMotion<T>& motion, const Wrenches<T>* wrenches) {
    T& tau = tau_[rotor.v];
    tau = state_.spin(rotor);
    if (wrenches == nullptr) return;
    const Force<T>& wrench = (*wrenches)[rotor.body];
    tau -= wrench.n.z;
    state_.apply(rotor.parent, motion.joints.X[rotor.body].transpose_times_force(wrench));
  }

  const Model& model_;
  bool variable_, moving_joints_;
  Segments<PlainRun> segments_;
  std::vector<int> bodies_, rotors_;  ///< that no chain has
  NewtonEulerState<T> state_;
  std::vector<T> qd_, tau_;  ///< spanning
  std::vector<T> rates_;     ///< independent
  std::vector<std::pair<int, double>> armature_;
};

}  // namespace espalier
