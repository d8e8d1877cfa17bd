#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/host.hpp"
#include "tests/support/simple_robot.hpp"

// Mechanisms whose equations of motion are in every textbook, for every registered algorithm.

namespace espalier::test::worked_examples_test {
namespace {

constexpr double g = 9.81;
constexpr double rounding = 1e-12;  // a few dozen operations on numbers of order ten

using Numbers = std::vector<double>;

void expect_near(const Numbers& got, const Numbers& wanted, const std::string& who) {
  ASSERT_EQ(got.size(), wanted.size()) << who;
  for (std::size_t i = 0; i < got.size(); ++i) {
    EXPECT_NEAR(got[i], wanted[i], rounding * std::max(1.0, std::abs(wanted[i]))) << who << i;
  }
}
void expect_vdot(const Description& robot, const Numbers& q, const Numbers& v, const Numbers& tau,
                 const Numbers& wanted) {
  const ModelPtr model = host().compile(robot);
  for (const auto& [name, algorithm] : every<ForwardDynamics<double>>(model)) {
    Numbers vdot(model->nv());
    algorithm->evaluate(q, v, tau, vdot);
    expect_near(vdot, wanted, name);
  }
}
void expect_tau(const Description& robot, const Numbers& q, const Numbers& v, const Numbers& vdot,
                const Numbers& wanted) {
  const ModelPtr model = host().compile(robot);
  for (const auto& [name, algorithm] : every<InverseDynamics<double>>(model)) {
    Numbers tau(model->nv());
    algorithm->evaluate(q, v, vdot, tau);
    expect_near(tau, wanted, name);
  }
}
void expect_mass_matrix(const Description& robot, const Numbers& q, const Numbers& wanted) {
  const ModelPtr model = host().compile(robot);
  for (const auto& [name, algorithm] : every<MassMatrix<double>>(model)) {
    Numbers M(model->nv() * model->nv());
    algorithm->evaluate(q, M);
    expect_near(M, wanted, name);
  }
}

/// Mass m on a joint at the origin of the ground.
Description one_joint(const std::string& type, Vec3<double> axis, double m, Vec3<double> com,
                      Sym3<double> I) {
  Description robot = ground();
  add_link(robot, "body", m, com, I);
  add_joint(robot, "joint", type, "base", "body", axis);
  return robot;
}

TEST(PendulumTest, FallsWithTheTorqueOfItsWeight) {
  const double m = 2.0, l = 0.7, I = 0.3, q = 0.8;
  const Description robot = one_joint("revolute", {0, 1, 0}, m, {0, 0, -l}, {0.1, 0, 0, I, 0, 0.1});
  expect_vdot(robot, {q}, {3.0}, {0.0}, {-m * g * l * std::sin(q) / (I + m * l * l)});
  expect_vdot(robot, {q}, {3.0}, {m * g * l * std::sin(q)}, {0.0});
  expect_mass_matrix(robot, {q}, {I + m * l * l});
}

TEST(PendulumTest, NegativeAxisTurnsTheOtherWay) {
  const double m = 2.0, l = 0.7, I = 0.3, q = 0.8;
  const Description robot = one_joint("revolute", {0, -1, 0}, m, {l, 0, 0}, {0.1, 0, 0, I, 0, 0.1});
  // About -y, positive angles lift a mass on the x axis.
  expect_vdot(robot, {q}, {0.0}, {0.0}, {-m * g * l * std::cos(q) / (I + m * l * l)});
}

TEST(PrismaticTest, FallsUnderGravityAgainstItsForce) {
  const Description robot = one_joint("prismatic", {0, 0, 1}, 2.0, {1, 2, 3}, {1, 0, 0, 1, 0, 1});
  expect_vdot(robot, {0.3}, {1.0}, {5.0}, {5.0 / 2.0 - g});
}

TEST(PrismaticTest, FeelsOnlyGravityAlongItsAxis) {
  const double c = 0.6, s = 0.8;
  const Description robot = one_joint("prismatic", {c, 0, s}, 2.0, {1, 2, 3}, {1, 0, 0, 1, 0, 1});
  expect_vdot(robot, {0.3}, {1.0}, {0.0}, {-g * s});
}

TEST(HelicalTest, NutOnAThreadFallsAsIfItsInertiaWereMass) {
  const double m = 2.0, I = 0.3, pitch = 0.05;
  Description robot = one_joint("helical", {0, 0, 1}, m, {0, 0, 0}, {0.2, 0, 0, 0.2, 0, I});
  robot.joints[0].parameters["pitch"] = {pitch};
  expect_vdot(robot, {0.3}, {4.0}, {0.0}, {-m * g * pitch / (I + m * pitch * pitch)});
}

TEST(CylindricalTest, TurningAndSlidingDoNotMix) {
  const double m = 2.0, I = 0.3;
  const Description robot =
      one_joint("cylindrical", {0, 0, 1}, m, {0, 0, 0}, {0.2, 0, 0, 0.2, 0, I});
  expect_vdot(robot, {0.3, 0.1}, {4.0, 1.0}, {0.6, 5.0}, {0.6 / I, 5.0 / m - g});
}

TEST(ArmatureTest, AddsToTheInertiaOfTheJoint) {
  Description robot = one_joint("revolute", {0, 0, 1}, 1.0, {0, 0, 0}, {0.2, 0, 0, 0.2, 0, 0.3});
  robot.joints[0].armature = 0.2;
  expect_vdot(robot, {0.0}, {1.0}, {2.0}, {4.0});
  expect_tau(robot, {0.0}, {1.0}, {4.0}, {2.0});
}

/// Two links in the x-y plane, gravity along -y.
struct TwoLinks {
  double m1 = 1.5, m2 = 0.8, l1 = 0.9, c1 = 0.4, c2 = 0.5, I1 = 0.2, I2 = 0.1;

