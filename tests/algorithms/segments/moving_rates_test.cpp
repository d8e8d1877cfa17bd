#include "algorithms/segments/clusters/moving_rates.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "espalier/kernel/model/motion/spanning_motion.hpp"
#include "tests/support/big_clusters.hpp"
#include "tests/support/random_models.hpp"

namespace espalier::test::moving_rates_test {
namespace {

/// How many of a cluster's bodies and rates are left out; each of them has a row of zeros in G, and
/// so have the bodies that it hangs on.
int left_out(const Model& model, const Cluster& c, const SpanningMotion<double>& motion) {
  const auto moving = moving_rates(model, c);
  int count = 0;
  if (c.nv < fewest_rates_in_ranges) return count;  // all
  for (int i = c.first; i < c.first + c.count; ++i) {
    for (int j = 0; j < c.nv; ++j) {
      const auto& ranges = moving[i - c.first];
      if (std::any_of(ranges.begin(), ranges.end(),
                      [&](const RateRange& r) { return r.begin <= j && j < r.end; })) {
        continue;
      }
      ++count;
      for (int at = i; at >= c.first; at = model.body(at).parent) {
        for (int k = 0; k < model.body(at).nv; ++k) {
          EXPECT_EQ(motion.G(c)[c.row(model.body(at).v + k) * c.nv + j], 0.0) << at << ", " << j;
        }
      }
    }
  }
  return count;
}

TEST(MovingRatesTest, WhatIsLeftOutOfANetDoesNotMove) {
  for (const Description& robot : {net(4, 4), net(2, 6), ladder(6), random_loops(40, 4, 3)}) {
    SCOPED_TRACE(robot.name);
    const ModelPtr model = host().compile(robot);
    SpanningMotion<double> motion(*model);
    int count = 0;
    for (int k = 0; k < 3; ++k) {
      const State s = big_cluster_state(*model, k + 1);
      motion.update(s.q.data(), s.v.data());
      for (const Cluster& c : model->clusters()) {
        if (c.constrained) count += left_out(*model, c, motion);
      }
    }
    if (robot.name == "net4x4") {
      EXPECT_GT(count, 3 * 36 * 24 / 3);  // a third of all
    }
  }
}

TEST(MovingRatesTest, NorOfRobotsWithLoopsOfAllKinds) {
  for_each_random_cluster_robot(30, [](const ModelPtr& model, int seed) {
    SpanningMotion<double> motion(*model);
    const State s = random_cluster_state(*model, seed);
    motion.update(s.q.data(), s.v.data());
    for (const Cluster& c : model->clusters()) {
      if (c.constrained) left_out(*model, c, motion);
    }
  });
}

}  // namespace
}  // namespace espalier::test::moving_rates_test
