#include <gtest/gtest.h>

#include "cli/allocations.hpp"
#include "espalier/kernel/model/compile/variants.hpp"
#include "tests/simulation/support.hpp"
#include "tests/support/linkages.hpp"

/// Past dead points of the coordinates, and through singular positions of the mechanism.

namespace espalier::test::dead_points_test {
namespace {

using Kind = SimulationEvent::Kind;

int count(const Simulation& s, Kind kind) {
  int n = 0;
  for (const SimulationEvent& event : s.events()) n += event.kind == kind;
  return n;
}
At at_rest(const Model& model) {
  At start{std::vector<double>(model.nq()), std::vector<double>(model.nv(), 0.0)};
  model.neutral(start.q.data());
  return start;
}
At moving(const Model& model, const std::string& joint, double rate) {
  At start = at_rest(model);
  start.v[model.joint(joint).independent] = rate;
  return start;
}

/// Ten seconds by RK4 at 0.5 ms. A change of coordinates may be the last one: a crank that turns
/// right round has no dead point.
void expect_swings(const Description& robot, const std::string& joint, double rate, int changes,
                   double duration = 10.0) {
  const ModelPtr model = host().compile(robot);
  const auto s =
      simulation(model, "rk4", joint.empty() ? at_rest(*model) : moving(*model, joint, rate));
  const Drift d = drift(*s, duration, 5e-4);
  EXPECT_LT(d.relative, 1e-6) << robot.name;
  EXPECT_LT(d.residual, 1e-10) << robot.name;
  EXPECT_GE(count(*s, Kind::coordinates), changes) << robot.name;
  EXPECT_EQ(count(*s, Kind::singularity), 0) << robot.name;
  std::printf("%s: energy %.2g, residual %.2g, %d changes, least margin %.2g\n", robot.name.c_str(),
              d.relative, d.residual, count(*s, Kind::coordinates), s->least_margin());
}

TEST(DeadPointsTest, PassiveStephensonSixBar) { expect_swings(stephenson(), "output", 1.0, 1); }
TEST(DeadPointsTest, ExcavatorsBucketLinkage) { expect_swings(bucket_linkage(), "slide", 0.8, 1); }
TEST(DeadPointsTest, StewartPlatformWithLegsAsCoordinates) {
  expect_swings(stewart_platform(), "slide0", 0.1, 1);
}
TEST(DeadPointsTest, ScissorLift) { expect_swings(standing_scissor_lift(4), "slide", 0.3, 0); }
TEST(DeadPointsTest, DeltaRobot) { expect_swings(delta(), "arm0", 2.0, 0); }

TEST(DeadPointsTest, MotionDoesNotDependOnTheUsersCoordinates) {
  // The same six-bar in the crank's and in the output's rates, at the same start.
  const ModelPtr by_output = host().compile(stephenson("output")),
                 by_crank = host().compile(stephenson("crank"));
  const At start = moving(*by_crank, "crank", 3.0);
  SpanningMotion<double> motion(*by_crank);
  motion.update(start.q.data(), start.v.data());
  At same{start.q, std::vector<double>(1)};
  rates_in(*by_output, motion.qd(), same.v.data());
  const auto a = simulation(by_crank, "rk4", start), b = simulation(by_output, "rk4", same);
  const auto silent = [](const Sample&) { return true; };
  a->run(5.0, 5e-4, 1000, silent);
  b->run(5.0, 5e-4, 1000, silent);
  EXPECT_GE(count(*b, Kind::coordinates), 1) << "the output swings, the crank turns";
  // Errors of order 4 of both, which grow along the way.
  EXPECT_LT(distance(*by_crank, {a->q(), a->v()}, {b->q(), a->v()}), 1e-5);
  motion.update(a->q().data(), a->v().data());
  std::vector<double> output(1);
  rates_in(*by_output, motion.qd(), output.data());
  EXPECT_NEAR(output[0], b->v()[0], 1e-4) << "rates come in the caller's coordinates";
}

TEST(DeadPointsTest, EnergiesThatAreLeftToOthersAreThereInOtherCoordinates) {
  // Near a dead point of the output its rate does not say how fast the crank turns.
  const ModelPtr model = host().compile(stephenson());
  const auto s = simulation(model, "rk4", moving(*model, "output", 1.0));
  const Sample start = s->sample();
  const double energy = start.energy(), kinetic = start.kinetic;
  s->leave_energies(true);
  double largest = 0.0;
  int left = 0, there = 0;
  s->run(5.0, 5e-4, 1, [&](const Sample& now) {
    const bool own = s->present_coordinates().front().name == model->coordinates().front().name;
    EXPECT_EQ(std::isnan(now.kinetic), own);
    EXPECT_EQ(std::isnan(now.gravity), own);
    if (!own) largest = std::max(largest, std::abs(now.energy() - energy));
    ++(own ? left : there);
    return true;
  });
  EXPECT_LT(largest, 1e-6 * kinetic) << "the integrator's";
  EXPECT_GT(left, 10);
  EXPECT_GT(there, 10);
}

TEST(DeadPointsTest, ConstantForcesStayOnTheUsersJoints) {
  // 0.5 N·m on the output: its work is that of the energy, through dead points of the output.
  const ModelPtr model = host().compile(stephenson());
  const At start = moving(*model, "output", 1.0);
  const auto s = simulation(model, "rk4", start);
  s->set_forces(std::vector<double>{0.5});
  const int q = model->joint("output").q;
  double first = 0.0, most = 0.0, kinetic = 0.0;
  s->run(5.0, 5e-4, 20, [&](const Sample& now) {
    const double rest = now.energy() - 0.5 * (now.q[q] - start.q[q]);
    if (now.t == 0.0) first = rest;
    most = std::max(most, std::abs(rest - first));
    kinetic = std::max(kinetic, now.kinetic);
    return true;
  });
  EXPECT_GE(count(*s, Kind::coordinates), 1);
  EXPECT_LT(most, 1e-6 * kinetic);
}

TEST(DeadPointsTest, AStartAtADeadPointIsAtRestOrRefused) {
  // The stretched dead point of a four-bar's rocker: crank and coupler in line.
  FourBar b;
  b.independent = "rocker";
  const ModelPtr model = host().compile(four_bar(b));
  const double c = (0.7 * 0.7 + 0.6 * 0.6 - 0.4 * 0.4) / (2 * 0.7 * 0.6), crank = std::acos(c);
  std::vector<double> q(3);
  q[model->joint("crank").q] = crank;
  q[model->joint("rocker").q] = std::atan2(0.7 * std::sin(crank), 0.7 * std::cos(crank) - 0.6);
  const auto s = make_simulation(host(), model, {"c-aba", "rk4", {}});
  EXPECT_THROW(s->start(q, std::vector<double>{1.0}), SingularMechanism);
  s->start(q, std::vector<double>{0.0});
  const Drift d = drift(*s, 2.0, 5e-4);
  EXPECT_LT(d.relative, 1e-6);
  EXPECT_LT(d.residual, 1e-10);
}

TEST(DeadPointsTest, AParallelogramGoesThroughItsFlatPoseOnItsBranch) {
  const ModelPtr model = host().compile(four_bar({0.3, 0.5, 0.3, 0.5}));
  At start = at_rest(*model);
  start.q[model->joint("crank").q] = 2.0, start.q[model->joint("coupler").q] = -2.0;
  start.q[model->joint("rocker").q] = 2.0;
  start.v = {8.0};
  for (const char* integrator : {"rk4", "semi-implicit-euler"}) {
    const auto s = simulation(model, integrator, start);
    const int crank = model->joint("crank").q, rocker = model->joint("rocker").q;
    double widest = 0.0, first = 0.0, most = 0.0;
    s->run(1.0, 5e-4, 1, [&](const Sample& now) {
      if (now.t == 0.0) first = now.energy();
      most = std::max(most, std::abs(now.energy() - first));
      widest = std::max(widest, std::abs(now.q[crank] - now.q[rocker]));
      return true;
    });
    EXPECT_GE(count(*s, Kind::singularity), 2) << integrator << ": it turns";
    EXPECT_LT(widest, 1e-9) << integrator << ": a parallelogram, not its crossed twin";
    std::printf("%s: energy %.2g of %.2g J\n", integrator, most, first);
    EXPECT_LT(most, integrator == std::string("rk4") ? 1e-8 : 1.0) << "J, of about 10";
    EXPECT_NE(s->text(s->events().front()).find("singular"), std::string::npos);
  }
}

TEST(DeadPointsTest, AStartWhereTheMechanismIsSingularIsRefused) {
  const ModelPtr model = host().compile(four_bar({0.3, 0.5, 0.3, 0.5}));
  const auto s = make_simulation(host(), model, {"c-aba", "rk4", {}});
  EXPECT_THROW(s->start(std::vector<double>(3), std::vector<double>{1.0}), SingularMechanism);
}

TEST(DeadPointsTest, OtherIndependentJointsAreTheSameRobot) {
  const ModelPtr model = host().compile(stewart_platform());
  const At start = moving(*model, "slide0", 0.3);
  SpanningMotion<double> motion(*model);
  motion.update(start.q.data(), start.v.data());
  // The platform's own rates, the last six columns of the ball joint's.
  const Cluster& c = model->clusters()[0];
  LoopProjector loops(model);
  loops.residual(start.q.data());
  const IndependentChoice& choice = loops.look(0);
  EXPECT_GE(choice.best(), choice.present());
  const ModelPtr other = with_independent(*model, 0, choice.columns());
  ASSERT_EQ(other->nv(), model->nv());
  std::vector<double> v(model->nv());
  rates_in(*other, motion.qd(), v.data());
  SpanningMotion<double> there(*other);
  there.update(start.q.data(), v.data());
  EXPECT_LT(largest_difference(std::vector<double>(motion.qd(), motion.qd() + model->spanning_nv()),
                               std::vector<double>(there.qd(), there.qd() + model->spanning_nv())),
            1e-12)
      << "rates of 0.3, elimination of condition about 100";
  // Accelerations of the same forces, by joints: G vdot + g.
  const std::vector<double> zero(model->nv(), 0.0);
  const auto spanning = [&](const ModelPtr& m, SpanningMotion<double>& of, In<double> rates) {
    std::vector<double> vdot(m->nv()), qdd(m->spanning_nv());
    host().create<ForwardDynamics<double>>("c-aba", m)->evaluate(start.q, rates, zero, vdot);
    of.expand(vdot.data(), qdd.data());
    for (std::size_t i = 0; i < qdd.size(); ++i) qdd[i] += of.g()[i];
    return qdd;
  };
  EXPECT_LT(largest_difference(spanning(model, motion, start.v), spanning(other, there, v)), 1e-10);
  // Kept and shared.
  const auto all = Alternatives::of(model);
  EXPECT_EQ(all->with(*model, 0, choice.columns()), all->with(*model, 0, choice.columns()));
  EXPECT_EQ(Alternatives::of(model), all);
  EXPECT_EQ(all->with(*all->with(*model, 0, choice.columns()), 0, c.constraint->independent),
            model);
}

TEST(DeadPointsTest, WrongChoicesAreRefused) {
  const ModelPtr model = host().compile(four_bar());
  EXPECT_THROW(with_independent(*model, 1, std::vector<int>{0}), InvalidModel);
  EXPECT_THROW(with_independent(*model, 0, std::vector<int>{0, 1}), InvalidModel);
  EXPECT_THROW(with_independent(*model, 0, std::vector<int>{3}), InvalidModel);
  EXPECT_THROW(with_armature(*model, std::vector<double>{1.0}), SizeMismatch);
  EXPECT_THROW(with_armature(*model, std::vector<double>{1.0, -1.0, 0.0}), InvalidModel);
}

TEST(DeadPointsTest, ChangingAmongKnownFormsTakesNothingFromTheHeap) {
  if (!cli::allocation_count()) GTEST_SKIP() << "this C library does not count";
  // No bar turns right round: every joint has dead points, again and again.
  const FourBar b{0.4, 0.5, 0.4, 0.95};
  const ModelPtr model = host().compile(four_bar(b));
  const auto s = make_simulation(host(), model, {"c-aba", "rk4", {}});
  const FourBarAngles angles = solve(b, 0.5, 1.0);
  s->start(std::vector<double>{0.5, angles.coupler, angles.rocker}, std::vector<double>{3.0});
  for (int k = 0; k < 8000; ++k) s->step(5e-4);
  const int known = count(*s, Kind::coordinates);
  const long before = *cli::allocation_count();
  for (int k = 0; k < 8000; ++k) s->step(5e-4);
  EXPECT_GT(count(*s, Kind::coordinates), known + 1) << "it goes on changing";
  EXPECT_EQ(*cli::allocation_count() - before, 0);
}

/// Counts how often forces are asked for: four times a part of rk4.
class Counter final : public Controller {
 public:
  explicit Counter(int& calls) : calls_(calls) {}
  void drive(double, const double*, const double*, double*) override { ++calls_; }

