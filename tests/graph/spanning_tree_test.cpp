#include "espalier/kernel/graph/spanning_tree.hpp"

#include <gtest/gtest.h>

#include <random>
#include <set>
#include <string>
#include <vector>

#include "espalier/kernel/errors.hpp"
#include "mechanism.hpp"
#include "refusal.hpp"

namespace espalier::graph::testing::spanning_tree_test {
namespace {

using Numbers = std::vector<int>;

Numbers list(std::span<const int> numbers) { return {numbers.begin(), numbers.end()}; }

std::string refusal(const ConnectivityGraph& graph, const TreeOptions& options = {}) {
  return message<InvalidModel>([&] { spanning_tree(graph, options); });
}

/// Ground, then bodies 1..n, without joints.
ConnectivityGraph bodies(int n) {
  ConnectivityGraph graph;
  for (int b = 1; b <= n; ++b) graph.add_body("b" + std::to_string(b));
  return graph;
}

TEST(SpanningTreeTest, TreeOfTheFileIsKept) {
  Mechanism m;
  m.body("torso").body("left", "torso").body("right", "torso").body("hand", "left");
  const auto tree = spanning_tree(m.graph);
  EXPECT_EQ(tree.parent(0), -1);
  EXPECT_EQ(tree.joint(0), -1);
  EXPECT_EQ(tree.parent(m.at("hand")), m.at("left"));
  EXPECT_EQ(tree.joint(m.at("hand")), m.graph.find_joint("j_hand"));
  EXPECT_EQ(tree.child(m.graph.find_joint("j_hand")), m.at("hand"));
  EXPECT_EQ(tree.depth(m.at("hand")), 3);
  EXPECT_EQ(m.names(tree.children(m.at("torso"))), (Names{"left", "right"}));
  EXPECT_EQ(m.names(tree.preorder()), (Names{"ground", "torso", "left", "hand", "right"}));
  EXPECT_TRUE(tree.cut_joints().empty());
  for (int b = 0; b < tree.body_count(); ++b) EXPECT_FALSE(tree.reversed(b));
}

TEST(SpanningTreeTest, JointThatClosesACycleIsCut) {
  auto graph = bodies(3);
  graph.add_joint("crank", 0, 1);
  graph.add_joint("coupler", 1, 2);
  graph.add_joint("rocker", 0, 3);
  graph.add_joint("pin", 2, 3);
  const auto tree = spanning_tree(graph);
  EXPECT_EQ(list(tree.cut_joints()), (Numbers{3}));
  EXPECT_EQ(tree.child(3), -1);
  EXPECT_EQ(tree.parent(3), 0);
}

TEST(SpanningTreeTest, BodyHangsOnTheFirstJointThatNamesItAsSuccessor) {
  auto graph = bodies(2);
  graph.add_joint("x", 0, 1);
  graph.add_joint("y", 1, 2);
  graph.add_joint("z", 0, 2);
  EXPECT_EQ(spanning_tree(graph).parent(2), 1);
}

TEST(SpanningTreeTest, ForwardJointIsTakenBeforeAnEarlierBackwardOne) {
  auto graph = bodies(2);
  graph.add_joint("a", 0, 1);
  graph.add_joint("against", 2, 1);  // would make body 2 hang on its successor
  graph.add_joint("along", 0, 2);
  const auto tree = spanning_tree(graph);
  EXPECT_EQ(tree.joint(2), 2);
  EXPECT_FALSE(tree.reversed(2));
  EXPECT_EQ(list(tree.cut_joints()), (Numbers{1}));
}

TEST(SpanningTreeTest, JointIsTraversedBackwardsWhereNothingElseLeads) {
  auto graph = bodies(2);
  graph.add_joint("a", 2, 1);
  graph.add_joint("b", 0, 1);
  const auto tree = spanning_tree(graph);  // 0 -> 1, then back along "a" to 2
  EXPECT_EQ(tree.parent(2), 1);
  EXPECT_TRUE(tree.reversed(2));
  EXPECT_FALSE(tree.reversed(1));
  EXPECT_TRUE(tree.cut_joints().empty());
}

TEST(SpanningTreeTest, RootMayBeAnyonesSuccessor) {
  auto graph = bodies(2);
  graph.add_joint("a", 1, 0);
  graph.add_joint("b", 2, 1);
  const auto tree = spanning_tree(graph);
  EXPECT_EQ(list(tree.preorder()), (Numbers{0, 1, 2}));
  EXPECT_TRUE(tree.reversed(1) && tree.reversed(2));
}

TEST(SpanningTreeTest, LoopIsNeverPartOfTheTree) {
  auto graph = bodies(2);
  graph.add_loop("rod", 0, 2);
  graph.add_joint("x", 0, 1);
  graph.add_joint("y", 1, 2);
  const auto tree = spanning_tree(graph);
  EXPECT_EQ(tree.parent(2), 1);
  EXPECT_EQ(list(tree.cut_joints()), (Numbers{0}));
}

TEST(SpanningTreeTest, PreferencesChooseTheCutJoint) {
  auto graph = bodies(3);
  for (const auto& [a, b] : {std::pair{0, 1}, {1, 2}, {2, 3}, {0, 3}}) {
    graph.add_joint("j" + std::to_string(a) + std::to_string(b), a, b);
  }
  EXPECT_EQ(list(spanning_tree(graph).cut_joints()), (Numbers{3}));
  for (int cut = 0; cut < 4; ++cut) {
    EXPECT_EQ(list(spanning_tree(graph, {{}, {cut}}).cut_joints()), (Numbers{cut}));
    Numbers kept;
    for (int j = 0; j < 4; ++j) {
      if (j != cut) kept.push_back(j);
    }
    EXPECT_EQ(list(spanning_tree(graph, {kept, {}}).cut_joints()), (Numbers{cut}));
  }
}

TEST(SpanningTreeTest, BridgePreferredAsCutIsKept) {
  auto graph = bodies(1);
  graph.add_joint("only", 0, 1);
  EXPECT_TRUE(spanning_tree(graph, {{}, {0}}).cut_joints().empty());
}

TEST(SpanningTreeTest, PreferencesThatMakeNoSenseAreRefused) {
  auto graph = bodies(1);
  graph.add_joint("x", 0, 1);
  graph.add_loop("rod", 0, 1);
  EXPECT_NE(refusal(graph, {{0}, {0}}).find("'x'"), std::string::npos);
  EXPECT_NE(refusal(graph, {{1}, {}}).find("'rod'"), std::string::npos);
  EXPECT_NE(refusal(graph, {{}, {2}}).find("number 2"), std::string::npos);
}

TEST(SpanningTreeTest, BodiesWithoutConnectionAreNamed) {
  auto graph = bodies(4);
  graph.add_joint("x", 0, 1);
  graph.add_joint("y", 2, 3);
  const auto text = refusal(graph);
  EXPECT_NE(text.find("'b2', 'b3', 'b4'"), std::string::npos) << text;
  EXPECT_EQ(text.find("'b1'"), std::string::npos) << text;
}

TEST(SpanningTreeTest, BodyThatOnlyALoopHoldsIsRefusedWithTheLoopsName) {
  auto graph = bodies(2);
  graph.add_joint("x", 0, 1);
  graph.add_loop("rod", 1, 2);
  const auto text = refusal(graph);
  EXPECT_NE(text.find("'rod'"), std::string::npos) << text;
  EXPECT_NE(text.find("'b2'"), std::string::npos) << text;
}

TEST(SpanningTreeTest, PathsAndAncestorsAgreeWithTheirDefinition) {
  std::mt19937 rng(1);
  for (const int reach : {1, 3, 40}) {
    const auto m = RandomMechanism::make(rng, 150, 0, 0, reach, 1);
    const auto graph = m.build();
    const auto tree = spanning_tree(graph);
    for (int a = 0; a < m.body_count(); ++a) {
      const auto up_a = m.chain(a);
      ASSERT_EQ(tree.depth(a), static_cast<int>(up_a.size()) - 1);
      for (int b = 0; b < m.body_count(); ++b) {
        const auto up_b = m.chain(b);
        const auto meet = *std::find_first_of(up_a.begin(), up_a.end(), up_b.begin(), up_b.end());
        ASSERT_EQ(tree.nearest_common_ancestor(a, b), meet) << a << " " << b;
        ASSERT_EQ(tree.supports(a, b), meet == a);
      }
      Numbers down(up_a.rbegin() + 1, up_a.rend());
      ASSERT_EQ(tree.path(0, a), down);
    }
    EXPECT_TRUE(tree.path(7, 7).empty());
  }
}

TEST(SpanningTreeTest, RandomGraphsGiveTreesThatSpan) {
  std::mt19937 rng(2);
  for (int round = 0; round < 20; ++round) {
    const int n = 2000;
    auto m = RandomMechanism::make(rng, n, 0, 0, 30, 1);
    ConnectivityGraph graph = bodies(n);
    std::vector<std::pair<int, int>> edges;
    for (int b = 1; b <= n; ++b) edges.emplace_back(m.parent[b], b);
    for (int k = 0; k < 500; ++k) {
      edges.emplace_back(static_cast<int>(rng() % n), n - static_cast<int>(rng() % 3));
    }
    std::shuffle(edges.begin(), edges.end(), rng);
    int number = 0;
    for (auto [a, b] : edges) {
      if (a == b) continue;
      if (rng() % 2 == 0) std::swap(a, b);
      graph.add_joint("j" + std::to_string(number++), a, b);
    }
    const auto tree = spanning_tree(graph);
    ASSERT_EQ(static_cast<int>(tree.cut_joints().size()), graph.joint_count() - n);
    std::set<int> joints(tree.cut_joints().begin(), tree.cut_joints().end());
    for (int b = 1; b <= n; ++b) {
      const Joint& joint = graph.joint(tree.joint(b));
      ASSERT_EQ(tree.reversed(b) ? joint.predecessor : joint.successor, b);
      ASSERT_EQ(tree.reversed(b) ? joint.successor : joint.predecessor, tree.parent(b));
      ASSERT_LT(tree.preorder_index(tree.parent(b)), tree.preorder_index(b));
      ASSERT_TRUE(joints.insert(tree.joint(b)).second);
    }
    ASSERT_EQ(static_cast<int>(joints.size()), graph.joint_count());
  }
}

TEST(FundamentalCycleTest, CycleStartsBelowTheNearestCommonAncestor) {
  Mechanism m;
  m.body("o").body("crank", "o").body("coupler", "crank").body("rocker", "o");
  m.loop("pin", "coupler", "rocker");
  const auto cycles = fundamental_cycles(m.graph, spanning_tree(m.graph));
  ASSERT_EQ(cycles.size(), 1u);
  EXPECT_EQ(cycles[0].joint, m.graph.find_joint("pin"));
  EXPECT_EQ(cycles[0].ancestor, m.at("o"));
  EXPECT_EQ(m.names(cycles[0].to_predecessor), (Names{"crank", "coupler"}));
  EXPECT_EQ(m.names(cycles[0].to_successor), (Names{"rocker"}));
}

TEST(FundamentalCycleTest, LoopToASupportingBodyHasOneSide) {
  Mechanism m;
  m.body("a").body("b", "a").loop("rod", "b", "ground");
  const auto cycle = fundamental_cycles(m.graph, spanning_tree(m.graph)).front();
  EXPECT_EQ(cycle.ancestor, 0);
  EXPECT_EQ(m.names(cycle.to_predecessor), (Names{"a", "b"}));
  EXPECT_TRUE(cycle.to_successor.empty());
}

TEST(FundamentalCycleTest, JointsOfACycleAreTheTreePathsAndTheCutJoint) {
  std::mt19937 rng(3);
  const auto m = RandomMechanism::make(rng, 400, 200, 0, 20, 400);
  const auto graph = m.build();
  const auto cycles = fundamental_cycles(graph, spanning_tree(graph));
  const auto ties = m.ties();
  ASSERT_EQ(cycles.size(), ties.size());
  for (std::size_t k = 0; k < cycles.size(); ++k) {
    std::set<int> bodies_of_cycle(cycles[k].to_predecessor.begin(), cycles[k].to_predecessor.end());
    bodies_of_cycle.insert(cycles[k].to_successor.begin(), cycles[k].to_successor.end());
    EXPECT_EQ(bodies_of_cycle, ties[k]);
    EXPECT_EQ(cycles[k].to_predecessor.size() + cycles[k].to_successor.size(), ties[k].size());
  }
}

TEST(SpanningTreeTest, DotShowsTreeJointsOnly) {
  Mechanism m;
  m.body("a").body("b", "a").loop("rod", "b", "ground");
  const auto dot = tree_dot(m.graph, spanning_tree(m.graph));
  EXPECT_NE(dot.find("b0 -> b1 [label=\"j_a\"]"), std::string::npos) << dot;
  EXPECT_NE(dot.find("b1 -> b2 [label=\"j_b\"]"), std::string::npos) << dot;
  EXPECT_EQ(dot.find("rod"), std::string::npos) << dot;
}

}  // namespace
}  // namespace espalier::graph::testing::spanning_tree_test
