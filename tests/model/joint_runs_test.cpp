#include <gtest/gtest.h>

#include <memory>

#include "espalier/kernel/model/adapters/renamed_joint.hpp"
#include "espalier/kernel/model/layout.hpp"
#include "espalier/kernel/problems/dynamics/forward_dynamics.hpp"
#include "tests/support/host.hpp"
#include "tests/support/random_robot.hpp"
#include "tests/support/state.hpp"

// Neighbouring joints that compute alike are one run, whatever files call them.

namespace espalier::test::joint_runs_test {
namespace {

Description arm(const std::string& second_type) {
  RobotOptions options;
  options.bodies = 7;
  options.shape = RobotOptions::Shape::chain;
  options.types = {"revolute"};
  Description robot = random_robot(host().registry(), options);
  int number = 0;
  for (JointDescription& joint : robot.joints) {
    if (joint.type == "revolute" && number++ % 2 == 1) joint.type = second_type;
  }
  return robot;
}

std::vector<double> accelerations(const ModelPtr& model) {
  const State s = random_state(*model, 5);
  std::vector<double> vdot(model->nv());
  host().create<ForwardDynamics<double>>("aba", model)->evaluate(s.q, s.v, s.tau, vdot);
  return vdot;
}

TEST(JointRunsTest, ContinuousAndRevoluteJointsShareOne) {
  const ModelPtr model = host().compile(arm("continuous"));
  ASSERT_EQ(model->joints().size(), 7u);
  EXPECT_EQ(model->runs().size(), 1u);
  for (std::size_t k = 0; k < 7; ++k) {  // each keeps the name that the file gives its type
    EXPECT_EQ(model->joints()[k].type, k % 2 == 1 ? "continuous" : "revolute") << k;
  }
}

TEST(JointRunsTest, JointsThatMoveInAnotherWayEndOne) {
  EXPECT_EQ(host().compile(arm("prismatic"))->runs().size(), 7u);
}

TEST(JointRunsTest, ASecondNameChangesNoBit) {
  EXPECT_EQ(accelerations(host().compile(arm("continuous"))),
            accelerations(host().compile(arm("revolute"))));
}

TEST(RenamedJointTest, IsComputedByTheTypeThatItRenames) {
  const JointType& revolute = host().registry().joint_type("revolute");
  const JointType& continuous = host().registry().joint_type("continuous");
  EXPECT_EQ(continuous.name(), "continuous");
  EXPECT_EQ(&RenamedJoint::computed_by(continuous), &revolute);
  EXPECT_EQ(&RenamedJoint::computed_by(revolute), &revolute);
  const std::shared_ptr<const JointType> held(&continuous, [](const JointType*) {});
  EXPECT_EQ(&RenamedJoint::computed_by(RenamedJoint("wheel", held)), &revolute);
}

}  // namespace
}  // namespace espalier::test::joint_runs_test
