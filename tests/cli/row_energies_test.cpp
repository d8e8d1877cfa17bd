#include "cli/output/row_energies.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "tests/support/host.hpp"
#include "tests/support/random.hpp"

/// Energies of rows that come without them, beside the algorithm at the scalar double.

namespace espalier::cli::row_energies_test {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// Rows of a robot as MotionTable makes them, with one number behind.
struct Rows {
  explicit Rows(const ModelPtr& of)
      : model(of), kinetic(1 + of->nq() + of->nv()), columns(kinetic + 6) {}

  void add(test::Rng& random, double kinetic_energy, double gravity) {
    const std::size_t start = numbers.size();
    numbers.resize(start + columns, 0.5);
    model->neutral(numbers.data() + start + 1);
    std::vector<double> way = random.vector(model->spanning_nv());
    model->integrate(numbers.data() + start + 1, way.data(), numbers.data() + start + 1);
    const std::vector<double> v = random.vector(model->nv());
    std::copy(v.begin(), v.end(), numbers.begin() + static_cast<long>(start) + 1 + model->nq());
    double* const at = numbers.data() + start + kinetic;
    at[0] = kinetic_energy, at[1] = gravity, at[2] = 0.25;
    at[3] = at[0] + at[1] + at[2];
  }
  std::size_t count() const { return numbers.size() / columns; }
  const double* row(std::size_t k) const { return numbers.data() + k * columns; }
  const double* energies(std::size_t k) const { return row(k) + kinetic; }

  ModelPtr model;
  std::size_t kinetic, columns;
  std::vector<double> numbers;
};

struct RowEnergiesTest : ::testing::Test {
  ModelPtr model =
      test::host().load(ESPALIER_SOURCE_DIR "/robots/solo12.urdf", {.root = Root::floating});
  Vec3<double> gravity{1.0, 2.0, -9.0};
  std::unique_ptr<RowEnergies> energies = RowEnergies::make(test::host(), model, gravity);
  std::unique_ptr<Energy<double>> plain = test::host().create<Energy<double>>("energy", model);
  test::Rng random{3};

  /// Rows from number `first` on.
  void complete(Rows& rows, std::size_t first, std::size_t begin, std::size_t count) {
    RowBlocks::Block block;
    block.numbers = {rows.numbers.data() + begin * rows.columns, count * rows.columns};
    block.first = first;
    energies->complete(block, rows.columns);
  }
};

TEST_F(RowEnergiesTest, WhatIsMissingIsThatOfTheAlgorithmAndTheRestStaysAsItIs) {
  Rows rows(model);
  // Whole packs and none, and rows that have their energies among those that have not.
  for (int k = 0; k < 21; ++k) {
    rows.add(random, k % 5 == 2 ? 7.0 : nan, k % 5 == 2 ? 11.0 : nan);
  }
  const std::vector<double> before = rows.numbers;
  complete(rows, 0, 0, rows.count());
  plain->set_gravity(gravity);
  const long nq = model->nq(), nv = model->nv();
  for (std::size_t k = 0; k < rows.count(); ++k) {
    const auto [kinetic, potential] =
        plain->evaluate(In<double>(rows.row(k) + 1, nq), In<double>(rows.row(k) + 1 + nq, nv));
    const double* const e = rows.energies(k);
    EXPECT_NEAR(e[0], k % 5 == 2 ? 7.0 : kinetic, 1e-14 * kinetic) << k << ", some roundings";
    EXPECT_NEAR(e[1], k % 5 == 2 ? 11.0 : potential, 1e-13 * std::abs(potential)) << k;
    EXPECT_EQ(e[3], e[0] + e[1] + e[2]) << k;
    for (std::size_t i = 0; i < rows.columns; ++i) {
      if (i == rows.kinetic || i == rows.kinetic + 1 || i == rows.kinetic + 3) continue;
      EXPECT_EQ(rows.row(k)[i], before[k * rows.columns + i]) << k << " " << i;
    }
  }
}

TEST_F(RowEnergiesTest, RangeIsThatOfAllRowsInWhateverOrderBlocksCome) {
  Rows rows(model);
  for (int k = 0; k < 12; ++k) rows.add(random, nan, nan);
  complete(rows, 8, 8, 4);
  complete(rows, 0, 0, 5);
  complete(rows, 5, 5, 3);
  const EnergyRange& range = energies->range();
  double drift = 0.0, kinetic = 0.0;
  for (std::size_t k = 0; k < rows.count(); ++k) {
    drift = std::max(drift, std::abs(rows.energies(k)[3] - rows.energies(0)[3]));
    kinetic = std::max(kinetic, rows.energies(k)[0]);
  }
  EXPECT_EQ(range.first, rows.energies(0)[3]);
  EXPECT_EQ(range.last, rows.energies(11)[3]);
  EXPECT_EQ(range.largest_drift(), drift);
  EXPECT_EQ(range.largest_kinetic, kinetic);
}

TEST_F(RowEnergiesTest, RangeOfNoRowsIsZero) { EXPECT_EQ(EnergyRange().largest_drift(), 0.0); }

}  // namespace
}  // namespace espalier::cli::row_energies_test
