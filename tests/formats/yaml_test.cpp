#include "formats/yaml/yaml.hpp"

#include <gtest/gtest.h>

#include <locale>

#include "formats/urdf/urdf.hpp"
#include "tests/formats/support.hpp"

namespace espalier::yaml_test {
namespace {

using test::expect_same;

Description read(const std::string& text) { return YamlFormat().read(text, "robot.yaml"); }
Description read_content(const std::string& text) { return read("espalier: 1\n" + text); }

void expect_vector(const Vec3<double>& v, double x, double y, double z) {
  EXPECT_EQ(v.x, x);
  EXPECT_EQ(v.y, y);
  EXPECT_EQ(v.z, z);
}

TEST(YamlTest, ReadsEveryKey) {
  const Description d = read(R"(espalier: 1
name: all keys
gravity: [0, -9.81, 0]
links:
  ground: {}
  nothing:
  rod: {mass: 2, com: [1, 2, 3], inertia: [1, 2, 3, 4, 5, 6], inertia_rpy: [0.1, 0.2, 0.3]}
  point: {mass: 1e-1}
joints:
  hinge:
    type: helical
    parent: ground
    child: rod
    xyz: [1, 2, 3]
    rpy: [0.1, 0.2, 0.3]
    axis: [0, 0, 1]
    parameters: {pitch: 0.01, list: [1, 2]}
    limits: {lower: -1, upper: 2, velocity: 3, effort: 4}
    damping: 0.1
    friction: 0.2
    stiffness: 0.3
    rest: 0.4
    armature: 0.5
    mimic: {joint: other, multiplier: -2, offset: 0.5}
    independent: false
  other: {type: fixed, parent: rod, child: point}
loops:
  pin:
    type: universal
    predecessor: {link: rod, xyz: [1, 0, 0], rpy: [0, 0, 1]}
    successor: point
    axis: [0, 1, 0]
    parameters: {axis2: [0, 0, 1]}
couplings:
  gear: {predecessor: rod, successor: point, ratio: 6}
laws:
  cam: {type: lift, joints: [other, hinge], parameters: {height: 0.1, profile: [1, 2]}}
)");
  EXPECT_EQ(d.name, "all keys");
  expect_vector(d.gravity, 0, -9.81, 0);
  ASSERT_EQ(d.links.size(), 4u);
  EXPECT_FALSE(d.links[0].inertial);
  EXPECT_FALSE(d.links[1].inertial);
  const Inertial& rod = d.links[2].inertial.value();
  EXPECT_EQ(rod.mass, 2.0);
  EXPECT_EQ(rod.origin, (Pose{{1, 2, 3}, {0.1, 0.2, 0.3}}));
  expect_vector({rod.I.xx, rod.I.yy, rod.I.zz}, 1, 2, 3);
  expect_vector({rod.I.xy, rod.I.xz, rod.I.yz}, 4, 5, 6);
  EXPECT_EQ(d.links[3].inertial.value().I.xx, 0.0);
  const JointDescription& j = d.joints.at(0);
  EXPECT_EQ(j.name, "hinge");
  EXPECT_EQ(j.type, "helical");
  EXPECT_EQ(j.parent, "ground");
  EXPECT_EQ(j.child, "rod");
  EXPECT_EQ(j.origin, (Pose{{1, 2, 3}, {0.1, 0.2, 0.3}}));
  expect_vector(j.axis, 0, 0, 1);
  EXPECT_EQ(j.parameters, (Parameters{{"pitch", {0.01}}, {"list", {1, 2}}}));
  EXPECT_EQ(j.limits.lower, -1.0);
  EXPECT_EQ(j.limits.upper, 2.0);
  EXPECT_EQ(j.limits.velocity, 3.0);
  EXPECT_EQ(j.limits.effort, 4.0);
  EXPECT_EQ(j.passive.damping, 0.1);
  EXPECT_EQ(j.passive.friction, 0.2);
  EXPECT_EQ(j.passive.stiffness, 0.3);
  EXPECT_EQ(j.passive.rest, 0.4);
  EXPECT_EQ(j.armature, 0.5);
  EXPECT_EQ(j.mimic.value().joint, "other");
  EXPECT_EQ(j.mimic.value().multiplier, -2.0);
  EXPECT_EQ(j.mimic.value().offset, 0.5);
  EXPECT_EQ(j.independent, false);
  EXPECT_EQ(j.where.text(), "robot.yaml:10");
  expect_vector(d.joints.at(1).axis, 1, 0, 0);
  EXPECT_FALSE(d.joints.at(1).independent);
  const LoopDescription& loop = d.loops.at(0);
  EXPECT_EQ(loop.type, "universal");
  EXPECT_EQ(loop.predecessor, "rod");
  EXPECT_EQ(loop.successor, "point");
  EXPECT_EQ(loop.predecessor_origin, (Pose{{1, 0, 0}, {0, 0, 1}}));
  EXPECT_EQ(loop.successor_origin, Pose{});
  expect_vector(loop.axis, 0, 1, 0);
  EXPECT_EQ(loop.parameters, (Parameters{{"axis2", {0, 0, 1}}}));
  EXPECT_EQ(d.couplings.at(0).ratio, 6.0);
  ASSERT_EQ(d.laws.size(), 1u);
  EXPECT_EQ(d.laws[0].name, "cam");
  EXPECT_EQ(d.laws[0].type, "lift");
  EXPECT_EQ(d.laws[0].joints, (std::vector<std::string>{"other", "hinge"}));
  EXPECT_EQ(d.laws[0].parameters, (Parameters{{"height", {0.1}}, {"profile", {1, 2}}}));
  EXPECT_EQ(d.laws[0].where.text(), "robot.yaml:37");
}

TEST(YamlTest, ReadsShapesAndFramesOfLinks) {
  const Description d = read_content(R"(
parameters: {r: 0.02}
links:
  shank:
    visual:
      - {capsule: {radius: $(r), length: 0.3}, xyz: [0, 0, -0.15], color: [0.1, 0.2, 0.3, 1]}
      - {mesh: shank.stl, name: skin, material: rubber}
    collision: [{sphere: $(2 * r), friction: 0.8, torsional_friction: $(r), rolling_friction: 0.001}]
    frames: {sole: {xyz: [0, 0, -0.3]}}
)");
  const LinkDescription& link = d.links.at(0);
  EXPECT_FALSE(link.inertial);
  ASSERT_EQ(link.visuals.size(), 2u);
  EXPECT_TRUE(link.visuals[0].shape == Shape(Capsule{0.02, 0.3}));
  EXPECT_EQ(link.visuals[0].origin, (Pose{{0, 0, -0.15}, {0, 0, 0}}));
  EXPECT_EQ(link.visuals[0].color, (Color{0.1, 0.2, 0.3, 1}));
  EXPECT_TRUE(link.visuals[1].shape == Shape(Mesh{"shank.stl"}));
  EXPECT_EQ(link.visuals[1].name, "skin");
  EXPECT_EQ(link.visuals[1].material, "rubber");
  ASSERT_EQ(link.collisions.size(), 1u);
  EXPECT_TRUE(link.collisions[0].shape == Shape(Sphere{0.04}));
  EXPECT_EQ(link.collisions[0].friction, 0.8);
  EXPECT_EQ(link.collisions[0].torsional_friction, 0.02);
  EXPECT_EQ(link.collisions[0].rolling_friction, 0.001);
  ASSERT_EQ(link.frames.size(), 1u);
  EXPECT_EQ(link.frames[0].name, "sole");
}

TEST(YamlTest, ShapesAreOneOfTheKinds) {
  const auto refused = [](const std::string& shape) {
    return test::message_of([&] { read_content("links: {a: {visual: [" + shape + "]}}"); });
  };
  test::expect_in(refused("{color: [1, 1, 1, 1]}"), {"link 'a'", "shape is missing", "box"});
  test::expect_in(refused("{box: [1, 1, 1], sphere: 1}"), {"'sphere'", "'box'", "one shape"});
  test::expect_in(refused("{box: [1, 1]}"), {"'box'", "3 numbers"});
  test::expect_in(refused("{height_field: {rows: 2, columns: 2, heights: [0, 1, 0]}}"),
                  {"'heights' is 3", "'rows' times 'columns'"});
}

TEST(YamlTest, ParametersAreUsedInExpressions) {
  const Description d = read_content(R"yaml(
parameters: {side: -1, width: $(side * 0.5), turn: $(2 * pi)}
gravity: [$(sin(pi / 2)), "$(max(1, 2, 3))", "$(side < 0 ? 10 : 20)"]
links:
  a: {mass: $( width ^ 2 ), com: ["$(turn)", 0, 0]}
)yaml");
  expect_vector(d.gravity, 1, 3, 10);
  EXPECT_EQ(d.links.at(0).inertial.value().mass, 0.25);
  EXPECT_EQ(d.links.at(0).inertial.value().origin.xyz.x, 2 * 3.141592653589793);
}

TEST(YamlTest, NumbersInExpressionsDoNotDependOnTheLocale) {
  struct Comma : std::numpunct<char> {
    char do_decimal_point() const override { return ','; }
  };
  const std::locale before = std::locale::global(std::locale(std::locale(), new Comma));
  const Description d = read_content("links: {a: {mass: $(1.5 * 2.25), com: [0.5, 1e-1, 0]}}");
  const std::string written = YamlFormat().write(test::everything());
  std::locale::global(before);
  EXPECT_EQ(d.links.at(0).inertial.value().mass, 1.5 * 2.25);
  EXPECT_EQ(d.links.at(0).inertial.value().origin.xyz.x, 0.5);
  expect_same(read(written), test::everything());
}

TEST(YamlTest, WordsAreNamesWhateverTheyMeanElsewhere) {
  const Description d = read_content("links: {yes: {}, 12: {}, on.off: {}, \"~\": {}, 'a: b': {}}");
  ASSERT_EQ(d.links.size(), 5u);
  EXPECT_EQ(d.links[0].name, "yes");
  EXPECT_EQ(d.links[1].name, "12");
  EXPECT_EQ(d.links[2].name, "on.off");
  EXPECT_EQ(d.links[3].name, "~");
  EXPECT_EQ(d.links[4].name, "a: b");
}

TEST(YamlTest, AliasesStandForCopies) {
  const Description d =
      read_content("links: {a: &rod {mass: 1, inertia: [1, 1, 1, 0, 0, 0]}, b: *rod}");
  EXPECT_EQ(d.links.at(1).inertial.value().mass, 1.0);
  EXPECT_EQ(d.links.at(1).name, "b");
}

TEST(YamlTest, UnknownLinksOfTheRobotAreLeftToTheCompiler) {
  const Description d = read_content("joints: {j: {type: fixed, parent: no.where, child: b}}");
  EXPECT_EQ(d.joints.at(0).parent, "no.where");
}

TEST(YamlWriteTest, EverythingReadsBackEqual) {
  const Description d = test::everything();
  expect_same(read(YamlFormat().write(d)), d);
}

TEST(YamlWriteTest, AnyNameReadsBackEqual) {
  Description d;
  for (const char* name : {"true",     "~",           "null", "- a",  "? a",  "a #b",
                           "#a",       "*a",          "&a",   "!a",   "%a",   "@a",
                           "`a",       "|",           ">",    "{a}",  "[a]",  "a: b",
                           "a:",       ":a",          "'",    "\"",   "\\",   "\\n",
                           " a ",      "a,b",         "<<",   "$(x)", "...",  "---",
                           "0x10",     "1_000",       "1:30", "é",    "日本", "\xf0\x9f\xa4\x96",
                           "\xc2\x85", "\xe2\x80\xa8"}) {
    d.links.emplace_back().name = name;
  }
  expect_same(read(YamlFormat().write(d)), d);
}

// YAML allows a key 1024 characters as written, with quotes and escapes, unless "?" marks it.
TEST(YamlWriteTest, NamesOfAnyLengthReadBackEqual) {
  for (const char* piece : {"x", "\"", "\\", "é", "\xc2\x85", "\xef\xbb\xbf"}) {
    for (const std::size_t size : {200, 255, 256, 340, 341, 342, 510, 511, 512, 1023, 1025, 5000}) {
      SCOPED_TRACE(std::to_string(size) + " times " + piece);
      std::string name;
      for (std::size_t i = 0; i < size; ++i) name += piece;
      Description d = test::everything();
      LinkDescription& link = d.links.emplace_back(d.links[0]);
      link.name = name;
      JointDescription& joint = d.joints.emplace_back(d.joints[0]);
      joint.name = joint.child = name;
      joint.parameters[name] = {1.0, 2.0};
      expect_same(read(YamlFormat().write(d)), d);
    }
  }
}

TEST(YamlWriteTest, PlainWordsAreNotQuoted) {
  Description d;
  d.links.emplace_back().name = "left.thigh-2";
  EXPECT_EQ(YamlFormat().write(d), "espalier: 1\nlinks:\n  left.thigh-2: {}\n");
}

TEST(YamlWriteTest, WhatCannotBeWrittenIsRefusedByName) {
  const auto refused = [](const std::function<void(Description&)>& change,
                          const std::vector<std::string>& parts) {
    Description d = test::everything();
    change(d);
    test::expect_in(test::message_of<Unsupported>([&] { YamlFormat().write(d); }), parts);
  };
  refused([](Description& d) { d.links[1].name = d.links[0].name; }, {"link 'ground'", "twice"});
  refused([](Description& d) { d.joints[1].armature = std::nan(""); }, {"'other'", "finite"});
  refused([](Description& d) { d.joints[1].parent = "a\tb"; }, {"joint 'other'", "control"});
  refused([](Description& d) { d.joints[1].parent = "a\xff"; }, {"joint 'other'", "UTF-8"});
  refused([](Description& d) { d.joints[1].parent = "\xed\xa0\x80"; }, {"UTF-8"});  // a surrogate
  refused([](Description& d) { d.joints[0].parameters["list"].clear(); }, {"'list'"});
}

TEST(UrdfToYamlTest, EveryRobotGivesTheSameDescription) {
  for (const auto& robot : test::urdf_files()) {
    SCOPED_TRACE(robot.string());
    const Description d = UrdfFormat().read(test::contents(robot), robot.string());
    expect_same(read(YamlFormat().write(d)), d);
  }
}

}  // namespace
}  // namespace espalier::yaml_test
