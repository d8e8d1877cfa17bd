#pragma once

#include <memory>
#include <type_traits>
#include <utility>

#include "algorithms/chains/units/ask_ahead.hpp"
#include "algorithms/segments/composite/composite_base.hpp"
#include "algorithms/segments/composite/composite_chain.hpp"
#include "algorithms/segments/composite/composite_cluster.hpp"
#include "algorithms/segments/composite/composite_rows.hpp"
#include "algorithms/segments/composite/composite_run.hpp"
#include "algorithms/segments/composite/composite_tree.hpp"

namespace espalier {

/// Joint-space inertia matrix by the composite-rigid-body algorithm, on trees and cluster trees: a
/// unit acceleration of a rate takes the wrench F = Ic J of all that it moves, and F meets the
/// rates on the way to the ground, M(i,j) = F^T J_j. What each kind of segment does is in
/// segments/composite_<kind>.hpp.
/// Frames: CompositeState.  Cost: O(n d), d the depth of the tree.
/// Source: Featherstone (2008), Table 6.2; theory/clusters 5.4 (clusters, folded rotors).
/// @tparam Kinds  of segments that have fast code; ClusterOnSeveral alone is enough for independent
///   rates of any robot
template <class T, class... Kinds>
class CompositeBodiesOver {
 public:
  /// Independent: clusters as they are. Spanning: as if nothing coupled the bodies, folded rotors
  /// being bodies, too.
  enum class Rates { independent, spanning };

  /// On independent rates.
  explicit CompositeBodiesOver(const Model& model) : model_(model) {
    if (!lay_out_without_segments()) divide(independent(model), model.nv());
  }
  CompositeBodiesOver(const Model& model, Rates rates) : model_(model) {
    if (lay_out_without_segments()) return;
    if (rates == Rates::spanning) {
      divide(Segmented::of_spanning_tree(model), model.spanning_nv());
    } else {
      divide(independent(model), model.nv());
    }
  }

  /// Leaves out of a motion, before it is updated, what is not needed here.
  void leave_out_of(SpanningMotion<T>& motion) const {
    if (divided_ == nullptr) return leave_all_out(motion);
    const auto& chains = divided_->state.chains;
    if (chains != nullptr) motion.leave_out(chains->whole_runs(), chains->whole_clusters());
  }

  /// Whether compute() reads joints of the motion: else its turns are enough, if it has any.
  bool reads_joints() const { return divided_ != nullptr && !divided_->chains_alone; }

  /// From now on entries above the diagonal, and those that are zero at every position, need not be
  /// written.
  void leave_out_upper_triangle() {
    if (divided_ != nullptr) divided_->state.lower = true;
    if (tree_ != nullptr) tree_->leave_out_upper_triangle();
  }

  /// @param q       spanning positions
  /// @param motion  if it is read, updated at the position, with rotors placed if the rates are
  ///   spanning ones
  /// @param[out] M  symmetric, full storage, unless leave_out_upper_triangle() was called
  void compute(const T* q, const SpanningMotion<T>& motion, T* M) {
    if constexpr (has_rows) {
      if (tree_ != nullptr) return tree_->compute(q, motion.turns(), M);
      if (rows_ != nullptr) return rows_->compute(q, M);
    }
    if constexpr (has_rows) {
      using ChainPass = void(const ChainGroup&, CompositeState<T>&, T*);
      ask_for_code<0, 2>(static_cast<ChainPass*>(collect<T>));  // chains' own behind it
    }
    const Segmented& schedule = divided_->schedule;
    CompositeState<T>& state = divided_->state;
    const bool chains_alone = divided_->chains_alone;
    state.motion = &motion;
    if (!chains_alone)
      schedule.outward([&](const auto& s) { place(s, state); });  // E, r, Ic = I, J
    state.start(q, M);
    schedule.inward([&](const auto& s) ESPALIER_INLINED {
      collect(s, state, M);  // F, M; Ic to the parent
    });
    if (state.lower || chains_alone) return;
    if (!state.sparse) return state.inward.mirror_all(M);
    schedule.outward([&](const auto& s) { mirror(s, state, M); });
  }

