#include <gtest/gtest.h>

#include <cmath>

#include "espalier/kernel/model/loops/loop_projector.hpp"
#include "espalier/kernel/model/motion/spanning_motion.hpp"
#include "tests/contact/robots.hpp"
#include "tests/support/four_bar.hpp"

/// Derivatives of a step with contact against central differences of the step itself.

namespace espalier::test::step_derivatives_test {
namespace {

using contact::Plan;
using contact::StepDerivatives;
using contact::StepNames;
using contact::StepState;
using Verdict = StepDerivatives::Verdict;

/// A step from a given state, solved far below its tolerance.
class Stepper {
 public:
  Stepper(const ModelPtr& model, const World& world, const StepOptions& options)
      : plan_(contact::make_plan(host().registry(), model, world, options, {})),
        step_(contact::make_step<double>(host().registry(), plan_, {})),
        derivatives_(contact::make_step_derivatives(host().registry(), plan_, {})),
        motion_(*model),
        projector_(model, {.tolerance = 1e-14}),
        way_(model->spanning_nv()) {
    step_->resize(state);
  }
  const Model& model() const { return plan_->model(); }
  const Plan& plan() const { return *plan_; }

  /// q moved by d of the independent coordinates, loops closed.
  std::vector<double> moved(const std::vector<double>& q, const std::vector<double>& d) {
    std::vector<double> out(q);
    motion_.update(q.data(), nullptr);
    motion_.expand(d.data(), way_.data());
    model().integrate(q.data(), way_.data(), out.data());
    model().apply_couplings(out.data());
    projector_.restart();
    projector_.project(out.data());
    return out;
  }
  /// Independent coordinates of the way from one position to another.
  std::vector<double> way(const std::vector<double>& from, const std::vector<double>& to) {
    model().difference(from.data(), to.data(), way_.data());
    std::vector<double> out;
    for (const int rate : model().independent_rates()) out.push_back(way_[rate]);
    return out;
  }
  /// @return q+, v+
  std::pair<std::vector<double>, std::vector<double>> after(const StepState<double>& s, double dt) {
    StepState<double> now = s;
    step_->prepare(now, dt);
    step_->solve_impulses(now, {.tolerance = 1e-13});
    residual = std::max(residual, now.report.residual);
    step_->respond(now, dt);
    return {now.q, now.v};
  }
  StepDerivatives differentiate(double dt) {
    StepDerivatives out;
    derivatives_->differentiate(state, dt, out);
    return out;
  }

  StepState<double> state;
  double residual = 0.0;  ///< largest of all steps

