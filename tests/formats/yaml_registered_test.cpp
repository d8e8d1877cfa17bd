// Subsystems whose types are registered sub-mechanisms, not definitions of a file.

#include <gtest/gtest.h>

#include <stdexcept>

#include "espalier/plugin.hpp"
#include "formats/yaml/yaml.hpp"
#include "tests/formats/support.hpp"

namespace espalier::yaml_registered_test {
namespace {

/// A link on a hinge with a rotor on the base, every kind of part among them, and a strut to a
/// second port.
struct Drive {
  static constexpr std::array<std::string_view, 2> parameters{"ratio", "profile"};
  static constexpr std::array<std::string_view, 2> inputs{"base", "far"};
  static constexpr std::array<std::string_view, 1> outputs{"tip"};
  explicit Drive(const PartSpec& spec) : ratio(spec.number("ratio")) {
    const auto given = spec.parameters.find("profile");
    if (given != spec.parameters.end()) profile = given->second;
  }
  void build(Assembly& a) const {
    a.parts.links = {{"arm", std::nullopt, {}},
                     {"rotor", Inertial{{}, 0.1, {1, 0, 0, 1, 0, 1}}, {}}};
    JointDescription hinge;
    hinge.name = "hinge", hinge.type = "revolute", hinge.parent = "base", hinge.child = "arm";
    hinge.origin = {{0, 0, 0.5}, {0, 0, 0}};
    JointDescription spin = hinge;
    spin.name = "spin", spin.child = "rotor", spin.origin = {};
    spin.mimic = Mimic{"hinge", ratio, 0.0};
    a.parts.joints = {hinge, spin};
    LoopDescription strut;
    strut.name = "strut", strut.type = "rod", strut.predecessor = "arm", strut.successor = "far";
    strut.successor_origin = {{0, 0, 0.25}, {0, 0, 0}};
    strut.parameters = {{"length", {0.3}}};
    a.parts.loops = {strut};
    a.parts.couplings = {{"belt", "arm", "rotor", ratio, {}}};
    a.parts.laws = {{"cam", "cam_law", {"hinge", "spin"}, {{"profile", profile}}, {}}};
    a.outputs = {{"tip", "arm", {{1, 0, 0}, {0, 0, 0}}}};
  }
  double ratio;
  std::vector<double> profile{0.0};
};

/// Its assembly names a link that it does not have.
template <int where>
struct Broken {
  static constexpr std::array<std::string_view, 1> inputs{"base"};
  static constexpr std::array<std::string_view, 1> outputs{"tip"};
  explicit Broken(const PartSpec&) {
    if (where == 3) throw std::runtime_error("no luck");
  }
  void build(Assembly& a) const {
    a.parts.links = {{"arm", std::nullopt, {}}};
    JointDescription hinge;
    hinge.name = "hinge", hinge.type = "revolute";
    hinge.parent = where == 0 ? "bas" : "base", hinge.child = where == 1 ? "base" : "arm";
    a.parts.joints = {hinge};
    a.outputs = {{"tip", where == 2 ? "amr" : "arm", {}}};
  }
};

const Registry& registry() {
  static Registry registry;
  static const bool filled = [] {
    Registrar registrar("test");
    registrar.sub_mechanism<Drive>({.name = "drive"});
    registrar.sub_mechanism<Broken<0>>({.name = "broken_parent"});
    registrar.sub_mechanism<Broken<1>>({.name = "broken_child"});
    registrar.sub_mechanism<Broken<2>>({.name = "broken_output"});
    registrar.sub_mechanism<Broken<3>>({.name = "throwing"});
    registry.commit(std::move(registrar));
    return true;
  }();
  (void)filled;
  return registry;
}

Description read(const std::string& text) {
  return YamlFormat().read("espalier: 1\n" + text, "robot.yaml", registry());
}
template <class E = InvalidModel>
std::string error(const std::string& text) {
  return test::message_of<E>([&] { read(text); });
}

TEST(YamlRegisteredTest, ShapesOfAUseStandInPlaceOfTheTypes) {
  const std::string use = R"(links: {torso: {}}
subsystems:
  knee:
    type: drive
    connect: {base: torso}
    close: {far: torso}
    parameters: {ratio: 2}
)";
  const Description d =
      read(use + "    visual: {arm: [{sphere: 0.1, name: ball}, {box: [1, 2, 3]}]}\n");
  const LinkDescription& arm = d.links[1];
  ASSERT_EQ(arm.name, "knee.arm");
  ASSERT_EQ(arm.visuals.size(), 2u);
  EXPECT_EQ(arm.visuals[0].name, "knee.ball");
  EXPECT_EQ(std::get<Box>(arm.visuals[1].shape).size.z, 3.0);
  EXPECT_TRUE(arm.collisions.empty());
  const std::string unknown = error(use + "    visual: {amr: []}\n");
  EXPECT_NE(unknown.find("subsystem 'knee'"), std::string::npos) << unknown;
  EXPECT_NE(unknown.find("'amr'"), std::string::npos) << unknown;
  EXPECT_NE(unknown.find("did you mean 'arm'?"), std::string::npos) << unknown;
  const std::string own = error(
      "links: {a: {}}\ndefinitions: {d: {links: {b: {}}}}\n"
      "subsystems: {x: {type: d, visual: {b: []}}}\n");
  EXPECT_NE(own.find("'visual' is given to a type of this file, 'd'"), std::string::npos) << own;
}

TEST(YamlRegisteredTest, PartsStandUnderTheNameOfTheirUse) {
  const Description d = read(R"(links: {torso: {}, foot: {}}
subsystems:
  knee:
    type: drive
    parameters: {ratio: $(3 * 2), profile: [1, $(1 + 1), 3]}
    connect: {base: {to: torso, xyz: [0, 1, 0]}}
    close: {far: {to: torso, xyz: [0, 0, 2]}}
joints: {sole: {type: fixed, parent: knee.tip, child: foot}}
)");
  ASSERT_EQ(d.links.size(), 4u);
  EXPECT_EQ(d.links[2].name, "knee.arm");
  EXPECT_EQ(d.links[2].where.text(), "robot.yaml:5");
  EXPECT_EQ(d.links[3].inertial->mass, 0.1);
  ASSERT_EQ(d.joints.size(), 3u);
  EXPECT_EQ(d.joints[0].parent, "knee.arm");
  EXPECT_EQ(d.joints[0].origin, (Pose{{1, 0, 0}, {0, 0, 0}}));
  EXPECT_EQ(d.joints[1].name, "knee.hinge");
  EXPECT_EQ(d.joints[1].parent, "torso");
  EXPECT_EQ(d.joints[1].child, "knee.arm");
  EXPECT_EQ(d.joints[1].origin, (Pose{{0, 1, 0.5}, {0, 0, 0}}));
  EXPECT_EQ(d.joints[2].mimic->joint, "knee.hinge");
  EXPECT_EQ(d.joints[2].mimic->multiplier, 6.0);
  ASSERT_EQ(d.loops.size(), 1u);
  EXPECT_EQ(d.loops[0].name, "knee.strut");
  EXPECT_EQ(d.loops[0].predecessor, "knee.arm");
  EXPECT_EQ(d.loops[0].successor, "torso");
  EXPECT_EQ(d.loops[0].successor_origin, (Pose{{0, 0, 2.25}, {0, 0, 0}}));
  ASSERT_EQ(d.couplings.size(), 1u);
  EXPECT_EQ(d.couplings[0].predecessor, "knee.arm");
  EXPECT_EQ(d.couplings[0].ratio, 6.0);
  ASSERT_EQ(d.laws.size(), 1u);
  EXPECT_EQ(d.laws[0].name, "knee.cam");
  EXPECT_EQ(d.laws[0].joints, (std::vector<std::string>{"knee.hinge", "knee.spin"}));
  EXPECT_EQ(d.laws[0].parameters, (Parameters{{"profile", {1, 2, 3}}}));
  EXPECT_EQ(d.laws[0].where.text(), "robot.yaml:5");
}

TEST(YamlRegisteredTest, TheyStandInsideDefinitionsAndHangOnEachOther) {
  const Description d = read(R"(links: {torso: {}}
definitions:
  leg:
    parameters: {ratio: }
    ports: {inputs: [hip], outputs: {toe: second.tip}}
    subsystems:
      second: {type: drive, parameters: {ratio: 2}, connect: {base: first.tip, far: first.tip}}
      first: {type: drive, parameters: {ratio: $(ratio)}, connect: {base: hip}, close: {far: hip}}
subsystems:
  left: {type: leg, parameters: {ratio: 5}, connect: {hip: torso}}
  toe: {type: drive, parameters: {ratio: 1}, connect: {base: left.toe, far: left.toe}}
)");
  ASSERT_EQ(d.joints.size(), 6u);
  EXPECT_EQ(d.joints[0].name, "left.first.hinge");  // a part after what it hangs on
  EXPECT_EQ(d.joints[0].parent, "torso");
  EXPECT_EQ(d.joints[1].mimic->multiplier, 5.0);
  EXPECT_EQ(d.joints[2].name, "left.second.hinge");
  EXPECT_EQ(d.joints[2].parent, "left.first.arm");
  EXPECT_EQ(d.joints[2].origin, (Pose{{1, 0, 0.5}, {0, 0, 0}}));
  EXPECT_EQ(d.joints[4].parent, "left.second.arm");
  EXPECT_EQ(d.laws[1].joints[0], "left.second.hinge");
}

TEST(YamlRegisteredTest, AFlatRobotReadsBackEqual) {
  const Description d = read(R"(links: {torso: {}}
subsystems: {a: {type: drive, parameters: {ratio: 3}, connect: {base: torso, far: torso}}}
)");
  test::expect_same(YamlFormat().read(YamlFormat().write(d), "flat.yaml"), d);
}

TEST(YamlRegisteredTest, UnknownTypesSuggestRegisteredOnesAndDefinitions) {
  test::expect_in(error("definitions: {leg: {links: {a: {}}}}\nsubsystems:\n  k: {type: drvie}"),
                  {"subsystem 'k' (robot.yaml:4)", "type 'drvie' is unknown", "leg", "broken_child",
                   "did you mean 'drive'?"});
}

TEST(YamlRegisteredTest, ParametersAreCheckedByName) {
  const std::string use =
      "links: {torso: {}}\nsubsystems:\n  k:\n    type: drive\n"
      "    connect: {base: torso, far: torso}\n    parameters: ";
  test::expect_in(error(use + "{ratio: 1, prifole: 2}"),
                  {"subsystem 'k' (robot.yaml:7)", "parameter 'prifole' is unknown", "'drive'",
                   "did you mean 'profile'?"});
  test::expect_in(error(use + "{profile: [1]}"),
                  {"subsystem 'k' (robot.yaml:5)", "'ratio' is missing"});
  test::expect_in(error(use + "{ratio: [1, 2]}"), {"subsystem 'k'", "'ratio' has 2 values"});
  test::expect_in(error(use + "{ratio: fast}"), {"robot.yaml:7", "'ratio' is 'fast'"});
}

TEST(YamlRegisteredTest, PortsAreCheckedLikeThoseOfDefinitions) {
  const std::string use =
      "links: {torso: {}}\nsubsystems:\n"
      "  k: {type: drive, parameters: {ratio: 1}, connect: ";
  test::expect_in(error(use + "{base: torso}}"),
                  {"subsystem 'k' (robot.yaml:4)", "'far' is not connected"});
  test::expect_in(error(use + "{bsae: torso, far: torso}}"),
                  {"robot.yaml:4", "did you mean 'base'?"});
  test::expect_in(error(use + "{base: torso, far: torso}}\n"
                              "joints: {j: {type: fixed, parent: k.top, child: torso}}"),
                  {"output port 'top' of subsystem 'k'", "did you mean 'tip'?"});
}

TEST(YamlRegisteredTest, ADefinitionMayNotHaveTheNameOfARegisteredType) {
  test::expect_in(error<DuplicateName>("definitions:\n  drive: {links: {a: {}}}"),
                  {"definition 'drive' (robot.yaml:3)", "registered sub-mechanism"});
}

TEST(YamlRegisteredTest, WithoutARegistryOnlyDefinitionsAreKnown) {
  const std::string text = "espalier: 1\nsubsystems: {k: {type: drive}}";
  test::expect_in(test::message_of([&] { YamlFormat().read(text, "robot.yaml"); }),
                  {"type 'drive' is unknown", "none is known"});
}

TEST(YamlRegisteredTest, BrokenPluginsAreRefusedByName) {
  const auto use = [](const std::string& type) {
    return "links: {torso: {}}\nsubsystems:\n  k: {type: " + type + ", connect: {base: torso}}";
  };
  test::expect_in(error(use("broken_parent")),
                  {"subsystem 'k' (robot.yaml:4)", "'bas' is unknown", "did you mean 'base'?"});
  test::expect_in(error(use("broken_child")), {"joint 'k.hinge'", "'broken_child'", "'base'"});
  test::expect_in(error(use("broken_output")), {"'amr' is unknown", "did you mean 'arm'?"});
  test::expect_in(error<PluginError>(use("throwing")), {"'throwing'", "no luck", "'k'"});
}

}  // namespace
}  // namespace espalier::yaml_registered_test
