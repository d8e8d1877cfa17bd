#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "algorithms/derivatives/variation/mass_factor/small_inverse.hpp"
#include "espalier/kernel/model/layout.hpp"

namespace espalier {

/// Independent rates of a cluster tree by branches: stretches of up to eight rates of which each
/// carries the next and no other. Models number rates depth first, so that a branch and all that it
/// carries are one stretch each, and so are their branches.
class BranchPlan {
 public:
  struct Branch {
    int begin = 0, end = 0;                ///< rates
    int parent = -1;                       ///< branch
    int depth = 0;                         ///< rates that carry it
    int path = 0;                          ///< where these begin in paths
    int stretches = 0, stretches_end = 0;  ///< of these, in a list of stretches
    int carried_end = 0;                   ///< behind the rates that it carries
    int last = 0;                          ///< branch behind those that it carries
    int tree_begin = 0, tree_end = 0;      ///< branches of its tree
    bool carries = false;                  ///< whether it carries other branches
    // Where its factors are: rows of D, of whole registers, then those of W.
    int D = 0, D_width = 0, W = 0, W_width = 0;
    int W_columns = 0;  ///< where W is column by column, of D_width numbers each

    int size() const { return end - begin; }
  };

  /// Consecutive rates.
  struct Stretch {
    long begin, size;
  };

  explicit BranchPlan(const Model& model) : rates_(model.nv()), row_(rates_) {
    std::vector<int> parent(rates_), children(rates_, 0), last(model.clusters().size());
    for (std::size_t k = 0; k < model.clusters().size(); ++k) {
      const Cluster& c = model.clusters()[k];
      int on = c.parent < 0 ? -1 : last[c.parent];
      for (int i = c.v; i < c.v + c.nv; ++i) {
        parent[i] = on, on = i;
        if (parent[i] >= 0) ++children[parent[i]];
      }
      last[k] = on;
    }
    std::vector<int> branch_of(rates_);
    for (int k = 0; k < rates_; ++k) {
      if (parent[k] < 0 || parent[k] != k - 1 || children[parent[k]] > 1 ||
          branches_.back().size() == SmallInverse::most) {
        start_branch(k, parent[k], parent[k] < 0 ? -1 : branch_of[parent[k]]);
      }
      Branch& s = branches_.back();
      s.end = k + 1;
      branch_of[k] = static_cast<int>(branches_.size()) - 1;
      row_[k] = row_numbers_;
      row_numbers_ += whole(s.depth + s.size());
    }
    for (Branch& s : branches_) {
      s.D = factor_numbers_, s.D_width = SmallInverse::width(s.size());
      s.W = s.D + s.size() * s.D_width, s.W_width = whole(s.depth);
      s.W_columns = s.W + s.size() * s.W_width;
      factor_numbers_ = s.W_columns + s.W_width * s.D_width;
    }
    list_subtrees();
  }

  int rates() const { return rates_; }
  const std::vector<Branch>& branches() const { return branches_; }
  /// Rates that carry a branch, from the root on.
  std::span<const int> ancestors(const Branch& s) const {
    return {paths_.data() + s.path, static_cast<std::size_t>(s.depth)};
  }
  std::span<const Stretch> stretches(const Branch& s) const {
    return {stretches_.data() + s.stretches, stretches_.data() + s.stretches_end};
  }
  /// Whether one tree has all rates.
  bool is_one_tree() const {
    return branches_.empty() || branches_[0].last == static_cast<int>(branches_.size());
  }
  /// Behind the rates of a branch's tree.
  int tree_end(const Branch& s) const { return branches_[s.tree_begin].carried_end; }
  /// Where the row of a rate begins, which has entries of the rates that carry it and its own.
  int row(int rate) const { return row_[rate]; }
  int row_numbers() const { return row_numbers_; }  ///< of all rows
  int factor_numbers() const { return factor_numbers_; }

 private:
  static int whole(int count) { return (count + Quad::size - 1) / Quad::size * Quad::size; }

  void start_branch(int rate, int on, int parent) {
    Branch s;
    s.begin = rate, s.path = static_cast<int>(paths_.size()), s.parent = parent;
    if (parent >= 0) {
      const Branch& p = branches_[parent];
      const std::vector<int> way(ancestors(p).begin(), ancestors(p).end());
      paths_.insert(paths_.end(), way.begin(), way.end());
      for (int i = p.begin; i <= on; ++i) paths_.push_back(i);
    }
    s.depth = static_cast<int>(paths_.size()) - s.path;
    s.stretches = static_cast<int>(stretches_.size());
    for (std::size_t t = s.path; t < paths_.size(); ++t) {
      const bool follows = static_cast<int>(t) > s.path && paths_[t] == paths_[t - 1] + 1;
      if (follows) {
        ++stretches_.back().size;
      } else {
        stretches_.push_back({paths_[t], 1});
      }
    }
    s.stretches_end = static_cast<int>(stretches_.size());
    branches_.push_back(s);
  }
  void list_subtrees() {
    const int count = static_cast<int>(branches_.size());
    for (int b = count; b-- > 0;) {
      Branch& s = branches_[b];
      s.carried_end = std::max(s.carried_end, s.end), s.last = std::max(s.last, b + 1);
      s.carries = s.last > b + 1;
      if (s.parent < 0) continue;
      Branch& p = branches_[s.parent];
      p.carried_end = std::max(p.carried_end, s.carried_end), p.last = std::max(p.last, s.last);
    }
    for (int b = 0; b < count; ++b) {
      Branch& s = branches_[b];
      s.tree_begin = s.parent < 0 ? b : branches_[s.parent].tree_begin;
      s.tree_end = s.parent < 0 ? s.last : branches_[s.parent].tree_end;
    }
  }

  int rates_;
  std::vector<Branch> branches_;
  std::vector<int> paths_;          ///< ancestors of each branch
  std::vector<Stretch> stretches_;  ///< of them
  std::vector<int> row_;            ///< per rate
  int row_numbers_ = 0, factor_numbers_ = 0;
};

}  // namespace espalier
