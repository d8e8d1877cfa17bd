#include "espalier/kernel/graph/spanning_tree.hpp"

#include <boost/graph/depth_first_search.hpp>
#include <boost/graph/filtered_graph.hpp>
#include <boost/pending/disjoint_sets.hpp>
#include <boost/property_map/property_map.hpp>

#include <algorithm>
#include <sstream>

#include "espalier/kernel/errors.hpp"
#include "espalier/kernel/graph/connectivity_graph.hpp"
#include "espalier/kernel/graph/text.hpp"

namespace espalier::graph {
namespace {

using text::dot_string;
using text::listed;
using text::quoted;

enum class Preference : char { in_tree, none, cut };

std::vector<Preference> preferences(const ConnectivityGraph& graph, const TreeOptions& options) {
  std::vector<Preference> result(graph.joint_count(), Preference::none);
  const auto check = [&](int joint) {
    if (joint >= 0 && joint < graph.joint_count()) return;
    throw InvalidModel("spanning tree: a preferred joint is number " + std::to_string(joint) +
                       ", expected 0 to " + std::to_string(graph.joint_count() - 1));
  };
  for (const int joint : options.preferred_in_tree) {
    check(joint);
    if (graph.joint(joint).loop) {
      throw InvalidModel("spanning tree: a joint preferred in the tree is the loop joint " +
                         quoted(graph.joint(joint).name) +
                         ", expected an ordinary joint (loop joints are always cut)");
    }
    result[joint] = Preference::in_tree;
  }
  for (const int joint : options.preferred_cut) {
    check(joint);
    if (result[joint] == Preference::in_tree) {
      throw InvalidModel("spanning tree: joint " + quoted(graph.joint(joint).name) +
                         " is preferred both in the tree and as cut, expected one of them");
    }
    result[joint] = Preference::cut;
  }
  return result;
}

/// Which joints are in the tree. Kruskal's algorithm, where the "weight" of a joint is its
/// preference, then whether it can be taken in its own direction, then its number.
std::vector<char> choose_joints(const ConnectivityGraph& graph,
                                const std::vector<Preference>& preference) {
  std::vector<char> in_tree(graph.joint_count(), 0);
  std::vector<char> has_parent(graph.body_count(), 0);
  has_parent[0] = 1;
  boost::disjoint_sets_with_storage<> connected(graph.body_count());
  for (const Preference level : {Preference::in_tree, Preference::none, Preference::cut}) {
    for (const bool forward_only : {true, false}) {
      for (int j = 0; j < graph.joint_count(); ++j) {
        const Joint& joint = graph.joint(j);
        if (joint.loop || in_tree[j] || preference[j] != level) continue;
        if (forward_only && has_parent[joint.successor]) continue;
        const auto a = connected.find_set(joint.predecessor);
        const auto b = connected.find_set(joint.successor);
        if (a == b) continue;
        connected.link(a, b);
        in_tree[j] = 1;
        has_parent[joint.successor] = 1;
      }
    }
  }
  return in_tree;
}

struct InTree {
  const std::vector<char>* in_tree = nullptr;
  boost::property_map<ConnectivityGraph::Topology, boost::edge_index_t>::const_type number;

  template <class Edge>
  bool operator()(const Edge& edge) const {
    return (*in_tree)[get(number, edge)] != 0;
  }
};

/// Notes parents and preorder while Boost.Graph walks down the tree.
struct Recorder : boost::default_dfs_visitor {
  std::vector<int>* parent = nullptr;
  std::vector<int>* joint = nullptr;
  std::vector<int>* preorder = nullptr;

