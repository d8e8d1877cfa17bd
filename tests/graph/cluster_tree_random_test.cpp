#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <vector>

#include "espalier/kernel/graph/cluster_tree.hpp"
#include "mechanism.hpp"

/// Random mechanisms: small ones against all partitions there are and against a slow program that
/// follows the definition, large ones against what every cluster tree must satisfy.

namespace espalier::graph::testing::cluster_tree_random_test {
namespace {

using Ties = std::vector<std::set<int>>;

std::vector<int> classes_of(const Partition& partition, int bodies) {
  std::vector<int> result(bodies, -1);  // of the ground: -1
  int number = 0;
  for (const auto& bodies_of_class : partition) {
    for (const int b : bodies_of_class) result[b] = number;
    ++number;
  }
  return result;
}

bool valid(const RandomMechanism& m, const Ties& ties, const std::vector<int>& class_of) {
  for (const auto& tie : ties) {
    for (const int b : tie) {
      if (class_of[b] != class_of[*tie.begin()]) return false;
    }
  }
  std::map<int, int> parent_class;
  for (int b = 1; b < m.body_count(); ++b) {
    const int above = class_of[m.parent[b]];
    if (above == class_of[b]) continue;
    if (parent_class.emplace(class_of[b], above).first->second != above) return false;
  }
  return true;
}

/// Whether every class hangs together by ties alone, each with what is between it and the class's
/// output bodies.
bool held_together(const RandomMechanism& m, const Ties& ties, const std::vector<int>& class_of) {
  std::vector<int> label(m.body_count());
  std::iota(label.begin(), label.end(), 0);
  const auto same = [&](int a, int b) {
    const int from = label[a], to = label[b];
    std::replace(label.begin(), label.end(), from, to);
  };
  for (const auto& tie : ties) {
    for (int b : tie) {
      same(b, *tie.begin());
      for (; class_of[m.parent[b]] == class_of[b]; b = m.parent[b]) same(b, m.parent[b]);
    }
  }
  std::map<int, int> label_of_class;
  for (int b = 1; b < m.body_count(); ++b) {
    if (label_of_class.emplace(class_of[b], label[b]).first->second != label[b]) return false;
  }
  return true;
}

bool strictly_finer(const std::vector<int>& fine, const std::vector<int>& coarse) {
  std::map<int, int> into;
  std::set<int> coarse_classes;
  for (std::size_t b = 1; b < fine.size(); ++b) {
    if (into.emplace(fine[b], coarse[b]).first->second != coarse[b]) return false;
    coarse_classes.insert(coarse[b]);
  }
  return into.size() > coarse_classes.size();
}

/// All partitions of bodies 1..n-1; class numbers grow with the first body.
void for_all_partitions(int n, const std::function<void(const std::vector<int>&)>& visit) {
  std::vector<int> class_of(n, -1);
  const std::function<void(int, int)> place = [&](int b, int used) {
    if (b == n) return visit(class_of);
    for (int k = 0; k <= used; ++k) {
      class_of[b] = k;
      place(b + 1, std::max(used, k + 1));
    }
  };
  place(1, 0);
}

/// The definition, word by word and slowly: from the ground outwards, the classes that hang on a
/// class are the least sets that contain their tops, the ties that they meet and what is between.
Partition slow_clusters(const RandomMechanism& m, Ties ties, bool layered) {
  // Overlapping ties are one.
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t i = 0; i < ties.size(); ++i) {
      for (std::size_t j = i + 1; j < ties.size(); ++j) {
        const bool overlap = std::any_of(ties[i].begin(), ties[i].end(),
                                         [&](int b) { return ties[j].count(b) > 0; });
        if (!overlap) continue;
        ties[i].insert(ties[j].begin(), ties[j].end());
        ties.erase(ties.begin() + static_cast<std::ptrdiff_t>(j));
        changed = true;
        --j;
      }
    }
  }
  Partition result;
  std::set<int> done{0};
  std::vector<std::set<int>> to_do{{0}};
  while (!to_do.empty()) {
    const std::set<int> P = to_do.back();
    to_do.pop_back();
    std::vector<std::set<int>> classes;
    const auto find = [&](int b) {
      return std::find_if(classes.begin(), classes.end(),
                          [&](const auto& c) { return c.count(b) > 0; });
    };
    // The first class met on the way up from b, if that comes before P.
    const auto class_over = [&](int b) -> std::optional<std::ptrdiff_t> {
      for (; b >= 0 && P.count(b) == 0; b = m.parent[b]) {
        if (find(b) != classes.end()) return find(b) - classes.begin();
      }
      return std::nullopt;
    };
    const auto unite = [&](const std::set<int>& bodies) {  // with all classes that they meet
      std::set<int> all = bodies;
      for (auto c = classes.begin(); c != classes.end();) {
        const bool meets =
            std::any_of(bodies.begin(), bodies.end(), [&](int b) { return c->count(b) > 0; });
        if (meets) all.insert(c->begin(), c->end());
        c = meets ? classes.erase(c) : c + 1;
      }
      classes.push_back(all);
    };
    const auto complete = [&] {
      for (bool changed = true; changed;) {
        changed = false;
        for (const auto& tie : ties) {
          const bool met =
              std::any_of(tie.begin(), tie.end(), [&](int b) { return find(b) != classes.end(); });
          const bool inside = met && std::any_of(classes.begin(), classes.end(), [&](auto& c) {
                                return std::includes(c.begin(), c.end(), tie.begin(), tie.end());
                              });
          if (!met || inside) continue;
          unite(tie);
          changed = true;
        }
        for (int b = 1; b < m.body_count(); ++b) {
          const auto c = find(b);
          const int above = m.parent[b];
          if (c == classes.end() || P.count(above) > 0 || c->count(above) > 0) continue;
          unite({b, above});
          changed = true;
        }
      }
    };
    for (int b = 1; b < m.body_count(); ++b) {
      if (P.count(m.parent[b]) > 0 && done.count(b) == 0) classes.push_back({b});
    }
    complete();
    Ties across;
    for (const auto& tie : ties) {
      std::set<std::ptrdiff_t> over;
      for (const int b : tie) {
        if (const auto c = class_over(b)) over.insert(*c);
      }
      if (over.size() < 2) continue;
      across.push_back(tie);
      if (!layered) continue;
      across.back().clear();
      for (const auto c : over) across.back().insert(*classes[static_cast<std::size_t>(c)].begin());
    }
    for (const auto& bodies : across) unite(bodies);
    complete();
    for (const auto& c : classes) {
      result.insert(c);
      done.insert(c.begin(), c.end());
      to_do.push_back(c);
    }
  }
  return result;
}

