#include <gtest/gtest.h>

#include "tests/support/host.hpp"
#include "tests/support/random_robot.hpp"
#include "tests/support/state.hpp"

// What mechanics demands of any algorithm, on random trees of all joint types.

namespace espalier::test::physics_test {
namespace {

// Central differences of fourth order at a step of 1e-3 s: rates of up to 30 rad/s deep in a tree
// make fifth derivatives of 1e7, times 1e-12 / 30.
constexpr double by_differences = 1e-6;
constexpr double rounding = 1e-10;  // sums of a few hundred products of numbers of order ten

class PhysicsTest : public testing::TestWithParam<int> {
 protected:
  void SetUp() override {
    RobotOptions options;
    options.bodies = GetParam();
    options.seed = 1000 + GetParam();
    build(options);
  }
  void build(const RobotOptions& options) {
    robot = random_robot(host().registry(), options);
    model = host().compile(robot);
    s = random_state(*model, options.seed);
  }
  std::vector<double> q(double t) const { return moved(*model, s.q, s.v, t); }
  std::vector<double> v(double t) const { return combined(s.v, t, s.vdot); }

  std::vector<double> jacobian(BodyJacobians<double>& algorithm, const Link& link) const {
    std::vector<double> J(6 * model->nv());
    algorithm.jacobian(link, J);
    return J;
  }

