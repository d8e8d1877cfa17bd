#pragma once

#include <utility>
#include <vector>

#include "algorithms/chains/sweeps.hpp"
#include "algorithms/segments/articulated/joint_supplied_dynamics.hpp"
#include "algorithms/segments/newton_euler/newton_euler_state.hpp"

namespace espalier {

/// State of RNEA and C-RNEA: that of the Newton-Euler recursion, with the chains, and with what is
/// no segment: folded rotors, armatures and joints that supply dynamics of their own. Chains take v
/// and vdot and give tau on the independent rates; they reflect their rotors themselves.
template <class T>
struct RneaState : NewtonEulerState<T> {
  enum class Joints { needed, all };

  /// @param layout  whose chains become those of the state
  /// @param which   all: `motion` has those joints, too, whose placements only chains need, and the
  ///                G of every cluster
  RneaState(const Model& m, ScheduleLayout& layout, Joints which)
      : NewtonEulerState<T>(m, layout.chains->inertia),
        motion(m, SpanningMotion<T>::Rotors::skip),
        chains(m, std::move(*layout.chains), layout.watched),
        supplied_(m) {
    layout.chains.reset();
    motion.leave_out(which == Joints::all ? std::vector<bool>{} : chains.whole_runs(),
                     chains.whole_clusters());
    if (which == Joints::needed) leave_out_G();
    if (!m.bodies_with_equations().empty()) supplied_tau_.resize(m.spanning_nv());
    if (!m.is_tree()) qdd_.resize(m.spanning_nv()), this->tau_spanning.resize(m.spanning_nv());
    for (const Cluster& c : m.clusters()) {
      for (int r = c.rotor; !chains.passes(c.first) && r < c.rotor + c.rotors; ++r) {
        rotors_.push_back(r);
      }
    }
    const int rotor_rates = m.rotors().empty() ? m.spanning_nv() : m.rotors().front().v;
    for (const auto& entry : m.armature()) {  // a folded rotor's is part of its inertia
      if (entry.first < rotor_rates && !chains.passes(m.joint_of_rate(entry.first).body)) {
        armature_.push_back(entry);
      }
    }
    beside_segments_ = !qdd_.empty() || !armature_.empty() || !m.bodies_with_equations().empty();
  }

  /// Evaluates the joints, and expands the rates and accelerations.
  /// @param vdot  independent accelerations, or nullptr for zero
  void update(const T* positions, const T* rates, const T* vdot, const Vec3<double>& gravity) {
    q = positions, v = rates;
    motion.update(q, v);
    chains.turn(q, motion.turns());
    this->start(motion.joints, motion.qd(), spanning_accelerations(vdot), gravity);
    chains.set_ground(this->body[0].motion.a);
  }
  /// Subtracts external wrenches, each in its body's frame, from those that the bodies need.
  void apply(const Wrenches<T>& wrenches) {
    for (int i = 1; i <= this->model.active_body_count(); ++i) apply(i, wrenches[i]);
    chains.for_each_rotor(this->model, [&](const AsymmetricRotor& rotor, const Transform<T>& X) {
      apply(this->model.body(rotor.body).parent, X.transpose_times_force(wrenches[rotor.body]));
    });
  }
  void apply(int i, const Force<T>& wrench) {
    if (chains.contains(i)) return chains.apply_wrench(i, wrench);
    if (chains.passes(i)) return;  // a rotor: above
    NewtonEulerState<T>::apply(i, wrench);
  }

  /// Adds what joints that supply dynamics of their own, and folded rotors, take of the bodies that
  /// carry them. After the first pass, before the second.
  void add_beside_segments(const Wrenches<T>* wrenches) {
    if (!beside_segments_) return;
    for (const int i : this->model.bodies_with_equations()) add_supplied_dynamics(i);
    if (this->model.rotors().empty()) return;
    for (const int k : rotors_) {
      const Rotor& rotor = this->model.rotors()[k];
      this->tau_spanning[rotor.v] = this->spin(rotor);
      if (wrenches != nullptr) this->tau_spanning[rotor.v] -= (*wrenches)[rotor.body].n.z;
    }
    if (wrenches == nullptr) return;
    motion.place_rotors(q);
    for (const Rotor& rotor : this->model.rotors()) {
      apply(rotor.parent,
            motion.joints.X[rotor.body].transpose_times_force((*wrenches)[rotor.body]));
    }
  }
  /// tau = G^T tau_spanning, after the last pass, with armatures and joint-supplied forces.
  void reduce(T* tau, const Wrenches<T>* wrenches) {
    if (beside_segments_) reduce_all(tau, wrenches);
  }

