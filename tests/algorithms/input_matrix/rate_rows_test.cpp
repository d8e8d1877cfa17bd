#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <vector>

#include "algorithms/segments/clusters/cluster_on_one.hpp"
#include "tests/support/random.hpp"

/// Products of rows of G, unit rows among them, against dense algebra.

namespace espalier::test::rate_rows_test {
namespace {

using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
constexpr int n = 5;
constexpr double rounding = 1e-15;  // sums of two products of numbers below 1

/// A row by what it is, and its numbers.
struct Row {
  std::vector<double> rho;
  int unit;

  RateRow<double> seen() const { return {rho.data(), unit}; }
  Eigen::Map<const Eigen::VectorXd> vector() const { return {rho.data(), n}; }
};
std::vector<Row> rows(Rng& rng) {
  std::vector<Row> all{{rng.vector(n), -1}, {rng.vector(n), -1}};
  for (int unit = 0; unit < n; ++unit) {
    all.push_back({std::vector<double>(n, 0.0), unit});
    all.back().rho[unit] = 1.0;
  }
  return all;
}
void expect_lower_triangle(const Matrix& A, const Matrix& expected) {
  for (int j = 0; j < n; ++j) {
    for (int l = 0; l <= j; ++l) EXPECT_NEAR(A(j, l), expected(j, l), rounding) << j << ", " << l;
  }
}

TEST(RateRowsTest, SquaresAreThoseOfDenseRows) {
  Rng rng(1);
  for (const Row& row : rows(rng)) {
    SCOPED_TRACE(row.unit);
    Matrix A = Matrix::Zero(n, n);
    add_square(0.7, row.seen(), ClusterSystem<double>{n, A.data(), nullptr, nullptr});
    expect_lower_triangle(A, 0.7 * row.vector() * row.vector().transpose());
  }
}

TEST(RateRowsTest, ProductsAreThoseOfDenseRows) {
  Rng rng(2);
  const std::vector<Row> all = rows(rng);
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (std::size_t k = 0; k < all.size(); ++k) {
      if (i == k) continue;  // two rates
      SCOPED_TRACE(testing::Message() << all[i].unit << " and " << all[k].unit);
      Matrix A = Matrix::Zero(n, n);
      add_product(0.7, all[i].seen(), all[k].seen(),
                  ClusterSystem<double>{n, A.data(), nullptr, nullptr});
      const Matrix half = 0.7 * all[i].vector() * all[k].vector().transpose();
      expect_lower_triangle(A, half + half.transpose());
    }
  }
}

}  // namespace
}  // namespace espalier::test::rate_rows_test
