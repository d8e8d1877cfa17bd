#pragma once

#include <algorithm>
#include <map>
#include <vector>

#include "algorithms/task_rows.hpp"

namespace espalier {

/// How rows of a task travel to the ground in PV-OSIM and PV-OSIMr, decided once per model and
/// task.
///
/// A bundle carries rows inward: K, that maps the twists of some bodies of one cluster (its sites)
/// to the rows, and w, the inverse inertia that the rows have collected since they set out. Its
/// terms are end-effectors and nodes. A node is a fresh start: six rows for each site, the twist
/// itself, where all bundles that arrive at these sites end. Elsewhere bundles that meet are
/// stacked into one. PV-OSIM only stacks; PV-OSIMr makes nodes where that saves operations, which
/// no choice changes the result of. Source: Sathya et al. (2023), Algorithm 3; theory/delassus 4
/// (corrected, generalized) and theory/clusters 5.6.
template <class T>
class BundlePlan {
 public:
  static constexpr int lanes = RowLanes<T>::size;
  static constexpr int site_blocks = (6 + lanes - 1) / lanes;  ///< of a node, for each site
  static constexpr int site_stride = site_blocks * lanes;      ///< rows, padding included

  struct Term {
    int bundle = 0;             ///< that it last travels in
    int start = 0, blocks = 0;  ///< of its rows in that bundle
    int rows = 0;
    int part = -1;             ///< end-effector, or -1: a node
    std::vector<int> sites;    ///< of a node: bodies whose twists it is
    std::vector<int> bundles;  ///< of a node: those that end there, by number
  };
  struct RowBundle {
    int blocks = 0;
    std::vector<int> terms;
    std::vector<int> rows;   ///< that are no padding
    std::vector<int> sites;  ///< where it ends
    int end = -1;            ///< node (term) where it ends; -1: the ground
    int K = 0, w = 0;        ///< where its rows and w start in memory
    int capacity = 0;        ///< sites x blocks of K at most
    bool has_w = false;      ///< at the end of its way
    double factors = 0;      ///< entries of K, zeros and ones left out
  };
  struct Step {
    enum class Kind { start_part, start_node, stack, cross };
    Kind kind;
    int at = -1;  ///< node where it is taken; -1: before all others
    int bundle;
    int term = -1;  ///< that starts
    int node = -1;  ///< crossed
    /// Crossing: whether it is the bundle's first, which makes w. Stack: whether w is stacked, too.
    bool first = false;
    std::vector<int> from;   ///< bundles that are, or right before a crossing were, stacked
    std::vector<int> sites;  ///< of the bundle before the step
    std::vector<std::vector<int>> slots;  ///< per bundle of `from`: where its sites are in `sites`
  };

  /// @param starts  per body: whether arrivals whose first site it is end in a node there
  /// @param everywhere  nodes wherever there is a choice, too
  BundlePlan(const TaskRows<T>& task, const ArticulatedTree<T>& tree, std::vector<bool> starts,
             bool everywhere = false)
      : task_(&task), tree_(&tree), starts_(std::move(starts)), everywhere_(everywhere) {
    std::vector<std::vector<int>> at(tree.nodes().size());  // bundles by the node where they are
    for (std::size_t k = 0; k < task.parts().size(); ++k) {
      const auto& part = task.parts()[k];
      if (part.way.empty()) continue;  // on the ground
      const int m = add_term(static_cast<int>(k), part.blocks, part.part->size(), {});
      const int p = start(Step::Kind::start_part, m, {part.part->body});
      at[part.way[0].node].push_back(p);
    }
    for (std::size_t k = tree.order().size(); k-- > 0;) pass(tree.order()[k], at);
    lay_out();
  }

  /// The plan of the least estimated cost among those that flipping single choices leads to.
  static BundlePlan best(const TaskRows<T>& task, const ArticulatedTree<T>& tree) {
    const std::size_t bodies = static_cast<std::size_t>(tree.model().body_count()) + 1;
    BundlePlan plan(task, tree, std::vector<bool>(bodies, false));
    BundlePlan reduced(task, tree, std::vector<bool>(bodies, false), true);
    for (BundlePlan* p : {&plan, &reduced}) {
      for (bool better = true; better;) {
        better = false;
        // From the ground outward: the other way, meetings at the end of a long unbranched way are
        // put off joint by joint, each time for a small gain.
        const std::vector<int> meetings(p->meetings_.rbegin(), p->meetings_.rend());
        for (const int body : meetings) {
          std::vector<bool> starts = p->starts_;
          starts[body] = !starts[body];
          BundlePlan other(task, tree, std::move(starts));
          if (other.cost() < p->cost()) *p = std::move(other), better = true;
        }
      }
    }
    return reduced.cost() < plan.cost() ? std::move(reduced) : std::move(plan);
  }
  /// Nodes wherever there is a choice, as published.
  static BundlePlan every_node(const TaskRows<T>& task, const ArticulatedTree<T>& tree) {
    return BundlePlan(task, tree, std::vector<bool>(tree.model().body_count() + 1, false), true);
  }
  static BundlePlan stacked(const TaskRows<T>& task, const ArticulatedTree<T>& tree) {
    return BundlePlan(task, tree, std::vector<bool>(tree.model().body_count() + 1, false));
  }

