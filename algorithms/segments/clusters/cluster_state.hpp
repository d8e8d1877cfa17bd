#pragma once

#include <algorithm>
#include <vector>

#include "algorithms/linear_algebra/fronts.hpp"
#include "algorithms/segments/articulated/articulated_state.hpp"
#include "algorithms/segments/articulated/joint_supplied_dynamics.hpp"
#include "algorithms/segments/clusters/multi_support_cluster.hpp"

namespace espalier {

/// State of the articulated-body recursion on a cluster tree: that on a tree, and per cluster.
template <class T>
struct ClusterState : ArticulatedState<T> {
  ClusterState(const Model& m, ScheduleLayout& layout)
      : ArticulatedState<T>(m, layout),
        workspace(layout.workspace),
        Moq(m.nv()),
        w(layout.largest),
        x(layout.largest),
        columns(layout.columns),
        from_support(layout.most_bodies),
        unit(m.spanning_nv(), -1),
        own(m) {
    for (const Cluster& c : m.clusters()) {
      for (int j = 0; j < c.nv; ++j) unit[m.independent_rates()[c.v + j]] = j;
    }
    int rotors = 0;
    for (const Cluster* c : layout.multi_support) {
      multi_support.emplace_back(m, *c);
      rotors = std::max(rotors, c->rotors);
    }
    spins.resize(rotors);
    for (MultiSupportCluster<T>& cluster : multi_support) cluster.connect(multi_support);
    tau_.reserve(m.nv());
    start_fronts(layout);
    for (const auto& [rate, inertia] : m.armature()) {
      const Cluster& c = m.clusters()[m.body(m.joint_of_rate(rate).body).cluster];
      if (c.constraint != nullptr && c.row(rate) < c.spanning_nv && !is_by_fronts(c)) {
        loop_armature_.push_back({&c, rate, inertia});
      }
    }
  }

  /// The spin of a folded rotor (theory/clusters 5.4).
  struct Spin {
    Vec3<T> k;  ///< momentum for unit rate, world axes
    T tau;      ///< what its rate takes at vdot = 0
  };
  /// Adds the gyroscopic couple of a rotor to its parent's wrench. Called once for each rotor,
  /// before the parent is eliminated.
  ESPALIER_ALWAYS_INLINE Spin spin(const Rotor& rotor) {
    const T *qd = this->motion.qd(), *g = this->motion.g();
    WorldBody<T>& parent = this->body[rotor.parent];
    const Vec3<T> k = transpose_times(parent.E, rotor.momentum);
    T tau = dot(k, parent.motion.alpha);
    parent.pA.n += cross(parent.motion.omega, scale(qd[rotor.v], k));
    if (g != nullptr) {
      parent.pA.n += scale(g[rotor.v], k);
      tau += rotor.inertia * g[rotor.v];
    }
    return {k, tau};
  }

  /// tau without what external wrenches on folded rotors and armatures inside of loops, which turn
  /// with g, take of it.
  const T* remaining_forces(const T* tau, const Wrenches<T>* wrenches) {
    if (wrenches != nullptr && !this->model.rotors().empty()) tau = apply_to_rotors(tau, *wrenches);
    if (!loop_armature_.empty() && this->motion.g() != nullptr) tau = accelerate_armature(tau);
    return tau;
  }

  std::vector<T> workspace;   ///< per ClusterOnOne: factor of Mqq, and r
  std::vector<Force<T>> Moq;  ///< per independent rate
  std::vector<Force<T>> w;    ///< of one cluster
  std::vector<T> x;
  std::vector<Motion<T>> columns;     ///< of one cluster: J of each body
  std::vector<Vec3<T>> from_support;  ///< of one cluster: where each body is
  /// Per spanning rate: which independent rate of its cluster it is, -1 if none. Its row of G is a
  /// unit row then.
  std::vector<int> unit;
  std::vector<MultiSupportCluster<T>> multi_support;  ///< per ClusterOnSeveral
  std::vector<Spin> spins;                            ///< of the rotors of one
  std::vector<Fronts<T>> fronts;                      ///< per ClusterByFronts
  std::vector<T> rates;  ///< of one: accelerations, those of the supporting body last
  JointSuppliedDynamics<T> own;

 private:
  void start_fronts(ScheduleLayout& layout) {
    if (layout.by_fronts.empty()) return;
    without_G_.resize(this->model.clusters().size(), false);
    std::size_t most = 0;
    for (auto& [c, plan] : layout.by_fronts) {
      without_G_[c - this->model.clusters().data()] = true;
      most = std::max<std::size_t>(most, plan.variables + plan.kept);
      fronts.emplace_back(*c->constraint, std::move(plan));
    }
    layout.by_fronts.clear();
    rates.resize(most);
    this->motion.leave_out_G(without_G_);
  }
  bool is_by_fronts(const Cluster& c) const {
    return !without_G_.empty() && without_G_[&c - this->model.clusters().data()];
  }

  struct LoopArmature {
    const Cluster* cluster;
    int rate;
    double inertia;
  };

  /// External wrenches on folded rotors: to the parents, and to the rates by G^T.
  const T* apply_to_rotors(const T* tau, const Wrenches<T>& wrenches) {
    const Model& m = this->model;
    this->motion.place_rotors(this->q);
    tau_.assign(tau, tau + m.nv());
    for (const Cluster& c : m.clusters()) {
      for (int r = 0; r < c.rotors; ++r) {
        const Rotor& folded = m.rotors()[c.rotor + r];
        const Force<T>& wrench = wrenches[folded.body];
        const T* rho = this->motion.G(c) + (c.spanning_nv + r) * c.nv;
        for (int j = 0; j < c.nv; ++j) tau_[c.v + j] += rho[j] * wrench.n.z;
        this->apply(folded.parent,
                    this->motion.joints.X[folded.body].transpose_times_force(wrench));
      }
    }
    return tau_.data();
  }
  const T* accelerate_armature(const T* tau) {
    if (tau != tau_.data()) tau_.assign(tau, tau + this->model.nv());
    for (const auto& [c, rate, inertia] : loop_armature_) {
      const T* rho = this->motion.G(*c) + c->row(rate) * c->nv;
      const T taken = inertia * this->motion.g()[rate];
      for (int j = 0; j < c->nv; ++j) tau_[c->v + j] -= rho[j] * taken;
    }
    return tau_.data();
  }

  std::vector<bool> without_G_;  ///< per cluster: ClusterByFronts; empty if there is none
  std::vector<LoopArmature> loop_armature_;
  std::vector<T> tau_;
};

}  // namespace espalier
