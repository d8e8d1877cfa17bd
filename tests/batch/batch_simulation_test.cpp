#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "cli/allocations.hpp"
#include "espalier/sensing/sensor_verdict.hpp"
#include "espalier/simulation/batch_simulation.hpp"
#include "espalier/simulation/simulation.hpp"
#include "tests/batch/support.hpp"
#include "tests/support/four_bar.hpp"

// Many robots in time: each as if it were alone.

namespace espalier::test::batch_simulation_test {
namespace {

constexpr const char* integrators[] = {"semi-implicit-euler", "rk4"};

/// A spring and a damper on every independent rate that has a position of its own, on all robots,
/// and for one of them: the same for a simulation of doubles.
struct Servo final : Controller {
  explicit Servo(const Model& model) : model_(&model) {}
  void drive(double t, const double* q, const double* qd, double* forces) override {
    for (const int rate : model_->independent_rates()) {
      forces[rate] += force(*model_, rate, t, q, 1, qd[rate]);
    }
  }
  static double force(const Model& model, int rate, double t, const double* q, int stride,
                      double qd) {
    const Joint& joint = model.joint_of_rate(rate);
    const double spring = joint.nq == 1 ? -2.0 * q[joint.q * stride] : 0.0;
    return spring - 0.3 * qd + 0.5 * std::sin(7.0 * t);
  }
  const Model* model_;
};

BatchController servo(const ModelPtr& model) {
  return [model](const BatchSample& at, std::span<double> tau) {
    for (int i = 0; i < model->nv(); ++i) {
      for (int k = 0; k < at.N; ++k) {
        tau[i * at.N + k] += Servo::force(*model, model->independent_rates()[i], at.t,
                                          at.q.data() + k, at.N, at.v[i * at.N + k]);
      }
    }
  };
}

/// Trees with free bases and joints of several rates, couplings, joints with damping and springs.
std::vector<ModelPtr> robots() {
  std::vector<ModelPtr> all;
  for (int seed = 1; seed <= 4; ++seed) {
    RobotOptions options;
    options.bodies = 3 + seed;
    options.seed = seed;
    options.floating_base = seed % 2 == 0;
    Description robot = random_robot(host().registry(), options);
    Rng rng(seed);
    for (JointDescription& joint : robot.joints) {
      if (!rng.chance(0.5)) continue;
      joint.passive = {.damping = 0.2, .friction = 0.05, .stiffness = 1.0, .rest = 0.1};
    }
    all.push_back(host().compile(robot));
  }
  for (int seed = 1; seed <= 4; ++seed) {
    ClusterRobotOptions options;
    options.seed = seed;
    options.floating_base = seed % 2 == 0;
    options.kinds = {"body", "geared", "mimic", "train", "two_parents", "across", "layers"};
    all.push_back(host().compile(random_cluster_robot(host().registry(), options)));
    EXPECT_FALSE(all.back()->is_tree() || all.back()->has_variable_constraints()) << seed;
  }
  all.push_back(host().load(ESPALIER_SOURCE_DIR "/robots/mini_cheetah_geared.yaml"));
  return all;
}

/// Robots with loops whose coupling depends on the position: all kinds of parts, Tello's
/// differentials, a four-bar that turns through and one with a spring and a damper on its rocker.
std::vector<ModelPtr> robots_with_loops() {
  std::vector<ModelPtr> all;
  for (int seed = 1; all.size() < 5; ++seed) {
    const ModelPtr model = cluster_robot(seed);
    if (model->has_variable_constraints()) all.push_back(model);
  }
  all.push_back(host().load(ESPALIER_SOURCE_DIR "/robots/tello.yaml"));
  Description bar = four_bar();
  all.push_back(host().compile(bar));
  for (JointDescription& joint : bar.joints) {
    if (joint.name == "rocker") joint.passive = {.damping = 0.2, .stiffness = 3.0, .rest = 0.5};
  }
  all.push_back(host().compile(bar));
  return all;
}

std::vector<State> slow_states(const Model& model, int N) {
  std::vector<State> states = states_of(model, N);
  for (State& s : states) {
    for (double& x : s.v) x *= 0.3;
  }
  return states;
}
std::unique_ptr<Simulation> alone_with_servo(const ModelPtr& model, const std::string& integrator) {
  std::vector<std::unique_ptr<Controller>> controllers;
  controllers.push_back(std::make_unique<Servo>(*model));
  // As the batch computes: in its stages, in the coordinates of the model, and by whole steps.
  return make_simulation(host(), model, {"c-aba", integrator},
                         {.damping = SimulationOptions::Damping::in_stages,
                          .past_dead_points = false,
                          .loop_error = 0.0},
                         std::move(controllers));
}

TEST(BatchSimulationTest, EveryRobotMovesAsItDoesAlone) {
  for (const ModelPtr& model : robots()) {
    constexpr int N = 6;
    const std::vector<State> states = slow_states(*model, N);
    const States all = gathered(*model, states);
    for (const char* integrator : integrators) {
      const auto batch = make_batch_simulation(
          host(), model, {.threads = 2, .integrator = integrator, .past_dead_points = false});
      batch->set_controller(servo(model));
      batch->start(N, all.q, all.v, 0.25);
      batch->run(1.0, 1e-3, 1 << 20, [](const BatchSample&) { return true; });
      const BatchSample now = batch->sample();
      EXPECT_EQ(now.t, 1.25);
      std::vector<BatchStatus> status(N);
      batch->judge(status);
      EXPECT_EQ(status, std::vector(N, BatchStatus::ok)) << model->name();
      for (int k = 0; k < N; k += 5) {
        const auto alone = alone_with_servo(model, integrator);
        alone->start(states[k].q, states[k].v, 0.25);
        alone->run(1.0, 1e-3, 1 << 20, [](const Sample&) { return true; });
        // Sine and cosine differ in the last bit; within a second, motions of rates of order 1 to
        // 10 enlarge that by less than 1e5.
        EXPECT_LE(relative_difference(column({now.q.begin(), now.q.end()}, N, k), alone->q()),
                  1e-10)
            << model->name() << ", " << integrator;
        EXPECT_LE(relative_difference(column({now.v.begin(), now.v.end()}, N, k), alone->v()),
                  1e-10)
            << model->name() << ", " << integrator;
      }
    }
  }
}

TEST(BatchSimulationTest, RobotsWithLoopsMoveAsTheyDoAlone) {
  int moved = 0, stuck = 0;
  for (const ModelPtr& model : robots_with_loops()) {
    constexpr int N = 6;
    const std::vector<State> states = slow_states(*model, N);
    const States all = gathered(*model, states);
    for (const char* integrator : integrators) {
      const auto batch = make_batch_simulation(
          host(), model, {.threads = 2, .integrator = integrator, .past_dead_points = false});
      batch->set_controller(servo(model));
      batch->start(N, all.q, all.v);
      batch->run(0.5, 1e-3, 1 << 20, [](const BatchSample&) { return true; });
      const BatchSample now = batch->sample();
      std::vector<BatchStatus> status(N);
      batch->judge(status);
      for (int k = 0; k < N; ++k) {
        const auto alone = alone_with_servo(model, integrator);
        const Values q = column({now.q.begin(), now.q.end()}, N, k);
        EXPECT_LE(LoopProjector(model).residual(q.data()), 1e-10) << model->name();
        try {
          alone->start(states[k].q, states[k].v);
          alone->run(0.5, 1e-3, 1 << 20, [](const Sample&) { return true; });
        } catch (const SingularMechanism& error) {
          ++stuck;
          EXPECT_EQ(status[k], BatchStatus::loop_open) << model->name() << ": " << error.what();
          continue;
        }
        ++moved;
        EXPECT_EQ(status[k], BatchStatus::ok) << model->name() << ", " << integrator;
        // As without loops; what projections leave open, 1e-12 in each of 500 steps, comes on top.
        // Measured: 2e-10.
        EXPECT_LE(relative_difference(q, alone->q()), 2e-9) << model->name() << ", " << integrator;
        EXPECT_LE(relative_difference(column({now.v.begin(), now.v.end()}, N, k), alone->v()), 2e-9)
            << model->name() << ", " << integrator;
      }
    }
  }
  // Random mechanisms often run into dead points: both happen.
  EXPECT_GT(moved, 40);
  EXPECT_GT(stuck, 10);
}

/// Kinetic and potential energy of all robots, and the largest kinetic one.
std::pair<Values, double> energies(Batch& energy, const BatchSample& at) {
  Values kinetic(at.N), potential(at.N);
  energy.evaluate(at.N,
                  {.q = Values(at.q.begin(), at.q.end()), .v = Values(at.v.begin(), at.v.end())},
                  {{"kinetic_energy", kinetic}, {"potential_energy", potential}});
  return {combined(kinetic, 1.0, potential), largest(kinetic)};
}

TEST(BatchSimulationTest, TelloKeepsItsEnergyAndItsLoops) {
  const ModelPtr model = host().load(ESPALIER_SOURCE_DIR "/robots/tello.yaml");
  constexpr int N = 5;
  States all;
  all.N = N;
  Values q(model->nq());
  model->neutral(q.data());
  for (int k = 0; k < N; ++k) {
    put(all.q, N, k, q);
    put(all.v, N, k, Rng(1 + k).vector(model->nv(), 5.0));
  }
  const auto energy = host().batch<Energy>("energy", model, {.threads = 1});
  const auto batch = make_batch_simulation(host(), model, {.threads = 1, .passive = false});
  batch->start(N, all.q, all.v);
  const Values before = energies(*energy, batch->sample()).first;
  double most = 0.0, fastest = 0.0;
  batch->run(1.0, 5e-4, 20, [&](const BatchSample& now) {
    const auto [sum, kinetic] = energies(*energy, now);
    most = std::max(most, largest_difference(before, sum));
    fastest = std::max(fastest, kinetic);
    for (int k = 0; k < N; ++k) {
      const Values at = column({now.q.begin(), now.q.end()}, N, k);
      EXPECT_LE(LoopProjector(model).residual(at.data()), 1e-10) << now.t;
    }
    return true;
  });
  // As SimulationTest.PassiveTelloKeepsItsEnergyAndItsLoops has it.
  EXPECT_LT(most, 1e-6 * fastest);
}

// A crank of any length follows its rocker up to a dead point; beyond, the loop cannot be closed.
TEST(BatchSimulationTest, ARobotWhoseLoopsCannotBeClosedStandsStillAndLeavesTheOthersAlone) {
  FourBar bars;
  bars.independent = "rocker";
  const ModelPtr model = host().compile(four_bar(bars));
  constexpr int N = 7, fast = 3, open = 5;
  Values start(model->nq());
  model->neutral(start.data());
  const FourBarAngles angles = solve(bars, 1.2, 1.0);
  for (const Joint& joint : model->joints()) {
    start[joint.q] = joint.name == "crank"     ? 1.2
                     : joint.name == "coupler" ? angles.coupler
                                               : angles.rocker;
  }
  States all, spoilt;
  for (int k = 0; k < N; ++k) {
    put(all.q, N, k, start), put(all.v, N, k, {0.01 * k});
    Values q = start;
    if (k == open) q[model->joint("rocker").q] += 0.1;
    put(spoilt.q, N, k, q), put(spoilt.v, N, k, {k == fast ? -8.0 : 0.01 * k});
  }
  const auto batch =
      make_batch_simulation(host(), model, {.threads = 1, .past_dead_points = false});
  std::vector<BatchStatus> status(N);
  batch->start(N, all.q, all.v);
  for (int k = 0; k < 200; ++k) batch->step(1e-3);
  batch->judge(status);
  EXPECT_EQ(status, std::vector(N, BatchStatus::ok));
  const Values wanted(batch->sample().q.begin(), batch->sample().q.end());

  batch->start(N, spoilt.q, spoilt.v);
  batch->judge(status);
  EXPECT_EQ(status[open], BatchStatus::loop_open);
  EXPECT_EQ(status[fast], BatchStatus::ok);
  for (int k = 0; k < 200; ++k) batch->step(1e-3);
  batch->judge(status);
  const Values got(batch->sample().q.begin(), batch->sample().q.end());
  for (int k = 0; k < N; ++k) {
    const bool lost = k == fast || k == open;
    EXPECT_EQ(status[k], lost ? BatchStatus::loop_open : BatchStatus::ok) << k;
    if (!lost) EXPECT_TRUE(same_bits(column(got, N, k), column(wanted, N, k))) << k;
  }
  EXPECT_TRUE(same_bits(column(got, N, open), column(spoilt.q, N, open)));
  // The other one was last closed short of the dead point, on its branch.
  const Values last = column(got, N, fast);
  EXPECT_LE(LoopProjector(model).residual(last.data()), 1e-10);
  batch->step(1e-3);
  EXPECT_TRUE(
      same_bits(column({batch->sample().q.begin(), batch->sample().q.end()}, N, fast), last));
  // And all are free again after another start.
  batch->start(N, all.q, all.v);
  batch->judge(status);
  EXPECT_EQ(status, std::vector(N, BatchStatus::ok));
}

TEST(BatchSimulationTest, EnergyIsKept) {
  for (const ModelPtr& model : robots()) {
    constexpr int N = 5;
    const States all = gathered(*model, states_of(*model, N));
    const auto energy = host().batch<Energy>("energy", model, {.threads = 1});
    const auto batch = make_batch_simulation(host(), model, {.threads = 1, .passive = false});
    batch->start(N, all.q, all.v);
    const Values before = energies(*energy, batch->sample()).first;
    batch->run(0.5, 1e-4, 1 << 20, [](const BatchSample&) { return true; });
    const auto [after, kinetic] = energies(*energy, batch->sample());
    // Order 4: rates of up to 100 rad/s of the lightest links times 1e-4 s, to the fourth, for
    // 5000 steps, with a small constant.
    EXPECT_LE(largest_difference(before, after), 1e-6 * kinetic) << model->name();
  }
}

TEST(BatchSimulationTest, ResultsDependNeitherOnTheNumberOfRobotsNorOfThreads) {
  for (const ModelPtr& model : {robots()[1], robots().back(), robots_with_loops()[5]}) {
    constexpr int most = 41;
    const States all = gathered(*model, states_of(*model, most));
    const auto final_state = [&](const States& start, int threads) {
      const auto batch = make_batch_simulation(host(), model, {.threads = threads});
      batch->set_controller(servo(model));
      batch->start(start.N, start.q, start.v);
      for (int k = 0; k < 20; ++k) batch->step(1e-3);
      const BatchSample now = batch->sample();
      return std::pair(Values(now.q.begin(), now.q.end()), Values(now.v.begin(), now.v.end()));
    };
    const auto [q, v] = final_state(all, 1);
    for (const int threads : {1, 2, 4}) {
      for (const int N : {1, 2, 3, 4, 5, most}) {
        const auto [some_q, some_v] = final_state(first(all, N), threads);
        for (int k = 0; k < N; ++k) {
          EXPECT_TRUE(same_bits(column(some_q, N, k), column(q, most, k))) << N << " " << threads;
          EXPECT_TRUE(same_bits(column(some_v, N, k), column(v, most, k))) << N << " " << threads;
        }
      }
    }
  }
}

TEST(BatchSimulationTest, ARobotThatIsLostLeavesTheOthersAlone) {
  const ModelPtr model = robots()[1];
  constexpr int N = 6, bad = 2;
  const States all = gathered(*model, states_of(*model, N));
  States spoilt = all;
  for (std::size_t i = bad; i < spoilt.v.size(); i += N) {
    spoilt.v[i] = std::numeric_limits<double>::quiet_NaN();
  }
  const auto batch = make_batch_simulation(host(), model, {.threads = 1});
  batch->start(N, all.q, all.v);
  batch->step(1e-3);
  const Values wanted(batch->sample().q.begin(), batch->sample().q.end());
  batch->start(N, spoilt.q, spoilt.v);
  batch->step(1e-3);
  std::vector<BatchStatus> status(N);
  batch->judge(status);
  const Values got(batch->sample().q.begin(), batch->sample().q.end());
  for (int k = 0; k < N; ++k) {
    EXPECT_EQ(status[k], k == bad ? BatchStatus::singular : BatchStatus::ok);
    if (k != bad) EXPECT_TRUE(same_bits(column(got, N, k), column(wanted, N, k))) << k;
  }
}

TEST(BatchSimulationTest, OneCallMovesThemAsASimulationDoes) {
  const ModelPtr model = robots()[1];
  constexpr int N = 6;
  States all = gathered(*model, states_of(*model, N));
  const auto batch = make_batch_simulation(host(), model, {.threads = 1});
  batch->set_controller(servo(model));
  batch->start(N, all.q, all.v);
  batch->run(0.05, 1e-3, 7, [](const BatchSample&) { return true; });
  const BatchSample end = batch->sample();
  EXPECT_EQ(
      simulate_batch(host(), model, N, all.q, all.v, 0.05, 1e-3, servo(model), {.threads = 1}),
      std::vector(N, BatchStatus::ok));
  EXPECT_TRUE(same_bits(all.q, {end.q.begin(), end.q.end()}));
  EXPECT_TRUE(same_bits(all.v, {end.v.begin(), end.v.end()}));
  EXPECT_THROW(simulate_batch(host(), model, N + 1, all.q, all.v, 0.05, 1e-3), SizeMismatch);
}

TEST(BatchSimulationTest, StepsAllocateNothing) {
  for (const ModelPtr& model : {robots().back(), robots_with_loops()[5]}) {
    constexpr int N = 33;
    const States all = gathered(*model, states_of(*model, N));
    const auto batch = make_batch_simulation(host(), model, {.threads = 1});
    batch->start(N, all.q, all.v);
    batch->step(1e-3);
    const auto before = cli::allocation_count();
    batch->step(1e-3);
    EXPECT_EQ(cli::allocation_count(), before) << model->name();
  }
}

TEST(BatchSimulationTest, RefusesWhatItCannotDo) {
  const ModelPtr model = tree(1);
  EXPECT_THROW(make_batch_simulation(host(), model, {.integrator = "rk5"}), UnknownName);
  EXPECT_THROW(make_batch_simulation(host(), model, {.algorithm = "abba"}), UnknownName);
  EXPECT_THROW(make_batch_simulation(host(), model, {.friction_rate = 0.0}), InvalidModel);
  const auto batch = make_batch_simulation(host(), model);
  const Values short_one(1);
  EXPECT_THROW(batch->start(3, short_one, short_one), SizeMismatch);
  EXPECT_THROW(batch->start(0, {nullptr, 0}, {nullptr, 0}), SizeMismatch);
  EXPECT_THROW(batch->run(1.0, 0.0, 1, [](const BatchSample&) { return true; }), InvalidModel);
}

}  // namespace
}  // namespace espalier::test::batch_simulation_test
