#pragma once

#include <algorithm>
#include <vector>

#include "algorithms/input_matrix/column_state.hpp"
#include "algorithms/input_matrix/column_steps.hpp"
#include "algorithms/segments/free_body.hpp"

namespace espalier {

/// Columns through nodes of any kind of an articulated tree, and through a base that floats.
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

  /// A base that floats moves as its inverse articulated inertia says:
  ///   P = [Q, -Q B C^-1; -(Q B C^-1)^T, C^-1 + C^-1 B^T Q B C^-1],  Q = (A - B C^-1 B^T)^-1.
  void float_base(int n, const std::vector<ColumnStep>& steps) {
    const auto& node = tree_.nodes()[n];
    const Mat3<T> E = tree_.attitude(node.body);
    Force<V>* F = state_.wrenches(node.body);
    for (const ColumnStep& s : steps) {
      if (!s.driven) continue;
      for (int b = s.begin; b < s.end; ++b) {
        const V* f = state_.force(node.v) + b;
        const auto at = [&](int j) { return f[static_cast<std::size_t>(j) * blocks_]; };
        write(F[b],
              {transpose_times(E, Vec3<V>{at(0), at(1), at(2)}),
               transpose_times(E, Vec3<V>{at(3), at(4), at(5)})},
              s.first);
      }
    }
    const ArticulatedInertia<T>& IA = tree_.articulated_inertia(node.body);
    const Sym3<T> C = inverse(IA.C);
    const Mat3<T> BC{{C * IA.B.row[0], C * IA.B.row[1], C * IA.B.row[2]}};
    const auto entry = [&](int i, int j) { return dot(BC.row[i], IA.B.row[j]); };
    const Sym3<T> Q =
        inverse(Sym3<T>{IA.A.xx - entry(0, 0), IA.A.xy - entry(0, 1), IA.A.xz - entry(0, 2),
                        IA.A.yy - entry(1, 1), IA.A.yz - entry(1, 2), IA.A.zz - entry(2, 2)});
    Motion<V>* a = state_.motion(node.body);
    V* rates = state_.rate(node.v);
    const std::size_t B = blocks_;
    for (int b = 0; b < blocks_; ++b) {
      const Force<V> f = F[b];
      Motion<V> m;
      m.w = Q * (f.n - BC * f.f);
      m.v = C * f.f - transpose_times(BC, m.w);
      a[b] = m;
      const Vec3<V> w = E * m.w, v = E * m.v;
      rates[b] = w.x, rates[B + b] = w.y, rates[2 * B + b] = w.z;
      rates[3 * B + b] = v.x, rates[4 * B + b] = v.y, rates[5 * B + b] = v.z;
    }
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
