#include "espalier/kernel/graph/subsystem_graph.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "espalier/kernel/errors.hpp"
#include "refusal.hpp"

namespace espalier::graph::subsystem_graph_test {
namespace {

/// A torso with two legs of a hip and a knee, inserted out of order.
SubsystemGraph biped() {
  SubsystemGraph graph;
  graph.add_unit("left.knee", "four_bar", {"base"}, {"shin"});
  graph.add_unit("right.hip", "geared_rotor", {"base"}, {"link"});
  graph.add_unit("torso", "body", {"base"}, {"left", "right"});
  graph.add_unit("left.hip", "geared_rotor", {"base"}, {"link"});
  graph.connect("torso.right", "right.hip.base");
  graph.connect("left.hip.link", "left.knee.base");
  graph.connect("torso.left", "left.hip.base");
  return graph;
}

TEST(SubsystemGraphTest, OrderIsDepthFirstFromTheRoot) {
  const auto graph = biped();
  const auto tree = graph.resolve();
  EXPECT_EQ(tree.order, (std::vector<int>{2, 1, 3, 0}));
  EXPECT_EQ(tree.parent, (std::vector<int>{3, 2, -1, 2}));
}

TEST(SubsystemGraphTest, PortsMayBeGivenInEitherOrder) {
  SubsystemGraph graph;
  graph.add_unit("a", "body", {}, {"tip"});
  graph.add_unit("b", "body", {"base"}, {});
  graph.connect("b.base", "a.tip");
  EXPECT_EQ(graph.resolve().parent, (std::vector<int>{-1, 0}));
  EXPECT_EQ(graph.port_name(graph.connections()[0].from), "a.tip");
  EXPECT_EQ(graph.port_name(graph.connections()[0].to), "b.base");
}

TEST(SubsystemGraphTest, OutputCarriesSeveralUnits) {
  SubsystemGraph graph;
  graph.add_unit("a", "body", {}, {"tip"});
  for (const std::string name : {"b", "c"}) {
    graph.add_unit(name, "body", {"base"}, {});
    graph.connect("a.tip", name + ".base");
  }
  EXPECT_EQ(graph.resolve().order, (std::vector<int>{0, 1, 2}));
}

TEST(SubsystemGraphTest, UnitMayHangOnSeveralOutputsOfOneParent) {
  SubsystemGraph graph;
  graph.add_unit("thigh", "belt_pair", {}, {"l1", "l2"});
  graph.add_unit("gear", "gear_pair", {"link_base", "rotor_base"}, {"link"});
  graph.connect("thigh.l2", "gear.link_base");
  graph.connect("thigh.l1", "gear.rotor_base");
  EXPECT_EQ(graph.resolve().order, (std::vector<int>{0, 1}));
}

TEST(SubsystemGraphTest, UnknownPortErrorListsKnownPorts) {
  auto graph = biped();
  const auto port = message<UnknownName>([&] { graph.connect("torso.middle", "left.hip.base"); });
  EXPECT_TRUE(contains(port, "'middle'") && contains(port, "'torso'") &&
              contains(port, "'left', 'right'"))
      << port;
  const auto unit = message<UnknownName>([&] { graph.connect("trunk.left", "left.hip.base"); });
  EXPECT_TRUE(contains(unit, "'trunk'") && contains(unit, "'torso'")) << unit;
  const auto form = message<UnknownName>([&] { graph.connect("torso", "left.hip.base"); });
  EXPECT_TRUE(contains(form, "unit.port")) << form;
}

TEST(SubsystemGraphTest, InputIsConnectedOnce) {
  auto graph = biped();
  const auto text = message<InvalidModel>([&] { graph.connect("torso.left", "right.hip.base"); });
  EXPECT_TRUE(contains(text, "'right.hip.base'") && contains(text, "'torso.right'")) << text;
  EXPECT_THROW(graph.close("torso.left", "right.hip.base"), InvalidModel);
  EXPECT_EQ(graph.connections().size(), 3u);
}

TEST(SubsystemGraphTest, PortsOfOneKindAreNotConnected) {
  auto graph = biped();
  const auto outputs =
      message<InvalidModel>([&] { graph.connect("left.knee.shin", "right.hip.link"); });
  EXPECT_TRUE(contains(outputs, "closure")) << outputs;
  EXPECT_THROW(graph.connect("torso.base", "left.knee.base"), InvalidModel);
  EXPECT_THROW(graph.connect("torso.base", "torso.left"), InvalidModel);
}

TEST(SubsystemGraphTest, NamesGivenTwiceAreRefused) {
  auto graph = biped();
  EXPECT_TRUE(contains(message<DuplicateName>([&] { graph.add_unit("torso", "body", {}, {}); }),
                       "'torso'"));
  EXPECT_TRUE(
      contains(message<DuplicateName>([&] { graph.add_unit("x", "body", {"p"}, {"p"}); }), "'p'"));
  EXPECT_THROW(graph.add_unit("x", "body", {"a.b"}, {}), InvalidModel);
  EXPECT_THROW(graph.add_unit("", "body", {}, {}), InvalidModel);
  EXPECT_EQ(graph.add_unit("x", "body", {"p"}, {}), 4);
}

TEST(SubsystemGraphTest, TwoRootsAreNamed) {
  auto graph = biped();
  graph.add_unit("stray", "body", {"base"}, {});
  const auto text = message<InvalidModel>([&] { graph.resolve(); });
  EXPECT_TRUE(contains(text, "'torso', 'stray'")) << text;
  EXPECT_THROW(SubsystemGraph().resolve(), InvalidModel);
}

TEST(SubsystemGraphTest, CycleIsLegalOnlyAsAClosure) {
  const auto chains = [](bool declared) {
    SubsystemGraph graph;
    graph.add_unit("o", "body", {}, {"p", "q"});
    graph.add_unit("crank", "link", {"base"}, {"tip"});
    graph.add_unit("coupler", "bar", {"a", "b"}, {});
    graph.connect("o.p", "crank.base");
    graph.connect("crank.tip", "coupler.a");
    declared ? graph.close("o.q", "coupler.b") : graph.connect("o.q", "coupler.b");
    return graph;
  };
  const auto text = message<InvalidModel>([&] { chains(false).resolve(); });
  EXPECT_TRUE(contains(text, "'coupler'") && contains(text, "'o.q'") &&
              contains(text, "'crank.tip'") && contains(text, "closure"))
      << text;
  const auto tree = chains(true).resolve();
  EXPECT_EQ(tree.order, (std::vector<int>{0, 1, 2}));
  EXPECT_EQ(tree.parent, (std::vector<int>{-1, 0, 1}));
}

TEST(SubsystemGraphTest, OutputsMayBeClosedOnEachOther) {
  auto graph = biped();
  graph.close("left.knee.shin", "right.hip.link");
  EXPECT_EQ(graph.resolve().order, biped().resolve().order);
}

TEST(SubsystemGraphTest, CircleOfUnitsIsNamed) {
  SubsystemGraph graph;
  for (const std::string name : {"root", "a", "b"}) {
    graph.add_unit(name, "body", {"base"}, {"tip"});
  }
  graph.connect("a.tip", "b.base");
  graph.connect("b.tip", "a.base");
  const auto beside = message<InvalidModel>([&] { graph.resolve(); });
  EXPECT_TRUE(contains(beside, "'a', 'b'") && !contains(beside, "'root'")) << beside;
  SubsystemGraph all;
  for (const std::string name : {"a", "b"}) all.add_unit(name, "body", {"base"}, {"tip"});
  all.connect("a.tip", "b.base");
  all.connect("b.tip", "a.base");
  EXPECT_TRUE(contains(message<InvalidModel>([&] { all.resolve(); }), "'a', 'b'"));
}

TEST(SubsystemGraphTest, OnlyTheRootHasOpenInputs) {
  SubsystemGraph graph;
  graph.add_unit("o", "body", {"world"}, {"tip"});
  graph.add_unit("gear", "gear_pair", {"link_base", "rotor_base"}, {});
  graph.connect("o.tip", "gear.link_base");
  const auto text = message<InvalidModel>([&] { graph.resolve(); });
  EXPECT_TRUE(contains(text, "'gear'") && contains(text, "'rotor_base'")) << text;
  graph.connect("o.tip", "gear.rotor_base");
  EXPECT_EQ(graph.resolve().order.size(), 2u);
}

TEST(SubsystemGraphTest, DotNamesPortsAndDashesClosures) {
  auto graph = biped();
  graph.close("left.knee.shin", "right.hip.link");
  const auto dot = subsystem_dot(graph);
  EXPECT_TRUE(contains(dot, R"~(u0 [label="left.knee\n(four_bar)"];)~")) << dot;
  EXPECT_TRUE(contains(dot, R"(u2 -> u1 [taillabel="right", headlabel="base"];)")) << dot;
  EXPECT_TRUE(contains(dot, R"(u0 -> u1 [taillabel="shin", headlabel="link", style=dashed];)"))
      << dot;
}

}  // namespace
}  // namespace espalier::graph::subsystem_graph_test
