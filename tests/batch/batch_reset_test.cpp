#include <gtest/gtest.h>

#include "espalier/simulation/batch_simulation.hpp"
#include "tests/batch/support.hpp"
#include "tests/support/four_bar.hpp"

// One robot of many starts anew while the others go on.

namespace espalier::test::batch_reset_test {
namespace {

TEST(BatchResetTest, AResetStartsOneRobotAnewAndLeavesTheOthersToTheBit) {
  for (const char* name : {"mini_cheetah_geared.yaml", "tello.yaml"}) {
    const ModelPtr model = host().load(std::string(ESPALIER_SOURCE_DIR "/robots/") + name);
    constexpr int N = 13, moved = 10;
    const States all = gathered(*model, states_of(*model, N));
    const Values q = column(all.q, N, 3), v = column(all.v, N, 3);
    const auto run = [&](bool resets, int steps) {
      const auto batch = make_batch_simulation(host(), model, {.threads = 1});
      batch->start(N, all.q, all.v);
      for (int k = 0; k < 15; ++k) batch->step(1e-3);
      if (resets) batch->reset(moved, q, v);
      for (int k = 0; k < steps; ++k) batch->step(1e-3);
      const BatchSample now = batch->sample();
      return std::pair(Values(now.q.begin(), now.q.end()), Values(now.v.begin(), now.v.end()));
    };
    for (const int steps : {0, 15}) {
      const auto [got_q, got_v] = run(true, steps);
      const auto [wanted_q, wanted_v] = run(false, steps);
      const auto batch = make_batch_simulation(host(), model, {.threads = 1});
      batch->start(N, all.q, all.v);
      for (int k = 0; k < steps; ++k) batch->step(1e-3);
      const Values fresh_q(batch->sample().q.begin(), batch->sample().q.end());
      for (int k = 0; k < N; ++k) {
        const bool here = k == moved;
        const Values wanted = here ? column(fresh_q, N, 3) : column(wanted_q, N, k);
        EXPECT_TRUE(same_bits(column(got_q, N, k), wanted)) << model->name() << " " << k;
        if (!here) EXPECT_TRUE(same_bits(column(got_v, N, k), column(wanted_v, N, k))) << k;
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
