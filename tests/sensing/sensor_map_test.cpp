#include <gtest/gtest.h>

#include <cmath>

#include "espalier/sensing/sensor_dynamics.hpp"
#include "tests/support/sensor_robots.hpp"
#include "tests/support/sensor_sets.hpp"

// Redundant sensors: least squares weighted with covariance.

namespace espalier::test::sensor_map_test {
namespace {

using Kind = Sensor::Kind;
using Dynamics = SensorDynamics<double>;

/// Torques and accelerations of all joints, an accelerometer and a joint's wrench.
std::vector<Sensor> plenty(const Model& model, Rng& rng) {
  std::vector<Sensor> all = forward_sensors(model);
  for (const Coordinate& c : model.coordinates()) {
    all.push_back({.kind = Kind::acceleration, .joint = c.name});
  }
  const int tip = model.active_body_count();
  all.push_back({.kind = Kind::accelerometer,
                 .link = model.body_names()[tip],
                 .frame = {rng.vec3(0.2), rng.vec3(3.0)},
                 .covariance = {0.3, 0.2, 0.1}});
  all.push_back({.kind = Kind::joint_wrench, .joint = model.joints()[model.body(tip).joint].name});
  for (Sensor& s : all) {
    if (s.covariance.empty()) s.covariance = {rng.uniform(0.05, 2.0)};
  }
  return all;
}

TEST(SensorMapTest, AgreesWithOrthogonalLeastSquares) {
  for (unsigned long long seed = 1; seed <= 40; ++seed) {
    const ModelPtr model =
        seed % 2 ? random_tree(seed, 1 + static_cast<int>(seed % 5)) : random_cluster_tree(seed, 2);
    if (model->nv() == 0) continue;
    Rng rng(seed);
    const espalier::Setup setup{.model = model, .sensors = plenty(*model, rng)};
    const auto map = host().create<Dynamics>("map", setup);
    const auto dense = host().create<Dynamics>("dense", setup);
    map->set_variances(true), dense->set_variances(true);
    const test::State s =
        seed % 2 ? random_state(*model, seed) : random_cluster_state(*model, seed);
    const Wrenches<double> wrenches = s.wrenches(model);
    const std::vector<double> y = rng.vector(map->system().measurements(), 3.0);
    const auto& a = map->evaluate(s.q, s.v, y, &wrenches);
    const auto& b = dense->evaluate(s.q, s.v, y, &wrenches);
    // Both lose the square of the condition at most in the variances: 1e4 of 1e-16.
    EXPECT_LT(relative_difference(a.qdd, b.qdd), 1e-9) << model->name();
    EXPECT_LT(relative_difference(a.tau, b.tau), 1e-9) << model->name();
    EXPECT_LT(relative_difference(a.residual, b.residual), 1e-9) << model->name();
    EXPECT_LT(relative_difference(a.variance, b.variance), 1e-9) << model->name();
    EXPECT_NEAR(a.chi_square, b.chi_square, 1e-9 * b.chi_square);
    EXPECT_GT(a.chi_square, 1.0) << "random measurements contradict one another";
    EXPECT_EQ(a.redundancy, map->system().rows() - map->system().unknowns());
  }
}

TEST(SensorMapTest, TwoMeasurementsOfOneThingAreWeighedByTheirVariances) {
  const ModelPtr model = host().compile(chain_of(std::vector<std::string>{"revolute"}));
  const espalier::Setup setup{
      .model = model,
      .sensors = {
          {.kind = Kind::acceleration, .name = "good", .joint = "joint1", .covariance = {1.0}},
          {.kind = Kind::acceleration, .name = "bad", .joint = "joint1", .covariance = {3.0}}}};
  const std::vector<double> q{0.3}, v{0.5}, y{2.0, 6.0};
  for (const char* name : {"map", "dense"}) {
    const auto algorithm = host().create<Dynamics>(name, setup);
    algorithm->set_variances(true);
    const auto& answer = algorithm->evaluate(q, v, y);
    // (2 / 1 + 6 / 3) / (1 / 1 + 1 / 3) = 3, with variance 1 / (1 + 1 / 3).
    EXPECT_NEAR(answer.qdd[0], 3.0, 1e-12) << name;
    EXPECT_NEAR(algorithm->variance("acceleration of joint1"), 0.75, 1e-12) << name;
    EXPECT_NEAR(algorithm->value("acceleration of joint1"), 3.0, 1e-12) << name;
    // They contradict each other, and that is reported: 1 below, 3 above.
    EXPECT_NEAR(answer.residual[0], -1.0, 1e-12) << name;
    EXPECT_NEAR(answer.residual[1], 3.0, 1e-12) << name;
    EXPECT_NEAR(answer.chi_square, 1.0 + 9.0 / 3.0, 1e-12) << name;
    EXPECT_EQ(answer.redundancy, 1) << name;
  }
}

TEST(SensorMapTest, AVarianceOfZeroIsExact) {
  const ModelPtr model = host().compile(chain_of(std::vector<std::string>{"revolute"}));
  const espalier::Setup setup{
      .model = model,
      .sensors = {
          {.kind = Kind::acceleration, .name = "exact", .joint = "joint1", .covariance = {0.0}},
          {.kind = Kind::acceleration, .name = "noisy", .joint = "joint1", .covariance = {3.0}}}};
  const std::vector<double> q{0.3}, v{0.5}, y{2.0, 6.0};
  for (const char* name : {"map", "dense"}) {
    const auto algorithm = host().create<Dynamics>(name, setup);
    algorithm->set_variances(true);
    EXPECT_NEAR(algorithm->evaluate(q, v, y).qdd[0], 2.0, 1e-12) << name;
    EXPECT_NEAR(algorithm->variance("acceleration of joint1"), 0.0, 1e-12) << name;
  }
}

TEST(SensorMapTest, CorrelatedNoiseIsWeighedAsAMatrix) {
  const ModelPtr model = random_tree(4, 3);
  Rng rng(1);
  espalier::Setup setup{.model = model, .sensors = plenty(*model, rng)};
  // A A^T + 1: symmetric, positive definite.
  std::vector<double> A = rng.vector(36), R(36, 0.0);
  for (int i = 0; i < 6; ++i) {
    for (int j = 0; j < 6; ++j) {
      for (int k = 0; k < 6; ++k) R[6 * i + j] += A[6 * i + k] * A[6 * j + k];
    }
    R[7 * i] += 1.0;
  }
  setup.sensors.back().covariance = R;
  const auto map = host().create<Dynamics>("map", setup);
  const auto dense = host().create<Dynamics>("dense", setup);
  map->set_variances(true), dense->set_variances(true);
  const test::State s = random_state(*model, 3);
  const std::vector<double> y = rng.vector(map->system().measurements(), 3.0);
  const auto& a = map->evaluate(s.q, s.v, y);
  const auto& b = dense->evaluate(s.q, s.v, y);
  EXPECT_LT(relative_difference(a.tau, b.tau), 1e-10);
  EXPECT_LT(relative_difference(a.variance, b.variance), 1e-10);
  EXPECT_NEAR(a.chi_square, b.chi_square, 1e-10 * b.chi_square);
}

TEST(SensorMapTest, VariancesAreThoseOfManyNoisyRuns) {
  const ModelPtr model = random_tree(5, 3);
  Rng rng(2);
  const espalier::Setup setup{.model = model, .sensors = plenty(*model, rng)};
  const auto map = host().create<Dynamics>("map", setup);
  const test::State s = random_state(*model, 3);
  const int rows = map->system().measurements();
  const std::vector<double> y = rng.vector(rows, 3.0);
  map->set_variances(true);
  const Dynamics::Answer first = map->evaluate(s.q, s.v, y);
  map->set_variances(false);
  const int torque = map->system().torque(0);
  constexpr int runs = 4000;
  double square = 0.0, chi = 0.0;
  for (int run = 0; run < runs; ++run) {
    std::vector<double> noisy = first.residual;
    for (int k = 0; k < rows; ++k) {
      // Sum of twelve uniform numbers: nearly Gaussian, variance 1.
      double normal = 0.0;
      for (int i = 0; i < 12; ++i) normal += rng.uniform(-0.5, 0.5);
      const auto& blocks = map->system().covariance();
      double deviation = 0.0;
      for (const auto& R : blocks) {
        const int i = k - R.first;
        if (i >= 0 && i < R.size) deviation = std::sqrt(R.values[i * R.size + i]);
      }
      noisy[k] = y[k] - first.residual[k] + deviation * normal;  // what is consistent, with noise
    }
    const auto& answer = map->evaluate(s.q, s.v, noisy);
    EXPECT_TRUE(answer.variance.empty());
    square += std::pow(answer.tau[0] - first.tau[0], 2);
    chi += answer.chi_square;
  }
  // Sample variances of 4000 runs scatter by sqrt(2 / 4000) = 2.2 %, chi-square's mean by less.
  EXPECT_NEAR(square / runs, first.variance[torque], 0.12 * first.variance[torque]);
  EXPECT_NEAR(chi / runs, first.redundancy, 0.12 * first.redundancy);
}

TEST(SensorMapTest, ConsistentMeasurementsLeaveNoResidual) {
  const ModelPtr model = random_tree(7, 4);
  Rng rng(3);
  const espalier::Setup setup{.model = model, .sensors = plenty(*model, rng)};
  const auto map = host().create<Dynamics>("map", setup);
  const test::State s = random_state(*model, 3);
  const std::vector<double> y = rng.vector(map->system().measurements(), 3.0);
  const std::vector<double> residual = map->evaluate(s.q, s.v, y).residual;
  EXPECT_GT(largest(residual), 0.1);
  const auto& again = map->evaluate(s.q, s.v, combined(y, -1.0, residual));
  EXPECT_LT(largest(again.residual), 1e-10);
  EXPECT_LT(again.chi_square, 1e-18);
}

TEST(SensorMapTest, ResultsHaveNames) {
  const ModelPtr model = random_tree(4, 3);
  Rng rng(1);
  const auto map = host().create<Dynamics>(
      "map", espalier::Setup{.model = model, .sensors = plenty(*model, rng)});
  const test::State s = random_state(*model, 3);
  map->set_variances(true);
  Inputs inputs{s.q, s.v, s.tau, s.vdot};
  Results results;
  map->solve(inputs, results);
  int named = 0;
  for (const Result& r : results) {
    EXPECT_EQ(r.values.size(), static_cast<std::size_t>(r.row_count) * r.column_count) << r.name;
    if (r.rows != Result::Axis::named) continue;
    EXPECT_EQ(r.names.size(), static_cast<std::size_t>(r.row_count)) << r.name;
    ++named;
  }
  EXPECT_EQ(named, 6)
      << "torques, accelerations of joints and bodies, wrenches, residual, variances";
}

}  // namespace
}  // namespace espalier::test::sensor_map_test