  const std::vector<Step>& steps() const { return steps_; }
  const std::vector<RowBundle>& bundles() const { return bundles_; }
  const std::vector<Term>& terms() const { return terms_; }
  /// Bodies where several bundles meet, or one of more than six rows passes: where to choose.
  const std::vector<int>& meetings() const { return meetings_; }
  int K_size() const { return K_size_; }
  int w_size() const { return w_size_; }
  /// Blocks (times sites) of the largest bundle, and of all bundles' Kq.
  int largest() const { return largest_; }
  /// Estimated multiplications.
  double cost() const { return cost_; }

 private:
  int add_term(int part, int blocks, int rows, std::vector<int> sites) {
    terms_.push_back({0, 0, blocks, rows, part, std::move(sites), {}});
    return static_cast<int>(terms_.size()) - 1;
  }
  int start(typename Step::Kind kind, int term, std::vector<int> sites) {
    const int p = static_cast<int>(bundles_.size());
    bundles_.push_back({terms_[term].blocks, {term}, {}, sites, -1, 0, 0, 0, false, 0.0});
    bundles_[p].factors = factors(terms_[term]);
    terms_[term].bundle = p;
    add_rows(bundles_[p], terms_[term], 0);
    steps_.push_back({kind, at_, p, term, -1, false, {}, std::move(sites), {}});
    return p;
  }
  static void add_rows(RowBundle& p, const Term& term, int start) {
    for (int i = 0; i < term.rows; ++i) {
      p.rows.push_back(start * lanes + (term.part >= 0 ? i : i / 6 * site_stride + i % 6));
    }
  }
  /// Rows of forces along world axes have a moment of two factors and a force of none.
  double factors(const Term& term) const {
    if (term.part < 0) return 0.0;
    const Task::Part& part = *task_->parts()[term.part].part;
    double sum = 0;
    for (const Force<double>& row : part.rows) {
      const int n = (row.n.x != 0.0) + (row.n.y != 0.0) + (row.n.z != 0.0);
      const int f = (row.f.x != 0.0) + (row.f.y != 0.0) + (row.f.z != 0.0);
      sum += part.world && n == 0 && f == 1 ? 2.0 : 6.0;
    }
    return sum;
  }
  static double rows_of(const RowBundle& p) { return static_cast<double>(p.rows.size()); }

  /// All bundles at a node: those at the same sites may end in a node; the rest are stacked and
  /// cross.
  void pass(int n, std::vector<std::vector<int>>& at) {
    if (at[n].empty()) return;
    at_ = n;
    std::map<std::vector<int>, std::vector<int>> arrivals;  // by sites
    for (const int p : at[n]) arrivals[bundles_[p].sites].push_back(p);
    std::vector<int> remain;
    for (auto& [sites, bundles] : arrivals) {
      double rows = 0;
      for (const int p : bundles) rows += rows_of(bundles_[p]);
      if (bundles.size() > 1 || rows > 6.0 * static_cast<double>(sites.size())) {
        if (std::find(meetings_.begin(), meetings_.end(), sites[0]) == meetings_.end()) {
          meetings_.push_back(sites[0]);
        }
        if (everywhere_) starts_[sites[0]] = true;
      }
      if (!starts_[sites[0]]) {
        remain.insert(remain.end(), bundles.begin(), bundles.end());
        continue;
      }
      const int k = static_cast<int>(sites.size());
      const int m = add_term(-1, k * site_blocks, 6 * k, sites);
      for (const int p : without_nodes_stacked(bundles)) end_in(p, m);
      remain.push_back(start(Step::Kind::start_node, m, sites));
    }
    const int p = remain.size() == 1 ? remain[0] : stack(remain, false);
    const auto& node = tree_->nodes()[n];
    RowBundle& bundle = bundles_[p];
    if (remain.size() == 1) remain.clear();
    steps_.push_back({Step::Kind::cross, at_, p, -1, n, !bundle.has_w, remain, bundle.sites, {}});
    bundle.has_w = true;
    const double R = rows_of(bundle), rates = node.n, pairs = 0.5 * R * (R + 1.0);
    const double ks = static_cast<double>(bundle.sites.size());
    const double ko = static_cast<double>(node.supports.size());
    if (node.kind == ArticulatedTree<T>::Kind::revolute) {
      cost_ += 4.0 * R + pairs + 12.0 * ko * R;
    } else if (node.kind == ArticulatedTree<T>::Kind::free) {
      cost_ += 36.0 * R + 6.0 * pairs;
    } else {
      cost_ += R * (6.0 * rates * ks + rates * rates + ko * 6.0 * rates + 6.0 * ks) + rates * pairs;
    }
    bundle.capacity = std::max(
        bundle.capacity,
        bundle.blocks * static_cast<int>(std::max(bundle.sites.size(), node.supports.size())));
    bundle.sites = node.supports;
    bundle.factors = 6.0 * ko * R;
    if (!node.supports.empty()) at[node.parent].push_back(p);
  }

