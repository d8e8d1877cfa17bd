#pragma once

#include <algorithm>
#include <vector>

#include "algorithms/task_rows.hpp"

namespace espalier {

/// How a robot at rest answers forces: columns of M^-1 B, by one sweep inward, where forces
/// collect, and one outward, where accelerations spread. Cost: O(n m) for m columns, the size of
/// the answer; inward only on the way of each column. Frames: those of ArticulatedTree. Source:
/// Krög et al., Implicit Inversion Method in its recursive form: theory/input-matrix 3.1 and
/// theory/clusters 5.6.
template <class T>
class TreeResponse {
 public:
  using V = typename RowLanes<T>::V;

  /// Wrenches on a body, and forces on all rates, that make the columns of one answer.
  struct Load {
    std::vector<int> bodies;  ///< that wrenches act on; those on the ground are idle
    bool rates = false;       ///< whether forces act on rates
    int blocks = 1;
  };

  TreeResponse(const ArticulatedTree<T>& tree, Load load) : tree_(tree), load_(std::move(load)) {
    const std::size_t count = tree.nodes().size();
    std::vector<std::vector<int>> sites(count);
    const auto add = [&](int body) {
      if (body == 0) return;
      std::vector<int>& at = sites[tree.node_of(body)];
      if (std::find(at.begin(), at.end(), body) == at.end()) at.push_back(body);
    };
    for (const int body : load_.bodies) add(body);
    int widest = 1;
    for (std::size_t k = count; k-- > 0;) {
      const int n = tree.order()[k];
      if (sites[n].empty() && !load_.rates) continue;
      way_.push_back({n, sites[n]});
      widest = std::max(widest, static_cast<int>(sites[n].size()));
      for (const int support : tree.nodes()[n].supports) add(support);
    }
    for (const auto& node : tree.nodes()) {
      widest = std::max(widest, static_cast<int>(node.supports.size()));
    }
    const int bodies = tree.model().body_count() + 1;
    F_.resize(static_cast<std::size_t>(bodies) * load_.blocks);
    a_.resize(F_.size());
    rates_.resize(static_cast<std::size_t>(tree.model().nv()) * load_.blocks);
    Kq_.resize(static_cast<std::size_t>(tree.largest_node()) * load_.blocks);
    K_.resize(static_cast<std::size_t>(widest) * load_.blocks);
    out_.resize(K_.size());
    supports_.resize(K_.size());
    for (const auto& stop : way_) {
      for (const int body : stop.sites) touched_.push_back(body);
    }
    // Bodies whose motion others need, or the caller.
    for (const auto& node : tree.nodes()) moving_.push_back(node.parents);
    for (const int body : load_.bodies) {
      if (body != 0) add_moving(body);
    }
    std::fill(a_.begin(), a_.begin() + load_.blocks, Motion<V>::zero());
  }

  int blocks() const { return load_.blocks; }

  /// Takes all loads off.
  void clear() {
    for (const int body : touched_) {
      std::fill_n(F_.data() + static_cast<std::size_t>(body) * load_.blocks, load_.blocks,
                  Force<V>::zero());
    }
    std::fill(rates_.begin(), rates_.end(), V(0.0));
  }
  /// Wrenches on one of the bodies, about its origin, world axes: `blocks` of them.
  Force<V>* wrenches(int body) { return F_.data() + static_cast<std::size_t>(body) * load_.blocks; }
  /// Forces on the model's independent rates, nv x blocks; after solve() the accelerations.
  V* rates() { return rates_.data(); }
  /// Acceleration of one of the bodies at its origin, world axes, after solve().
  const Motion<V>* motion(int body) const {
    return a_.data() + static_cast<std::size_t>(body) * load_.blocks;
  }

  /// At the tree's last update. Loads are used up.
  void solve() {
    const int B = load_.blocks;
    for (const auto& stop : way_) {
      const auto& node = tree_.nodes()[stop.node];
      V* z = rates_.data() + static_cast<std::size_t>(node.v) * B;
      if (load_.rates) tree_.from_rates(node, B, z);
      const Force<V>* K = K_.data();
      if (stop.sites.size() == 1) {
        K = wrenches(stop.sites[0]);
      } else {
        for (std::size_t s = 0; s < stop.sites.size(); ++s) {
          std::copy_n(wrenches(stop.sites[s]), B, K_.data() + s * B);
        }
      }
      tree_.inward(node, stop.sites, B, K, Kq_.data(), z, out_.data(), load_.rates ? z : nullptr);
      for (std::size_t o = 0; o < node.supports.size(); ++o) {
        Force<V>* F = wrenches(node.supports[o]);
        for (int b = 0; b < B; ++b) F[b] += out_[o * B + b];
      }
    }
    for (const int n : tree_.order()) {
      const auto& node = tree_.nodes()[n];
      V* eta = rates_.data() + static_cast<std::size_t>(node.v) * B;
      const Motion<V>* a = nullptr;
      if (node.supports.size() == 1) {
        a = motion(node.supports[0]);
      } else {
        for (std::size_t o = 0; o < node.supports.size(); ++o) {
          std::copy_n(motion(node.supports[o]), B, supports_.data() + o * B);
        }
        a = supports_.data();
      }
      tree_.outward(node, B, a, eta);
      for (const int body : moving_[n]) {
        tree_.motion_of(node, body, B, a, eta, a_.data() + static_cast<std::size_t>(body) * B);
      }
      tree_.to_rates(node, B, eta);
    }
  }

 private:
  void add_moving(int body) {
    std::vector<int>& at = moving_[tree_.node_of(body)];
    if (std::find(at.begin(), at.end(), body) == at.end()) at.push_back(body);
  }

  const ArticulatedTree<T>& tree_;
  Load load_;
  std::vector<typename TaskRows<T>::Stop> way_;  ///< inward
  std::vector<int> touched_;                     ///< bodies that carry wrenches on the way
  std::vector<std::vector<int>> moving_;         ///< per node
  std::vector<Force<V>> F_;                      ///< per body and block
  std::vector<Motion<V>> a_;
  std::vector<V> rates_, Kq_;
  std::vector<Force<V>> K_, out_;
  std::vector<Motion<V>> supports_;
};

}  // namespace espalier
