#include "espalier/kernel/graph/cluster_tree.hpp"

#include <boost/pending/disjoint_sets.hpp>

#include <algorithm>
#include <cassert>
#include <functional>
#include <queue>
#include <set>
#include <sstream>
#include <utility>

#include "espalier/kernel/graph/connectivity_graph.hpp"
#include "espalier/kernel/graph/text.hpp"

// How clusters are found
// ----------------------
// Call a partition of the moving bodies valid if every tie (the bodies that one constraint ties)
// lies in one class, and for every class the parents outside of it all lie in one other class, or
// are all the ground. (The classes then form a tree: of the bodies of a circle of classes, the one
// of least depth would have its parent outside of the circle.)
//
// Two facts hold in every valid partition, for a class P and the bodies below it:
//   (a) A class that hangs on P contains, with a body, all bodies on the way from it up to P: the
//       first of them outside of the class would be a second parent besides P.
//   (b) If bodies x and y below P are in one class, then so are the "tops" over them, i.e. the
//       bodies over x and y whose parents are in P: one class has one chain of classes up to P.
//
// So, given P, the classes that hang on it must contain the tops, all ties that they meet, and all
// that (a) then asks for; and those that a tie reaches without meeting either (it lies below
// several of them) must unite by (b). The algorithm does just this, from the ground outwards:
// nothing is united without need. Hence with options.layered
//   - the result is valid: each class gets all its outside parents in the P that it hangs on;
//   - it is minimal: in a valid partition that is at least as fine, going outwards from the ground,
//     each class must contain ours by the facts above, so it is ours;
//   - it is canonical: each step is the least solution of conditions on sets, without any order.
// Without options.layered, the ties that reach across several classes do not only unite them but
// join them, together with what is between (a). All such ties at P are found before any of them
// joins, so the result remains canonical and valid. Minimal it cannot be in all cases: when two
// couplings reach across the same two chains, either one alone could join them and leave the other
// a cluster of its own; since nothing distinguishes the two, both join.

namespace espalier::graph {
namespace {

using DisjointSets = boost::disjoint_sets_with_storage<>;

/// Returns whether a and b were in different sets.
bool unite(DisjointSets& sets, int a, int b) {
  const auto x = sets.find_set(a);
  const auto y = sets.find_set(b);
  if (x == y) return false;
  sets.link(x, y);
  return true;
}

/// The ties, where overlapping ones are united; bodies that no constraint ties have none.
class Ties {
 public:
  Ties(const ConnectivityGraph& graph, const SpanningTree& tree)
      : tree_(tree), tied_(tree.body_count()), vertical_(tree.body_count()) {
    top_.resize(tree.body_count());
    for (int b = 0; b < tree.body_count(); ++b) top_[b] = b;
    for (const int j : tree.cut_joints()) tie_cycle(graph.joint(j));
    for (int c = 0; c < graph.coupling_count(); ++c) {
      const auto& joints = graph.coupling(c).joints;
      const int first = representative(graph, tree, joints.front());
      for (const int j : joints) {
        unite(tied_, first, representative(graph, tree, j));
      }
    }
    collect();
  }

  int of(int body) const { return tie_of_[body]; }  ///< -1 if it has none
  int count() const { return static_cast<int>(members_.size()); }
  const std::vector<int>& members(int tie) const { return members_[tie]; }

  /// A body that constraints on the joint tie: the one that hangs on it, or one of its cycle.
  static int representative(const ConnectivityGraph& graph, const SpanningTree& tree, int joint) {
    if (tree.child(joint) >= 0) return tree.child(joint);
    const int p = graph.joint(joint).predecessor;
    const int s = graph.joint(joint).successor;
    return tree.supports(s, p) ? p : s;
  }

 private:
  void tie_cycle(const Joint& joint) {
    const int p = joint.predecessor;
    const int s = joint.successor;
    const int ancestor = tree_.nearest_common_ancestor(p, s);
    tie_path(ancestor, p);
    tie_path(ancestor, s);
    if (p != ancestor && s != ancestor) unite(tied_, p, s);
  }

  /// Ties the bodies from below the ancestor to the body. Those that earlier paths have tied to
  /// their parents are stepped over, so that the cost of all paths is near-linear.
  void tie_path(int ancestor, int body) {
    if (body == ancestor) return;
    int top = top_[vertical_.find_set(body)];
    while (tree_.depth(top) > tree_.depth(ancestor) + 1) {
      const int above = tree_.parent(top);
      const int new_top = top_[vertical_.find_set(above)];
      unite(tied_, top, above);
      unite(vertical_, top, above);
      top_[vertical_.find_set(above)] = new_top;
      top = new_top;
    }
  }

  void collect() {
    const int n = tree_.body_count();
    std::vector<int> size(n, 0), tie_of_set(n, -1);
    for (int b = 1; b < n; ++b) ++size[tied_.find_set(b)];
    tie_of_.assign(n, -1);
    for (int b = 1; b < n; ++b) {
      const auto set = tied_.find_set(b);
      if (size[set] == 1) continue;
      if (tie_of_set[set] < 0) {
        tie_of_set[set] = count();
        members_.emplace_back();
      }
      tie_of_[b] = tie_of_set[set];
      members_[tie_of_[b]].push_back(b);
    }
  }

