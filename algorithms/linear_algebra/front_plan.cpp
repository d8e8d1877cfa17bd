#include "algorithms/linear_algebra/front_plan.hpp"

#include <algorithm>
#include <boost/dynamic_bitset.hpp>

namespace espalier {

namespace {

/// Multiplications of a step with this many columns to its right.
double step_cost(int block, int size, double rest) {
  return block < 0 ? 0.5 * rest * rest : size * rest * (rest + 2.0 * size);
}

/// Finds the plan.
class FrontPlanner {
 public:
  /// @param pairs  of variables that have a number in H, in the order of these
  FrontPlanner(const ClusterConstraint& constraint, int kept,
               std::span<const std::pair<int, int>> pairs)
      : constraint_(constraint), kept_(kept), pairs_(pairs) {}

  FrontPlan make() {
    start();
    while (take_next()) {
    }
    find_parents();
    amalgamate();
    list_fronts();
    place_matrices();
    return std::move(plan_);
  }

 private:
  using Bits = boost::dynamic_bitset<>;
  /// Blocks, then free variables.
  struct Item {
    int block = -1;
    std::vector<int> variables;
    Bits outside;  ///< variables that its rows read beside its own
    bool gone = false;
  };
  struct Node {
    std::vector<int> items;
    std::vector<int> separator;
    int parent = -1;
    int into = -1;  ///< node that it has been merged into
  };

  int count() const { return constraint_.columns; }

  void start() {
    const LoopBlocks& blocks = *constraint_.blocks;
    const int n = count();
    near_.assign(n, Bits(n + kept_));
    for (const auto& [i, j] : pairs_) {
      if (i < n && i != j) near_[i].set(j);
      if (j < n && i != j) near_[j].set(i);
    }
    readers_.assign(n, 0);
    for (std::size_t b = 0; b < blocks.blocks.size(); ++b) {
      const LoopBlocks::Block& block = blocks.blocks[b];
      Item item;
      item.block = static_cast<int>(b);
      item.variables.assign(blocks.columns.begin() + block.first,
                            blocks.columns.begin() + block.first + block.size);
      item.outside.resize(n + kept_);
      for (int e = block.outside; e < block.outside_end; ++e) {
        item.outside.set(blocks.outside[e].column);
      }
      for_each(item.outside, [&](int column) { ++readers_[column]; });
      items_.push_back(std::move(item));
    }
    for (const int column : constraint_.independent) {
      Item item;
      item.variables = {column};
      item.outside.resize(n + kept_);
      items_.push_back(std::move(item));
    }
    node_of_.assign(n, -1);
  }
  template <class F>
  static void for_each(const Bits& bits, F&& f) {
    for (auto i = bits.find_first(); i != Bits::npos; i = bits.find_next(i)) {
      f(static_cast<int>(i));
    }
  }
  bool may_go(const Item& item) const {
    return !item.gone && std::all_of(item.variables.begin(), item.variables.end(),
                                     [&](int v) { return readers_[v] == 0; });
  }
  Bits neighbours(const Item& item) const {
    Bits out = item.outside;
    for (const int v : item.variables) out |= near_[v];
    for (const int v : item.variables) out.reset(v);
    return out;
  }

  /// The item with the fewest neighbours goes: these are neighbours of one another from then on.
  bool take_next() {
    int best = -1;
    std::size_t fewest = 0;
    Bits separator;
    for (std::size_t k = 0; k < items_.size(); ++k) {
      if (!may_go(items_[k])) continue;
      Bits around = neighbours(items_[k]);
      const std::size_t degree = around.count();
      if (best >= 0 && degree >= fewest) continue;
      best = static_cast<int>(k), fewest = degree, separator = std::move(around);
    }
    if (best < 0) return false;
    Item& item = items_[best];
    item.gone = true;
    for_each(item.outside, [&](int column) { --readers_[column]; });
    Node node;
    node.items = {best};
    for_each(separator, [&](int v) {
      node.separator.push_back(v);
      if (v >= count()) return;
      near_[v] |= separator;
      near_[v].reset(v);
      for (const int gone : item.variables) near_[v].reset(gone);
    });
    for (const int v : item.variables) node_of_[v] = static_cast<int>(nodes_.size());
    nodes_.push_back(std::move(node));
    return true;
  }
  /// Of each node the first that takes one of its separator's variables: it has all the others.
  void find_parents() {
    for (Node& node : nodes_) {
      for (const int v : node.separator) {
        if (v >= count()) continue;
        const int next = node_of_[v];
        if (node.parent < 0 || next < node.parent) node.parent = next;
      }
    }
  }

