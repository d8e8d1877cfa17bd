#include "formats/sdf/sdf.hpp"

#include <gtest/gtest.h>

#include <filesystem>

#include "espalier/kernel/sub_mechanism.hpp"
#include "tests/formats/support.hpp"
#include "tests/support/host.hpp"
#include "tests/support/temporary_folder.hpp"

namespace espalier::sdf_test {
namespace {

using test::expect_in;

class NoParts final : public SubMechanisms {
 public:
  const SubMechanism* find_sub_mechanism(std::string_view) const override { return nullptr; }
  std::vector<std::string> sub_mechanism_names() const override { return {}; }
};

Description read(const std::string& text) { return SdfFormat().read(text, "robot.sdf"); }
Description seed(const std::string& name) {
  const std::string file = ESPALIER_SOURCE_DIR "/tests/fuzz/corpus/sdf/" + name;
  return SdfFormat().read(test::contents(file), file);
}
const JointDescription& joint(const Description& robot, const std::string& name) {
  for (const JointDescription& j : robot.joints) {
    if (j.name == name) return j;
  }
  throw std::runtime_error("no joint " + name);
}
const LinkDescription& link(const Description& robot, const std::string& name) {
  for (const LinkDescription& l : robot.links) {
    if (l.name == name) return l;
  }
  throw std::runtime_error("no link " + name);
}

constexpr double rounding = 1e-15;  // of a product of rotations

TEST(SdfTest, ModelsFloatUnlessSomethingHoldsThem) {
  const std::string link = "<link name='a'/>";
  const auto model = [](const std::string& content) {
    return read("<sdf version='1.9'><model name='m'>" + content + "</model></sdf>");
  };
  const Description free = model(link);
  EXPECT_EQ(free.floating, true);
  EXPECT_EQ(free.links.size(), 1u);
  EXPECT_FALSE(model("<static>true</static>" + link).floating);
  const Description held =
      model(link + "<joint name='j' type='fixed'><parent>world</parent><child>a</child></joint>");
  EXPECT_FALSE(held.floating);
  // Both come back.
  EXPECT_EQ(read(SdfFormat().write(free)).floating, true);
  EXPECT_EQ(read(SdfFormat().write(free)).links.size(), 1u);
  EXPECT_FALSE(read(SdfFormat().write(held)).floating);
}

TEST(SdfTest, FloatingJointOnTheWorldIsAModelThatFloats) {
  Description robot;
  robot.links.resize(2);
  robot.links[0].name = "world", robot.links[1].name = "trunk";
  robot.links[1].inertial = Inertial{{}, 2.0, {1, 0, 0, 1, 0, 1}};
  robot.joints.resize(1);
  robot.joints[0].name = "free", robot.joints[0].type = "floating";
  robot.joints[0].parent = "world", robot.joints[0].child = "trunk";
  const Description back = read(SdfFormat().write(robot));
  EXPECT_EQ(back.floating, true);
  ASSERT_EQ(back.links.size(), 1u);
  EXPECT_EQ(back.links[0].name, "trunk");
  EXPECT_TRUE(back.joints.empty());
}

TEST(SdfTest, PosesGoThroughFramesJointsAndNestedModels) {
  const Description robot = seed("arm.sdf");
  EXPECT_EQ(robot.name, "arm");
  EXPECT_EQ(robot.links.at(0).name, "world");
  const JointDescription& shoulder = joint(robot, "shoulder");
  EXPECT_EQ(shoulder.parent, "base");
  EXPECT_EQ(shoulder.child, "upper");  // whose frame is the joint's
  EXPECT_NEAR(shoulder.origin.xyz.z, 0.15, rounding);
  EXPECT_NEAR(shoulder.origin.rpy.z, 0.5, rounding);
  // The axis is the model's y axis, seen from the joint.
  const Pose base{{0.1, 0.2, 0.3}, {0.1, 0.2, 0.3}}, mount{{0, 0, 0}, {0, 0, 0.5}};
  const Vec3<double> y = mount.transform().E * (base.transform().E * Vec3<double>{0, 1, 0});
  EXPECT_NEAR(shoulder.axis.x, y.x, 1e-14);
  EXPECT_NEAR(shoulder.axis.y, y.y, 1e-14);
  EXPECT_NEAR(shoulder.axis.z, y.z, 1e-14);
  EXPECT_EQ(shoulder.limits.upper, 1.5);
  EXPECT_EQ(shoulder.limits.effort, 20.0);
  EXPECT_EQ(shoulder.passive.damping, 0.1);
  // The slide's frame lies beside the finger's: a massless link stands between.
  const JointDescription& slide = joint(robot, "slide");
  EXPECT_EQ(slide.child, "slide_frame");
  EXPECT_NEAR(slide.origin.xyz.x, 0.3, rounding);
  EXPECT_NEAR(slide.origin.rpy.y, 0.4, rounding);
  EXPECT_NEAR(joint(robot, "tool::finger_weld").origin.xyz.x, 0.02, rounding);
  EXPECT_EQ(link(robot, "tool::finger").inertial->mass, 0.3);
  EXPECT_EQ(link(robot, "upper").visuals.at(0).color, (Color{1, 0, 0, 1}));
  EXPECT_EQ(link(robot, "base").frames.at(0).name, "mount");
}

TEST(SdfTest, JointsBeyondTheTreeAreLoopsAndReversedOnesAreTurnedRound) {
  const Description robot = seed("four_bar.sdf");
  EXPECT_EQ(robot.gravity.z, -1.6);
  const JointDescription& c = joint(robot, "c");
  EXPECT_EQ(c.parent, "frame");
  EXPECT_EQ(c.axis.y, -1.0);
  ASSERT_EQ(robot.loops.size(), 1u);
  const LoopDescription& d = robot.loops[0];
  EXPECT_EQ(d.name, "d");
  EXPECT_EQ(d.type, "revolute");
  EXPECT_EQ(d.predecessor, "coupler");
  EXPECT_NEAR(d.predecessor_origin.xyz.x, 0.3, rounding);
  EXPECT_NEAR(d.predecessor_origin.xyz.z, 0.05, rounding);
  EXPECT_NEAR(d.successor_origin.xyz.z, 0.15, rounding);
}

/// The four-bar whose joint `d` closes the loop, with `inside` in that joint's axis.
Description four_bar(const std::string& inside) {
  const std::string file = ESPALIER_SOURCE_DIR "/tests/fuzz/corpus/sdf/four_bar.sdf";
  std::string text = test::contents(file);
  const std::size_t closing = text.find("name=\"d\""), axis = text.find("</axis>", closing);
  if (closing == text.npos || axis == text.npos) throw std::runtime_error("no joint d");
  return read(text.insert(axis, inside));
}

TEST(SdfTest, JointsThatCloseLoopsKeepTheirDampingAndSprings) {
  EXPECT_TRUE(four_bar("").findings.empty());
  const Description robot =
      four_bar("<dynamics><damping>0.3</damping><spring_stiffness>2</spring_stiffness></dynamics>");
  EXPECT_TRUE(robot.findings.empty());
  const JointDescription& d = joint(robot, "d");
  EXPECT_EQ(d.passive.damping, 0.3);
  EXPECT_EQ(d.passive.stiffness, 2.0);
  ASSERT_EQ(robot.loops.size(), 1u);
  EXPECT_EQ(robot.loops[0].type, "fixed");
  EXPECT_EQ(robot.loops[0].predecessor, d.child);
  // The same mechanism: one degree of freedom and the same inertia of it.
  const ModelPtr plain = test::host().compile(four_bar("")), damped = test::host().compile(robot);
  ASSERT_EQ(plain->nv(), 1);
  ASSERT_EQ(damped->nv(), 1);
  const auto inertia = [](const ModelPtr& model) {
    std::vector<double> q(model->nq());
    double M = 0.0;
    model->neutral(q.data());
    test::any<MassMatrix<double>>(model)->evaluate(q, {&M, 1});
    return M;
  };
  EXPECT_EQ(plain->coordinates()[0].name, damped->coordinates()[0].name);
  EXPECT_NEAR(inertia(plain), inertia(damped), 1e-12 * inertia(plain));
  // A limit alone is not what the equations are made of.
  const Description limited = four_bar("<limit><lower>-1</lower><upper>1</upper></limit>");
  ASSERT_EQ(limited.findings.size(), 1u);
  EXPECT_EQ(limited.findings[0].severity, Finding::Severity::warning);
  expect_in(limited.findings[0].text, {"limit of a joint that closes a loop"});
}

TEST(SdfTest, SpringsOfJointsOfSeveralRatesAreRefused) {
  const auto universal = [](const std::string& first, const std::string& second) {
    const auto axis = [](const std::string& values) {
      return "<xyz>0 0 1</xyz><dynamics>" + values + "</dynamics>";
    };
    return read(
        "<sdf version='1.9'><model name='m'><link name='a'/><link name='b'/>"
        "<joint name='j' type='universal'><parent>a</parent><child>b</child><axis>" +
        axis(first) + "</axis><axis2>" + axis(second) + "</axis2></joint></model></sdf>");
  };
  const std::string damped = "<damping>1</damping>",
                    sprung = "<spring_stiffness>1</spring_stiffness>";
  EXPECT_TRUE(universal(damped, damped).findings.empty());
  EXPECT_EQ(joint(universal(damped, damped), "j").passive.damping, 1.0);
  for (const Description& robot : {universal(damped, ""), universal(sprung, sprung)}) {
    ASSERT_EQ(robot.findings.size(), 1u);
    EXPECT_EQ(robot.findings[0].severity, Finding::Severity::error);
    expect_in(robot.findings[0].text, {"joint (robot.sdf:1)", "several rates", "--lenient"});
  }
}

TEST(SdfTest, DampingOfJointsOfSeveralRatesIsWrittenForEachAxisOrSaidToBeLost) {
  Description robot;
  robot.links.resize(2);
  robot.links[0].name = "world", robot.links[1].name = "cross";
  robot.joints.resize(1);
  robot.joints[0].name = "j", robot.joints[0].type = "universal";
  robot.joints[0].parent = "world", robot.joints[0].child = "cross";
  robot.joints[0].passive.damping = 0.5, robot.joints[0].passive.friction = 0.25;
  robot.joints[0].passive.stiffness = 2.0;  // acts on single positions only
  robot.joints[0].limits.effort = 3.0;
  const Description back = read(SdfFormat().write(robot));
  EXPECT_TRUE(back.findings.empty());
  EXPECT_EQ(joint(back, "j").passive.damping, 0.5);
  EXPECT_EQ(joint(back, "j").passive.friction, 0.25);
  EXPECT_EQ(joint(back, "j").limits.effort, 3.0);
  EXPECT_TRUE(SdfFormat().losses(robot).empty());

  robot.joints[0].type = "spherical";
  const std::vector<std::string> lost = SdfFormat().losses(robot);
  ASSERT_EQ(lost.size(), 2u);
  expect_in(lost[0], {"joint 'j'", "damping"});
  expect_in(lost[1], {"joint 'j'", "limits"});
  robot.joints[0].passive = {}, robot.joints[0].limits = {};
  EXPECT_TRUE(SdfFormat().losses(robot).empty());
}

TEST(SdfTest, WhatASimulatorAddsIsAWarning) {
  const Description robot = read(
      "<sdf version='1.9'><world name='w'><model name='m'><link name='a'>\n<velocity_decay/></link>"
      "\n<plugin name='p' filename='f'/></model></world>\n<world name='v'/></sdf>");
  ASSERT_EQ(robot.findings.size(), 3u);
  for (const Finding& f : robot.findings) EXPECT_EQ(f.severity, Finding::Severity::warning);
  expect_in(robot.findings[0].text, {"robot.sdf:4", "second world"});
  expect_in(robot.findings[1].text, {"plugin (robot.sdf:3)"});
  expect_in(robot.findings[2].text, {"robot.sdf:2", "<velocity_decay>"});
}

TEST(SdfTest, ScrewsAdvanceByTheirPitch) {
  const auto screw = [](const std::string& inside) {
    const Description robot = read(
        "<sdf version='1.10'><model name='m'><link name='a'/><link name='b'/>"
        "<joint name='j' type='screw'><parent>a</parent><child>b</child>" +
        inside + "</joint></model></sdf>");
    return joint(robot, "j").parameters.at("pitch").at(0);
  };
  EXPECT_DOUBLE_EQ(screw("<screw_thread_pitch>0.0125663706143591729</screw_thread_pitch>"), 0.002);
  EXPECT_DOUBLE_EQ(screw("<thread_pitch>-500</thread_pitch>"), 0.002);
}

TEST(SdfTest, GearboxesAreLaws) {
  const Description robot = read(R"(<sdf version='1.9'><model name='m'>
<link name='base'/><link name='a'/><link name='b'/>
<joint name='ja' type='revolute'><parent>base</parent><child>a</child><axis><xyz>0 0 1</xyz></axis></joint>
<joint name='jb' type='revolute'><parent>base</parent><child>b</child><axis><xyz>0 0 -1</xyz></axis></joint>
<joint name='g' type='gearbox'><parent>a</parent><child>b</child><gearbox_ratio>4</gearbox_ratio>
  <gearbox_reference_body>base</gearbox_reference_body>
  <axis><xyz>0 0 1</xyz></axis><axis2><xyz>0 0 1</xyz></axis2></joint></model></sdf>)");
  ASSERT_EQ(robot.laws.size(), 1u);
  EXPECT_EQ(robot.laws[0].joints, (std::vector<std::string>{"ja", "jb"}));
  // theta_b = -4 theta_a about z, and jb turns about -z: 4 qa - qb = 0.
  EXPECT_EQ(robot.laws[0].parameters.at("weights"), (std::vector<double>{4, -1}));
}

TEST(SdfTest, ErrorsNameElementAndLine) {
  const auto refused = [](const std::string& model) {
    return test::message_of(
        [&] { read("<sdf version='1.9'><model name='m'>\n" + model + "</model></sdf>"); });
  };
  expect_in(refused("<link name='a'><pose relative_to='x'/></link>"),
            {"robot.sdf:2", "'x'", "unknown"});
  expect_in(refused("<frame name='f'><pose relative_to='g'/></frame>"
                    "<frame name='g'><pose relative_to='f'/></frame><link name='a'/>"),
            {"relative to itself"});
  expect_in(refused("<link name='a'/><link name='b'/><joint name='j' type='rope'><parent>a</parent>"
                    "<child>b</child></joint>"),
            {"joint 'j'", "'rope'", "revolute"});
  expect_in(test::message_of([] { read("<robot/>"); }), {"<robot>", "<sdf>"});
}

TEST(SdfTest, NamesWithWhiteSpaceAroundThemAreRefused) {
  try {
    seed("name_with_space.sdf");
    FAIL() << "a name that no reference could have was taken";
  } catch (const InvalidModel& error) {
    EXPECT_NE(std::string(error.what()).find("' vworld'"), std::string::npos) << error.what();
  }
}

const std::string models = ESPALIER_SOURCE_DIR "/tests/sdf/models";

Description with_models(const std::string& inside, ReadOptions options = {}) {
  return SdfFormat().read("<sdf version='1.9'><model name='m'>" + inside + "</model></sdf>",
                          "/nowhere/robot.sdf", NoParts(), options);
}

TEST(SdfIncludeTest, ModelsAreFoundInFoldersThatAreNamed) {
  ReadOptions options;
  options.search_paths = {models};
  const Description robot = with_models(
      "<link name='a'/><include><uri>model://gripper</uri><name>hand</name></include>"
      "<joint name='j' type='fixed'><parent>a</parent><child>hand::palm</child></joint>",
      options);
  // model.config names old.sdf, too, of an older version, which is not there.
  EXPECT_EQ(link(robot, "hand::jaw").inertial->mass, 0.1);
  EXPECT_EQ(joint(robot, "j").child, "hand::palm");
  // A path of the included file, as seen from the one that includes it.
  const auto& mesh = std::get<Mesh>(link(robot, "hand::palm").visuals.at(0).shape);
  EXPECT_EQ((std::filesystem::path("/nowhere") / mesh.file).lexically_normal(),
            std::filesystem::path(models) / "gripper/meshes/shell.stl");
}

TEST(SdfIncludeTest, NothingOutsideOfNamedFoldersIsOpened) {
  const auto refused = [](const std::string& uri, const ReadOptions& options) {
    return test::message_of(
        [&] { with_models("<link name='a'/><include><uri>" + uri + "</uri></include>", options); });
  };
  ReadOptions named;
  named.search_paths = {models + "/camera"};
  ReadOptions outside = named;
  outside.outside = true;
  expect_in(refused("model://../gripper/gripper.sdf", named), {"robot.sdf:1", "inside the folder"});
  expect_in(refused("file://" + models + "/gripper/gripper.sdf", named), {"inside the folder"});
  expect_in(refused("model://gripper", named), {"missing"});
  expect_in(refused("https://fuel.gazebosim.org/1.0/a/models/b", outside), {"model://"});
  // Asked for, or inside of them after all: read.
  const auto read_ones = [](const std::string& uri, const ReadOptions& options) {
    return with_models("<include><uri>" + uri + "</uri></include>", options).links.size();
  };
  EXPECT_EQ(read_ones("model://../gripper/gripper.sdf", outside), 2u);
  EXPECT_EQ(read_ones("file://" + models + "/camera/model.sdf", named), 2u);
}

TEST(SdfIncludeTest, FilesThatIncludeThemselvesAreRefused) {
  const test::TemporaryFolder folder;
  const std::string file =
      folder.write("again.sdf",
                   "<sdf version='1.9'><model name='m'><link name='a'/>"
                   "<include><uri>again.sdf</uri><name>x</name></include>"
                   "<include><uri>again.sdf</uri><name>y</name></include></model></sdf>");
  expect_in(test::message_of([&] { SdfFormat().read(test::contents(file), file); }),
            {"include", "too deep or too often"});
}

TEST(SdfIncludeTest, WhatWouldChangeTheMotionIsSaid) {
  const auto finding = [](const std::string& inside) {
    const Description robot = read("<sdf version='1.11'><model name='m'><link name='a'>" + inside +
                                   "</link></model></sdf>");
    return robot.findings.empty() ? "" : robot.findings[0].text;
  };
  EXPECT_EQ(finding("<gravity>true</gravity>"), "");
  expect_in(finding("<gravity>false</gravity>"), {"<gravity>", "--lenient"});
  expect_in(finding("<kinematic>true</kinematic>"), {"<kinematic>", "--lenient"});
  expect_in(finding("<inertial auto='true'/>"), {"'auto'", "--lenient"});
  expect_in(finding("<inertial><fluid_added_mass/></inertial>"), {"<fluid_added_mass>"});
}

TEST(SdfTest, BallsAndCrossesThatLeadTowardsTheRootAreTheirInverse) {
  const Description robot = read(R"(<sdf version='1.9'><model name='m'>
<link name='a'/><link name='b'/><link name='c'/>
<joint name='ground' type='fixed'><parent>world</parent><child>a</child></joint>
<joint name='ball' type='ball'><parent>b</parent><child>a</child></joint>
<joint name='cross' type='universal'><parent>c</parent><child>b</child>
  <axis><xyz>1 0 0</xyz></axis><axis2><xyz>0 1 0</xyz></axis2></joint></model></sdf>)");
  EXPECT_EQ(joint(robot, "ball").parent, "a");
  // R = X(p) Y(q) from c to b; from b to c it is Y(-q) X(-p): first about -y, then about -x.
  EXPECT_EQ(joint(robot, "cross").axis.y, -1.0);
  EXPECT_EQ(joint(robot, "cross").parameters.at("axis2"), (std::vector<double>{-1, 0, 0}));
  EXPECT_EQ(robot.findings.size(), 2u);  // positions mean something else than in the file
}

}  // namespace
}  // namespace espalier::sdf_test