Partition fast_clusters(const RandomMechanism& m, bool layered) {
  const auto graph = m.build();
  return partition(cluster_tree(graph, spanning_tree(graph), {.layered = layered}));
}

/// Mechanisms of few bodies where constraints often meet.
RandomMechanism small(std::mt19937& rng, int bodies) {
  const int loops = static_cast<int>(rng() % 2);
  const int couplings = static_cast<int>(rng() % 4);
  return RandomMechanism::make(rng, bodies, loops, couplings, 1 + static_cast<int>(rng() % 4),
                               bodies);
}

TEST(RandomClusterTreeTest, LayeredClustersAreTheLeastFromTheGroundOutwards) {
  std::mt19937 rng(11);
  int multi = 0;
  for (int round = 0; round < 400; ++round) {
    const auto m = small(rng, 7);
    const auto ties = m.ties();
    const auto ours = classes_of(fast_clusters(m, true), m.body_count());
    ASSERT_TRUE(valid(m, ties, ours));
    std::vector<std::vector<int>> all;
    for_all_partitions(m.body_count(), [&](const std::vector<int>& class_of) {
      if (valid(m, ties, class_of)) all.push_back(class_of);
    });
    for (const auto& other : all) ASSERT_FALSE(strictly_finer(other, ours));
    // From the ground outwards: among the valid partitions that share our classes so far, the
    // class of a body whose parent is done is what is common to all of them.
    std::set<int> done{0};
    while (static_cast<int>(done.size()) < m.body_count()) {
      int top = 1;
      while (done.count(top) > 0 || done.count(m.parent[top]) == 0) ++top;
      // The class hangs on its parent's class as a whole, so one of its bodies decides for all.
      std::set<int> common;
      for (int b = 1; b < m.body_count(); ++b) {
        if (std::all_of(all.begin(), all.end(), [&](const auto& p) { return p[b] == p[top]; })) {
          common.insert(b);
        }
      }
      for (int b = 1; b < m.body_count(); ++b) {
        ASSERT_EQ(common.count(b) > 0, ours[b] == ours[top]) << "body " << b << ", top " << top;
      }
      multi += common.size() > 1 ? 1 : 0;
      std::erase_if(all, [&](const auto& p) {
        for (int b = 1; b < m.body_count(); ++b) {
          if ((p[b] == p[top]) != (common.count(b) > 0)) return true;
        }
        return false;
      });
      done.insert(common.begin(), common.end());
    }
  }
  EXPECT_GT(multi, 200);  // the mechanisms are not trivial
}

