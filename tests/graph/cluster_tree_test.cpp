#include "espalier/kernel/graph/cluster_tree.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "mechanism.hpp"

namespace espalier::graph::testing::cluster_tree_test {
namespace {

NamedPartition clusters_of(const Mechanism& m, const ClusterOptions& options = {}) {
  return named_partition(m.graph, m.clusters(options));
}

const Cluster& cluster_with(const Mechanism& m, const ClusterTree& clusters,
                            const std::string& body) {
  return clusters.cluster(clusters.cluster_of[m.at(body)]);
}

TEST(ClusterTreeTest, WithoutConstraintsEveryBodyIsACluster) {
  Mechanism m;
  m.body("a").body("b", "a").body("c", "a");
  const auto tree = m.clusters();
  ASSERT_EQ(tree.size(), 3);
  EXPECT_EQ(tree.cluster(0).parent, -1);
  EXPECT_EQ(tree.cluster(1).parent, 0);
  EXPECT_EQ(tree.cluster(2).parent, 0);
  EXPECT_EQ(tree.cluster(0).supports, std::vector<int>{0});
  EXPECT_EQ(m.names(tree.cluster(2).supports), Names{"a"});
  EXPECT_EQ(tree.cluster_of, (std::vector<int>{-1, 0, 1, 2}));
}

TEST(ClusterTreeTest, GroundAloneHasNoClusters) {
  const auto tree = Mechanism().clusters();
  EXPECT_TRUE(tree.size() == 0);
  EXPECT_EQ(tree.body_order, std::vector<int>{0});
}

TEST(ClusterTreeTest, GearedRotorIsOneClusterWithItsLink) {
  Mechanism m;
  m.body("o").body("link", "o").body("rotor", "o").body("next", "link");
  m.couple("gear", {"link", "rotor"});
  EXPECT_EQ(clusters_of(m), (NamedPartition{{"o"}, {"link", "rotor"}, {"next"}}));
  const auto tree = m.clusters();
  const Cluster& gear = cluster_with(m, tree, "rotor");
  EXPECT_EQ(m.names(gear.supports), Names{"o"});
  EXPECT_EQ(gear.couplings, std::vector<int>{0});
  EXPECT_TRUE(gear.cut_joints.empty());
  EXPECT_EQ(m.names(cluster_with(m, tree, "next").supports), Names{"link"});
}

TEST(ClusterTreeTest, GearTrainIsOneCluster) {
  Mechanism m;
  m.body("o").body("motor", "o").body("idler", "o").body("link", "o");
  m.couple("first", {"motor", "idler"}).couple("second", {"idler", "link"});
  EXPECT_EQ(clusters_of(m), (NamedPartition{{"o"}, {"motor", "idler", "link"}}));
  EXPECT_EQ(cluster_with(m, m.clusters(), "idler").couplings, (std::vector<int>{0, 1}));
}

TEST(ClusterTreeTest, BeltPairIsOneClusterOfFourBodies) {
  Mechanism m;
  m.body("o").body("l1", "o").body("r1", "o").body("r2", "o").body("l2", "l1");
  m.couple("belt1", {"r1", "l1"}).couple("belt2", {"r2", "l1", "l2"});
  const auto tree = m.clusters();
  EXPECT_EQ(named_partition(m.graph, tree), (NamedPartition{{"o"}, {"l1", "r1", "r2", "l2"}}));
  const Cluster& belts = cluster_with(m, tree, "l2");
  EXPECT_EQ(m.names(belts.bodies), (Names{"l1", "r1", "r2", "l2"}));
  EXPECT_EQ(m.names(belts.output_of), (Names{"o", "o", "o", "o"}));
}

TEST(ClusterTreeTest, DifferentialIsOneCluster) {
  Mechanism m;
  m.body("o").body("l1", "o").body("l2", "l1").body("r1", "o").body("r2", "o");
  m.couple("sum", {"r1", "l1", "l2"}).couple("difference", {"r2", "l1", "l2"});
  EXPECT_EQ(clusters_of(m), (NamedPartition{{"o"}, {"l1", "l2", "r1", "r2"}}));
}

TEST(ClusterTreeTest, FourBarIsCrankCouplerAndRocker) {
  Mechanism m;
  m.body("o")
      .body("crank", "o")
      .body("coupler", "crank")
      .body("rocker", "o")
      .body("foot", "coupler");
  m.loop("pin", "coupler", "rocker");
  const auto tree = m.clusters();
  EXPECT_EQ(named_partition(m.graph, tree),
            (NamedPartition{{"o"}, {"crank", "coupler", "rocker"}, {"foot"}}));
  EXPECT_EQ(cluster_with(m, tree, "crank").cut_joints, std::vector<int>{m.graph.find_joint("pin")});
}

TEST(ClusterTreeTest, CutJointTiesLikeALoop) {
  Mechanism m;
  m.body("o").body("crank", "o").body("coupler", "crank").body("rocker", "o");
  m.graph.add_joint("pin", m.at("coupler"), m.at("rocker"));
  const auto tree = m.clusters();
  EXPECT_EQ(named_partition(m.graph, tree),
            (NamedPartition{{"o"}, {"crank", "coupler", "rocker"}}));
  EXPECT_EQ(tree.cluster(1).cut_joints, std::vector<int>{m.graph.find_joint("pin")});
}

TEST(ClusterTreeTest, ClustersDoNotDependOnTheCutJointInAPlanarCycle) {
  Mechanism m;
  m.body("o").body("crank", "o").body("coupler", "crank").body("rocker", "o");
  const int pin = m.graph.add_joint("pin", m.at("coupler"), m.at("rocker"));
  const NamedPartition expected{{"o"}, {"crank", "coupler", "rocker"}};
  for (int cut = 1; cut <= pin; ++cut) {
    const auto tree = spanning_tree(m.graph, {{}, {cut}});
    ASSERT_EQ(tree.cut_joints().front(), cut);
    EXPECT_EQ(named_partition(m.graph, cluster_tree(m.graph, tree)), expected);
  }
}

TEST(ClusterTreeTest, SixBarLoopsThatShareLinksAreOneCluster) {
  Mechanism m;  // Watt: a second four-bar on coupler and rocker of the first
  m.body("o").body("crank", "o").body("coupler", "crank").body("rocker", "o");
  m.body("a", "coupler").body("b", "rocker");
  m.loop("first", "coupler", "rocker").loop("second", "a", "b");
  EXPECT_EQ(clusters_of(m), (NamedPartition{{"o"}, {"crank", "coupler", "rocker", "a", "b"}}));
  EXPECT_EQ(m.clusters().cluster(1).cut_joints.size(), 2u);
}

TEST(ClusterTreeTest, FourBarOnALinkOfAFourBarIsAClusterOfItsOwn) {
  Mechanism m;
  m.body("crank").body("coupler", "crank").body("rocker").loop("pin", "coupler", "rocker");
  m.body("crank2", "coupler").body("coupler2", "crank2").body("rocker2", "coupler");
  m.loop("pin2", "coupler2", "rocker2");
  const auto tree = m.clusters();
  EXPECT_EQ(named_partition(m.graph, tree),
            (NamedPartition{{"crank", "coupler", "rocker"}, {"crank2", "coupler2", "rocker2"}}));
  EXPECT_EQ(tree.cluster(1).parent, 0);
  EXPECT_EQ(m.names(tree.cluster(1).supports), Names{"coupler"});
}

TEST(ClusterTreeTest, NestedLoopsAreOneCluster) {
  Mechanism m;
  m.body("a").body("b", "a").body("c", "b").body("d", "c");
  m.loop("outer", "d", "ground").loop("inner", "c", "a");
  EXPECT_EQ(clusters_of(m), (NamedPartition{{"a", "b", "c", "d"}}));
}

TEST(ClusterTreeTest, CrossingLoopsAreOneCluster) {
  Mechanism m;
  m.body("a").body("b", "a").body("c", "b").body("d", "c").body("e", "d");
  m.loop("x", "a", "c").loop("y", "b", "d");
  EXPECT_EQ(clusters_of(m), (NamedPartition{{"a"}, {"b", "c", "d"}, {"e"}}));
}

TEST(ClusterTreeTest, LoopsThatMeetInAnOutputBodyStaySeparate) {
  Mechanism m;
  m.body("a").body("b", "a").body("c", "b").body("d", "c");
  m.loop("x", "ground", "b").loop("y", "b", "d");
  EXPECT_EQ(clusters_of(m), (NamedPartition{{"a", "b"}, {"c", "d"}}));
}

TEST(ClusterTreeTest, LoopToTheGroundTiesTheWholeLimb) {
  Mechanism m;
  m.body("a").body("b", "a").body("c", "b").body("other");
  m.loop("foot", "ground", "c");
  EXPECT_EQ(clusters_of(m), (NamedPartition{{"a", "b", "c"}, {"other"}}));
}

TEST(ClusterTreeTest, SecondJointBetweenTwoBodiesConstrainsOneBody) {
  Mechanism m;
  m.body("a").loop("again", "ground", "a");
  const auto tree = m.clusters();
  ASSERT_EQ(tree.size(), 1);
  EXPECT_EQ(tree.cluster(0).cut_joints, std::vector<int>{1});
}

TEST(ClusterTreeTest, CouplingOfOneJointBelongsToItsBody) {
  Mechanism m;
  m.body("a").body("b", "a").couple("lock", {"b"});
  const auto tree = m.clusters();
  ASSERT_EQ(tree.size(), 2);
  EXPECT_TRUE(tree.cluster(0).couplings.empty());
  EXPECT_EQ(tree.cluster(1).couplings, std::vector<int>{0});
}

TEST(ClusterTreeTest, CouplingAlongALimbTakesInWhatIsBetween) {
  Mechanism m;
  m.body("o").body("a", "o").body("b", "a").body("c", "b").couple("tendon", {"a", "c"});
  EXPECT_EQ(clusters_of(m), (NamedPartition{{"o"}, {"a", "b", "c"}}));
}

TEST(ClusterTreeTest, CouplingOfACutJointTiesItsCycle) {
  Mechanism m;
  m.body("o").body("crank", "o").body("coupler", "crank").body("rocker", "o").body("rotor", "o");
  const int pin = m.graph.add_joint("pin", m.at("coupler"), m.at("rocker"));
  m.graph.add_coupling("gear", {pin, m.graph.find_joint("j_rotor")});
  const auto tree = m.clusters();
  EXPECT_EQ(named_partition(m.graph, tree),
            (NamedPartition{{"o"}, {"crank", "coupler", "rocker", "rotor"}}));
  EXPECT_EQ(tree.cluster(1).couplings, std::vector<int>{0});
}

TEST(ClusterTreeTest, CouplingAcrossLimbsJoinsThemUpToTheCommonAncestor) {
  Mechanism m;
  m.body("torso").body("l1", "torso").body("l2", "l1").body("l3", "l2");
  m.body("r1", "torso").body("r2", "r1").body("head", "torso").body("hand", "l3");
  m.couple("mimic", {"l3", "r2"});
  EXPECT_EQ(clusters_of(m),
            (NamedPartition{{"torso"}, {"l1", "l2", "l3", "r1", "r2"}, {"head"}, {"hand"}}));
}

TEST(ClusterTreeTest, LayeredCouplingAcrossLimbsTiesThemLevelByLevel) {
  Mechanism m;
  m.body("torso").body("l1", "torso").body("l2", "l1").body("l3", "l2");
  m.body("r1", "torso").body("r2", "r1").body("head", "torso").body("hand", "l3");
  m.couple("mimic", {"l3", "r2"});
  const auto tree = m.clusters({.layered = true});
  EXPECT_EQ(named_partition(m.graph, tree),
            (NamedPartition{{"torso"}, {"l1", "r1"}, {"l2", "l3", "r2"}, {"head"}, {"hand"}}));
  EXPECT_EQ(m.names(cluster_with(m, tree, "l3").supports), (Names{"l1", "r1"}));
}

TEST(ClusterTreeTest, TwoCouplingsAcrossTheSameLimbsJoinTogether) {
  Mechanism m;  // either could join x and y and leave the other one separate; none is first
  m.body("x").body("a", "x").body("c", "x").body("y").body("b", "y").body("d", "y");
  m.couple("ab", {"a", "b"}).couple("cd", {"c", "d"});
  EXPECT_EQ(clusters_of(m), (NamedPartition{{"x", "y", "a", "b", "c", "d"}}));
  EXPECT_EQ(clusters_of(m, {.layered = true}),
            (NamedPartition{{"x", "y"}, {"a", "b"}, {"c", "d"}}));
}

TEST(ClusterTreeTest, SeveralOutputBodiesInOneParentClusterStayOutside) {
  Mechanism m;  // geared rotor; its rotor and its link each carry half of a second one
  m.body("o").body("link", "o").body("rotor", "o").couple("gear", {"link", "rotor"});
  m.body("link2", "link").body("rotor2", "rotor").couple("gear2", {"link2", "rotor2"});
  const auto tree = m.clusters();
  EXPECT_EQ(named_partition(m.graph, tree),
            (NamedPartition{{"o"}, {"link", "rotor"}, {"link2", "rotor2"}}));
  const Cluster& second = cluster_with(m, tree, "link2");
  EXPECT_EQ(m.names(second.supports), (Names{"link", "rotor"}));
  EXPECT_EQ(m.names(second.bodies), (Names{"link2", "rotor2"}));
  EXPECT_EQ(m.names(second.output_of), (Names{"link", "rotor"}));
  EXPECT_EQ(second.parent, 1);
}

TEST(ClusterTreeTest, TwoLayersOfSeveralOutputBodiesStaySeparate) {
  Mechanism m;
  m.body("a0").body("b0").couple("g0", {"a0", "b0"});
  m.body("a1", "a0").body("b1", "b0").couple("g1", {"a1", "b1"});
  m.body("a2", "a1").body("b2", "b1").couple("g2", {"a2", "b2"});
  EXPECT_EQ(clusters_of(m), (NamedPartition{{"a0", "b0"}, {"a1", "b1"}, {"a2", "b2"}}));
}

TEST(ClusterTreeTest, OutputBodyOfADeeperMemberIsThatOfItsParent) {
  Mechanism m;
  m.body("a").body("b").couple("g", {"a", "b"});
  m.body("c", "a").body("d", "c").body("e", "b").couple("h", {"c", "d", "e"});
  const auto tree = m.clusters();
  const Cluster& upper = cluster_with(m, tree, "d");
  EXPECT_EQ(m.names(upper.bodies), (Names{"c", "d", "e"}));
  EXPECT_EQ(m.names(upper.output_of), (Names{"a", "a", "b"}));
  EXPECT_EQ(m.names(upper.supports), (Names{"a", "b"}));
}

TEST(ClusterTreeTest, LoopThroughACoupledPairIsOneClusterWithIt) {
  Mechanism m;  // unlike a coupling of c and d, the cycle runs over a and b down to the ground
  m.body("a").body("b").couple("g", {"a", "b"});
  m.body("c", "a").body("d", "b").loop("rod", "c", "d");
  EXPECT_EQ(clusters_of(m), (NamedPartition{{"a", "b", "c", "d"}}));
}

TEST(ClusterTreeTest, GearPairOnABodyAndItsParentTakesTheBodyIn) {
  Mechanism m;
  m.body("P1").body("P2", "P1").body("l", "P2").body("r", "P1").couple("gear", {"l", "r"});
  EXPECT_EQ(clusters_of(m), (NamedPartition{{"P1"}, {"P2", "l", "r"}}));
  EXPECT_EQ(clusters_of(m, {.layered = true}), (NamedPartition{{"P1"}, {"P2", "l", "r"}}));
}

TEST(ClusterTreeTest, ClusterGrowsOnlyUpToTheParentClusterNotThroughIt) {
  Mechanism m;  // the common ancestor of x and n2 is the ground, but n1 and n2 are one cluster
  m.body("n1").body("n2").couple("g", {"n1", "n2"});
  m.body("x", "n1").body("a", "x").body("b", "n2").couple("h", {"a", "b"});
  EXPECT_EQ(clusters_of(m), (NamedPartition{{"n1", "n2"}, {"x", "a", "b"}}));
}

TEST(ClusterTreeTest, WhatAWideningClusterMeetsJoinsIt) {
  Mechanism m;  // a-b takes in x, and x is geared to r, which sits on the same body
  m.body("o").body("x", "o").body("a", "x").body("b", "o").body("r", "o");
  m.couple("ab", {"a", "b"}).couple("gear", {"x", "r"});
  EXPECT_EQ(clusters_of(m), (NamedPartition{{"o"}, {"x", "a", "b", "r"}}));
}

TEST(ClusterTreeTest, NumbersKeepLimbsTogether) {
  Mechanism m;  // inserted breadth first
  m.body("torso").body("L1", "torso").body("R1", "torso").body("L2", "L1").body("R2", "R1");
  m.body("l1", "torso").body("r1", "torso").couple("gl", {"L1", "l1"}).couple("gr", {"R1", "r1"});
  const auto tree = m.clusters();
  EXPECT_EQ(m.names(tree.body_order),
            (Names{"ground", "torso", "L1", "l1", "L2", "R1", "r1", "R2"}));
}

TEST(ClusterTreeTest, RegularOrderOfInsertionIsKept) {
  Mechanism m;
  m.body("a").body("b", "a").body("c", "b").body("d", "b").body("e", "a").body("f");
  m.couple("g", {"c", "d"});
  EXPECT_EQ(m.clusters().body_order, (std::vector<int>{0, 1, 2, 3, 4, 5, 6}));
}

TEST(ClusterTreeTest, ChildInsertedBeforeItsParentComesAfterIt) {
  ConnectivityGraph graph;
  const int child = graph.add_body("child");
  const int parent = graph.add_body("parent");
  graph.add_joint("c", parent, child);
  graph.add_joint("p", 0, parent);
  graph.add_coupling("tie", {0, 1});
  const auto tree = cluster_tree(graph, spanning_tree(graph));
  EXPECT_EQ(tree.cluster(0).bodies, (std::vector<int>{parent, child}));
  EXPECT_EQ(tree.new_number[parent], 1);
  EXPECT_EQ(tree.new_number[child], 2);
}

TEST(ClusterTreeTest, ReversedJointTiesTheBodyThatHangsOnIt) {
  ConnectivityGraph graph;
  const int a = graph.add_body("a");
  const int b = graph.add_body("b");
  const int r = graph.add_body("r");
  graph.add_joint("ja", 0, a);
  graph.add_joint("jb", b, a);  // b hangs on a, against the joint's direction
  graph.add_joint("jr", a, r);
  graph.add_coupling("gear", {1, 2});
  const auto tree = cluster_tree(graph, spanning_tree(graph));
  EXPECT_EQ(partition(tree), (Partition{{a}, {b, r}}));
}

TEST(ClusterTreeTest, DotListsBodiesAndNamesOutputBodies) {
  Mechanism m;
  m.body("link").body("rotor").couple("gear", {"link", "rotor"});
  m.body("link2", "link").body("rotor2", "rotor").couple("gear2", {"link2", "rotor2"});
  const auto dot = cluster_dot(m.graph, m.clusters());
  EXPECT_NE(dot.find(R"(k1 [label="link2\nrotor2"];)"), std::string::npos) << dot;
  EXPECT_NE(dot.find(R"(k0 -> k1 [label="link, rotor"];)"), std::string::npos) << dot;
  EXPECT_NE(dot.find(R"(ground -> k0 [label="ground"];)"), std::string::npos) << dot;
}

}  // namespace
}  // namespace espalier::graph::testing::cluster_tree_test
