#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <vector>

#include "espalier/kernel/model/loops/loop_block_code.hpp"
#include "espalier/kernel/scalar/pack.hpp"
#include "tests/support/dense_algebra.hpp"
#include "tests/support/random.hpp"

/// The dense systems of blocks, solved for many right-hand sides at once, against Eigen.

namespace espalier::test::loop_block_solve_test {
namespace {

using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// Condition numbers of these are below 1e3: diagonals stand out.
Matrix random_matrix(int rows, int columns, Rng& rng, double diagonal) {
  Matrix A(rows, columns);
  for (double& x : A.reshaped()) x = rng.uniform();
  A.diagonal().array() += diagonal;
  return A;
}

constexpr double agreed = 1e-12;

/// Every size of a block beside every way to cut its right-hand sides into fours, twos and ones.
class LoopBlockSolveTest : public testing::TestWithParam<int> {};

TEST_P(LoopBlockSolveTest, AllRightHandSidesAreThoseOfDenseAlgebra) {
  Rng rng(GetParam());
  const int n = GetParam();
  for (int columns = 1; columns <= 9; ++columns) {
    const Matrix A = random_matrix(n, n, rng, 3.0), B = random_matrix(n, columns, rng, 0.0);
    Matrix factor = A, X = B;
    std::vector<double> beta(2 * n);
    espalier::detail::qr_factor(factor.data(), n, n, beta.data());
    espalier::detail::qr_solve_all(factor.data(), n, beta.data(), X.data(), columns);
    EXPECT_LE((X - solved(A, B)).cwiseAbs().maxCoeff(), agreed) << columns;
    // One at a time.
    for (int j = 0; j < columns; ++j) {
      Eigen::VectorXd x = B.col(j);
      espalier::detail::qr_solve(factor.data(), n, n, beta.data(), x.data());
      EXPECT_LE((x - X.col(j)).cwiseAbs().maxCoeff(), agreed) << columns;
    }
  }
}

TEST_P(LoopBlockSolveTest, MoreRowsThanColumnsAreSolvedByLeastSquares) {
  Rng rng(100 + GetParam());
  const int n = GetParam(), m = n + 3;
  const Matrix A = random_matrix(m, n, rng, 3.0);
  const Eigen::VectorXd b = random_matrix(m, 1, rng, 0.0);
  Matrix factor = A;
  Eigen::VectorXd x = b;
  std::vector<double> beta(2 * m);
  espalier::detail::qr_factor(factor.data(), m, n, beta.data());
  espalier::detail::qr_solve(factor.data(), m, n, beta.data(), x.data());
  EXPECT_LE((x.head(n) - least_squares(A, b)).cwiseAbs().maxCoeff(), agreed);
}

TEST_P(LoopBlockSolveTest, EveryLaneOfAPackIsASystemOfItsOwn) {
  Rng rng(200 + GetParam());
  const int n = GetParam(), columns = 6;
  std::vector<Pack> A(n * n), B(n * columns), beta(2 * n);
  std::vector<Matrix> expected;
  for (int lane = 0; lane < Pack::size; ++lane) {
    const Matrix a = random_matrix(n, n, rng, 3.0), b = random_matrix(n, columns, rng, 0.0);
    for (int i = 0; i < n * n; ++i) A[i].set(lane, a.data()[i]);
    for (int i = 0; i < n * columns; ++i) B[i].set(lane, b.data()[i]);
    expected.push_back(solved(a, b));
  }
  espalier::detail::qr_factor(A.data(), n, n, beta.data());
  espalier::detail::qr_solve_all(A.data(), n, beta.data(), B.data(), columns);
  for (int lane = 0; lane < Pack::size; ++lane) {
    for (int i = 0; i < n * columns; ++i) {
      EXPECT_NEAR(B[i][lane], expected[lane].data()[i], agreed);
    }
  }
}

/// Columns of few entries before those of all rows, as LoopBlocks orders them, and anywhere.
void expect_solutions_of_few_entries(int n) {
  Rng rng(300 + n);
  const int columns = 6;
  for (const bool ordered : {true, false}) {
    Matrix A = random_matrix(n, n, rng, n);
    for (int j = 0; j < n; ++j) {
      for (int i = 0; i < n; ++i) {
        const bool few = ordered ? j < 2 * n / 3 : j % 2 == 0;
        if (few && i != j && (i + j) % 5 != 0) A(i, j) = 0.0;
      }
    }
    const Matrix B = random_matrix(n, columns, rng, 0.0);
    const Matrix expected = solved(A, B);
    Matrix factor = A, X = B;
    std::vector<double> beta(2 * n);
    espalier::detail::qr_factor(factor.data(), n, n, beta.data());
    espalier::detail::qr_solve_all(factor.data(), n, beta.data(), X.data(), columns);
    EXPECT_LE((X - expected).cwiseAbs().maxCoeff(), agreed) << ordered;
    Eigen::VectorXd x = B.col(0), transposed = B.col(0);
    espalier::detail::qr_solve(factor.data(), n, n, beta.data(), x.data());
    espalier::detail::qr_solve_transposed(factor.data(), n, beta.data(), transposed.data());
    EXPECT_LE((x - expected.col(0)).cwiseAbs().maxCoeff(), agreed) << ordered;
    EXPECT_LE((A.transpose() * transposed - B.col(0)).cwiseAbs().maxCoeff(), agreed) << ordered;
  }
}

TEST(LoopBlocksOfFewEntriesTest, AreSolvedAsDenseOnes) {
  // From 6 rows on the rows of a column are listed, up to 64.
  for (const int n : {3, 5, 6, 7, 15, 40, 64, 65, 70}) {
    SCOPED_TRACE(n);
    expect_solutions_of_few_entries(n);
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, LoopBlockSolveTest, testing::Values(3, 4, 5, 8, 15, 24));

}  // namespace
}  // namespace espalier::test::loop_block_solve_test
