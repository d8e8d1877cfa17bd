#include <cmath>

#include "espalier/simulation/contact/contact_batch.hpp"
#include "espalier/simulation/contact/ground.hpp"
#include "tests/contact/robots.hpp"
#include "tests/support/state.hpp"

/// Torsional and rolling friction, and surfaces that run, against closed forms; steps of 1 ms.

namespace espalier::test::turning_friction_test {
namespace {

using contact::ContactBatch;
using contact::NewtonWay;
using contact::RobotStatus;
using contact::Shape;

constexpr double radius = 0.1, inertia = 0.4 * radius * radius;  // of a ball of 1 kg

StepOptions exact() {
  StepOptions options;
  options.tolerance = 1e-13;
  return options;
}
Boxed solid_on_plane(const Shape& shape, const Vec3<double>& I, const Surface& surface) {
  Description robot = ground();
  add_flying(robot, "solid", 1.0, I);
  Boxed b{host().compile(robot), {}};
  PlacedShape solid;
  solid.link = "solid", solid.shape = shape, solid.surface = surface;
  b.world.shapes = {World::ground({.friction = surface.friction}), solid};
  return b;
}
Boxed ball_on_plane(const Surface& surface) {
  return solid_on_plane(Shape::sphere(radius), {inertia, inertia, inertia}, surface);
}
/// Rates of a flying body in world axes.
struct Twist {
  Vec3<double> w, v;
};
Twist world_twist(const ContactSimulation& s) {
  const Mat3<double> E = quaternion_to_E(s.q().data() + 3);
  const double* v = s.v().data();
  return {transpose_times(E, Vec3<double>(v[0], v[1], v[2])),
          transpose_times(E, Vec3<double>(v[3], v[4], v[5]))};
}

TEST(TurningFrictionTest, SpinningBallIsStoppedByTheTorsionalMoment) {
  constexpr double length = 0.01, spin = 3.0, loss = h * length * g / inertia;
  for (const double rough : {0.0, 0.5}) {
    auto s = simulate(ball_on_plane({.friction = rough, .torsional_friction = length}), exact());
    s.start(at({0, 0, radius}), std::vector<double>{0, 0, spin, 0, 0, 0});
    for (int k = 1; k <= 200; ++k) {
      ASSERT_EQ(s.step(h), StepStatus::ok);
      EXPECT_NEAR(s.v()[2], std::max(0.0, spin - k * loss), 1e-9);
      EXPECT_NEAR(std::hypot(s.q()[0], s.q()[1]), 0.0, 1e-9);
      if (k == 10) EXPECT_NEAR(s.contacts().front().moment.z, -length * g, 1e-9);
    }
  }
}

TEST(TurningFrictionTest, LengthsOfAModelsFileCountOnItsShapesAlone) {
  Description robot = ground();
  add_flying(robot, "ball", 1.0, {inertia, inertia, inertia});
  ShapeDescription ball;
  ball.shape = Sphere{radius}, ball.torsional_friction = 0.01;
  robot.links.back().collisions = {ball, ball};
  robot.links.back().collisions[1].torsional_friction.reset();
  robot.links.back().collisions[1].rolling_friction = 0.002;
  const World world = contact::world_of(*host().compile(robot), {.torsional_friction = 0.03});
  ASSERT_EQ(world.shapes.size(), 2u);
  EXPECT_EQ(world.shapes[0].surface.torsional_friction, 0.01);
  EXPECT_EQ(world.shapes[0].surface.rolling_friction, 0.0);
  EXPECT_EQ(world.shapes[1].surface.torsional_friction, 0.03);  // of shapes that do not say
  EXPECT_EQ(world.shapes[1].surface.rolling_friction, 0.002);
}

TEST(TurningFrictionTest, CylinderOnItsEndIsStoppedByWhatAllItsPointsBear) {
  constexpr double length = 0.02, spin = 2.0, I = 0.005;
  auto s = simulate(solid_on_plane(Shape::cylinder(0.1, 0.05), {0.0034, 0.0034, I},
                                   {.friction = 0.0, .torsional_friction = length}),
                    exact());
  s.start(at({0, 0, 0.05}), std::vector<double>{0, 0, spin, 0, 0, 0});
  for (int k = 1; k <= 100; ++k) {
    ASSERT_EQ(s.step(h), StepStatus::ok);
    EXPECT_NEAR(s.v()[2], std::max(0.0, spin - k * h * length * g / I), 1e-8);
  }
}

TEST(TurningFrictionTest, RollingBallIsSlowedTheSameInAnyDirection) {
  constexpr double length = 0.002, speed = 0.5;
  constexpr double slower = length * g / (1.4 * radius);  // (I + m r^2) a / r = -length m g
  for (const double heading : {0.0, 0.6, 2.0, 4.0}) {
    SCOPED_TRACE(heading);
    const double x = std::cos(heading), y = std::sin(heading);
    auto s = simulate(ball_on_plane({.friction = 0.5, .rolling_friction = length}), exact());
    s.start(at({0, 0, radius}), std::vector<double>{-y * speed / radius, x * speed / radius, 0,
                                                    x * speed, y * speed, 0});
    for (int k = 1; k <= 4000; ++k) {
      ASSERT_EQ(s.step(h), StepStatus::ok);
      const Vec3<double> v = world_twist(s).v;
      const double wanted = std::max(0.0, speed - k * h * slower);
      ASSERT_NEAR(x * v.x + y * v.y, wanted, 1e-8) << k;
      ASSERT_NEAR(x * v.y - y * v.x, 0.0, 1e-8) << k;
    }
  }
}

TEST(TurningFrictionTest, RollingFrictionHoldsABallOnASlopeOfItsAngle) {
  constexpr double length = 0.01;
  const auto acceleration = [](double slope) {
    auto s = simulate(ball_on_plane({.friction = 1.0, .rolling_friction = length}), exact());
    const double angle = std::atan(slope);
    s.set_gravity({g * std::sin(angle), 0, -g * std::cos(angle)});
    s.start(at({0, 0, radius}), std::vector<double>(6, 0.0));
    for (int k = 0; k < 100; ++k) EXPECT_EQ(s.step(h), StepStatus::ok);
    return world_twist(s).v.x / (100 * h);
  };
  EXPECT_NEAR(acceleration(0.999 * length / radius), 0.0, 1e-9);
  for (const double slope : {1.001 * length / radius, 0.3}) {
    const double cosine = std::cos(std::atan(slope));
    EXPECT_NEAR(acceleration(slope), g * cosine * (slope - length / radius) / 1.4, 1e-8);
  }
}

/// Solo12 on feet that hardly turn.
struct Robot {
  ModelPtr model;
  World world;
  StepOptions options;
  std::vector<double> q;
};
Robot quadruped() {
  CompileOptions floating;
  floating.root = CompileOptions::Root::floating;
  Robot r;
  r.model = host().load(std::string(ESPALIER_SOURCE_DIR) + "/robots/solo12.urdf", floating);
  const Surface surface{.friction = 0.7, .torsional_friction = 0.01, .rolling_friction = 0.002};
  r.world.shapes = {World::ground({.friction = 0.7})};
  for (const Link& link : r.model->links()) {
    if (link.name.find("foot") == std::string::npos) continue;
    PlacedShape ball;
    ball.link = link.name, ball.shape = Shape::sphere(0.016), ball.surface = surface;
    r.world.shapes.push_back(ball);
  }
  for (const Joint& joint : r.model->joints()) {
    if (joint.nv == 1) r.options.drives.push_back({.joint = joint.name, .kp = 10.0, .kd = 0.3});
  }
  r.options.limits = false;
  r.q.resize(r.model->nq());
  r.model->neutral(r.q.data());
  r.q[2] = 0.34;
  return r;
}
std::vector<double> thrown(const Model& model, int k) {
  std::vector<double> v(model.nv(), 0.0);
  for (int i = 0; i < 6; ++i) v[i] = 0.5 * std::sin(1.0 + k + 2.0 * i);
  return v;
}

TEST(TurningFrictionTest, FallingQuadrupedKeepsToAllBounds) {
  const Robot r = quadruped();
  ContactSimulation s(host().registry(), r.model, r.world, r.options);
  int bound = 0;
  for (int k = 0; k < 8; ++k) {
    s.start(r.q, thrown(*r.model, k));
    for (int step = 0; step < 150; ++step) {
      ASSERT_EQ(s.step(2e-3), StepStatus::ok);
      for (const auto& c : s.contacts()) {
        const double n = dot(c.force, c.normal), torsion = dot(c.moment, c.normal);
        const Vec3<double> roll = c.moment - scale(torsion, c.normal);
        // A box around the disc, and rounding.
        EXPECT_LE(std::abs(torsion), 0.01 * n + 1e-12);
        EXPECT_LE(std::sqrt(dot(roll, roll)), std::sqrt(2.0) * 0.002 * n + 1e-12);
        bound += std::abs(torsion) > 1e-6;
      }
    }
  }
  EXPECT_GT(bound, 1000);
}

TEST(TurningFrictionTest, EverySolverFindsTheSameMotion) {
  const Robot r = quadruped();
  const auto end = [&](const char* solver) {
    ContactSimulation s(host().registry(), r.model, r.world, r.options, {.solver = solver});
    s.start(r.q, thrown(*r.model, 3));
    for (int step = 0; step < 60; ++step) {
      EXPECT_EQ(s.step(2e-3), StepStatus::ok)
          << solver << " " << step << " " << s.contact_residual();
    }
    return s.v();
  };
  const std::vector<double> v = end("gauss-seidel-newton");
  // Residuals of 1e-6 m/s in each of 60 steps.
  EXPECT_LE(largest_difference(end("admm"), v), 2e-4);
  EXPECT_LE(largest_difference(end("block-gauss-seidel"), v), 2e-4);
}

TEST(TurningFrictionTest, BatchesMoveAsSingleRobotsAndAloneAsBesideOthers) {
  const Robot r = quadruped();
  constexpr int N = 11;
  const auto roll = [&](int first, int count) {
    ContactBatch batch(host().registry(), r.model, r.world, {.threads = 1, .step = r.options});
    std::vector<double> q(r.q.size() * count), v(std::size_t(r.model->nv()) * count);
    for (int k = 0; k < count; ++k) {
      const std::vector<double> one = thrown(*r.model, first + k);
      for (std::size_t i = 0; i < r.q.size(); ++i) q[i * count + k] = r.q[i];
      for (std::size_t i = 0; i < one.size(); ++i) v[i * count + k] = one[i];
    }
    batch.start(count, q, v);
    for (int step = 0; step < 100; ++step) batch.step(2e-3);
    std::vector<std::vector<double>> out(count);
    const auto now = batch.sample();
    for (int k = 0; k < count; ++k) {
      EXPECT_EQ(batch.status()[k], RobotStatus::ok);
      for (int i = 0; i < r.model->nv(); ++i) out[k].push_back(now.v[std::size_t(i) * count + k]);
    }
    return out;
  };
  const auto together = roll(0, N);
  for (int k = 0; k < N; ++k) {
    SCOPED_TRACE(k);
    EXPECT_EQ(roll(k, 1).front(), together[k]);  // bit by bit
    ContactSimulation s(host().registry(), r.model, r.world, r.options);
    s.start(r.q, thrown(*r.model, k));
    for (int step = 0; step < 100; ++step) ASSERT_EQ(s.step(2e-3), StepStatus::ok);
    // Both are right to 1e-6 m/s a step, which kicks of the legs multiply.
    EXPECT_LE(largest_difference(s.v(), together[k]), 1e-3);
  }
}

TEST(TurningFrictionTest, WhatHasNoWayOrDerivativeIsRefusedByName) {
  Robot r = quadruped();
  ContactSimulation s(host().registry(), r.model, r.world, r.options);
  EXPECT_EQ(s.plan().newton_way(), NewtonWay::dense);
  s.start(r.q, thrown(*r.model, 0));
  EXPECT_THROW(s.derivatives(h), Unsupported);
  r.options.newton = NewtonWay::rate_space;
  EXPECT_THROW(ContactSimulation(host().registry(), r.model, r.world, r.options), Unsupported);
  EXPECT_THROW(simulate(ball_on_plane({.torsional_friction = -1.0})), InvalidModel);
  EXPECT_THROW(simulate(ball_on_plane({.rolling_friction = std::nan("")})), InvalidModel);
}

TEST(TurningFrictionTest, GroundFilesSayLengthsAndVelocities) {
  const Boxed b = ball_on_plane({});
  contact::WorldReport report;
  const World world =
      contact::read_ground(*b.model,
                           R"({"torsional_friction": 0.01, "plane": {"velocity": [1, 2, 0]},
          "shapes": [{"link": "solid", "sphere": 0.1, "rolling_friction": 0.002,
                      "velocity": [0, 0, 3]}]})",
                           "file", report);
  ASSERT_EQ(world.shapes.size(), 2u);
  EXPECT_EQ(world.shapes[0].velocity.y, 2.0);
  EXPECT_EQ(world.shapes[1].velocity.z, 3.0);
  EXPECT_EQ(world.shapes[0].surface.rolling_friction, 0.0);
  const Surface pair = contact::pair_surface(world.shapes[0].surface, world.shapes[1].surface);
  EXPECT_EQ(pair.torsional_friction, 0.01);
  EXPECT_EQ(pair.rolling_friction, 0.002);
  const auto refused = [&](const char* text) {
    EXPECT_THROW((void)contact::read_ground(*b.model, text, "file", report), Error) << text;
  };
  refused(R"({"torsional_friction": "much"})");
  refused(R"({"plane": {"velocity": 1}})");
  refused(R"({"rolling": 0.002})");
}