  Description robot;
  ModelPtr model;
  State s;
};

std::vector<double> numbers(const Motion<double>& m) {
  return {m.w.x, m.w.y, m.w.z, m.v.x, m.v.y, m.v.z};
}
std::vector<double> numbers(const Vec3<double>& v) { return {v.x, v.y, v.z}; }

TEST_P(PhysicsTest, PowerOfAllForcesIsTheRateOfEnergy) {
  const Wrenches<double> wrenches = s.wrenches(model);
  const auto energy = any<Energy<double>>(model);
  const auto kinematics = any<Kinematics<double>>(model);
  for (const auto& [name, algorithm] : every<ForwardDynamics<double>>(model)) {
    algorithm->evaluate(s.q, s.v, s.tau, s.vdot, &wrenches);
    const double rate = derivative([&](double t) {
      const auto e = energy->evaluate(q(t), v(t));
      return e.kinetic + e.potential;
    });
    kinematics->evaluate(s.q, s.v, s.vdot);
    double power = inner(s.tau, s.v);
    for (const auto& [link, wrench] : s.wrenches_on) {
      power += dot(kinematics->velocity(model->link(link)), wrench);
    }
    EXPECT_NEAR(rate, power, by_differences * std::max(1.0, std::abs(power))) << name;
  }
}

TEST_P(PhysicsTest, KineticEnergyIsTheQuadraticFormOfTheMassMatrix) {
  const int nv = model->nv();
  std::vector<double> M(static_cast<std::size_t>(nv) * nv);
  any<MassMatrix<double>>(model)->evaluate(s.q, M);
  double twice = 0.0;
  for (int i = 0; i < nv; ++i)
    for (int j = 0; j < nv; ++j) twice += s.v[i] * M[i * nv + j] * s.v[j];
  const double kinetic = any<Energy<double>>(model)->evaluate(s.q, s.v).kinetic;
  EXPECT_NEAR(kinetic, 0.5 * twice, rounding * std::max(1.0, kinetic));
}

TEST_P(PhysicsTest, BiasAtRestIsTheGradientOfPotentialEnergy) {
  const auto energy = any<Energy<double>>(model);
  const std::vector<double> still(model->nv(), 0.0);
  std::vector<double> bias(model->nv());
  any<BiasForce<double>>(model)->evaluate(s.q, still, bias);
  for (int k = 0; k < model->nv(); ++k) {
    std::vector<double> direction = still;
    direction[k] = 1.0;
    const double slope = derivative([&](double t) {
      return energy->evaluate(moved(*model, s.q, direction, t), still).potential;
    });
    EXPECT_NEAR(slope, bias[k], by_differences * std::max(1.0, std::abs(bias[k]))) << k;
  }
}

TEST_P(PhysicsTest, JacobianColumnsAreTwistsOfUnitRates) {
  const auto jacobians = any<BodyJacobians<double>>(model);
  const auto kinematics = any<Kinematics<double>>(model);
  const std::vector<double> zero(model->nv(), 0.0);
  const Link& link = model->links().back();
  jacobians->evaluate(s.q);
  const std::vector<double> J = jacobian(*jacobians, link);
  kinematics->evaluate(s.q, zero, zero);
  const Transform<double> back = kinematics->placement(link).inverse();
  for (int k = 0; k < model->nv(); ++k) {
    std::vector<double> unit = zero;
    unit[k] = 1.0;
    // Displacement of the link in its own frame, linear for small ones.
    const auto twist = derivative([&](double t) {
      kinematics->evaluate(moved(*model, s.q, unit, t), zero, zero);
      const Transform<double> D = kinematics->placement(link) * back;
      return std::vector<double>{0.5 * (D.E(1, 2) - D.E(2, 1)),
                                 0.5 * (D.E(2, 0) - D.E(0, 2)),
                                 0.5 * (D.E(0, 1) - D.E(1, 0)),
                                 D.r.x,
                                 D.r.y,
                                 D.r.z};
    });
    for (int r = 0; r < 6; ++r) {
      EXPECT_NEAR(J[r * model->nv() + k], twist[r], 1e-9) << r << "," << k;  // rates of 1 rad/s
    }
  }
}

TEST_P(PhysicsTest, JacobianTimesRatesIsTheTwistOfEveryLink) {
  const auto jacobians = any<BodyJacobians<double>>(model);
  const auto kinematics = any<Kinematics<double>>(model);
  jacobians->evaluate(s.q);
  kinematics->evaluate(s.q, s.v, s.vdot);
  const int nv = model->nv();
  for (const Link& link : model->links()) {
    const std::vector<double> J = jacobian(*jacobians, link);
    std::vector<double> twist(6, 0.0);
    for (int r = 0; r < 6; ++r)
      for (int k = 0; k < nv; ++k) twist[r] += J[r * nv + k] * s.v[k];
    EXPECT_LE(relative_difference(twist, numbers(kinematics->velocity(link))), rounding)
        << link.name;
  }
}

TEST_P(PhysicsTest, AccelerationIsTheDerivativeOfTheTwistsComponents) {
  const auto kinematics = any<Kinematics<double>>(model);
  for (const Link& link : model->links()) {
    const auto rate = derivative([&](double t) {
      kinematics->evaluate(q(t), v(t), s.vdot);
      return numbers(kinematics->velocity(link));
    });
    kinematics->evaluate(s.q, s.v, s.vdot);
    EXPECT_LE(relative_difference(rate, numbers(kinematics->acceleration(link))), by_differences)
        << link.name;
  }
}

TEST_P(PhysicsTest, CentreOfMassMovesWithItsVelocityAndAcceleration) {
  const auto algorithm = any<CenterOfMass<double>>(model);
  const auto answer = algorithm->evaluate(s.q, s.v, s.vdot);
  const auto velocity = derivative(
      [&](double t) { return numbers(algorithm->evaluate(q(t), v(t), s.vdot).position); });
  const auto acceleration = derivative(
      [&](double t) { return numbers(algorithm->evaluate(q(t), v(t), s.vdot).velocity); });
  EXPECT_LE(relative_difference(velocity, numbers(answer.velocity)), by_differences);
  EXPECT_LE(relative_difference(acceleration, numbers(answer.acceleration)), by_differences);
}

TEST_P(PhysicsTest, CentreOfMassIsTheWeightedMeanOfTheLinksOwn) {
  const auto kinematics = any<Kinematics<double>>(model);
  kinematics->evaluate(s.q, s.v, s.vdot);
  Vec3<double> sum{0, 0, 0};
  double mass = 0.0;
  for (const LinkDescription& link : robot.links) {
    const Link& l = model->link(link.name);
    if (!link.inertial || l.body == 0) continue;  // welded to the ground: does not move
    const Transform<double> X = kinematics->placement(l);
    sum += scale(link.inertial->mass, X.r + transpose_times(X.E, link.inertial->origin.xyz));
    mass += link.inertial->mass;
  }
  EXPECT_NEAR(model->mass(), mass, rounding * mass);
  const auto answer = any<CenterOfMass<double>>(model)->evaluate(s.q, s.v, s.vdot);
  EXPECT_LE(relative_difference(numbers(answer.position), numbers(scale(1.0 / mass, sum))),
            rounding);
}

TEST_P(PhysicsTest, ExternalWrenchActsThroughTheTransposedJacobian) {
  const auto jacobians = any<BodyJacobians<double>>(model);
  jacobians->evaluate(s.q);
  const Wrenches<double> wrenches = s.wrenches(model);
  std::vector<double> expected(model->nv(), 0.0);
  for (const auto& [link, wrench] : s.wrenches_on) {
    const std::vector<double> J = jacobian(*jacobians, model->link(link));
    for (int k = 0; k < model->nv(); ++k)
      for (int r = 0; r < 6; ++r) expected[k] += J[r * model->nv() + k] * wrench[r];
  }
  for (const auto& [name, algorithm] : every<BiasForce<double>>(model)) {
    std::vector<double> with(model->nv()), without(model->nv());
    algorithm->evaluate(s.q, s.v, with, &wrenches);
    algorithm->evaluate(s.q, s.v, without);
    EXPECT_LE(largest_difference(combined(without, -1.0, with), expected),
              rounding * std::max(1.0, largest(without)))
        << name;
  }
}

TEST_P(PhysicsTest, ArmatureAddsToTheDiagonalOfTheMassMatrix) {
  Description bare = robot;
  for (JointDescription& joint : bare.joints) joint.armature = 0.0;
  const ModelPtr without = host().compile(bare);
  const int nv = model->nv();
  std::vector<double> M(static_cast<std::size_t>(nv) * nv), M0 = M;
  any<MassMatrix<double>>(model)->evaluate(s.q, M);
  any<MassMatrix<double>>(without)->evaluate(s.q, M0);
  for (const JointDescription& joint : robot.joints) {
    const Joint* j = model->find_joint(joint.name);
    if (j == nullptr) continue;  // fixed
    for (int k = j->v; k < j->v + j->nv; ++k) M0[k * nv + k] += joint.armature;
  }
  EXPECT_LE(relative_difference(M, M0), 1e-15);  // one addition
}

TEST_P(PhysicsTest, GravityOfTheAlgorithmIsWhatItWasSetTo) {
  const Vec3<double> g{1, -2, 3};
  Description other = robot;
  other.gravity = g;
  const ModelPtr there = host().compile(other);
  for (const auto& [name, algorithm] : every<BiasForce<double>>(model)) {
    std::vector<double> set(model->nv()), given(model->nv());
    algorithm->set_gravity(g);
    algorithm->evaluate(s.q, s.v, set);
    host().create<BiasForce<double>>(name, there)->evaluate(s.q, s.v, given);
    EXPECT_EQ(set, given) << name;
  }
  for (const auto& [name, algorithm] : every<ForwardDynamics<double>>(model)) {
    std::vector<double> set(model->nv()), given(model->nv());
    algorithm->set_gravity(g);
    algorithm->evaluate(s.q, s.v, s.tau, set);
    host().create<ForwardDynamics<double>>(name, there)->evaluate(s.q, s.v, s.tau, given);
    EXPECT_EQ(set, given) << name;
  }
}

TEST_P(PhysicsTest, FreeRobotWithoutGravityMovesItsCentreOfMassByExternalForceOverMass) {
  RobotOptions options;
  options.bodies = GetParam();
  options.floating_base = true;
  options.armature = 0.0;  // an inertia of the motors that has no momentum
  options.seed = 2000 + GetParam();
  build(options);
  const Joint& root = model->joints()[0];
  ASSERT_EQ(root.type, "floating");
  for (int k = 0; k < 6; ++k) s.tau[root.v + k] = 0.0;
  const Wrenches<double> wrenches = s.wrenches(model);
  const auto kinematics = any<Kinematics<double>>(model);
  kinematics->evaluate(s.q, s.v, s.vdot);
  Vec3<double> force{0, 0, 0};
  for (const auto& [name, wrench] : s.wrenches_on) {
    const Link& link = model->link(name);
    if (link.body == 0) continue;  // on the ground
    force += transpose_times(kinematics->placement(link).E, wrench.f);
  }
  for (const auto& [name, algorithm] : every<ForwardDynamics<double>>(model)) {
    algorithm->set_gravity({0, 0, 0});
    algorithm->evaluate(s.q, s.v, s.tau, s.vdot, &wrenches);
    const auto answer = any<CenterOfMass<double>>(model)->evaluate(s.q, s.v, s.vdot);
    // Accelerations of the links cancel in the sum.
    const double tolerance = rounding * std::max(1.0, largest(s.vdot));
    EXPECT_LE(
        largest_difference(numbers(scale(model->mass(), answer.acceleration)), numbers(force)),
        tolerance)
        << name;
  }
}

TEST_P(PhysicsTest, ReactionOfAFreeRobotIsItsRateOfMomentum) {
  // Inverse dynamics of the floating joint: the force that the world would have to give.
  RobotOptions options;
  options.bodies = GetParam();
  options.floating_base = true;
  options.seed = 3000 + GetParam();
  options.armature = 0.0;
  build(options);
  const Joint& root = model->joints()[0];
  std::vector<double> tau(model->nv());
  const auto kinematics = any<Kinematics<double>>(model);
  kinematics->evaluate(s.q, s.v, s.vdot);
  const Link& base = model->link("link1");
  const Vec3<double> f = scale(
      model->mass(),
      any<CenterOfMass<double>>(model)->evaluate(s.q, s.v, s.vdot).acceleration - robot.gravity);
  for (const auto& [name, algorithm] : every<InverseDynamics<double>>(model)) {
    algorithm->evaluate(s.q, s.v, s.vdot, tau);
    const Vec3<double> reaction =
        transpose_times(kinematics->placement(base).E,
                        Vec3<double>{tau[root.v + 3], tau[root.v + 4], tau[root.v + 5]});
    EXPECT_LE(relative_difference(numbers(reaction), numbers(f)), rounding) << name;
  }
}

INSTANTIATE_TEST_SUITE_P(RandomTrees, PhysicsTest, testing::Values(1, 2, 3, 4, 6, 9, 15, 25));

}  // namespace
}  // namespace espalier::test::physics_test
