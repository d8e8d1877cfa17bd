#include <cmath>
#include <numbers>

#include "espalier/kernel/errors.hpp"
#include "formats/mjcf/mjcf.hpp"
#include "tests/formats/support.hpp"
#include "tests/support/host.hpp"
#include "tests/support/simple_robot.hpp"

// What has no counterpart: a warning with element and line where the motion stays what it is, else
// an error that --lenient turns into a warning.

namespace espalier::test::losses_test {
namespace {

std::string file(const std::string& options, const std::string& joint, const std::string& after) {
  return "<mujoco>" + options + R"(
<worldbody><body name="a"><inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>
)" + joint +
         R"(<site name="s"/>
<body name="b" pos="1 0 0"><joint name="k"/><geom size="0.1"/><site name="t"/></body></body>
</worldbody>
)" + after +
         "</mujoco>";
}

std::vector<Finding> findings(const std::string& text) {
  return MjcfFormat().read(text, "robot.xml", host().registry()).findings;
}

void expect_one(const std::string& text, Finding::Severity severity, const std::string& where,
                const std::vector<std::string>& words) {
  const std::vector<Finding> found = findings(text);
  ASSERT_EQ(found.size(), 1u) << words[0];
  EXPECT_EQ(found[0].severity, severity) << found[0].text;
  EXPECT_EQ(found[0].negotiable, severity == Finding::Severity::error);
  expect_in(found[0].text, words);
  expect_in(found[0].text, {where});
}

const std::string hinge = R"(<joint name="j"/>)";
constexpr auto error = Finding::Severity::error, warning = Finding::Severity::warning;

TEST(MjcfLossTest, WhatChangesTheMotionIsRefusedUnlessLenient) {
  EXPECT_TRUE(findings(file("", hinge, "")).empty());
  for (const auto& [option, word] : std::vector<std::pair<std::string, std::string>>{
           {R"(<option density="1.2"/>)", "'density'"},
           {R"(<option viscosity="0.1"/>)", "'viscosity'"},
           {R"(<option><flag equality="disable"/></option>)", "'equality' is disabled"},
           {R"(<option><flag passive="disable"/></option>)", "'passive' is disabled"},
           {R"(<option><flag frictionloss="disable"/></option>)", "'frictionloss' is disabled"},
           {R"(<asset><mesh name="m" file="m.stl" scale="1 2 1" refquat="1 1 0 0"/></asset>)",
            "turned (refquat) before it is stretched"},
           {"<deformable/>", "rigid bodies alone"}}) {
    expect_one(file(option, hinge, ""), error, "robot.xml:1", {word, "--lenient"});
  }
  for (const auto& [joint, word] : std::vector<std::pair<std::string, std::string>>{
           {R"(<joint type="ball" stiffness="2"/>)", "several rates"},
           {R"(<joint springdamper="0.1 1"/>)", "'springdamper'"},
           {R"(<joint damping="1 0 0.5"/>)", "higher order"},
           {R"(<freejoint/><composite type="rope"/>)", "<composite>"},
           {R"(<joint/><flexcomp name="f"/>)", "<flexcomp>"},
           {R"(<joint/><replicate count="2"/>)", "<replicate>"},
           {R"(<joint/><attach model="m"/>)", "<attach>"}}) {
    expect_one(file("", joint, ""), error, "robot.xml:3", {word, "--lenient"});
  }
  expect_one(file("", hinge,
                  R"(<tendon><fixed name="n" stiffness="3"><joint joint="j"/></fixed></tendon>)"),
             error, "robot.xml:6", {"stiffness, damping", "--lenient"});
  expect_one(file("", hinge, R"(<equality><flex flex="f"/></equality>)"), error, "robot.xml:6",
             {"<flex> of <equality>", "--lenient"});
}

TEST(MjcfLossTest, WhatDoesNotIsAWarning) {
  EXPECT_TRUE(findings(file("", R"(<joint damping="1 0 0"/>)", "")).empty());
  expect_one(file(R"(<default><geom margin="0.01"/></default>)", R"(<joint/><geom size="1"/>)", ""),
             warning, "robot.xml:3", {"margin", "so have 1 more", "(left out)"});
  EXPECT_TRUE(findings(file("", R"(<joint/><geom size="1" margin="1" gap="1"/>)", "")).empty());
  expect_one(file("", R"(<joint type="ball" limited="true" range="0 90"/>)", ""), warning,
             "robot.xml:3", {"range of a ball"});
  for (
      const auto& [after, word] : std::vector<std::pair<std::string, std::string>>{
          {R"(<tendon><spatial name="n"><site site="s"/><pulley/><site site="t"/></spatial></tendon>)",
           "spatial tendon"},
          {R"(<tendon><fixed name="n" limited="true" range="-1 1"><joint joint="j"/></fixed></tendon>)",
           "range of a tendon"},
          {R"(<actuator><muscle name="m" joint="j"/></actuator>)", "<muscle>"},
          {R"(<actuator><position name="m" joint="j" kp="3"/></actuator>)", "gains of <position>"},
          {R"(<extension><plugin plugin="p"/></extension>)", "<extension>"}}) {
    expect_one(file("", hinge, after), warning, "robot.xml:6", {word, "(left out)"});
  }
}

