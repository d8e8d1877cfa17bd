#include <gtest/gtest.h>

#include <algorithm>

#include "espalier/kernel/problems/dynamics/forward_dynamics.hpp"
#include "espalier/sensing/sensor_dynamics.hpp"
#include "espalier/sensing/sensor_verdict.hpp"
#include "tests/support/sensor_robots.hpp"

// The two-feet cases of Nori (2017), Remark 5 and eq. 24, with the ranks of theory/sparse 6: a
// robot whose accelerations are all known stands on two feet of which some components are measured.

namespace espalier::test::sensor_verdict_test {
namespace {

using Kind = SensorVerdict::Kind;

const Vec3<double> pitch{0, 1, 0}, roll{1, 0, 0}, yaw{0, 0, 1};
const std::vector<std::string> three_axes{"fz", "mx", "my"};
const std::vector<std::string> five_axes{"fx", "fy", "fz", "mx", "my"};

bool offers(const SensorVerdict& verdict, const std::string& label) {
  return std::any_of(verdict.cures.begin(), verdict.cures.end(),
                     [&](const Sensor& s) { return s.label() == label; });
}

TEST(SensorVerdictTest, ThreeAxesInEachFootAreNeverEnough) {
  // [H, X* H] has rank 5 of 6 for every relative pose: along the line in which the soles' planes
  // meet, the feet can pull at each other.
  const ModelPtr model = biped({yaw, roll, pitch, pitch, pitch, roll});
  const SensorVerdict verdict = judge(*model, standing(*model, three_axes));
  EXPECT_EQ(verdict.kind, Kind::singular_everywhere);
  EXPECT_EQ(verdict.unknowns - verdict.rank, 1) << verdict.text();
  ASSERT_EQ(verdict.unseen.size(), 1u);
  for (const auto& [name, amount] : verdict.unseen[0].terms) {
    EXPECT_EQ(name.find("[fz]"), std::string::npos) << "is measured";
  }
  EXPECT_TRUE(offers(verdict, "wrench on left_foot[fx]")) << verdict.text();
  EXPECT_TRUE(offers(verdict, "joint-wrench of left_joint5")) << verdict.text();
  EXPECT_FALSE(offers(verdict, "wrench on left_foot[fz]")) << "is measured already";
}

TEST(SensorVerdictTest, ThreeAxesInParallelSoles) {
  // At different heights one way to pull is left; in one plane three: both forces in the plane and
  // the torsional moment are seen as sums only.
  const ModelPtr steps = biped({yaw, yaw}, 0.2), floor = biped({yaw, yaw});
  const SensorVerdict on_steps = judge(*steps, standing(*steps, three_axes));
  EXPECT_EQ(on_steps.unknowns - on_steps.rank, 1) << on_steps.text();
  const SensorVerdict on_floor = judge(*floor, standing(*floor, three_axes));
  EXPECT_EQ(on_floor.kind, Kind::singular_everywhere);
  EXPECT_EQ(on_floor.unknowns - on_floor.rank, 3) << on_floor.text();
  EXPECT_EQ(on_floor.unseen.size(), 3u);
}

TEST(SensorVerdictTest, TorsionalMomentsOfParallelSolesAreSeenAsTheirSum) {
  const ModelPtr model = biped({yaw, yaw}, 0.2);
  const SensorVerdict verdict = judge(*model, standing(*model, five_axes));
  EXPECT_EQ(verdict.kind, Kind::singular_everywhere);
  EXPECT_EQ(verdict.unknowns - verdict.rank, 1);
  ASSERT_EQ(verdict.unseen.size(), 1u);
  EXPECT_NE(
      verdict.unseen[0].text.find("wrench on left_foot[mz] and wrench on right_foot[mz]: only "
                                  "their sum is seen"),
      std::string::npos)
      << verdict.text();
  // The yaw joints' torques go with them.
  EXPECT_NE(
      std::find(verdict.undetermined.begin(), verdict.undetermined.end(), "torque of left_joint0"),
      verdict.undetermined.end());
  EXPECT_TRUE(offers(verdict, "wrench on right_foot[mz]")) << verdict.text();
  EXPECT_TRUE(offers(verdict, "torque of left_joint0")) << verdict.text();
  EXPECT_FALSE(offers(verdict, "acceleration of left_joint0")) << verdict.text();
}

TEST(SensorVerdictTest, FiveAxesDetermineAllButInOrdinaryStanding) {
  // Soles that are not parallel: six equations of the pelvis for two unknowns. Ordinary standing
  // makes them parallel.
  const ModelPtr model = biped({yaw, roll, pitch, pitch, pitch, roll});
  const SensorVerdict verdict = judge(*model, standing(*model, five_axes));
  EXPECT_EQ(verdict.kind, Kind::singular_somewhere) << verdict.text();
  EXPECT_EQ(verdict.rank, verdict.unknowns);
  EXPECT_EQ(verdict.redundancy, 4);
  EXPECT_GT(verdict.margin, 1e-3);
  EXPECT_NE(
      std::find(verdict.places.begin(), verdict.places.end(), "all revolute joints at 0 degrees"),
      verdict.places.end())
      << verdict.text();
  ASSERT_FALSE(verdict.unseen.empty());
  EXPECT_NE(verdict.unseen[0].text.find("only their sum is seen"), std::string::npos)
      << verdict.text();
  EXPECT_TRUE(offers(verdict, "wrench on left_foot[mz]")) << verdict.text();
}

TEST(SensorVerdictTest, TheSquareVariantIsSingularAtIsolatedPositions) {
  // Eq. 24: five components of each foot, and four accelerations of joints fewer.
  const ModelPtr model = biped({roll, pitch, pitch, roll});
  std::vector<Sensor> sensors = standing(*model, five_axes);
  for (const char* joint : {"left_joint1", "left_joint2", "right_joint1", "right_joint2"}) {
    std::erase_if(sensors, [&](const Sensor& s) { return s.joint == joint; });
  }
  const SensorVerdict verdict = judge(*model, sensors);
  EXPECT_EQ(verdict.equations, verdict.unknowns);
  EXPECT_EQ(verdict.structural_rank, verdict.unknowns);
  EXPECT_EQ(verdict.kind, Kind::singular_somewhere) << verdict.text();
  EXPECT_NE(
      std::find(verdict.places.begin(), verdict.places.end(), "all revolute joints at 0 degrees"),
      verdict.places.end())
      << verdict.text();
}

TEST(SensorVerdictTest, ForwardAndInverseDynamicsAreWellPosedEverywhere) {
  const ModelPtr model = biped({yaw, roll, pitch, pitch, pitch, roll});
  for (const auto& sensors : {forward_sensors(*model), inverse_sensors(*model)}) {
    const SensorVerdict verdict = judge(*model, sensors);
    EXPECT_EQ(verdict.kind, Kind::well_posed) << verdict.text();
    EXPECT_EQ(verdict.redundancy, 0);
    EXPECT_TRUE(verdict.unseen.empty());
    EXPECT_TRUE(verdict.cures.empty());
  }
}

TEST(SensorVerdictTest, AStructuralDefectIsTold) {
  // Both numbers of one joint are measured and none of the other.
  const ModelPtr model = host().compile(chain_of(std::vector<std::string>{"revolute", "revolute"}));
  const SensorVerdict verdict =
      judge(*model, {{.kind = Sensor::Kind::acceleration, .joint = "joint1"},
                     {.kind = Sensor::Kind::angular_acceleration,
                      .link = "link1",
                      .rows = {Sensor::row_of("wz")}}});
  EXPECT_EQ(verdict.kind, Kind::singular_everywhere);
  EXPECT_LT(verdict.structural_rank, verdict.unknowns);
  EXPECT_NE(verdict.text().find("whatever the numbers"), std::string::npos) << verdict.text();
  EXPECT_TRUE(offers(verdict, "torque of joint1")) << verdict.text();
  EXPECT_TRUE(offers(verdict, "torque of joint2")) << verdict.text();
  EXPECT_FALSE(offers(verdict, "acceleration of joint1")) << verdict.text();
}

TEST(SensorVerdictTest, AnInertiaBeyondAllMeasureHidesNoWrench) {
  // A carriage never turns, so its inertia does not matter, however large it is beside the ones of
  // the joints' wrenches.
  Description robot = chain_of(std::vector<std::string>{"prismatic", "universal", "revolute"});
  robot.links[1].inertial->I = {1.5e30, 3e29, -2e29, 2e30, 1e29, 2.5e30};
  const ModelPtr model = host().compile(robot);
  const std::vector<Sensor> sensors = forward_sensors(*model);
  const SensorVerdict verdict = judge(*model, sensors);
  EXPECT_EQ(verdict.structural_rank, verdict.unknowns) << verdict.text();

  const State state = random_state(*model, 1);
  const std::vector<double> tau{1.0, -2.0, 0.5, 3.0};
  const auto aba = host().create<ForwardDynamics<double>>("aba", model);
  std::vector<double> expected(4);
  aba->evaluate(state.q, state.v, tau, expected);
  const auto dense =
      host().create<SensorDynamics<double>>("dense", {.model = model, .sensors = sensors});
  // Rounding of the forces of 1e0 beside the ones; nothing of the inertia's 1e30 reaches them.
  EXPECT_LT(relative_difference(dense->evaluate(state.q, state.v, tau).qdd, expected), 1e-10);
}

TEST(SensorVerdictTest, AnAccelerometerOnAJointsAxisSeesNothingOfIt) {
  const ModelPtr model = host().compile(chain_of(std::vector<std::string>{"revolute"}));
  Sensor imu{.kind = Sensor::Kind::accelerometer, .link = "link1", .rows = {Sensor::row_of("ay")}};
  EXPECT_EQ(judge(*model, {imu}).kind, Kind::singular_everywhere);
  imu.frame.xyz = {0.2, 0, 0};
  EXPECT_EQ(judge(*model, {imu}).kind, Kind::well_posed);
}

}  // namespace
}  // namespace espalier::test::sensor_verdict_test