  const T *q = nullptr, *v = nullptr;  ///< spanning positions, independent rates
  SpanningMotion<T> motion;
  ChainSweeps<T> chains;

 private:
  void reduce_all(T* tau, const Wrenches<T>* wrenches) {
    const Model& m = this->model;
    T* spanning = this->tau_spanning.empty() ? tau : this->tau_spanning.data();
    if (this->qdd != nullptr) {
      for (const auto& [rate, inertia] : armature_) spanning[rate] += inertia * this->qdd[rate];
    }
    for (const int i : m.bodies_with_equations()) {
      const Body& b = m.body(i);
      for (int k = 0; k < b.nv; ++k) spanning[b.v + k] += supplied_tau_[b.v + k];
    }
    if (spanning == tau) return;
    motion.reduce(spanning, tau);
    if (wrenches != nullptr) apply_to_rotors_of_chains(*wrenches, tau);
  }
  /// Of clusters whose G would be multiplied more often than K block by block: v, vdot and tau pass
  /// it once each. Rotors of approximate-rnea read their rows of G.
  void leave_out_G() {
    constexpr int most_rates_with_G = 4;
    std::vector<bool> without;
    for (const Cluster& c : this->model.clusters()) {
      without.push_back(c.constraint != nullptr && c.constraint->blocks && c.rotors == 0 &&
                        c.nv > most_rates_with_G);
    }
    motion.leave_out_G(without);
  }
  /// qdd = G vdot + g, or nullptr where it is zero.
  const T* spanning_accelerations(const T* vdot) {
    if (qdd_.empty()) return vdot;  // a tree: asking the model takes a look at every cluster
    const T* g = motion.g();
    if (vdot == nullptr) return g;
    motion.expand(vdot, qdd_.data());
    for (std::size_t i = 0; g != nullptr && i < qdd_.size(); ++i) qdd_[i] += g[i];
    return qdd_.data();
  }
  void add_supplied_dynamics(int i) {
    const Body& b = this->model.body(i);
    NewtonEulerBody<T>& p = this->body[b.parent];
    supplied_.update(i, q, this->qd, p.motion.omega);
    supplied_.accelerate(p.motion.alpha, p.motion.a,
                         this->qdd == nullptr ? nullptr : this->qdd + b.v);
    p.f += supplied_.wrench();
    for (int k = 0; k < b.nv; ++k) supplied_tau_[b.v + k] = supplied_.f()[6 + k];
  }
  /// External wrenches on rotors that chains reflect: to the independent rates, by G^T.
  void apply_to_rotors_of_chains(const Wrenches<T>& wrenches, T* tau) const {
    for (const Cluster& c : this->model.clusters()) {
      if (!chains.passes(c.first)) continue;
      for (int r = 0; r < c.rotors; ++r) {
        const T& moment = wrenches[this->model.rotors()[c.rotor + r].body].n.z;
        const T* rho = motion.G(c) + (c.spanning_nv + r) * c.nv;
        for (int j = 0; j < c.nv; ++j) tau[c.v + j] -= rho[j] * moment;
      }
    }
    for (const AsymmetricRotor& rotor : chains.plan().asymmetric) {
      const Cluster& c = this->model.clusters()[this->model.body(rotor.body).cluster];
      tau[c.v] -= rotor.ratio * wrenches[rotor.body].n.z;
    }
  }

  std::vector<int> rotors_;                       ///< folded ones that no chain reflects
  std::vector<std::pair<int, double>> armature_;  ///< per spanning rate, of bodies in no chain
  std::vector<T> qdd_;                            ///< spanning; empty on a tree
  JointSuppliedDynamics<T> supplied_;
  std::vector<T> supplied_tau_;  ///< per spanning rate; empty if no joint supplies dynamics
  /// Whether clusters, armatures or joints that supply dynamics add to what segments compute.
  bool beside_segments_ = false;
};

}  // namespace espalier
