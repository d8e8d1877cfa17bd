#include <gtest/gtest.h>
#include <span>

#include "espalier/simulation/batch_simulation.hpp"
#include "tests/batch/support.hpp"
#include "tests/support/four_bar.hpp"

// One robot of many starts anew while the others go on.

namespace espalier::test::batch_reset_test {
namespace {

Values values_of(std::span<const double> x) { return {x.begin(), x.end()}; }

// Others keep their bits; the robot itself has those of a batch that starts where it was reset to.
TEST(BatchResetTest, AResetStartsOneRobotAnewAndLeavesTheOthersToTheBit) {
  for (const char* name : {"mini_cheetah_geared.yaml", "tello.yaml"}) {
    for (const char* integrator : {"rk4", "semi-implicit-euler"}) {
      SCOPED_TRACE(std::string(name) + " by " + integrator);
      const ModelPtr model = host().load(std::string(ESPALIER_SOURCE_DIR "/robots/") + name);
      constexpr int N = 13, moved = 10, other = 3;
      const States all = gathered(*model, states_of(*model, N));
      const Values q = column(all.q, N, other), v = column(all.v, N, other);
      const BatchSimulationOptions options{.threads = 1, .integrator = integrator};
      const auto run = [&](int before, bool resets, int steps) {
        const auto batch = make_batch_simulation(host(), model, options);
        batch->start(N, all.q, all.v);
        for (int k = 0; k < before; ++k) batch->step(1e-3);
        if (resets) batch->reset(moved, q, v);
        for (int k = 0; k < steps; ++k) batch->step(1e-3);
        const BatchSample now = batch->sample();
        return std::pair(values_of(now.q), values_of(now.v));
      };
      constexpr int before = 15;
      for (const int steps : {0, 15}) {
        const auto [got_q, got_v] = run(before, true, steps);
        const auto [wanted_q, wanted_v] = run(before, false, steps);
        const auto [fresh_q, fresh_v] = run(0, false, steps);
        for (int k = 0; k < N; ++k) {
          const bool here = k == moved;
          EXPECT_TRUE(same_bits(column(got_q, N, k),
                                here ? column(fresh_q, N, other) : column(wanted_q, N, k)))
              << steps << " " << k;
          EXPECT_TRUE(same_bits(column(got_v, N, k),
                                here ? column(fresh_v, N, other) : column(wanted_v, N, k)))
              << steps << " " << k;
        }
      }
    }
  }
}

// A robot that stands still with open loops is free again after a reset; one of its neighbours is
// not freed by it.
TEST(BatchResetTest, AResetFreesOneRobotAlone) {
  FourBar bars;
  bars.independent = "rocker";
  const ModelPtr model = host().compile(four_bar(bars));
  constexpr int N = 3;
  Values open(model->nq());
  model->neutral(open.data());
  const FourBarAngles angles = solve(bars, 1.2, 1.0);
  Values closed = open;
  closed[model->joint("crank").q] = 1.2;
  closed[model->joint("coupler").q] = angles.coupler;
  closed[model->joint("rocker").q] = angles.rocker;
  open = closed;
  open[model->joint("rocker").q] += 0.1;
  States all;
  for (int k = 0; k < N; ++k) put(all.q, N, k, open), put(all.v, N, k, {0.0});
  const auto batch = make_batch_simulation(host(), model, {.threads = 1});
  std::vector<BatchStatus> status(N);
  batch->start(N, all.q, all.v);
  batch->reset(1, closed, Values{0.1});
  batch->judge(status);
  EXPECT_EQ(status, (std::vector{BatchStatus::loop_open, BatchStatus::ok, BatchStatus::loop_open}));
  batch->step(1e-3);
  EXPECT_NE(column({batch->sample().q.begin(), batch->sample().q.end()}, N, 1), closed);
  EXPECT_TRUE(same_bits(column({batch->sample().q.begin(), batch->sample().q.end()}, N, 2), open));
  EXPECT_THROW(batch->reset(N, closed, Values{0.1}), SizeMismatch);
  EXPECT_THROW(batch->reset(-1, closed, Values{0.1}), SizeMismatch);
  EXPECT_THROW(batch->reset(0, Values{0.1}, Values{0.1}), SizeMismatch);
}

}  // namespace
}  // namespace espalier::test::batch_reset_test
