#include <gtest/gtest.h>

#include <cmath>

#include "espalier/kernel/model/closure.hpp"
#include "espalier/kernel/problems/dynamics/joint_wrenches.hpp"
#include "tests/support/host.hpp"
#include "tests/support/simple_robot.hpp"

/// What joints transmit: by hand, by equilibrium of every body, and by which joint is cut.

namespace espalier::test::joint_wrenches_test {
namespace {

using Reactions = JointWrenches<double>;

const Reactions::Reaction& of(const std::vector<Reactions::Reaction>& all,
                              const std::string& joint) {
  for (const auto& reaction : all) {
    if (reaction.joint == joint) return reaction;
  }
  throw UnknownName("no reaction of " + joint);
}

constexpr double rounding = 1e-9;  // of sums of some ten terms of order 10, through a 2 x 2 inverse

TEST(JointWrenchesTest, HingeOfAHangingRodBearsItsWeight) {
  Description robot = ground();
  add_link(robot, "rod", 2.0, {0, 0, -0.5}, {0.1, 0, 0, 0.1, 0, 0.1});
  add_joint(robot, "hinge", "revolute", "base", "rod", {0, 1, 0});
  const ModelPtr model = host().compile(robot);
  const auto reactions = host().create<Reactions>("joint-reactions", model);
  const std::vector<double> zero(1, 0.0);
  const auto& hinge = of(reactions->evaluate(zero, zero, zero), "hinge");
  EXPECT_NEAR(hinge.wrench.f.z, 2.0 * 9.81, rounding);
  EXPECT_NEAR(hinge.wrench.f.x, 0.0, rounding);
  EXPECT_NEAR(hinge.wrench.n.y, 0.0, rounding);
  EXPECT_TRUE(hinge.determined);
}

/// A horizontal plate of 4 kg that hangs on two parallel vertical bars: half of it on each.
Description swing() {
  Description robot = ground();
  for (const char* bar : {"left", "right"}) add_link(robot, bar);
  add_link(robot, "plate", 4.0, {0.5, 0, 0}, {0.1, 0, 0, 0.3, 0, 0.3});
  add_joint(robot, "left_top", "revolute", "base", "left", {0, 1, 0});
  add_joint(robot, "right_top", "revolute", "base", "right", {0, 1, 0}, {{1, 0, 0}, {0, 0, 0}});
  add_joint(robot, "left_bottom", "revolute", "left", "plate", {0, 1, 0}, {{0, 0, -1}, {0, 0, 0}});
  LoopDescription loop;
  loop.name = "right_bottom", loop.type = "revolute";
  loop.predecessor = "right", loop.successor = "plate";
  loop.predecessor_origin = {{0, 0, -1}, {0, 0, 0}};
  loop.successor_origin = {{1, 0, 0}, {0, 0, 0}};
  loop.axis = {0, 1, 0};
  robot.loops.push_back(loop);
  return robot;
}

TEST(JointWrenchesTest, TwoBarsOfASwingCarryHalfOfItEach) {
  const ModelPtr model = host().compile(swing());
  ASSERT_EQ(model->nv(), 1);
  std::vector<double> q(model->nq());
  model->neutral(q.data());
  const auto forward = host().create<ForwardDynamics<double>>("c-aba", model);
  const std::vector<double> rest(1, 0.0);
  std::vector<double> vdot(1);
  forward->evaluate(q, rest, rest, vdot);
  EXPECT_NEAR(vdot[0], 0.0, rounding);
  const auto reactions = host().create<Reactions>("joint-reactions", model);
  const auto& all = reactions->evaluate(q, rest, vdot);
  // The successor of the cut joint is the plate: the bar lifts it by half its weight.
  EXPECT_NEAR(of(all, "right_bottom").wrench.f.z, 2.0 * 9.81, rounding);
  EXPECT_NEAR(of(all, "left_bottom").wrench.f.z, 2.0 * 9.81, rounding);
  EXPECT_NEAR(of(all, "left_top").wrench.f.z, 2.0 * 9.81, rounding);
  EXPECT_NEAR(of(all, "right_top").wrench.f.z, 2.0 * 9.81, rounding);
  // Pins in space hold a planar loop more than once.
  for (const char* joint : {"right_bottom", "left_bottom", "left_top", "right_top"}) {
    EXPECT_FALSE(of(all, joint).determined) << joint;
  }
}

TEST(JointWrenchesTest, MovingLoopMeetsNewtonAndEuler) {
  // In the plane, every body is in equilibrium with the wrenches of its joints and its motion: the
  // plate's centre of mass moves on a circle of 1 m.
  const ModelPtr model = host().compile(swing());
  std::vector<double> start(model->nq());
  model->neutral(start.data());
  std::vector<double> q = start;
  const double angle = 0.4, rate = 1.5;
  q[model->joint_of_rate(model->independent_rates()[0]).q] += angle;
  ASSERT_EQ(close(*model, start.data(), q.data()).verdict, Closure::Verdict::closed);
  const std::vector<double> v{rate}, tau{0.0};
  std::vector<double> vdot(1);
  host().create<ForwardDynamics<double>>("c-aba", model)->evaluate(q, v, tau, vdot);
  EXPECT_NEAR(std::abs(vdot[0]), 9.81 * std::sin(angle), rounding);  // a pendulum of 1 m
  const auto reactions = host().create<Reactions>("joint-reactions", model);
  const auto& all = reactions->evaluate(q, v, vdot);
  // The plate keeps its attitude, so that its frame is the world's: the sum of both bars' forces is
  // m (a - g), along the bars.
  const Vec3<double> sum = of(all, "right_bottom").wrench.f + of(all, "left_bottom").wrench.f;
  const double along = 4.0 * (rate * rate * 1.0 + 9.81 * std::cos(angle));
  EXPECT_NEAR(std::sqrt(dot(sum, sum)), along, rounding);
  EXPECT_NEAR(sum.z, along * std::cos(angle), rounding);
}

}  // namespace
}  // namespace espalier::test::joint_wrenches_test
