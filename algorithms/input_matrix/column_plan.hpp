#pragma once

#include <algorithm>
#include <numeric>
#include <vector>

namespace espalier {

/// Where the columns of an input matrix stand in lanes, and which of them pass a node on the way
/// to the ground. Columns are sorted along the tree, depth first, so that those that come from a
/// node or from beyond it stand side by side and blocks of lanes are skipped where nothing acts. One
/// more column, the last, is that of the robot without inputs: it passes all nodes.
struct ColumnPlan {
  /// Blocks [begin, end) that pass a node.
  struct Segment {
    int begin, end;
    bool driven;  ///< whether some of them act on the node's own rates
  };

  /// @param parent  of each node, lower numbers first; -1: none
  /// @param node    of each column, where it acts; -1: nowhere
  /// @param drives  whether a column acts on rates of its node
  /// @param lanes   of a block
  ColumnPlan(const std::vector<int>& parent, const std::vector<int>& node,
             const std::vector<bool>& drives, int lanes) {
    const int nodes = static_cast<int>(parent.size()), columns = static_cast<int>(node.size());
    const std::vector<int> rank = depth_first(parent);
    std::vector<int> size(nodes, 1);  // of the subtree
    for (int i = nodes; i-- > 0;) {
      if (parent[i] >= 0) size[parent[i]] += size[i];
    }
    const auto key = [&](int c) {
      return node[c] < 0 ? 2 * nodes : 2 * rank[node[c]] + (drives[c] ? 0 : 1);
    };
    std::vector<int> order(columns);
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return key(a) < key(b); });
    place.resize(columns);
    for (int k = 0; k < columns; ++k) place[order[k]] = k;
    free = columns;
    blocks = columns / lanes + 1;

    segments.resize(nodes);
    for (int i = 0; i < nodes; ++i) {
      // 0: does not pass, 1: passes, 2: passes and drives
      std::vector<int> what(blocks, 0);
      for (const int c : order) {
        if (node[c] < 0 || rank[node[c]] < rank[i] || rank[node[c]] >= rank[i] + size[i]) continue;
        int& at = what[place[c] / lanes];
        at = std::max(at, drives[c] && node[c] == i ? 2 : 1);
      }
      what[free / lanes] = 2;
      for (int b = 0; b < blocks; ++b) {
        if (what[b] == 0) continue;
        if (b > 0 && what[b - 1] == what[b]) {
          ++segments[i].back().end;
        } else {
          segments[i].push_back({b, b + 1, what[b] == 2});
        }
      }
    }
  }

  int blocks = 0;
  std::vector<int> place;  ///< per column, counted in lanes
  int free = 0;            ///< of the column without inputs
  std::vector<std::vector<Segment>> segments;  ///< per node

 private:
  /// Rank of each node when branches are followed to their ends.
  static std::vector<int> depth_first(const std::vector<int>& parent) {
    const int nodes = static_cast<int>(parent.size());
    std::vector<std::vector<int>> children(nodes + 1);  // the last: of the ground
    for (int i = nodes; i-- > 0;) children[parent[i] < 0 ? nodes : parent[i]].push_back(i);
    std::vector<int> rank(nodes), stack = children[nodes];
    for (int next = 0; !stack.empty(); ++next) {
      const int i = stack.back();
      stack.pop_back();
      rank[i] = next;
      stack.insert(stack.end(), children[i].begin(), children[i].end());
    }
    return rank;
  }
};

}  // namespace espalier
