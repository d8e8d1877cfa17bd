#pragma once

#include <memory>
#include <type_traits>
#include <utility>

#include "algorithms/segments/composite/composite_base.hpp"
#include "algorithms/segments/composite/composite_chain.hpp"
#include "algorithms/segments/composite/composite_cluster.hpp"
#include "algorithms/segments/composite/composite_rows.hpp"
#include "algorithms/segments/composite/composite_run.hpp"

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
  explicit CompositeBodiesOver(const Model& model)
      : CompositeBodiesOver(model, independent(model), model.nv()) {}
  CompositeBodiesOver(const Model& model, Rates rates)
      : CompositeBodiesOver(
            model,
            rates == Rates::spanning ? Segmented::of_spanning_tree(model) : independent(model),
            rates == Rates::spanning ? model.spanning_nv() : model.nv()) {}

  /// Leaves out of a motion, before it is updated, what is not needed here.
  void leave_out_of(SpanningMotion<T>& motion) const {
    if (rows_ != nullptr) return leave_all_out(motion);
    if (state_.chains == nullptr) return;
    motion.leave_out(state_.chains->whole_runs(), state_.chains->whole_clusters());
  }

  /// From now on entries above the diagonal, and those that are zero at every position, need not be
  /// written.
  void leave_out_upper_triangle() { state_.lower = true; }

  /// @param q       spanning positions
  /// @param motion  updated at the position, with rotors placed if the rates are spanning ones
  /// @param[out] M  symmetric, full storage, unless leave_out_upper_triangle() was called
  void compute(const T* q, const SpanningMotion<T>& motion, T* M) {
    if constexpr (has_rows) {
      if (rows_ != nullptr) return rows_->compute(q, M);
    }
    state_.motion = &motion;
    schedule_.outward([&](const auto& s) { place(s, state_); });  // E, r, Ic = I, J
    state_.start(q, M);
    schedule_.inward([&](const auto& s) { collect(s, state_, M); });  // F, M; Ic to the parent
    if (state_.lower) return;
    if (!state_.sparse) return state_.inward.mirror_all(M);
    schedule_.outward([&](const auto& s) { mirror(s, state_, M); });
  }

 private:
  using Segmented = Schedule<Kinds...>;
  static constexpr bool has_chains = (std::is_same_v<ChainGroup, Kinds> || ...);
  static constexpr bool has_rows = has_chains && RowLanes<T>::size > 1;

  CompositeBodiesOver(const Model& model, Segmented schedule, int rates)
      : schedule_(std::move(schedule)), state_(model, schedule_, schedule_, rates) {
    if constexpr (has_rows) {
      constexpr int lanes = RowLanes<T>::size;
      if (!TurningRows<lanes>::can_pass(model) || chains_pay(model)) return;
      const TurningRows<lanes> rows(model);
      if (!rows.pays(model)) return;
      rows_ = std::make_unique<CompositeRows<T>>(model, rows);
    }
  }
  /// Whether most bodies are in chains, and the rates that pass other chains on their way to the
  /// ground pass few bodies there, one after the other. A body beside chains costs about as much as
  /// three that a rate passes; of humanoids this is half of what it may be, of one with ten fingers
  /// 1.7 times.
  static bool chains_pay(const Model& model) {
    constexpr int beside = 3;
    const ChainPlan plan = composite_chains_of(model);
    int passed = 0;
    for (int i = 1; i <= model.active_body_count(); ++i) {
      if (plan.chain_of[i] < 0) passed += beside;
    }
    for_passed_attachments(model, plan,
                           [&](int i, int nv) { passed += nv * (plan.index_in[i] + 1); });
    return 4 * passed < 3 * beside * model.active_body_count();
  }
  void leave_all_out(SpanningMotion<T>& motion) const {
    const Model& m = state_.model;
    motion.leave_out(std::vector<bool>(m.active_runs().size(), true),
                     std::vector<bool>(m.clusters().size(), true));
  }

  static Segmented independent(const Model& model) {
    return Segmented(
        model, RowLanes<T>::size,
        has_chains ? composite_chains_of(model) : ChainPlan(model, ChainJoints(model)));
  }

  Segmented schedule_;
  CompositeState<T> state_;
  std::unique_ptr<CompositeRows<T>> rows_;  ///< of a branching tree, which are all there is
};

template <class T>
using CompositeBodies =
    CompositeBodiesOver<T, ChainGroup, PlainRun, FloatingBase, ClusterOnOne, ClusterOnSeveral>;

}  // namespace espalier
