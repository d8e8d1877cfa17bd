#include "espalier/control/least_squares_hierarchy.hpp"

#include <gtest/gtest.h>

#include "tests/support/host.hpp"
#include "tests/support/random.hpp"

namespace espalier::test::least_squares_hierarchy_test {
namespace {

using Level = LeastSquaresHierarchy::Level;
using Verdict = QuadraticProgramSolver::Verdict;

LeastSquaresHierarchy::Limits box(int n, double size) {
  return {Eigen::MatrixXd::Identity(n, n), Eigen::VectorXd::Constant(n, -size),
          Eigen::VectorXd::Constant(n, size)};
}
Level level(Eigen::MatrixXd A, Eigen::VectorXd b) { return {std::move(A), std::move(b)}; }

class Hierarchy : public testing::TestWithParam<bool> {
 protected:
  const Eigen::VectorXd& solve(const std::vector<Level>& levels,
                               const LeastSquaresHierarchy::Limits& limits,
                               Eigen::VectorXd weights = {}) {
    if (weights.size() == 0) weights = Eigen::VectorXd::Ones(limits.C.cols());
    const auto outcome =
        hierarchy_.solve(levels, weights, limits, GetParam() ? solver_.get() : nullptr);
    EXPECT_EQ(outcome.verdict, Verdict::solved);
    return hierarchy_.x();
  }
  // Rounding, or the solver's tolerance.
  double tolerance_ = GetParam() ? 1e-7 : 1e-12;
  std::unique_ptr<QuadraticProgramSolver> solver_ = host().registry().create_qp_solver("alglib");
  LeastSquaresHierarchy hierarchy_;
};

INSTANTIATE_TEST_SUITE_P(WithWideLimits, Hierarchy, testing::Values(false, true),
                         [](const auto& at) { return at.param ? "programs" : "least_squares"; });

TEST_P(Hierarchy, SecondLevelTakesWhatTheFirstLeaves) {
  // x + y = 2 first; then x = 3 and y = 5, which leaves x - y = -2.
  const auto& x = solve({level(Eigen::RowVector2d(1, 1), Eigen::VectorXd::Constant(1, 2)),
                         level(Eigen::Matrix2d::Identity(), Eigen::Vector2d(3, 5))},
                        box(2, 100));
  EXPECT_NEAR(x[0], 0.0, tolerance_);
  EXPECT_NEAR(x[1], 2.0, tolerance_);
}

TEST_P(Hierarchy, WhatIsLeftToChooseIsSmall) {
  const auto& x =
      solve({level(Eigen::RowVector3d(1, 2, 2), Eigen::VectorXd::Constant(1, 9))}, box(3, 100));
  EXPECT_NEAR(x[0], 1.0, tolerance_);
  EXPECT_NEAR(x[1], 2.0, tolerance_);
  EXPECT_NEAR(x[2], 2.0, tolerance_);
}

TEST_P(Hierarchy, LevelThatRepeatsAHigherOneChangesNothing) {
  // The same row again, but for rounding: asked for another value it has none to give.
  const Eigen::RowVector3d row(1, 2, 2);
  const auto& x = solve({level(row, Eigen::VectorXd::Constant(1, 9)),
                         level(row * (1.0 + 1e-15) / 3.0, Eigen::VectorXd::Constant(1, -7))},
                        box(3, 100));
  EXPECT_NEAR(row * x, 9.0, 9 * tolerance_);
  EXPECT_NEAR(x.norm(), 3.0, 3 * tolerance_);
}

TEST_P(Hierarchy, LevelWithoutRowsIsNone) {
  const auto& x = solve({level(Eigen::MatrixXd(0, 2), Eigen::VectorXd(0)),
                         level(Eigen::Matrix2d::Identity(), Eigen::Vector2d(3, 5))},
                        box(2, 100));
  EXPECT_NEAR(x[0], 3.0, tolerance_);
  EXPECT_NEAR(x[1], 5.0, tolerance_);
}

TEST(HierarchyInLimits, FirstLevelDecidesWhatTheSecondCannotHave) {
  // x + y = 2 in the box of 1: only (1, 1) does it, whatever the second level wants.
  LeastSquaresHierarchy hierarchy;
  const auto solver = host().registry().create_qp_solver("alglib");
  const auto outcome =
      hierarchy.solve({level(Eigen::RowVector2d(1, 1), Eigen::VectorXd::Constant(1, 2)),
                       level(Eigen::RowVector2d(1, 0), Eigen::VectorXd::Constant(1, -5))},
                      Eigen::Vector2d::Ones(), box(2, 1), solver.get());
  ASSERT_EQ(outcome.verdict, Verdict::solved);
  EXPECT_NEAR(hierarchy.x()[0], 1.0, 1e-12);
  EXPECT_NEAR(hierarchy.x()[1], 1.0, 1e-12);
}

TEST(HierarchyInLimits, WhatNoLimitHoldsBackIsAsWithoutLimits) {
  LeastSquaresHierarchy hierarchy;
  const auto solver = host().registry().create_qp_solver("alglib");
  const auto outcome =
      hierarchy.solve({level(Eigen::Matrix3d::Identity(), Eigen::Vector3d(3, 5, 1000))},
                      Eigen::Vector3d::Ones(), box(3, 100), solver.get());
  ASSERT_EQ(outcome.verdict, Verdict::solved);
  EXPECT_GT(outcome.iterations, 0);
  EXPECT_NEAR(hierarchy.x()[0], 3.0, 1e-12);
  EXPECT_NEAR(hierarchy.x()[1], 5.0, 1e-12);
  EXPECT_NEAR(hierarchy.x()[2], 100.0, 1e-12);
}

TEST(HierarchyInLimits, OutOfReachIsAsNearAsTheLimitsAllow) {
  LeastSquaresHierarchy hierarchy;
  const auto solver = host().registry().create_qp_solver("alglib");
  const auto outcome =
      hierarchy.solve({level(Eigen::RowVector2d(1, 1), Eigen::VectorXd::Constant(1, 10)),
                       level(Eigen::RowVector2d(1, 0), Eigen::VectorXd::Constant(1, -5))},
                      Eigen::Vector2d::Ones(), box(2, 1), solver.get());
  ASSERT_EQ(outcome.verdict, Verdict::solved);
  EXPECT_NEAR(hierarchy.x().sum(), 2.0, 1e-12);
}

TEST(HierarchyInLimits, RowsOfAnySizeAreReached) {
  // Squares of these rows span ten orders of ten: by the program alone the small ones are missed.
  const auto solver = host().registry().create_qp_solver("alglib");
  int in_the_way = 0;
  for (unsigned seed = 0; seed < 200; ++seed) {
    Rng rng(seed);
    Eigen::MatrixXd A(4, 7);
    Eigen::VectorXd x(7);
    for (int j = 0; j < 7; ++j) {
      x[j] = std::clamp(rng.uniform(-1.5, 1.5), -1.0, 1.0);
      for (int i = 0; i < 4; ++i) A(i, j) = rng.uniform(-1, 1);
    }
    for (int i = 0; i < 4; ++i) A.row(i) *= std::pow(10.0, rng.uniform(0, 5));
    const Eigen::VectorXd b = A * x;
    LeastSquaresHierarchy hierarchy;
    const auto outcome =
        hierarchy.solve({level(A, b)}, Eigen::VectorXd::Ones(7), box(7, 1), solver.get());
    ASSERT_EQ(outcome.verdict, Verdict::solved) << seed;
    in_the_way += outcome.iterations > 0;
    EXPECT_LE(hierarchy.x().cwiseAbs().maxCoeff(), 1.0 + 1e-12) << seed;
    for (int i = 0; i < 4; ++i) {
      EXPECT_NEAR(A.row(i) * hierarchy.x(), b[i], 1e-10 * A.row(i).norm()) << seed << ": " << i;
    }
  }
  EXPECT_GT(in_the_way, 50);
}

TEST_P(Hierarchy, WeightsDecideWhatIsLeftNotWhatIsReached) {
  const auto& x = solve({level(Eigen::RowVector2d(1, 1), Eigen::VectorXd::Constant(1, 2))},
                        box(2, 100), Eigen::Vector2d(3, 1));
  EXPECT_NEAR(x[0], 0.5, tolerance_);
  EXPECT_NEAR(x[1], 1.5, tolerance_);
  for (const double weight : {1e-20, 1e20}) {
    const auto& y = solve({level(Eigen::Matrix2d{{1, 2}, {1e4, 1}}, Eigen::Vector2d(5, 4))},
                          box(2, 100), Eigen::Vector2d(weight, 1));
    EXPECT_NEAR(y[0] + 2 * y[1], 5.0, tolerance_) << weight;
    // Rounding of terms of 1e4.
    EXPECT_NEAR(1e4 * y[0] + y[1], 4.0, std::max(tolerance_, 1e-11)) << weight;
  }
}

TEST_P(Hierarchy, RowsTenOrdersOfTenApartAreReached) {
  const auto& x = solve(
      {level(Eigen::Matrix2d{{1e-6, 1e-7}, {0.0, 1e5}}, Eigen::Vector2d(1e-6, 5))}, box(2, 100));
  EXPECT_NEAR(x[1], 5e-5, tolerance_);
  EXPECT_NEAR(x[0] + 0.1 * x[1], 1.0, tolerance_);
  // Slewing a crane of 7e5 kg m² and closing its gripper of 1e-7 kg m².
  const Eigen::Matrix2d crane{{1.0 / 7e5, -1.0 / 7e5}, {-1.0 / 7e5, 1e7}};
  const Eigen::Vector2d wanted(0.1, 5);
  const auto& u = solve({level(crane, wanted)}, box(2, 1e6));
  EXPECT_NEAR((crane * u - wanted).norm(), 0.0, tolerance_);
}

TEST(HierarchyInLimits, NamesTheLevelThatCannotBe) {
  LeastSquaresHierarchy hierarchy;
  const auto solver = host().registry().create_qp_solver("alglib");
  LeastSquaresHierarchy::Limits limits{Eigen::MatrixXd(2, 2), Eigen::Vector2d(1, -3),
                                       Eigen::Vector2d(2, -2)};
  limits.C << 1, 1, 1, 1;
  const auto outcome = hierarchy.solve({level(Eigen::Matrix2d::Identity(), Eigen::Vector2d(3, 5))},
                                       Eigen::Vector2d::Ones(), limits, solver.get());
  EXPECT_EQ(outcome.verdict, Verdict::infeasible);
  EXPECT_EQ(outcome.level, 0u);
}

}  // namespace
}  // namespace espalier::test::least_squares_hierarchy_test