  int size_of(const Node& node) const {
    std::size_t size = node.separator.size();
    for (const int k : node.items) size += items_[k].variables.size();
    return static_cast<int>(size);
  }
  /// Multiplications, and the time of as many for what is done once per front.
  double cost(const std::vector<int>& items, int size) const {
    double sum = 0.0;
    int rest = size;
    for (const int k : items) {
      const int here = static_cast<int>(items_[k].variables.size());
      rest -= here;
      sum += step_cost(items_[k].block, here, rest + 1.0);
    }
    return sum;
  }
  int settled(int node) const {
    while (node >= 0 && nodes_[node].into >= 0) node = nodes_[node].into;
    return node;
  }
  /// A child becomes part of its parent where propagation costs more than the zeros do.
  void amalgamate() {
    for (Node& child : nodes_) {
      const int at = settled(child.parent);
      if (at < 0) continue;
      Node& parent = nodes_[at];
      std::vector<int> both = child.items;
      both.insert(both.end(), parent.items.begin(), parent.items.end());
      const int own = size_of(child) - static_cast<int>(child.separator.size());
      const double propagation = 300.0 + 0.5 * child.separator.size() * child.separator.size();
      const double apart = cost(child.items, size_of(child)) + cost(parent.items, size_of(parent));
      if (cost(both, size_of(parent) + own) > apart + propagation) continue;
      parent.items = std::move(both);
      child.into = at;
    }
  }

