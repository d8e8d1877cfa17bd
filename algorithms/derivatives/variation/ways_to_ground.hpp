#pragma once

#include <algorithm>
#include <initializer_list>
#include <utility>
#include <vector>

#include "algorithms/derivatives/variation/lanes/path_lanes.hpp"
#include "algorithms/derivatives/variation/variation_state.hpp"

namespace espalier {

/// Which columns carry each body, in which order clusters are visited, and which entries of a
/// matrix over rates are always zero: the sparsity of a tree, planned once.
class WaysToGround {
 public:
  using Step = PathLanes::Step;

  template <class T>
  explicit WaysToGround(const VariationState<T>& s) : model_(s.model()) {
    list_paths(s);
    order_clusters(s);
    list_unrelated();
  }

  /// Columns of a body and of those that carry it, but a floating root's, which are unit vectors.
  const std::vector<Step>& path(int body) const { return paths_[body]; }
  /// First coordinate of the floating root that carries a body, -1 for none.
  int base(int body) const { return base_[body]; }
  /// Clusters, depth first.
  const std::vector<int>& order() const { return order_; }
  /// For each cluster of order(): the body whose path it visits in lanes, 0 for none.
  const std::vector<int>& visited() const { return visited_; }
  /// All paths, by body.
  const std::vector<std::vector<Step>>& paths() const { return paths_; }

  /// Sets entries of coordinates of which none carries the other to zero.
  template <class T>
  void clear_unrelated(std::initializer_list<T*> matrices) const {
    for (T* out : matrices) {
      for (const auto& [begin, end] : unrelated_) std::fill(out + begin, out + end, T(0.0));
    }
  }
  /// Sets entries of a cluster's coordinates with one another and with those that carry them to
  /// zero, for sums.
  template <class T>
  void clear(const Cluster& c, std::initializer_list<T*> matrices) const {
    const long n = model_.nv();
    for (T* out : matrices) {
      if (out == nullptr) continue;
      for (long row = c.v; row < c.v + c.nv; ++row) {
        for (long j = c.v; j < c.v + c.nv; ++j) out[row * n + j] = T(0.0);
        for (const long j : related_[&c - model_.clusters().data()]) {
          out[row * n + j] = out[j * n + row] = T(0.0);
        }
      }
    }
  }

 private:
  template <class T>
  void list_paths(const VariationState<T>& s) {
    const int n = model_.active_body_count();
    paths_.resize(n + 1), base_.assign(n + 1, -1);
    for (int i = 1; i <= n; ++i) {
      const Cluster& c = model_.clusters()[model_.body(i).cluster];
      if (s.is_free_root(i)) {
        base_[i] = c.v;
        continue;
      }
      for (int k = 0; k < c.nv; ++k) {
        paths_[i].push_back({static_cast<int>(s.columns(i) - s.column.data()) + k, c.v + k});
      }
      const int o = s.support(i);
      if (o == 0) continue;
      paths_[i].insert(paths_[i].end(), paths_[o].begin(), paths_[o].end());
      base_[i] = base_[o];
    }
  }

  template <class T>
  void order_clusters(const VariationState<T>& s) {
    const auto& clusters = model_.clusters();
    std::vector<std::vector<int>> children(clusters.size() + 1);
    for (std::size_t k = clusters.size(); k-- > 0;) {
      children[clusters[k].parent + 1].push_back(static_cast<int>(k));
    }
    std::vector<int> next = children[0];
    related_.resize(clusters.size());
    while (!next.empty()) {
      const int k = next.back();
      next.pop_back();
      order_.push_back(k);
      const bool lanes = s.is_plain(clusters[k]) && clusters[k].nv == 1;
      visited_.push_back(lanes ? s.support(clusters[k].first) : 0);
      next.insert(next.end(), children[k + 1].begin(), children[k + 1].end());
      for (int p = clusters[k].parent; p >= 0; p = clusters[p].parent) {
        for (int j = 0; j < clusters[p].nv; ++j) related_[k].push_back(clusters[p].v + j);
      }
    }
  }
  void list_unrelated() {
    const long n = model_.nv();
    std::vector<bool> related(n * n, false);
    for (std::size_t k = 0; k < related_.size(); ++k) {
      const Cluster& c = model_.clusters()[k];
      for (long i = c.v; i < c.v + c.nv; ++i) {
        for (long j = c.v; j < c.v + c.nv; ++j) related[i * n + j] = true;
        for (const long j : related_[k]) related[i * n + j] = related[j * n + i] = true;
      }
    }
    for (long e = 0; e < n * n; ++e) {
      if (related[e]) continue;
      if (!unrelated_.empty() && unrelated_.back().second == e) {
        ++unrelated_.back().second;
      } else {
        unrelated_.push_back({e, e + 1});
      }
    }
  }

  const Model& model_;
  std::vector<std::vector<Step>> paths_;
  std::vector<int> base_;
  std::vector<int> order_, visited_;
  std::vector<std::vector<int>> related_;         ///< per cluster: the coordinates that carry it
  std::vector<std::pair<long, long>> unrelated_;  ///< entries of matrices that are always zero
};

}  // namespace espalier