TEST(MjcfActuatorTest, WhatIsDrivenIsIndependentWhereTheLoopLeavesTheChoice) {
  // A four-bar with one degree of freedom, each joint of which determines the others.
  for (const std::string driven : {"crank", "elbow", "rocker"}) {
    const Description robot = MjcfFormat().read(R"(<mujoco><worldbody>
<body name="a"><joint name="crank"/><geom type="capsule" size="0.01" fromto="0 0 0 0.2 0 0"/>
<body name="b" pos="0.2 0 0"><joint name="elbow"/>
<geom type="capsule" size="0.01" fromto="0 0 0 0.1 0.3 0"/></body></body>
<body name="c" pos="0.5 0 0"><joint name="rocker"/>
<geom type="capsule" size="0.01" fromto="0 0 0 -0.2 0.3 0"/></body></worldbody>
<equality><connect body1="b" body2="c" anchor="0.1 0.3 0"/></equality>
<actuator><motor joint=")" + driven + R"("/></actuator></mujoco>)",
                                                "robot.xml");
    const auto model = host().compile(robot);
    ASSERT_EQ(model->nv(), 1) << driven;
    EXPECT_EQ(model->joint(driven).independent, 0) << driven;
  }
}

TEST(MjcfStartTest, FreeBodiesStartWhereTheFilePlacesThem) {
  const auto states = [](const std::string& body, const std::string& more) {
    return MjcfFormat()
        .read("<mujoco><worldbody><body name='a' " + body +
                  "><freejoint name='f'/><geom size='0.1'/></body></worldbody>" + more +
                  "</mujoco>",
              "robot.xml")
        .states;
  };
  EXPECT_TRUE(states("pos='0 0 0'", "").empty());
  const auto turned = states("pos='1 2 0.3' euler='0 0 90'", "");
  ASSERT_EQ(turned.size(), 1u);
  EXPECT_EQ(turned[0].name, "qpos0");
  const std::vector<double> q = turned[0].positions.at("f");
  const double h = std::sqrt(0.5), expected[] = {1, 2, 0.3, 0, 0, h, h};
  ASSERT_EQ(q.size(), 7u);
  for (int i = 0; i < 7; ++i) EXPECT_NEAR(q[i], expected[i], 1e-15) << i;  // one rounding
  // A keyframe of that name is the file's own.
  const auto own =
      states("pos='1 2 0.3'", "<keyframe><key name='qpos0' qpos='0 0 1 1 0 0 0'/></keyframe>");
  ASSERT_EQ(own.size(), 1u);
  EXPECT_EQ(own[0].positions.at("f")[2], 1.0);
}

TEST(MjcfLossTest, JointsAreWrittenWithWhatResistsThem) {
  Description robot = chain_of(std::vector<std::string>{"floating", "spherical"});
  robot.links[0].name = robot.joints[0].parent = "world";
  robot.links[0].inertial.reset();
  robot.joints[0].origin = {};
  robot.joints[0].passive.damping = 0.5;
  robot.joints[1].passive = {.damping = 0.25, .stiffness = 3.0};  // nothing turns against a rest
  const Description back = MjcfFormat().read(MjcfFormat().write(robot), "robot.xml");
  EXPECT_TRUE(back.findings.empty());
  ASSERT_EQ(back.joints.size(), 2u);
  EXPECT_EQ(back.joints[0].passive.damping, 0.5);
  EXPECT_EQ(back.joints[1].passive.damping, 0.25);
  EXPECT_EQ(back.joints[1].passive.stiffness, 0.0);
  Description flat = chain_of(std::vector<std::string>{"prismatic"});
  flat.joints[0].axis = {0, 0, 0};
  expect_in(message_of<Unsupported>([&] { MjcfFormat().write(flat); }),
            {"joint 'joint1'", "axis is zero", "expected a direction"});
}

TEST(MjcfLossTest, LawsOnAJointThatClosesALoopAreRefused) {
  Description robot = chain_of(std::vector<std::string>{"revolute", "revolute"});
  robot.links[0].name = robot.joints[0].parent = "world";
  robot.links[0].inertial.reset();
  add_joint(robot, "back", "revolute", "world", "link2");
  LawDescription law;
  law.name = "gear", law.type = "geared_joint", law.joints = {"joint1", "back"};
  robot.laws.push_back(law);
  expect_in(message_of<Unsupported>([&] { MjcfFormat().write(robot); }),
            {"law 'gear'", "joint 'back'", "closes a loop", "expected"});
}

