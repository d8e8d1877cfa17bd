#include "formats/urdf/urdf.hpp"

#include <gtest/gtest.h>

#include <clocale>
#include <locale>
#include <numbers>

#include "tests/formats/support.hpp"

namespace espalier::urdf_test {
namespace {

using test::expect_same;

Description read(const std::string& text) { return UrdfFormat().read(text, "robot.urdf"); }
Description read_in_robot(const std::string& text) {
  return read("<robot name='r'>" + text + "</robot>");
}
JointDescription joint(const std::string& inside, const std::string& attributes = "") {
  const Description d = read_in_robot("<joint name='j' type='revolute' " + attributes +
                                      "><parent link='a'/><child link='b'/>" + inside + "</joint>");
  return d.joints.at(0);
}

void expect_vector(const Vec3<double>& v, double x, double y, double z) {
  EXPECT_EQ(v.x, x);
  EXPECT_EQ(v.y, y);
  EXPECT_EQ(v.z, z);
}

TEST(UrdfTest, ReadsARobotOfTwoLinks) {
  const Description d = read(R"(<?xml version="1.0"?>
<robot name="pendulum">
  <link name="world"/>
  <link name="rod">
    <inertial>
      <origin xyz="0 0 -0.5" rpy="0.1 0.2 0.3"/>
      <mass value="2"/>
      <inertia ixx="1" ixy="2" ixz="3" iyy="4" iyz="5" izz="6"/>
    </inertial>
  </link>
  <joint name="hinge" type="revolute">
    <parent link="world"/> <child link="rod"/>
    <origin xyz="1 2 3" rpy="0 0 1.5"/>
    <axis xyz="0 1 0"/>
    <limit lower="-1" upper="2" velocity="3" effort="4"/>
    <dynamics damping="0.1" friction="0.2" spring_reference="7"/>
  </joint>
</robot>)");
  EXPECT_EQ(d.name, "pendulum");
  ASSERT_EQ(d.links.size(), 2u);
  EXPECT_FALSE(d.links[0].inertial);
  ASSERT_TRUE(d.links[1].inertial);
  const Inertial& I = *d.links[1].inertial;
  EXPECT_EQ(I.mass, 2.0);
  EXPECT_EQ(I.origin, (Pose{{0, 0, -0.5}, {0.1, 0.2, 0.3}}));
  expect_vector({I.I.xx, I.I.yy, I.I.zz}, 1, 4, 6);
  expect_vector({I.I.xy, I.I.xz, I.I.yz}, 2, 3, 5);
  ASSERT_EQ(d.joints.size(), 1u);
  const JointDescription& j = d.joints[0];
  EXPECT_EQ(j.name, "hinge");
  EXPECT_EQ(j.type, "revolute");
  EXPECT_EQ(j.parent, "world");
  EXPECT_EQ(j.child, "rod");
  EXPECT_EQ(j.origin, (Pose{{1, 2, 3}, {0, 0, 1.5}}));
  expect_vector(j.axis, 0, 1, 0);
  EXPECT_EQ(j.limits.lower, -1.0);
  EXPECT_EQ(j.limits.upper, 2.0);
  EXPECT_EQ(j.limits.velocity, 3.0);
  EXPECT_EQ(j.limits.effort, 4.0);
  EXPECT_EQ(j.passive.damping, 0.1);
  EXPECT_EQ(j.passive.friction, 0.2);
  EXPECT_EQ(j.where.text(), "robot.urdf:11");
  EXPECT_EQ(d.links[1].where.text(), "robot.urdf:4");
}

TEST(UrdfTest, MissingPartsHaveTheDefaultsOfUrdf) {
  const JointDescription j = joint("");
  EXPECT_EQ(j.origin, Pose{});
  expect_vector(j.axis, 1, 0, 0);
  EXPECT_FALSE(j.limits.lower || j.limits.upper || j.limits.velocity || j.limits.effort);
  EXPECT_FALSE(j.mimic);
  EXPECT_FALSE(j.independent);
  EXPECT_EQ(joint("<origin/>").origin, Pose{});
  expect_vector(joint("<axis/>").axis, 1, 0, 0);
}

TEST(UrdfTest, JointTypesAreLeftToTheCompiler) {
  for (const char* type : {"revolute", "continuous", "prismatic", "planar", "floating", "fixed",
                           "helical", "cylindrical", "universal", "spherical", "my-own"}) {
    const Description d = read_in_robot("<joint name='j' type='" + std::string(type) +
                                        "'><parent link='a'/><child link='b'/></joint>");
    EXPECT_EQ(d.joints.at(0).type, type);
  }
}

TEST(UrdfTest, ReadsShapesWithMaterialsDefinedAnywhere) {
  const Description d = read_in_robot(R"(
<link name="a">
  <visual name="cover">
    <origin xyz="1 2 3" rpy="0 0 1"/>
    <geometry><box size="0.1 0.2 0.3"/></geometry>
    <material name="blue"/>
  </visual>
  <visual> <geometry><mesh filename="package://r/m.stl" scale="1 1 -1"/></geometry>
    <material name="own"><color rgba="0.1 0.2 0.3 0.4"/></material> </visual>
  <collision> <geometry><cylinder radius="0.1" length="2"/></geometry> </collision>
  <collision> <geometry><capsule radius="0.3" length="1"/></geometry> </collision>
</link>
<material name="blue"><color rgba="0 0 1 1"/></material>)");
  const LinkDescription& a = d.links.at(0);
  ASSERT_EQ(a.visuals.size(), 2u);
  EXPECT_EQ(a.visuals[0].name, "cover");
  EXPECT_EQ(a.visuals[0].origin, (Pose{{1, 2, 3}, {0, 0, 1}}));
  EXPECT_TRUE(a.visuals[0].shape == Shape(Box{{0.1, 0.2, 0.3}}));
  EXPECT_EQ(a.visuals[0].material, "blue");
  EXPECT_EQ(a.visuals[0].color, (Color{0, 0, 1, 1}));
  EXPECT_TRUE(a.visuals[1].shape == Shape(Mesh{"package://r/m.stl", {1, 1, -1}}));
  EXPECT_EQ(a.visuals[1].color, (Color{0.1, 0.2, 0.3, 0.4}));
  EXPECT_EQ(a.visuals[1].where.text(), "robot.urdf:8");
  ASSERT_EQ(a.collisions.size(), 2u);
  EXPECT_TRUE(a.collisions[0].shape == Shape(Cylinder{0.1, 2}));
  EXPECT_TRUE(a.collisions[1].shape == Shape(Capsule{0.3, 1}));
  EXPECT_TRUE(d.findings.empty());
}

TEST(UrdfTest, ShapesThatCannotBeReadAreLeftOutAndSaid) {
  const Description d = read_in_robot(
      "<link name='a'><visual><geometry><torus/></geometry></visual>"
      "<collision><geometry><sphere radius='wide'/></geometry></collision>"
      "<visual><geometry><sphere radius='1'/></geometry></visual></link>");
  EXPECT_EQ(d.links.at(0).visuals.size(), 1u);
  EXPECT_TRUE(d.links.at(0).collisions.empty());
  ASSERT_EQ(d.findings.size(), 2u);
  EXPECT_EQ(d.findings[0].severity, Finding::Severity::warning);
  test::expect_in(d.findings[0].text, {"link 'a'", "robot.urdf:1", "<torus>", "left out"});
  test::expect_in(d.findings[1].text, {"radius", "wide"});
}

TEST(UrdfTest, MissingInertialIsMassless) {
  EXPECT_FALSE(read_in_robot("<link name='a'/>").links.at(0).inertial);
}

TEST(UrdfTest, MissingProductsOfInertiaAreZero) {
  const Description d = read_in_robot(
      "<link name='a'><inertial><mass value='1'/><inertia ixx='1' iyy='2' izz='3'/></inertial>"
      "</link>");
  const Sym3<double> I = d.links.at(0).inertial->I;
  expect_vector({I.xy, I.xz, I.yz}, 0, 0, 0);
}

TEST(UrdfTest, OneMissingPositionLimitIsZeroAndTwoAreNoLimit) {
  EXPECT_EQ(joint("<limit lower='-1'/>").limits.upper, 0.0);
  EXPECT_EQ(joint("<limit upper='1'/>").limits.lower, 0.0);
  EXPECT_FALSE(joint("<limit effort='1'/>").limits.lower);
  EXPECT_FALSE(joint("<limit effort='1'/>").limits.upper);
}

TEST(UrdfTest, ContinuousJointsHaveNoPositionLimits) {
  const Description d = read_in_robot(
      "<joint name='j' type='continuous'><parent link='a'/><child link='b'/>"
      "<limit lower='-1' upper='1' effort='5'/></joint>");
  EXPECT_FALSE(d.joints.at(0).limits.lower);
  EXPECT_FALSE(d.joints.at(0).limits.upper);
  EXPECT_EQ(d.joints.at(0).limits.effort, 5.0);
}

TEST(UrdfTest, MimicHasDefaultsOneAndZero) {
  const JointDescription j = joint("<mimic joint='k'/>");
  ASSERT_TRUE(j.mimic);
  EXPECT_EQ(j.mimic->joint, "k");
  EXPECT_EQ(j.mimic->multiplier, 1.0);
  EXPECT_EQ(j.mimic->offset, 0.0);
  const JointDescription full = joint("<mimic joint='k' multiplier='-2' offset='0.5'/>");
  EXPECT_EQ(full.mimic->multiplier, -2.0);
  EXPECT_EQ(full.mimic->offset, 0.5);
}

TEST(UrdfTest, UnknownElementsAttributesAndCommentsAreIgnored) {
  const Description d = read(R"(<!-- before --><!DOCTYPE robot>
<robot name="r" version="1.2" xmlns:xacro="http://www.ros.org/wiki/xacro">
  <!-- <link name="not"/> -->
  <material name="Red"><color rgba="1 0 0 1"/></material>
  <gazebo reference="a"><link name="not this"/><joint/></gazebo>
  <transmission name="t"><joint name="j"><x/></joint><actuator name="m"/></transmission>
  <xacro:property name="unused" value="1"/>
  <gz:plugin xmlns:gz="x"/> <anything/>
  <link name="a" color="red"><visual><origin xyz="not numbers"/></visual><collision/></link>
  text between elements
</robot>
<!-- after -->)");
  EXPECT_EQ(d.links.size(), 1u);
  EXPECT_EQ(d.joints.size(), 0u);
}

TEST(UrdfTest, ElementsOfOtherNamespacesAreIgnored) {
  const Description d = read_in_robot("<tool:link name='x'/><link name='a'/><tool:joint/>");
  ASSERT_EQ(d.links.size(), 1u);
  EXPECT_EQ(d.links[0].name, "a");
}

TEST(UrdfTest, ThePrefixOfTheRootIsTheOneOfUrdf) {
  const Description d = read(
      "<u:robot xmlns:u='urdf' name='r'><u:link name='a'><u:inertial><u:mass value='1'/>"
      "<u:inertia ixx='1' iyy='1' izz='1'/></u:inertial></u:link><link name='x'/></u:robot>");
  ASSERT_EQ(d.links.size(), 1u);
  EXPECT_EQ(d.links[0].name, "a");
  EXPECT_EQ(d.links[0].inertial->mass, 1.0);
}

TEST(UrdfTest, NumbersMayBeScientificSignedAndSpaced) {
  const JointDescription j = joint("<origin xyz=' +1e-3\t-2E+2  \n .5 '/>");
  expect_vector(j.origin.xyz, 1e-3, -200.0, 0.5);
}

/// Numbers with a comma, as in many locales of the world, without any of them installed.
struct Comma : std::numpunct<char> {
  char do_decimal_point() const override { return ','; }
};

TEST(UrdfTest, NumbersDoNotDependOnTheLocale) {
  const std::locale before = std::locale::global(std::locale(std::locale(), new Comma));
  const std::string c_before = std::setlocale(LC_ALL, nullptr);
  std::setlocale(LC_ALL, "de_DE.UTF-8");  // where it is installed
  const JointDescription j = joint("<origin xyz='1.5 2.25 3'/>");
  const std::string written = UrdfFormat().write(test::everything());
  std::setlocale(LC_ALL, c_before.c_str());
  std::locale::global(before);
  expect_vector(j.origin.xyz, 1.5, 2.25, 3);
  expect_same(read(written), test::everything());
}

TEST(UrdfTest, EntitiesInNamesAreResolved) {
  EXPECT_EQ(read_in_robot("<link name='a&amp;b &lt;&#233;&gt;'/>").links.at(0).name, "a&b <é>");
}

TEST(UrdfTest, DuplicateNamesAreKeptForTheCompilerToReport) {
  const Description d = read_in_robot("<link name='a'/>\n<link name='a'/>");
  ASSERT_EQ(d.links.size(), 2u);
  EXPECT_EQ(d.links[0].where.line, 1);
  EXPECT_EQ(d.links[1].where.line, 2);
}

TEST(UrdfTest, QuaternionsAreReadAsRollPitchYaw) {
  // Half a right angle of sine and cosine: a quarter turn about z; the length does not matter.
  const JointDescription j = joint("<origin xyz='1 2 3' quat_xyzw='0 0 2 2'/>");
  expect_vector(j.origin.xyz, 1, 2, 3);
  EXPECT_NEAR(j.origin.rpy.z, std::numbers::pi / 2, 1e-15);  // roundings of the square root
}

TEST(UrdfPlusTest, CouplingsLoopsAndIndependentJointsAreRead) {
  const Description d = read_in_robot(R"(
  <joint name="j" type="revolute" independent="false"><parent link="a"/><child link="b"/></joint>
  <joint name="k" type="revolute" independent="True"><parent link="a"/><child link="c"/></joint>
  <coupling name="gear">
    <predecessor link="b"/><successor link="c"/><ratio value="-6.5"/>
  </coupling>
  <loop name="pin" type="planar">
    <predecessor link="b"><origin xyz="1 2 3" rpy="0.1 0.2 0.3"/></predecessor>
    <successor link="c"><origin xyz="4 5 6"/></successor>
    <axis xyz="0 0 -1"/>
  </loop>)");
  EXPECT_EQ(d.joints.at(0).independent, false);
  EXPECT_EQ(d.joints.at(1).independent, true);
  ASSERT_EQ(d.couplings.size(), 1u);
  EXPECT_EQ(d.couplings[0].name, "gear");
  EXPECT_EQ(d.couplings[0].predecessor, "b");
  EXPECT_EQ(d.couplings[0].successor, "c");
  EXPECT_EQ(d.couplings[0].ratio, -6.5);
  EXPECT_EQ(d.couplings[0].where.line, 4);
  ASSERT_EQ(d.loops.size(), 1u);
  EXPECT_EQ(d.loops[0].type, "planar");
  EXPECT_EQ(d.loops[0].predecessor, "b");
  EXPECT_EQ(d.loops[0].successor, "c");
  EXPECT_EQ(d.loops[0].predecessor_origin, (Pose{{1, 2, 3}, {0.1, 0.2, 0.3}}));
  EXPECT_EQ(d.loops[0].successor_origin, (Pose{{4, 5, 6}, {0, 0, 0}}));
  expect_vector(d.loops[0].axis, 0, 0, -1);
}

TEST(UrdfPlusTest, LawsAndRodsAreRead) {
  const Description d = read_in_robot(R"(
  <law name="cam" type="lift">
    <joint name="b"/><joint name="a"/>
    <parameter name="height" value="0.1"/><parameter name="profile" value="1 2.5 -3"/>
  </law>
  <loop name="strut" type="rod">
    <predecessor link="b"/><successor link="c"/>
    <espalier><parameter name="length" value="0.4"/></espalier>
  </loop>)");
  ASSERT_EQ(d.laws.size(), 1u);
  EXPECT_EQ(d.laws[0].name, "cam");
  EXPECT_EQ(d.laws[0].type, "lift");
  EXPECT_EQ(d.laws[0].joints, (std::vector<std::string>{"b", "a"}));
  EXPECT_EQ(d.laws[0].parameters, (Parameters{{"height", {0.1}}, {"profile", {1, 2.5, -3}}}));
  EXPECT_EQ(d.laws[0].where.line, 2);
  ASSERT_EQ(d.loops.size(), 1u);
  EXPECT_EQ(d.loops[0].type, "rod");
  EXPECT_EQ(d.loops[0].parameters, (Parameters{{"length", {0.4}}}));
}

TEST(UrdfPlusTest, EspalierElementAddsWhatUrdfCannotSay) {
  const Description d = read_in_robot(R"(<espalier gravity="0 -9.81 0"/>
  <joint name="j" type="helical"><parent link="a"/><child link="b"/>
    <espalier armature="0.1" stiffness="2" rest="0.3" lower="-1">
      <parameter name="pitch" value="0.01"/><parameter name="list" value="1 2"/>
    </espalier>
  </joint>)");
  expect_vector(d.gravity, 0, -9.81, 0);
  const JointDescription& j = d.joints.at(0);
  EXPECT_EQ(j.armature, 0.1);
  EXPECT_EQ(j.passive.stiffness, 2.0);
  EXPECT_EQ(j.passive.rest, 0.3);
  EXPECT_EQ(j.limits.lower, -1.0);
  EXPECT_FALSE(j.limits.upper);
  EXPECT_EQ(j.parameters, (Parameters{{"pitch", {0.01}}, {"list", {1, 2}}}));
}

TEST(UrdfWriteTest, EverythingReadsBackEqual) {
  const Description d = test::everything();
  expect_same(read(UrdfFormat().write(d)), d);
}

TEST(UrdfWriteTest, DefaultsAreNotWritten) {
  Description d;
  d.links.resize(1);
  d.links[0].name = "a";
  const std::string text = UrdfFormat().write(d);
  EXPECT_EQ(text.find("espalier"), std::string::npos);
  EXPECT_EQ(text.find("inertial"), std::string::npos);
}

TEST(UrdfWriteTest, WhatCannotBeWrittenIsRefusedByName) {
  const auto refused = [](const std::function<void(Description&)>& change,
                          const std::vector<std::string>& parts) {
    Description d = test::everything();
    change(d);
    test::expect_in(test::message_of<Unsupported>([&] { UrdfFormat().write(d); }), parts);
  };
  refused([](Description& d) { d.links[2].inertial->mass = std::nan(""); }, {"'1e5'", "finite"});
  refused([](Description& d) { d.joints[1].name = "a\nb"; }, {"joint", "control characters"});
  refused([](Description& d) { d.joints[1].child = ""; }, {"joint 'other'", "''"});
  refused([](Description& d) { d.loops[0].parameters["axis2"].clear(); }, {"'closure'", "'axis2'"});
}

class UrdfFileTest : public testing::TestWithParam<std::filesystem::path> {};

TEST_P(UrdfFileTest, IsReadAndReadsBackEqual) {
  const Description d = UrdfFormat().read(test::contents(GetParam()), GetParam().string());
  EXPECT_GT(d.links.size(), 1u);
  EXPECT_GE(d.joints.size() + 1, d.links.size());
  expect_same(read(UrdfFormat().write(d)), d);
}

/// "robots_ur5": the folder tells files of one name apart.
std::string name_of(const testing::TestParamInfo<std::filesystem::path>& file) {
  std::string name;
  for (const auto& part : file.param.parent_path().parent_path().filename() /
                              file.param.parent_path().filename() / file.param.stem()) {
    name += (name.empty() ? "" : "_") + part.string();
  }
  std::replace_if(
      name.begin(), name.end(), [](unsigned char c) { return !std::isalnum(c); }, '_');
  return name;
}
INSTANTIATE_TEST_SUITE_P(All, UrdfFileTest, testing::ValuesIn(test::urdf_files()), name_of);

}  // namespace
}  // namespace espalier::urdf_test
