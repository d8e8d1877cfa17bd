#pragma once

#include <algorithm>
#include <vector>

#include "algorithms/input_matrix/columns/column_state.hpp"
#include "algorithms/input_matrix/columns/column_steps.hpp"
#include "algorithms/segments/articulated_tree/articulated_tree.hpp"

namespace espalier {

/// Columns through nodes of any kind of an articulated tree.
/// Source: theory/input-matrix 3.1 and theory/clusters 5.6.
template <class T>
class NodeColumns {
 public:
  using V = typename RowLanes<T>::V;

  NodeColumns(const ArticulatedTree<T>& tree, ColumnState<T>& state)
      : tree_(tree), state_(state), blocks_(state.blocks) {}
  /// @param sites  per node: its bodies that wrenches act on
  void resize(const std::vector<std::vector<int>>& sites) {
    std::size_t widest = 1;
    for (std::size_t n = 0; n < sites.size(); ++n) {
      widest = std::max({widest, sites[n].size(), tree_.nodes()[n].supports.size()});
    }
    const std::size_t B = blocks_;
    K_.resize(widest * B), out_.resize(widest * B), supports_.resize(widest * B);
    for (auto* x : {&Kq_, &z_, &extra_}) x->resize(tree_.largest_node() * B);
  }

  /// @param first  per support and block: the first to write there
  void inward(int n, const std::vector<ColumnStep>& steps, const std::vector<int>& sites,
              const std::vector<bool>& first) {
    for (const ColumnStep& s : steps) {
      if (s.passes) inward(n, s, sites, first);
    }
  }
  void inward(int n, const ColumnStep& s, const std::vector<int>& sites,
              const std::vector<bool>& first) {
    const auto& node = tree_.nodes()[n];
    const int B = s.end - s.begin;
    const Force<V>* K = K_.data();
    if (sites.size() == 1) {
      K = state_.wrenches(sites[0]) + s.begin;
    } else {
      for (std::size_t i = 0; i < sites.size(); ++i) {
        std::copy_n(state_.wrenches(sites[i]) + s.begin, B, K_.data() + i * B);
      }
    }
    V* own = state_.rate(node.v) + s.begin;
    const V* forces = state_.force(node.v) + s.begin;
    if (node.n == 1) {
      tree_.inward(node, sites, B, K, Kq_.data(), own, out_.data(), s.driven ? forces : nullptr);
    } else {
      if (s.driven) {
        for (int j = 0; j < node.n; ++j) {
          std::copy_n(forces + j * blocks_, B, extra_.data() + j * B);
        }
        tree_.from_rates(node, B, extra_.data());
      }
      tree_.inward(node, sites, B, K, Kq_.data(), z_.data(), out_.data(),
                   s.driven ? extra_.data() : nullptr);
      for (int j = 0; j < node.n; ++j) std::copy_n(z_.data() + j * B, B, own + j * blocks_);
    }
    for (std::size_t o = 0; o < node.supports.size(); ++o) {
      Force<V>* F = state_.wrenches(node.supports[o]) + s.begin;
      for (int b = 0; b < B; ++b) {
        write(F[b], out_[o * B + b], first[o * blocks_ + s.begin + b]);
      }
    }
  }

  void outward(int n, const std::vector<ColumnStep>& steps, const std::vector<int>& moving) {
    const auto& node = tree_.nodes()[n];
    V* eta = state_.rate(node.v);
    for (const ColumnStep& s : steps) {
      for (int j = 0; j < node.n && !s.passes; ++j) {
        std::fill(eta + j * blocks_ + s.begin, eta + j * blocks_ + s.end, V(0.0));
      }
    }
    const Motion<V>* a = nullptr;
    if (node.supports.size() == 1) {
      a = state_.motion(node.supports[0]);
    } else {
      for (std::size_t o = 0; o < node.supports.size(); ++o) {
        std::copy_n(state_.motion(node.supports[o]), blocks_, supports_.data() + o * blocks_);
      }
      a = supports_.data();
    }
    tree_.outward(node, blocks_, a, eta);
    for (const int body : moving) {
      tree_.motion_of(node, body, blocks_, a, eta, state_.motion(body));
    }
    tree_.to_rates(node, blocks_, eta);
  }

 private:
  const ArticulatedTree<T>& tree_;
  ColumnState<T>& state_;
  int blocks_;
  std::vector<V> Kq_, z_, extra_;  ///< of one node
  std::vector<Force<V>> K_, out_;
  std::vector<Motion<V>> supports_;
};

}  // namespace espalier
