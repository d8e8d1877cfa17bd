#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>

#include "espalier/kernel/model/loops/loop_projector.hpp"
#include "tests/batch/support.hpp"
#include "tests/support/dense_algebra.hpp"
#include "tests/support/four_bar.hpp"

// Batches of floats: their error against doubles, and what they say where they have none to give.

namespace espalier::test::float_batch_test {
namespace {

using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// Half a unit in the last place of 1: what one operation rounds away.
constexpr double rounding = 0x1p-24;
/// One operation follows the other on the way from the root to a tip and back. Roundings of
/// hundreds add up as a random walk does, to their root. Measured: at most 6.
constexpr double operations = 20;

/// Those of robots/ whose joints and loops differ in kind, fixed and floating, and random ones.
struct Robot {
  ModelPtr model;
  std::vector<State> states;
};
std::vector<Robot> robots() {
  std::vector<Robot> all;
  const auto load = [&](const std::string& file, CompileOptions::Root root) {
    CompileOptions options;
    options.root = root;
    const ModelPtr m = host().load(ESPALIER_SOURCE_DIR "/robots/" + file, options);
    all.push_back({m, states_of(*m, 40)});
  };
  using Root = CompileOptions::Root;
  load("ur5.urdf", Root::fixed);
  load("panda.urdf", Root::fixed);
  load("humanoid.urdf", Root::floating);
  load("mini_cheetah_geared.yaml", Root::floating);
  load("mit_humanoid.yaml", Root::floating);
  load("jvrc1_geared.yaml", Root::floating);
  load("tello_with_arms.yaml", Root::floating);
  load("four_bar_leg.yaml", Root::fixed);
  load("belt_chain.yaml", Root::fixed);
  load("rod_ankle.yaml", Root::fixed);
  for (int seed = 1; seed <= 6; ++seed) {
    const ModelPtr m = seed % 2 == 0 ? tree(seed, 15) : cluster_robot(seed);
    all.push_back({m, states_of(*m, 40)});
  }
  return all;
}

template <template <class> class P>
Values answer(const char* algorithm, const Robot& robot, const States& states,
              Precision precision) {
  const auto batch =
      host().batch<P>(algorithm, robot.model, {.threads = 1, .precision = precision});
  return answers(*batch, states.N, states.inputs())[0];
}

double norm(const Values& x) { return std::sqrt(inner(x, x)); }
double distance(const Values& a, const Values& b) { return norm(combined(a, -1.0, b)); }

/// What rounding of an equation M x = f makes of x: relative to |M| |x| and to the sizes of the
/// parts that f is the sum of. Dependent joints, and with them G, are worse by one over the margin.
TEST(FloatBatchTest, ErrorsAreThoseOfRoundingEverywhere) {
  for (const Robot& robot : robots()) {
    const Model& model = *robot.model;
    const int N = static_cast<int>(robot.states.size()), nv = model.nv();
    const States all = gathered(model, robot.states);
    const auto both = [&]<template <class> class P>(const char* name) {
      return std::pair(answer<P>(name, robot, all, Precision::doubles),
                       answer<P>(name, robot, all, Precision::floats));
    };
    const auto vdot = both.operator()<ForwardDynamics>("c-aba");
    const auto tau = both.operator()<InverseDynamics>("c-rnea");
    const auto bias = both.operator()<BiasForce>("c-rnea");
    const auto M = both.operator()<MassMatrix>("c-crba");
    for (int k = 0; k < N; ++k) {
      const auto of = [&](const Values& x) { return column(x, N, k); };
      const double margin = examine(model, robot.states[k].q.data()).margin;
      const double unit = operations * rounding / std::min(1.0, margin);
      const Values m = of(M.first);
      const Eigen::Map<const Matrix> inertia(m.data(), nv, nv);
      const double size = inertia.norm(), forces = norm(of(bias.first));
      const Values a = of(vdot.first), wanted = robot.states[k].vdot;
      const double inverse = test::inverse(inertia).norm();
      EXPECT_LE(distance(of(M.second), m), unit * size) << model.name() << ", state " << k;
      EXPECT_LE(distance(of(bias.second), of(bias.first)), unit * (forces + size))
          << model.name() << ", state " << k;
      EXPECT_LE(distance(of(tau.second), of(tau.first)), unit * (size * norm(wanted) + forces))
          << model.name() << ", state " << k;
      EXPECT_LE(distance(of(vdot.second), a),
                unit * inverse * (size * norm(a) + norm(robot.states[k].tau) + forces))
          << model.name() << ", state " << k;
      // And they are not doubles in disguise.
      EXPECT_GT(distance(of(M.second), m), 1e-12 * size) << model.name() << ", state " << k;
    }
  }
}

// docs/batches.md says so, from more states.
TEST(FloatBatchTest, FiveDigitsRemainInMostStates) {
  for (const Robot& robot : robots()) {
    const Model& model = *robot.model;
    const int N = static_cast<int>(robot.states.size());
    const States all = gathered(model, robot.states);
    for (const char* name : {"aba", "c-aba", "bremer-on"}) {
      const Entry& e = host().registry().find_algorithm("forward-dynamics", name);
      if (!host().registry().can(e, model).ok) continue;
      const Values exact = answer<ForwardDynamics>(name, robot, all, Precision::doubles);
      const Values rounded = answer<ForwardDynamics>(name, robot, all, Precision::floats);
      Values errors;
      for (int k = 0; k < N; ++k) {
        const Values a = column(exact, N, k);
        errors.push_back(distance(column(rounded, N, k), a) / norm(a));
      }
      std::sort(errors.begin(), errors.end());
      // Measured: 8e-6 on the rods' ankle, at most 3e-6 elsewhere.
      EXPECT_LE(errors[N / 2], 2e-5) << name << " on " << model.name();
    }
  }
}

/// Every algorithm that has floats, whatever its problem.
TEST(FloatBatchTest, EveryAlgorithmAgreesWithItselfAtDoubles) {
  for (const ModelPtr& model : {tree(2, 8), tree(3, 12), cluster_robot(1), cluster_robot(4)}) {
    constexpr int N = 19;
    const States all = gathered(*model, states_of(*model, N));
    int algorithms = 0;
    for (const Entry* e : packed_algorithms(*model, Precision::floats)) {
      ++algorithms;
      const auto exact = host().batch(e->problem, e->about.name, with_tips(model), {.threads = 1});
      const auto rounded = host().batch(e->problem, e->about.name, with_tips(model),
                                        {.threads = 1, .precision = Precision::floats});
      EXPECT_EQ(rounded->precision(), Precision::floats);
      const auto wanted = answers(*exact, N, all.with_wrenches());
      const auto got = answers(*rounded, N, all.with_wrenches());
      ASSERT_EQ(got.size(), wanted.size());
      for (std::size_t r = 0; r < got.size(); ++r) {
        EXPECT_EQ(rounded->results()[r].name, exact->results()[r].name);
        // Light links and margins down to a hundredth enlarge what rounding does; a wrong sign or
        // threshold is an error of order 1. Measured: at most 52.
        EXPECT_LE(relative_difference(got[r], wanted[r]), 500 * rounding)
            << e->about.name << " (" << e->problem << ") on " << model->name() << ": "
            << exact->results()[r].name;
      }
    }
    EXPECT_GT(algorithms, 10);
  }
}

TEST(FloatBatchTest, WhatDoesNotFitAFloatIsSingular) {
  const ModelPtr model = tree(2, 5);
  constexpr int N = 11, bad = 9;
  States all = gathered(*model, states_of(*model, N));
  const auto batch =
      host().batch<ForwardDynamics>("aba", model, {.threads = 1, .precision = Precision::floats});
  all.tau[bad] = 1e200;
  std::vector<BatchStatus> status;
  answers(*batch, N, all.inputs(), &status);
  for (int k = 0; k < N; ++k) {
    EXPECT_EQ(status[k], k == bad ? BatchStatus::singular : BatchStatus::ok) << k;
  }
}

/// A crank that its rocker drives is at a dead point where it is in line with the coupler: the law
/// of cosines says at which angle.
class DeadPointTest : public ::testing::Test {
 protected:
  DeadPointTest() { bars_.independent = "rocker", model_ = host().compile(four_bar(bars_)); }

