#include "espalier/kernel/problems/dynamics/christoffel_symbols.hpp"

#include <gtest/gtest.h>

#include "tests/derivatives/oracle.hpp"

namespace espalier::test::christoffel_test {
namespace {

bool joints_of_one_rate(const Model& model) {
  for (const Joint& joint : model.joints()) {
    if (joint.nv != 1) return false;
  }
  return true;
}

TEST(ChristoffelSymbolsTest, SumsWithRatesAreTheCoriolisMatrix) {
  int trees = 0;
  for (unsigned long long seed = 1; seed <= 60; ++seed) {
    const ModelPtr model = any_robot(seed);
    const int n = model->nv();
    const State s = any_state(*model, seed);
    std::vector<double> C(n * n), sum(n * n, 0.0), Gamma(static_cast<std::size_t>(n) * n * n);
    host().create<CoriolisMatrix<double>>("composite-coriolis", model)->evaluate(s.q, s.v, C);
    for (auto& [name, algorithm] : every<ChristoffelSymbols<double>>(model)) {
      SCOPED_TRACE(name + ", robot of seed " + std::to_string(seed));
      algorithm->evaluate(s.q, Gamma);
      std::fill(sum.begin(), sum.end(), 0.0);
      for (int ij = 0; ij < n * n; ++ij) {
        for (int k = 0; k < n; ++k) sum[ij] += Gamma[static_cast<std::size_t>(ij) * n + k] * s.v[k];
      }
      // Near dead points entries of 1e3 and more cancel.
      EXPECT_LT(largest_difference(sum, C),
                1e-12 * std::max({1.0, largest(C), largest(Gamma) * largest(s.v)}));
    }
    trees += model->is_tree() && joints_of_one_rate(*model);
  }
  RecordProperty("trees", trees);
}

/// Symbols of one robot against derivatives of M by differences with closed loops.
void expect_derivatives_of_the_mass_matrix(const ModelPtr& model, const State& s) {
  const int n = model->nv();
  DifferenceOracle oracle(model);
  std::vector<std::vector<double>> dM;  // by coordinate
  for (int k = 0; k < n; ++k) {
    dM.push_back(best_difference([&](double t) {
                   return oracle.mass_matrix(oracle.moved(s.q, k, t));
                 }).derivative);
  }
  std::vector<double> Gamma(static_cast<std::size_t>(n) * n * n), expected(Gamma.size());
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) {
      for (int k = 0; k < n; ++k) {
        expected[(static_cast<std::size_t>(i) * n + j) * n + k] =
            0.5 * (dM[k][i * n + j] + dM[j][i * n + k] - dM[i][j * n + k]);
      }
    }
  }
  for (auto& [name, algorithm] : every<ChristoffelSymbols<double>>(model)) {
    SCOPED_TRACE(name);
    algorithm->evaluate(s.q, Gamma);
    // The differences' own error, as of derivatives of tau.
    EXPECT_LT(relative_difference(Gamma, expected), 1e-9);
    for (int i = 0; i < n; ++i) {
      for (int j = 0; j < n; ++j) {
        for (int k = 0; k < j; ++k) {
          EXPECT_NEAR(Gamma[(static_cast<std::size_t>(i) * n + j) * n + k],
                      Gamma[(static_cast<std::size_t>(i) * n + k) * n + j],
                      1e-12 * std::max(1.0, largest(Gamma)));
        }
      }
    }
  }
}

TEST(ChristoffelSymbolsTest, AreHalvesOfDerivativesOfTheMassMatrixOnTrees) {
  for (unsigned long long seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE("robot of seed " + std::to_string(seed));
    RobotOptions options;
    options.seed = seed, options.bodies = 8, options.types = {"revolute", "prismatic"};
    const ModelPtr model = host().compile(random_robot(host().registry(), options));
    expect_derivatives_of_the_mass_matrix(model, random_state(*model, seed));
  }
}

TEST(ChristoffelSymbolsTest, AreHalvesOfDerivativesOfTheMassMatrixThroughLoops) {
  for (const char* file : {"four_bar_leg", "tello", "geared_chain", "belt_chain"}) {
    SCOPED_TRACE(file);
    const ModelPtr model = host().load(ESPALIER_SOURCE_DIR "/robots/" + std::string(file) + ".yaml",
                                       {.root = CompileOptions::Root::fixed});
    ASSERT_FALSE(model->is_tree());
    ASSERT_TRUE(joints_of_one_rate(*model));
    for (unsigned long long seed = 1; seed <= 2; ++seed) {
      expect_derivatives_of_the_mass_matrix(model, any_state(*model, seed));
    }
  }
}

TEST(ChristoffelSymbolsTest, ThoseOfADoublePendulumAreTheBooks) {
  // M_11 = a + 2 b cos q2, M_12 = d + b cos q2: all symbols are 0 or h = -b sin q2 up to sign.
  const ModelPtr model = host().load(ESPALIER_SOURCE_DIR "/robots/double_pendulum.yaml");
  ASSERT_EQ(model->nv(), 2);
  const std::vector<double> q{0.4, 0.9};
  std::vector<double> Gamma(8), M(4), M0(4);
  host().create<ChristoffelSymbols<double>>("composite-christoffel", model)->evaluate(q, Gamma);
  host().create<MassMatrix<double>>("dense", model)->evaluate(q, M);
  host()
      .create<MassMatrix<double>>("dense", model)
      ->evaluate(std::vector<double>{0.4, M_PI - 0.9}, M0);
  const double b = (M[0] - M0[0]) / (4.0 * std::cos(q[1])), h = -b * std::sin(q[1]);
  const std::vector<double> expected{0, h, h, h, -h, 0, 0, 0};
  EXPECT_GT(std::abs(h), 1e-3);
  EXPECT_LT(largest_difference(Gamma, expected), 1e-13);
}

TEST(ChristoffelSymbolsTest, WrongSizesAreNamed) {
  const ModelPtr model = host().load(ESPALIER_SOURCE_DIR "/robots/double_pendulum.yaml");
  auto algorithm = host().create<ChristoffelSymbols<double>>("composite-christoffel", model);
  std::vector<double> q(2), Gamma(4);
  EXPECT_THROW(algorithm->evaluate(q, Gamma), SizeMismatch);
}

}  // namespace
}  // namespace espalier::test::christoffel_test