TEST(RandomClusterTreeTest, ClustersAreValidAndHeldTogetherByConstraints) {
  std::mt19937 rng(12);
  for (int round = 0; round < 2000; ++round) {
    const auto m = small(rng, 4 + static_cast<int>(rng() % 12));
    const auto ours = classes_of(fast_clusters(m, false), m.body_count());
    ASSERT_TRUE(valid(m, m.ties(), ours));
    ASSERT_TRUE(held_together(m, m.ties(), ours));
  }
}

TEST(RandomClusterTreeTest, NoFinerClustersAreHeldTogetherUnlessCouplingsCompete) {
  std::mt19937 rng(13);
  for (int round = 0; round < 400; ++round) {
    // One coupling: no two can compete for joining the same branches.
    const auto m = RandomMechanism::make(rng, 7, static_cast<int>(rng() % 3), 1,
                                         1 + static_cast<int>(rng() % 4), 7);
    const auto ties = m.ties();
    const auto ours = classes_of(fast_clusters(m, false), m.body_count());
    for_all_partitions(m.body_count(), [&](const std::vector<int>& other) {
      if (!strictly_finer(other, ours) || !valid(m, ties, other)) return;
      ASSERT_FALSE(held_together(m, ties, other));
    });
  }
}

TEST(RandomClusterTreeTest, FastAndSlowFindTheSameClusters) {
  std::mt19937 rng(14);
  int different = 0;
  for (int round = 0; round < 3000; ++round) {
    const int bodies = 3 + static_cast<int>(rng() % 30);
    const int loops = round % 2 == 0 ? 0 : static_cast<int>(rng() % 4);
    const auto m = RandomMechanism::make(rng, bodies, loops, static_cast<int>(rng() % 7),
                                         1 + static_cast<int>(rng() % 5), bodies);
    const auto joined = fast_clusters(m, false);
    const auto layered = fast_clusters(m, true);
    ASSERT_EQ(joined, slow_clusters(m, m.ties(), false));
    ASSERT_EQ(layered, slow_clusters(m, m.ties(), true));
    different += joined != layered ? 1 : 0;
  }
  EXPECT_GT(different, 100);  // couplings across branches do occur
}

TEST(RandomClusterTreeTest, OrderOfInsertionDoesNotMatter) {
  std::mt19937 rng(15);
  for (int round = 0; round < 60; ++round) {
    const int bodies = round < 50 ? 60 : 3000;
    const auto m = RandomMechanism::make(rng, bodies, bodies / 10, bodies / 6,
                                         1 + static_cast<int>(rng() % 8), 8);
    for (const bool layered : {false, true}) {
      const auto graph = m.build();
      const auto expected =
          named_partition(graph, cluster_tree(graph, spanning_tree(graph), {.layered = layered}));
      for (int shuffle = 0; shuffle < 3; ++shuffle) {
        const auto shuffled = m.build(&rng);
        ASSERT_EQ(named_partition(shuffled, cluster_tree(shuffled, spanning_tree(shuffled),
                                                         {.layered = layered})),
                  expected);
      }
    }
  }
}