 private:
  std::shared_ptr<const Plan> plan_;
  std::unique_ptr<contact::ContactStep<double>> step_;
  std::unique_ptr<contact::ContactStepDerivatives<double>> derivatives_;
  SpanningMotion<double> motion_;
  LoopProjector projector_;
  std::vector<double> way_;
};

/// Largest difference of the derivatives from central ones, over the largest entry of the same
/// matrix or 1.
double largest_error(Stepper& s, const StepDerivatives& d, double dt) {
  const int n = s.model().nv();
  constexpr double e = 1e-6;
  double worst = 0.0;
  const auto compare = [&](const std::vector<double>& dq, const std::vector<double>& dv, int width,
                           auto&& vary) {
    double scale_q = 1.0, scale_v = 1.0;
    for (const double x : dq) scale_q = std::max(scale_q, std::abs(x));
    for (const double x : dv) scale_v = std::max(scale_v, std::abs(x));
    for (int k = 0; k < width; ++k) {
      StepState<double> up = s.state, down = s.state;
      vary(up, k, e), vary(down, k, -e);
      const auto [q1, v1] = s.after(up, dt);
      const auto [q0, v0] = s.after(down, dt);
      const std::vector<double> way = s.way(q0, q1);
      for (int i = 0; i < n; ++i) {
        const double by_q = way[i] / (2.0 * e), by_v = (v1[i] - v0[i]) / (2.0 * e);
        worst = std::max(worst, std::abs(by_q - dq[i * width + k]) / scale_q);
        worst = std::max(worst, std::abs(by_v - dv[i * width + k]) / scale_v);
      }
    }
  };
  compare(d.dq_dq, d.dv_dq, n, [&](StepState<double>& x, int k, double by) {
    std::vector<double> along(n, 0.0);
    along[k] = by;
    x.q = s.moved(s.state.q, along);
  });
  compare(d.dq_dv, d.dv_dv, n, [](StepState<double>& x, int k, double by) { x.v[k] += by; });
  compare(d.dq_dtau, d.dv_dtau, n, [](StepState<double>& x, int k, double by) { x.tau[k] += by; });
  compare(d.dq_dfriction, d.dv_dfriction, 1,
          [](StepState<double>& x, int /*k*/, double by) { x.friction += by; });
  return worst;
}

/// What differences of 1e-6 of a step that is solved to 1e-13 m/s are good for: their rounding is
/// 1e-7, and their curvature of stiff drives and of phi / h no more than that of the largest entry.
constexpr double difference_error = 2e-6;

struct Seen {
  int smooth = 0, other = 0;
  double worst = 0.0;
};
/// Compares the state of a stepper if no mode is within reach of the differences.
void compare(Stepper& s, double dt, Seen& seen) {
  const StepDerivatives d = s.differentiate(dt);
  // Differences of 1e-6 in q change rates by 1e-6 / dt: a tenth of the margin, since slips turn
  // more sharply the slower they are.
  if (d.verdict != Verdict::smooth || d.margin < 1e-5 / dt) {
    ++seen.other;
    return;
  }
  ++seen.smooth;
  s.residual = 0.0;
  const double error = largest_error(s, d, dt);
  // A step that is not solved as exactly says nothing.
  if (s.residual > 1e-12) {
    --seen.smooth;
    return;
  }
  seen.worst = std::max(seen.worst, error);
  EXPECT_LE(error, difference_error) << d.nearest << " " << d.margin;
}

std::vector<double> random_vector(Rng& random, int n, double size) {
  std::vector<double> out(n);
  for (double& x : out) x = random.uniform(-size, size);
  return out;
}

TEST(ContactDerivativesTest, FreeFlightIsThatOfTheMassMatrix) {
  Boxed b = box_on_plane({0.1, 0.1, 0.1}, 2.0, {});
  Stepper s(b.model, b.world, {});
  s.state.q = at({0, 0, 3});
  s.state.tau = {0, 0, 0, 0, 0, 2.0 * g};  // held up: at rest no rate turns with the axes
  const StepDerivatives d = s.differentiate(h);
  EXPECT_EQ(d.verdict, Verdict::smooth);
  for (int i = 0; i < 6; ++i) {
    for (int j = 0; j < 6; ++j) {
      const double inverse = i != j ? 0.0 : i < 3 ? 1.0 / (2.0 / 3.0 * 0.02) : 0.5;
      EXPECT_NEAR(d.dv_dtau[6 * i + j], h * inverse, 1e-15 / h);
      EXPECT_NEAR(d.dq_dtau[6 * i + j], h * h * inverse, 1e-15);
    }
  }
  EXPECT_EQ(d.margin, HUGE_VAL);
}

TEST(ContactDerivativesTest, SlidingBlockLosesGravityTimesFriction) {
  Boxed b = box_on_plane({0.2, 0.2, 0.05}, 1.0, {.friction = 0.5});
  Stepper s(b.model, b.world, {});
  s.state.q = at({0, 0, 0.05 - 5e-6});  // within the slop
  s.state.v = {0, 0, 0, 2, 0, 0};
  const StepDerivatives d = s.differentiate(h);
  EXPECT_NEAR(d.dv_dfriction[3], -0.5 * g * h, 1e-12);
  EXPECT_NEAR(d.dv_dv[6 * 3 + 3], 1.0, 1e-12);
  // Across the slip friction turns with it: dv_y+ = (1 - mu g h / |v|) dv_y, v the one after.
  const double after = 2.0 - 0.5 * g * h;
  EXPECT_NEAR(d.dv_dv[6 * 4 + 4], 1.0 / (1.0 + 0.5 * g * h / after), 1e-9);
  EXPECT_NEAR(d.dv_dv[6 * 5 + 5], 0.0, 1e-12);        // it stays on the ground
  EXPECT_NEAR(d.dv_dtau[6 * 3 + 5], 0.5 * h, 1e-12);  // lifted, it rubs less
}

/// Flying bodies of one kind.
void bodies(const Shape& shape, const Surface& surface, const PlacedShape& ground_shape,
            std::uint64_t seed, Seen& seen, const StepOptions& options = {}) {
  Boxed b = box_on_plane({0.1, 0.15, 0.08}, 1.5, surface);
  b.world.shapes[0] = ground_shape;
  b.world.shapes[0].surface = surface;
  b.world.shapes[1].shape = shape;
  ContactSimulation simulation = simulate(b, options);
  Stepper s(b.model, b.world, options);
  Rng random(seed);
  for (int trial = 0; trial < 4; ++trial) {
    std::vector<double> q = at({0.3, 0.2, 0.35});
    simulation.start(q, random_vector(random, 6, 1.0));
    for (int k = 0; k < 240; ++k) {
      if (k % 12 == 0) {
        s.state.q = simulation.q(), s.state.v = simulation.v();
        s.state.tau = random_vector(random, 6, 0.5);
        compare(s, 2e-3, seen);
      }
      simulation.step(2e-3);
    }
  }
}

PlacedShape slope(double x, double y) {
  PlacedShape plane = World::ground();
  plane.pose.rpy = {x, y, 0.0};
  return plane;
}

TEST(ContactDerivativesTest, SolidsThatFallSlideAndRestAgreeWithDifferences) {
  Seen seen;
  bodies(Shape::sphere(0.1), {.friction = 0.6}, slope(0.1, 0.2), 1, seen);
  bodies(Shape::box({0.1, 0.15, 0.08}), {.friction = 0.4}, slope(0.3, -0.1), 2, seen);
  bodies(Shape::capsule(0.08, 0.1), {.friction = 0.8}, slope(0.0, 0.1), 3, seen);
  bodies(Shape::cylinder(0.1, 0.08), {.friction = 0.5}, slope(0.05, 0.0), 4, seen);
  EXPECT_GT(seen.smooth, 100);
  RecordProperty("worst", std::to_string(seen.worst));
}

TEST(ContactDerivativesTest, BouncingYieldingAndUnevenGroundAgreesWithDifferences) {
  Seen seen;
  bodies(Shape::sphere(0.1), {.friction = 0.4, .restitution = 0.7}, slope(0.1, 0.0), 5, seen);
  bodies(Shape::box({0.1, 0.15, 0.08}), {.friction = 0.6, .stiffness = 2e4, .damping = 50.0},
         slope(0.1, 0.05), 6, seen);
  PlacedShape field;
  std::vector<double> heights;
  Rng random(7);
  for (int k = 0; k < 36; ++k) heights.push_back(random.uniform(0.0, 0.1));
  field.shape = Shape::height_field(6, 6, 0.4, heights);
  field.pose.xyz = {-1.0, -1.0, 0.0};
  bodies(Shape::sphere(0.1), {.friction = 0.6}, field, 8, seen);
  EXPECT_GT(seen.smooth, 80);
}

TEST(ContactDerivativesTest, CorrectionOfDepthsIsPartOfTheStep) {
  Seen seen;
  Boxed b = box_on_plane({0.1, 0.15, 0.08}, 1.5, {.friction = 2.0});
  StepOptions options;
  options.correction = 0.7;
  Stepper s(b.model, b.world, options);
  for (const double tilt : {0.01, -0.02, 0.1, 0.004, 0.15, -0.12, 0.007, 0.2}) {
    s.state.q = at({0, 0, 0.08 - 0.004});
    s.state.q = s.moved(s.state.q, {tilt, 0.7 * tilt + 1e-3, 0.0, 0, 0, 0});
    s.state.v = {0.02, 0.01, 0.1, 0.1, 0.2, -0.1};
    const auto before = s.state.q;
    compare(s, h, seen);
    const auto after = s.after(s.state, h).first;
    EXPECT_GT(after[2] - before[2], 1e-4);  // it is lifted, and falls by 1e-4 at most
  }
  EXPECT_GE(seen.smooth, 3);
}

TEST(ContactDerivativesTest, RedundantPointsThatSlipAreIndeterminate) {
  // A turning box that slides on four corners: how these share its weight decides its yaw.
  Boxed b = box_on_plane({0.1, 0.15, 0.08}, 1.5, {.friction = 0.6});
  Stepper s(b.model, b.world, {});
  s.state.q = at({0, 0, 0.08 - 5e-6});
  s.state.v = {0, 0, 0.7, 0.4, 0.2, 0};
  EXPECT_EQ(s.differentiate(h).verdict, Verdict::indeterminate);
  // One that sticks is not: its motion is unique, its impulses are not.
  s.state.v = {0, 0, 0, 0, 0, 0};
  s.state.tau = {0.1, 0.2, 0.01, 0.5, 0.3, 0};
  EXPECT_NE(s.differentiate(h).verdict, Verdict::indeterminate);
}

std::string robot_file(const std::string& name) {
  return std::string(ESPALIER_SOURCE_DIR) + "/robots/" + name;
}

/// Robots that stand and are kicked.
/// @param foot   what the names of links with a ball end with, and where on the link it is
void robot(const std::string& file, const std::string& foot, const std::vector<Vec3<double>>& balls,
           double height, const StepOptions& base, std::uint64_t seed, Seen& seen) {
  CompileOptions compile;
  compile.root = CompileOptions::Root::floating;
  const ModelPtr model = host().load(robot_file(file), compile);
  World world;
  world.shapes = {World::ground({.friction = 0.6})};
  for (const Link& link : model->links()) {
    if (!link.name.ends_with(foot)) continue;
    for (const Vec3<double>& ball : balls) {
      PlacedShape shape;
      shape.link = link.name, shape.shape = Shape::sphere(0.02), shape.pose.xyz = ball;
      world.shapes.push_back(shape);
    }
  }
  ASSERT_GT(world.shapes.size(), 2u);
  StepOptions options = base;
  for (const Joint& joint : model->joints()) {
    if (joint.nv != 1 || joint.independent < 0) continue;
    options.drives.push_back({.joint = joint.name, .kp = 30.0, .kd = 0.5, .most = 60.0});
  }
  ContactSimulation simulation(host().registry(), model, world, options);
  Stepper s(model, world, options);
  Rng random(seed);
  std::vector<double> q(model->nq());
  model->neutral(q.data());
  q[2] = height;
  simulation.start(q, std::vector<double>(model->nv(), 0.0));
  for (std::size_t k = 0; k < options.drives.size(); ++k) {
    simulation.set_target(static_cast<int>(k), q[model->joint(options.drives[k].joint).q]);
    s.state.target[3 * k] = q[model->joint(options.drives[k].joint).q];
  }
  for (int k = 0; k < 400; ++k) {
    if (k % 40 == 39) {
      s.state.q = simulation.q(), s.state.v = simulation.v();
      const std::vector<double> kick = random_vector(random, model->nv(), 0.3);
      for (int i = 0; i < model->nv(); ++i) s.state.v[i] += kick[i];
      s.state.tau = random_vector(random, model->nv(), 0.5);
      compare(s, h, seen);
      simulation.start(s.state.q, s.state.v);
    }
    simulation.step(h);
  }
}

TEST(ContactDerivativesTest, RobotsWithDrivesGearsAndLoopsAgreeWithDifferences) {
  Seen seen;
  // With the correction of depths many a point that stands is too near to the slop.
  for (const double correction : {0.0, 0.2}) {
    StepOptions options;
    options.correction = correction;
    robot("solo12.urdf", "foot", {{0, 0, 0}}, 0.34, options, 11, seen);
    robot("mini_cheetah_geared.yaml", "knee.link", {{0, 0, -0.195}}, 0.43, options, 13, seen);
    robot("tello.yaml", "foot", {{0.06, 0, -0.04}, {-0.06, 0, -0.04}}, 0.75, options, 12, seen);
  }
  EXPECT_GT(seen.smooth, 20) << seen.other << " near a switch";
}

TEST(ContactDerivativesTest, FourBarOnTheGroundWithFrictionAndLimits) {
  Description d = four_bar();
  for (JointDescription& joint : d.joints) {
    joint.passive.friction = joint.name == "rocker" ? 0.3 : 0.0;
    joint.passive.damping = 0.05;
    joint.passive.stiffness = 0.4;
    if (joint.name == "coupler") joint.limits.lower = -1.5, joint.limits.upper = 1.8;
  }
  const ModelPtr model = host().compile(d);
  PlacedShape tip, wall = World::ground({.friction = 0.4});
  tip.link = "coupler_link", tip.shape = Shape::sphere(0.05), tip.pose.xyz = {0.25, 0.05, 0};
  tip.surface.friction = 0.4;
  wall.pose.xyz = {0, -0.02, 0}, wall.pose.rpy = {-1.5707963267948966 + 0.1, 0, 0};
  World world;
  world.shapes = {wall, tip};
  Seen seen;
  Stepper s(model, world, {});
  Rng random(17);
  for (int trial = 0; trial < 200; ++trial) {
    std::vector<double> q(model->nq());
    model->neutral(q.data());
    s.state.q = s.moved(q, {random.uniform(-1.0, 1.0)});
    s.state.v = random_vector(random, 1, 3.0);
    compare(s, h, seen);
  }
  EXPECT_GT(seen.smooth, 50);
}

TEST(ContactDerivativesTest, HeldLinksFollowTheirRates) {
  CompileOptions compile;
  const ModelPtr model = host().load(robot_file("ur5.urdf"), compile);
  StepOptions options;
  EndEffector held;
  held.link = model->links().back().name;
  held.offset = {0.1, 0.0, 0.05};
  for (int k = 0; k < 4; ++k) {  // all but two turns
    EndEffector::Row row{};
    row[k + 2] = 1.0;
    held.rows.push_back(row);
  }
  options.held = {held};
  Stepper s(model, {}, options);
  Rng random(19);
  Seen seen;
  for (int trial = 0; trial < 5; ++trial) {
    s.state.q = random_vector(random, model->nq(), 1.5);
    s.state.v = random_vector(random, model->nv(), 1.0);
    s.state.held_rate = random_vector(random, static_cast<int>(s.state.held_rate.size()), 0.1);
    compare(s, h, seen);
  }
  EXPECT_GT(seen.smooth, 0);
}

TEST(ContactDerivativesTest, WhatIsAboutToSwitchIsSaid) {
  // A ball that is pushed at its centre rolls; it slips from mu m g (1 + m r^2 / I) on. Its inertia
  // is that of the cube around it, 2/3 m r^2.
  const double mu = 0.5, edge_force = mu * g * (1.0 + 2.0 / 3.0) / (2.0 / 3.0);
  Boxed b = box_on_plane({0.1, 0.1, 0.1}, 1.0, {.friction = mu});
  b.world.shapes[1].shape = Shape::sphere(0.1);
  Stepper s(b.model, b.world, {});
  s.state.q = at({0, 0, 0.1 - 5e-6});
  s.state.tau = {0, 0, 0, edge_force, 0, 0};
  const StepDerivatives edge = s.differentiate(h);
  EXPECT_EQ(edge.verdict, Verdict::near_switch) << edge.margin;
  EXPECT_EQ(edge.nearest, "box on ground");
  s.state.tau[3] = 0.5 * edge_force;
  const StepDerivatives rolls = s.differentiate(h);
  EXPECT_EQ(rolls.verdict, Verdict::smooth) << rolls.margin;
  // The point of contact is half the depth higher, 2.5e-6 of 0.1 m.
  EXPECT_NEAR(rolls.dv_dtau[6 * 3 + 3], h / (1.0 + 2.0 / 3.0), 5e-5 * h);
  s.state.tau[3] = 1.5 * edge_force;
  const StepDerivatives slips = s.differentiate(h);
  EXPECT_EQ(slips.verdict, Verdict::smooth) << slips.margin;
  // Impulses are exact to 1e-12 m/s of the centimetres per second of the slip, times the step.
  EXPECT_NEAR(slips.dv_dtau[6 * 3 + 3], h, 1e-8 * h);
}

TEST(ContactDerivativesTest, SimulationDifferentiatesItsNextStep) {
  Boxed b = box_on_plane({0.2, 0.2, 0.05}, 1.0, {.friction = 0.5});
  ContactSimulation s = simulate(b);
  s.start(at({0, 0, 0.05}), std::vector<double>{0, 0, 0, 1, 0, 0});
  for (int k = 0; k < 20; ++k) s.step(h);
  const std::vector<double> before = s.q();
  const StepDerivatives d = s.derivatives(h);
  EXPECT_EQ(before, s.q());
  s.step(h);
  for (std::size_t i = 0; i < s.v().size(); ++i) EXPECT_NEAR(d.v[i], s.v()[i], 2e-6);
  EXPECT_THROW((void)s.derivatives(0.0), InvalidModel);
}

TEST(ContactDerivativesTest, PairsWithoutClosedFormAreRefusedByName) {
  Boxed b = box_on_plane({0.1, 0.1, 0.1}, 1.0, {});
  b.world.shapes[0].shape = Shape::box({1, 1, 0.1});
  bool has_bullet = false;
  for (const Entry* e : host().registry().algorithms("collision")) {
    has_bullet = has_bullet || e->about.name == "bullet";
  }
  if (!has_bullet) return;  // then no simulation of the pair is made at all
  ContactSimulation s = simulate(b);
  try {
    (void)s.derivatives(h);
    FAIL();
  } catch (const Unsupported& error) {
    EXPECT_NE(std::string(error.what()).find("closed-form"), std::string::npos);
  }
}

}  // namespace
}  // namespace espalier::test::step_derivatives_test
