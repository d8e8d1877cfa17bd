#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "algorithms/input_matrix/acting_columns.hpp"
#include "algorithms/input_matrix/columns/column_plan.hpp"
#include "algorithms/segments/articulated_tree/articulated_tree.hpp"

namespace espalier {

/// Blocks [begin, end) at a node, which are treated alike.
struct ColumnStep {
  int begin, end;
  bool passes;  ///< inward
  bool driven;  ///< with forces on the node's rates
  bool first;   ///< the first to write on the node's supporting body, or on a base that floats
  bool idle = false;  ///< outward: nothing acts on the node's chain

  /// Appends a step of one block, or extends the last one where alike(last).
  template <class Alike>
  static void add(std::vector<ColumnStep>& steps, const ColumnStep& s, Alike&& alike) {
    if (!steps.empty() && alike(steps.back())) {
      ++steps.back().end;
    } else {
      steps.push_back(s);
    }
  }
};

/// Whether a block goes inward.
inline bool passes(const std::vector<ColumnStep>& steps, int block) {
  return std::any_of(steps.begin(), steps.end(), [&](const ColumnStep& s) {
    return s.passes && block >= s.begin && block < s.end;
  });
}

/// Steps outward at a node.
/// @param inward  its own  @param root  of the first node of its chain, or nullptr: in no chain
inline std::vector<ColumnStep> steps_outward(const std::vector<ColumnStep>& inward,
                                             const std::vector<ColumnStep>* root, int blocks) {
  std::vector<ColumnStep> steps;
  for (int b = 0; b < blocks; ++b) {
    const bool idle = root != nullptr && !passes(*root, b);
    const ColumnStep s{b, b + 1, passes(inward, b), false, false, idle};
    ColumnStep::add(steps, s, [&](const ColumnStep& last) {
      return last.passes == s.passes && last.idle == s.idle;
    });
  }
  return steps;
}

/// Where each column acts.
struct InputNodes {
  InputNodes(const Model& model, const ActingColumns& inputs)
      : node(inputs.size(), -1), drives(inputs.size(), false), motors(inputs.motors()) {
    for (const InputColumns::Motor& motor : inputs.motors()) {
      node[motor.column] = model.body(model.joint_of_rate(motor.rate).body).cluster;
      drives[motor.column] = true;
    }
    for (const Task::Part& part : inputs.contacts()) {
      for (int k = 0; k < part.size() && part.body != 0; ++k) {
        node[part.first + k] = model.body(part.body).cluster;
      }
    }
  }
  template <class T>
  ColumnPlan plan(const ArticulatedTree<T>& tree, const ChainPlan& chains) const {
    std::vector<int> parent, chain;
    for (const auto& n : tree.nodes()) {
      parent.push_back(n.parent);
      chain.push_back(chains.chain_of[n.cluster->first]);
    }
    return {parent, node, drives, chain, RowLanes<T>::size};
  }
  std::vector<int> node;     ///< -1: nowhere
  std::vector<bool> drives;  ///< whether on rates
  std::span<const InputColumns::Motor> motors;
};

}  // namespace espalier
