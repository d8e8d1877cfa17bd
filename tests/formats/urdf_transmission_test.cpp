#include <gtest/gtest.h>

#include "formats/urdf/urdf.hpp"
#include "tests/formats/support.hpp"
#include "tests/support/host.hpp"

namespace espalier::test::urdf_transmission_test {
namespace {

const char* const bar = R"(<inertial><origin xyz="0.1 0 0"/><mass value="1"/>
  <inertia ixx="0.01" iyy="0.01" izz="0.01"/></inertial></link>)";

/// A four-bar with one degree of freedom, each joint of which determines the others.
Description four_bar(const std::string& more, const std::string& of_crank = "") {
  const std::string text = std::string("<robot name='r'><link name='base'/><link name='a'>") + bar +
                           "<link name='b'>" + bar + "<link name='c'>" + bar +
                           "<joint name='crank' type='revolute'" + of_crank +
                           R"(><parent link="base"/><child link="a"/><axis xyz="0 0 1"/></joint>
<joint name="elbow" type="continuous"><parent link="a"/><child link="b"/><axis xyz="0 0 1"/>
  <origin xyz="0.2 0 0"/></joint>
<joint name="rocker" type="continuous"><parent link="base"/><child link="c"/><axis xyz="0 0 1"/>
  <origin xyz="0.5 0 0"/></joint>
<loop name="pin" type="revolute"><predecessor link="b"><origin xyz="0.1 0.3 0"/></predecessor>
  <successor link="c"><origin xyz="-0.2 0.3 0"/></successor><axis xyz="0 0 1"/></loop>
)" + more + "</robot>";
  return UrdfFormat().read(text, "file.urdf");
}
std::string transmission(const std::string& joint, const std::string& more = "",
                         const std::string& motor = "m") {
  return "<transmission name='t'><type>transmission_interface/SimpleTransmission</type>"
         "<joint name='" +
         joint + "'/><actuator name='" + motor + "'>" + more + "</actuator></transmission>";
}

TEST(UrdfTransmissionTest, JointsOfTransmissionsAreIndependentWhereTheLoopLeavesTheChoice) {
  for (const std::string driven : {"crank", "elbow", "rocker"}) {
    const auto model = host().compile(four_bar(transmission(driven)));
    ASSERT_EQ(model->nv(), 1) << driven;
    EXPECT_EQ(model->joint(driven).independent, 0) << driven;
  }
}

TEST(UrdfTransmissionTest, WhatTheFileSaysOfIndependenceStands) {
  const auto model = host().compile(four_bar(transmission("elbow"), " independent='true'"));
  EXPECT_EQ(model->joint("crank").independent, 0);
}

TEST(UrdfTransmissionTest, OneMotorOfOneJointIsAnInputWithItsReduction) {
  const Description robot =
      four_bar(transmission("crank", "<mechanicalReduction>9</mechanicalReduction>") +
               transmission("rocker", "", "m"));
  ASSERT_EQ(robot.actuators.size(), 2u);
  EXPECT_EQ(robot.actuators[0].name, "m");
  EXPECT_EQ(robot.actuators[0].gear.at("crank"), std::vector<double>{9.0});
  EXPECT_EQ(robot.actuators[1].name, "m_2") << "names of inputs are unique";
  EXPECT_EQ(robot.actuators[1].gear.at("rocker"), std::vector<double>{1.0});
  ASSERT_EQ(robot.findings.size(), 1u);
  expect_in(robot.findings[0].text, {"transmission 't'", "'9'", "armature"});
}

TEST(UrdfTransmissionTest, SeveralJointsOfOneTransmissionAreDrivenAtThemselves) {
  const Description robot = four_bar(
      "<transmission name='d'><joint name='crank'/><joint name='elbow'/><actuator name='l'>"
      "<mechanicalReduction>1</mechanicalReduction></actuator><actuator name='r'/></transmission>");
  ASSERT_EQ(robot.actuators.size(), 2u);
  for (const ActuatorDescription& a : robot.actuators) {
    EXPECT_EQ(a.gear.at(a.name), std::vector<double>{1.0}) << a.name;
  }
}

TEST(UrdfTransmissionTest, InputsOfTheFileTakeThePlaceOfTransmissions) {
  const Description robot = four_bar(
      transmission("crank") +
      "<espalier><actuator name='own'><joint name='crank' gear='3'/></actuator></espalier>");
  ASSERT_EQ(robot.actuators.size(), 1u);
  EXPECT_EQ(robot.actuators[0].name, "own");
}

TEST(UrdfTransmissionTest, UnknownJointsAreLeftOutWithAWarning) {
  const Description robot = four_bar(transmission("crnk"));
  EXPECT_TRUE(robot.actuators.empty());
  ASSERT_EQ(robot.findings.size(), 1u);
  EXPECT_FALSE(robot.findings[0].negotiable) << "controllers' files name joints of other robots";
  expect_in(robot.findings[0].text,
            {"transmission 't'", "joint 'crnk' is unknown", "did you mean 'crank'?", "left out"});
}

TEST(UrdfTransmissionTest, ReductionsAreNumbers) {
  for (const std::string text : {"50,5", "abc", "", "nan", "50 60", "1e400"}) {
    test::expect_in(test::message_of([&] {
                      four_bar(transmission(
                          "crank", "<mechanicalReduction>" + text + "</mechanicalReduction>"));
                    }),
                    {"transmission 't' (file.urdf:", "<mechanicalReduction>", "'" + text + "'",
                     "expected a number"});
  }
}

}  // namespace
}  // namespace espalier::test::urdf_transmission_test
