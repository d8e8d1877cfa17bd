#include "espalier/simulation/soft_contact.hpp"
#include "espalier/simulation/simulation.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/support/host.hpp"
#include "tests/support/simple_robot.hpp"
#include "tests/support/state.hpp"

// Forces of a soft ground, by hand and in simulations.

namespace espalier::test::soft_contact_test {
namespace {

constexpr double mass = 2.0, weight = mass * 9.81;

/// A block of 0.2 m on a free joint, its frame in the middle.
ModelPtr block() {
  Description robot = ground();
  add_link(robot, "block", mass, {0, 0, 0}, {0.02, 0, 0, 0.02, 0, 0.02});
  add_joint(robot, "free", "floating", "base", "block");
  return host().compile(robot);
}

std::vector<ContactPoint> corners() {
  return {{"block", {0.1, 0.1, -0.1}},
          {"block", {0.1, -0.1, -0.1}},
          {"block", {-0.1, 0.1, -0.1}},
          {"block", {-0.1, -0.1, -0.1}}};
}

std::unique_ptr<SoftContact> soft_ground(const ModelPtr& robot, const SoftGround& ground,
                                         std::vector<ContactPoint> points = corners()) {
  return std::make_unique<SoftContact>(any<Kinematics<double>>(robot), std::move(points), ground);
}

/// The block's state: middle at a height, moving with a velocity (its axes are the world's).
struct Block {
  Block(const ModelPtr& robot, double height, Vec3<double> velocity) : q(robot->nq()), v(6, 0.0) {
    robot->neutral(q.data());
    q[robot->joint("free").q + 2] = height;
    kinematics = any<Kinematics<double>>(robot);
    for (int k = 0; k < 6; ++k) {
      std::vector<double> unit(6, 0.0);
      unit[k] = 1.0;
      kinematics->evaluate(q, unit, v);
      const Motion<double> m = kinematics->velocity(robot->link("block"));
      v_of_axis[k] = m.v;
    }
    for (int k = 0; k < 6; ++k) v[k] = dot(v_of_axis[k], velocity);
  }
  std::vector<double> q, v;
  std::unique_ptr<Kinematics<double>> kinematics;
  Vec3<double> v_of_axis[6];
};

TEST(SoftContact, ForceAtRestIsStiffnessTimesDepth) {
  const ModelPtr robot = block();
  const auto contact = soft_ground(robot, {.stiffness = 1e4});
  const Block b(robot, 0.099, {0, 0, 0});
  for (const Vec3<double>& f : contact->forces(b.q, b.v)) {
    EXPECT_NEAR(f.z, 10.0, 1e-9);  // rounding of a depth of 1e-3
    EXPECT_EQ(f.x, 0.0);
    EXPECT_EQ(f.y, 0.0);
  }
}

TEST(SoftContact, NothingActsAboveTheGround) {
  const ModelPtr robot = block();
  const auto contact = soft_ground(robot, {});
  const Block b(robot, 0.101, {1, 0, -5});
  for (const Vec3<double>& f : contact->forces(b.q, b.v)) EXPECT_EQ(dot(f, f), 0.0);
}

TEST(SoftContact, DampingPushesAndNeverPulls) {
  const ModelPtr robot = block();
  const auto contact = soft_ground(robot, {.stiffness = 1e4, .damping = 2.0});
  const Block down(robot, 0.099, {0, 0, -0.1}), up(robot, 0.099, {0, 0, 10.0});
  EXPECT_NEAR(contact->forces(down.q, down.v)[0].z, 12.0, 1e-9);  // 10 N (1 + 2 · 0.1)
  EXPECT_EQ(contact->forces(up.q, up.v)[0].z, 0.0);
}

TEST(SoftContact, FrictionIsAgainstTheSlipAndUpToTheCone) {
  const ModelPtr robot = block();
  const auto contact = soft_ground(robot, {.stiffness = 1e4, .friction = 0.5, .slip_rate = 0.03});
  const Block slow(robot, 0.099, {0.04, 0, 0}), fast(robot, 0.099, {0, -3.0, 0});
  // 0.5 · 10 N · 0.04 / sqrt(0.04² + 0.03²)
  EXPECT_NEAR(contact->forces(slow.q, slow.v)[0].x, -4.0, 1e-9);
  EXPECT_NEAR(contact->forces(fast.q, fast.v)[0].y, 5.0, 1e-3);
}

TEST(SoftContact, BlockComesToRestAtItsWeight) {
  const ModelPtr robot = block();
  std::vector<std::unique_ptr<Environment>> environments;
  const SoftGround ground{.stiffness = 5e3};
  environments.push_back(soft_ground(robot, ground));
  const auto simulation = make_simulation(host(), robot, {}, {}, {}, std::move(environments));
  const Block dropped(robot, 0.12, {0.3, 0, 0});
  simulation->start(dropped.q, dropped.v);
  simulation->run(3.0, 2e-4, 100000, [](const Sample&) { return true; });
  const auto watcher = soft_ground(robot, ground);
  double sum = 0.0;
  for (const Vec3<double>& f : watcher->forces(simulation->q(), simulation->v())) sum += f.z;
  // Bounces have died out to this after 3 s.
  EXPECT_NEAR(sum, weight, 1e-3 * weight);
  EXPECT_LT(largest(simulation->v()), 1e-3);
}

TEST(SoftContact, BlockSlidesDownASteepSlopeAsCoulombSays) {
  const ModelPtr robot = block();
  std::vector<std::unique_ptr<Environment>> environments;
  constexpr double slope = 0.5, friction = 0.2;
  // The plane leans, and gravity with it: the block's axes stay those of the plane.
  SoftGround ground{.stiffness = 2e4, .damping = 50.0, .friction = friction};
  // One point below the middle, so that nothing turns the block.
  environments.push_back(soft_ground(robot, ground, {{"block", {0, 0, 0}}}));
  const auto simulation = make_simulation(host(), robot, {}, {}, {}, std::move(environments));
  simulation->set_gravity({9.81 * std::sin(slope), 0, -9.81 * std::cos(slope)});
  const double depth = weight * std::cos(slope) / 2e4;
  const Block b(robot, -depth, {1.0, 0, 0});
  simulation->start(b.q, b.v);
  simulation->run(0.5, 2e-4, 100000, [](const Sample&) { return true; });
  b.kinematics->evaluate(simulation->q(), simulation->v(), b.v);
  const Vec3<double> v = b.kinematics->velocity(robot->link("block")).v;
  const double a = 9.81 * (std::sin(slope) - friction * std::cos(slope));
  // Regularisation is (slip_rate / v)² / 2 = 1e-5 of the friction.
  EXPECT_NEAR(v.x, 1.0 + 0.5 * a, 1e-4);
  EXPECT_NEAR(v.z, 0.0, 1e-6);
}

TEST(Environment, ActsBesideConstantWrenches) {
  struct Lift final : Environment {
    void act(double, const double*, const double*, Wrenches<double>& wrenches) override {
      wrenches.add("block", {{0, 0, 0}, {0, 0, 0.5 * weight}});
    }
  };
  const ModelPtr robot = block();
  std::vector<std::unique_ptr<Environment>> environments;
  environments.push_back(std::make_unique<Lift>());
  const auto simulation = make_simulation(host(), robot, {}, {}, {}, std::move(environments));
  const Block b(robot, 1.0, {0, 0, 0});
  simulation->start(b.q, b.v);
  Wrenches<double> half(robot);
  half.add("block", {{0, 0, 0}, {0, 0, 0.5 * weight}});
  simulation->set_wrenches(&half);
  simulation->run(1.0, 1e-2, 1000, [](const Sample&) { return true; });
  EXPECT_LT(largest(simulation->v()), 1e-12);  // it floats; rounding
  simulation->set_wrenches(nullptr);
  simulation->run(1.0, 1e-2, 1000, [](const Sample&) { return true; });
  EXPECT_NEAR(largest(simulation->v()), 0.5 * 9.81, 1e-9);  // rounding of 100 steps
}

std::string refusal(const std::vector<ContactPoint>& points, const SoftGround& ground) {
  try {
    soft_ground(block(), ground, points);
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(SoftContact, BadGroundsAndPointsAreRefusedByName) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(refusal(corners(), {}), "no error");
  EXPECT_EQ(refusal({}, {}), "soft contact: number of points is 0, expected at least one");
  EXPECT_NE(refusal({{"blok", {}}}, {}).find("'blok'"), std::string::npos);
  EXPECT_EQ(refusal({{"block", {0, nan, 0}}}, {}),
            "soft contact: offset on link 'block' is nan, expected finite numbers");
  EXPECT_EQ(refusal(corners(), {.normal = {0, 0, 0}}),
            "soft contact: length of the normal is 0, expected a vector with a direction");
  EXPECT_EQ(refusal(corners(), {.height = nan}),
            "soft contact: height is nan, expected a finite number");
  EXPECT_EQ(refusal(corners(), {.stiffness = 0.0}),
            "soft contact: stiffness is 0, expected a positive number");
  EXPECT_EQ(refusal(corners(), {.damping = -1.0}),
            "soft contact: damping is -1, expected a number not below zero");
  EXPECT_EQ(refusal(corners(), {.friction = -0.5}),
            "soft contact: friction is -0.5, expected a number not below zero");
  EXPECT_EQ(refusal(corners(), {.slip_rate = 0.0}),
            "soft contact: slip_rate is 0, expected a positive number");
}

}  // namespace
}  // namespace espalier::test::soft_contact_test
