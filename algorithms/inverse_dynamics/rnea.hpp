#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "algorithms/chains/sweeps.hpp"
#include "algorithms/segments/newton_euler.hpp"
#include "algorithms/segments/joint_supplied_dynamics.hpp"
#include "espalier/kernel/model/spanning_motion.hpp"
#include "espalier/kernel/problems/bias_force.hpp"
#include "espalier/kernel/problems/inverse_dynamics.hpp"

namespace espalier {

/// Inverse dynamics by the recursive Newton-Euler algorithm, on a tree and on a cluster tree: there
/// it runs on the spanning tree with qd = G v and qdd = G vdot + g, and tau = G^T tau_spanning
/// (C-RNEA in its fused form).
/// Chains of bodies on revolute joints are chains (chains/sweeps.hpp); all other bodies are here.
/// Frame: body.  Cost: O(n), and the entries of G.
/// Source: Luh, Walker, Paul (1980); Featherstone (2008), Table 5.1; Chignoli et al. (2023),
/// section VI; theory/clusters 5.3 and 5.4 (folded rotors).
template <class T>
class Rnea final : public InverseDynamics<T> {
 public:
  enum class Joints { needed, all };

  /// @param joints  all: motion() has those, too, whose placements are not needed here (not rates)
  explicit Rnea(ModelPtr model, Joints joints = Joints::needed)
      : InverseDynamics<T>(std::move(model)),
        motion_(this->model(), SpanningMotion<T>::Rotors::skip),
        newton_euler_(this->model()),
        f_(this->model().body_count() + 1),
        own_(this->model()) {
    const Model& m = this->model();
    if (!m.bodies_with_equations().empty()) own_tau_.resize(m.spanning_nv());
    if (!m.is_tree()) qdd_.resize(m.spanning_nv()), tau_.resize(m.spanning_nv());
    make_chains(joints);
    const int rotor_rates = m.rotors().empty() ? m.spanning_nv() : m.rotors().front().v;
    for (const auto& entry : m.armature()) {  // a folded rotor's is part of its inertia
      if (entry.first < rotor_rates && !chains_->contains(m.joint_of_rate(entry.first).body)) {
        armature_.push_back(entry);
      }
    }
  }

