#pragma once

#include <span>
#include <string>
#include <vector>

#include "espalier/kernel/export.hpp"

namespace espalier::graph {

class ConnectivityGraph;

/// Which joints to keep in the tree and which to cut, where there is a choice.
struct TreeOptions {
  std::vector<int> preferred_in_tree;  ///< joints; kept unless they close a cycle among themselves
  std::vector<int> preferred_cut;      ///< joints; cut unless a body hangs on nothing else
};

/// A spanning tree of the connectivity graph, rooted at body 0; bodies keep the graph's numbers.
///
/// Source: Featherstone (2008), section 4.1.
class ESPALIER_API SpanningTree {
 public:
  int body_count() const { return static_cast<int>(parent_.size()); }  ///< with the ground

  int parent(int body) const { return parent_[body]; }  ///< body; -1 for the ground
  int joint(int body) const { return joint_[body]; }  ///< that the body hangs on; -1 for the ground
  /// Whether the body's joint leads from the body (its predecessor) to the body's parent.
  bool reversed(int body) const { return reversed_[body] != 0; }
  int depth(int body) const { return depth_[body]; }  ///< number of joints down from the ground
  /// Bodies that hang on this one, in the order of their joints.
  std::span<const int> children(int body) const {
    return std::span(children_).subspan(first_child_[body],
                                        first_child_[body + 1] - first_child_[body]);
  }
  /// The body that hangs on the joint; -1 if the joint is cut.
  int child(int joint) const { return child_[joint]; }
  /// Joints outside the tree: loop joints, and joints that close a cycle; ascending.
  std::span<const int> cut_joints() const { return cut_joints_; }

  /// All bodies depth first, parents before children; the ground is first.
  std::span<const int> preorder() const { return preorder_; }
  int preorder_index(int body) const { return preorder_index_[body]; }  ///< its place there

  /// Whether `body` is `ancestor` or hangs below it.  Cost: O(1).
  bool supports(int ancestor, int body) const {
    return preorder_index_[ancestor] <= preorder_index_[body] &&
           preorder_index_[body] < preorder_index_[ancestor] + size_[ancestor];
  }
  /// Deepest body that supports both.  Cost: O(log n).
  int nearest_common_ancestor(int a, int b) const;
  /// Bodies from just below `ancestor` down to `body`; empty if they are the same.
  /// @pre supports(ancestor, body)
  std::vector<int> path(int ancestor, int body) const;

 private:
  friend ESPALIER_API SpanningTree spanning_tree(const ConnectivityGraph&, const TreeOptions&);

  std::vector<int> parent_, joint_, depth_, child_, cut_joints_;
  std::vector<char> reversed_;
  std::vector<int> children_, first_child_;
  std::vector<int> preorder_, preorder_index_, size_;  ///< size_: bodies in the subtree
  std::vector<int> head_;  ///< top of the heavy path that the body is on
};

/// Chooses a spanning tree.
///
/// First come, first served: a body hangs on the first joint that names it as successor; then
/// joints that still connect something are taken against their direction, in order; what closes a
/// cycle is cut. Preferred joints come before all others, joints preferred as cut after them.
/// Cost: O(n) up to the inverse Ackermann function.
/// @throws InvalidModel if joints do not connect all bodies to the ground (names them), if an
///         option names an unknown joint, a loop joint as part of the tree, or one joint as both
ESPALIER_API SpanningTree spanning_tree(const ConnectivityGraph& graph,
                                        const TreeOptions& options = {});

/// The cycle that a cut joint closes in the spanning tree.
struct FundamentalCycle {
  int joint = 0;                    ///< the cut joint
  int ancestor = 0;                 ///< nearest common ancestor of the two bodies that it joins
  std::vector<int> to_predecessor;  ///< bodies from below the ancestor to the joint's predecessor
  std::vector<int> to_successor;    ///< and to its successor; one of the two may be empty
};

/// One cycle for every cut joint, in the order of tree.cut_joints().  Cost: O(result).
/// Source: Featherstone (2008), section 4.1; Jain (2012).
ESPALIER_API std::vector<FundamentalCycle> fundamental_cycles(const ConnectivityGraph& graph,
                                                              const SpanningTree& tree);

/// Graphviz of the spanning tree: bodies and the joints that they hang on.
ESPALIER_API std::string tree_dot(const ConnectivityGraph& graph, const SpanningTree& tree);

}  // namespace espalier::graph