  Description robot() const {
    Description robot = ground();
    robot.gravity = {0, -g, 0};
    add_link(robot, "upper", m1, {c1, 0, 0}, {0.1, 0, 0, I1, 0, I1});
    add_link(robot, "lower", m2, {c2, 0, 0}, {0.1, 0, 0, I2, 0, I2});
    add_joint(robot, "shoulder", "revolute", "base", "upper");
    add_joint(robot, "elbow", "revolute", "upper", "lower", {0, 0, 1}, {{l1, 0, 0}, {0, 0, 0}});
    return robot;
  }
};

TEST(PlanarArmTest, MassMatrixIsTheTextbooks) {
  const TwoLinks a;
  const double q2 = 0.7;
  const double M12 = a.I2 + a.m2 * (a.c2 * a.c2 + a.l1 * a.c2 * std::cos(q2));
  const double M22 = a.I2 + a.m2 * a.c2 * a.c2;
  const double M11 = a.I1 + a.m1 * a.c1 * a.c1 + a.I2 +
                     a.m2 * (a.l1 * a.l1 + a.c2 * a.c2 + 2 * a.l1 * a.c2 * std::cos(q2));
  expect_mass_matrix(a.robot(), {0.3, q2}, {M11, M12, M12, M22});
}

TEST(PlanarArmTest, BiasIsCoriolisCentrifugalAndGravity) {
  const TwoLinks a;
  const double q1 = 0.3, q2 = 0.7, w1 = 1.5, w2 = -2.0;
  const double h = -a.m2 * a.l1 * a.c2 * std::sin(q2);
  const double lower = a.m2 * a.c2 * g * std::cos(q1 + q2);
  expect_tau(a.robot(), {q1, q2}, {w1, w2}, {0, 0},
             {h * (2 * w1 * w2 + w2 * w2) + (a.m1 * a.c1 + a.m2 * a.l1) * g * std::cos(q1) + lower,
              -h * w1 * w1 + lower});
}

TEST(DoublePendulumTest, PointMassesFollowTheClosedForm) {
  const double m1 = 1.2, m2 = 0.7, l1 = 0.8, l2 = 0.5;
  Description robot = ground();
  add_link(robot, "upper", m1, {0, 0, -l1}, {0, 0, 0, 0, 0, 0});
  add_link(robot, "lower", m2, {0, 0, -l2}, {0, 0, 0, 0, 0, 0});
  add_joint(robot, "first", "revolute", "base", "upper", {0, 1, 0});
  add_joint(robot, "second", "revolute", "upper", "lower", {0, 1, 0}, {{0, 0, -l1}, {0, 0, 0}});
  // Angles from the vertical and their rates.
  const double a = 0.9, b = -0.4, wa = 1.1, wb = 2.3, d = a - b;
  const double below = 2 * m1 + m2 - m2 * std::cos(2 * d);
  const double alpha = (-g * (2 * m1 + m2) * std::sin(a) - m2 * g * std::sin(a - 2 * b) -
                        2 * std::sin(d) * m2 * (wb * wb * l2 + wa * wa * l1 * std::cos(d))) /
                       (l1 * below);
  const double beta =
      2 * std::sin(d) *
      (wa * wa * l1 * (m1 + m2) + g * (m1 + m2) * std::cos(a) + wb * wb * l2 * m2 * std::cos(d)) /
      (l2 * below);
  expect_vdot(robot, {a, b - a}, {wa, wb - wa}, {0, 0}, {alpha, beta - alpha});
}

TEST(SlidingBeadTest, NeedsTheCoriolisTorqueAndTheCentripetalForce) {
  const double m = 0.6, r = 0.5, w = 3.0, speed = 2.0;
  Description robot = ground();
  robot.gravity = {0, 0, 0};
  add_link(robot, "rod", 1.0, {0, 0, 0}, {0.1, 0, 0, 0.1, 0, 0.1});
  add_link(robot, "bead", m, {0, 0, 0}, {0.01, 0, 0, 0.01, 0, 0.01});
  add_joint(robot, "turn", "revolute", "base", "rod");
  add_joint(robot, "slide", "prismatic", "rod", "bead", {1, 0, 0});
  expect_tau(robot, {0.4, r}, {w, speed}, {0, 0}, {2 * m * r * speed * w, -m * r * w * w});
}

TEST(FreeBodyTest, FollowsEulersEquations) {
  const double m = 2.0;
  const Vec3<double> I{0.3, 0.5, 0.7};
  Description robot = one_joint("floating", {0, 0, 1}, m, {0, 0, 0}, {I.x, 0, 0, I.y, 0, I.z});
  robot.gravity = {0, 0, 0};
  const Vec3<double> w{1, -2, 3}, v{0.5, 0.2, -0.4};
  const Vec3<double> n{0.1, 0.2, 0.3}, f{1, 2, 3};
  const Vec3<double> L{I.x * w.x, I.y * w.y, I.z * w.z};
  const Vec3<double> alpha = n - cross(w, L);
  // The components of v change with the turning frame, too.
  const Vec3<double> a = scale(1 / m, f) - cross(w, v);
  const double h = std::sqrt(0.5);
  expect_vdot(robot, {1, 2, 3, 0, h, 0, h}, {w.x, w.y, w.z, v.x, v.y, v.z},
              {n.x, n.y, n.z, f.x, f.y, f.z},
              {alpha.x / I.x, alpha.y / I.y, alpha.z / I.z, a.x, a.y, a.z});
}

TEST(FreeBodyTest, FallsWithGravityInItsOwnFrame) {
  // Turned by 90 degrees about y: the body's x axis points along -z of the world.
  const Description robot =
      one_joint("floating", {0, 0, 1}, 2.0, {0.1, 0.2, 0.3}, {0.3, 0, 0, 0.5, 0, 0.7});
  const double h = std::sqrt(0.5);
  expect_vdot(robot, {1, 2, 3, 0, h, 0, h}, {0, 0, 0, 0, 0, 0}, {0, 0, 0, 0, 0, 0},
              {0, 0, 0, g, 0, 0});
}

TEST(GyroscopeTest, HorizontalTopPrecessesSteadily) {
  // Spin s about its own axis and precession about the vertical with I3 s precession = m g l.
  const double m = 1.5, l = 0.2, I3 = 0.02, spin = 80.0;
  const double precession = m * g * l / (I3 * spin);
  const Description robot =
      one_joint("spherical", {0, 0, 1}, m, {0, 0, l}, {0.05, 0, 0, 0.05, 0, I3});
  // The body's z axis along the world's x: turned by 90 degrees about y. The world's z axis is then
  // the body's -x.
  const double h = std::sqrt(0.5);
  const Vec3<double> z{0, 0, 1}, up{-1, 0, 0};
  const Vec3<double> w = scale(spin, z) + scale(precession, up);
  const Vec3<double> alpha = scale(-precession * spin, cross(z, up));
  expect_vdot(robot, {0, h, 0, h}, {w.x, w.y, w.z}, {0, 0, 0}, {alpha.x, alpha.y, alpha.z});
}

TEST(UniversalTest, CrossRatesTurnTheBodyAboutTheThirdAxis) {
  // First about x, then about the y that was carried along; principal inertias A, B, C.
  const double A = 0.3, B = 0.4, C = 0.6, q2 = 0.5, w1 = 2.0, w2 = 3.0;
  Description robot = one_joint("universal", {1, 0, 0}, 1.0, {0, 0, 0}, {A, 0, 0, B, 0, C});
  robot.gravity = {0, 0, 0};
  robot.joints[0].parameters["axis2"] = {0, 1, 0};
  const double s = std::sin(q2), c = std::cos(q2);
  // Kinetic energy (A c² + C s²) w1² / 2 + B w2² / 2; Lagrange at constant rates.
  expect_tau(robot, {1.1, q2}, {w1, w2}, {0, 0},
             {2 * (C - A) * s * c * w1 * w2, -(C - A) * s * c * w1 * w1});
}

TEST(PlanarJointTest, SlidesFreelyAndTurnsAboutItsNormal) {
  const double m = 2.0, I = 0.3, w = 1.5;
  Description robot = one_joint("planar", {0, 0, 1}, m, {0, 0, 0}, {0.2, 0, 0, 0.2, 0, I});
  robot.gravity = {0, 0, 0};
  // Rates are the body's own: at constant velocity in the world they turn with -w.
  expect_vdot(robot, {1, 2, 0.7}, {w, 0.4, 0.6}, {0, 0, 0}, {0, w * 0.6, -w * 0.4});
}

TEST(ExternalWrenchTest, ForceAtTheTipTurnsThePendulumByItsLever) {
  const double l = 0.7, I = 0.3;
  Description robot = one_joint("revolute", {0, 1, 0}, 1.0, {0, 0, 0}, {0.1, 0, 0, I, 0, 0.1});
  add_link(robot, "tip");
  add_joint(robot, "mount", "fixed", "body", "tip", {0, 0, 1}, {{l, 0, 0}, {0, 0, 0}});
  const ModelPtr model = host().compile(robot);
  Wrenches<double> wrenches(model);
  wrenches.add("tip", {{0, 0, 0}, {0, 0, -2.0}});  // in the tip's frame, along its -z
  for (const auto& [name, algorithm] : every<ForwardDynamics<double>>(model)) {
    Numbers vdot(1);
    algorithm->evaluate(Numbers{0.6}, Numbers{0.0}, Numbers{0.0}, vdot, &wrenches);
    EXPECT_NEAR(vdot[0], 2.0 * l / I, rounding) << name;
  }
}

}  // namespace
}  // namespace espalier::test::worked_examples_test