 private:
  int& calls_;
};
std::unique_ptr<Simulation> counted(const ModelPtr& model, const At& start, int& calls,
                                    const SimulationOptions& options = {}) {
  std::vector<std::unique_ptr<Controller>> controllers;
  controllers.push_back(std::make_unique<Counter>(calls));
  return simulation(model, "rk4", start, {}, options, std::move(controllers));
}

TEST(LoopErrorTest, StepsAreTakenInPartsWhereTheLoopsShowTheirError) {
  // Ten revolutions a second by steps of 2 ms: whole steps err by 1e-4 of the energy.
  const ModelPtr model = host().compile(four_bar());
  const At start = moving(*model, "crank", 60.0);
  double drifts[3];
  int calls[3] = {0, 0, 0};
  const double errors[3] = {0.0, 1e-7, 5e-10};
  for (int k = 0; k < 3; ++k) {
    const auto s = counted(model, start, calls[k], {.loop_error = errors[k]});
    drifts[k] = drift(*s, 1.0, 2e-3).relative;
    std::printf("loop_error %.0e: energy %.2g, %d evaluations\n", errors[k], drifts[k], calls[k]);
  }
  EXPECT_EQ(calls[0], 4 * 500) << "0: the integrator's own steps";
  EXPECT_GT(calls[1], calls[0]);
  EXPECT_GT(calls[2], calls[1]);
  EXPECT_LT(drifts[1], 0.1 * drifts[0]);
  EXPECT_LT(drifts[2], 0.1 * drifts[1]);
}

TEST(LoopErrorTest, OthersTakeNoParts) {
  int calls = 0;
  const ModelPtr tree = host().compile(chain_of(std::vector<std::string>{"revolute", "revolute"}));
  const auto s = counted(tree, {{0.1, 0.2}, {40.0, -30.0}}, calls);
  for (int k = 0; k < 10; ++k) s->step(2e-3);
  EXPECT_EQ(calls, 40) << "no loop";
  // The error of one order less is as large as it is, and no part would be short enough.
  const ModelPtr bar = host().compile(four_bar());
  const At start = moving(*bar, "crank", 60.0);
  const At whole = after(bar, "semi-implicit-euler", start, 0.1, 1e-3, {}, {.loop_error = 0.0}),
           same = after(bar, "semi-implicit-euler", start, 0.1, 1e-3);
  EXPECT_EQ(whole.q, same.q);
  EXPECT_EQ(whole.v, same.v);
}

TEST(LoopErrorTest, PartsTakeNothingFromTheHeap) {
  if (!cli::allocation_count()) GTEST_SKIP() << "this C library does not count";
  int calls = 0;
  const ModelPtr model = host().compile(four_bar());
  const auto s = counted(model, moving(*model, "crank", 60.0), calls);
  for (int k = 0; k < 100; ++k) s->step(2e-3);
  calls = 0;
  const long before = *cli::allocation_count();
  for (int k = 0; k < 100; ++k) s->step(2e-3);
  EXPECT_EQ(*cli::allocation_count() - before, 0);
  EXPECT_GT(calls, 800) << "they were taken in parts";
}

/// Random loops, of which some are wild.
void expect_random_loops_swing(int first, int last, double duration) {
  int ran = 0, changed = 0;
  double energy = 0.0, residual = 0.0;
  for (int seed = first; seed < last; ++seed) {
    const ModelPtr model = host().compile(random_loop(seed));
    At start = at_rest(*model);
    start.v = Rng(seed).vector(model->nv(), 1.0);
    const auto s = simulation(model, "rk4", start);
    try {
      const Drift d = drift(*s, duration, 5e-4);
      EXPECT_LT(d.relative, 1e-6) << model->name() << ", least margin " << s->least_margin();
      EXPECT_LT(d.residual, 1e-10) << model->name();
      energy = std::max(energy, d.relative), residual = std::max(residual, d.residual);
      ++ran;
      changed += count(*s, Kind::coordinates) > 0;
    } catch (const Error& error) {
      ADD_FAILURE() << model->name() << ": " << error.what();
    }
  }
  std::printf("%d ran, %d changed coordinates, energy %.2g, residual %.2g\n", ran, changed, energy,
              residual);
  EXPECT_GT(changed, (last - first) / 3);
}
TEST(DeadPointsTest, RandomLoopsSwing) { expect_random_loops_swing(0, 12, 2.0); }
/// A minute or two: `ctest -C slow -L slow`.
TEST(DeadPointsTest, DISABLED_AHundredRandomLoopsSwing) { expect_random_loops_swing(0, 100, 10.0); }

}  // namespace
}  // namespace espalier::test::dead_points_test
