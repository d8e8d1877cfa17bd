#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "cli/allocations.hpp"
#include "tests/batch/support.hpp"

// Many robots in time: each as if it were alone.

namespace espalier::test {
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
    options.kinds = {"body", "geared", "mimic", "train", "two_carriers", "across", "layers"};
    all.push_back(host().compile(random_cluster_robot(host().registry(), options)));
    EXPECT_FALSE(all.back()->is_tree() || all.back()->has_variable_constraints()) << seed;
  }
  all.push_back(host().load(ESPALIER_SOURCE_DIR "/robots/mini_cheetah_geared.yaml"));
  return all;
}

TEST(BatchSimulationTest, EveryRobotMovesAsItDoesAlone) {
  for (const ModelPtr& model : robots()) {
    constexpr int N = 6;
    std::vector<State> states = states_of(*model, N);
    for (State& s : states) {
      for (double& x : s.v) x *= 0.3;
    }
    const States all = gathered(*model, states);
    for (const char* integrator : integrators) {
      const auto batch = host().batch_simulation(model, {.threads = 2, .integrator = integrator});
      batch->set_controller(servo(model));
      batch->start(N, all.q, all.v, 0.25);
      batch->run(1.0, 1e-3, 1 << 20, [](const BatchSample&) { return true; });
      const BatchSample now = batch->sample();
      EXPECT_EQ(now.t, 1.25);
      std::vector<BatchStatus> status(N);
      batch->judge(status);
      EXPECT_EQ(status, std::vector(N, BatchStatus::ok)) << model->name();
      for (int k = 0; k < N; k += 5) {
        std::vector<std::unique_ptr<Controller>> controllers;
        controllers.push_back(std::make_unique<Servo>(*model));
        const auto alone = host().simulation(model, {"c-aba", integrator}, {},
                                             std::move(controllers));
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

TEST(BatchSimulationTest, EnergyIsKept) {
  for (const ModelPtr& model : robots()) {
    constexpr int N = 5;
    const States all = gathered(*model, states_of(*model, N));
    const auto energy = host().batch<Energy>("energy", model, {.threads = 1});
    const auto batch = host().batch_simulation(model, {.threads = 1, .passive = false});
    const auto total = [&](const BatchSample& at) {
      Values kinetic(N), potential(N);
      energy->evaluate(N, {.q = Values(at.q.begin(), at.q.end()),
                           .v = Values(at.v.begin(), at.v.end())},
                       {{"kinetic_energy", kinetic}, {"potential_energy", potential}});
      Values sum(N);
      for (int k = 0; k < N; ++k) sum[k] = kinetic[k] + potential[k];
      return std::pair(sum, largest(kinetic));
    };
    batch->start(N, all.q, all.v);
    const Values before = total(batch->sample()).first;
    batch->run(0.5, 1e-4, 1 << 20, [](const BatchSample&) { return true; });
    const auto [after, kinetic] = total(batch->sample());
    // Order 4: rates of up to 100 rad/s of the lightest links times 1e-4 s, to the fourth, for
    // 5000 steps, with a small constant.
    EXPECT_LE(largest_difference(before, after), 1e-6 * kinetic) << model->name();
  }
}

TEST(BatchSimulationTest, ResultsDependNeitherOnTheNumberOfRobotsNorOfThreads) {
  for (const ModelPtr& model : {robots()[1], robots().back()}) {
    constexpr int most = 41;
    const States all = gathered(*model, states_of(*model, most));
    const auto final_state = [&](const States& start, int threads) {
      const auto batch = host().batch_simulation(model, {.threads = threads});
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
  const auto batch = host().batch_simulation(model, {.threads = 1});
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

TEST(BatchSimulationTest, StepsAllocateNothing) {
  const ModelPtr model = robots().back();
  constexpr int N = 33;
  const States all = gathered(*model, states_of(*model, N));
  const auto batch = host().batch_simulation(model, {.threads = 1});
  batch->start(N, all.q, all.v);
  batch->step(1e-3);
  const auto before = cli::allocation_count();
  batch->step(1e-3);
  EXPECT_EQ(cli::allocation_count(), before);
}

TEST(BatchSimulationTest, RefusesWhatItCannotDo) {
  for (int seed = 1; seed <= 20; ++seed) {
    const ModelPtr model = cluster_robot(seed);
    const auto variable = std::find_if(model->clusters().begin(), model->clusters().end(),
                                       [](const Cluster& c) { return c.constraint != nullptr; });
    if (variable == model->clusters().end()) continue;
    try {
      host().batch_simulation(model);
      ADD_FAILURE() << model->name();
    } catch (const Unsupported& error) {
      EXPECT_NE(std::string(error.what()).find("coupling of cluster '" + variable->name + "'"),
                std::string::npos)
          << error.what();
    }
  }
  const ModelPtr model = tree(1);
  EXPECT_THROW(host().batch_simulation(model, {.integrator = "rk5"}), UnknownName);
  EXPECT_THROW(host().batch_simulation(model, {.algorithm = "abba"}), UnknownName);
  EXPECT_THROW(host().batch_simulation(model, {.friction_rate = 0.0}), InvalidModel);
  const auto batch = host().batch_simulation(model);
  const Values short_one(1);
  EXPECT_THROW(batch->start(3, short_one, short_one), SizeMismatch);
  EXPECT_THROW(batch->start(0, {nullptr, 0}, {nullptr, 0}), SizeMismatch);
  EXPECT_THROW(batch->run(1.0, 0.0, 1, [](const BatchSample&) { return true; }), InvalidModel);
}

}  // namespace
}  // namespace espalier::test
