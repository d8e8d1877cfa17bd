#include <gtest/gtest.h>

#include <set>
#include <tuple>

#include "espalier/kernel/model/loops/loop_projector.hpp"
#include "espalier/simulation/batch_simulation.hpp"
#include "espalier/simulation/simulation.hpp"
#include "tests/batch/support.hpp"
#include "tests/support/linkages.hpp"

/// Robots of a batch pass dead points of their coordinates each by itself.

namespace espalier::test::dead_points_test {
namespace {

TEST(BatchDeadPointsTest, EveryRobotPassesThemAsItDoesAlone) {
  for (const Description& robot : {stephenson(), bucket_linkage()}) {
    const ModelPtr model = host().compile(robot);
    constexpr int N = 11;
    Values q(model->nq()), all_q, all_v;
    model->neutral(q.data());
    for (int k = 0; k < N; ++k) put(all_q, N, k, q), put(all_v, N, k, {0.2 * k - 1.0});
    for (const char* integrator : {"rk4", "semi-implicit-euler"}) {
      const auto batch =
          make_batch_simulation(host(), model, {.threads = 2, .integrator = integrator});
      // A force on the model's own joint, whatever a robot is computed in.
      batch->set_controller([&](const BatchSample& at, std::span<double> tau) {
        for (int k = 0; k < at.N; ++k) tau[k] += 0.1 - 0.01 * at.v[k];
      });
      batch->start(N, all_q, all_v);
      batch->run(2.0, 5e-4, 1 << 20, [](const BatchSample&) { return true; });
      std::vector<BatchStatus> status(N);
      batch->judge(status);
      EXPECT_EQ(status, std::vector(N, BatchStatus::ok)) << model->name();
      EXPECT_GE(batch->events().size(), 1u * N) << model->name() << ": each passes a dead point";
      for (int k = 0; k < N; k += 5) {
        struct Push final : Controller {
          explicit Push(int its) : rate(its) {}
          void drive(double, const double*, const double* qd, double* forces) override {
            forces[rate] += 0.1 - 0.01 * qd[rate];
          }
          int rate;
        };
        std::vector<std::unique_ptr<Controller>> controllers;
        controllers.push_back(std::make_unique<Push>(model->independent_rates()[0]));
        const auto alone = make_simulation(host(), model, {"c-aba", integrator},
                                           {.loop_error = 0.0}, std::move(controllers));
        alone->start(q, Values{0.2 * k - 1.0});
        alone->run(2.0, 5e-4, 1 << 20, [](const Sample&) { return true; });
        const BatchSample now = batch->sample();
        const Values at = column({now.q.begin(), now.q.end()}, N, k);
        EXPECT_LE(LoopProjector(model).residual(at.data()), 1e-10);
        // Rounding, enlarged by two seconds of motion that turns by some radians.
        EXPECT_LE(relative_difference(at, alone->q()), 1e-8) << model->name() << ", " << integrator;
        EXPECT_LE(relative_difference(column({now.v.begin(), now.v.end()}, N, k), alone->v()), 1e-8)
            << model->name() << ", " << integrator;
      }
    }
  }
}

// Robots of a pack leave for other coordinates at times of their own.
TEST(BatchDeadPointsTest, WhatOthersAreComputedInChangesNoBit) {
  for (const Description& robot : {stephenson(), bucket_linkage()}) {
    const ModelPtr model = host().compile(robot);
    constexpr int N = 11;
    Values q(model->nq()), all_q, all_v;
    model->neutral(q.data());
    for (int k = 0; k < N; ++k) put(all_q, N, k, q), put(all_v, N, k, {0.4 * k - 2.0});
    const auto moved = [&](int robots, const Values& from, const Values& rates) {
      const auto batch = make_batch_simulation(host(), model, {.threads = 1});
      batch->start(robots, from, rates);
      batch->run(0.4, 1e-3, 1 << 20, [](const BatchSample&) { return true; });
      const BatchSample now = batch->sample();
      std::set<int> changed;
      for (const BatchEvent& event : batch->events()) changed.insert(event.robot);
      return std::tuple(Values(now.q.begin(), now.q.end()), Values(now.v.begin(), now.v.end()),
                        changed);
    };
    const auto [together, together_v, changed] = moved(N, all_q, all_v);
    EXPECT_GT(changed.size(), 2u) << model->name();
    EXPECT_LT(changed.size(), static_cast<std::size_t>(N)) << model->name();
    for (int k = 0; k < N; ++k) {
      const auto [alone, alone_v, changes] = moved(1, q, {0.4 * k - 2.0});
      EXPECT_TRUE(same_bits(column(together, N, k), alone)) << model->name() << ", " << k;
      EXPECT_TRUE(same_bits(column(together_v, N, k), alone_v)) << model->name() << ", " << k;
      EXPECT_EQ(changes.empty(), !changed.contains(k)) << model->name() << ", " << k;
    }
  }
}

TEST(BatchDeadPointsTest, AParallelogramIsSteppedThroughItsFlatPose) {
  const ModelPtr model = host().compile(four_bar({0.3, 0.5, 0.3, 0.5}));
  Values q(3), all_q, all_v;
  const int crank = model->joint("crank").q, rocker = model->joint("rocker").q;
  q[crank] = 2.0, q[rocker] = 2.0, q[model->joint("coupler").q] = -2.0;
  constexpr int N = 3;
  for (int k = 0; k < N; ++k) put(all_q, N, k, q), put(all_v, N, k, {8.0 + k});
  const auto batch = make_batch_simulation(host(), model, {.threads = 1});
  batch->start(N, all_q, all_v);
  batch->run(1.0, 5e-4, 1 << 20, [](const BatchSample&) { return true; });
  std::vector<BatchStatus> status(N);
  batch->judge(status);
  EXPECT_EQ(status, std::vector(N, BatchStatus::ok));
  const BatchSample now = batch->sample();
  for (int k = 0; k < N; ++k) {
    EXPECT_NEAR(now.q[crank * N + k], now.q[rocker * N + k], 1e-9) << "not its crossed twin";
  }
}

}  // namespace
}  // namespace espalier::test::dead_points_test
