#include "algorithms/linear_algebra/sparse_ltl.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <random>

#include "espalier/kernel/scalar/count.hpp"

/// The sparse factor H = L^T L against dense linear algebra, on trees of every shape.

namespace espalier::test::sparse_ltl_test {
namespace {

using Matrix = Eigen::Matrix<double, -1, -1, Eigen::RowMajor>;
using Vector = Eigen::VectorXd;

// Matrices have condition numbers below 1e3.
constexpr double agreed = 1e-12;

struct Tree {
  std::vector<int> parent;
  bool supports(int i, int k) const {
    while (k > i) k = parent[k];
    return k == i;
  }
};

/// Chains, bushes and what is between, of 1 to 40 rates: a parent is one of the few rates before.
std::vector<Tree> trees() {
  std::vector<Tree> out;
  std::mt19937 random(5);
  for (int n = 1; n <= 40; ++n) {
    for (const int reach : {1, 3, 40}) {
      Tree tree;
      for (int k = 0; k < n; ++k) {
        tree.parent.push_back(std::max(-1, k - 1 - static_cast<int>(random() % reach)));
      }
      out.push_back(std::move(tree));
    }
  }
  return out;
}

Vector random_vector(std::mt19937& random, int n) {
  std::uniform_real_distribution<double> number(-1.0, 1.0);
  return Vector::NullaryExpr(n, [&] { return number(random); });
}

/// H = L^T L for a random L of the tree's pattern, so that H has that pattern, too.
Matrix random_factor(std::mt19937& random, const Tree& tree) {
  const int n = static_cast<int>(tree.parent.size());
  Matrix L = Matrix::Zero(n, n);
  for (int k = 0; k < n; ++k) {
    const Vector x = random_vector(random, n);
    for (int i = 0; i < k; ++i) L(k, i) = tree.supports(i, k) ? 0.3 * x(i) : 0.0;
    L(k, k) = 1.0 + 0.5 * x(k);
  }
  return L;
}

TEST(SparseLtlTest, SolvesWhatTheDenseFactorSolves) {
  std::mt19937 random(1);
  for (const Tree& tree : trees()) {
    const int n = static_cast<int>(tree.parent.size());
    const Matrix L = random_factor(random, tree);
    Matrix H = L.transpose() * L;
    const Vector x = random_vector(random, n);
    SparseLtl<double> ltl(tree.parent);
    for (int again = 0; again < 2; ++again) {  // nothing of a factor is left for the next
      // What is above the diagonal counts for nothing, and neither does what branches leave zero.
      for (int k = 0; k < n; ++k) {
        for (int i = 0; i < n; ++i) {
          if (i > k || !tree.supports(i, k)) H(k, i) = std::nan("");
        }
      }
      ltl.factor(H.data());
    }
    Vector y = x;
    ltl.solve_transposed(y.data());
    const Vector y_dense = L.transpose().triangularView<Eigen::Upper>().solve(x);
    EXPECT_LT((y - y_dense).norm(), agreed * y_dense.norm()) << n;
    Vector z = x;
    ltl.solve(z.data());
    const Vector z_dense = L.triangularView<Eigen::Lower>().solve(x);
    EXPECT_LT((z - z_dense).norm(), agreed * z_dense.norm()) << n;
  }
}

TEST(SparseLtlTest, SolvesAlongAWayFromTheGround) {
  std::mt19937 random(2);
  for (const Tree& tree : trees()) {
    const int n = static_cast<int>(tree.parent.size());
    const Matrix L = random_factor(random, tree), H = L.transpose() * L;
    SparseLtl<double> ltl(tree.parent);
    ltl.factor(H.data());
    const int k = static_cast<int>(random() % n);
    Vector x = random_vector(random, n), on_the_way = Vector::Zero(n), y(n);
    for (int i = 0; i <= k; ++i) {
      if (tree.supports(i, k)) on_the_way(i) = x(i);
    }
    ltl.solve_transposed_along(k, x.data(), y.data());
    const Vector dense = L.transpose().triangularView<Eigen::Upper>().solve(on_the_way);
    int length = 0;
    for (int i = 0; i < n; ++i) {
      if (i > k || !tree.supports(i, k)) {
        EXPECT_EQ(dense(i), 0.0);
        continue;
      }
      EXPECT_NEAR(y(length), dense(i), agreed * dense.norm()) << n;
      ++length;
    }
    EXPECT_EQ(length, ltl.paths().depth(k) + 1);
  }
}

TEST(SparseLtlTest, StepsMayLeaveOutRatesWithoutAnEntry) {
  std::mt19937 random(3);
  for (const Tree& tree : trees()) {
    const int n = static_cast<int>(tree.parent.size());
    const Matrix L = random_factor(random, tree), H = L.transpose() * L;
    SparseLtl<double> ltl(tree.parent);
    ltl.factor(H.data());
    const int a = static_cast<int>(random() % n), b = static_cast<int>(random() % n);
    Vector x = Vector::Zero(n);
    x(a) = 1.0, x(b) = -2.0;
    const Vector dense = L.transpose().triangularView<Eigen::Upper>().solve(x);
    for (int k = n - 1; k >= 0; --k) {
      if (tree.supports(k, a) || tree.supports(k, b)) ltl.solve_transposed_step(k, x.data());
    }
    EXPECT_LT((x - dense).norm(), agreed * dense.norm()) << n;
  }
}

// Padding of rows up to whole registers is none of the method's operations.
TEST(SparseLtlTest, CountsOperationsOfTheMethodOnly) {
  const std::vector<int> parent = {-1, 0, 1, 1, 3, 3};
  long products = 0;
  for (int k = 0; k < 6; ++k) {
    long depth = 0;
    for (int i = parent[k]; i >= 0; i = parent[i]) ++depth;
    products += depth + depth * (depth + 1) / 2;
  }
  std::vector<Count> H(36, Count::variable(0.0));
  for (int k = 0; k < 6; ++k) H[7 * k] = Count::variable(2.0);
  SparseLtl<Count> ltl(parent);
  const OperationCounts before = operation_counts();
  ltl.factor(H.data());
  const OperationCounts& after = operation_counts();
  EXPECT_EQ(after.multiplications - before.multiplications, products);
  EXPECT_EQ(after.divisions - before.divisions, 6);
  EXPECT_EQ(after.square_roots - before.square_roots, 6);
}

}  // namespace
}  // namespace espalier::test::sparse_ltl_test
