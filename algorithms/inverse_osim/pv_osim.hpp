#pragma once

#include <type_traits>
#include <vector>

#include "algorithms/inverse_osim/bundles/bundle_blocks.hpp"
#include "algorithms/inverse_osim/bundles/row_bundles.hpp"
#include "espalier/kernel/problems/operational_space/inverse_osim.hpp"

namespace espalier {

/// Inverse operational-space inertia by the inward sweep of the Popov-Vereshchagin solver: rows of
/// constraint are carried to the ground and collect on every joint what it adds to J M^-1 J^T.
/// PV-OSIM carries all rows that have met, PV-OSIMr starts again from a twist where that is
/// cheaper. On cluster trees both are the same with clusters in place of joints. Cost: O(n + m^2 d)
/// and O(n + m^2). Frames: those of ArticulatedTree. Source: Sathya et al. (2023), Algorithms 1 and
/// 3; theory/delassus 4 and theory/clusters 5.6.
template <class T>
class PvOsimBase : public InverseOsim<T> {
 public:
  using Plan = BundlePlan<T>;
  /// Where rows start again from a twist: nowhere, where that is cheaper, or wherever rows meet.
  enum class Choice { stack, least_cost, every_node };

  PvOsimBase(const Setup& setup, Choice choice)
      : PvOsimBase(setup, [&](const TaskRows<T>& rows, const ArticulatedTree<T>& tree) {
          if (choice == Choice::stack) return Plan::stacked(rows, tree);
          return choice == Choice::least_cost ? Plan::best(rows, tree)
                                              : Plan::every_node(rows, tree);
        }) {}
  /// With nodes where the caller wants them. @param starts  per body
  PvOsimBase(const Setup& setup, const std::vector<bool>& starts)
      : PvOsimBase(setup, [&](const TaskRows<T>& rows, const ArticulatedTree<T>& tree) {
          return Plan(rows, tree, starts);
        }) {}

  const Plan& plan() const { return state_.plan; }
  /// At the last evaluate().
  const ArticulatedTree<T>& tree() const { return tree_; }
  const TaskRows<T>& rows() const { return rows_; }

 private:
  template <
      class MakePlan,
      std::enable_if_t<std::is_invocable_v<MakePlan, const TaskRows<T>&, const ArticulatedTree<T>&>,
                       int> = 0>
  PvOsimBase(const Setup& setup, MakePlan&& make_plan)
      : InverseOsim<T>(setup),
        tree_(this->model(), nullptr, TaskRows<T>::rotors(this->model(), this->task())),
        rows_(this->task(), tree_),
        state_(tree_, rows_, make_plan(rows_, tree_)),
        bundles_(state_),
        blocks_(state_) {}

  void compute(const T* q, T* inverse_osim) override {
    tree_.place(q);
    auto step = state_.plan.steps().begin();
    const auto end = state_.plan.steps().end();
    for (; step != end && step->kind == Plan::Step::Kind::start_part; ++step) {
      bundles_.start_part(*step);
    }
    // Both sweeps in one: each waits for its own chain of results.
    for (std::size_t k = tree_.order().size(); k-- > 0;) {
      const int node = tree_.order()[k];
      tree_.backward_pass(node);
      for (; step != end && step->at == node; ++step) bundles_.take(*step);
    }
    for (std::size_t p = state_.plan.bundles().size(); p-- > 0;) {
      bundles_.add_end(state_.plan.bundles()[p]);
    }
    blocks_.write(inverse_osim);
  }

  ArticulatedTree<T> tree_;
  TaskRows<T> rows_;
  BundleState<T> state_;
  RowBundles<T> bundles_;
  BundleBlocks<T> blocks_;
};

template <class T>
class PvOsim final : public PvOsimBase<T> {
 public:
  explicit PvOsim(const Setup& setup) : PvOsimBase<T>(setup, PvOsimBase<T>::Choice::stack) {}
};

template <class T>
class PvOsimr final : public PvOsimBase<T> {
 public:
  explicit PvOsimr(const Setup& setup) : PvOsimBase<T>(setup, PvOsimBase<T>::Choice::least_cost) {}
};

/// PV-OSIMr with the published rule: a node wherever rows meet, whatever it costs.
template <class T>
class PvOsimrEveryNode final : public PvOsimBase<T> {
 public:
  explicit PvOsimrEveryNode(const Setup& setup)
      : PvOsimBase<T>(setup, PvOsimBase<T>::Choice::every_node) {}
};

}  // namespace espalier
