#pragma once

#include <utility>
#include <vector>

#include "algorithms/segments/link_tree.hpp"
#include "algorithms/segments/newton_euler/newton_euler_chain.hpp"
#include "algorithms/segments/newton_euler/newton_euler_run.hpp"
#include "espalier/kernel/problems/dynamics/inverse_dynamics.hpp"

namespace espalier {

/// Inverse dynamics as it is commonly approximated, on the tree of links (link_tree.hpp) to whose
/// parents rotors are welded; not exact where there are rotors or loops.
///
/// Reflected (`approximate-rnea`): each independent rate j gets the armature, sum of j_r rho_rj^2,
/// of the rotors that it turns. Lost are the gyroscopic couples of the rotors, what their spin
/// takes of the parents and the parents' motion of it, and the inertia that a rotor turned by
/// several rates puts between these. Everything else is exact, bodies that couplings tie and that
/// carry others included. Nothing is lost for symmetric rotors on the ground that one rate turns,
/// nor on a planar robot for those whose axes lie in its plane.
///
/// Not reflected (`unconstrained-rnea`): no armature for rotors, and no force through couplings and
/// loops: each independent joint carries what hangs on it, as if the mechanism beside it were not
/// there. The motion is the true one.
///
/// Frame: body; chains have their own (chains/plan.hpp).  Cost: O(n).
/// Source: Chignoli et al. (2023), section II-C.
template <class T, bool reflected>
class LinkTreeRnea final : public InverseDynamics<T> {
 public:
  explicit LinkTreeRnea(ModelPtr model)
      : InverseDynamics<T>(std::move(model)),
        tree_(this->model()),
        schedule_(this->model(), tree_),
        state_(this->model(), schedule_, RneaState<T>::Joints::needed) {
    const Model& m = this->model();
    for (const auto& [rate, inertia] : m.armature()) {
      const int body = m.joint_of_rate(rate).body;
      if (body <= m.active_body_count() && !tree_.welded[body] && !state_.chains.contains(body)) {
        armature_.emplace_back(rate, inertia);
      }
    }
    for (int j = 0; j < m.nv(); ++j) {
      const int rate = m.independent_rates()[j], body = m.joint_of_rate(rate).body;
      if (body > m.active_body_count() || !state_.chains.contains(body)) {
        rates_.emplace_back(j, rate);
      } else if (!state_.chains.whole_clusters()[m.body(body).cluster]) {
        chain_rates_.emplace_back(j, rate);
      }
    }
    if (reflected) {
      std::erase_if(rates_, [&](const auto& rate) { return tree_.armature[rate.first] == 0.0; });
    }
    find_forceless();
  }

 private:
  struct LinkSchedule : ScheduleLayout, Segments<ChainGroup, PlainRun> {
    LinkSchedule(const Model& m, const LinkTree& tree)
        : ScheduleLayout(ChainPlan(m,
                                   tree.chain_joints(m, reflected ? LinkTree::Rotors::reflected
                                                                  : LinkTree::Rotors::left_out),
                                   ChainPlan::Branches::longest, tree.inertia)) {
      for (const BodyRun& run : tree.runs) {
        for (int k = 0; k < run.count; ++k) {
          const int body = run.first + k;
          if (this->chains->chain_of[body] >= 0) continue;
          this->add(PlainRun{&run, k, k + 1, 0}, 2 * this->chains->level[body]);
        }
      }
      const ChainGroups groups(*this->chains, RowLanes<T>::size);
      for (std::size_t g = 0; g < groups.groups.size(); ++g) {
        this->add(ChainGroup{static_cast<int>(g)}, 2 * groups.levels[g] + 1);
      }
      this->sort();
    }
  };

