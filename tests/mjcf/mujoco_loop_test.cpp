#include "espalier/kernel/model/motion/spanning_motion.hpp"
#include "tests/mjcf/mujoco.hpp"
#include "tests/support/host.hpp"
#include "tests/support/temporary_folder.hpp"

// MuJoCo's constraints are soft. At rest, as they stiffen, its accelerations tend to the exact
// ones.

namespace espalier::test::mujoco_loop_test {
namespace {

/// A four-bar in the x-z plane; the last pin is a connect. `softness` is 1 - solimp.
std::string four_bar(double softness) {
  const std::string d = std::to_string(1.0 - softness);
  return R"(<mujoco model="four_bar">
  <compiler angle="radian"/>
  <option gravity="4 0 -9"/>
  <worldbody>
    <body name="crank">
      <joint name="motor" axis="0 1 0"/>
      <inertial pos="0 0 0.05" mass="0.3" diaginertia="0.001 0.001 0.0001"/>
      <body name="coupler" pos="0 0 0.1">
        <joint name="elbow" axis="0 1 0"/>
        <inertial pos="0.15 0 0.02" mass="0.5" diaginertia="0.001 0.005 0.005"/>
      </body>
    </body>
    <body name="rocker" pos="0.3 0 0">
      <joint name="pivot" axis="0 1 0"/>
      <inertial pos="0 0 0.08" mass="0.4" diaginertia="0.002 0.002 0.0001"/>
    </body>
  </worldbody>
  <equality>
    <connect body1="coupler" body2="rocker" anchor="0.3 0 0.05" solref="0.02 1" solimp=")" +
         d + " " + d + R"( 0.001"/>
  </equality>
</mujoco>)";
}

/// Two pendulums, one joint a multiple of the other.
std::string geared(double softness) {
  const std::string d = std::to_string(1.0 - softness);
  return R"(<mujoco model="geared">
  <compiler angle="radian"/>
  <worldbody>
    <body name="a">
      <joint name="first" axis="0 1 0"/>
      <inertial pos="0.1 0 0.05" mass="0.3" diaginertia="0.001 0.001 0.0001"/>
    </body>
    <body name="b" pos="0 0.2 0">
      <joint name="second" axis="0 1 0"/>
      <inertial pos="0.05 0 0.08" mass="0.4" diaginertia="0.002 0.002 0.0001"/>
    </body>
  </worldbody>
  <equality>
    <joint joint1="second" joint2="first" polycoef="0 -3 0 0 0" solref="0.02 1" solimp=")" +
         d + " " + d + R"( 0.001"/>
  </equality>
</mujoco>)";
}

/// Largest difference of accelerations at rest from the exact ones.
double difference(const std::string& text) {
  const TemporaryFolder folder;
  const std::string file = folder.write("robot.xml", text);
  Mujoco mujoco(file);
  const ModelPtr robot = host().load(file);
  EXPECT_EQ(robot->nv(), 1);
  std::vector<double> q(robot->nq()), still(robot->spanning_nv(), 0.0);
  robot->neutral(q.data());
  mujoco.model().opt.iterations = 1000;
  mujoco.model().opt.tolerance = 0.0;
  mujoco.set(*robot, q.data(), still.data());

  // The exact accelerations: G vdot, M vdot = -bias.
  const std::vector<double> zero(1, 0.0);
  std::vector<double> M(1), h(1);
  any<MassMatrix<double>>(robot)->evaluate(q, M);
  any<BiasForce<double>>(robot)->evaluate(q, zero, h);
  SpanningMotion<double> motion(*robot);
  const double vdot = -h[0] / M[0];
  motion.update(q.data(), &vdot);  // rates of this size: G is what accelerations have at rest
  double worst = 0.0, size = 0.0;
  for (const Joint& joint : robot->joints()) {
    const int id = mj_name2id(&mujoco.model(), mjOBJ_JOINT, joint.name.c_str());
    const double exact = motion.qd()[joint.v];
    const double soft = mujoco.data().qacc[mujoco.model().jnt_dofadr[id]];
    worst = std::max(worst, std::abs(exact - soft));
    size = std::max(size, std::abs(exact));
  }
  EXPECT_GT(size, 1.0);  // gravity moves it
  return worst / size;
}

TEST(MujocoLoopTest, ConnectOfAFourBarTendsToTheExactMechanism) {
  double before = difference(four_bar(0.1));
  for (const double softness : {0.01, 0.001}) {
    const double now = difference(four_bar(softness));
    EXPECT_LT(now, 0.15 * before);  // in proportion to the softness, a tenth each time
    before = now;
  }
  EXPECT_LT(before, 0.01);
}

TEST(MujocoLoopTest, JointEqualityTendsToTheExactGear) {
  double before = difference(geared(0.1));
  for (const double softness : {0.01, 0.001}) {
    const double now = difference(geared(softness));
    EXPECT_LT(now, 0.15 * before);
    before = now;
  }
  EXPECT_LT(before, 0.01);
}

TEST(MujocoLoopTest, ConnectInAPlaneIsThePinThatItIs) {
  const TemporaryFolder folder;
  const Description robot = host().read(folder.write("pin.xml", four_bar(0.1)));
  ASSERT_EQ(robot.loops.size(), 1u);
  EXPECT_EQ(robot.loops[0].type, "revolute");
  EXPECT_NEAR(std::abs(robot.loops[0].axis.y), 1.0, 1e-15);
}

}  // namespace
}  // namespace espalier::test::mujoco_loop_test
