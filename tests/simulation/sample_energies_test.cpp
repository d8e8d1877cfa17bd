#include "espalier/simulation/sample_energies.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "espalier/simulation/simulation.hpp"
#include "tests/simulation/support.hpp"

/// Energies that a run left to its caller, beside those that samples have.

namespace espalier::test::sample_energies_test {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// A run whose samples stand in rows of their own layout, each array by itself.
struct Kept {
  std::vector<double> q, v, kinetic, gravity;
  std::size_t nq, nv;

  explicit Kept(const Model& model) : nq(model.nq()), nv(model.nv()) {}
  void take(const Sample& s) {
    q.insert(q.end(), s.q.begin(), s.q.end());
    v.insert(v.end(), s.v.begin(), s.v.end());
    kinetic.push_back(s.kinetic), gravity.push_back(s.gravity);
  }
  SampleRows rows() {
    return {.count = kinetic.size(),
            .q = q.data(),
            .q_stride = nq,
            .v = v.data(),
            .v_stride = nv,
            .kinetic = kinetic.data(),
            .gravity = gravity.data()};
  }
};

struct SampleEnergiesTest : ::testing::Test {
  ModelPtr model = host().load(ESPALIER_SOURCE_DIR "/robots/tello.yaml", {.root = Root::floating});
  Vec3<double> gravity{1.0, 2.0, -9.0};

  Kept run(bool leaves) const {
    const auto s = make_simulation(host(), model);
    s->set_gravity(gravity);
    s->leave_energies(leaves);
    Kept kept(*model);
    // Two packs and a part of one.
    s->run(0.02, 1e-3, 1, [&](const Sample& now) {
      kept.take(now);
      return true;
    });
    return kept;
  }
};

TEST_F(SampleEnergiesTest, WhatARunLeftIsThatOfItsSamples) {
  const Kept whole = run(false);
  Kept left = run(true);
  ASSERT_EQ(left.kinetic.size(), 21u);
  for (const double x : left.kinetic) EXPECT_TRUE(std::isnan(x));
  SampleEnergies::make(host(), model, gravity)->complete(left.rows());
  const double largest = whole.kinetic.back();
  ASSERT_GT(largest, 0.1) << "it falls";
  for (std::size_t k = 0; k < whole.kinetic.size(); ++k) {
    EXPECT_NEAR(left.kinetic[k], whole.kinetic[k], 1e-14 * largest) << k << ", some roundings";
    EXPECT_NEAR(left.gravity[k], whole.gravity[k], 1e-13 * std::abs(whole.gravity[0])) << k;
  }
}

TEST_F(SampleEnergiesTest, RowsHaveTheSameBitsInWhateverLayoutAndCompany) {
  Kept left = run(true);
  const auto energies = SampleEnergies::make(host(), model, gravity);
  Kept one_by_one = left;
  for (std::size_t k = 0; k < left.kinetic.size(); ++k) {
    SampleRows row = one_by_one.rows();
    row.count = 1;
    row.q += k * row.q_stride, row.v += k * row.v_stride;
    row.kinetic += k, row.gravity += k;
    energies->complete(row);
  }
  // All numbers of a sample side by side, as in a table.
  const std::size_t width = left.nq + left.nv + 3;
  std::vector<double> table;
  for (std::size_t k = 0; k < left.kinetic.size(); ++k) {
    const double *q = left.q.data() + k * left.nq, *v = left.v.data() + k * left.nv;
    table.insert(table.end(), q, q + left.nq);
    table.insert(table.end(), v, v + left.nv);
    table.insert(table.end(), {nan, nan, 7.0});
  }
  double* const first = table.data() + left.nq + left.nv;
  energies->complete({.count = left.kinetic.size(),
                      .q = table.data(),
                      .q_stride = width,
                      .v = table.data() + left.nq,
                      .v_stride = width,
                      .kinetic = first,
                      .gravity = first + 1,
                      .energy_stride = width});
  energies->complete(left.rows());
  EXPECT_EQ(one_by_one.kinetic, left.kinetic);
  EXPECT_EQ(one_by_one.gravity, left.gravity);
  for (std::size_t k = 0; k < left.kinetic.size(); ++k) {
    EXPECT_EQ(first[k * width], left.kinetic[k]);
    EXPECT_EQ(first[k * width + 1], left.gravity[k]);
    EXPECT_EQ(first[k * width + 2], 7.0);
  }
}

TEST_F(SampleEnergiesTest, RowsThatHaveEnergiesKeepThem) {
  Kept left = run(true);
  for (const std::size_t k : {0u, 7u, 20u}) left.kinetic[k] = 3.0, left.gravity[k] = 4.0;
  SampleEnergies::make(host(), model, gravity)->complete(left.rows());
  for (std::size_t k = 0; k < left.kinetic.size(); ++k) {
    EXPECT_FALSE(std::isnan(left.kinetic[k])) << k;
    EXPECT_EQ(left.kinetic[k] == 3.0 && left.gravity[k] == 4.0, k == 0 || k == 7 || k == 20) << k;
  }
}

TEST_F(SampleEnergiesTest, PartsWithoutEnergiesGiveZero) {
  SimulationParts parts;
  parts.dynamics = host().create<ForwardDynamics<double>>("c-aba", model);
  parts.integrator = host().registry().create_integrator("rk4", espalier::Setup{model});
  Simulation s(std::move(parts));
  EXPECT_EQ(s.sample().kinetic, 0.0);
  EXPECT_EQ(s.sample().gravity, 0.0);
}

}  // namespace
}  // namespace espalier::test::sample_energies_test