  void compute(const T* q, const T* v, const T* vdot, T* tau,
               const Wrenches<T>* wrenches) override {
    state_.update(q, v, vdot, this->gravity());
    schedule_.outward([&](const auto& s) { forward_motion(s, state_, vdot); });
    T* spanning = state_.tau_spanning.empty() ? tau : state_.tau_spanning.data();
    if (wrenches != nullptr) apply(*wrenches);
    for (const int rate : forceless_) spanning[rate] = T(0.0);
    if (wrenches != nullptr) apply_to_welded(*wrenches);
    schedule_.inward([&](const auto& s) { collect_forces(s, state_, tau); });
    for (const auto& [rate, inertia] : armature_) spanning[rate] += inertia * state_.qdd[rate];
    if constexpr (reflected) {
      for (const auto& [j, rate] : chain_rates_) spanning[rate] = tau[j];
      if (spanning != tau) state_.motion.reduce(spanning, tau);
      for (const auto& [j, rate] : rates_) tau[j] += tree_.armature[j] * vdot[j];
      if (wrenches != nullptr) apply_to_rates(*wrenches, tau);
    } else {
      for (const auto& [j, rate] : rates_) tau[j] = spanning[rate];
    }
  }

  /// Rates of what is welded, in clusters that have bodies in no chain.
  void find_forceless() {
    const Model& m = this->model();
    for (std::size_t i = 0; i < m.clusters().size(); ++i) {
      const Cluster& c = m.clusters()[i];
      if (state_.chains.whole_clusters()[i]) continue;
      for (int r = c.rotor; r < c.rotor + c.rotors; ++r) forceless_.push_back(m.rotors()[r].v);
      for (int b = c.first; b < c.first + c.count; ++b) {
        if (tree_.welded[b]) forceless_.push_back(m.body(b).v);
      }
    }
  }

  /// External wrenches on links.
  void apply(const Wrenches<T>& wrenches) {
    for (const BodyRun& run : tree_.runs) {
      for (int i = run.first; i < run.first + run.count; ++i) state_.apply(i, wrenches[i]);
    }
  }
  /// What a reflected body's own rate takes of its external wrench.
  static T force_on(const LinkTree::Reflected& r, const Wrenches<T>& wrenches) {
    return r.slides ? -wrenches[r.body].f.z : -wrenches[r.body].n.z;
  }
  /// By G^T.
  void apply_to_rates(const Wrenches<T>& wrenches, T* tau) const {
    for (const auto& r : tree_.reflected) {
      const Cluster& c = *r.cluster;
      const T* rho = state_.motion.G(c) + r.row * c.nv;
      const T force = force_on(r, wrenches);
      for (int j = 0; j < c.nv; ++j) tau[c.v + j] += rho[j] * force;
    }
  }
  /// External wrenches on what is welded: to the parents; and to its own rate, which may be an
  /// independent one, where it is not reflected.
  void apply_to_welded(const Wrenches<T>& wrenches) {
    const Model& model = this->model();
    state_.motion.place_rotors(state_.q);
    const auto apply_to_parent = [&](int body, int parent) {
      state_.apply(parent, state_.motion.joints.X[body].transpose_times_force(wrenches[body]));
    };
    for (const auto& r : tree_.reflected) {
      if (!reflected) state_.tau_spanning[model.body(r.body).v] = force_on(r, wrenches);
      apply_to_parent(r.body, r.parent);
    }
    for (const Rotor& rotor : model.rotors()) {  // inside loops
      if (!tree_.is_reflected(rotor.body)) apply_to_parent(rotor.body, rotor.parent);
    }
  }

  LinkTree tree_;
  LinkSchedule schedule_;
  RneaState<T> state_;
  std::vector<std::pair<int, double>> armature_;  ///< of links in no chain, per spanning rate
  // Independent and spanning rates of a link: in no chain, and in one of a cluster that has others.
  std::vector<std::pair<int, int>> rates_, chain_rates_;
  std::vector<int> forceless_;
};

template <class T>
using ApproximateRnea = LinkTreeRnea<T, true>;
template <class T>
using UnconstrainedRnea = LinkTreeRnea<T, false>;

}  // namespace espalier
