#include <gtest/gtest.h>

#include "tests/support/host.hpp"
#include "tests/support/random_robot.hpp"
#include "tests/support/simple_robot.hpp"

// States, inputs and rules of contact speak of joints, links and shapes that are there.

namespace espalier::test::mentions_test {
namespace {

using Severity = Finding::Severity;

Description arm() { return chain_of(std::vector<std::string>{"revolute", "spherical"}); }

/// The only finding of a robot, whose text has all words.
void expect_one(const Description& robot, Severity severity,
                const std::vector<std::string>& words) {
  const std::vector<Finding> findings = diagnose(robot, host().registry());
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].severity, severity) << findings[0].text;
  EXPECT_EQ(findings[0].where, "arm.yaml:7");
  for (const std::string& word : words) {
    EXPECT_NE(findings[0].text.find(word), std::string::npos) << findings[0].text;
  }
}
Description with(ActuatorDescription actuator) {
  Description robot = arm();
  actuator.name = "motor", actuator.where = {"arm.yaml", 7};
  robot.actuators = {std::move(actuator)};
  return robot;
}

TEST(MentionsTest, GearsOfInputsHaveANumberForEachRate) {
  EXPECT_TRUE(diagnose(with({.gear = {{"joint1", {2}}, {"joint2", {0, 0, 1}}}}), host().registry())
                  .empty());
  expect_one(with({.gear = {{"joint1", {1, 2}}}}), Severity::error,
             {"actuator 'motor'", "joint 'joint1' has 2 numbers, expected 1"});
  expect_one(with({.gear = {{"joint2", {1}}}}), Severity::error, {"has 1 numbers, expected 3"});
  expect_one(with({.gear = {{"jiont1", {1}}}}), Severity::error, {"'jiont1'", "did you mean"});
}

TEST(MentionsTest, InputsThatDriveNothingOrHaveNoRangeAreWarnedOf) {
  expect_one(with({}), Severity::warning, {"gear is 0 for every joint"});
  expect_one(with({.gear = {{"joint1", {0}}}}), Severity::warning, {"gear is 0 for every joint"});
  expect_one(with({.gear = {{"joint1", {1}}}, .lower = 2.0, .upper = 1.0}), Severity::warning,
             {"lower bound is 2", "upper bound 1"});
}

TEST(MentionsTest, InputsOfALockedJointAreWarnedOf) {
  Description robot = with({.gear = {{"joint1", {2}}}});
  robot.joints[0].type = "fixed";
  expect_one(robot, Severity::warning, {"actuator 'motor'", "joint 'joint1' is fixed"});
  EXPECT_EQ(host().compile(robot)->nv(), 3);
}

TEST(MentionsTest, RulesOfContactNameLinksAndShapes) {
  Description robot = arm();
  ShapeDescription ball;
  ball.name = "ball", ball.shape = Sphere{0.1};
  robot.links[1].collisions = {ball};
  robot.excluded_contacts = {{"link1", "link2", {"arm.yaml", 7}}};
  robot.contact_pairs = {{"ball", "ball", {"arm.yaml", 7}}};
  EXPECT_TRUE(diagnose(robot, host().registry()).empty());
  robot.excluded_contacts[0].second = "link9";
  expect_one(robot, Severity::error, {"excluded contact", "'link9'", "expected one of"});
  robot.excluded_contacts.clear();
  robot.contact_pairs[0].first = "link1";
  expect_one(robot, Severity::warning, {"contact pair", "shape 'link1' is unknown"});
}

TEST(MentionsTest, StatesNameJoints) {
  Description robot = arm();
  robot.states.push_back({"home", {{"joint9", {0.1}}}, {}, {"arm.yaml", 7}});
  expect_one(robot, Severity::error, {"state 'home'", "'joint9'", "did you mean"});
}

TEST(MentionsTest, AFixedJointMimicsNothing) {
  Description robot = arm();
  add_solid(robot, "tool");
  add_joint(robot, "weld", "fixed", "link2", "tool");
  robot.joints.back().mimic = Mimic{"joint1", 2.0, 0.0};
  robot.joints.back().where = {"arm.yaml", 7};
  expect_one(robot, Severity::warning, {"joint 'weld'", "is fixed", "no effect"});
}

}  // namespace
}  // namespace espalier::test::mentions_test