  const SpanningTree& tree_;
  DisjointSets tied_;      ///< bodies in one tie
  DisjointSets vertical_;  ///< bodies in one tie, connected in the tree by paths that were tied
  std::vector<int> top_;   ///< body nearest to the ground, of each set of vertical_
  std::vector<int> tie_of_;
  std::vector<std::vector<int>> members_;
};

class Clusterer {
 public:
  Clusterer(const ConnectivityGraph& graph, const SpanningTree& tree, const ClusterOptions& options)
      : graph_(graph),
        tree_(tree),
        layered_(options.layered),
        ties_(graph, tree),
        joined_(ties_.count(), 0),
        united_(tree.body_count()),
        taken_(tree.body_count(), 0),
        found_index_(tree.body_count(), -1),
        spanning_(tree.body_count()) {
    // A tie can lie below several classes that hang on P only if P contains the nearest common
    // ancestor of its bodies, or P is the next class outwards after such a one.
    for (int t = 0; t < ties_.count(); ++t) {
      const auto [low, high] = std::minmax_element(
          ties_.members(t).begin(), ties_.members(t).end(),
          [&](int a, int b) { return tree_.preorder_index(a) < tree_.preorder_index(b); });
      spanning_[tree_.nearest_common_ancestor(*low, *high)].push_back(t);
    }
  }

  ClusterTree run() {
    result_.cluster_of.assign(tree_.body_count(), -1);
    result_.new_number.assign(tree_.body_count(), 0);
    result_.body_order.push_back(0);
    grow({{0}, -1, spanning_[0]});
    while (!to_do_.empty()) {
      const Found found = std::move(to_do_.back());
      to_do_.pop_back();
      grow(found);
    }
    assign_constraints();
    return std::move(result_);
  }

 private:
  /// A class that is complete, but not yet numbered.
  struct Found {
    std::vector<int> bodies;  ///< ascending
    int parent = -1;          ///< cluster
    std::vector<int> ties;    ///< that lie below it and may reach across classes hanging on it
  };

