#include <gtest/gtest.h>

#include <filesystem>
#include <numbers>

#include "cli/allocations.hpp"
#include "espalier/simulation/controllers.hpp"
#include "espalier/simulation/messages.hpp"
#include "espalier/simulation/simulation.hpp"
#include "tests/simulation/support.hpp"

namespace espalier::test::simulation_test {
namespace {

constexpr double pi = std::numbers::pi;

/// A rod on a hinge, hanging down at q = 0.
Description pendulum(const PassiveDynamics& passive = {}) {
  Description robot = ground();
  robot.gravity = {9.81, 0, 0};
  add_rod(robot, "rod", 1.0);
  add_joint(robot, "hinge", "revolute", "base", "rod").passive = passive;
  return robot;
}
constexpr double pendulum_inertia = 1.0 / 3.0 + 1e-6;

ModelPtr tello() { return host().load(ESPALIER_SOURCE_DIR "/robots/tello.yaml"); }
/// Legs that swing: rates of a motor are six times those of its joint.
At swinging(const Model& model) {
  At start{std::vector<double>(model.nq()), Rng(1).vector(model.nv(), 5.0)};
  model.neutral(start.q.data());
  return start;
}

TEST(SimulationTest, SmallSwingOfAPendulumHasItsPeriod) {
  const ModelPtr model = host().compile(pendulum());
  const auto s = simulation(model, "rk4", {{1e-3}, {0.0}});
  std::vector<double> zeros;  // times of the zeros, linear in between
  double last_t = 0.0, last_q = 1e-3;
  s->run(10.0, 1e-3, 1, [&](const Sample& now) {
    if ((now.q[0] < 0.0) != (last_q < 0.0)) {
      zeros.push_back(last_t + (now.t - last_t) * last_q / (last_q - now.q[0]));
    }
    last_t = now.t, last_q = now.q[0];
    return true;
  });
  const double period = 2.0 * (zeros.back() - zeros.front()) / (zeros.size() - 1.0);
  const double expected = 2 * pi * std::sqrt(pendulum_inertia / (9.81 * 0.5));
  EXPECT_NEAR(period / expected, 1.0, 1e-6) << "amplitude² / 16 = 6e-8, zeros good to 1e-7";
}

TEST(SimulationTest, PassiveFourBarPendulumKeepsItsEnergyAndItsLoop) {
  const ModelPtr model = host().compile(four_bar());
  std::vector<double> q(3);
  model->neutral(q.data());
  const auto s = simulation(model, "rk4", {q, {3.0}});
  const Drift d = drift(*s, 10.0, 5e-4);
  EXPECT_LT(d.relative, 1e-6);
  EXPECT_LT(d.residual, 1e-10);
}

TEST(SimulationTest, PassiveTelloKeepsItsEnergyAndItsLoops) {
  const ModelPtr model = tello();
  const auto s = simulation(model, "rk4", swinging(*model), {}, {.passive = false});
  const Drift d = drift(*s, 10.0, 5e-4);
  EXPECT_LT(d.relative, 1e-6);
  EXPECT_LT(d.residual, 1e-10);
}

TEST(SimulationTest, DormandPrinceKeepsTheEnergyOfAFourBar) {
  const ModelPtr model = host().compile(four_bar());
  std::vector<double> q(3);
  model->neutral(q.data());
  const auto s = simulation(model, "dormand-prince", {q, {3.0}});
  const Drift d = drift(*s, 10.0, 0.02, 1);
  EXPECT_LT(d.relative, 1e-6);
  EXPECT_LT(d.residual, 1e-10);
}

TEST(SimulationTest, SemiImplicitEulerHoldsEnergyWithinBounds) {
  const ModelPtr model = host().compile(pendulum());
  const auto s = simulation(model, "semi-implicit-euler", {{1.5}, {0.0}});
  EXPECT_LT(drift(*s, 10.0, 1e-3).relative, 5e-3) << "of the order of h times the frequency";
}

TEST(SimulationTest, MomentumOfAFreeRobotIsConstant) {
  Description robot = chain_of(std::vector<std::string>{"spherical", "revolute", "prismatic"});
  robot.gravity = {0, 0, 0};
  add_solid(robot, "trunk");
  robot.links.front().inertial = robot.links.back().inertial;
  robot.links.pop_back();
  const ModelPtr model = host().compile(robot, {.root = CompileOptions::Root::floating});
  At start{std::vector<double>(model->nq()), Rng(4).vector(model->nv(), 1.0)};
  model->neutral(start.q.data());
  const auto kinematics = any<Kinematics<double>>(model);
  const std::vector<double> zero(model->nv(), 0.0);
  // Linear and angular momentum in the world, from each link's own mass and twist.
  const auto momentum = [&](In<double> q, In<double> v) {
    kinematics->evaluate(q, v, zero);
    Vec3<double> p = Vec3<double>::zero(), L = Vec3<double>::zero();
    for (const LinkDescription& description : robot.links) {
      const Link& link = model->link(description.name);
      const Transform<double> X = kinematics->placement(link);
      const Force<double> h =
          X.transpose_times_force(description.inertial->about_link() * kinematics->velocity(link));
      p += h.f, L += h.n;
    }
    return std::vector<double>{p.x, p.y, p.z, L.x, L.y, L.z};
  };
  const auto s = simulation(model, "rk4", start);
  const std::vector<double> first = momentum(start.q, start.v);
  ASSERT_GT(largest(first), 0.1);
  s->run(2.0, 1e-3, 100, [&](const Sample& now) {
    EXPECT_LT(largest_difference(momentum(In<double>(now.q.data(), now.q.size()),
                                          In<double>(now.v.data(), now.v.size())),
                                 first),
              1e-9)
        << "order 4 at 1 ms: (h times rates of 3)^4";
    return true;
  });
}

TEST(SimulationTest, DampingTakesEnergyAndNothingElseDoes) {
  for (const bool passive : {true, false}) {
    const ModelPtr model = host().compile(pendulum({.damping = 0.1}));
    const auto s = simulation(model, "rk4", {{1.0}, {0.0}}, {}, {.passive = passive});
    double last = 1e9, first = 0.0;
    s->run(5.0, 1e-3, 50, [&](const Sample& now) {
      if (now.t == 0.0) first = now.energy();
      if (passive) {
        EXPECT_LT(now.energy(), last);
      }
      last = now.energy();
      return true;
    });
    if (!passive) {
      EXPECT_NEAR(last, first, 1e-9) << "order 4 at 1 ms";
    } else {
      EXPECT_LT(last, first - 0.1);
    }
  }
}

TEST(SimulationTest, SpringEnergyIsPartOfTheSum) {
  const ModelPtr model = host().compile(pendulum({.stiffness = 20.0, .rest = 0.5}));
  const auto s = simulation(model, "rk4", {{1.0}, {0.0}});
  EXPECT_NEAR(s->sample().springs, 0.5 * 20.0 * 0.25, 1e-14);
  EXPECT_LT(drift(*s, 10.0, 1e-3).relative, 1e-8) << "order 4 at 1 ms";
}

TEST(SimulationTest, DryFrictionStopsWithoutChatter) {
  // On a level: friction takes 0.1 J for each radian, then holds.
  Description robot = pendulum({.friction = 0.1});
  robot.gravity = {0, 0, 0};
  const ModelPtr model = host().compile(robot);
  const double v0 = 0.6;
  for (const char* integrator : {"rk4", "semi-implicit-euler", "dormand-prince"}) {
    const auto s = simulation(model, integrator, {{0.0}, {v0}}, {}, {.friction_rate = 1e-3});
    double last = v0;
    s->run(4.0, 1e-3, 1, [&](const Sample& now) {
      EXPECT_LE(now.v[0], last + 1e-12) << integrator;
      EXPECT_GE(now.v[0], 0.0) << integrator;
      last = now.v[0];
      return true;
    });
    // tanh(v / 1 mrad/s) is 1 but for the last 3 mrad/s.
    EXPECT_NEAR(s->q()[0], 0.5 * pendulum_inertia * v0 * v0 / 0.1, 2e-3) << integrator;
    EXPECT_LT(s->v()[0], 1e-6) << integrator;
  }
}

TEST(SimulationTest, PdReachesItsTargetOnALoopAndBehindAGear) {
  const ModelPtr bar = host().compile(four_bar());
  std::vector<std::unique_ptr<Controller>> controllers;
  // The rocker depends on the crank: its force acts on the crank by G^T.
  std::vector<double> q(3);
  bar->neutral(q.data());
  At start{q, {0.0}};
  std::vector<double> wanted = q;
  wanted[bar->joint("crank").q] += 0.5;
  ASSERT_EQ(close(*bar, q.data(), wanted.data()).verdict, Closure::Verdict::closed);
  const double target = wanted[bar->joint("rocker").q];
  controllers.push_back(std::make_unique<PdControl>(
      *bar,
      std::vector<std::pair<std::string, PdControl::Gains>>{{"rocker", {4000, 200, target, 0}}}));
  const auto s = simulation(bar, "rk4", start, {}, {}, std::move(controllers));
  s->set_gravity({0, 0, 0});
  s->run(5.0, 1e-3, 5000, [](const Sample&) { return true; });
  EXPECT_NEAR(s->q()[bar->joint("rocker").q], target, 1e-6);
  EXPECT_NEAR(s->q()[bar->joint("crank").q], wanted[bar->joint("crank").q], 1e-4);

  const ModelPtr geared = tello();
  std::vector<std::unique_ptr<Controller>> motors;
  motors.push_back(
      std::make_unique<PdControl>(*geared, std::vector<std::pair<std::string, PdControl::Gains>>{
                                               {"left.hip_clamp.rotor", {0.5, 0.05, 0.6, 0.0}}}));
  At rest{std::vector<double>(geared->nq()), std::vector<double>(geared->nv(), 0.0)};
  geared->neutral(rest.q.data());
  const auto t = simulation(geared, "rk4", rest, {}, {}, std::move(motors));
  t->set_gravity({0, 0, 0});
  t->run(3.0, 1e-3, 3000, [](const Sample&) { return true; });
  EXPECT_NEAR(t->q()[geared->joint("left.hip_clamp.rotor").q], 0.6, 1e-3);
  EXPECT_NEAR(t->q()[geared->joint("left.hip_clamp.link").q], 0.1, 1e-3) << "one sixth";
}

TEST(SimulationTest, ConstantForceOnADependentJointIsGeneralized) {
  // A torque on the rocker and the torque on the crank of the same power move the bar alike.
  const ModelPtr model = host().compile(four_bar());
  std::vector<double> q(3);
  model->neutral(q.data());
  SpanningMotion<double> motion(*model);
  motion.update(q.data(), nullptr);
  std::vector<double> qd(3);
  const double one = 1.0;
  motion.expand(&one, qd.data());
  std::vector<double> after_step[2];
  for (const bool on_rocker : {false, true}) {
    std::vector<std::unique_ptr<Controller>> controllers;
    controllers.push_back(std::make_unique<ConstantForces>(
        *model,
        std::vector<std::pair<std::string, std::vector<double>>>{
            on_rocker ? std::pair{std::string("rocker"), std::vector<double>{2.0}}
                      : std::pair{std::string("crank"),
                                  std::vector<double>{2.0 * qd[model->joint("rocker").v]}}}));
    const auto s =
        simulation(model, "semi-implicit-euler", {q, {0.0}}, {}, {}, std::move(controllers));
    s->step(1e-3);
    after_step[on_rocker] = s->v();
  }
  EXPECT_NEAR(after_step[0][0], after_step[1][0], 1e-14) << "one evaluation at the same state";
}

TEST(SimulationTest, WithoutStartItBeginsNeutralAndAtRest) {
  const ModelPtr model = host().load(ESPALIER_SOURCE_DIR "/robots/tello.yaml");
  const auto begun = make_simulation(host(), model, {.algorithm = "c-aba"});
  const auto started = make_simulation(host(), model, {.algorithm = "c-aba"});
  std::vector<double> q(model->nq());
  model->neutral(q.data());
  started->start(q, std::vector<double>(model->nv(), 0.0));
  EXPECT_EQ(begun->sample().residual, started->sample().residual);
  for (int k = 0; k < 3; ++k) begun->step(1e-3), started->step(1e-3);
  EXPECT_EQ(begun->q(), started->q());
  EXPECT_EQ(begun->v(), started->v());
}

TEST(SimulationTest, RunsNeedAnOutput) {
  const ModelPtr model = host().compile(pendulum());
  EXPECT_THROW(make_simulation(host(), model, {})->run(0.1, 0.01, 1, nullptr), InvalidModel);
}

TEST(SimulationTest, TableIsLinearBetweenItsRowsAndHoldsItsEnds) {
  const ModelPtr model = host().compile(pendulum());
  ForceTable table(*model, {"hinge"}, {1.0, 2.0, 4.0}, {{10.0}, {20.0}, {0.0}});
  for (const auto& [t, expected] : std::vector<std::pair<double, double>>{{0.0, 10.0},
                                                                          {1.0, 10.0},
                                                                          {1.5, 15.0},
                                                                          {2.0, 20.0},
                                                                          {3.5, 5.0},
                                                                          {4.0, 0.0},
                                                                          {9.0, 0.0}}) {
    double force = 1.0;
    table.drive(t, nullptr, nullptr, &force);
    EXPECT_NEAR(force, 1.0 + expected, 1e-14) << "added, at t = " << t;
  }
}

TEST(SimulationTest, LoopsThatCannotBeClosedStopItWithClusterMarginAndTime) {
  // A parallelogram that is driven through its flat pose, if it is not to go on there.
  const ModelPtr model = host().compile(four_bar({0.3, 0.5, 0.3, 0.5}));
  std::vector<double> q(3);
  q[model->joint("crank").q] = 2.0, q[model->joint("coupler").q] = -2.0;
  q[model->joint("rocker").q] = 2.0;
  for (const char* integrator : {"rk4", "semi-implicit-euler", "dormand-prince"}) {
    const auto s = simulation(model, integrator, {q, {8.0}}, {}, {.past_dead_points = false});
    try {
      s->run(1.0, 1e-3, 1, [](const Sample&) { return true; });
      ADD_FAILURE() << integrator << " went through";
    } catch (const SingularMechanism& error) {
      const std::string text = error.what();
      for (const char* word : {"at t = 0.", "cluster 'crank", "margin", "expected closed loops"}) {
        EXPECT_NE(text.find(word), std::string::npos) << integrator << ": " << text;
      }
      EXPECT_LT(s->time(), 0.5);
    }
  }
}

TEST(SimulationTest, BadStartsAreRefused) {
  const ModelPtr model = host().compile(four_bar());
  const auto s = make_simulation(host(), model, {"dense", "rk4", {}});
  std::vector<double> q(3);
  model->neutral(q.data());
  EXPECT_THROW(s->start(std::vector<double>(2), std::vector<double>(1)), SizeMismatch);
  std::vector<double> open = q;
  open[model->joint("rocker").q] += 0.3;
  EXPECT_THROW(s->start(open, std::vector<double>(1)), SingularMechanism);
  EXPECT_THROW(s->start(q, std::vector<double>{std::nan("")}), SingularMechanism);
  open = q;
  open[0] = HUGE_VAL;
  EXPECT_THROW(s->start(open, std::vector<double>(1)), SingularMechanism);
  EXPECT_THROW(s->set_forces(std::vector<double>(5)), SizeMismatch);
  const auto ignore = [](const Sample&) { return true; };
  EXPECT_THROW(s->run(1.0, 0.0, 1, ignore), InvalidModel);
  EXPECT_THROW(s->run(1.0, std::nan(""), 1, ignore), InvalidModel);
  EXPECT_THROW(s->run(1e12, 1e-12, 1, ignore), InvalidModel) << "1e24 steps";
  EXPECT_THROW(s->step(HUGE_VAL), InvalidModel);
  EXPECT_THROW(make_simulation(host(), model, {"dense", "rk4", {}}, {.friction_rate = 0.0}),
               InvalidModel);
  for (const double wrong : {-1e-9, std::nan("")}) {
    EXPECT_THROW(make_simulation(host(), model, {"dense", "rk4", {}}, {.loop_error = wrong}),
                 InvalidModel);
  }
  EXPECT_THROW(make_simulation(host(), model, {"c-abba", "rk4", {}}), UnknownName);
}

TEST(SimulationTest, LastStepIsAsShortAsItHasToBe) {
  const ModelPtr model = host().compile(pendulum());
  const auto s = simulation(model, "rk4", {{0.1}, {0.0}});
  std::vector<double> times;
  s->run(0.25, 0.1, 1, [&](const Sample& now) {
    times.push_back(now.t);
    return true;
  });
  EXPECT_EQ(times, (std::vector<double>{0.0, 0.1, 0.2, 0.25}));
  s->run(0.3, 0.1, 1, [](const Sample&) { return true; });
  EXPECT_EQ(s->time(), 0.55) << "0.3 / 0.1 is 2.9999999999999996: no fourth step";
}

TEST(SimulationTest, StepsTakeNothingFromTheHeap) {
  if (!cli::allocation_count()) GTEST_SKIP() << "this C library does not count";
  for (const ModelPtr& model : {host().compile(four_bar()), tello()}) {
    for (const char* integrator : {"rk4", "semi-implicit-euler", "dormand-prince"}) {
      At start{std::vector<double>(model->nq()), std::vector<double>(model->nv(), 0.1)};
      model->neutral(start.q.data());
      const auto s = make_simulation(host(), model, {"c-aba", integrator, {}});
      s->start(start.q, start.v);
      s->step(1e-3);  // Odeint takes its memory here
      const long before = *cli::allocation_count();
      for (int k = 0; k < 100; ++k) s->step(1e-3);
      s->sample();
      EXPECT_EQ(*cli::allocation_count() - before, 0) << model->name() << ", " << integrator;
    }
  }
}

TEST(SimulationTest, FunctionDrivesAsTheControllerThatItIsWrittenAs) {
  const ModelPtr model = host().compile(pendulum());
  const PdControl::Gains gains{.kp = 60.0, .kd = 3.0, .target = -0.4, .target_rate = 0.0};
  std::vector<std::unique_ptr<Controller>> pd;
  pd.push_back(
      std::make_unique<PdControl>(*model, std::vector{std::pair{std::string("hinge"), gains}}));
  const auto one = make_simulation(host(), model, {}, {}, std::move(pd));
  const auto other =
      make_simulation(host(), model, {}, {}, controlled_by(model, [](const ControlStep& now) {
                        now.force("hinge") +=
                            60.0 * (-0.4 - now.position("hinge")) + 3.0 * (0.0 - now.rate("hinge"));
                      }));
  for (auto* s : {one.get(), other.get()})
    s->run(0.5, 1e-3, 500, [](const Sample&) { return true; });
  EXPECT_NEAR(one->q()[0], other->q()[0], 1e-14);  // one product is fused with its sum or not
  EXPECT_LT(other->q()[0], -0.3);
}

TEST(SimulationTest, FunctionIsToldOfWrongNames) {
  const ModelPtr model = host().compile(pendulum());
  const auto s =
      make_simulation(host(), model, {}, {},
                      controlled_by(model, [](const auto& now) { now.force("hinges") = 1.0; }));
  EXPECT_THROW(s->run(0.1, 1e-3, 1, [](const Sample&) { return true; }), UnknownName);
  EXPECT_THROW(ControlFunction(model, nullptr), InvalidModel);
}

void expect_words(const std::string& text, const std::vector<std::string>& words) {
  for (const std::string& word : words) {
    EXPECT_NE(text.find(word), std::string::npos) << word << "\n" << text;
  }
}

/// The message that a run ends with.
template <class E>
std::string end_of(Simulation& s, double h = 1e-3) {
  try {
    s.run(1.0, h, 1000, [](const Sample&) { return true; });
  } catch (const E& error) {
    return error.what();
  }
  return "nothing was thrown";
}

TEST(SimulationTest, ForcesThatAreNoNumbersAreTheControllers) {
  const ModelPtr model = host().compile(pendulum());
  const auto s = make_simulation(host(), model, {}, {}, controlled_by(model, [](const auto& now) {
                                   if (now.t > 0.4) now.force("hinge") += std::sqrt(-now.t);
                                 }));
  const std::string text = end_of<InvalidModel>(*s);
  expect_words(text, {"simulation at t = 0.4", "force on joint 'hinge' is", "nan",
                      "expected a finite number (a controller added it)"});
  std::vector<std::unique_ptr<Controller>> two = controlled_by(model, [](const auto&) {});
  two.push_back(std::move(
      controlled_by(model, [](const auto& now) { now.force("hinge") += HUGE_VAL; }).front()));
  const auto other = make_simulation(host(), model, {}, {}, std::move(two));
  expect_words(end_of<InvalidModel>(*other), {"'hinge' is inf", "(controller 2 of 2 added it)"});
}

TEST(SimulationTest, EnergiesOfSamplesCanBeLeftToOthers) {
  const ModelPtr model = host().compile(pendulum());
  const auto s = simulation(model, "rk4", {{0.5}, {1.0}});
  s->leave_energies(true);
  const Sample left = s->sample();
  EXPECT_TRUE(std::isnan(left.kinetic) && std::isnan(left.gravity));
  EXPECT_EQ(left.q[0], 0.5);
  s->leave_energies(false);
  EXPECT_NEAR(s->sample().kinetic, 0.5 * pendulum_inertia, 1e-12) << "rate 1";
}

TEST(SimulationTest, ConstantForcesAreNumbers) {
  const ModelPtr model = host().compile(pendulum());
  const auto s = make_simulation(host(), model);
  try {
    s->set_forces(std::vector<double>{std::nan("")});
    FAIL() << "NaN was taken";
  } catch (const InvalidModel& error) {
    expect_words(error.what(), {"simulation: tau of 'hinge' is nan, expected a finite number"});
  }
}

TEST(SimulationTest, AdviceDependsOnWhatCouldBeDone) {
  const ModelPtr model = host().compile(four_bar());
  const std::string own = model->coordinates().front().name;
  const std::vector<std::string> present{own}, other{"somebody"};
  const std::vector<double> moving{1.0}, still{0.0};
  expect_words(espalier::detail::advice_past(*model, present, moving),
               {"take shorter steps", "independent already"});
  expect_words(espalier::detail::advice_past(*model, other, moving),
               {"declare these joints independent"});
  expect_words(espalier::detail::advice_past(*model, {}, moving),
               {"the mechanism itself is singular"});
  expect_words(espalier::detail::advice_past(*model, {}, still), {"start it elsewhere"});
}

}  // namespace
}  // namespace espalier::test::simulation_test
