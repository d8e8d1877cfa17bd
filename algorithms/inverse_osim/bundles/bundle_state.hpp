#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "algorithms/inverse_osim/bundles/bundle_plan.hpp"

namespace espalier {

/// State of the Popov-Vereshchagin sweep: rows K of all bundles on their way inward, and what they
/// have collected, w.
/// Frames: those of ArticulatedTree.
/// Source: Sathya et al. (2023), Algorithms 1 and 3; theory/delassus 4 and theory/clusters 5.6.
template <class T>
struct BundleState {
  using V = typename RowLanes<T>::V;
  using Plan = BundlePlan<T>;
  using Term = typename Plan::Term;
  using RowBundle = typename Plan::RowBundle;
  static constexpr int lanes = Plan::lanes;

  BundleState(const ArticulatedTree<T>& articulated, const TaskRows<T>& task_rows, Plan given)
      : tree(articulated),
        rows(task_rows),
        plan(std::move(given)),
        K(plan.K_size()),
        w(plan.w_size()),
        Kq(static_cast<std::size_t>(plan.largest()) * std::max(6, tree.largest_node())),
        z(Kq.size()) {
    for (const RowBundle& p : plan.bundles()) {
      if (p.end >= 0) widest = std::max(widest, plan.terms()[p.end].sites.size());
    }
    std::size_t spread = 0;
    for (const auto& part : rows.parts()) spread += widest * part.blocks;
    Y.resize(std::max(spread, plan.largest() * widest));
    spare.resize(Y.size());
  }

  /// Entry of a bundle's w.
  const T& entry(const RowBundle& p, int i, int j) const {
    const int row = std::max(i, j), column = std::min(i, j);
    return row_of<T>(w.data() + p.w + row * p.blocks, column);
  }
  /// out = K Omega: rows on the sites of node `from` times its columns for node `to` of one bundle.
  /// @param stride  between the sites of the wrenches K; those of out lie `blocks` apart
  void times_omega(const Force<V>* wrenches, int sites, int stride, int blocks, const Term& from,
                   const Term& to, Force<V>* out) const {
    const RowBundle& p = plan.bundles()[from.bundle];
    for (std::size_t t = 0; t < to.sites.size(); ++t) {
      for (int s = 0; s < sites; ++s) {
        T omega[6][6];
        for (int c = 0; c < 6; ++c) {
          const int column = to.start * lanes + static_cast<int>(t) * Plan::site_stride + c;
          for (int k = 0; k < 6; ++k) {
            omega[c][k] = entry(p, from.start * lanes + s * Plan::site_stride + k, column);
          }
        }
        for (int b = 0; b < blocks; ++b) {
          const Force<V>& f = wrenches[s * stride + b];
          Force<V>& y = out[t * blocks + b];
          for (int c = 0; c < 6; ++c) {
            V sum = omega[c][0] * f[0];
            for (int k = 1; k < 6; ++k) sum += omega[c][k] * f[k];
            y[c] = s == 0 ? sum : y[c] + sum;
          }
        }
      }
    }
  }

  const ArticulatedTree<T>& tree;
  const TaskRows<T>& rows;
  Plan plan;
  std::vector<Force<V>> K;
  std::vector<V> w;  ///< per bundle: rows x blocks, row-major, lower triangle
  std::vector<V> Kq, z;
  std::vector<Force<V>> Y, spare;
  std::size_t widest = 1;  ///< most sites of a node where bundles end
};

}  // namespace espalier