  /// Numbers the class P and finds the classes that hang on it.
  void grow(const Found& P) {
    const int number = P.bodies.front() == 0 ? -1 : add_cluster(P);

    std::vector<int> tops;
    for (const int b : P.bodies) {
      for (const int c : tree_.children(b)) {
        if (!taken_[c]) tops.push_back(c);
      }
    }
    if (tops.empty()) return;
    std::sort(tops.begin(), tops.end(),
              [&](int a, int b) { return tree_.preorder_index(a) < tree_.preorder_index(b); });
    const auto top_over = [&](int body) {
      const auto after =
          std::upper_bound(tops.begin(), tops.end(), tree_.preorder_index(body),
                           [&](int index, int top) { return index < tree_.preorder_index(top); });
      assert(after != tops.begin() && tree_.supports(*(after - 1), body));
      return *(after - 1);
    };

    std::vector<int> bodies;  // of all the classes that hang on P
    take(tops, bodies);

    std::vector<int> across, below;  // ties below several of the classes, or below one
    for (const int t : P.ties) {
      if (joined_[t]) continue;
      const auto set = united_.find_set(top_over(ties_.members(t).front()));
      const bool one = std::all_of(ties_.members(t).begin(), ties_.members(t).end(),
                                   [&](int b) { return united_.find_set(top_over(b)) == set; });
      (one ? below : across).push_back(t);
    }
    for (const int t : across) {
      if (layered_) {
        const int first = top_over(ties_.members(t).front());
        for (const int b : ties_.members(t)) unite(united_, first, top_over(b));
        below.push_back(t);
      } else {
        take(ties_.members(t), bodies);
      }
    }

    // Classes in the order of their first bodies; the last found is the next one to be numbered.
    std::sort(bodies.begin(), bodies.end());
    std::vector<Found> found;
    std::vector<std::pair<int, int>> by_set;
    by_set.reserve(bodies.size());
    for (const int b : bodies) by_set.emplace_back(static_cast<int>(united_.find_set(b)), b);
    std::stable_sort(by_set.begin(), by_set.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    for (std::size_t i = 0; i < by_set.size(); ++i) {
      if (i == 0 || by_set[i].first != by_set[i - 1].first) found.push_back({{}, number, {}});
      found.back().bodies.push_back(by_set[i].second);
    }
    std::sort(found.begin(), found.end(),
              [](const Found& a, const Found& b) { return a.bodies.front() > b.bodies.front(); });
    for (int k = 0; k < static_cast<int>(found.size()); ++k) {
      for (const int b : found[k].bodies) found_index_[b] = k;
    }
    for (const int t : below) {
      if (joined_[t]) continue;
      found[found_index_[top_over(ties_.members(t).front())]].ties.push_back(t);
    }
    for (Found& f : found) {
      for (const int b : f.bodies) {
        f.ties.insert(f.ties.end(), spanning_[b].begin(), spanning_[b].end());
      }
      to_do_.push_back(std::move(f));
    }
  }

  /// Puts the seeds into the classes that hang on P, and with each body its tie and its way up to
  /// P. Bodies that this brings together are united.
  void take(const std::vector<int>& seeds, std::vector<int>& bodies) {
    pending_.assign(seeds.begin(), seeds.end());
    while (!pending_.empty()) {
      const int b = pending_.back();
      pending_.pop_back();
      const int tie = ties_.of(b);
      if (tie >= 0 && !joined_[tie]) {
        joined_[tie] = 1;
        for (const int other : ties_.members(tie)) {
          unite(united_, b, other);
          pending_.push_back(other);
        }
      }
      if (taken_[b]) continue;
      taken_[b] = 1;
      bodies.push_back(b);
      const int above = tree_.parent(b);
      const bool in_P = above == 0 || result_.cluster_of[above] >= 0;  // P is numbered already
      if (!in_P) {
        unite(united_, b, above);
        pending_.push_back(above);
      }
    }
  }

  /// Numbers the class and its bodies, and finds their supporting bodies.
  int add_cluster(const Found& found) {
    const int number = static_cast<int>(add_vertex(result_.topology));
    if (found.parent >= 0) add_edge(found.parent, number, result_.topology);
    Cluster& cluster = result_.cluster(number);
    cluster.parent = found.parent;
    cluster.first = static_cast<int>(result_.body_order.size());
    for (const int b : found.bodies) result_.cluster_of[b] = number;
    const auto inside = [&](int b) { return b != 0 && result_.cluster_of[b] == number; };

    std::priority_queue<int, std::vector<int>, std::greater<>> ready;
    for (const int b : found.bodies) {
      if (!inside(tree_.parent(b))) ready.push(b);
    }
    while (!ready.empty()) {
      const int b = ready.top();
      ready.pop();
      result_.new_number[b] = static_cast<int>(result_.body_order.size());
      result_.body_order.push_back(b);
      cluster.bodies.push_back(b);
      const int above = tree_.parent(b);
      cluster.output_of.push_back(
          inside(above) ? cluster.output_of[result_.new_number[above] - cluster.first] : above);
      for (const int c : tree_.children(b)) {
        if (inside(c)) ready.push(c);
      }
    }
    cluster.supports = cluster.output_of;
    std::sort(cluster.supports.begin(), cluster.supports.end(),
              [&](int a, int b) { return result_.new_number[a] < result_.new_number[b]; });
    cluster.supports.erase(std::unique(cluster.supports.begin(), cluster.supports.end()),
                           cluster.supports.end());
    return number;
  }

  void assign_constraints() {
    for (const int j : tree_.cut_joints()) {
      const int body = Ties::representative(graph_, tree_, j);
      result_.cluster(result_.cluster_of[body]).cut_joints.push_back(j);
    }
    for (int c = 0; c < graph_.coupling_count(); ++c) {
      const int body = Ties::representative(graph_, tree_, graph_.coupling(c).joints.front());
      result_.cluster(result_.cluster_of[body]).couplings.push_back(c);
    }
  }

  const ConnectivityGraph& graph_;
  const SpanningTree& tree_;
  const bool layered_;
  const Ties ties_;
  std::vector<char> joined_;      ///< ties whose bodies are all in one class, by now
  DisjointSets united_;           ///< bodies of one class, by now
  std::vector<char> taken_;       ///< bodies that have a class
  std::vector<int> found_index_;  ///< of a body's class among those found together with it
  std::vector<std::vector<int>> spanning_;  ///< ties by nearest common ancestor of their bodies
  std::vector<int> pending_;
  std::vector<Found> to_do_;  ///< a stack, so that clusters are numbered depth first
  ClusterTree result_;
};

}  // namespace

ClusterTree cluster_tree(const ConnectivityGraph& graph, const SpanningTree& tree,
                         const ClusterOptions& options) {
  return Clusterer(graph, tree, options).run();
}

std::string cluster_dot(const ConnectivityGraph& graph, const ClusterTree& clusters) {
  std::ostringstream dot;
  dot << "digraph cluster_tree {\n  node [shape=box];\n  ground [label="
      << text::dot_string(graph.body_name(0)) << ", shape=doublecircle];\n";
  for (int k = 0; k < clusters.size(); ++k) {
    const Cluster& cluster = clusters.cluster(k);
    std::string bodies, outputs;
    for (const int b : cluster.bodies) bodies += (bodies.empty() ? "" : "\n") + graph.body_name(b);
    for (const int b : cluster.supports) {
      outputs += (outputs.empty() ? "" : ", ") + graph.body_name(b);
    }
    dot << "  k" << k << " [label=" << text::dot_string(bodies) << "];\n  ";
    if (cluster.parent < 0) {
      dot << "ground";
    } else {
      dot << "k" << cluster.parent;
    }
    dot << " -> k" << k << " [label=" << text::dot_string(outputs) << "];\n";
  }
  dot << "}\n";
  return dot.str();
}

}  // namespace espalier::graph
