#include <gtest/gtest.h>

#include <numbers>

#include "espalier/plugins/registry.hpp"
#include "formats/yaml/yaml.hpp"
#include "formats/yaml/yaml_compose.hpp"
#include "tests/formats/support.hpp"
#include "tests/support/temporary_folder.hpp"

namespace espalier::yaml_subsystem_test {
namespace {

Description read(const std::string& text) { return YamlFormat().read(text, "robot.yaml"); }

const LinkDescription& link(const Description& d, const std::string& name) {
  for (const auto& l : d.links) {
    if (l.name == name) return l;
  }
  throw std::out_of_range("no link " + name);
}
const JointDescription& joint(const Description& d, const std::string& name) {
  for (const auto& j : d.joints) {
    if (j.name == name) return j;
  }
  throw std::out_of_range("no joint " + name);
}

/// A folder with files in YAML.
class Folder : public test::TemporaryFolder {
 public:
  Description read(const std::string& name, const ReadOptions& options = {}) const {
    const std::string file = *this / name;
    return YamlFormat().read(test::contents(file), file, Registry(), options);
  }
};

const std::string leg = R"(definitions:
  leg:
    parameters: {side: , length: 0.4}
    ports:
      inputs: [base]
      outputs: {foot: shank, tip: {link: shank, xyz: [0, 0, $(-length)]}}
    links:
      thigh: {mass: 3, com: [0, $(side * 0.01), 0]}
      shank: {mass: 2}
    joints:
      hip: {type: revolute, parent: base, child: thigh, xyz: [0, 0, 0.1]}
      knee: {type: revolute, parent: thigh, child: shank, mimic: {joint: hip}}
    loops:
      strap: {type: fixed, predecessor: base, successor: shank}
    couplings:
      belt: {predecessor: base, successor: shank, ratio: $(side)}
)";

TEST(YamlSubsystemTest, TheExampleOfTheDocumentationIsARobot) {
  const std::string text =
      test::contents(std::filesystem::path(ESPALIER_SOURCE_DIR) / "docs" / "yaml.md");
  const auto first = text.find("```yaml\n") + 8;
  const Description d = read(text.substr(first, text.find("```", first) - first));
  EXPECT_EQ(d.name, "biped");
  EXPECT_EQ(d.links.size(), 8u);
  EXPECT_EQ(d.joints.size(), 7u);
  EXPECT_EQ(joint(d, "right.hip").parent, "torso");
  EXPECT_EQ(joint(d, "right.hip").origin.xyz.y, -0.1);
  EXPECT_EQ(joint(d, "sole.weld").parent, "left.shank");
  EXPECT_EQ(joint(d, "sole.weld").origin.xyz.z, -0.4);
  EXPECT_EQ(d.couplings.at(1).name, "right.gear");
  EXPECT_EQ(d.couplings.at(1).ratio, 6.0);
}

TEST(YamlSubsystemTest, TwoInstancesHaveTheirOwnNamesAndParameters) {
  const Description d = read("espalier: 1\nlinks: {torso: {mass: 1}}\n" + leg + R"(
subsystems:
  l: {type: leg, parameters: {side: 1}, connect: {base: torso}}
  r: {type: leg, parameters: {side: -1, length: 0.5}, connect: {base: torso}}
)");
  EXPECT_EQ(d.links.size(), 5u);
  EXPECT_EQ(link(d, "l.thigh").inertial->origin.xyz.y, 0.01);
  EXPECT_EQ(link(d, "r.thigh").inertial->origin.xyz.y, -0.01);
  EXPECT_EQ(joint(d, "l.hip").parent, "torso");
  EXPECT_EQ(joint(d, "l.hip").child, "l.thigh");
  EXPECT_EQ(joint(d, "r.knee").parent, "r.thigh");
  EXPECT_EQ(joint(d, "r.knee").mimic->joint, "r.hip");
  EXPECT_EQ(d.loops.at(0).name, "l.strap");
  EXPECT_EQ(d.loops.at(0).predecessor, "torso");
  EXPECT_EQ(d.loops.at(0).successor, "l.shank");
  EXPECT_EQ(d.couplings.at(1).predecessor, "torso");
  EXPECT_EQ(d.couplings.at(1).ratio, -1.0);
  EXPECT_EQ(link(d, "r.thigh").where.text(), "robot.yaml:10");
}

TEST(YamlSubsystemTest, FramesOfPortAndPlacementAddUp) {
  const Description d = read("espalier: 1\nlinks: {torso: {mass: 1}}\n" + leg + R"(
subsystems:
  lower:
    type: leg
    parameters: {side: 1}
    connect: {base: {to: upper.tip, xyz: [1, 2, 0], rpy: [0, 0, 1]}}
  upper: {type: leg, parameters: {side: 1}, connect: {base: {to: torso, rpy: [0, 0, 0.5]}}}
)");
  EXPECT_EQ(joint(d, "upper.hip").origin, (Pose{{0, 0, 0.1}, {0, 0, 0.5}}));
  const JointDescription& hip = joint(d, "lower.hip");
  EXPECT_EQ(hip.parent, "upper.shank");
  // Port (0, 0, -0.4), placement (1, 2, 0), joint (0, 0, 0.1) turned about z, which keeps it.
  EXPECT_EQ(hip.origin.xyz.x, 1.0);
  EXPECT_EQ(hip.origin.xyz.y, 2.0);
  EXPECT_NEAR(hip.origin.xyz.z, -0.3, 1e-16);  // one rounding of a sum of numbers below 1
  EXPECT_EQ(hip.origin.rpy.z, 1.0);
  EXPECT_EQ(d.loops.at(1).predecessor_origin.xyz.z, -0.4);
  // A part comes after what it hangs on, whatever the order in the file.
  EXPECT_EQ(d.joints.at(0).name, "upper.hip");
}

TEST(YamlSubsystemTest, PosesComposeLikeTransforms) {
  const Pose outer{{1, 2, 3}, {0.3, -0.4, 0.5}}, inner{{-1, 0.5, 2}, {1, 0.2, -2}};
  const Transform<double> X = inner.transform() * outer.transform();
  const Transform<double> Y = formats::compose(outer, inner).transform();
  for (int i = 0; i < 3; ++i) {
    EXPECT_NEAR(X.r[i], Y.r[i], 1e-15);  // a few roundings of numbers of size 1
    for (int j = 0; j < 3; ++j) EXPECT_NEAR(X.E(i, j), Y.E(i, j), 1e-15);
  }
  EXPECT_EQ(formats::compose(outer, Pose{}), outer);
  EXPECT_EQ(formats::compose(Pose{}, inner), inner);
}

TEST(YamlSubsystemTest, SubsystemsNest) {
  const Description d = read("espalier: 1\nlinks: {torso: {}}\n" + leg + R"(
  pair:
    parameters: {spread: 0.2}
    ports: {inputs: [hips], outputs: {toe: {link: l.tip, xyz: [1, 0, 0]}}}
    links: {bar: {mass: 1}}
    joints: {swing: {type: revolute, parent: hips, child: bar}}
    subsystems:
      l: {type: leg, parameters: {side: 1}, connect: {base: {to: bar, xyz: [0, $(spread), 0]}}}
      r: {type: leg, parameters: {side: -1}, connect: {base: hips}}
subsystems:
  front: {type: pair, connect: {hips: torso}}
  back: {type: pair, parameters: {spread: 0.3}, connect: {hips: front.toe}}
)");
  EXPECT_EQ(d.links.size(), 11u);
  EXPECT_EQ(joint(d, "front.l.hip").parent, "front.bar");
  EXPECT_EQ(joint(d, "front.l.hip").origin.xyz.y, 0.2);
  EXPECT_EQ(joint(d, "front.r.hip").parent, "torso");
  EXPECT_EQ(joint(d, "back.l.hip").origin.xyz.y, 0.3);
  EXPECT_EQ(joint(d, "back.r.hip").parent, "front.l.shank");
  EXPECT_EQ(joint(d, "back.swing").origin, (Pose{{1, 0, -0.4}, {0, 0, 0}}));
}

TEST(YamlSubsystemTest, ARobotMayConsistOfSubsystemsAlone) {
  const Description d = read("espalier: 1\n" + leg + R"(
  body: {ports: {outputs: {hip: pelvis}}, links: {pelvis: {mass: 5}}}
links: {sensor: {mass: 0.1}}
joints: {mount: {type: fixed, parent: leg.tip, child: sensor}}
subsystems:
  leg: {type: leg, parameters: {side: 1}, connect: {base: body.hip}}
  body: {type: body}
)");
  EXPECT_EQ(joint(d, "leg.hip").parent, "body.pelvis");
  EXPECT_EQ(joint(d, "mount").parent, "leg.shank");
  EXPECT_EQ(joint(d, "mount").origin.xyz.z, -0.4);
}

TEST(YamlSubsystemTest, AJointMayHoldASubsystemByAnOutput) {
  const Description d = read(R"(espalier: 1
definitions:
  body: {ports: {outputs: {all: pelvis}}, links: {pelvis: {mass: 5}}}
links: {world: {}}
joints: {free: {type: floating, parent: world, child: body.all}}
subsystems: {body: {type: body}}
)");
  EXPECT_EQ(joint(d, "free").child, "body.pelvis");
}

TEST(YamlSubsystemTest, CloseJoinsASecondUnit) {
  const Description d = read(R"(espalier: 1
links: {ground: {}}
definitions:
  crank:
    ports: {inputs: [at], outputs: {pin: {link: arm, xyz: [1, 0, 0]}}}
    links: {arm: {mass: 1}}
    joints: {turn: {type: revolute, parent: at, child: arm}}
  rod:
    ports: {inputs: [one, two]}
    links: {bar: {mass: 1}}
    joints: {turn: {type: revolute, parent: one, child: bar}}
    loops: {pin: {type: revolute, predecessor: {link: bar, xyz: [2, 0, 0]}, successor: two}}
subsystems:
  coupler: {type: rod, connect: {one: left.pin}, close: {two: right.pin}}
  left: {type: crank, connect: {at: ground}}
  right: {type: crank, connect: {at: {to: ground, xyz: [2, 0, 0]}}}
)");
  EXPECT_EQ(joint(d, "coupler.turn").parent, "left.arm");
  EXPECT_EQ(d.loops.at(0).predecessor, "coupler.bar");
  EXPECT_EQ(d.loops.at(0).successor, "right.arm");
  EXPECT_EQ(d.loops.at(0).successor_origin.xyz.x, 1.0);
}

TEST(YamlSubsystemTest, AFlatRobotReadsBackEqual) {
  const Description d = read("espalier: 1\nlinks: {torso: {mass: 1}}\n" + leg +
                             "subsystems:\n  l: {type: leg, parameters: {side: 1}, "
                             "connect: {base: torso}}\n");
  test::expect_same(read(YamlFormat().write(d)), d);
}

TEST(YamlIncludeTest, FilesAreRelativeToTheOneThatNamesThem) {
  const Folder folder;
  folder.write("robot.yaml",
               "espalier: 1\ninclude: [parts/leg.yaml, parts/foot.yaml]\nlinks: {torso: {}}\n"
               "subsystems:\n  l: {type: leg, parameters: {side: 1}, connect: {base: torso}}\n"
               "  f: {type: foot, connect: {at: l.foot}}\n");
  folder.write("parts/leg.yaml", "espalier: 1\ninclude: [foot.yaml]\n" + leg);
  folder.write("parts/foot.yaml",
               "espalier: 1\ndefinitions:\n  foot: {ports: {inputs: [at]}, links: {plate: {}}}\n");
  const Description d = folder.read("robot.yaml");
  EXPECT_EQ(joint(d, "l.hip").where.file, folder / "parts/leg.yaml");
  EXPECT_FALSE(link(d, "f.plate").inertial);
}

TEST(YamlIncludeTest, CirclesAreRefused) {
  const Folder folder;
  folder.write("robot.yaml", "espalier: 1\ninclude: [a.yaml]\n");
  folder.write("a.yaml", "espalier: 1\n\ninclude: [b.yaml]\n");
  folder.write("b.yaml", "espalier: 1\ninclude: [./a.yaml]\n");
  test::expect_in(test::message_of([&] { folder.read("robot.yaml"); }),
                  {"b.yaml:2", "'./a.yaml'", "without a circle"});
  folder.write("own.yaml", "espalier: 1\ninclude: [own.yaml]\n");
  test::expect_in(test::message_of([&] { folder.read("own.yaml"); }), {"own.yaml:2", "circle"});
}

TEST(YamlIncludeTest, FilesThatCannotBeReadAreNamed) {
  const Folder folder;
  folder.write("robot.yaml", "espalier: 1\ninclude:\n  - missing.yaml\n");
  test::expect_in(test::message_of([&] { folder.read("robot.yaml"); }),
                  {"robot.yaml:3", "'missing.yaml'", folder / "missing.yaml"});
  folder.write("robot.yaml", "espalier: 1\ninclude: [/dev/zero]\n");
  test::expect_in(test::message_of([&] { folder.read("robot.yaml"); }), {"'/dev/zero'"});
  folder.write("robot.yaml", "espalier: 1\ninclude: [.]\n");
  test::expect_in(test::message_of([&] { folder.read("robot.yaml"); }), {"'.'", "cannot be read"});
}

TEST(YamlIncludeTest, NothingOutsideOfTheRobotsFolderIsOpenedUnlessAsked) {
  const Folder folder;
  folder.write("parts/leg.yaml", "espalier: 1\n" + leg);
  folder.write("robots/robot.yaml",
               "espalier: 1\ninclude: [../parts/leg.yaml]\nlinks: {torso: {}}\n"
               "subsystems:\n  l: {type: leg, parameters: {side: 1}, connect: {base: torso}}\n");
  test::expect_in(test::message_of([&] { folder.read("robots/robot.yaml"); }),
                  {"robots/robot.yaml:2", "'../parts/leg.yaml'", "inside the folder", "--outside"});
  ReadOptions outside, named;
  outside.outside = true;
  EXPECT_EQ(joint(folder.read("robots/robot.yaml", outside), "l.hip").parent, "torso");
  named.search_paths = {folder / "parts"};
  EXPECT_EQ(joint(folder.read("robots/robot.yaml", named), "l.hip").parent, "torso");
  // Search paths hold what is not beside the robot; paths that lead within its folder are inside.
  folder.write("robots/other.yaml",
               "espalier: 1\ninclude: [leg.yaml, ../robots/foot.yaml]\nlinks: {torso: {}}\n"
               "subsystems:\n  l: {type: leg, parameters: {side: 1}, connect: {base: torso}}\n");
  folder.write("robots/foot.yaml", "espalier: 1\ndefinitions: {foot: {links: {sole: {}}}}\n");
  EXPECT_EQ(joint(folder.read("robots/other.yaml", named), "l.hip").where.file,
            folder / "parts/leg.yaml");
  folder.write("robots/absolute.yaml",
               "espalier: 1\ninclude: [" + folder / "parts/leg.yaml" + "]\nlinks: {a: {}}\n");
  test::expect_in(test::message_of([&] { folder.read("robots/absolute.yaml"); }),
                  {"inside the folder"});
}

TEST(YamlIncludeTest, ErrorsInIncludedFilesNameThem) {
  const Folder folder;
  folder.write("robot.yaml", "espalier: 1\ninclude: [part.yaml]\n");
  folder.write("part.yaml", "espalier: 1\nlinks: {}\n");
  test::expect_in(test::message_of([&] { folder.read("robot.yaml"); }),
                  {"part.yaml:2", "key 'links' is unknown"});
}

TEST(YamlIncludeTest, TypesDefinedTwiceNameBothPlaces) {
  const Folder folder;
  folder.write("robot.yaml",
               "espalier: 1\ninclude: [part.yaml]\ndefinitions:\n  foot: {links: {b: {}}}\n");
  folder.write("part.yaml", "espalier: 1\ndefinitions: {foot: {links: {a: {}}}}\n");
  test::expect_in(test::message_of<DuplicateName>([&] { folder.read("robot.yaml"); }),
                  {"'foot'", "robot.yaml:4", "part.yaml:2"});
}

}  // namespace
}  // namespace espalier::yaml_subsystem_test