  /// The same with vdot = nullptr for zero, for algorithms that need the bias.
  void compute(const T* q, const T* v, const T* vdot, T* tau,
               const Wrenches<T>* wrenches) override {
    const Model& model = this->model();
    motion_.update(q, v);
    chains_->turn(model, q);
    const T* qdd = spanning_accelerations(vdot);
    outward(v, vdot, qdd);
    if (wrenches != nullptr) {
      for (int i = 1; i <= model.active_body_count(); ++i) apply_wrench(i, (*wrenches)[i]);
    }
    backward_equations(q, qdd);
    if (model.is_tree()) return inward(qdd, tau, tau);
    spin(q, qdd, wrenches);
    inward(qdd, tau_.data(), tau);
    motion_.reduce(tau_.data(), tau);
    if (wrenches != nullptr) apply_rotor_wrenches_of_chains(*wrenches, tau);
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
  void backward_equations(const T* q, const T* qdd) {
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

  /// Base to tips: motion, and the wrench that each body needs for it.
  void outward(const T* v, const T* vdot, const T* qdd) {
    const Model& model = this->model();
    newton_euler_.start(this->gravity());
    f_[0] = Force<T>::zero();
    for (const ChainMove& move : chains_->way().moves) {
      if (move.group < 0) {
        newton_euler_.outward(model, model.runs()[move.run], move.begin, move.end, motion_.joints,
                              motion_.qd(), qdd, f_.data());
        continue;
      }
      for (const int c : chains_->way().parents[move.group]) {
        const BodyMotion<T>& m = newton_euler_.motion[c];
        BoundaryState<T>& s = chains_->boundary(c);
        s.omega = m.omega, s.alpha = m.alpha, s.a = m.a;
        s.pA = Force<T>::zero();
      }
      chains_->outward_motion(move.group, v, vdot);
      for (const int p : chains_->way().attachments[move.group]) {
        const BoundaryState<T>& s = chains_->boundary(p);
        newton_euler_.motion[p] = {{s.omega, s.alpha, s.a}, acceleration_matrix(s.omega, s.alpha)};
        f_[p] = Force<T>::zero();
      }
    }
  }
  /// Takes a wrench in a body's frame off the one that the body needs.
  void apply_wrench(int body, const Force<T>& w) {
    if (chains_->contains(body)) {
      chains_->apply_wrench(body, w);
    } else {
      f_[body] -= w;
    }
  }

  /// Folded rotors: what their spin takes of the parents and of their own rates.
  void spin(const T* q, const T* qdd, const Wrenches<T>* wrenches) {
    const Model& model = this->model();
    for (const int k : loose_rotors_) {
      const Rotor& rotor = model.rotors()[k];
      tau_[rotor.v] =
          espalier::spin(rotor, newton_euler_.motion[rotor.parent], motion_.qd()[rotor.v],
                         qdd == nullptr ? nullptr : qdd + rotor.v, f_[rotor.parent]);
      if (wrenches != nullptr) tau_[rotor.v] -= (*wrenches)[rotor.body].n.z;
    }
    if (wrenches == nullptr) return;
    motion_.place_rotors(q);
    for (const Rotor& rotor : model.rotors()) {
      apply_wrench(rotor.parent,
           motion_.joints.X[rotor.body].transpose_times_force((*wrenches)[rotor.body]));
    }
  }
  /// What wrenches on rotors that chains take along do on the independent rates.
  void apply_rotor_wrenches_of_chains(const Wrenches<T>& wrenches, T* tau) const {
    const Model& model = this->model();
    for (const Cluster& c : model.clusters()) {
      if (!chains_->contains(c.first)) continue;
      for (int r = 0; r < c.rotors; ++r) {
        const T& force = wrenches[model.rotors()[c.rotor + r].body].n.z;
        const T* rho = motion_.G(c) + (c.spanning_nv + r) * c.nv;
        for (int j = 0; j < c.nv; ++j) tau[c.v + j] -= rho[j] * force;
      }
    }
  }

  /// Tips to base: tau_i = S_i^T f_i, and f_i is handed on to the parent.
  /// @param tau            on the spanning rates, of bodies in no chain
  /// @param[out] of_chains  on the independent rates, of bodies in chains
  void inward(const T* qdd, T* tau, T* of_chains) {
    const Model& model = this->model();
    const std::vector<ChainMove>& moves = chains_->way().moves;
    for (std::size_t k = moves.size(); k-- > 0;) {
      if (moves[k].group < 0) {
        inward_run(moves[k], tau);
        continue;
      }
      const int group = moves[k].group;
      for (const int p : chains_->way().attachments[group]) chains_->boundary(p).pA += f_[p];
      chains_->inward_force(group, of_chains);
      for (const int c : chains_->way().parents[group]) f_[c] += chains_->boundary(c).pA;
    }
    if (qdd != nullptr) {
      for (const auto& [rate, inertia] : armature_) tau[rate] += inertia * qdd[rate];
    }
    for (const int i : model.bodies_with_equations()) {
      const Body& body = model.body(i);
      for (int k = 0; k < body.nv; ++k) tau[body.v + k] += own_tau_[body.v + k];
    }
  }
  void inward_run(const ChainMove& move, T* tau) {
    const Model& model = this->model();
    const TreeKinematics<T>& joints = motion_.joints;
    const BodyRun& run = model.runs()[move.run];
    with_subspace(run, [&](auto ops) {
      using Ops = decltype(ops);
      for (int k = move.end - 1; k >= move.begin; --k) {
        const int i = run.first + k, at = run.v + k * Ops::n;
        const int parent = model.body(i).parent;
        Ops::project(f_[i], joints.S.data() + at, tau + at);
        if (parent != 0) f_[parent] += joints.X[i].transpose_times_force(f_[i]);
      }
    });
  }

  void make_chains(Joints joints) {
    const Model& m = this->model();
    ChainPlan plan(m, ChainJoints::of(m));
    std::vector<int> parents;
    for (const Cluster& c : m.clusters()) {
      for (int r = c.rotor; plan.chain_of[c.first] < 0 && r < c.rotor + c.rotors; ++r) {
        loose_rotors_.push_back(r);
        parents.push_back(m.rotors()[r].parent);
      }
    }
    newton_euler_.set_inertia(plan.inertia);
    chains_ = std::make_unique<ChainSweeps<T>>(m, std::move(plan), parents);
    motion_.leave_out(joints == Joints::all ? std::vector<bool>{} : chains_->whole_runs(),
                      chains_->whole_clusters());
  }

  SpanningMotion<T> motion_;
  NewtonEuler<T> newton_euler_;
  std::vector<Force<T>> f_;
  std::vector<T> qdd_, tau_;  ///< spanning; empty on a tree
  JointSuppliedDynamics<T> own_;
  std::vector<T> own_tau_;  ///< per spanning rate; empty if no joint brings equations
  std::vector<std::pair<int, double>> armature_;  ///< of bodies in no chain
  std::unique_ptr<ChainSweeps<T>> chains_;
  std::vector<int> loose_rotors_;  ///< folded ones that no chain takes along
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