  template <class Vertex, class Graph>
  void discover_vertex(Vertex body, const Graph&) {
    preorder->push_back(static_cast<int>(body));
  }
  template <class Edge, class Graph>
  void tree_edge(const Edge& edge, const Graph& g) {
    const auto body = target(edge, g);
    (*parent)[body] = static_cast<int>(source(edge, g));
    (*joint)[body] = get(boost::edge_index, g, edge);
  }
};

[[noreturn]] void refuse_disconnected(const ConnectivityGraph& graph,
                                      const std::vector<int>& index) {
  std::vector<std::string> names;
  for (int b = 0; b < graph.body_count(); ++b) {
    if (index[b] < 0) names.push_back(graph.body_name(b));
  }
  std::string advice = "join them to it or remove them";
  for (int j = 0; j < graph.joint_count(); ++j) {
    const Joint& joint = graph.joint(j);
    if (!joint.loop || (index[joint.predecessor] < 0) == (index[joint.successor] < 0)) continue;
    advice =
        "only loop joint " + quoted(joint.name) + " leads to " +
        quoted(graph.body_name(index[joint.successor] < 0 ? joint.successor : joint.predecessor)) +
        ", and loop joints are never part of the tree: make it an ordinary joint";
    break;
  }
  throw InvalidModel("spanning tree: the set of bodies without a connection to the ground " +
                     quoted(graph.body_name(0)) + " is " + listed(names) +
                     ", expected a chain of joints from the ground to every body (" + advice + ")");
}

}  // namespace

SpanningTree spanning_tree(const ConnectivityGraph& graph, const TreeOptions& options) {
  const int n = graph.body_count();
  const auto in_tree = choose_joints(graph, preferences(graph, options));

  SpanningTree tree;
  tree.parent_.assign(n, -1);
  tree.joint_.assign(n, -1);
  tree.preorder_.reserve(n);

  const auto& topology = graph.topology();
  const boost::filtered_graph forest(topology, InTree{&in_tree, get(boost::edge_index, topology)});
  Recorder recorder;
  recorder.parent = &tree.parent_;
  recorder.joint = &tree.joint_;
  recorder.preorder = &tree.preorder_;
  std::vector<boost::default_color_type> colors(n);
  boost::depth_first_visit(
      forest, 0, recorder,
      boost::make_iterator_property_map(colors.begin(), get(boost::vertex_index, topology)));

  tree.preorder_index_.assign(n, -1);
  for (int i = 0; i < static_cast<int>(tree.preorder_.size()); ++i) {
    tree.preorder_index_[tree.preorder_[i]] = i;
  }
  if (static_cast<int>(tree.preorder_.size()) < n) {
    refuse_disconnected(graph, tree.preorder_index_);
  }

  tree.depth_.assign(n, 0);
  tree.reversed_.assign(n, 0);
  tree.child_.assign(graph.joint_count(), -1);
  tree.first_child_.assign(n + 1, 0);
  for (const int b : tree.preorder_) {
    if (b == 0) continue;
    tree.depth_[b] = tree.depth_[tree.parent_[b]] + 1;
    tree.reversed_[b] = graph.joint(tree.joint_[b]).predecessor == b ? 1 : 0;
    tree.child_[tree.joint_[b]] = b;
    ++tree.first_child_[tree.parent_[b] + 1];
  }
  for (int b = 0; b < n; ++b) tree.first_child_[b + 1] += tree.first_child_[b];
  tree.children_.resize(n - 1);
  std::vector<int> next(tree.first_child_.begin(), tree.first_child_.end() - 1);
  for (int j = 0; j < graph.joint_count(); ++j) {
    if (tree.child_[j] >= 0) {
      tree.children_[next[tree.parent_[tree.child_[j]]]++] = tree.child_[j];
    } else {
      tree.cut_joints_.push_back(j);
    }
  }

  // Heavy paths: from each body, the child with the largest subtree continues the body's path, so
  // that every way to the ground changes paths at most log2(n) times.
  tree.size_.assign(n, 1);
  for (int i = n - 1; i > 0; --i) {
    const int b = tree.preorder_[i];
    tree.size_[tree.parent_[b]] += tree.size_[b];
  }
  tree.head_.assign(n, 0);
  for (const int b : tree.preorder_) {
    int heavy = -1;
    for (const int c : tree.children(b)) {
      tree.head_[c] = c;
      if (heavy < 0 || tree.size_[c] > tree.size_[heavy]) heavy = c;
    }
    if (heavy >= 0) tree.head_[heavy] = tree.head_[b];
  }
  return tree;
}

int SpanningTree::nearest_common_ancestor(int a, int b) const {
  while (head_[a] != head_[b]) {
    if (depth_[head_[a]] < depth_[head_[b]]) std::swap(a, b);
    a = parent_[head_[a]];
  }
  return depth_[a] < depth_[b] ? a : b;
}

std::vector<int> SpanningTree::path(int ancestor, int body) const {
  std::vector<int> result(depth_[body] - depth_[ancestor]);
  for (auto it = result.rbegin(); it != result.rend(); ++it) {
    *it = body;
    body = parent_[body];
  }
  return result;
}

std::vector<FundamentalCycle> fundamental_cycles(const ConnectivityGraph& graph,
                                                 const SpanningTree& tree) {
  std::vector<FundamentalCycle> cycles;
  for (const int j : tree.cut_joints()) {
    const int p = graph.joint(j).predecessor;
    const int s = graph.joint(j).successor;
    const int ancestor = tree.nearest_common_ancestor(p, s);
    cycles.push_back({j, ancestor, tree.path(ancestor, p), tree.path(ancestor, s)});
  }
  return cycles;
}

std::string tree_dot(const ConnectivityGraph& graph, const SpanningTree& tree) {
  std::ostringstream dot;
  dot << "digraph spanning_tree {\n  node [shape=box];\n";
  for (const int b : tree.preorder()) {
    dot << "  b" << b << " [label=" << dot_string(graph.body_name(b))
        << (b == 0 ? ", shape=doublecircle" : "") << "];\n";
    if (b == 0) continue;
    dot << "  b" << tree.parent(b) << " -> b" << b
        << " [label=" << dot_string(graph.joint(tree.joint(b)).name)
        << (tree.reversed(b) ? ", arrowhead=inv" : "") << "];\n";
  }
  dot << "}\n";
  return dot.str();
}

}  // namespace espalier::graph
