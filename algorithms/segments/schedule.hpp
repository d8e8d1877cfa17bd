#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "algorithms/chains/groups.hpp"
#include "algorithms/segments/clusters/cluster_costs.hpp"
#include "algorithms/segments/free_body.hpp"
#include "algorithms/segments/segments.hpp"

namespace espalier {

/// What a schedule says about the robot as a whole.
struct ScheduleLayout {
  explicit ScheduleLayout(ChainPlan plan) : chains(std::make_unique<ChainPlan>(std::move(plan))) {}

  std::unique_ptr<ChainPlan> chains;  ///< until the state takes it
  bool needs_poses = false;           ///< sine and cosine of revolute joints are not enough
  int floating_base = 0;              ///< body; 0: none
  std::vector<int> watched;           ///< parents of rotors, whose motion clusters read
  int workspace = 0, largest = 0;     ///< of ClusterOnOne: numbers in all, most rates of one
  int columns = 0, most_bodies = 0;   ///< of one by columns: most bodies times rates, most bodies
  std::vector<const Cluster*> multi_support;                    ///< ClusterOnSeveral by index
  std::vector<std::pair<const Cluster*, FrontPlan>> by_fronts;  ///< ClusterByFronts by index
};

/// The bodies of a cluster, run by run.
std::vector<PlainRun> runs_of_bodies(const Model& m, const Cluster& c);

/// The segments of a model: the one scheduler for all recursive algorithms.
///
/// `Kinds` are those that the algorithm's passes have overloads for. A part of the robot that would
/// be of a kind that is not among them becomes the next more general one:
///   ChainGroup -> PlainRun and GearedBody;  FloatingBase -> PlainRun;
///   GearedBody, ClusterByFronts -> ClusterOnOne;  ClusterOnOne, PlainRun -> ClusterOnSeveral,
/// so that `Schedule<ClusterOnSeveral>` passes every robot. Where no kind of cluster is among them,
/// clusters dissolve into runs of bodies: for algorithms that work on the rates of the spanning
/// tree.
template <class... Kinds>
class Schedule : public ScheduleLayout, public Segments<Kinds...> {
 public:
  /// @param lanes  how many chains are passed at once
  Schedule(const Model& model, int lanes) : Schedule(model, lanes, KindOf(model)) {}
  /// @param plan  chains that the algorithm has chosen, of joints that Schedule(model, lanes) may
  ///   put into chains
  Schedule(const Model& model, int lanes, ChainPlan plan)
      : Schedule(model, lanes, KindOf(model), std::move(plan)) {}
  /// The spanning tree as if nothing coupled its bodies, folded rotors among them: runs of plain
  /// bodies, and the floating base.
  static Schedule of_spanning_tree(const Model& model) {
    static_assert(has<PlainRun> && has<FloatingBase>);
    Schedule schedule{ScheduleLayout(ChainPlan(model, ChainJoints(model)))};
    std::vector<RigidInertia<double>>& inertia = schedule.chains->inertia;
    inertia.clear();
    for (int i = 0; i <= model.body_count(); ++i) inertia.push_back(model.body(i).inertia);
    schedule.floating_base = floating_root(model, model.body_count());
    for (const BodyRun& run : model.runs()) {
      const bool base = run.first == schedule.floating_base;
      if (base) schedule.add(FloatingBase{run.first});
      if (!base || run.count > 1) schedule.add(PlainRun{&run, base ? 1 : 0, run.count, 0});
    }
    schedule.sort();
    return schedule;
  }

 private:
  template <class Kind>
  static constexpr bool has = (std::is_same_v<Kind, Kinds> || ...);
  static constexpr bool dissolves = !has<ClusterOnOne> && !has<ClusterOnSeveral>;

