#pragma once

#include <algorithm>
#include <vector>

#include "algorithms/inverse_osim/bundles/bundle_products.hpp"

namespace espalier {

/// The inward pass of the Popov-Vereshchagin sweep: the steps of the plan (bundle_plan.hpp).
/// Source: Sathya et al. (2023), Algorithms 1 and 3; theory/delassus 4 and theory/clusters 5.6.
template <class T>
class RowBundles {
 public:
  using V = typename RowLanes<T>::V;
  using Plan = BundlePlan<T>;
  using Term = typename Plan::Term;
  using RowBundle = typename Plan::RowBundle;
  using Step = typename Plan::Step;
  static constexpr int lanes = Plan::lanes;

  explicit RowBundles(BundleState<T>& state) : state_(state), products_(state) {}

  void take(const Step& step) {
    switch (step.kind) {
      case Step::Kind::start_part:
        start_part(step);
        break;
      case Step::Kind::start_node:
        start_node(step);
        break;
      case Step::Kind::stack:
        stack(step);
        break;
      case Step::Kind::cross:
        cross(step);
        break;
    }
  }
  void start_part(const Step& step) {
    const auto& part = state_.rows.parts()[state_.plan.terms()[step.term].part];
    state_.rows.place(state_.tree, part, state_.K.data() + state_.plan.bundles()[step.bundle].K);
  }
  /// w += K Omega K^T with Omega that of the node where the bundle ends.
  void add_end(const RowBundle& p) {
    if (p.end < 0) return;
    const Term& node = state_.plan.terms()[p.end];
    const int sites = static_cast<int>(node.sites.size());
    const Force<V>* K = state_.K.data() + p.K;
    state_.times_omega(K, sites, p.blocks, p.blocks, node, node, state_.Y.data());
    for (int s = 0; s < sites; ++s) {
      for (int k = 0; k < 6; ++k) {
        for (int b = 0; b < p.blocks; ++b) {
          state_.Kq[k * p.blocks + b] = K[s * p.blocks + b][k];
          state_.z[k * p.blocks + b] = state_.Y[s * p.blocks + b][k];
        }
      }
      if (p.has_w || s > 0) {
        products_.template add_rows<false, 6>(p, 6, state_.z.data(), state_.Kq.data());
      } else {
        products_.template add_rows<true, 6>(p, 6, state_.z.data(), state_.Kq.data());
      }
    }
  }

 private:
  /// The identity: row 6 s + k is component k of the twist of site s.
  void start_node(const Step& step) {
    const RowBundle& p = state_.plan.bundles()[step.bundle];
    const int sites = static_cast<int>(step.sites.size());
    for (int s = 0; s < sites; ++s) {
      Force<V>* K = state_.K.data() + p.K + s * p.blocks;
      for (int b = 0; b < p.blocks; ++b) K[b] = Force<V>::zero();
      for (int k = 0; k < 6; ++k) {
        const int row = s * Plan::site_stride + k;
        row_of<T>(&K[row / lanes][k], row % lanes) = T(1.0);
      }
    }
  }
  void stack(const Step& step) {
    const RowBundle& p = state_.plan.bundles()[step.bundle];
    Force<V>* K = state_.K.data() + p.K;
    if (step.sites.size() > 1) {
      for (std::size_t i = 0; i < step.sites.size() * p.blocks; ++i) K[i] = Force<V>::zero();
    }
    if (step.first) std::fill_n(state_.w.data() + p.w, p.blocks * lanes * p.blocks, V(0.0));
    int start = 0;
    for (std::size_t i = 0; i < step.from.size(); ++i) {
      const RowBundle& part = state_.plan.bundles()[step.from[i]];
      for (std::size_t s = 0; s < step.slots[i].size(); ++s) {
        std::copy_n(state_.K.data() + part.K + s * part.blocks, part.blocks,
                    K + step.slots[i][s] * p.blocks + start);
      }
      const V* from = state_.w.data() + part.w;
      V* to = state_.w.data() + p.w;
      for (int row = 0; row < (step.first && part.has_w ? part.blocks * lanes : 0); ++row) {
        std::copy_n(from + row * part.blocks, row / lanes + 1,
                    to + (start * lanes + row) * p.blocks + start);
      }
      start += part.blocks;
    }
  }
  void cross(const Step& step) {
    const RowBundle& p = state_.plan.bundles()[step.bundle];
    const auto& node = state_.tree.nodes()[step.node];
    Force<V>* K = state_.K.data() + p.K;
    const bool in_place = step.sites.size() == 1 && node.supports.size() <= 1;
    Force<V>* out = in_place ? K : state_.spare.data();
    state_.tree.inward(node, step.sites, p.blocks, K, state_.Kq.data(), state_.z.data(), out);
    if (!in_place) std::copy_n(out, node.supports.size() * p.blocks, K);
    const V *x = state_.z.data(), *y = state_.Kq.data();
    if (node.n == 1 && step.from.empty() && products_.is_six(p)) {
      return step.first ? products_.template add_six<true>(p, x, y)
                        : products_.template add_six<false>(p, x, y);
    }
    BundleProducts<T>::with_rates(node.n, [&](auto n) {
      if (!step.from.empty())
        return products_.template add_stacked<n()>(p, step.from, node.n, x, y);
      step.first ? products_.template add_rows<true, n()>(p, node.n, x, y)
                 : products_.template add_rows<false, n()>(p, node.n, x, y);
    });
  }

  BundleState<T>& state_;
  BundleProducts<T> products_;
};

}  // namespace espalier