TEST(MjcfLossTest, ShellsGiveNoMass) {
  const auto text = [](const std::string& mesh, const std::string& geom) {
    return "<mujoco><compiler meshdir='models/parts'/><asset><mesh name='m' file='wedge.stl'" +
           mesh + "/></asset><worldbody><body name='b'><joint/><geom " + geom +
           "/></body></worldbody></mujoco>";
  };
  const auto refusal = [](const std::string& robot) {
    return message_of([&] {
      MjcfFormat().read(robot, ESPALIER_SOURCE_DIR "/tests/mjcf/robot.xml", host().registry());
    });
  };
  expect_in(refusal(text(" inertia='shell'", "type='mesh' mesh='m'")), {"geom", "surface"});
  expect_in(refusal(text("", "size='1' shellinertia='true'")), {"geom", "surface"});
}

// Geoms replace an inertial where there are any; a body without geoms keeps its own.
TEST(MjcfMassTest, BodiesWithoutGeomsKeepTheirInertial) {
  const Description robot = MjcfFormat().read(
      "<mujoco><compiler inertiafromgeom='true'/><worldbody><body name='a'><joint/>"
      "<inertial pos='0.1 0 0' mass='3' diaginertia='1 1 1'/><body name='b'><joint/>"
      "<inertial pos='0 0 0' mass='7' diaginertia='1 1 1'/><geom size='0.1' density='1000'/>"
      "</body></body></worldbody></mujoco>",
      "robot.xml", host().registry());
  const auto mass = [&](const std::string& name) {
    for (const LinkDescription& link : robot.links) {
      if (link.name == name) return link.inertial.value().mass;
    }
    return 0.0;
  };
  EXPECT_EQ(mass("a"), 3.0);
  EXPECT_NEAR(mass("b"), 4000.0 / 3.0 * std::numbers::pi * 1e-3, 1e-12);
}

// Whatever the reader makes up besides, links and joints of the file have the names that it gives.
TEST(MjcfNamesTest, NamesOfTheFileAreItsOwn) {
  const Description robot = MjcfFormat().read(
      "<mujoco><worldbody><body name='b'><joint name='x' axis='1 0 0'/>"
      "<joint name='y' axis='0 1 0' pos='0.1 0 0'/><geom size='0.1'/>"
      "<body name='x_link'><joint name='b'/><geom size='0.1'/><body name='c'><geom size='0.1'/>"
      "<body name='d'><joint name='c'/><geom size='0.1'/></body></body></body></body></worldbody>"
      "</mujoco>",
      "robot.xml", host().registry());
  const ModelPtr model = host().compile(robot);
  for (const char* link : {"b", "x_link", "d"}) EXPECT_GT(model->link(link).mass, 0.0) << link;
  EXPECT_EQ(model->link("d").body, model->joint("c").body);
  EXPECT_EQ(model->link("x_link").body, model->joint("b").body);
}

TEST(MjcfContactTest, WhatActsOnGroundAloneIsTold) {
  for (const char* flag : {"limit", "contact", "filterparent"}) {
    expect_one(file("<option><flag " + std::string(flag) + "='disable'/></option>", hinge, ""),
               warning, "robot.xml:1", {flag, "is disabled"});
  }
  expect_one(file("<option collision='predefined'/>", hinge, ""), warning, "robot.xml:1",
             {"'predefined'"});
}

// contype of one and conaffinity of the other have a bit in common, one way or the other.
TEST(MjcfContactTest, TypesSayWhichBodiesPassThroughEachOther) {
  const auto read = [](const std::string& a, const std::string& b, const std::string& more,
                       const std::string& contact = "") {
    return MjcfFormat().read("<mujoco><worldbody><body name='a'><joint/><geom name='g' size='1' " +
                                 a +
                                 "/></body>"
                                 "<body name='b'><joint/><geom name='h' size='1' " +
                                 b + "/>" + more + "</body></worldbody>" + contact + "</mujoco>",
                             "robot.xml", host().registry());
  };
  const std::string odd = "contype='2' conaffinity='4'", usual, other = "<geom name='i' size='1'/>";
  const Description apart = read(odd, usual, "");
  ASSERT_EQ(apart.excluded_contacts.size(), 1u);
  EXPECT_EQ(apart.excluded_contacts[0].first + apart.excluded_contacts[0].second, "ab");
  EXPECT_TRUE(apart.findings.empty());
  EXPECT_TRUE(read(usual, usual, "").excluded_contacts.empty());
  EXPECT_TRUE(read("contype='2' conaffinity='1'", usual, "").excluded_contacts.empty());
  const Description mixed = read(usual, odd, other);
  EXPECT_TRUE(mixed.excluded_contacts.empty());
  ASSERT_EQ(mixed.findings.size(), 1u);
  expect_in(mixed.findings[0].text, {"geom 'g' and geom 'h'", "contype and conaffinity"});
  const std::string pair = "<contact><pair geom1='g' geom2='h'/></contact>";
  EXPECT_TRUE(read(odd, usual, "", pair).excluded_contacts.empty());
  const Description none = read("contype='0' conaffinity='0'", usual, "", pair);
  ASSERT_FALSE(none.findings.empty());
  expect_in(none.findings[0].text, {"geom 'g'", "in pairs alone"});
}

}  // namespace
}  // namespace espalier::test::losses_test