  /// What becomes of the model's clusters.
  struct KindOf {
    explicit KindOf(const Model& m)
        : several(m.clusters().size(), false), joints(ChainJoints::of(m)) {
      if constexpr (has<ChainGroup>) {
        joints.add_asymmetric_rotors(m);
      } else {
        joints.turning.assign(joints.turning.size(), false);
      }
      if constexpr (dissolves) return;
      std::vector<bool> carries_several(m.clusters().size(), false), supplied = carries_several;
      for (const Cluster& c : m.clusters()) {
        if (c.supports.size() > 1 && c.parent >= 0) carries_several[c.parent] = true;
      }
      for (const int i : m.bodies_with_equations()) supplied[m.body(i).cluster] = true;
      for (std::size_t k = 0; k < m.clusters().size(); ++k) {
        const Cluster& c = m.clusters()[k];
        several[k] = supplied[k] || !(c.constrained ? has<ClusterOnOne> : has<PlainRun>) ||
                     (c.constrained && (carries_several[k] || c.supports.size() > 1));
        for (int i = c.first; (several[k] || carries_several[k]) && i < c.first + c.count; ++i) {
          joints.turning[i] = false;
        }
      }
    }
    std::vector<bool> several;  ///< per cluster: ClusterOnSeveral
    ChainJoints joints;         ///< of chains
  };

  explicit Schedule(ScheduleLayout layout) : ScheduleLayout(std::move(layout)) {}
  Schedule(const Model& m, int lanes, const KindOf& kind)
      : Schedule(m, lanes, kind, ChainPlan(m, kind.joints)) {}
  Schedule(const Model& m, int lanes, const KindOf& kind, ChainPlan plan)
      : ScheduleLayout(std::move(plan)) {
    if constexpr (has<FloatingBase>) {
      const int root = floating_root(m, m.active_body_count());
      if (root > 0 && !kind.several[m.body(root).cluster]) floating_base = root;
    }
    for (std::size_t k = 0; k < m.clusters().size(); ++k) {
      const Cluster& c = m.clusters()[k];
      if (!chains->passes(c.first)) add_cluster(m, c, kind.several[k], kind.joints);
    }
    const ChainGroups groups(*chains, lanes);
    for (std::size_t g = 0; g < groups.groups.size(); ++g) {
      add_if_taken(ChainGroup{static_cast<int>(g)}, 2 * groups.levels[g] + 1);
    }
    this->sort();
  }

  void add_cluster(const Model& m, const Cluster& c, bool several, const ChainJoints& joints) {
    const int order = 2 * chains->level[c.first];
    if (c.first == floating_base) return add_if_taken(FloatingBase{c.first}, order);
    if constexpr (dissolves) return dissolve(m, c, order);
    if (!several && !c.constrained) return add_if_taken(runs_of_bodies(m, c)[0], order);
    if (!several && has<GearedBody> && is_geared_body(m, c)) {
      return add_if_taken(GearedBody{&c, runs_of_bodies(m, c)[0], joints.momentum[c.first],
                                     joints.inertia[c.first]},
                          order);
    }
    watch_rotors(m, c);
    if (several) {
      add_if_taken(
          ClusterOnSeveral{&c, runs_of_bodies(m, c), static_cast<int>(multi_support.size())},
          order);
      multi_support.push_back(&c);
    } else if (!add_by_fronts(m, c, order)) {
      const bool by_columns = c.rows() > 4 && saved_by_columns(m, c, supporting_bodies(m)) > 0.0;
      if (by_columns) {
        columns = std::max(columns, c.count * c.nv), most_bodies = std::max(most_bodies, c.count);
      }
      add_if_taken(ClusterOnOne{&c, runs_of_bodies(m, c), workspace, by_columns}, order);
      workspace += c.nv * (c.nv + 1), largest = std::max(largest, c.nv);
    }
  }
  bool add_by_fronts(const Model& m, const Cluster& c, int order) {
    if constexpr (!has<ClusterByFronts>) return false;
    std::optional<FrontPlan> plan = fronts_that_pay(m, c);
    if (!plan) return false;
    add_if_taken(ClusterByFronts{&c, runs_of_bodies(m, c), static_cast<int>(by_fronts.size())},
                 order);
    by_fronts.emplace_back(&c, std::move(*plan));
    return true;
  }
  void dissolve(const Model& m, const Cluster& c, int order) {
    for (PlainRun bodies : runs_of_bodies(m, c)) {
      bodies.shift = 0;
      add_if_taken(bodies, order);
    }
    watch_rotors(m, c);
  }
  void watch_rotors(const Model& m, const Cluster& c) {
    for (int r = c.rotor; r < c.rotor + c.rotors; ++r) watched.push_back(m.rotors()[r].parent);
  }
  template <class Kind>
  void add_if_taken(Kind segment, int order) {
    if constexpr (has<Kind>) this->add(std::move(segment), order);
  }
};

}  // namespace espalier
