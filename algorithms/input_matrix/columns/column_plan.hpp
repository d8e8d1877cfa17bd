#pragma once

#include <algorithm>
#include <numeric>
#include <vector>

namespace espalier {

/// Where the columns of an input matrix stand in lanes, and which of them pass a node on the way
/// to the ground. Columns are sorted along the tree, depth first, so that those that come from a
/// node or from beyond it stand side by side and blocks of lanes are skipped where nothing acts.
/// One more column is that of the robot without inputs: it passes all nodes.
struct ColumnPlan {
  /// Blocks [begin, end) that pass a node.
  struct Segment {
    int begin, end;
    bool driven;  ///< whether some of them act on the node's own rates
  };

  /// @param parent  of each node, lower numbers first; -1: none
  /// @param node    of each column, where it acts; -1: nowhere
  /// @param drives  whether a column acts on rates of its node
  /// @param chain   of each node, -1: in none; columns of a chain share no block with the one
  /// before
  ///                where they need one less for it
  /// @param lanes   of a block
  ColumnPlan(const std::vector<int>& parent, const std::vector<int>& node,
             const std::vector<bool>& drives, const std::vector<int>& chain, int lanes) {
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
    set_places(order, node, chain, lanes);

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
  std::vector<int> place;                      ///< per column, counted in lanes
  int free = 0;                                ///< of the column without inputs
  std::vector<std::vector<Segment>> segments;  ///< per node

 private:
  void set_places(const std::vector<int>& order, const std::vector<int>& node,
                  const std::vector<int>& chain, int lanes) {
    const int columns = static_cast<int>(order.size());
    const auto chain_of = [&](int k) { return node[order[k]] < 0 ? -1 : chain[node[order[k]]]; };
    const auto blocks_of = [&](int size) { return (size + lanes - 1) / lanes; };
    place.resize(columns);
    free = -1;
    int next = 0;
    for (int k = 0, end = 0; k < columns; k = end) {
      for (end = k + 1; end < columns && chain_of(end) == chain_of(k);) ++end;
      const int count = end - k, used = next % lanes;
      if (chain_of(k) >= 0 && blocks_of(used + count) > blocks_of(count)) {
        if (free < 0) free = next;
        next += lanes - used;
      }
      for (int i = k; i < end; ++i) place[order[i]] = next++;
    }
    if (free < 0) free = next++;
    blocks = blocks_of(next);
  }
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
