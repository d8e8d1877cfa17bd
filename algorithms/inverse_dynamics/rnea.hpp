#pragma once

#include "algorithms/newton_euler.hpp"
#include "algorithms/own_equations.hpp"
#include "espalier/kernel/model/spanning_motion.hpp"
#include "espalier/kernel/problems.hpp"

namespace espalier {

/// Inverse dynamics by the recursive Newton-Euler algorithm, on a tree and on a cluster tree: there
/// it runs on the spanning tree with qd = G v and qdd = G vdot + g, and tau = G^T tau_spanning
/// (C-RNEA in its fused form).
/// Frame: body.  Cost: O(n), and the entries of G.
/// Source: Luh, Walker, Paul (1980); Featherstone (2008), Table 5.1; Chignoli et al. (2023),
/// Algorithm 1; SPEC sections 5.3 and 5.4 (folded rotors).
template <class T>
class Rnea final : public InverseDynamics<T> {
 public:
  explicit Rnea(ModelPtr model)
      : InverseDynamics<T>(std::move(model)),
        motion_(this->model(), SpanningMotion<T>::Rotors::skip),
        newton_euler_(this->model()),
        f_(this->model().body_count() + 1),
        own_(this->model()) {
    const Model& m = this->model();
    if (!m.bodies_with_equations().empty()) own_tau_.resize(m.spanning_nv());
    if (!m.is_tree()) qdd_.resize(m.spanning_nv()), tau_.resize(m.spanning_nv());
    const int rotor_rates = m.rotors().empty() ? m.spanning_nv() : m.rotors().front().v;
    for (const auto& entry : m.armature()) {  // a folded rotor's is part of its inertia
      if (entry.first < rotor_rates) armature_.push_back(entry);
    }
  }

  /// The same with vdot = nullptr for zero, for algorithms that need the bias.
  void compute(const T* q, const T* v, const T* vdot, T* tau,
               const Wrenches<T>* wrenches) override {
    const Model& model = this->model();
    motion_.update(q, v);
    const T* qdd = spanning_accelerations(vdot);
    newton_euler_.outward(model, this->gravity(), motion_.joints, motion_.qd(), qdd, wrenches,
                          f_.data());
    f_[0] = Force<T>::zero();
    take_in_equations(q, qdd);
    if (model.is_tree()) return inward(qdd, tau);
    spin(q, qdd, wrenches);
    inward(qdd, tau_.data());
    motion_.reduce(tau_.data(), tau);
  }

  /// What joints and constraints said at the last call.
  const SpanningMotion<T>& motion() const { return motion_; }

 private:
  /// qdd = G vdot + g, or nullptr where it is zero.
  const T* spanning_accelerations(const T* vdot) {
    if (this->model().is_tree()) return vdot;
    const T* g = motion_.g();
    if (vdot == nullptr) return g;
    motion_.expand(vdot, qdd_.data());
    if (g != nullptr) {
      for (std::size_t i = 0; i < qdd_.size(); ++i) qdd_[i] += g[i];
    }
    return qdd_.data();
  }

  /// Joints with equations of their own: what these take of the parents, and of their rates.
  void take_in_equations(const T* q, const T* qdd) {
    const Model& model = this->model();
    for (const int i : model.bodies_with_equations()) {
      const Body& body = model.body(i);
      const BodyMotion<T>& p = newton_euler_.motion[body.parent];
      own_.update(i, q, motion_.qd(), p.omega);
      own_.accelerate(p.alpha, p.a, qdd == nullptr ? nullptr : qdd + body.v);
      f_[body.parent] += own_.wrench();
      for (int k = 0; k < body.nv; ++k) own_tau_[body.v + k] = own_.f()[6 + k];
    }
  }

  /// Folded rotors: what their spin takes of the carriers and of their own rates.
  void spin(const T* q, const T* qdd, const Wrenches<T>* wrenches) {
    const Model& model = this->model();
    if (wrenches != nullptr) motion_.place_rotors(q);
    for (const Rotor& rotor : model.rotors()) {
      T& tau = tau_[rotor.v];
      tau = espalier::spin(rotor, newton_euler_.motion[rotor.carrier], motion_.qd()[rotor.v],
                           qdd == nullptr ? nullptr : qdd + rotor.v, f_[rotor.carrier]);
      if (wrenches == nullptr) continue;
      const Force<T>& wrench = (*wrenches)[rotor.body];
      tau -= wrench.n.z;
      f_[rotor.carrier] -= motion_.joints.X[rotor.body].transpose_times_force(wrench);
    }
  }

  /// Tips to base: tau_i = S_i^T f_i, and f_i is handed on to the parent.
  void inward(const T* qdd, T* tau) {
    const Model& model = this->model();
    const TreeKinematics<T>& joints = motion_.joints;
    for (std::size_t r = model.active_runs().size(); r-- > 0;) {
      const BodyRun& run = model.runs()[r];
      with_subspace(run, [&](auto ops) {
        using Ops = decltype(ops);
        for (int k = run.count - 1; k >= 0; --k) {
          const int i = run.first + k, at = run.v + k * Ops::n;
          const int parent = model.body(i).parent;
          Ops::project(f_[i], joints.S.data() + at, tau + at);
          if (parent != 0) f_[parent] += joints.X[i].transpose_times_force(f_[i]);
        }
      });
    }
    if (qdd != nullptr) {
      for (const auto& [rate, inertia] : armature_) tau[rate] += inertia * qdd[rate];
    }
    for (const int i : model.bodies_with_equations()) {
      const Body& body = model.body(i);
      for (int k = 0; k < body.nv; ++k) tau[body.v + k] += own_tau_[body.v + k];
    }
  }

  SpanningMotion<T> motion_;
  NewtonEuler<T> newton_euler_;
  std::vector<Force<T>> f_;
  std::vector<T> qdd_, tau_;  ///< spanning; empty on a tree
  OwnEquations<T> own_;
  std::vector<T> own_tau_;  ///< per spanning rate; empty if no joint brings equations
  std::vector<std::pair<int, double>> armature_;
};

/// Bias forces: RNEA at vdot = 0.
template <class T>
class RneaBias final : public BiasForce<T> {
 public:
  explicit RneaBias(ModelPtr model) : BiasForce<T>(model), rnea_(std::move(model)) {}

 private:
  void compute(const T* q, const T* v, T* bias, const Wrenches<T>* wrenches) override {
    rnea_.set_gravity(this->gravity());
    rnea_.compute(q, v, nullptr, bias, wrenches);
  }

  Rnea<T> rnea_;
};

}  // namespace espalier
