#include "tests/support/dense_algebra.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/random.hpp"

// What tests hold fast code against does what it says.

namespace espalier::test::dense_algebra_test {
namespace {

using Matrix = Eigen::MatrixXd;

constexpr double rounding = 1e-13;  // of ten numbers of magnitude 1 each, well conditioned

Matrix random_matrix(int rows, int columns, Rng& rng) {
  Matrix A(rows, columns);
  for (double& x : A.reshaped()) x = rng.uniform();
  return A;
}

TEST(DenseAlgebraTest, SolutionsMeetTheirEquations) {
  Rng rng(1);
  const Matrix A = random_matrix(8, 8, rng) + 4.0 * Matrix::Identity(8, 8);
  const Matrix B = random_matrix(8, 3, rng), tall = random_matrix(8, 4, rng);
  EXPECT_LT((A * solved(A, B) - B).norm(), rounding);
  EXPECT_LT((inverse(A) * A - Matrix::Identity(8, 8)).norm(), rounding);
  EXPECT_EQ(product(A, B).rows(), 8);
  EXPECT_LT((product(A, B) - A.lazyProduct(B)).norm(), rounding);
  EXPECT_LT((tall.transpose() * (tall * least_squares(tall, B) - B)).norm(), rounding);
}

TEST(DenseAlgebraTest, SpectraAreThoseOfKnownMatrices) {
  Matrix A(2, 2), B(2, 2);
  A << 2, 1, 1, 2;
  B << 1, 0, 0, 4;
  EXPECT_LT((eigenvalues_of_symmetric(A) - Eigen::Vector2d(1, 3)).norm(), rounding);
  EXPECT_LT((singular_values(-A) - Eigen::Vector2d(3, 1)).norm(), rounding);
  EXPECT_NEAR(log_of_determinant(-A), std::log(3.0), rounding);
  // 4 w^2 - 10 w + 3 = 0
  const Eigen::Vector2d wanted((5 - std::sqrt(13)) / 4, (5 + std::sqrt(13)) / 4);
  EXPECT_LT((eigenvalues_of_pair(A, B) - wanted).norm(), rounding);
  EXPECT_TRUE(is_positive_definite(A));
  EXPECT_FALSE(is_positive_definite(A - 1.5 * Matrix::Identity(2, 2)));
}

TEST(DenseAlgebraTest, NullSpaceAndSpanAreOrthogonal) {
  Rng rng(2);
  Matrix A = random_matrix(3, 7, rng);
  A.row(2) = A.row(0) - A.row(1);
  const Matrix Z = null_space(A);
  ASSERT_EQ(Z.cols(), 5);
  EXPECT_LT((A * Z).norm(), rounding);
  EXPECT_LT((Z.transpose() * Z - Matrix::Identity(5, 5)).norm(), rounding);
  const Matrix rows = A.topRows(2).transpose();
  EXPECT_LT(distance_from_span(rows, A.row(2).transpose()), rounding);
  EXPECT_NEAR(distance_from_span(rows, A.row(0).transpose() + 2.0 * Z.col(1)), 2.0, rounding);
  EXPECT_EQ(distance_from_span(Matrix(2, 0), Eigen::Vector2d(3, 4)), 5.0);
}

}  // namespace
}  // namespace espalier::test::dense_algebra_test
