#pragma once

#include <array>
#include <vector>

#include "algorithms/segments/articulated_tree/articulated_tree.hpp"

namespace espalier {

/// Revolute joints of an articulated tree as a few numbers each, for the inner loops of sweeps with
/// many columns; and chains, chains of such joints that end in a leaf. What does not act on a chain
/// moves it through its base alone, which takes six numbers for each rate instead of the motions of
/// its bodies.
/// Frames: those of ArticulatedTree.
template <class T>
class HingeChains {
 public:
  using V = typename RowLanes<T>::V;
  static constexpr int lanes = RowLanes<T>::size;
  static constexpr int unit_blocks = (6 + lanes - 1) / lanes;
  /// Six motions, in lanes.
  using UnitMotions = std::array<Motion<V>, unit_blocks>;

  /// A revolute joint as it is seen from its supporting body.
  struct Hinge {
    Vec3<T> S, x;  ///< axis, and place from that body's origin
    Force<T> DU;   ///< D^-1 U^T: minus the rate for unit motions of that body
    T D;           ///< D^-1
  };
  struct Chain {
    int root = -1;  ///< its first node; -1: the node is in no chain
    int base = 0;   ///< body that it hangs on; 0: the ground, where it stays at rest
    Force<T> g;     ///< rate for unit motions of the base
  };

  explicit HingeChains(const ArticulatedTree<T>& tree)
      : tree_(tree),
        hinges_(tree.nodes().size()),
        chains_(tree.nodes().size()),
        carried_(tree.nodes().size()) {
    for (Motion<V>& m : units_) m = Motion<V>::zero();
    for (int i = 0; i < 6; ++i) row_of<T>(&units_[i / lanes][i], i % lanes) = T(1.0);
  }
  /// @param hinge    nodes that are treated as revolute joints
  /// @param watched  nodes whose motion is needed for all columns
  void find(const std::vector<bool>& hinge, const std::vector<bool>& watched) {
    is_hinge_ = hinge;
    const auto& nodes = tree_.nodes();
    const int count = static_cast<int>(nodes.size());
    std::vector<int> children(count, 0);
    for (const auto& node : nodes) {
      if (node.parent >= 0) ++children[node.parent];
    }
    const auto fits = [&](int n) { return n >= 0 && hinge[n] && children[n] <= 1 && !watched[n]; };
    for (int leaf = 0; leaf < count; ++leaf) {
      if (children[leaf] > 0 || !fits(leaf)) continue;
      int root = leaf;
      while (fits(nodes[root].parent)) root = nodes[root].parent;
      const auto& supports = nodes[root].supports;
      for (int n = leaf;; n = nodes[n].parent) {
        chains_[n].root = root;
        chains_[n].base = supports.empty() ? 0 : supports[0];
        if (n == root) break;
      }
    }
  }

  bool is_hinge(int node) const { return is_hinge_[node]; }
  const Hinge& hinge(int node) const { return hinges_[node]; }
  const Chain& chain(int node) const { return chains_[node]; }
  /// The unit motions.
  const UnitMotions& units() const { return units_; }

  /// Numbers of a hinge at the tree's last update.
  void look_at(int n) {
    const auto& node = tree_.nodes()[n];
    Hinge& h = hinges_[n];
    h.S = tree_.attitude(node.body).row[2];
    h.D = tree_.D(node);
    h.x = Vec3<T>::zero(), h.DU = Force<T>::zero();
    if (node.supports.empty()) return;
    h.x = tree_.offset(node.body);
    h.DU = scale(h.D, tree_.U(node));
  }
  /// What unit motions of a chain's base do to a node's rate and body, after its parent.
  void carry(int n) {
    Chain& chain = chains_[n];
    if (chain.root < 0 || chain.base == 0) return;
    const Hinge& h = hinges_[n];
    const UnitMotions& before = chain.root == n ? units_ : carried_[tree_.nodes()[n].parent];
    for (int b = 0; b < unit_blocks; ++b) {
      const Motion<V> m = before[b];
      const V rate = -dot(m, h.DU);
      carried_[n][b] = {m.w + scale(rate, h.S), m.v + cross(m.w, h.x)};
      for (int k = 0; k < lanes && b * lanes + k < 6; ++k) {
        chain.g[b * lanes + k] = row_of<T>(&rate, k);
      }
    }
  }

 private:
  const ArticulatedTree<T>& tree_;
  std::vector<bool> is_hinge_;
  std::vector<Hinge> hinges_;
  std::vector<Chain> chains_;
  UnitMotions units_;
  std::vector<UnitMotions> carried_;  ///< per node of a chain
};

}  // namespace espalier
