#pragma once

#include <algorithm>

#include "algorithms/forward_dynamics/link_schedule.hpp"
#include "algorithms/segments/clusters/multi_support_cluster.hpp"
#include "espalier/kernel/problems/dynamics/forward_dynamics.hpp"

namespace espalier {

/// Forward dynamics as it is commonly approximated: the articulated-body algorithm on the tree of
/// links (link_tree.hpp), rotors being welded to their parents and reflected into the armature, sum
/// of j_r rho_rj^2, of each independent rate j. Not exact where there are rotors; what is lost is
/// said in approximate_rnea.hpp, whose inverse this is. Loops other than couplings have no such
/// approximation. Bodies that couplings tie and that carry others are exact.
/// Frames, passes and chains are those of ABA.  Cost: O(n).
/// Source: Chignoli et al. (2023), section II-D.
template <class T>
class ApproximateAba final : public ForwardDynamics<T> {
 public:
  explicit ApproximateAba(ModelPtr model)
      : ForwardDynamics<T>(std::move(model)),
        tree_(this->model()),
        schedule_(this->model(), tree_, RowLanes<T>::size),
        state_(this->model(), schedule_, tree_),
        tau_(this->model().nv()) {}

 private:
  struct State : ArticulatedState<T> {
    State(const Model& m, LinkSchedule& schedule, const LinkTree& links)
        : ArticulatedState<T>(m, schedule), tree(links) {
      for (const Cluster* c : schedule.multi_support) multi_support.emplace_back(m, *c);
      for (MultiSupportCluster<T>& w : multi_support) w.connect(multi_support);
      schedule.outward([&](const auto& s) {
        if constexpr (std::is_same_v<decltype(s), const PlainRun&>) {
          for (int k = s.begin; k < s.end; ++k) {
            const Body& body = m.body(s.body(k));
            for (int r = body.v; r < body.v + body.nv; ++r) {
              this->rate[r].armature += tree.armature[r + s.shift];
            }
          }
        }
      });
    }
    const LinkTree& tree;
    std::vector<MultiSupportCluster<T>> multi_support;  ///< per CoupledLinks
  };

  void compute(const T* q, const T* v, const T* tau, T* vdot,
               const Wrenches<T>* wrenches) override {
    state_.update(q, v, this->gravity());
    schedule_.outward([&](const auto& s) { forward_velocities(s, state_); });
    if (wrenches != nullptr) tau = apply(q, tau, *wrenches);
    schedule_.inward([&](const auto& s) { eliminate(s, state_, tau); });
    schedule_.outward([&](const auto& s) { forward_accelerations(s, state_, vdot); });
  }

  /// External wrenches: on links, and on what is welded: to the parents, and to the rates by G^T.
  const T* apply(const T* q, const T* tau, const Wrenches<T>& wrenches) {
    for (const BodyRun& run : tree_.runs) {
      for (int i = run.first; i < run.first + run.count; ++i) state_.apply(i, wrenches[i]);
    }
    if (tree_.reflected.empty()) return tau;
    state_.motion.place_rotors(q);
    std::copy(tau, tau + this->model().nv(), tau_.begin());
    for (const auto& r : tree_.reflected) {
      const Cluster& c = *r.cluster;
      const Force<T>& w = wrenches[r.body];
      const T* rho = state_.motion.G(c) + r.row * c.nv;
      for (int j = 0; j < c.nv; ++j) tau_[c.v + j] += rho[j] * (r.slides ? w.f.z : w.n.z);
      state_.apply(r.parent, state_.motion.joints.X[r.body].transpose_times_force(w));
    }
    return tau_.data();
  }

  // --- coupled links

  friend void forward_velocities(const CoupledLinks& s, State& state) {
    for (const PlainRun& link : s.links) {
      forward_velocities(link, static_cast<ArticulatedState<T>&>(state));
    }
  }
  friend void eliminate(const CoupledLinks& s, State& state, const T* tau) {
    const Cluster& c = *s.cluster;
    MultiSupportCluster<T>& multi_support = state.multi_support[s.index];
    const T* G = state.motion.G(c);
    multi_support.start(tau);
    for (const PlainRun& link : s.links) {
      const int i = link.body(link.begin);
      const Body& body = state.model.body(i);
      const WorldBody<T>& b = state.body[i];
      const WorldRate<T>* rate = state.rate.data() + body.v;
      multi_support.add_body(
          i, b.parent, b.r, b.inertia.articulated(), b.pA, G, body,
          [&](int k) { return b.unit(rate[k]); }, [&](int k) { return rate[k].armature; });
    }
    for (int j = 0; j < c.nv; ++j) multi_support.add_armature(j, T(state.tree.armature[c.v + j]));
    multi_support.eliminate();
    for (std::size_t o = 0; o < c.supports.size(); ++o) {
      if (c.supports[o] == 0) continue;
      WorldBody<T>& body = state.body[c.supports[o]];
      multi_support.propagate_to_parent(static_cast<int>(o), body.inertia.open(), body.pA);
    }
  }
  friend void forward_accelerations(const CoupledLinks& s, State& state, T* vdot) {
    const Cluster& c = *s.cluster;
    MultiSupportCluster<T>& multi_support = state.multi_support[s.index];
    for (std::size_t o = 0; o < c.supports.size(); ++o) {
      multi_support.set_support(static_cast<int>(o), state.body[c.supports[o]].da);
    }
    multi_support.solve(vdot + c.v);
    for (const PlainRun& link : s.links) {
      const int i = link.body(link.begin);
      state.body[i].da = multi_support.acceleration(i);
    }
  }

  LinkTree tree_;
  LinkSchedule schedule_;
  State state_;
  std::vector<T> tau_;
};

}  // namespace espalier
