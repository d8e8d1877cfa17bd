#pragma once

#include <vector>

#include "algorithms/input_matrix/columns/column_state.hpp"
#include "algorithms/input_matrix/columns/column_steps.hpp"
#include "algorithms/input_matrix/columns/hinge_chains.hpp"

namespace espalier {

/// Columns through revolute joints of an articulated tree.
/// Source: theory/input-matrix 3.1.
template <class T>
class HingeColumns {
 public:
  using V = typename RowLanes<T>::V;

  HingeColumns(const ArticulatedTree<T>& tree, ColumnState<T>& state)
      : tree_(tree), state_(state), chains_(tree) {}
  HingeChains<T>& chains() { return chains_; }

  void inward(int n, const std::vector<ColumnStep>& steps) {
    chains_.look_at(n);
    for (const ColumnStep& s : steps) {
      if (s.passes) inward_hinge(n, s);
    }
  }
  /// @param moves  whether others need the body's motion
  void outward(int n, const std::vector<ColumnStep>& steps, bool moves) {
    chains_.carry(n);
    for (const ColumnStep& s : steps) {
      if (s.idle) {
        follow(n, s);
      } else {
        outward_hinge(n, s, moves);
      }
    }
  }

 private:
  void follow(int n, const ColumnStep& s) {
    const auto& chain = chains_.chain(n);
    if (chain.base == 0) return;  // at rest
    const Force<T> g = chain.g;
    const Motion<V>* a = state_.motion(chain.base);
    V* eta = state_.rate(tree_.nodes()[n].v);
    for (int b = s.begin; b < s.end; ++b) eta[b] = dot(a[b], g);
  }

  void inward_hinge(int n, const ColumnStep& s) {
    if (s.driven) {
      s.first ? inward_hinge<true, true>(n, s) : inward_hinge<true, false>(n, s);
    } else {
      s.first ? inward_hinge<false, true>(n, s) : inward_hinge<false, false>(n, s);
    }
  }
  template <bool driven, bool first>
  void inward_hinge(int n, const ColumnStep& s) {
    const auto& node = tree_.nodes()[n];
    const auto h = chains_.hinge(n);
    const Force<V>* K = state_.wrenches(node.body);
    Force<V>* out = node.supports.empty() ? nullptr : state_.wrenches(node.supports[0]);
    const V* forces = state_.force(node.v);
    V* z = state_.rate(node.v);
    for (int b = s.begin; b < s.end; ++b) {
      const Force<V> k = K[b];
      V Kq = dot(h.S, k.n);
      if constexpr (driven) Kq += forces[b];
      z[b] = h.D * Kq;
      if (out == nullptr) continue;
      const Force<V> rest{k.n + cross(h.x, k.f) - scale(Kq, h.DU.n), k.f - scale(Kq, h.DU.f)};
      if constexpr (first) {
        out[b] = rest;
      } else {
        out[b] += rest;
      }
    }
  }

  void outward_hinge(int n, const ColumnStep& s, bool moves) {
    if (!moves) {
      s.passes ? outward_hinge<true, false>(n, s) : outward_hinge<false, false>(n, s);
    } else {
      s.passes ? outward_hinge<true, true>(n, s) : outward_hinge<false, true>(n, s);
    }
  }
  template <bool passes, bool moving>
  void outward_hinge(int n, const ColumnStep& s) {
    const auto& node = tree_.nodes()[n];
    const auto h = chains_.hinge(n);
    const Motion<V>* a = state_.motion(node.supports.empty() ? 0 : node.supports[0]);
    Motion<V>* own = state_.motion(node.body);
    V* eta = state_.rate(node.v);
    for (int b = s.begin; b < s.end; ++b) {
      const Motion<V> m = a[b];
      const V rate = passes ? eta[b] - dot(m, h.DU) : -dot(m, h.DU);
      eta[b] = rate;
      if constexpr (moving) own[b] = {m.w + scale(rate, h.S), m.v + cross(m.w, h.x)};
    }
  }

  const ArticulatedTree<T>& tree_;
  ColumnState<T>& state_;
  HingeChains<T> chains_;
};

}  // namespace espalier
