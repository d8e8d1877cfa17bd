#pragma once

#include <type_traits>
#include <utility>

#include "algorithms/segments/composite_base.hpp"
#include "algorithms/segments/composite_chain.hpp"
#include "algorithms/segments/composite_cluster.hpp"
#include "algorithms/segments/composite_run.hpp"

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
    if (state_.chains == nullptr) return;
    motion.leave_out(state_.chains->whole_runs(), state_.chains->whole_clusters());
  }

  /// @param q       spanning positions
  /// @param motion  updated at the position, with rotors placed if the rates are spanning ones
  /// @param[out] M  symmetric, full storage
  void compute(const T* q, const SpanningMotion<T>& motion, T* M) {
    state_.motion = &motion;
    schedule_.outward([&](const auto& s) { place(s, state_); });  // E, r, Ic = I, J
    state_.start(q, M);
    schedule_.inward([&](const auto& s) { collect(s, state_, M); });  // F, M; Ic to the parent
    if (!state_.sparse) return state_.inward.mirror_all(M);
    schedule_.outward([&](const auto& s) { mirror(s, state_, M); });
  }

 private:
  using Segmented = Schedule<Kinds...>;

  CompositeBodiesOver(const Model& model, Segmented schedule, int rates)
      : schedule_(std::move(schedule)), state_(model, schedule_, schedule_, rates) {}

  static Segmented independent(const Model& model) {
    constexpr bool has_chains = (std::is_same_v<ChainGroup, Kinds> || ...);
    return Segmented(
        model, RowLanes<T>::size,
        has_chains ? composite_chains_of(model) : ChainPlan(model, ChainJoints(model)));
  }

  Segmented schedule_;
  CompositeState<T> state_;
};

template <class T>
using CompositeBodies =
    CompositeBodiesOver<T, ChainGroup, PlainRun, FloatingBase, ClusterOnOne, ClusterOnSeveral>;

}  // namespace espalier
