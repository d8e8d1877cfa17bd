#include <limits>

#include "tests/joints/joint_bench.hpp"

/// What joints refuse, directly and through the model compiler.

namespace espalier::joint_parameters_test {
namespace {

using namespace test;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

/// Message of the InvalidModel that compiling a robot with this one joint throws.
std::string refusal(const std::string& type, const Vec3<double>& axis,
                    const Parameters& parameters) {
  Description robot;
  robot.name = "robot";
  for (const char* name : {"base", "arm"}) {
    LinkDescription link;
    link.name = name;
    link.inertial = Inertial{{}, 1.0, {0.1, 0, 0, 0.1, 0, 0.1}};
    robot.links.push_back(link);
  }
  JointDescription joint;
  joint.name = "elbow";
  joint.type = type;
  joint.parent = "base";
  joint.child = "arm";
  joint.axis = axis;
  joint.parameters = parameters;
  joint.where = {"robot.yaml", 17};
  robot.joints.push_back(joint);
  try {
    Model::compile(robot, registry());
  } catch (const InvalidModel& error) {
    return error.what();
  }
  return "accepted";
}
std::string refusal(const std::string& type, const Parameters& parameters) {
  return refusal(type, {0, 0, 1}, parameters);
}

void expect_parts(const std::string& message, const std::vector<std::string>& parts) {
  for (const std::string& part : parts) {
    EXPECT_NE(message.find(part), std::string::npos) << "'" << part << "' is not in: " << message;
  }
}

TEST(JointParametersTest, CompleteParametersAreAccepted) {
  EXPECT_EQ(refusal("helical", {{"pitch", {0.01}}}), "accepted");
  EXPECT_EQ(refusal("helical", {{"pitch", {0.0}}}), "accepted");
  EXPECT_EQ(refusal("universal", {}), "accepted");
  EXPECT_EQ(refusal("universal", {{"axis2", {0, 5, 0}}}), "accepted");
}

TEST(JointParametersTest, MissingPitchIsNamed) {
  expect_parts(refusal("helical", {}), {"'elbow'", "robot.yaml:17", "'pitch'", "missing"});
}

TEST(JointParametersTest, PitchHasToBeOneFiniteNumber) {
  for (const std::vector<double>& pitch :
       std::vector<std::vector<double>>{{}, {1, 2}, {nan}, {infinity}, {-infinity}}) {
    expect_parts(refusal("helical", {{"pitch", pitch}}), {"'elbow'", "robot.yaml:17", "'pitch'"});
  }
}

TEST(JointParametersTest, SecondAxisHasToBeADirection) {
  for (const std::vector<double>& axis2 : std::vector<std::vector<double>>{
           {}, {1}, {1, 0}, {1, 0, 0, 0}, {0, 0, 0}, {nan, 0, 1}, {0, infinity, 0}}) {
    expect_parts(refusal("universal", {{"axis2", axis2}}), {"'elbow'", "robot.yaml:17", "'axis2'"});
  }
}

TEST(JointParametersTest, ParallelAxesAreRefusedWithBothAxes) {
  for (const double sign : {1.0, -1.0}) {
    expect_parts(
        refusal("universal", {{"axis2", {0, 1e-7, sign * 2}}}),
        {"'elbow'", "robot.yaml:17", "'axis2'", "parallel", "[0.000000, 0.000000, 1.000000]"});
  }
  EXPECT_EQ(refusal("universal", {{"axis2", {0, 1e-4, 1}}}), "accepted");
}

TEST(JointParametersTest, UnknownParametersAreRefusedWithTheKnownOnes) {
  expect_parts(refusal("helical", {{"pitch", {0.1}}, {"ptch", {0.1}}}),
               {"'elbow'", "'ptch'", "pitch"});
  for (const Entry* e : registry().entries(Kind::joint)) {
    Parameters parameters;
    Random random(1);
    parameters = random_spec(*e->joint, random).parameters;
    parameters["wheel size"] = {1.0};
    expect_parts(refusal(e->about.name, {1, 0, 0}, parameters), {"'wheel size'"});
  }
}

TEST(JointParametersTest, AxisHasToBeADirectionWhereItHasAMeaning) {
  for (const char* type : {"revolute", "continuous", "prismatic", "cylindrical", "planar"}) {
    for (const Vec3<double>& axis :
         std::vector<Vec3<double>>{{0, 0, 0}, {nan, 0, 1}, {0, infinity, 0}}) {
      expect_parts(refusal(type, axis, {}), {"'elbow'", "axis"});
    }
  }
  for (const char* type : {"spherical", "floating", "fixed"}) {
    EXPECT_EQ(refusal(type, {0, 0, 0}, {}), "accepted") << type;
  }
}

}  // namespace
}  // namespace espalier::joint_parameters_test
