#include <cmath>

#include "tests/contact/robots.hpp"
#include "tests/support/four_bar.hpp"

/// Worked examples of theory/contact 11; steps of 1 ms, 1 kg where not said.

namespace espalier::test::worked_examples_test {
namespace {

double kinetic(ContactSimulation& s) { return s.sample().kinetic; }

TEST(ContactExampleTest, SlidingBoxStopsWhereFrictionStopsIt) {
  StepOptions options;
  options.tolerance = 1e-12;
  auto s = simulate(box_on_plane({0.2, 0.2, 0.05}, 1.0, {.friction = 0.5}), options);
  s.start(at({0, 0, 0.05}), std::vector<double>{0, 0, 0, 2, 0, 0});
  double energy = s.sample().energy();
  for (int k = 1; k <= 500; ++k) {
    ASSERT_EQ(s.step(h), StepStatus::ok);
    EXPECT_NEAR(s.v()[3], std::max(0.0, 2.0 - 4.905e-3 * k), 1e-9);
    const double now = s.sample().energy();
    EXPECT_LE(now, energy + 1e-12);  // rounding of 2 J
    energy = now;
  }
  EXPECT_NEAR(s.q()[0], 0.40674766, 1e-9);
  EXPECT_NEAR(s.q()[2], 0.05, 1e-9);  // neither sinks nor lifts off
}

TEST(ContactExampleTest, BoxOnAnInclineSticksBelowTheFrictionAngleAndSlidesAbove) {
  const auto rate_after = [](double slope) {
    StepOptions options;
    options.tolerance = 1e-13;
    auto s = simulate(box_on_plane({0.2, 0.2, 0.05}, 1.0, {.friction = 0.5}), options);
    const double angle = std::atan(slope);
    s.set_gravity({g * std::sin(angle), 0, -g * std::cos(angle)});
    s.start(at({0, 0, 0.05}), std::vector<double>(6, 0.0));
    for (int k = 0; k < 300; ++k) EXPECT_EQ(s.step(h), StepStatus::ok);
    return s.v()[3];
  };
  EXPECT_NEAR(rate_after(0.499), 0.0, 1e-12);
  EXPECT_NEAR(rate_after(0.501), 2.631245883e-3, 1e-9);
  EXPECT_NEAR(rate_after(0.7), 0.4821999084, 1e-9);
}

TEST(ContactExampleTest, TallBoxTipsBeyondItsEdge) {
  const auto angular_acceleration = [](double slope) {
    StepOptions options;
    options.tolerance = 1e-13;
    auto s = simulate(box_on_plane({0.1, 0.1, 0.3}, 1.0, {.friction = 1.0}), options);
    const double angle = std::atan(slope);
    s.set_gravity({g * std::sin(angle), 0, -g * std::cos(angle)});
    s.start(at({0, 0, 0.3}), std::vector<double>(6, 0.0));
    EXPECT_EQ(s.step(h), StepStatus::ok);
    return s.v()[1] / h;
  };
  EXPECT_NEAR(angular_acceleration(0.33), 0.0, 1e-9);
  EXPECT_NEAR(angular_acceleration(0.336), 0.05579470260, 1e-8);  // 1e-13 / h and a factor 100
  EXPECT_NEAR(angular_acceleration(0.5), 3.290374029, 1e-8);
}

TEST(ContactExampleTest, SlidingSphereRollsAtFiveSevenths) {
  Description robot = ground();
  add_flying(robot, "ball", 1.0, {0.004, 0.004, 0.004});
  Boxed b{host().compile(robot), {}};
  PlacedShape ball;
  ball.link = "ball", ball.shape = Shape::sphere(0.1), ball.surface.friction = 0.3;
  b.world.shapes = {World::ground({.friction = 0.3}), ball};
  StepOptions options;
  options.tolerance = 1e-14;
  auto s = simulate(b, options);
  s.start(at({0, 0, 0.1}), std::vector<double>{0, 0, 0, 1, 0, 0});
  int rolls = 0;
  Vec3<double> velocity;
  for (int k = 1; k <= 200; ++k) {
    ASSERT_EQ(s.step(h), StepStatus::ok);
    // Rates are in the ball's axes, which turn with it.
    const double vx = std::hypot(s.v()[3], s.v()[5]);
    if (rolls == 0 && std::abs(vx - 0.1 * std::abs(s.v()[1])) < 1e-12) rolls = k;
    velocity.x = vx;
  }
  EXPECT_EQ(rolls, 98);
  EXPECT_NEAR(velocity.x, 5.0 / 7.0, 1e-12);
}

// A steep cone is close to every direction: what approaches is looked at by itself.
TEST(ContactExampleTest, FrictionOfAnySizeRollsAndCarries) {
  for (const double friction : {1e2, 1e4, 1e6, 1e8, 1e10}) {
    SCOPED_TRACE(friction);
    Description robot = ground();
    add_flying(robot, "ball", 1.0, {0.004, 0.004, 0.004});
    Boxed b{host().compile(robot), {}};
    PlacedShape ball;
    ball.link = "ball", ball.shape = Shape::sphere(0.1), ball.surface.friction = friction;
    b.world.shapes = {World::ground({.friction = friction}), ball};
    auto s = simulate(b, StepOptions());
    s.start(at({0, 0, 0.1}), std::vector<double>{0, 0, 0, 1, 0, -1});
    for (int k = 0; k < 300; ++k) ASSERT_EQ(s.step(h), StepStatus::ok);
    EXPECT_NEAR(s.q()[2], 0.1, 1e-6);
    EXPECT_NEAR(std::hypot(s.v()[3], s.v()[5]), 5.0 / 7.0, 1e-5);
  }
}

TEST(ContactExampleTest, BouncingBallLosesThreeQuartersOfItsHeight) {
  Description robot = ground();
  add_flying(robot, "ball", 1.0, {0.004, 0.004, 0.004});
  Boxed b{host().compile(robot), {}};
  PlacedShape ball;
  ball.link = "ball", ball.shape = Shape::sphere(0.1), ball.surface.restitution = 0.5;
  b.world.shapes = {World::ground(), ball};
  auto s = simulate(b);
  s.start(at({0, 0, 1.1}), std::vector<double>(6, 0.0));
  std::vector<double> peaks;
  double last = 1.1, energy = s.sample().energy();
  bool rising = false;
  for (int k = 0; k < 2000 && peaks.size() < 3; ++k) {
    ASSERT_EQ(s.step(h), StepStatus::ok);
    const double z = s.q()[2];
    if (rising && z < last) peaks.push_back(last - 0.1);
    rising = z > last;
    last = z;
    // Semi-implicit Euler falls (g h)^2 / 2 short a step; only an impact changes more.
    const double now = s.sample().energy();
    EXPECT_LE(now, energy + 1e-12);
    energy = now;
  }
  ASSERT_EQ(peaks.size(), 3u);
  const double tolerance = h * std::sqrt(2.0 * g);
  EXPECT_NEAR(peaks[0], 0.25, tolerance);
  EXPECT_NEAR(peaks[1], 0.0625, tolerance);
  EXPECT_NEAR(peaks[2], 0.015625, tolerance);
}

/// A rod of 1 m leaning by 1 rad, its tip sliding on ground so rough that no finite force would do.
TEST(ContactExampleTest, PainleveRodIsStoppedByAnImpulseWithoutCollision) {
  const double lean = 1.0, mu = 1.5 * (1.0 + 3.0 * std::pow(std::cos(lean), 2)) /
                                (3.0 * std::sin(lean) * std::cos(lean));
  const auto first_impulse = [&](double speed, ContactSimulation& s) {
    // The rod's x axis points down to the tip.
    const double c = std::cos(lean / 2), z = std::sin(lean / 2);
    s.start(std::vector<double>{-0.5 * std::cos(lean), 0, 0.5 * std::sin(lean), 0, z, 0, c},
            std::vector<double>{0, 0, 0, speed * std::cos(lean), 0, speed * std::sin(lean)});
    EXPECT_EQ(s.step(h), StepStatus::ok);
    return h * force_sum(s).z;
  };
  Description robot = ground();
  add_flying(robot, "rod", 1.0, {1e-3, 1.0 / 12.0, 1.0 / 12.0});
  Boxed b{host().compile(robot), {}};
  PlacedShape tip;
  tip.link = "rod", tip.shape = Shape::hull({{0.5, 0, 0}}), tip.surface.friction = mu;
  b.world.shapes = {World::ground({.friction = mu}), tip};
  StepOptions options;
  options.tolerance = 1e-12;
  auto s = simulate(b, options);
  EXPECT_NEAR(first_impulse(1.0, s), 0.34865, 5e-6);
  ASSERT_EQ(s.contacts().size(), 1u);
  const Vec3<double> force = s.contacts()[0].force;
  EXPECT_LT(std::hypot(force.x, force.y), mu * force.z * (1.0 - 1e-6));  // sticks
  EXPECT_NEAR(first_impulse(-1.0, s), 0.00209, 5e-6);
}

/// Cubes of 0.2 m on one another, on balls of 10 mm at their lower corners.
struct Stack {
  Boxed b;
  std::vector<double> q, masses;
};
Stack stack(const std::vector<double>& masses) {
  Stack out;
  out.masses = masses;
  Description robot = ground();
  const Vec3<double> half{0.1, 0.1, 0.1};
  out.b.world.shapes = {World::ground({.friction = 0.5})};
  out.b.world.self_collision = true;
  for (std::size_t k = 0; k < masses.size(); ++k) {
    const std::string name = "cube" + std::to_string(k);
    add_flying(robot, name, masses[k], box_inertia(masses[k], half));
    PlacedShape top;
    top.link = name, top.shape = Shape::box({0.1, 0.1, 0.01}), top.pose.xyz = {0, 0, 0.09};
    top.surface.friction = 0.5, top.name = name + " top";
    top.type = 0, top.affinity = 2;  // balls alone stand on it
    if (k + 1 < masses.size()) out.b.world.shapes.push_back(top);
    for (int corner = 0; corner < 4; ++corner) {
      PlacedShape ball;
      ball.link = name, ball.shape = Shape::sphere(0.01), ball.surface.friction = 0.5;
      ball.type = 3, ball.affinity = 0;
      ball.pose.xyz = {(corner & 1) != 0 ? 0.09 : -0.09, (corner & 2) != 0 ? 0.09 : -0.09, -0.09};
      ball.name = name + " ball " + std::to_string(corner);
      out.b.world.shapes.push_back(ball);
    }
    for (const double x : at({0, 0, 0.1 + 0.2 * static_cast<double>(k)})) out.q.push_back(x);
  }
  // Cubes touch their neighbours alone; balls do not see each other.
  for (std::size_t i = 0; i < masses.size(); ++i) {
    for (std::size_t j = i + 2; j < masses.size(); ++j) {
      out.b.world.excluded.emplace_back("cube" + std::to_string(i), "cube" + std::to_string(j));
    }
  }
  out.b.model = host().compile(robot);
  return out;
}

void expect_standing(const std::vector<double>& masses, double force_tolerance,
                     double rate_tolerance) {
  const Stack st = stack(masses);
  StepOptions options;
  options.tolerance = 1e-12;
  auto s = simulate(st.b, options);
  s.start(st.q, std::vector<double>(6 * masses.size(), 0.0));
  // Impulses of 1e4 N s: the tolerance in m/s of the lightest cube is near rounding.
  for (int k = 0; k < 100; ++k) (void)s.step(h);
  for (const double rate : s.v()) EXPECT_NEAR(rate, 0.0, rate_tolerance);
  double above = 0.0;
  for (std::size_t k = masses.size(); k-- > 0;) {
    above += masses[k];
    const std::string name = "cube" + std::to_string(k) + " ball";
    double sum = 0.0;
    for (const auto& c : s.contacts()) {
      if (c.first.substr(0, name.size()) == name) sum += c.force.z;
      if (c.second.substr(0, name.size()) == name) sum -= c.force.z;
    }
    EXPECT_NEAR(sum / (above * g), 1.0, force_tolerance) << name;
  }
}

TEST(ContactExampleTest, HeavyCubeStandsOnALightOne) { expect_standing({1, 1000}, 1e-8, 1e-9); }
TEST(ContactExampleTest, StackOfLightAndHeavyCubesStands) {
  expect_standing({1, 1000, 1, 1000}, 1e-7, 1e-7);
}
TEST(ContactExampleTest, TenCubesStand) {
  expect_standing(std::vector<double>(10, 1.0), 1e-7, 1e-7);
}

TEST(ContactExampleTest, RestingBoxIsCarriedWithoutMoment) {
  StepOptions options;
  options.tolerance = 1e-12;
  auto s = simulate(box_on_plane({0.2, 0.15, 0.1}, 5.0, {}), options);
  s.start(at({0, 0, 0.1}), std::vector<double>(6, 0.0));
  for (int k = 0; k < 10; ++k) ASSERT_EQ(s.step(h), StepStatus::ok);
  Vec3<double> force{0, 0, 0}, moment{0, 0, 0};
  for (const auto& c : s.contacts()) {
    force += c.force;
    moment += cross(c.point - Vec3<double>{0, 0, 0.1}, c.force);
  }
  EXPECT_NEAR(force.z, 49.05, 1e-8);  // 5 kg times 1e-12 m/s over h
  EXPECT_NEAR(std::sqrt(dot(moment, moment)), 0.0, 1e-8);
  EXPECT_NEAR(std::hypot(force.x, force.y), 0.0, 1e-8);
}

TEST(ContactExampleTest, DepthIsCuredAtPositionsWithoutEnergy) {
  StepOptions options;
  options.tolerance = 1e-12;
  auto s = simulate(box_on_plane({0.2, 0.2, 0.1}, 1.0, {}), options);
  s.start(at({0, 0, 0.095}), std::vector<double>(6, 0.0));
  for (int k = 1; k <= 50; ++k) {
    ASSERT_EQ(s.step(h), StepStatus::ok);
    EXPECT_LE(kinetic(s), 1e-20);
    // A fifth of what is beyond the slop is left away each time.
    const double depth = 1e-5 + (5e-3 - 1e-5) * std::pow(0.8, k);
    EXPECT_NEAR(0.1 - s.q()[2], depth, 1e-8);
  }
  EXPECT_NEAR(0.1 - s.q()[2], 1.0e-5, 1e-7);
}

TEST(ContactExampleTest, CoulombFrictionOfAnyJointHoldsAFourBar) {
  for (const std::string joint : {"crank", "coupler", "rocker"}) {
    Description robot = four_bar();
    robot.gravity = {0, 0, 0};
    for (JointDescription& j : robot.joints) {
      if (j.name == joint) j.passive.friction = 1.3;
    }
    const ModelPtr model = host().compile(robot);
    std::vector<double> q(model->nq());
    model->neutral(q.data());
    q[model->joint("crank").q] += 0.7;
    std::vector<double> neutral(model->nq());
    model->neutral(neutral.data());
    ASSERT_EQ(close(*model, neutral.data(), q.data()).verdict, Closure::Verdict::closed);
    ASSERT_EQ(model->nv(), 1);
    // G of the joint, and M.
    SpanningMotion<double> motion(*model);
    const double one = 1.0;
    motion.update(q.data(), &one);
    const double G = std::abs(motion.qd()[model->joint(joint).v]);
    double M = 0.0;
    host().create<MassMatrix<double>>("dense", model)->evaluate(q, Out<double>(&M, 1));

    StepOptions options;
    options.tolerance = 1e-15;
    ContactSimulation s(host().registry(), model, {}, options);
    const std::vector<double> rest{0.0};
    const std::vector<double> below{0.999 * G * 1.3}, above{1.001 * G * 1.3};
    s.set_forces(below);
    s.start(q, rest);
    (void)s.step(h);
    EXPECT_NEAR(s.v()[0], 0.0, 1e-15) << joint;
    s.set_forces(above);
    s.start(q, rest);
    (void)s.step(h);
    EXPECT_NEAR(s.v()[0] / (h * (above[0] - G * 1.3) / M), 1.0, 1e-9) << joint;
    EXPECT_NEAR(std::abs(s.friction_impulse(joint)), h * 1.3, 1e-15) << joint;
  }
}

Description wheel(double inertia) {
  Description robot = ground();
  add_link(robot, "wheel", 1.0, {0, 0, 0}, {inertia, 0, 0, inertia, 0, inertia});
  add_joint(robot, "axle", "revolute", "base", "wheel", {0, 0, 1});
  return robot;
}

TEST(ContactExampleTest, DryFrictionStopsAWheelInItsStep) {
  Description robot = wheel(0.5);
  robot.joints[0].passive.friction = 0.7;
  ContactSimulation s(host().registry(), host().compile(robot), {});
  s.start(std::vector<double>{0.0}, std::vector<double>{3.0});
  int stops = 0;
  for (int k = 1; k <= 2200; ++k) {
    ASSERT_EQ(s.step(h), StepStatus::ok);
    if (stops == 0 && std::abs(s.v()[0]) < 1e-12) stops = k;
  }
  EXPECT_EQ(stops, 2143);
  EXPECT_NEAR(s.v()[0], 0.0, 1e-12);
}

TEST(ContactExampleTest, ImplicitDryFrictionCreepsBelowItsRateAndNeverOvershoots) {
  Description robot = wheel(0.5);
  robot.joints[0].passive.friction = 0.7;
  StepOptions options;
  options.friction = StepOptions::Friction::implicit;
  ContactSimulation s(host().registry(), host().compile(robot), {}, options);
  s.start(std::vector<double>{0.0}, std::vector<double>{3.0});
  for (int k = 1; k <= 2200; ++k) {
    (void)s.step(h);
    EXPECT_GE(s.v()[0], 0.0);
  }
  EXPECT_LE(s.v()[0], 1e-3);
  // Under a third of the breakaway torque: a third of the rate.
  s.set_forces(std::vector<double>{0.7 / 3.0});
  for (int k = 0; k < 100; ++k) (void)s.step(h);
  EXPECT_NEAR(s.v()[0], 1e-3 / 3.0, 1e-9);
}

TEST(ContactExampleTest, MotorOnItsTorqueSpeedLineIsStableForEveryStep) {
  StepOptions options;
  options.drives = {{.joint = "axle", .stall = 20.0, .no_load_rate = 30.0}};
  const ModelPtr model = host().compile(wheel(0.02));
  for (const double step : {1e-5, 1e-3, 1e-2, 0.1, 1.0}) {
    ContactSimulation s(host().registry(), model, {}, options);
    s.set_target(0, 0.0, 0.0, 1e6);  // all that it can
    s.start(std::vector<double>{0.0}, std::vector<double>{0.0});
    double t = 0.0, worst = 0.0;
    for (int k = 0; k < 200; ++k) {
      (void)s.step(step);
      t += step;
      EXPECT_LE(s.v()[0], 30.0 * (1.0 + 1e-12));
      EXPECT_GE(s.v()[0], 0.0);
      const double exact = 30.0 * (1.0 - std::exp(-t * 20.0 / (30.0 * 0.02)));
      worst = std::max(worst, std::abs(s.v()[0] - exact));
    }
    // Implicit Euler: half of h over the time constant 0.03 s of the change, 11 rad/s at most.
    if (step <= 1e-3) {
      EXPECT_LE(worst, 30.0 * 0.25 * step / 0.03);
    }
  }
}

TEST(ContactExampleTest, LimitsStopJointsAtThem) {
  Description robot = wheel(0.02);
  robot.joints[0].limits.lower = -0.5, robot.joints[0].limits.upper = 0.5;
  ContactSimulation s(host().registry(), host().compile(robot), {});
  s.set_forces(std::vector<double>{0.3});
  s.start(std::vector<double>{0.0}, std::vector<double>{2.0});
  for (int k = 0; k < 1000; ++k) {
    ASSERT_EQ(s.step(h), StepStatus::ok);
    EXPECT_LE(s.q()[0], 0.5 + 1e-9);  // 1e-6 rad/s for 1 ms
  }
  EXPECT_NEAR(s.q()[0], 0.5, 1e-8);
  EXPECT_NEAR(s.limit_impulse("axle"), -0.3 * h, 1e-7);
}

// Explicit PD would need h kd / I < 2; here it is 50.
TEST(ContactExampleTest, StiffDrivesAreStable) {
  StepOptions options;
  options.drives = {{.joint = "axle", .kp = 1000.0, .kd = 10.0}};
  ContactSimulation s(host().registry(), host().compile(wheel(2e-4)), {}, options);
  s.set_target(0, 0.4);
  s.start(std::vector<double>{0.0}, std::vector<double>{0.0});
  for (int k = 0; k < 500; ++k) (void)s.step(h);
  EXPECT_NEAR(s.q()[0], 0.4, 1e-6);
}

TEST(ContactExampleTest, HeldLinkMovesAtItsRate) {
  Description robot = ground();
  add_flying(robot, "body", 2.0, {0.1, 0.2, 0.3});
  StepOptions options;
  options.held = {EndEffector::weld("body")};
  options.tolerance = 1e-10;
  ContactSimulation s(host().registry(), host().compile(robot), {}, options);
  s.set_held_rates(std::vector<double>{0, 0, 0, 0.1, 0, 0.2});
  s.start(at({0, 0, 0}), std::vector<double>{1, 2, 3, 4, 5, 6});
  for (int k = 0; k < 10; ++k) ASSERT_EQ(s.step(h), StepStatus::ok);
  const double wanted[6] = {0, 0, 0, 0.1, 0, 0.2};
  for (int k = 0; k < 6; ++k) EXPECT_NEAR(s.v()[k], wanted[k], 1e-9);
  EXPECT_NEAR(s.held_impulses()[5], 2.0 * g * h, 1e-8);  // carries the weight
}

// Soft ground by compliance: the spring's depth at rest.
TEST(ContactExampleTest, CompliantGroundYieldsByItsStiffness) {
  const Surface soft{.friction = 0.7, .stiffness = 5000.0, .damping = 50.0};
  auto s = simulate(box_on_plane({0.2, 0.2, 0.1}, 4.0, soft));
  s.start(at({0, 0, 0.1}), std::vector<double>(6, 0.0));
  for (int k = 0; k < 3000; ++k) (void)s.step(h);
  // Four corners of springs of 2500 N/m each (both surfaces in series).
  EXPECT_NEAR(0.1 - s.q()[2], 4.0 * g / (4.0 * 2500.0), 1e-6);
}

/// An arm's base carries shapes that its first link overlaps; what is called "world", and terrain,
/// are ground that every link touches.
TEST(ContactExampleTest, BasesDoNotTouchTheLinksThatAreJoinedToThem) {
  for (const char* base : {"base", "world"}) {
    Description robot = ground();
    robot.links.front().name = base;
    add_rod(robot, "arm", 1.0);
    add_joint(robot, "hinge", "revolute", base, "arm", {0, 1, 0});
    Boxed b{host().compile(robot), {}};
    PlacedShape still, tip;
    still.link = base, still.shape = Shape::box({0.1, 0.1, 0.1});
    tip.link = "arm", tip.shape = Shape::sphere(0.05), tip.pose.xyz = {0.08, 0, 0.11};
    const auto swung = [&](std::vector<PlacedShape> shapes) {
      b.world.shapes = std::move(shapes);
      auto s = simulate(b, StepOptions());
      s.start(std::vector<double>{0.3}, std::vector<double>{0.0});
      for (int k = 0; k < 50; ++k) (void)s.step(h);
      return s.q()[0];
    };
    EXPECT_EQ(swung({still, tip}) == swung({tip}), std::string(base) == "base");
  }
}

TEST(ContactExampleTest, UnusableWorldsAreRefused) {
  EXPECT_THROW(simulate(box_on_plane({0.1, 0.1, 0.1}, 1.0, {.friction = -1.0})), InvalidModel);
  EXPECT_THROW(simulate(box_on_plane({0.1, 0.1, 0.1}, 1.0, {.restitution = 2.0})), InvalidModel);
  Boxed b = box_on_plane({0.1, 0.1, 0.1}, 1.0, {});
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (Vec3<double> Pose::*part : {&Pose::xyz, &Pose::rpy}) {  // would touch nothing
    Boxed nowhere = b;
    (nowhere.world.shapes[1].pose.*part).z = nan;
    EXPECT_THROW(simulate(nowhere), InvalidModel);
  }
  auto s = simulate(b);
  EXPECT_THROW(s.start(at({0, 0, 1}), std::vector<double>(6, 0.0), nan), InvalidModel);
  b.world.shapes[1].link = "boxx";
  EXPECT_THROW(simulate(b), UnknownName);
  Description two = ground();
  add_flying(two, "a", 1.0, {1, 1, 1});
  add_flying(two, "b", 1.0, {1, 1, 1});
  Boxed pair{host().compile(two), {}};
  PlacedShape box;
  box.shape = Shape::box({0.1, 0.1, 0.1});
  box.link = "a";
  pair.world.shapes = {box, box};
  pair.world.shapes[1].link = "b";
  EXPECT_NO_THROW(simulate(pair));  // links of a robot pass through each other unless asked
  pair.world.self_collision = true;
  try {
    ContactSimulation(host().registry(), pair.model, pair.world, {}, {.collision = "closed-form"});
    ADD_FAILURE() << "boxes on boxes are accepted";
  } catch (const Unsupported& e) {
    EXPECT_NE(std::string(e.what()).find("'b' (box) and 'a' (box)"), std::string::npos) << e.what();
  }
}

}  // namespace
}  // namespace espalier::test::worked_examples_test
