#include <gtest/gtest.h>

#include "cli/allocations.hpp"
#include "espalier/kernel/model/motion/passive.hpp"
#include "espalier/kernel/problems/dynamics/subsystem_matrices.hpp"
#include "espalier/kernel/problems/operational_space/input_matrix.hpp"
#include "tests/support/composed_robot.hpp"
#include "tests/support/host.hpp"
#include "tests/support/random_robot.hpp"
#include "tests/support/simple_robot.hpp"
#include "tests/support/state.hpp"
#include "tests/support/subsystem_groups.hpp"

// Joints that bring equations of motion with them: all methods agree on them, and they obey
// mechanics.

namespace espalier::test::joint_supplied_dynamics_test {
namespace {

using Numbers = std::vector<double>;

// Agreed in the project's specification, as in cluster_agreement_test.cpp.
constexpr double agreed = 1e-9;

/// A tree in which every other joint or so is an elastic drive or an elastic beam.
ModelPtr elastic_robot(int seed) {
  RobotOptions options;
  options.seed = seed;
  options.bodies = 1 + seed % 8;
  options.floating_base = seed % 3 == 0;
  if (options.floating_base) options.armature = 0.0;  // on the root it would count as mass
  options.types = {"elastic_drive", "elastic_beam", "revolute", "prismatic", "spherical"};
  return host().compile(random_robot(host().registry(), options));
}

/// Beams and drives bend a little only.
State gentle_state(const Model& model, int seed) {
  State s = random_state(model, seed);
  for (const int i : model.bodies_with_equations()) {
    const Body& b = model.body(i);
    for (int k = 0; k < b.nq; ++k) s.q[b.q + k] *= 0.05;
  }
  return s;
}

/// Where the state is after time t at constant accelerations.
Numbers position(const Model& model, const State& s, double t) {
  Numbers step(s.v.size());
  for (std::size_t i = 0; i < step.size(); ++i) step[i] = t * s.v[i] + 0.5 * t * t * s.vdot[i];
  Numbers out(s.q.size());
  model.integrate(s.q.data(), step.data(), out.data());
  return out;
}

TEST(OwnEquationsTest, EveryMethodOfForwardDynamicsAgrees) {
  int methods = 0;
  for (int seed = 1; seed <= 100; ++seed) {
    SCOPED_TRACE(seed);
    const ModelPtr model = elastic_robot(seed);
    const State s = gentle_state(*model, seed);
    const Wrenches<double> wrenches = s.wrenches(model);
    Numbers reference(model->nv()), vdot(model->nv());
    host()
        .create<ForwardDynamics<double>>("dense", model)
        ->evaluate(s.q, s.v, s.tau, reference, &wrenches);
    methods = 0;
    for (const auto& [name, algorithm] : every<ForwardDynamics<double>>(model)) {
      algorithm->evaluate(s.q, s.v, s.tau, vdot, &wrenches);
      EXPECT_LT(relative_difference(vdot, reference), agreed) << name;
      ++methods;
    }
  }
  EXPECT_GE(methods, 5);  // dense, kkt, c-aba, bremer-on, minimal-form
}

TEST(OwnEquationsTest, InverseDynamicsUndoesForwardDynamics) {
  for (int seed = 1; seed <= 50; ++seed) {
    SCOPED_TRACE(seed);
    const ModelPtr model = elastic_robot(seed);
    State s = gentle_state(*model, seed);
    const Wrenches<double> wrenches = s.wrenches(model);
    any<ForwardDynamics<double>>(model)->evaluate(s.q, s.v, s.tau, s.vdot, &wrenches);
    Numbers tau(model->nv()), bias(model->nv()), zero(model->nv(), 0.0), at_rest(model->nv());
    // The stiffest coordinate has a spring of 1e5 N/m: forces near 1e3 cancel to those of s.tau.
    constexpr double cancelled = 1e-8;
    for (const auto& [name, algorithm] : every<InverseDynamics<double>>(model)) {
      algorithm->evaluate(s.q, s.v, s.vdot, tau, &wrenches);
      EXPECT_LT(largest_difference(tau, s.tau), cancelled) << name;
    }
    std::unique_ptr<InverseDynamics<double>> inverse = any<InverseDynamics<double>>(model);
    inverse->evaluate(s.q, s.v, zero, at_rest, &wrenches);
    for (const auto& [name, algorithm] : every<BiasForce<double>>(model)) {
      algorithm->evaluate(s.q, s.v, bias, &wrenches);
      EXPECT_LT(relative_difference(bias, at_rest), agreed) << name;
    }
  }
}

TEST(OwnEquationsTest, GroupingDoesNotMatter) {
  for (int seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE(seed);
    const ModelPtr model = elastic_robot(seed);
    const State s = gentle_state(*model, seed);
    Numbers reference(model->nv()), vdot(model->nv());
    host().create<ForwardDynamics<double>>("dense", model)->evaluate(s.q, s.v, s.tau, reference);
    for (const Groups& groups : {whole_robot(*model), random_groups(*model, seed)}) {
      espalier::Setup setup{model};
      setup.groups = groups;
      for (const char* name : {"bremer-on", "minimal-form"}) {
        host().create<ForwardDynamics<double>>(name, setup)->evaluate(s.q, s.v, s.tau, vdot);
        EXPECT_LT(relative_difference(vdot, reference), agreed) << name;
      }
    }
  }
}

TEST(OwnEquationsTest, LoopsAndCouplingsMayTieThem) {
  // A beam's twist follows a drive's link; another beam closes a loop.
  Description robot = ground();
  add_solid(robot, "a");
  add_joint(robot, "drive", "elastic_drive", "base", "a").parameters =
      host().registry().joint_type("elastic_drive").sample();
  add_solid(robot, "b");
  add_joint(robot, "beam", "elastic_beam", "a", "b", {1, 0, 0},
            {{1.0553365, 0.2955202, 0}, {0, 0, 0.3}});
  add_solid(robot, "c");
  add_joint(robot, "hinge", "revolute", "b", "c", {0, 1, 0}, {{0.1, 0, 0}, {0, 0, 0}});
  add_solid(robot, "d");
  add_joint(robot, "slide", "prismatic", "a", "d", {0, 0, 1}, {{0.2, 0, 0.1}, {0, 0, 0}});
  LoopDescription loop;
  loop.name = "ball", loop.type = "spherical", loop.predecessor = "c", loop.successor = "d";
  loop.predecessor_origin = {{0, 0, 0.1}, {0, 0, 0}};  // both at (1.15087, 0.32507, 0.1)
  loop.successor_origin = {{0.95087015, 0.32507222, 0.0}, {0, 0, 0}};
  robot.loops.push_back(loop);
  const ModelPtr model = host().compile(robot);
  ASSERT_NE(model->first_constrained(), nullptr);
  State s = random_state(*model, 5);
  model->neutral(s.q.data());
  const Wrenches<double> wrenches = s.wrenches(model);
  Numbers reference(model->nv()), vdot(model->nv());
  host()
      .create<ForwardDynamics<double>>("kkt", model)
      ->evaluate(s.q, s.v, s.tau, reference, &wrenches);
  for (const auto& [name, algorithm] : every<ForwardDynamics<double>>(model)) {
    algorithm->evaluate(s.q, s.v, s.tau, vdot, &wrenches);
    EXPECT_LT(relative_difference(vdot, reference), agreed) << name;
  }
  Numbers tau(model->nv());
  for (const auto& [name, algorithm] : every<InverseDynamics<double>>(model)) {
    algorithm->evaluate(s.q, s.v, reference, tau, &wrenches);
    EXPECT_LT(relative_difference(tau, s.tau), 1e-8) << name;  // springs cancel, as above
  }
}

TEST(OwnEquationsTest, PowerIsTheRateOfEnergyWithoutSprings) {
  // What the springs and dampers give is the bias at rest, without gravity; and it is not in the
  // energy of motion and gravity. Central differences at 1e-4 s of numbers near 1e3.
  constexpr double by_differences = 1e-4;
  for (int seed = 1; seed <= 30; ++seed) {
    SCOPED_TRACE(seed);
    const ModelPtr model = elastic_robot(seed);
    State s = gentle_state(*model, seed);
    any<ForwardDynamics<double>>(model)->evaluate(s.q, s.v, s.tau, s.vdot);
    const auto energy = any<Energy<double>>(model);
    const auto at = [&](double t) {
      const auto e = energy->evaluate(position(*model, s, t), combined(s.v, t, s.vdot));
      return e.kinetic + e.potential;
    };
    const double h = 1e-4;
    const double rate = (8.0 * (at(h) - at(-h)) - (at(2 * h) - at(-2 * h))) / (12.0 * h);
    // Springs at rest; the drives' dampers see their rates.
    auto bias = any<BiasForce<double>>(model);
    bias->set_gravity({0, 0, 0});
    Numbers springs(model->nv()), zero(model->nv(), 0.0);
    bias->evaluate(s.q, zero, springs);
    double power = inner(s.tau, s.v) - inner(springs, s.v);
    for (const int i : model->bodies_with_equations()) {
      const Body& b = model->body(i);
      if (b.nv != 2) continue;
      const double slip = s.v[b.v + 1] / 50 - s.v[b.v];  // ratio and damping of the sample
      power -= 0.5 * slip * slip;
    }
    EXPECT_NEAR(rate, power, by_differences * std::max(1.0, std::abs(power)));
  }
}

TEST(OwnEquationsTest, MomentumOfAFloatingRobotChangesByGravityAlone) {
  for (const int seed : {3, 6, 9, 12, 15}) {
    SCOPED_TRACE(seed);
    const ModelPtr model = elastic_robot(seed);
    State s = gentle_state(*model, seed);
    std::fill(s.tau.begin(), s.tau.end(), 0.0);
    any<ForwardDynamics<double>>(model)->evaluate(s.q, s.v, s.tau, s.vdot);
    const auto centre = any<CenterOfMass<double>>(model)->evaluate(s.q, s.v, s.vdot);
    for (int k = 0; k < 3; ++k) EXPECT_NEAR(centre.acceleration[k], model->gravity()[k], 1e-8);
  }
}

TEST(OwnEquationsTest, NothingIsAllocated) {
  const ModelPtr model = elastic_robot(7);
  const State s = gentle_state(*model, 7);
  Numbers vdot(model->nv());
  for (const char* name : {"c-aba", "bremer-on", "minimal-form"}) {
    const auto algorithm = host().create<ForwardDynamics<double>>(name, model);
    algorithm->evaluate(s.q, s.v, s.tau, vdot);
    const auto before = cli::allocation_count();
    algorithm->evaluate(s.q, s.v, s.tau, vdot);
    if (!before) GTEST_SKIP() << "this C library does not let allocations be counted";
    EXPECT_EQ(*cli::allocation_count() - *before, 0) << name;
  }
}

TEST(OwnEquationsTest, PacksAgreeWithSingleStates) {
  const ModelPtr model = elastic_robot(8);
  const int nq = model->nq(), nv = model->nv();
  std::vector<Pack> q(nq), v(nv), tau(nv), vdot(nv);
  std::vector<Numbers> expected;
  for (int l = 0; l < Pack::size; ++l) {
    const State s = gentle_state(*model, 20 + l);
    for (int i = 0; i < nq; ++i) q[i].set(l, s.q[i]);
    for (int i = 0; i < nv; ++i) v[i].set(l, s.v[i]), tau[i].set(l, s.tau[i]);
    expected.emplace_back(nv);
    host()
        .create<ForwardDynamics<double>>("c-aba", model)
        ->evaluate(s.q, s.v, s.tau, expected.back());
  }
  for (const auto& [name, algorithm] : every<ForwardDynamics<Pack>>(model)) {
    algorithm->evaluate(q, v, tau, vdot);
    for (int l = 0; l < Pack::size; ++l) {
      Numbers got(nv);
      for (int i = 0; i < nv; ++i) got[i] = vdot[i][l];
      EXPECT_LT(relative_difference(got, expected[l]), agreed) << name;
    }
  }
}

TEST(OwnEquationsTest, OtherAlgorithmsRefuseAndNameTheJoint) {
  Description robot = ground();
  add_solid(robot, "tip");
  add_joint(robot, "boom", "elastic_beam", "base", "tip");
  const ModelPtr model = host().compile(robot);
  try {
    host().create<ForwardDynamics<double>>("aba", model);
    FAIL() << "accepted";
  } catch (const Unsupported& error) {
    const std::string text = error.what();
    for (const char* part : {"aba", "'boom'", "elastic_beam", "equations of motion of its own",
                             "'c-aba'", "'bremer-on'"}) {
      EXPECT_NE(text.find(part), std::string::npos) << part << " is not in: " << text;
    }
  }
}

TEST(OwnEquationsTest, InputsAreThoseThatTheTypeNames) {
  Description robot = ground();
  add_solid(robot, "link");
  add_joint(robot, "knee", "elastic_drive", "base", "link").parameters =
      host().registry().joint_type("elastic_drive").sample();
  const ModelPtr model = host().compile(robot);
  espalier::Setup setup{model};
  setup.inputs = {{.joint = "knee"}};
  const auto matrix = host().create<InputMatrix<double>>("dense", setup);
  EXPECT_EQ(matrix->inputs().names(), std::vector<std::string>{"knee.motor"});
  const State s = random_state(*model, 3);
  Numbers pushed(2), free(2);
  const auto forward = any<ForwardDynamics<double>>(model);
  forward->evaluate(s.q, s.v, Numbers{0.0, 1.0}, pushed);
  forward->evaluate(s.q, s.v, Numbers{0.0, 0.0}, free);
  const auto& answer = matrix->evaluate(s.q, s.v, Numbers(2, 0.0));
  for (int k = 0; k < 2; ++k) {
    EXPECT_NEAR(answer.input_matrix[k], pushed[k] - free[k], 1e-6 * std::abs(pushed[k]));
  }

  const auto bremer = host().create<SubsystemMatrices<double>>("bremer", model);
  const auto& knee = bremer->evaluate(s.q, s.v).front();
  EXPECT_EQ(knee.inputs, std::vector<std::string>{"knee.motor"});
  EXPECT_EQ(knee.B, (Numbers{0, 0, 0, 0, 0, 0, 0, 1}));
}

}  // namespace
}  // namespace espalier::test::joint_supplied_dynamics_test
