#include <gtest/gtest.h>

#include <cmath>

#include "algorithms/forward_dynamics/c_aba.hpp"
#include "algorithms/inverse_dynamics/rnea.hpp"
#include "tests/support/host.hpp"
#include "tests/support/random_cluster_robot.hpp"
#include "tests/support/simple_robot.hpp"

// Rotors whose inertia is not the same all around their axis, carried by chains.

namespace espalier::test::asymmetric_rotors_test {
namespace {

/// A random robot, all of whose rotors about z have two principal moments across.
/// @param independent  whether links lead, and not their rotors
Description robot(unsigned long long seed, bool independent = true) {
  ClusterRobotOptions options;
  options.seed = seed, options.floating_base = seed % 2 == 0, options.parts = 10;
  options.kinds = {"geared", "geared", "geared", "body"};
  Description robot = random_cluster_robot(host().registry(), options);
  for (const CouplingDescription& gear : robot.couplings) {
    for (LinkDescription& link : robot.links) {
      if (link.name != gear.successor) continue;
      Sym3<double>& I = link.inertial->I;
      if (I.xx == I.yy) I.yy *= 1.5;
    }
    for (JointDescription& joint : robot.joints) {
      if (joint.child == gear.successor) joint.independent = !independent;
      if (joint.child == gear.predecessor) joint.independent = independent;
    }
  }
  return robot;
}

ChainPlan plan_of(const Model& model) {
  ChainJoints joints = ChainJoints::of(model);
  joints.add_asymmetric_rotors(model);
  return ChainPlan(model, joints);
}

TEST(AsymmetricRotorTest, ChainsCarryThem) {
  int carried = 0, on_chains = 0;
  for (unsigned long long seed = 1; seed <= 40; ++seed) {
    const ModelPtr model = host().compile(robot(seed));
    const ChainPlan plan = plan_of(*model);
    for (const AsymmetricRotor& rotor : plan.asymmetric) {
      ++carried;
      EXPECT_TRUE(plan.passes(rotor.body));
      EXPECT_LT(plan.chain_of[rotor.body], 0);
      EXPECT_GE(plan.chain_of[rotor.joint], 0);
      EXPECT_GE(plan.body(rotor.joint).asymmetric, 0);
      on_chains += plan.chain_of[model->body(rotor.body).parent] >= 0 ? 1 : 0;
    }
  }
  EXPECT_GT(carried, 150);
  EXPECT_GT(on_chains, 50);
}

/// Angle by angle, against the inertia of the rotor as a body.
TEST(AsymmetricRotorTest, MeanAndTurningPartAreItsInertia) {
  int seen = 0;
  for (unsigned long long seed = 1; seed <= 10; ++seed) {
    const ModelPtr model = host().compile(robot(seed));
    for (const AsymmetricRotor& rotor : asymmetric_rotors(*model)) {
      const Body& body = model->body(rotor.body);
      for (const double angle : {0.0, 0.4, 2.0, -1.3}) {
        Transform<double> X = body.placement;
        X.E = rotate_rows(std::sin(angle), std::cos(angle), X.E);
        const RigidInertia<double> exact = congruence(X, body.inertia);
        RigidInertia<double> sum = congruence(body.placement, mean_about_axis(body.inertia));
        const double c = std::cos(2.0 * angle), s = std::sin(2.0 * angle);
        for (int i = 0; i < 3; ++i) {
          EXPECT_NEAR(sum.h[i], exact.h[i], 1e-15);  // rounding
          for (int j = 0; j < 3; ++j) {
            const double turned = c * rotor.cosine(i, j) + s * rotor.sine(i, j);
            EXPECT_NEAR(sum.I(i, j) + turned, exact.I(i, j), 1e-15);
          }
        }
        ++seen;
      }
    }
  }
  EXPECT_GT(seen, 100);
}

/// Against methods that know of no rotors, with wrenches on links and rotors.
TEST(AsymmetricRotorTest, DynamicsAreThoseOfRotorsAsBodies) {
  constexpr double agreed = 1e-9;  // ratios reach 100: of forces little is left
  for (unsigned long long seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(seed);
    const ModelPtr model = host().compile(robot(seed));
    const State s = random_cluster_state(*model, seed);
    Wrenches<double> wrenches = s.wrenches(model);
    Rng rng(seed);
    for (const AsymmetricRotor& rotor : asymmetric_rotors(*model)) {
      wrenches.add(model->body_names()[rotor.body], {rng.vec3(3.0), rng.vec3(3.0)});
    }
    std::vector<double> expected(model->nv()), vdot(model->nv());
    host()
        .create<ForwardDynamics<double>>("kkt", model)
        ->evaluate(s.q, s.v, s.tau, expected, &wrenches);
    CAba<double>(model).evaluate(s.q, s.v, s.tau, vdot, &wrenches);
    EXPECT_LE(relative_difference(vdot, expected), agreed);
    CAbaOver<double, ClusterOnSeveral>(model).evaluate(s.q, s.v, s.tau, vdot, &wrenches);
    EXPECT_LE(relative_difference(vdot, expected), agreed);

    std::vector<double> all(model->nv()), runs(model->nv());
    Rnea<double> rnea(model);
    RneaOver<double, PlainRun> plain(model);
    rnea.evaluate(s.q, s.v, s.vdot, all, &wrenches);
    plain.evaluate(s.q, s.v, s.vdot, runs, &wrenches);
    EXPECT_LE(relative_difference(all, runs), agreed);
    rnea.compute(s.q.data(), s.v.data(), nullptr, all.data(), &wrenches);
    plain.compute(s.q.data(), s.v.data(), nullptr, runs.data(), &wrenches);
    EXPECT_LE(relative_difference(all, runs), agreed) << "at vdot = 0";
  }
}

TEST(AsymmetricRotorTest, LanesOfABatchAreSingleCalls) {
  for (unsigned long long seed = 1; seed <= 6; ++seed) {
    SCOPED_TRACE(seed);
    const ModelPtr model = host().compile(robot(seed));
    const State s = random_cluster_state(*model, seed);
    constexpr int N = 8;
    const auto repeated = [](const std::vector<double>& x) {
      std::vector<double> all;
      for (const double xi : x) all.insert(all.end(), N, xi);
      return all;
    };
    std::vector<double> expected(model->nv()), vdot(model->nv() * N);
    CAba<double>(model).evaluate(s.q, s.v, s.tau, expected);
    host()
        .batch<ForwardDynamics>("c-aba", model)
        ->evaluate(N, {.q = repeated(s.q), .v = repeated(s.v), .tau = repeated(s.tau)},
                   {{"vdot", vdot}});
    EXPECT_LE(relative_difference(vdot, repeated(expected)), 1e-11);  // other sines, other order
  }
}

/// Where the rotor leads, or holds what hangs on it, it stays a body.
TEST(AsymmetricRotorTest, RotorsThatLeadStayBodies) {
  int bodies = 0;
  for (unsigned long long seed = 1; seed <= 10; ++seed) {
    const ModelPtr model = host().compile(robot(seed, false));
    for (const AsymmetricRotor& rotor : asymmetric_rotors(*model)) {
      EXPECT_EQ(std::abs(rotor.ratio), 1.0) << "both lead";
    }
    for (const Cluster& c : model->clusters()) bodies += c.count == 2 ? 1 : 0;
  }
  EXPECT_GT(bodies, 20);
}

/// A carousel turns at w about z. On it a rotor turns about x, at `ratio` times the rate of a link
/// on the same axis. With A about its y-axis and B about its z-axis it has A sin^2 + B cos^2 about
/// the carousel's, and Lagrange's equations give both torques.
TEST(AsymmetricRotorTest, RotorOnACarouselByHand) {
  const double A = 0.02, B = 0.05, C = 0.01, carousel = 2.0, ratio = -6.0;
  const double across = 0.3, along = 0.4, about_axis = 0.2;  // of the arm: y, z, x
  Description robot = ground();
  robot.gravity = {0, 0, 0};
  add_link(robot, "carousel", 1.0, {0, 0, 0}, {1.0, 0, 0, 1.0, 0, carousel});
  add_link(robot, "arm", 1.0, {0, 0, 0}, {about_axis, 0, 0, across, 0, along});
  add_link(robot, "rotor", 1.0, {0, 0, 0}, {C, 0, 0, A, 0, B});
  add_joint(robot, "turn", "revolute", "base", "carousel");
  add_joint(robot, "arm_joint", "revolute", "carousel", "arm", {1, 0, 0});
  add_joint(robot, "rotor_joint", "revolute", "carousel", "rotor", {1, 0, 0}).independent = false;
  robot.couplings.push_back({"gear", "arm", "rotor", ratio, {}});
  const ModelPtr model = host().compile(robot);
  ASSERT_EQ(asymmetric_rotors(*model).size(), 1u);
  const int turn = model->joint("turn").independent, arm = model->joint("arm_joint").independent;
  for (const double angle : {0.0, 0.3, -1.1}) {
    const double theta = ratio * angle, w = 1.7, rate = 0.9, wdot = -0.4, accelerates = 2.3;
    std::vector<double> q(model->nq()), v(2), vdot(2), tau(2), back(2);
    q[model->joint("turn").q] = 0.8;
    q[model->joint("arm_joint").q] = angle, q[model->joint("rotor_joint").q] = theta;
    v[turn] = w, v[arm] = rate, vdot[turn] = wdot, vdot[arm] = accelerates;
    const auto about_z = [](double y, double z, double turned) {
      return y * std::sin(turned) * std::sin(turned) + z * std::cos(turned) * std::cos(turned);
    };
    const double about = carousel + about_z(across, along, angle) + about_z(A, B, theta);
    const double slope = (A - B) * std::sin(2.0 * theta) * ratio +  // of it by the arm's angle
                         (across - along) * std::sin(2.0 * angle);
    host().create<InverseDynamics<double>>("c-rnea", model)->evaluate(q, v, vdot, tau);
    EXPECT_NEAR(tau[turn], about * wdot + slope * rate * w, 1e-14);
    EXPECT_NEAR(tau[arm], (about_axis + ratio * ratio * C) * accelerates - 0.5 * slope * w * w,
                1e-14);
    host().create<ForwardDynamics<double>>("c-aba", model)->evaluate(q, v, tau, back);
    EXPECT_LE(relative_difference(back, vdot), 1e-14);
  }
}

}  // namespace
}  // namespace espalier::test::asymmetric_rotors_test
