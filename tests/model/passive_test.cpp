#include "espalier/kernel/model/motion/passive.hpp"

#include <gtest/gtest.h>

#include "espalier/espalier.hpp"

namespace espalier::passive_test {
namespace {

constexpr double exact = 1e-15;  // sums of three products near one

/// A link on a joint to the ground.
void add_arm(Description& robot, const std::string& name, const std::string& type,
             const PassiveDynamics& passive) {
  LinkDescription link;
  link.name = name + "_link";
  link.inertial = Inertial{{}, 1.0, {0.1, 0, 0, 0.1, 0, 0.1}};
  robot.links.push_back(link);
  JointDescription joint;
  joint.name = name;
  joint.type = type;
  joint.parent = "base";
  joint.child = link.name;
  joint.passive = passive;
  robot.joints.push_back(joint);
}

Description base() {
  Description robot;
  robot.name = "passive";
  robot.links.push_back({"base", std::nullopt, {}});
  return robot;
}

class PassiveForcesTest : public testing::Test {
 protected:
  /// tau of a robot at positions q and rates v.
  std::vector<double> tau(const Description& robot, const std::vector<double>& q,
                          const std::vector<double>& v) {
    const ModelPtr model = host_.compile(robot);
    EXPECT_EQ(model->nq(), static_cast<int>(q.size()));
    std::vector<double> out(model->nv(), 99.0);
    passive_forces(model, q.data(), v.data(), out.data());
    return out;
  }
  Host host_;
};

TEST_F(PassiveForcesTest, DampingOpposesTheRate) {
  Description robot = base();
  add_arm(robot, "j", "revolute", {.damping = 0.5});
  EXPECT_NEAR(tau(robot, {1}, {2})[0], -1.0, exact);
  EXPECT_NEAR(tau(robot, {1}, {-2})[0], 1.0, exact);
}

TEST_F(PassiveForcesTest, FrictionHasTheSignOfTheRateAndIsZeroAtRest) {
  Description robot = base();
  add_arm(robot, "j", "prismatic", {.friction = 0.3});
  EXPECT_EQ(tau(robot, {1}, {1e-9})[0], -0.3);
  EXPECT_EQ(tau(robot, {1}, {-5})[0], 0.3);
  EXPECT_EQ(tau(robot, {1}, {0})[0], 0.0);
}

TEST_F(PassiveForcesTest, SpringsPullTowardsTheirRestPosition) {
  Description robot = base();
  add_arm(robot, "j", "revolute", {.stiffness = 10.0, .rest = 0.2});
  EXPECT_NEAR(tau(robot, {0.5}, {0})[0], -3.0, exact);
  EXPECT_NEAR(tau(robot, {0.2}, {0})[0], 0.0, exact);
}

TEST_F(PassiveForcesTest, JointsWithoutPassiveForcesHaveNone) {
  Description robot = base();
  add_arm(robot, "j", "revolute", {});
  EXPECT_EQ(tau(robot, {1}, {2})[0], 0.0);
}

TEST_F(PassiveForcesTest, EveryRateOfAJointIsDampedButOnlySinglePositionsHaveSprings) {
  Description robot = base();
  add_arm(robot, "ball", "spherical", {.damping = 0.5, .friction = 0.1, .stiffness = 10.0});
  const std::vector<double> out = tau(robot, {0, 0, 0, 1}, {1, -2, 0});
  EXPECT_NEAR(out[0], -0.6, exact);
  EXPECT_NEAR(out[1], 1.1, exact);
  EXPECT_NEAR(out[2], 0.0, exact);
}

TEST_F(PassiveForcesTest, DependentJointsPushThroughTheirCoupling) {
  // The second joint turns at -2 times the rate of the first: its damper is seen four times, its
  // friction and spring twice and with the other sign.
  Description robot = base();
  add_arm(robot, "lead", "revolute", {});
  add_arm(robot, "follow", "revolute",
          {.damping = 0.5, .friction = 0.1, .stiffness = 10.0, .rest = 0.0});
  robot.joints[1].mimic = Mimic{"lead", -2.0, 0.0};
  const ModelPtr model = host_.compile(robot);
  ASSERT_EQ(model->nv(), 1);
  std::vector<double> q(model->nq(), 0.0);
  q[model->joint("lead").q] = 0.1;
  model->apply_couplings(q.data());
  const double v = 3.0;
  double out = 0.0;
  passive_forces(model, q.data(), &v, &out);
  EXPECT_NEAR(out, -0.5 * 4 * 3.0 - 2 * 0.1 - 4 * 10.0 * 0.1, 1e-14);  // sums near ten
}

}  // namespace
}  // namespace espalier::passive_test