  void list_fronts() {
    number_variables();
    std::vector<int> front_of(nodes_.size(), -1);
    for (std::size_t k = 0; k < nodes_.size(); ++k) {
      if (nodes_[k].into >= 0) continue;
      front_of[k] = static_cast<int>(plan_.fronts.size());
      plan_.fronts.push_back(front(nodes_[k]));
    }
    if (kept_ > 0) {
      FrontPlan::Front last;
      for (int i = 0; i < kept_; ++i) last.variables.push_back(count() + i);
      plan_.fronts.push_back(last);
    }
    parent_.assign(plan_.fronts.size(), -1);
    for (std::size_t k = 0; k < nodes_.size(); ++k) {
      if (nodes_[k].into >= 0) continue;
      const int parent = settled(nodes_[k].parent);
      parent_[front_of[k]] = parent >= 0 ? front_of[parent]
                             : kept_ > 0 ? static_cast<int>(plan_.fronts.size()) - 1
                                         : -1;
    }
    std::vector<int> local(count() + kept_, -1);
    std::vector<std::vector<int>> H = values_by_front(front_of);
    for (std::size_t f = 0; f < plan_.fronts.size(); ++f) {
      FrontPlan::Front& front = plan_.fronts[f];
      for (int i = 0; i < front.size(); ++i) local[front.variables[i]] = i;
      list_values(front, H[f], local);
      for (std::size_t c = 0; c < f; ++c) {
        if (parent_[c] == static_cast<int>(f)) {
          front.children.push_back({static_cast<int>(c), runs(plan_.fronts[c], front, local)});
        }
      }
    }
    plan_.variables = count(), plan_.kept = kept_;
    plan_.pairs = static_cast<int>(pairs_.size());
  }
  /// In the order in which they go.
  void number_variables() {
    number_.assign(count() + kept_, 0);
    int next = 0;
    for (const Node& node : nodes_) {
      if (node.into >= 0) continue;
      for (const int k : node.items) {
        for (const int v : items_[k].variables) number_[v] = next++;
      }
    }
    for (int i = 0; i < kept_; ++i) number_[count() + i] = next++;
  }
  FrontPlan::Front front(const Node& node) {
    FrontPlan::Front out;
    int rest = size_of(node);
    for (const int k : node.items) {
      const Item& item = items_[k];
      const int size = static_cast<int>(item.variables.size());
      rest -= size;
      out.steps.push_back({item.block, out.eliminated, size, plan_.factors, {}});
      plan_.factors += size * (rest + 1);
      plan_.widest = std::max(plan_.widest, size * (rest + 1));
      plan_.multiplications += step_cost(item.block, size, rest + 1.0);
      out.variables.insert(out.variables.end(), item.variables.begin(), item.variables.end());
      out.eliminated += size;
    }
    std::vector<int> separator = node.separator;
    std::sort(separator.begin(), separator.end(),
              [&](int a, int b) { return number_[a] < number_[b]; });
    out.variables.insert(out.variables.end(), separator.begin(), separator.end());
    plan_.multiplications += 0.5 * separator.size() * separator.size();
    return out;
  }
  /// Values of H that belong to the front that takes the first of their two variables.
  std::vector<std::vector<int>> values_by_front(const std::vector<int>& front_of) const {
    std::vector<std::vector<int>> out(plan_.fronts.size());
    for (std::size_t e = 0; e < pairs_.size(); ++e) {
      const auto [i, j] = pairs_[e];
      const int first = number_[i] < number_[j] ? i : j;
      out[first < count() ? front_of[settled(node_of_[first])] : plan_.fronts.size() - 1].push_back(
          static_cast<int>(e));
    }
    return out;
  }
  void list_values(FrontPlan::Front& front, const std::vector<int>& H,
                   const std::vector<int>& local) const {
    for (const int e : H) {
      const auto [low, high] = std::minmax(local[pairs_[e].first], local[pairs_[e].second]);
      front.H.push_back({e, low * front.row_length() + high});
    }
    const LoopBlocks& blocks = *constraint_.blocks;
    for (FrontPlan::Step& step : front.steps) {
      if (step.block < 0) continue;
      const LoopBlocks::Block& block = blocks.blocks[step.block];
      const int start = step.first + step.size, length = front.row_length() - start;
      for (int e = block.outside; e < block.outside_end; ++e) {
        const LoopBlocks::Outside& entry = blocks.outside[e];
        step.outside.push_back({entry.value, entry.row * length + local[entry.column] - start});
      }
    }
  }
  static std::vector<FrontPlan::Run> runs(const FrontPlan::Front& child,
                                          const FrontPlan::Front& parent,
                                          const std::vector<int>& local) {
    std::vector<FrontPlan::Run> out;
    for (int i = child.eliminated; i < child.size(); ++i) {
      const int to = local[child.variables[i]];
      if (!out.empty() && out.back().to + out.back().length == to) {
        ++out.back().length;
      } else {
        out.push_back({i, to, 1});
      }
    }
    out.push_back({child.size(), parent.size(), 1});
    return out;
  }

  /// Each matrix is needed until its parent has taken what is left: where it fits first.
  void place_matrices() {
    struct Live {
      int start, end, until;
    };
    std::vector<Live> live;
    for (int f = 0; f < static_cast<int>(plan_.fronts.size()); ++f) {
      FrontPlan::Front& front = plan_.fronts[f];
      std::erase_if(live, [&](const Live& other) { return other.until < f; });
      const int length = front.size() * front.row_length();
      int start = 0;
      for (const Live& other : live) {
        if (start + length <= other.start) break;
        start = std::max(start, other.end);
      }
      front.matrix = start;
      const int until = parent_[f] >= 0 ? parent_[f] : static_cast<int>(plan_.fronts.size());
      live.push_back({start, start + length, until});
      std::sort(live.begin(), live.end(),
                [](const Live& a, const Live& b) { return a.start < b.start; });
      plan_.matrices = std::max(plan_.matrices, start + length);
    }
  }

  const ClusterConstraint& constraint_;
  int kept_;
  std::span<const std::pair<int, int>> pairs_;
  std::vector<Bits> near_;    ///< per variable that is left: those that it has a number with
  std::vector<int> readers_;  ///< per variable: blocks left that read it as no dependent of theirs
  std::vector<Item> items_;
  std::vector<Node> nodes_;   ///< in the order in which they go
  std::vector<int> node_of_;  ///< per variable
  std::vector<int> number_;
  std::vector<int> parent_;  ///< per front
  FrontPlan plan_;
};

}  // namespace

FrontPlan plan_fronts(const ClusterConstraint& constraint, int kept,
                      std::span<const std::pair<int, int>> pairs) {
  return FrontPlanner(constraint, kept, pairs).make();
}

}  // namespace espalier