/// What holds for every cluster tree; the graph may number bodies in any order.
void check_invariants(const ConnectivityGraph& graph, const SpanningTree& tree,
                      const ClusterTree& result) {
  const int n = graph.body_count();
  ASSERT_EQ(static_cast<int>(result.body_order.size()), n);
  ASSERT_EQ(result.body_order[0], 0);
  ASSERT_EQ(result.cluster_of[0], -1);
  for (int i = 0; i < n; ++i) ASSERT_EQ(result.new_number[result.body_order[i]], i);
  for (int b = 1; b < n; ++b) {
    ASSERT_LT(result.new_number[tree.parent(b)], result.new_number[b]);
  }
  int next = 1;
  int cut_joints = 0, couplings = 0;
  // Depth first: the parent is the cluster just before, or one of those above it.
  std::vector<int> open;
  for (int k = 0; k < static_cast<int>(result.size()); ++k) {
    const Cluster& cluster = result.cluster(k);
    ASSERT_LT(cluster.parent, k);
    while (!open.empty() && open.back() != cluster.parent) open.pop_back();
    ASSERT_EQ(open.empty() ? -1 : open.back(), cluster.parent);
    open.push_back(k);
    ASSERT_FALSE(cluster.bodies.empty());
    ASSERT_EQ(cluster.first, next);
    ASSERT_EQ(cluster.output_of.size(), cluster.bodies.size());
    std::set<int> outputs;
    for (std::size_t i = 0; i < cluster.bodies.size(); ++i) {
      const int b = cluster.bodies[i];
      ASSERT_EQ(result.body_order[next++], b);
      ASSERT_EQ(result.cluster_of[b], k);
      int output = tree.parent(b);
      while (output != 0 && result.cluster_of[output] == k) output = tree.parent(output);
      ASSERT_EQ(cluster.output_of[i], output);
      ASSERT_EQ(result.cluster_of[output], cluster.parent);
      outputs.insert(output);
    }
    ASSERT_EQ(std::set<int>(cluster.supports.begin(), cluster.supports.end()), outputs);
    ASSERT_EQ(cluster.supports.size(), outputs.size());
    for (std::size_t i = 1; i < cluster.supports.size(); ++i) {
      ASSERT_LT(result.new_number[cluster.supports[i - 1]], result.new_number[cluster.supports[i]]);
    }
    for (const int j : cluster.cut_joints) {
      const int a = graph.joint(j).predecessor, b = graph.joint(j).successor;
      const int ancestor = tree.nearest_common_ancestor(a, b);
      for (const int end : {a, b}) {
        for (const int x : tree.path(ancestor, end)) ASSERT_EQ(result.cluster_of[x], k);
      }
      ++cut_joints;
    }
    for (const int c : cluster.couplings) {
      for (const int j : graph.coupling(c).joints) {
        ASSERT_EQ(result.cluster_of[tree.child(j)], k);
      }
      ++couplings;
    }
  }
  ASSERT_EQ(next, n);
  ASSERT_EQ(cut_joints, static_cast<int>(tree.cut_joints().size()));
  ASSERT_EQ(couplings, graph.coupling_count());
}

TEST(RandomClusterTreeTest, LargeMechanismsGiveRegularClusterTrees) {
  std::mt19937 rng(16);
  for (int round = 0; round < 12; ++round) {
    const int bodies = 4000;
    const int reach = std::vector<int>{1, 3, 30, bodies}[round % 4];
    const auto m =
        RandomMechanism::make(rng, bodies, round % 3 == 0 ? 0 : bodies / 20, bodies / 15, reach, 6);
    const auto graph = m.build(&rng);
    const auto tree = spanning_tree(graph);
    for (const bool layered : {false, true}) {
      const auto result = cluster_tree(graph, tree, {.layered = layered});
      check_invariants(graph, tree, result);
      if (HasFatalFailure()) return;
    }
  }
}

TEST(RandomClusterTreeTest, TenThousandBodiesAndLoops) {
  std::mt19937 rng(17);
  const auto m = RandomMechanism::make(rng, 10000, 10000, 2000, 5, 6);
  const auto graph = m.build();
  const auto tree = spanning_tree(graph);
  check_invariants(graph, tree, cluster_tree(graph, tree));
}

TEST(RandomClusterTreeTest, TenThousandFourBarsInAChainAreTenThousandClusters) {
  ConnectivityGraph graph;
  int base = 0;
  const int count = 10000;
  for (int k = 0; k < count; ++k) {
    const auto id = std::to_string(k);
    const int crank = graph.add_body("crank" + id);
    const int coupler = graph.add_body("coupler" + id);
    const int rocker = graph.add_body("rocker" + id);
    graph.add_joint("a" + id, base, crank);
    graph.add_joint("b" + id, crank, coupler);
    graph.add_joint("c" + id, base, rocker);
    graph.add_loop("d" + id, coupler, rocker);
    base = coupler;
  }
  const auto tree = spanning_tree(graph);
  const auto result = cluster_tree(graph, tree);
  check_invariants(graph, tree, result);
  EXPECT_EQ(static_cast<int>(result.size()), count);
}

TEST(RandomClusterTreeTest, TenThousandLoopsAsLongAsTheChainAreOneCluster) {
  ConnectivityGraph graph;  // near-linear even where the cycles are as long as the robot
  const int count = 10000;
  for (int b = 1; b <= count; ++b) {
    graph.add_body(std::to_string(b));
    graph.add_joint("j" + std::to_string(b), b - 1, b);
  }
  for (int k = 0; k < count; ++k) graph.add_loop("l" + std::to_string(k), k % 7, count - k % 11);
  const auto result = cluster_tree(graph, spanning_tree(graph));
  ASSERT_EQ(result.size(), 1u);
  EXPECT_EQ(static_cast<int>(result.cluster(0).cut_joints.size()), count);
}

}  // namespace
}  // namespace espalier::graph::testing::cluster_tree_random_test
