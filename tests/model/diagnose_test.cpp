#include <gtest/gtest.h>

#include <cmath>

#include "espalier/kernel/model/joint.hpp"
#include "espalier/kernel/utf8.hpp"
#include "tests/support/host.hpp"
#include "tests/support/random_robot.hpp"
#include "tests/support/simple_robot.hpp"

// The model doctor: what is wrong with a description, with names, places and advice.

namespace espalier::test::diagnose_test {
namespace {

using Types = std::vector<std::string>;
using Severity = Finding::Severity;

std::vector<Finding> diagnosis(const Description& robot) {
  return diagnose(robot, host().registry());
}
/// All findings as text, for messages of tests.
std::string all(const std::vector<Finding>& findings) {
  std::string text;
  for (const Finding& f : findings) text += f.text + " [" + f.where + "]\n";
  return text;
}
/// The description has exactly one finding: of this severity, with these parts, at this place.
void expect_one(const Description& robot, Severity severity, const Types& parts,
                const std::string& where = "") {
  const std::vector<Finding> findings = diagnosis(robot);
  ASSERT_EQ(findings.size(), 1u) << all(findings);
  EXPECT_EQ(findings[0].severity, severity);
  for (const std::string& part : parts) {
    EXPECT_NE(findings[0].text.find(part), std::string::npos)
        << "'" << findings[0].text << "' lacks '" << part << "'";
  }
  if (!where.empty()) {
    EXPECT_EQ(findings[0].where, where);
  }
  if (severity == Severity::error) {
    EXPECT_THROW(host().compile(robot), InvalidModel);
  } else {
    EXPECT_NO_THROW(host().compile(robot));
  }
}
void expect_error(const Description& robot, const Types& parts, const std::string& where = "") {
  expect_one(robot, Severity::error, parts, where);
}
void expect_warning(const Description& robot, const Types& parts, const std::string& where = "") {
  expect_one(robot, Severity::warning, parts, where);
}

Description arm() { return chain_of(Types{"revolute", "revolute"}); }
Inertial& inertial(Description& robot, int link) { return *robot.links.at(link).inertial; }

TEST(DiagnoseTest, HealthyRobotsHaveNoFindings) {
  for (unsigned long long seed = 1; seed <= 20; ++seed) {
    RobotOptions options;
    options.seed = seed;
    options.bodies = static_cast<int>(seed) * 3;
    const auto findings = diagnosis(random_robot(host().registry(), options));
    EXPECT_TRUE(findings.empty()) << all(findings);
  }
}

// --- inertias -----------------------------------------------------------------------------------

TEST(InertiaFindingTest, MasslessLeafIsNamedWithItsJoint) {
  Description robot = arm();
  robot.links[2].inertial.reset();
  expect_error(robot, {"joint 'joint2'", "'link2'", "no mass", "<inertial>"}, "robot.test:201");
}

TEST(InertiaFindingTest, MasslessLeafIsHeldByArmature) {
  Description robot = arm();
  robot.links[2].inertial.reset();
  robot.joints[1].armature = 0.1;
  EXPECT_EQ(host().compile(robot)->nv(), 2);
}

TEST(InertiaFindingTest, MasslessLeafIsHeldByAWeldedMass) {
  Description robot = arm();
  robot.links[2].inertial.reset();
  add_solid(robot, "tool");
  add_joint(robot, "weld", "fixed", "link2", "tool");
  EXPECT_EQ(host().compile(robot)->nv(), 2);
}

TEST(InertiaFindingTest, MasslessLinkBetweenCrossedAxesIsAUniversalJoint) {
  Description robot = arm();
  robot.links[1].inertial.reset();
  robot.joints[1].origin = {};
  robot.joints[1].axis = {1, 0, 0};
  EXPECT_EQ(host().compile(robot)->nv(), 2);
}

TEST(InertiaFindingTest, MasslessLinkBetweenParallelAxesIsNamed) {
  // Turning one axis forward and the other back moves nothing.
  Description robot = arm();
  robot.links[1].inertial.reset();
  robot.joints[1].origin = {{0, 0, 0.5}, {0, 0, 0.3}};
  expect_error(robot, {"joint 'joint1'", "'link1'", "moves no inertia"}, "robot.test:200");
}

TEST(InertiaFindingTest, MasslessLinkBetweenObliqueParallelAxesIsNamed) {
  Description robot = chain_of(Types{"revolute", "revolute"}, {2 / 3.0, -1 / 3.0, 2 / 3.0});
  robot.links[1].inertial.reset();
  robot.joints[1].origin = {};
  expect_error(robot, {"joint 'joint1'", "moves no inertia"});
}

TEST(InertiaFindingTest, MassOnTheAxisIsNoInertiaAboutIt) {
  Description robot = ground();
  add_link(robot, "link1", 1.0, {0, 0, 0.5}, {0, 0, 0, 0, 0, 0});
  add_joint(robot, "joint1", "revolute", "base", "link1");
  expect_error(robot, {"joint 'joint1'", "lies on the joint's axis", "rotational"});
}

TEST(InertiaFindingTest, PointMassOnASphericalJointIsRefused) {
  Description robot = ground();
  add_link(robot, "link1", 1.0, {0, 0, 0.5}, {0, 0, 0, 0, 0, 0});
  add_joint(robot, "joint1", "spherical", "base", "link1");
  expect_error(robot, {"joint 'joint1'", "axis"});
}

TEST(InertiaFindingTest, MasslessLinksOnEveryJointTypeAreRefused) {
  for (const Entry* e : host().registry().entries(Kind::joint)) {
    if (e->joint->nv() == 0 || e->joint->has_equations()) continue;
    Description robot = ground();
    Rng rng(1);
    add_link(robot, "link1");
    robot.joints.push_back(random_joint(rng, *e->joint, "joint1", "base", "link1", 0.3));
    expect_error(robot, {"joint 'joint1'", "moves no inertia"});
  }
}

TEST(InertiaFindingTest, SmallRobotsAreNoMasslessOnes) {
  // A gram and a millimetre: inertias of 1e-9 kg m².
  Description robot = arm();
  for (int i : {1, 2}) inertial(robot, i) = {{{0, 0, 0}, {}}, 1e-3, {1e-9, 0, 0, 1e-9, 0, 1e-9}};
  for (JointDescription& joint : robot.joints) joint.origin.xyz = {1e-3, 0, 0};
  EXPECT_TRUE(diagnosis(robot).empty()) << all(diagnosis(robot));
}

TEST(InertiaFindingTest, NegativeMassIsAnError) {
  Description robot = arm();
  inertial(robot, 1).mass = -2.0;
  expect_error(robot, {"link 'link1'", "mass is -2 kg", "kg"}, "robot.test:101");
}

TEST(InertiaFindingTest, NumbersThatAreNoneAreErrors) {
  for (const double bad : {std::nan(""), HUGE_VAL}) {
    Description robot = arm();
    inertial(robot, 1).mass = bad;
    expect_error(robot, {"link 'link1'", "not finite"});
    robot = arm();
    inertial(robot, 1).I.xy = bad;
    expect_error(robot, {"link 'link1'", "not finite"});
    robot = arm();
    inertial(robot, 1).origin.rpy.y = bad;
    expect_error(robot, {"link 'link1'", "not finite"});
  }
}

TEST(InertiaFindingTest, NegativePrincipalMomentIsComputedAsWritten) {
  Description robot = arm();
  inertial(robot, 1).I = {0.1, 0.3, 0, 0.1, 0, 0.1};  // 0.1 - 0.3
  expect_warning(robot, {"link 'link1'", "smallest principal moment", "-0.2"}, "robot.test:101");
  CompileOptions strict;
  strict.strict = true;
  EXPECT_THROW(host().compile(robot, strict), InvalidModel);
  EXPECT_EQ(host().compile(robot)->extras().warnings.size(), 1u);
}

TEST(InertiaFindingTest, RoundingOfPrincipalMomentsIsNoFinding) {
  Description robot = arm();
  inertial(robot, 1).I = {0, 0, 0, 0, 0, -2.4e-35};
  EXPECT_TRUE(diagnosis(robot).empty()) << all(diagnosis(robot));
}

TEST(InertiaFindingTest, InertiaThatMakesAJointsInertiaNegativeIsRefused) {
  Description robot = arm();
  inertial(robot, 2).I = {0.1, 0, 0, 0.1, 0, -1.0};
  const std::vector<Finding> findings = diagnosis(robot);
  ASSERT_GE(findings.size(), 2u) << all(findings);  // joint1 carries it, too
  EXPECT_EQ(findings[1].severity, Severity::error);
  EXPECT_NE(findings[1].text.find("joint 'joint2'"), std::string::npos) << all(findings);
  EXPECT_THROW(host().compile(robot), InvalidModel);
}

/// base - link1 and base - link2, both about z, coupled.
Description coupled_pair() {
  Description robot = ground();
  for (const char* number : {"1", "2"}) {
    add_solid(robot, std::string("link") + number);
    add_joint(robot, std::string("joint") + number, "revolute", "base",
              std::string("link") + number);
  }
  robot.joints[1].mimic = Mimic{"joint1", 2.0, 0.0};
  return robot;
}

TEST(InertiaFindingTest, MasslessLinkIsFineWhereACouplingGivesItInertia) {
  for (const int massless : {1, 2}) {
    Description robot = coupled_pair();
    robot.links[massless].inertial.reset();
    EXPECT_TRUE(diagnosis(robot).empty()) << all(diagnosis(robot));
  }
}

TEST(InertiaFindingTest, CoupledLinksWithoutMassAreRefusedByName) {
  Description robot = coupled_pair();
  robot.links[1].inertial.reset();
  robot.links[2].inertial.reset();
  expect_error(robot, {"joint 'joint", "mass matrix", "<inertial>"});
}

TEST(InertiaFindingTest, InertiaThatBreaksTheTriangleInequalityIsAWarning) {
  Description robot = arm();
  inertial(robot, 1).I = {0.1, 0, 0, 0.1, 0, 0.5};
  expect_warning(robot, {"link 'link1'", "0.1", "0.5", "expected a smallest one of at least 0.4"},
                 "robot.test:101");
  CompileOptions strict;
  strict.strict = true;
  EXPECT_THROW(host().compile(robot, strict), InvalidModel);
  EXPECT_EQ(host().compile(robot)->extras().warnings.size(), 1u);
}

TEST(InertiaFindingTest, LinksThatAreAlikeAreOneWarning) {
  Description robot = arm();
  for (const int i : {1, 2}) inertial(robot, i).I = {0.1, 0, 0, 0.1, 0, 0.5};
  expect_warning(robot, {"link 'link1'", "so are 'link2' (robot.test:102)"}, "robot.test:101");
}

TEST(InertiaFindingTest, InertiaWithoutMassIsAWarning) {
  Description robot = arm();
  inertial(robot, 1).mass = 0.0;
  expect_warning(robot, {"link 'link1'", "mass is zero"});
}

// --- names --------------------------------------------------------------------------------------

TEST(NameFindingTest, LinkGivenTwiceNamesBothPlaces) {
  Description robot = arm();
  robot.links[2].name = "link1";
  robot.joints.pop_back();
  expect_error(robot, {"link 'link1'", "given twice", "robot.test:101"}, "robot.test:102");
}

TEST(NameFindingTest, JointGivenTwiceNamesBothPlaces) {
  Description robot = arm();
  robot.joints[1].name = "joint1";
  expect_error(robot, {"joint 'joint1'", "given twice", "robot.test:200"}, "robot.test:201");
}

TEST(NameFindingTest, EmptyNamesAreErrors) {
  Description robot = arm();
  robot.joints[1].name = "";
  expect_error(robot, {"name is empty"}, "robot.test:201");
}

TEST(NameFindingTest, NamesThatAreNoUtf8AreErrorsThatAreUtf8) {
  Description robot = arm();
  robot.links[2].name = robot.joints[1].child = "gr\xfc\xdf";
  robot.name = "\xff";
  const std::vector<Finding> findings = diagnosis(robot);
  ASSERT_EQ(findings.size(), 3u) << all(findings);
  EXPECT_NE(findings[0].text.find("robot '\\xff'"), std::string::npos) << findings[0].text;
  EXPECT_NE(findings[1].text.find("link 'gr\\xfc\\xdf' (number 3 of these): name"),
            std::string::npos)
      << findings[1].text;
  EXPECT_NE(findings[2].text.find("joint 'joint2' (number 2 of these): child"), std::string::npos)
      << findings[2].text;
  try {
    host().compile(robot);
    FAIL() << "compiled";
  } catch (const InvalidModel& error) {
    EXPECT_TRUE(text::is_utf8(error.what())) << error.what();
  }
  robot = arm();
  robot.links[2].name = robot.joints[1].child = "gr\xc3\xbc\xc3\x9f";  // the same in UTF-8
  EXPECT_NO_THROW(host().compile(robot));
}

TEST(NameFindingTest, NamesThatTheCompilerUsesItselfAreFree) {
  Description robot = arm();
  for (const char* name : {"ground", "world", "ground'", "root"}) {
    add_solid(robot, name);
    add_joint(robot, std::string("mimic of ") + name, "revolute", "link2", name);
  }
  EXPECT_EQ(host().compile(robot)->nv(), 6) << all(diagnosis(robot));
}

TEST(NameFindingTest, JointNamedRootMeetsTheFloatingRoot) {
  Description robot = arm();
  robot.links[0].inertial = robot.links[1].inertial;
  robot.joints[0].name = "root";
  CompileOptions options;
  options.root = CompileOptions::Root::floating;
  EXPECT_NO_THROW(host().compile(robot));
  EXPECT_THROW(host().compile(robot, options), InvalidModel);
}

TEST(NameFindingTest, StatesAndActuatorsMayNameTheFloatingRoot) {
  Description robot = arm();
  robot.links[0].inertial = robot.links[1].inertial;
  robot.floating = true;
  robot.states = {{"up", {{"root", {0, 0, 0.4, 0, 0, 0, 1}}}, {{"root", {0, 0, 0, 0, 0, 0}}}, {}}};
  robot.actuators = {{"thruster", {{"root", {0, 0, 0, 0, 0, 1}}}, {}, {}, {}}};
  EXPECT_EQ(host().compile(robot)->nv(), 8);
  CompileOptions held;
  held.root = CompileOptions::Root::fixed;
  EXPECT_EQ(host().compile(robot, held)->nv(), 2);
  robot.floating.reset();
  robot.states[0].velocities.clear(), robot.actuators.clear();
  expect_error(robot, {"state 'up'", "joint 'root' is unknown", "--root floating"});
}

TEST(NameFindingTest, UnknownLinksListTheKnownOnes) {
  Description robot = arm();
  robot.joints[1].parent = "hand";
  expect_error(robot, {"joint 'joint2'", "parent link 'hand'", "'base', 'link1', 'link2'"},
               "robot.test:201");
}

// --- topology -----------------------------------------------------------------------------------

TEST(TopologyFindingTest, NoLinksIsAnError) { expect_error(Description{}, {"no links"}); }

TEST(TopologyFindingTest, TwoRootsAreNamed) {
  Description robot = arm();
  add_solid(robot, "island");
  expect_error(robot, {"'base'", "'island'", "expected one root"});
}

TEST(TopologyFindingTest, CycleWithoutRootIsExplained) {
  Description robot = arm();
  add_joint(robot, "back", "revolute", "link2", "base");
  expect_error(robot, {"every link is some joint's child", "<loop>"});
}

TEST(TopologyFindingTest, CycleApartFromTheRootIsNamed) {
  Description robot = arm();
  for (const char* name : {"a", "b"}) add_solid(robot, name);
  add_joint(robot, "ab", "revolute", "a", "b");
  add_joint(robot, "ba", "revolute", "b", "a");
  expect_error(robot, {"'a'", "'b'", "ground"});
}

TEST(TopologyFindingTest, WeldedCycleApartFromTheRootIsNamed) {
  Description robot = arm();
  for (const char* name : {"a", "b"}) add_solid(robot, name);
  add_joint(robot, "ab", "fixed", "a", "b");
  add_joint(robot, "ba", "fixed", "b", "a");
  expect_error(robot, {"'a', 'b'", "not connected"});
}

TEST(TopologyFindingTest, JointFromALinkToItselfIsAnError) {
  Description robot = arm();
  add_joint(robot, "self", "revolute", "link1", "link1");
  expect_error(robot, {"joint 'self'", "both 'link1'"}, "robot.test:202");
}

TEST(TopologyFindingTest, LoopsGiveImplicitClusters) {
  Description robot = planar_chain_of(Types{"revolute", "revolute", "revolute", "prismatic"});
  LoopDescription loop;
  loop.name = "closure";
  loop.type = "revolute";
  loop.axis = {0, 1, 0};
  loop.predecessor = "base";
  loop.successor = "link3";
  robot.loops.push_back(loop);
  const ModelPtr model = host().compile(robot);
  ASSERT_EQ(model->clusters().size(), 2u);
  const Cluster& c = model->clusters()[0];
  EXPECT_TRUE(c.constrained);
  EXPECT_TRUE(c.implicit);
  EXPECT_EQ(c.count, 3);
  EXPECT_EQ(c.name, "joint1+joint2+joint3");
  EXPECT_EQ(c.constraints, Types{"closure"});
  EXPECT_FALSE(model->clusters()[1].constrained);
  EXPECT_EQ(model->first_constrained(), &c);
}

TEST(TopologyFindingTest, SecondJointOfALinkClosesALoop) {
  Description robot = planar_chain_of(Types{"revolute", "revolute", "revolute"});
  add_joint(robot, "second", "revolute", "base", "link3", {0, 1, 0});
  const ModelPtr model = host().compile(robot);
  ASSERT_NE(model->first_constrained(), nullptr);
  EXPECT_TRUE(model->first_constrained()->implicit);
}

TEST(TopologyFindingTest, LoopOfUnknownTypeListsTheKnownOnes) {
  Description robot = arm();
  robot.loops.push_back({"closure", "hinge", "base", "link2", {}, {}, {1, 0, 0}, {}, {}});
  expect_error(robot, {"loop 'closure'", "'hinge'", "revolute"});
}

TEST(TopologyFindingTest, LoopWithinOneBodyIsAnError) {
  Description robot = chain_of(Types{"revolute", "fixed"});
  robot.loops.push_back({"closure", "revolute", "link1", "link2", {}, {}, {1, 0, 0}, {}, {}});
  expect_error(robot, {"loop 'closure'", "'link1'", "'link2'", "one body"});
}

// --- joints -------------------------------------------------------------------------------------

TEST(JointFindingTest, UnknownTypeListsTheKnownOnesAndSuggests) {
  Description robot = arm();
  robot.joints[0].type = "revolut";
  expect_error(robot, {"joint 'joint1'", "'revolut'", "prismatic", "did you mean 'revolute'"},
               "robot.test:200");
}

TEST(JointFindingTest, UnknownParametersAreErrors) {
  Description robot = arm();
  robot.joints[0].parameters["pitch"] = {0.1};
  expect_error(robot, {"joint 'joint1'", "'pitch'", "'revolute'"}, "robot.test:200");
}

TEST(JointFindingTest, MissingParametersAreErrorsAtTheJoint) {
  Description robot = arm();
  robot.joints[1].type = "helical";
  expect_error(robot, {"joint 'joint2'", "'pitch'", "missing"}, "robot.test:201");
}

TEST(JointFindingTest, ParametersThatTheTypeRefusesAreErrorsAtTheJoint) {
  Description robot = arm();
  robot.joints[1].type = "universal";
  robot.joints[1].parameters["axis2"] = {0, 0, 2};  // parallel to the axis
  expect_error(robot, {"joint 'joint2'", "'axis2'", "parallel"}, "robot.test:201");
}

TEST(JointFindingTest, AxisWithoutDirectionIsAnError) {
  for (const Vec3<double>& axis :
       {Vec3<double>{0, 0, 0}, Vec3<double>{0, std::nan(""), 0}, Vec3<double>{1e-12, 0, 0}}) {
    Description robot = arm();
    robot.joints[0].axis = axis;
    expect_error(robot, {"joint 'joint1'", "axis"}, "robot.test:200");
  }
}

TEST(JointFindingTest, AxisOfAnotherLengthIsNormalisedWithAWarning) {
  Description robot = arm();
  robot.joints[0].axis = {0, 0, 2};
  expect_warning(robot, {"joint 'joint1'", "length 2.0", "normalised"});
  const Vec3<double> z = host().compile(robot)->link("link1").X.E.column(2);
  EXPECT_EQ(z.z, 1.0);
}

TEST(JointFindingTest, NegativeArmatureDampingFrictionAndStiffnessAreErrors) {
  for (double JointDescription::*what : {&JointDescription::armature}) {
    Description robot = arm();
    robot.joints[0].*what = -1.0;
    expect_error(robot, {"joint 'joint1'", "armature is -1"}, "robot.test:200");
  }
  for (double PassiveDynamics::*what :
       {&PassiveDynamics::damping, &PassiveDynamics::friction, &PassiveDynamics::stiffness}) {
    Description robot = arm();
    robot.joints[0].passive.*what = -1.0;
    expect_error(robot, {"joint 'joint1'", "is -1"}, "robot.test:200");
    robot.joints[0].passive.*what = std::nan("");
    expect_error(robot, {"joint 'joint1'", "nan"}, "robot.test:200");
  }
}

TEST(JointFindingTest, LimitsThatAreNoneAreErrorsAndCrossedOnesWarnings) {
  Description robot = arm();
  robot.joints[0].limits.lower = std::nan("");
  expect_error(robot, {"joint 'joint1'", "limit"});
  robot.joints[0].limits = {1.0, -1.0, {}, {}};
  expect_warning(robot, {"joint 'joint1'", "lower limit is 1"});
}

TEST(JointFindingTest, NegativeLimitsOfEffortAndVelocityAreWarnings) {
  Description robot = arm();
  robot.joints[1].limits.effort = -2.5;
  expect_warning(robot, {"joint 'joint2'", "effort limit is -2.5"}, "robot.test:201");
  robot.joints[1].limits = {};
  robot.joints[1].limits.velocity = -1.5;
  expect_warning(robot, {"joint 'joint2'", "velocity limit is -1.5"}, "robot.test:201");
}

TEST(JointFindingTest, DependentJointWithoutCouplingIsAWarning) {
  Description robot = arm();
  robot.joints[0].independent = false;
  expect_warning(robot, {"joint 'joint1'", "dependent", "no coupling or loop"}, "robot.test:200");
}

TEST(JointFindingTest, OriginThatIsNoneIsAnError) {
  Description robot = arm();
  robot.joints[0].origin.xyz.y = std::nan("");
  expect_error(robot, {"joint 'joint1'", "not finite"});
}

TEST(NumberFindingTest, NumbersWhoseSquaresOverflowAreRefused) {
  Description robot = chain_of(std::vector<std::string>{"revolute"});
  robot.joints[0].origin.xyz.z = 1e154;
  expect_error(robot, {"joint 'joint1'", "origin", "beyond 1e8"});
  robot = chain_of(std::vector<std::string>{"revolute"});
  robot.links[1].inertial->origin.xyz.x = -1e9;
  expect_error(robot, {"link 'link1'", "centre of mass", "beyond 1e8"});
  robot = chain_of(std::vector<std::string>{"revolute"});
  robot.links[1].inertial->I.xy = -1e200;
  expect_error(robot, {"link 'link1'", "inertial", "beyond 1e60"});
  robot.links[1].inertial->I.xy = 0.0;
  robot.joints[0].armature = 1e300;
  expect_error(robot, {"joint 'joint1'", "armature", "up to 1e15"});
  robot.joints[0].armature = 0.0;
  robot.joints[0].limits.lower = 1e154, robot.joints[0].limits.upper = 1e300;
  expect_error(robot, {"joint 'joint1'", "limits", "beyond 1e60"});
  robot.joints[0].limits.lower = -1e300;  // no limits at all
  EXPECT_EQ(diagnosis(robot).size(), 0u) << all(diagnosis(robot));
}

TEST(NumberFindingTest, RatiosWhoseSquaresOverflowAreRefused) {
  Description robot = chain_of(std::vector<std::string>{"revolute", "revolute"});
  robot.joints[1].mimic = Mimic{"joint1", 1e154, 0.0};
  expect_error(robot, {"joint 'joint2'", "mimic multiplier", "up to 1e60"});
}

// --- compile() ----------------------------------------------------------------------------------

TEST(CompileTest, ThrowsTheFirstErrorAndTheNumberOfOthers) {
  Description robot = arm();
  robot.links[1].inertial->mass = -1.0;
  robot.joints[0].type = "hinge";
  robot.joints[1].armature = -1.0;
  robot.links[2].inertial->I = {0.1, 0, 0, 0.1, 0, 0.5};  // a warning: not counted
  const auto findings = diagnosis(robot);
  EXPECT_EQ(findings.size(), 4u) << all(findings);
  try {
    host().compile(robot);
    FAIL() << "expected InvalidModel";
  } catch (const InvalidModel& error) {
    const std::string text = error.what();
    for (const char* part :
         {"robot 'tested'", "link 'link1'", "[robot.test:101]", "2 more errors"}) {
      EXPECT_NE(text.find(part), std::string::npos) << text << " lacks " << part;
    }
  }
}

TEST(CompileTest, OneOtherErrorIsOneError) {
  Description robot = arm();
  robot.links[1].inertial->mass = -1.0;
  robot.links[2].inertial->mass = -1.0;
  try {
    host().compile(robot);
    FAIL() << "expected InvalidModel";
  } catch (const InvalidModel& error) {
    EXPECT_NE(std::string(error.what()).find("and 1 more error;"), std::string::npos)
        << error.what();
  }
}

TEST(RecogniseTest, GearsBeltsAndFourBarsAreNamed) {
  const auto text = [](const char* file) {
    std::string all;
    const ModelPtr model = host().load(std::string(ESPALIER_SOURCE_DIR) + "/robots/" + file);
    for (const Cluster& c : model->clusters()) all += c.recognised + "\n";
    return all;
  };
  EXPECT_NE(text("geared_chain.yaml").find("gear (one constant ratio"), std::string::npos);
  EXPECT_NE(text("belt_chain.yaml").find("belt transmission"), std::string::npos);
  EXPECT_NE(text("geared_chain.yaml").find("1 axisymmetric rotor is folded"), std::string::npos);
  Description robot = planar_chain_of(Types{"revolute", "revolute", "revolute"});
  LoopDescription pin;
  pin.name = "pin", pin.type = "revolute", pin.axis = {0, 1, 0};
  pin.predecessor = "base", pin.successor = "link3";
  pin.predecessor_origin = {{0.9, 0, 0.2}, {0, 0, 0}};
  pin.successor_origin = {{0.2, 0, 0}, {0, 0, 0}};
  robot.loops.push_back(pin);
  const ModelPtr model = host().compile(robot);
  EXPECT_NE(model->clusters()[0].recognised.find("planar four-bar"), std::string::npos)
      << model->clusters()[0].recognised;
  // A cosine does not see this tilt, but the bearings bear forces across the plane by it.
  robot.joints[1].axis = {1e-9, 1, 0};
  const ModelPtr tilted = host().compile(robot);
  EXPECT_NE(tilted->clusters()[0].recognised.find("spatial loop"), std::string::npos)
      << tilted->clusters()[0].recognised;
  EXPECT_EQ(tilted->nv(), model->nv());
}

// A spring acts on one number, and so do limits: more are said, not dropped.
TEST(DiagnoseTest, SpringsAndLimitsOfJointsOfSeveralPositionsAreTold) {
  for (const char* type : {"spherical", "universal", "planar", "floating"}) {
    Description robot = chain_of(Types{type, "revolute"});
    robot.joints[0].passive.stiffness = 20.0;
    expect_warning(robot, {"joint '" + robot.joints[0].name + "' of type '" + type + "'",
                           "stiffness is 20", "does nothing"});
    robot.joints[0].passive.stiffness = 0.0;
    robot.joints[0].limits.upper = 1.0;
    expect_warning(robot, {"position has limits", "one number"});
  }
}

}  // namespace
}  // namespace espalier::test::diagnose_test
