#include "espalier/host/batches/batch_projector.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "cli/allocations.hpp"
#include "espalier/kernel/model/loops/loop_projector.hpp"
#include "tests/batch/support.hpp"
#include "tests/support/big_clusters.hpp"
#include "tests/support/simple_robot.hpp"

/// Loops of eight robots closed at once, against LoopProjector robot by robot.

namespace espalier::test::batch_projector_test {
namespace {

using espalier::detail::BatchProjector;
using Packs = std::vector<Pack>;

/// Eight robots that were closed and have since moved by a step, each on its own.
struct Moved {
  std::vector<Values> q, memory;  ///< of each robot
};
Moved moved_robots(const ModelPtr& model, double step, int seed) {
  Moved out;
  LoopProjector projector(model);
  for (int k = 0; k < Pack::size; ++k) {
    State s = random_cluster_state(*model, 100 * seed + k);
    projector.restart();
    EXPECT_EQ(projector.project(s.q.data()).verdict, Closure::Verdict::closed);
    Values memory(projector.memory_size());
    projector.save(memory.data());
    // All joints of the tree by themselves: loops open.
    const Values rates = Rng(seed + k).vector(model->spanning_nv(), step);
    Values q = s.q;
    model->integrate(s.q.data(), rates.data(), q.data());
    model->normalize(q.data());
    model->apply_couplings(q.data());
    out.q.push_back(q), out.memory.push_back(memory);
  }
  return out;
}
Packs packed(const std::vector<Values>& robots) {
  Packs out(robots.front().size());
  for (std::size_t i = 0; i < out.size(); ++i) {
    for (int k = 0; k < Pack::size; ++k) out[i].set(k, robots[k][i]);
  }
  return out;
}
Values lane_of(const Packs& x, int k) {
  Values out;
  for (const Pack& at : x) out.push_back(at[k]);
  return out;
}
/// NaN equals itself.
bool same_bits(const Values& a, const Values& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0;
}

/// @return lanes that are closed at once
int expect_as_one_by_one(const ModelPtr& model, double step, int seed) {
  const Moved robots = moved_robots(model, step, seed);
  BatchProjector lanes(model);
  LoopProjector projector(model);
  Packs q = packed(robots.q), memory = packed(robots.memory);
  const Pack closed = lanes.project(q.data(), memory.data());
  int count = 0;
  for (int k = 0; k < Pack::size; ++k) {
    SCOPED_TRACE(k);
    if (closed[k] == 0.0) {
      EXPECT_TRUE(same_bits(lane_of(q, k), robots.q[k]));
      EXPECT_TRUE(same_bits(lane_of(memory, k), robots.memory[k]));
      continue;
    }
    EXPECT_EQ(closed[k], 1.0);
    ++count;
    Values one = robots.q[k], kept(robots.memory[k].size());
    projector.restore(robots.memory[k].data());
    EXPECT_EQ(projector.project(one.data()).verdict, Closure::Verdict::closed);
    projector.save(kept.data());
    for (int loop = 0; loop < projector.loop_count(); ++loop) {
      EXPECT_NEAR(lanes.margin_of(loop)[k], projector.margin_of(loop), 1e-9);
    }
    // Both end where |phi| is 1e-12 or rounding; margins of these robots are above 1e-3.
    EXPECT_LE(relative_difference(lane_of(q, k), one), 1e-9);
    EXPECT_LE(relative_difference(lane_of(memory, k), kept), 1e-8);
    EXPECT_LE(projector.residual(lane_of(q, k).data()), 1e-10);
  }
  return count;
}

TEST(BatchProjectorTest, ClosesWhatClosesOneByOne) {
  int closed = 0;
  constexpr int robots = 30;
  for (int seed = 1; seed <= robots; ++seed) {
    SCOPED_TRACE(seed);
    ClusterRobotOptions options;
    options.seed = seed, options.floating_base = seed % 2 == 0, options.parts = 1 + seed % 6;
    const ModelPtr model = host().compile(random_cluster_robot(host().registry(), options));
    closed += expect_as_one_by_one(model, 1e-3, seed);
    expect_as_one_by_one(model, 0.0, seed);
  }
  EXPECT_GE(closed, robots * Pack::size * 9 / 10);
}

TEST(BatchProjectorTest, BlocksOfLargeClustersToo) {
  for (const Description& robot : {ladder(6), ladder(16, 7), scissor_lift(5)}) {
    SCOPED_TRACE(robot.name);
    const ModelPtr model = host().compile(robot);
    const auto in_blocks = [](const Cluster& c) { return c.constraint && c.constraint->blocks; };
    EXPECT_TRUE(std::any_of(model->clusters().begin(), model->clusters().end(), in_blocks));
    EXPECT_EQ(expect_as_one_by_one(model, 1e-4, 5), Pack::size);
  }
}

// Lanes are judged as single robots are: laws whose slopes are small by these slopes.
TEST(BatchProjectorTest, LawsInSmallUnitsToo) {
  Description robot = chain_of(std::vector<std::string>{"revolute", "revolute"});
  LawDescription law;
  law.name = "gear", law.type = "weighted_sum_2", law.joints = {"joint1", "joint2"};
  law.parameters = {{"weights", {3e-7, -6e-7}}};
  robot.laws.push_back(law);
  robot.joints[0].independent = true, robot.joints[1].independent = false;
  EXPECT_EQ(expect_as_one_by_one(host().compile(robot), 1e-6, 5), Pack::size);
}

/// A robot with a four-bar, and its lanes where loops are hardly open.
ModelPtr four_bar_leg() {
  return host().load(std::string(ESPALIER_SOURCE_DIR) + "/robots/four_bar_leg.yaml", {});
}

TEST(BatchProjectorTest, WhatCannotBeClosedStaysAsItWas) {
  const ModelPtr model = four_bar_leg();
  const Moved robots = moved_robots(model, 1e-3, 1);
  BatchProjector lanes(model);
  Moved spoilt = robots;
  for (double& x : spoilt.q[1]) x = std::numeric_limits<double>::quiet_NaN();
  for (const Cluster& c : model->clusters()) {  // on the other side of a dead point
    if (c.constraint == nullptr) continue;
    ASSERT_FALSE(c.constraint->blocks);
    const std::size_t n = c.constraint->dependent.size();
    for (int i = 0; i < c.constraint->rows(); ++i) spoilt.memory[2][1 + i * n] *= -1.0;
    break;
  }
  for (double& x : spoilt.q[3]) x += 0.4;
  Packs q = packed(robots.q), memory = packed(robots.memory);
  const Pack closed = lanes.project(q.data(), memory.data());
  Packs spoilt_q = packed(spoilt.q), spoilt_memory = packed(spoilt.memory);
  const Pack left = lanes.project(spoilt_q.data(), spoilt_memory.data());
  for (int k = 0; k < Pack::size; ++k) {
    SCOPED_TRACE(k);
    EXPECT_EQ(closed[k], 1.0);
    if (k == 1 || k == 2) {
      EXPECT_EQ(left[k], 0.0);
      EXPECT_TRUE(same_bits(lane_of(spoilt_q, k), spoilt.q[k]));
      EXPECT_TRUE(same_bits(lane_of(spoilt_memory, k), spoilt.memory[k]));
    } else if (k != 3) {  // whatever became of its neighbours
      EXPECT_EQ(left[k], 1.0);
      EXPECT_TRUE(same_bits(lane_of(spoilt_q, k), lane_of(q, k)));
      EXPECT_TRUE(same_bits(lane_of(spoilt_memory, k), lane_of(memory, k)));
    }
  }
  LoopProjector projector(model);
  projector.restore(spoilt.memory[2].data());
  EXPECT_EQ(projector.project(spoilt.q[2].data()).verdict, Closure::Verdict::branch_lost);
}

TEST(BatchProjectorTest, ALaneHasTheSameBitsBesideAnyOthers) {
  const ModelPtr model = four_bar_leg();
  const Moved near = moved_robots(model, 1e-9, 1), far = moved_robots(model, 0.02, 2);
  BatchProjector lanes(model);
  Packs q = packed(near.q), memory = packed(near.memory);
  const Pack closed = lanes.project(q.data(), memory.data());
  for (int alone = 0; alone < Pack::size; ++alone) {
    Moved mixed = far;  // which take more steps
    mixed.q[alone] = near.q[alone], mixed.memory[alone] = near.memory[alone];
    Packs mixed_q = packed(mixed.q), mixed_memory = packed(mixed.memory);
    const Pack now = lanes.project(mixed_q.data(), mixed_memory.data());
    EXPECT_EQ(now[alone], closed[alone]);
    EXPECT_TRUE(same_bits(lane_of(mixed_q, alone), lane_of(q, alone))) << alone;
    EXPECT_TRUE(same_bits(lane_of(mixed_memory, alone), lane_of(memory, alone))) << alone;
  }
}

TEST(BatchProjectorTest, NothingIsAllocatedFromTheFirstCallOnHoweverItEnds) {
  // Four loops: projectors keep them in a list.
  const ModelPtr model =
      host().load(std::string(ESPALIER_SOURCE_DIR) + "/benchmarks/contact/four_bar_quadruped.yaml");
  Moved robots = moved_robots(model, 1e-3, 1);
  Packs q = packed(robots.q), memory = packed(robots.memory);
  BatchProjector lanes(model);
  const auto before = cli::allocation_count();
  const Pack closed = lanes.project(q.data(), memory.data());
  EXPECT_EQ(cli::allocation_count(), before);
  for (int k = 0; k < Pack::size; ++k) EXPECT_EQ(closed[k], 1.0);
  LoopProjector projector(model);
  projector.restore(robots.memory[0].data());
  Values far = robots.q[0];
  const double turned[] = {1e-3, 2.0};  // the second one beyond its dead points
  const Closure::Verdict verdicts[] = {Closure::Verdict::closed, Closure::Verdict::branch_lost};
  for (int i = 0; i < 2; ++i) {
    far[model->joint("hind_left.crank").q] = robots.q[0][model->joint("hind_left.thigh").q];
    far[model->joint("hind_left.crank").q] += turned[i];
    const auto start = cli::allocation_count();
    const Closure::Verdict verdict = projector.try_project(far.data());
    EXPECT_EQ(cli::allocation_count(), start);
    EXPECT_EQ(verdict, verdicts[i]);
  }
}

}  // namespace
}  // namespace espalier::test::batch_projector_test
