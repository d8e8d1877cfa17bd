#pragma once

#include <algorithm>

#include "algorithms/segments/chain_group.hpp"
#include "algorithms/segments/floating_base.hpp"
#include "algorithms/segments/link_tree.hpp"
#include "algorithms/segments/multi_support_cluster.hpp"
#include "algorithms/segments/plain_run.hpp"
#include "espalier/kernel/problems/forward_dynamics.hpp"

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
        schedule_(this->model(), tree_),
        state_(this->model(), schedule_, tree_),
        tau_(this->model().nv()) {}

 private:
  /// Links of a cluster that are still coupled, or that such ones hang on.
  struct CoupledLinks {
    const Cluster* cluster;
    std::vector<PlainRun> links;
    int index;
  };

  struct LinkSchedule : ScheduleLayout, Segments<ChainGroup, PlainRun, FloatingBase, CoupledLinks> {
    LinkSchedule(const Model& m, const LinkTree& tree)
        : LinkSchedule(m, tree, coupled_in(m, tree)) {}

   private:
    /// Per cluster: whether it is passed as CoupledLinks.
    static std::vector<bool> coupled_in(const Model& m, const LinkTree& tree) {
      std::vector<bool> coupled(m.clusters().size(), false);
      for (std::size_t i = 0; i < m.clusters().size(); ++i) {
        const Cluster& c = m.clusters()[i];
        if (tree.is_free(m, c)) continue;
        coupled[i] = true;
        if (c.supports.size() > 1 && c.parent >= 0) coupled[c.parent] = true;
      }
      return coupled;
    }
    static ChainPlan chains_of(const Model& m, const LinkTree& tree,
                               const std::vector<bool>& coupled) {
      ChainJoints joints = tree.chain_joints(m, LinkTree::Rotors::reflected);
      for (int i = 1; i <= m.active_body_count(); ++i) {
        if (coupled[m.body(i).cluster]) joints.turning[i] = false;
      }
      return ChainPlan(m, joints, ChainPlan::Branches::longest, tree.inertia);
    }

    LinkSchedule(const Model& m, const LinkTree& tree, const std::vector<bool>& coupled)
        : ScheduleLayout(chains_of(m, tree, coupled)) {
      const int bodies = m.active_body_count();
      this->floating_base = floating_root(m, bodies);
      // External wrenches on what is welded need its place.
      this->needs_poses = std::any_of(tree.welded.begin(), tree.welded.begin() + bodies + 1,
                                      [](bool welded) { return welded; });
      for (std::size_t i = 0; i < m.clusters().size(); ++i) {
        const Cluster& c = m.clusters()[i];
        const std::vector<PlainRun> links = links_of(m, tree, c);
        if (c.first == this->floating_base) {
          this->add(FloatingBase{c.first});
        } else if (coupled[i]) {
          this->add(CoupledLinks{&c, links, static_cast<int>(this->multi_support.size())},
                    2 * this->chains->level[c.first]);
          this->multi_support.push_back(&c);
        } else {
          for (const PlainRun& link : links) {
            const int body = link.body(link.begin);
            if (this->chains->chain_of[body] < 0) this->add(link, 2 * this->chains->level[body]);
          }
        }
      }
      const ChainGroups groups(*this->chains, RowLanes<T>::size);
      for (std::size_t g = 0; g < groups.groups.size(); ++g) {
        this->add(ChainGroup{static_cast<int>(g)}, 2 * groups.levels[g] + 1);
      }
      this->sort();
    }
    /// One by one, with independent rates in their order.
    static std::vector<PlainRun> links_of(const Model& m, const LinkTree& tree, const Cluster& c) {
      std::vector<PlainRun> links;
      int next = c.v;
      for (int i = c.first; i < c.first + c.count; ++i) {
        if (tree.welded[i]) continue;
        const auto run = std::find_if(tree.runs.begin(), tree.runs.end(),
                                      [&](const BodyRun& r) { return i < r.first + r.count; });
        const int k = i - run->first;
        links.push_back({&*run, k, k + 1, next - m.body(i).v});
        next += m.body(i).nv;
      }
      return links;
    }
  };

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
  // -------------------------------------------------------------------------------

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
      multi_support.set_output(static_cast<int>(o), state.body[c.supports[o]].da);
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
