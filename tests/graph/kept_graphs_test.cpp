#include "espalier/kernel/graph/kept_graphs.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <thread>
#include <vector>

// Graphs that are made again from what is kept of them.

namespace espalier::graph::kept_graphs_test {
namespace {

/// Two arms whose shoulders a coupling ties, a joint and a loop joint between their hands.
ConnectivityGraph arms() {
  ConnectivityGraph graph("world");
  const int left = graph.add_body("left"), left_hand = graph.add_body("left hand");
  const int right = graph.add_body("right"), right_hand = graph.add_body("r");
  const int shoulder = graph.add_joint("left shoulder", 0, left);
  graph.add_joint("left wrist", left, left_hand);
  const int other = graph.add_joint("right shoulder", 0, right);
  graph.add_joint("right wrist", right, right_hand);
  graph.add_joint("grip", left_hand, right_hand);
  graph.add_loop("rod", right_hand, left);
  graph.add_coupling("belt", {shoulder, other});
  return graph;
}

TEST(KeptGraphsTest, AreThoseThatTheyWereKeptOf) {
  const ConnectivityGraph graph = arms();
  const SpanningTree tree = spanning_tree(graph);
  const ClusterTree clusters = cluster_tree(graph, tree);
  const auto composition = std::make_shared<const SubsystemGraph>();
  const KeptGraphs kept(graph, composition);
  const MechanismGraphs& again = kept.graphs();
  ASSERT_EQ(again.connectivity.body_count(), graph.body_count());
  for (int b = 0; b < graph.body_count(); ++b) {
    EXPECT_EQ(again.connectivity.body_name(b), graph.body_name(b));
    EXPECT_EQ(again.tree.parent(b), tree.parent(b));
    EXPECT_EQ(again.tree.joint(b), tree.joint(b));
  }
  ASSERT_EQ(again.connectivity.joint_count(), graph.joint_count());
  for (int j = 0; j < graph.joint_count(); ++j) {
    const Joint &joint = again.connectivity.joint(j), &wanted = graph.joint(j);
    EXPECT_EQ(joint.name, wanted.name);
    EXPECT_EQ(joint.predecessor, wanted.predecessor) << joint.name;
    EXPECT_EQ(joint.successor, wanted.successor) << joint.name;
    EXPECT_EQ(joint.loop, wanted.loop) << joint.name;
  }
  ASSERT_EQ(again.connectivity.coupling_count(), 1);
  EXPECT_EQ(again.connectivity.coupling(0).name, "belt");
  EXPECT_EQ(again.connectivity.coupling(0).joints, graph.coupling(0).joints);
  EXPECT_EQ(num_edges(again.connectivity.topology()), num_edges(graph.topology()));
  EXPECT_EQ(again.clusters.cluster_of, clusters.cluster_of);
  EXPECT_EQ(again.clusters.body_order, clusters.body_order);
  EXPECT_EQ(again.composition, composition);
}

TEST(KeptGraphsTest, AreMadeOnceForAllThreads) {
  const KeptGraphs kept(arms(), nullptr);
  std::vector<const MechanismGraphs*> seen(4);
  std::vector<std::thread> threads;
  for (const MechanismGraphs*& mine : seen) threads.emplace_back([&] { mine = &kept.graphs(); });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(std::count(seen.begin(), seen.end(), &kept.graphs()), std::ssize(seen));
}

}  // namespace
}  // namespace espalier::graph::kept_graphs_test
