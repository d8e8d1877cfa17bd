#pragma once

#include <algorithm>
#include <iterator>
#include <numeric>
#include <random>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "espalier/kernel/graph/cluster_tree.hpp"
#include "espalier/kernel/graph/connectivity_graph.hpp"
#include "espalier/kernel/graph/spanning_tree.hpp"

/// Mechanisms for the tests of kernel/graph.

namespace espalier::graph::testing {

/// A connectivity graph written by names: each body hangs on a joint "j_<body>".
class Mechanism {
 public:
  Mechanism& body(const std::string& name, const std::string& parent = "ground") {
    const int b = graph.add_body(name);
    graph.add_joint("j_" + name, at(parent), b);
    return *this;
  }
  Mechanism& loop(const std::string& name, const std::string& a, const std::string& b) {
    graph.add_loop(name, at(a), at(b));
    return *this;
  }
  /// Couples the joints that these bodies hang on.
  Mechanism& couple(const std::string& name, const std::vector<std::string>& bodies) {
    std::vector<int> joints;
    for (const auto& b : bodies) joints.push_back(graph.find_joint("j_" + b));
    graph.add_coupling(name, joints);
    return *this;
  }
  int at(const std::string& name) const { return graph.find_body(name); }
  std::vector<std::string> names(std::span<const int> bodies) const {
    std::vector<std::string> result;
    for (const int b : bodies) result.push_back(graph.body_name(b));
    return result;
  }
  ClusterTree clusters(const ClusterOptions& options = {}) const {
    return cluster_tree(graph, spanning_tree(graph), options);
  }

  ConnectivityGraph graph;
};

using Names = std::vector<std::string>;
using Partition = std::set<std::set<int>>;  ///< of the moving bodies
using NamedPartition = std::set<std::set<std::string>>;

inline Partition partition(const ClusterTree& clusters) {
  Partition result;
  for (int k = 0; k < clusters.size(); ++k) {
    const auto& bodies = clusters.cluster(k).bodies;
    result.emplace(bodies.begin(), bodies.end());
  }
  return result;
}

inline NamedPartition named_partition(const ConnectivityGraph& graph, const ClusterTree& clusters) {
  NamedPartition result;
  for (int k = 0; k < clusters.size(); ++k) {
    std::set<std::string> names;
    for (const int b : clusters.cluster(k).bodies) names.insert(graph.body_name(b));
    result.insert(names);
  }
  return result;
}

/// A random mechanism as plain numbers, so that it can be built in any order.
struct RandomMechanism {
  std::vector<int> parent;                  ///< of body i; parent[0] = -1, parent[i] < i
  std::vector<std::pair<int, int>> loops;   ///< between bodies
  std::vector<std::vector<int>> couplings;  ///< bodies whose joints are coupled

  int body_count() const { return static_cast<int>(parent.size()); }

  /// Each body hangs on one of the `reach` bodies before it (large: bushy, 1: a chain); loops join
  /// bodies that are at most `span` numbers apart.
  static RandomMechanism make(std::mt19937& rng, int bodies, int loops, int couplings, int reach,
                              int span) {
    const auto draw = [&](int low, int high) {
      return std::uniform_int_distribution<int>(low, high)(rng);
    };
    RandomMechanism m;
    m.parent.push_back(-1);
    for (int b = 1; b <= bodies; ++b) m.parent.push_back(draw(std::max(0, b - reach), b - 1));
    while (static_cast<int>(m.loops.size()) < loops) {
      const int a = draw(0, bodies);
      const int b = draw(std::max(0, a - span), std::min(bodies, a + span));
      if (a != b) m.loops.emplace_back(a, b);
    }
    while (static_cast<int>(m.couplings.size()) < couplings) {
      std::set<int> tied;
      const int a = draw(1, bodies);
      const int size = draw(2, 3);
      for (int k = 0; k < size; ++k) {
        tied.insert(draw(std::max(1, a - span), std::min(bodies, a + span)));
      }
      if (tied.size() > 1) m.couplings.emplace_back(tied.begin(), tied.end());
    }
    return m;
  }

  /// The graph with bodies 1..n, joints and constraints added in a shuffled order, or in their own
  /// (rng = nullptr). Names keep the original numbers.
  ConnectivityGraph build(std::mt19937* rng = nullptr) const {
    const auto shuffled = [&](std::size_t size, int first) {
      std::vector<int> order(size);
      std::iota(order.begin(), order.end(), first);
      if (rng != nullptr) std::shuffle(order.begin(), order.end(), *rng);
      return order;
    };
    ConnectivityGraph graph("0");
    std::vector<int> number(body_count(), 0), joint(body_count(), -1);
    for (const int b : shuffled(parent.size() - 1, 1)) {
      number[b] = graph.add_body(std::to_string(b));
    }
    for (const int b : shuffled(parent.size() - 1, 1)) {
      joint[b] = graph.add_joint("j" + std::to_string(b), number[parent[b]], number[b]);
    }
    for (const int l : shuffled(loops.size(), 0)) {
      graph.add_loop("l" + std::to_string(l), number[loops[l].first], number[loops[l].second]);
    }
    for (const int c : shuffled(couplings.size(), 0)) {
      std::vector<int> joints;
      for (const int b : couplings[c]) joints.push_back(joint[b]);
      graph.add_coupling("c" + std::to_string(c), joints);
    }
    return graph;
  }

  /// Bodies from `body` up to the ground, both included.
  std::vector<int> chain(int body) const {
    std::vector<int> result;
    for (; body >= 0; body = parent[body]) result.push_back(body);
    return result;
  }

  /// What each constraint ties, straight from the definition; overlapping sets are not united.
  std::vector<std::set<int>> ties() const {
    std::vector<std::set<int>> result;
    for (const auto& [a, b] : loops) {
      // The bodies that support one end but not both: the cycle without its common ancestor.
      std::set<int> up_a, up_b, tied;
      for (const int x : chain(a)) up_a.insert(x);
      for (const int x : chain(b)) up_b.insert(x);
      std::set_symmetric_difference(up_a.begin(), up_a.end(), up_b.begin(), up_b.end(),
                                    std::inserter(tied, tied.end()));
      result.push_back(tied);
    }
    for (const auto& c : couplings) result.emplace_back(c.begin(), c.end());
    return result;
  }
};

}  // namespace espalier::graph::testing