  /// RowBundles of end-effectors alone as one: their product with Omega serves all their pairs.
  std::vector<int> without_nodes_stacked(const std::vector<int>& bundles) {
    std::vector<int> out, parts;
    for (const int p : bundles) {
      const auto& terms = bundles_[p].terms;
      const bool node =
          std::any_of(terms.begin(), terms.end(), [&](int m) { return terms_[m].part < 0; });
      (node ? out : parts).push_back(p);
    }
    if (parts.size() > 1) parts = {stack(parts, true)};
    out.insert(out.end(), parts.begin(), parts.end());
    return out;
  }

  /// @param at_once  whether w is stacked too; else the crossing that follows does that
  int stack(const std::vector<int>& from, bool at_once) {
    RowBundle bundle;
    const int p = static_cast<int>(bundles_.size());
    Step step{Step::Kind::stack, at_, p, -1, -1, at_once, from, {}, {}};
    for (const int f : from) {
      for (const int site : bundles_[f].sites) {
        if (std::find(bundle.sites.begin(), bundle.sites.end(), site) == bundle.sites.end()) {
          bundle.sites.push_back(site);
        }
      }
    }
    for (const int f : from) {
      RowBundle& part = bundles_[f];
      for (const int m : part.terms) {
        terms_[m].bundle = p;
        terms_[m].start += bundle.blocks;
        bundle.terms.push_back(m);
        add_rows(bundle, terms_[m], terms_[m].start);
      }
      bundle.blocks += part.blocks;
      bundle.factors += part.factors;
      bundle.has_w = bundle.has_w || part.has_w;
      std::vector<int> slots;
      for (const int site : part.sites) {
        slots.push_back(static_cast<int>(std::find(bundle.sites.begin(), bundle.sites.end(), site) -
                                         bundle.sites.begin()));
      }
      step.slots.push_back(std::move(slots));
    }
    step.sites = bundle.sites;
    bundle.capacity = bundle.blocks * static_cast<int>(bundle.sites.size());
    bundles_.push_back(std::move(bundle));
    steps_.push_back(std::move(step));
    return p;
  }

  void end_in(int p, int node) {
    bundles_[p].end = node;
    terms_[node].bundles.push_back(p);
    const double s = terms_[node].rows, R = rows_of(bundles_[p]);
    cost_ += bundles_[p].factors * (s + 0.5 * (R + 1.0));
    double rows = 0;  // of end-effectors under the bundle
    for (const int m : bundles_[p].terms) {
      const double under = rows_under(m);
      if (terms_[m].part < 0) cost_ += under * s * 6.0;
      rows += under;
    }
    double others = 0;
    for (const int other : terms_[node].bundles) {
      if (other == p) continue;
      for (const int m : bundles_[other].terms) others += rows_under(m);
    }
    if (others > 0) cost_ += rows * s * s + rows * others * s;
  }
  double rows_under(int m) const {
    if (terms_[m].part >= 0) return terms_[m].rows;
    double rows = 0;
    for (const int p : terms_[m].bundles) {
      for (const int below : bundles_[p].terms) rows += rows_under(below);
    }
    return rows;
  }

  void lay_out() {
    for (RowBundle& p : bundles_) {
      p.capacity = std::max(p.capacity, p.blocks * static_cast<int>(p.sites.size()));
      p.K = K_size_, p.w = w_size_;
      K_size_ += p.capacity;
      w_size_ += p.blocks * lanes * p.blocks;
      largest_ = std::max({largest_, p.capacity, p.blocks});
    }
    for (RowBundle& p : bundles_) {
      for (std::size_t a = 0; a < p.terms.size(); ++a) {
        if (terms_[p.terms[a]].part >= 0) continue;
        for (std::size_t b = 0; b < p.terms.size(); ++b) {
          if (a == b || terms_[p.terms[b]].bundle != terms_[p.terms[a]].bundle) continue;
          if (terms_[p.terms[a]].bundle != &p - bundles_.data()) continue;
          cost_ += 0.5 * rows_under(p.terms[a]) * (36.0 + 6.0 * rows_under(p.terms[b]));
        }
      }
    }
  }

  const TaskRows<T>* task_;
  const ArticulatedTree<T>* tree_;
  std::vector<bool> starts_;
  bool everywhere_;
  int at_ = -1;
  std::vector<Step> steps_;
  std::vector<RowBundle> bundles_;
  std::vector<Term> terms_;
  std::vector<int> meetings_;
  int K_size_ = 0, w_size_ = 0, largest_ = 0;
  double cost_ = 0.0;
};

}  // namespace espalier