  /// Positions with the crank `off` beyond the dead point.
  Values beyond(double off) const {
    const double a = bars_.base, b = bars_.crank + bars_.coupler, c = bars_.rocker;
    const double crank = std::acos((a * a + b * b - c * c) / (2.0 * a * b)) + off;
    const FourBarAngles angles = solve(bars_, crank, 1.0);
    EXPECT_TRUE(angles.reachable);
    Values q(model_->nq());
    q[model_->joint("crank").q] = crank;
    q[model_->joint("coupler").q] = angles.coupler;
    q[model_->joint("rocker").q] = angles.rocker;
    return q;
  }

  FourBar bars_;
  ModelPtr model_;
};

TEST_F(DeadPointTest, NearItFloatsAreSingularWhereDoublesStillHaveDigits) {
  const Values zero(model_->nv(), 0.0);
  for (const double off : {1e-5, 0.3}) {
    const Values q = beyond(off);
    const double margin = examine(*model_, q.data()).margin;
    EXPECT_EQ(off < 1e-3, margin < 1e-4) << margin;
    Values vdot(zero);
    for (const Precision precision : precisions) {
      const auto batch =
          host().batch<ForwardDynamics>("c-aba", model_, {.threads = 1, .precision = precision});
      std::vector<BatchStatus> status(1);
      batch->evaluate(1, {.q = q, .v = zero, .tau = zero}, {{"vdot", vdot}}, status);
      const bool lost = off < 1e-3 && precision == Precision::floats;
      EXPECT_EQ(status[0], lost ? BatchStatus::singular : BatchStatus::ok) << off;
    }
  }
}

TEST_F(DeadPointTest, EachStateOfFloatsIsJudgedByItsOwnMargin) {
  constexpr int N = 45;  // not of whole packs
  Values q(model_->nq() * N), zero(model_->nv() * N, 0.0), vdot(zero);
  LoopProjector projector(model_);
  std::vector<BatchStatus> expected, status(N);
  for (int k = 0; k < N; ++k) {  // one in three is far from the dead point
    const Values one = beyond(k % 3 == 0 ? 0.3 : std::pow(10.0, -5.0 + 0.1 * k));
    put(q, N, k, one);
    projector.residual(one.data());
    // By Frobenius norms of two dependent columns: at least half of what singular values say.
    const double margin = projector.margin(), exactly = examine(*model_, one.data()).margin;
    EXPECT_LE(margin, exactly * (1.0 + 1e-6));
    EXPECT_GE(margin, 0.5 * exactly);
    expected.push_back(margin < 1e-3 ? BatchStatus::singular : BatchStatus::ok);
  }
  const auto singular = std::count(expected.begin(), expected.end(), BatchStatus::singular);
  EXPECT_GT(singular, 5);
  EXPECT_LT(singular, N - 20);
  const auto batch = host().batch<ForwardDynamics>("c-aba", model_,
                                                   {.threads = 1, .precision = Precision::floats});
  batch->evaluate(N, {.q = q, .v = zero, .tau = zero}, {{"vdot", vdot}}, status);
  EXPECT_EQ(status, expected);
}

}  // namespace
}  // namespace espalier::test::float_batch_test