 private:
  using Segmented = Schedule<Kinds...>;
  static constexpr bool has_chains = (std::is_same_v<ChainGroup, Kinds> || ...);
  static constexpr bool has_rows = has_chains && RowLanes<T>::size > 1;

  /// A robot that is divided into segments.
  struct Divided {
    Divided(const Model& model, Segmented segments, int rates)
        : schedule(std::move(segments)), state(model, schedule, schedule, rates) {
      schedule.outward([&]<class Segment>(const Segment&) {
        chains_alone = chains_alone && std::is_same_v<Segment, ChainGroup>;
      });
    }
    Segmented schedule;
    CompositeState<T> state;
    bool chains_alone = true;  ///< which place their bodies themselves, and write all of M
  };
  void divide(Segmented schedule, int rates) {
    divided_ = std::make_unique<Divided>(model_, std::move(schedule), rates);
  }

  /// Of a tree that is passed four bodies at once, or body by body with three numbers at once.
  /// @returns  whether it is one
  bool lay_out_without_segments() {
    if constexpr (has_rows) {
      if (chains_pay(model_)) return false;
      constexpr int lanes = RowLanes<T>::size;
      const bool tree = CompositeTree::can_pass(model_);
      if (TurningRows<lanes>::can_pass(model_)) {
        const TurningRows<lanes> rows(model_);
        if (rows.pays(model_) && (!tree || cost_less(rows))) {
          rows_ = std::make_unique<CompositeRows<T>>(model_, rows);
          return true;
        }
      }
      if (tree) tree_ = std::make_unique<CompositeTree>(model_);
      return tree;
    }
    return false;
  }
  /// Whether most bodies are in chains, none of which is long and alone, and the rates that pass
  /// other chains on their way to the ground pass few bodies there, one after the other. A body
  /// beside chains costs about as much as three that a rate passes. This is, for each body, 0.2 of
  /// a quadruped, 1.6 of a humanoid, 2.2 of an arm with two fingers that slide, and 3.9 of a
  /// humanoid with ten fingers. Where it is one both ways take as long, or two if the robot stands
  /// on the ground, which takes no wrenches.
  static bool chains_pay(const Model& model) {
    constexpr int beside = 3, long_alone = 18;
    const ChainPlan plan = composite_chains_of(model);
    const int bodies = model.active_body_count();
    if (plan.chains.size() == 1 && bodies > long_alone) return false;
    int passed = 0;
    for (int i = 1; i <= bodies; ++i) {
      if (plan.chain_of[i] < 0) passed += beside;
    }
    for_passed_attachments(model, plan,
                           [&](int i, int nv) { passed += nv * (plan.index_in[i] + 1); });
    return passed < (floating_root(model, bodies) > 0 ? bodies : 2 * bodies);
  }
  /// Whether four bodies at once take less time than CompositeTree. Counted: some 450 instructions
  /// for a row and 90 for a step on its way to the ground. A body of CompositeTree has 330, which
  /// take as long as 260 of these: of Talos and Atlas, with 310 of these a body, rows would take a
  /// quarter longer, of trees of two and three children, with some 200, 4 to 20 % less.
  template <class Rows>
  bool cost_less(const Rows& rows) const {
    std::size_t steps = 0;
    for (const auto& row : rows.rows) steps += row.ways.size();
    return 450 * rows.rows.size() + 90 * steps <
           260 * static_cast<std::size_t>(model_.active_body_count() - rows.root);
  }
  void leave_all_out(SpanningMotion<T>& motion) const {
    motion.leave_out(std::vector<bool>(model_.active_runs().size(), true),
                     std::vector<bool>(model_.clusters().size(), true));
  }

  static Segmented independent(const Model& model) {
    return Segmented(
        model, RowLanes<T>::size,
        has_chains ? composite_chains_of(model) : ChainPlan(model, ChainJoints(model)));
  }

  const Model& model_;
  // One of these:
  std::unique_ptr<Divided> divided_;
  std::unique_ptr<CompositeTree> tree_;
  std::unique_ptr<CompositeRows<T>> rows_;  ///< of a tree that branches often
};

template <class T>
using CompositeBodies =
    CompositeBodiesOver<T, ChainGroup, PlainRun, FloatingBase, ClusterOnOne, ClusterOnSeveral>;

}  // namespace espalier
