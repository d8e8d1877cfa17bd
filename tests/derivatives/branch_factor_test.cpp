#include "algorithms/derivatives/variation/mass_factor/mass_factor.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <array>
#include <cmath>
#include <random>

#include "tests/support/dense_algebra.hpp"
#include "tests/support/host.hpp"
#include "tests/support/random_robot.hpp"

namespace espalier::test::branch_factor_test {
namespace {

using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Map = Eigen::Map<Matrix>;

Matrix random_matrix(int n, std::mt19937& random) {
  std::normal_distribution<double> number;
  return Matrix::NullaryExpr(n, n, [&] { return number(random); });
}

TEST(SmallInverseTest, IsTheInverseAtAllSizes) {
  std::mt19937 random(1);
  for (int n = 1; n <= SmallInverse::most; ++n) {
    const Matrix root = random_matrix(n, random);
    const Matrix M = root * root.transpose() + Matrix::Identity(n, n);
    const int width = SmallInverse::width(n);
    // What is above the diagonal does not count.
    std::vector<double> rows(n * width, std::nan("")), out(n * width);
    for (int k = 0; k < n; ++k) {
      for (int j = 0; j <= k; ++j) rows[k * width + j] = M(k, j);
    }
    SmallInverse::with_size(n, [&]<int size>() {
      std::array<const double*, size> lower;
      for (int k = 0; k < size; ++k) lower[k] = rows.data() + k * width;
      SmallInverse::invert<size>(lower, out.data());
    });
    const Eigen::Map<const Matrix, 0, Eigen::OuterStride<>> inverse(out.data(), n, n,
                                                                    Eigen::OuterStride<>(width));
    // As many roundings as rows, of numbers that the condition (below 1e3) makes larger.
    EXPECT_LT((M * inverse - Matrix::Identity(n, n)).cwiseAbs().maxCoeff(), 1e-12) << n;
  }
}

/// A positive definite matrix and any other, zero where no rate of a model carries the other.
struct Related {
  Matrix M, A, B;

  Related(const Model& model, std::mt19937& random) {
    const int n = model.nv();
    const BranchPlan plan(model);
    Matrix related = Matrix::Zero(n, n);
    for (const BranchPlan::Branch& s : plan.branches()) {
      for (int k = s.begin; k < s.end; ++k) {
        for (const int j : plan.ancestors(s)) related(k, j) = related(j, k) = 1.0;
        for (int j = s.begin; j < s.end; ++j) related(k, j) = 1.0;
      }
    }
    A = random_matrix(n, random).cwiseProduct(related);
    B = random_matrix(n, random).cwiseProduct(related);
    M = random_matrix(n, random).cwiseProduct(related);
    M = M + M.transpose().eval();
    M.diagonal().array() += 2.0 * M.cwiseAbs().rowwise().sum().maxCoeff();
  }
};

void expect_solutions(const Model& model, std::mt19937& random) {
  const int n = model.nv();
  const Related given(model, random);
  std::vector<double> A(n * n + Pack::size), B(A), X(n * n), Y(X), Z(X), x(n);
  Map(A.data(), n, n) = given.A, Map(B.data(), n, n) = given.B;
  for (int k = 0; k < n; ++k) x[k] = std::sin(k + 1.0);
  const Eigen::VectorXd right = Eigen::Map<Eigen::VectorXd>(x.data(), n);

  BranchFactor factor(model);
  factor.factor(given.M.data());
  factor.invert(Z.data());
  BranchSolves(model).solve(factor, A.data(), B.data(), X.data(), Y.data());
  std::vector<double> by_inverse = x;
  factor.solve(x.data());
  factor.times_inverse(Z.data(), by_inverse.data());
  // The matrix is diagonally dominant: no digits are lost but by sums of n numbers.
  const Matrix inverse = test::inverse(given.M);
  const double bound = 1e-14 * n * inverse.cwiseAbs().maxCoeff();
  EXPECT_LT((Map(Z.data(), n, n) - inverse).cwiseAbs().maxCoeff(), bound);
  EXPECT_LT((Map(X.data(), n, n) + inverse * given.A).cwiseAbs().maxCoeff(), 10.0 * bound);
  EXPECT_LT((Map(Y.data(), n, n) + inverse * given.B).cwiseAbs().maxCoeff(), 10.0 * bound);
  for (const auto& solution : {x, by_inverse}) {
    const Eigen::Map<const Eigen::VectorXd> of(solution.data(), n);
    EXPECT_LT((of - inverse * right).cwiseAbs().maxCoeff(), 10.0 * bound);
  }
}

/// Robots as lanes, each of another matrix.
void expect_lanes_to_solve(const Model& model, std::mt19937& random) {
  const int n = model.nv();
  std::vector<Related> given;
  for (int lane = 0; lane < Pack::size; ++lane) given.emplace_back(model, random);
  std::vector<Pack> M(n * n), A(n * n), X(n * n), Z(n * n), x(n);
  for (int lane = 0; lane < Pack::size; ++lane) {
    for (int e = 0; e < n * n; ++e) {
      M[e].set(lane, given[lane].M.data()[e]), A[e].set(lane, given[lane].A.data()[e]);
    }
    for (int k = 0; k < n; ++k) x[k].set(lane, std::sin(k + lane + 1.0));
  }
  LaneMassFactor<Pack> factor(model);
  factor.factor(M.data());
  factor.invert(Z.data()), factor.solve(A.data(), X.data()), factor.solve(x.data());
  for (int lane = 0; lane < Pack::size; ++lane) {
    SCOPED_TRACE("lane " + std::to_string(lane));
    const Matrix inverse = test::inverse(given[lane].M), wanted = -inverse * given[lane].A;
    const double bound = 1e-14 * n * inverse.cwiseAbs().maxCoeff();
    double off_Z = 0.0, off_X = 0.0, off_x = 0.0;
    for (int i = 0; i < n; ++i) {
      double sum = 0.0;
      for (int j = 0; j < n; ++j) {
        off_Z = std::max(off_Z, std::abs(Z[i * n + j][lane] - inverse(i, j)));
        off_X = std::max(off_X, std::abs(X[i * n + j][lane] - wanted(i, j)));
        sum += inverse(i, j) * std::sin(j + lane + 1.0);
      }
      off_x = std::max(off_x, std::abs(x[i][lane] - sum));
    }
    EXPECT_LT(off_Z, bound);
    EXPECT_LT(off_X, 10.0 * bound);
    EXPECT_LT(off_x, 10.0 * bound);
  }
}

TEST(BranchFactorTest, SolvesAsDenseAlgebraDoesOnTreesAndClusters) {
  std::mt19937 random(2);
  for (unsigned long long seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE("robot of seed " + std::to_string(seed));
    RobotOptions options;
    options.seed = seed, options.bodies = 1 + static_cast<int>(seed * 7 % 50);
    options.floating_base = seed % 2 == 0;
    options.shape = seed % 3 == 0 ? RobotOptions::Shape::chain : RobotOptions::Shape::random;
    const ModelPtr model = host().compile(random_robot(host().registry(), options));
    expect_solutions(*model, random);
    if (seed <= 10) expect_lanes_to_solve(*model, random);
  }
  for (const char* file : {"tello.yaml", "jvrc1_geared.yaml", "humanoid.urdf"}) {
    SCOPED_TRACE(file);
    const ModelPtr model =
        host().compile(host().read(std::string(ESPALIER_SOURCE_DIR "/robots/") + file));
    expect_solutions(*model, random);
    expect_lanes_to_solve(*model, random);
  }
}

}  // namespace
}  // namespace espalier::test::branch_factor_test
