#include "espalier/kernel/graph/connectivity_graph.hpp"

#include <gtest/gtest.h>

#include <string>

#include "espalier/kernel/errors.hpp"
#include "espalier/kernel/graph/spanning_tree.hpp"
#include "mechanism.hpp"
#include "refusal.hpp"

namespace espalier::graph::testing::connectivity_graph_test {
namespace {

TEST(ConnectivityGraphTest, NumbersThingsAsTheyAreAdded) {
  ConnectivityGraph graph("world");
  EXPECT_EQ(graph.body_name(0), "world");
  EXPECT_EQ(graph.add_body("a"), 1);
  EXPECT_EQ(graph.add_body("b"), 2);
  EXPECT_EQ(graph.add_joint("ja", 0, 1), 0);
  EXPECT_EQ(graph.add_joint("jb", 1, 2), 1);
  EXPECT_EQ(graph.add_loop("l", 2, 0), 2);
  EXPECT_EQ(graph.add_coupling("gear", {1, 0}), 0);
  EXPECT_EQ(graph.body_count(), 3);
  EXPECT_EQ(graph.joint_count(), 3);
  EXPECT_EQ(graph.coupling_count(), 1);
  EXPECT_EQ(graph.find_body("b"), 2);
  EXPECT_EQ(graph.find_joint("l"), 2);
  EXPECT_EQ(graph.find_body("l"), -1);
  EXPECT_TRUE(graph.joint(2).loop);
  EXPECT_FALSE(graph.joint(1).loop);
  EXPECT_EQ(graph.coupling(0).joints, (std::vector<int>{1, 0}));
  EXPECT_EQ(boost::num_vertices(graph.topology()), 3u);
  EXPECT_EQ(boost::num_edges(graph.topology()), 3u);
}

TEST(ConnectivityGraphTest, RefusesNamesGivenTwice) {
  Mechanism m;
  m.body("a").body("b", "a").couple("gear", {"a", "b"});
  EXPECT_TRUE(contains(message<DuplicateName>([&] { m.graph.add_body("a"); }), "'a'"));
  EXPECT_TRUE(contains(message<DuplicateName>([&] { m.graph.add_body("ground"); }), "'ground'"));
  EXPECT_TRUE(contains(message<DuplicateName>([&] { m.graph.add_loop("j_a", 1, 2); }), "'j_a'"));
  EXPECT_TRUE(
      contains(message<DuplicateName>([&] { m.graph.add_coupling("gear", {0}); }), "'gear'"));
  EXPECT_THROW(m.graph.add_body(""), InvalidModel);
}

TEST(ConnectivityGraphTest, WhatIsRefusedLeavesNoTrace) {
  Mechanism m;
  m.body("a");
  EXPECT_THROW(m.graph.add_joint("x", 0, 7), InvalidModel);
  EXPECT_THROW(m.graph.add_joint("x", 1, 1), InvalidModel);
  EXPECT_THROW(m.graph.add_body("a"), DuplicateName);
  EXPECT_EQ(m.graph.body_count(), 2);
  EXPECT_EQ(m.graph.joint_count(), 1);
  EXPECT_EQ(boost::num_edges(m.graph.topology()), 1u);
  EXPECT_EQ(m.graph.find_joint("x"), -1);
  EXPECT_EQ(m.graph.add_joint("x", 0, 1), 1);
}

TEST(ConnectivityGraphTest, ErrorsNameJointAndBody) {
  Mechanism m;
  m.body("a").body("b", "a").loop("bar", "b", "ground");
  const auto self = message<InvalidModel>([&] { m.graph.add_joint("hinge", 1, 1); });
  EXPECT_TRUE(contains(self, "joint 'hinge'") && contains(self, "'a'")) << self;
  const auto unknown = message<InvalidModel>([&] { m.graph.add_loop("rod", 0, 9); });
  EXPECT_TRUE(contains(unknown, "loop joint 'rod'") && contains(unknown,
                                                                "successor is body "
                                                                "number 9"))
      << unknown;
  const auto loop = message<InvalidModel>([&] { m.graph.add_coupling("gear", {0, 2}); });
  EXPECT_TRUE(contains(loop, "coupling 'gear'") && contains(loop, "'bar'")) << loop;
  const auto twice = message<InvalidModel>([&] { m.graph.add_coupling("gear", {1, 0, 1}); });
  EXPECT_TRUE(contains(twice, "coupling 'gear'") && contains(twice, "'j_b'")) << twice;
  EXPECT_THROW(m.graph.add_coupling("gear", {}), InvalidModel);
  EXPECT_THROW(m.graph.add_coupling("gear", {0, 3}), InvalidModel);
  EXPECT_THROW(m.graph.add_coupling("gear", {-1}), InvalidModel);
}

TEST(ConnectivityGraphTest, DotShowsCutJointsDashedAndCouplingsDotted) {
  Mechanism m;
  m.body("a").body("b").body("c", "a").loop("bar", "c", "b").couple("gear", {"a", "b"});
  m.graph.add_joint("closing", 2, 3);
  const auto line = [](const std::string& dot, const std::string& part) {
    const auto at = dot.find(part);
    if (at == std::string::npos) return std::string("(no line has ") + part + ")";
    const auto start = dot.rfind('\n', at) + 1;
    return dot.substr(start, dot.find('\n', at) - start);
  };
  const auto plain = connectivity_dot(m.graph);
  EXPECT_EQ(line(plain, "\"bar\""), "  b3 -> b2 [label=\"bar\", style=dashed];");
  EXPECT_EQ(line(plain, "\"closing\""), "  b2 -> b3 [label=\"closing\"];");
  EXPECT_EQ(line(plain, "\"j_c\""), "  b1 -> b3 [label=\"j_c\"];");
  EXPECT_TRUE(contains(line(plain, "c0 -> b1"), "style=dotted"));
  EXPECT_TRUE(contains(line(plain, "c0 -> b2"), "style=dotted"));
  const auto tree = spanning_tree(m.graph);
  const auto with_tree = connectivity_dot(m.graph, &tree);
  EXPECT_EQ(line(with_tree, "\"closing\""), "  b2 -> b3 [label=\"closing\", style=dashed];");
}

TEST(ConnectivityGraphTest, DotQuotesAnyName) {
  ConnectivityGraph graph("the \"ground\"");
  graph.add_body("back\\slash\nline");
  graph.add_joint("j", 0, 1);
  const auto dot = connectivity_dot(graph);
  EXPECT_TRUE(contains(dot, R"([label="the \"ground\"")")) << dot;
  EXPECT_TRUE(contains(dot, R"([label="back\\slash\nline"])")) << dot;
}

}  // namespace
}  // namespace espalier::graph::testing::connectivity_graph_test
