#pragma once

#include <algorithm>
#include <vector>

#include "algorithms/chains/lanes.hpp"
#include "algorithms/segments/articulated_tree/tree_state.hpp"
#include "algorithms/segments/schedule.hpp"

namespace espalier {

/// Segments of an articulated tree, level by level: branches take turns, so that the processor has
/// several chains of operations to work on at once. Bodies of a level on revolute joints stand in
/// the lanes of a pack, and their children in the same lanes (chains/lanes.hpp).
template <class T>
class TreeSchedule : public Segments<RevoluteRow, RevoluteBody, PrismaticBody, FreeBody, JointBody,
                                     TiedBodies, TiedOnSeveral> {
 public:
  /// @param state  with its nodes; its rows are made here
  explicit TreeSchedule(TreeState<T>& state) : row_of_(state.nodes.size(), -1) {
    std::vector<int> nodes = by_levels(state);
    make_rows(state, nodes);
    order_places(state, nodes);
    add_segments(state, nodes);
  }

  /// Nodes in the order of their segments, from the ground outward.
  const std::vector<int>& order() const { return order_; }
  /// The segment that is due inward when a node is met in reversed order; -1: none, it was due
  /// with another node of its row.
  int segment_at(int node) const { return segment_at_[node]; }
  /// Bodies in the order in which they are placed; rows as -1 - index.
  const std::vector<int>& places() const { return places_; }

 private:
  std::vector<int> by_levels(const TreeState<T>& state) {
    level_of_.assign(state.nodes.size(), 0);
    std::vector<int> nodes;
    for (std::size_t i = 0; i < state.nodes.size(); ++i) {
      const Cluster& c = *state.nodes[i].cluster;
      if (!state.in_chain[c.first]) nodes.push_back(static_cast<int>(i));
      if (c.parent >= 0) level_of_[i] = level_of_[c.parent] + 1;
    }
    std::stable_sort(nodes.begin(), nodes.end(),
                     [&](int a, int b) { return level_of_[a] < level_of_[b]; });
    return nodes;
  }

  void make_rows(TreeState<T>& state, const std::vector<int>& nodes) {
    constexpr int lanes = BodyRow<T>::lanes;
    std::vector<ChainLanes::Candidate> candidates;
    for (const int n : nodes) {
      const TreeNode& node = state.nodes[n];
      if (node.kind != TreeNode::Kind::revolute) continue;
      candidates.push_back({node.body, state.body[node.body].parent, level_of_[n]});
    }
    const ChainLanes chains(candidates, lanes);
    for (const ChainLanes::Group& from : chains.groups()) {
      BodyRow<T> g;
      g.before = from.before;
      int used = -1;
      for (int k = lanes; k-- > 0;) used = from.body[k] >= 0 ? k : used;
      g.all_follow = g.before >= 0;
      for (int k = 0; k < lanes; ++k) {
        const bool idle = from.body[k] < 0;
        const int i = idle ? from.body[used] : from.body[k], n = state.body[i].node;
        g.set_constants(k, idle ? RigidInertia<double>::zero() : state.body[i].inertia,
                        idle ? 1.0 : state.nodes[n].inertia);
        g.source[k] = i, g.parent[k] = state.body[i].parent, g.collector[k] = 0;
        g.follows[k] = from.follows[k];
        row_of<T>(&g.share, k) = T(g.follows[k] ? 1.0 : 0.0);
        if (idle) continue;
        g.all_follow = g.all_follow && g.follows[k];
        g.lane[g.size] = k, g.body[g.size] = i, ++g.size;
        row_of_[n] = static_cast<int>(state.rows.size());
        g.gears = g.gears || state.nodes[n].gears > 0;
      }
      state.rows.push_back(g);
    }
    for (std::size_t n = 0; n < state.nodes.size(); ++n) {
      const int row = row_of_[n];
      if (row >= 0 && state.rows[row].follows_before(state.nodes[n].body)) continue;
      for (const int o : state.nodes[n].supports) {  // who hands its inertia over by itself
        const int on = row_of_[state.body[o].node];
        if (on >= 0) state.rows[on].collect(o);
      }
    }
  }

  void order_places(const TreeState<T>& state, const std::vector<int>& nodes) {
    std::vector<bool> placed(state.rows.size(), false);
    for (const int n : nodes) {
      const Cluster& c = *state.nodes[n].cluster;
      const int row = row_of_[n];
      for (int i = c.first; i < c.first + c.count; ++i) {
        if (state.is_welded(i)) continue;
        if (row < 0) {
          places_.push_back(i);
        } else if (!placed[row]) {
          places_.push_back(-row - 1);
          placed[row] = true;
        }
      }
    }
  }

  void add_segments(const TreeState<T>& state, const std::vector<int>& nodes) {
    std::vector<int> last(state.rows.size(), -1);  // node of a row
    for (const int n : nodes) {
      if (row_of_[n] >= 0) last[row_of_[n]] = n;
    }
    segment_at_.assign(state.nodes.size(), -1);
    int count = 0;
    for (const int n : nodes) {
      const int row = row_of_[n];
      if (row >= 0 && last[row] != n) continue;
      if (row >= 0) {
        this->add(RevoluteRow{row});
        for (const int m : nodes) {
          if (row_of_[m] == row) order_.push_back(m);
        }
      } else {
        add_node(state.nodes[n].kind, n);
        order_.push_back(n);
      }
      segment_at_[n] = count++;
    }
    this->sort();
  }
  void add_node(TreeNode::Kind kind, int n) {
    switch (kind) {
      case TreeNode::Kind::revolute:
        return this->add(RevoluteBody{n});
      case TreeNode::Kind::prismatic:
        return this->add(PrismaticBody{n});
      case TreeNode::Kind::free:
        return this->add(FreeBody{n});
      case TreeNode::Kind::joint:
        return this->add(JointBody{n});
      case TreeNode::Kind::cluster:
        return this->add(TiedBodies{n});
      case TreeNode::Kind::multi_support:
        return this->add(TiedOnSeveral{n});
    }
  }

  std::vector<int> level_of_, row_of_;  ///< per node
  std::vector<int> order_, segment_at_, places_;
};

}  // namespace espalier