TEST(RunningSurfaceTest, BeltTakesABoxAlongByFriction) {
  constexpr double mu = 0.5, belt = 1.0;
  Boxed b = box_on_plane({0.2, 0.2, 0.05}, 1.0, {.friction = mu});
  b.world.shapes[0].velocity = {0, belt, 0.3};  // across the ground: of no effect
  auto s = simulate(b, exact());
  s.start(at({0, 0, 0.05}), std::vector<double>(6, 0.0));
  for (int k = 1; k <= 400; ++k) {
    ASSERT_EQ(s.step(h), StepStatus::ok);
    EXPECT_NEAR(s.v()[4], std::min(belt, k * h * mu * g), 1e-9);
    EXPECT_NEAR(s.q()[2], 0.05, 1e-9);
  }
  EXPECT_THROW(s.derivatives(h), Unsupported);
}

TEST(RunningSurfaceTest, TrackOnALinkDrivesItTheOtherWay) {
  constexpr double mu = 0.4, track = 0.8;
  Boxed b = box_on_plane({0.2, 0.2, 0.05}, 1.0, {.friction = mu});
  b.world.shapes[1].velocity = {track, 0, 0};
  auto s = simulate(b, exact());
  const double turned = 0.7;  // about the vertical
  std::vector<double> q = at({0, 0, 0.05});
  q[5] = std::sin(turned / 2), q[6] = std::cos(turned / 2);
  s.start(q, std::vector<double>(6, 0.0));
  for (int k = 1; k <= 300; ++k) {
    ASSERT_EQ(s.step(h), StepStatus::ok);
    EXPECT_NEAR(s.v()[3], -std::min(track, k * h * mu * g), 1e-8);
    EXPECT_NEAR(s.v()[4], 0.0, 1e-8);
  }
}

TEST(RunningSurfaceTest, BallOnABeltRollsAgainstIt) {
  // Of a ball that is put on a belt at rest: v = 2/7 of the belt once it rolls.
  Boxed b = ball_on_plane({.friction = 0.3});
  b.world.shapes[0].velocity = {1.0, 0, 0};
  auto s = simulate(b, exact());
  s.start(at({0, 0, radius}), std::vector<double>(6, 0.0));
  for (int k = 1; k <= 200; ++k) ASSERT_EQ(s.step(h), StepStatus::ok);
  const Twist now = world_twist(s);
  EXPECT_NEAR(now.v.x, 2.0 / 7.0, 1e-9);
  EXPECT_NEAR(now.v.x - radius * now.w.y, 1.0, 1e-9);
}

}  // namespace
}  // namespace espalier::test::turning_friction_test
