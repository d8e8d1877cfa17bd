#include <gtest/gtest.h>

#include <Eigen/Dense>

#include "tests/derivatives/oracle.hpp"
#include "tests/support/dense_algebra.hpp"

namespace espalier::test::derivatives_test {
namespace {

using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

Matrix matrix(const std::vector<double>& x, int n) {
  return Eigen::Map<const Matrix>(x.data(), n, n);
}

/// Largest entry of the difference over that of the reference, or over 1.
double error(const std::vector<double>& x, const std::vector<double>& reference) {
  return relative_difference(x, reference);
}

struct Answer {
  explicit Answer(int n) : tau(n), Dq(n * n), Dv(n * n), M(n * n) {}
  std::vector<double> tau, Dq, Dv, M;
};

std::string about(const Model& model, unsigned long long seed) {
  std::string text = "robot of seed " + std::to_string(seed) + ":";
  for (const Cluster& c : model.clusters()) text += " " + c.name + (c.implicit ? "*" : "");
  return text;
}

constexpr int robots = 200;

// The oracle's own error is 1e-12 to 1e-10 of derivatives whose higher ones are as large as near
// dead points; 1e-9 is what theory/derivatives 22 asks for.
TEST(DerivativesTest, InverseDynamicsAgreesWithDifferencesThroughTheClosure) {
  std::vector<double> errors;
  for (unsigned long long seed = 1; seed <= robots; ++seed) {
    const ModelPtr model = any_robot(seed);
    const int n = model->nv();
    const State s = any_state(*model, seed);
    const LoadCase loads = any_loads(*model, seed);
    const BoundLoads bound(model, loads, s);
    DifferenceOracle oracle(model, &loads);
    const auto tau = oracle.tau(s.q, s.v, s.vdot);
    const auto Dq = oracle.dtau_dq(s);
    EXPECT_LT(oracle.uncertainty(), 1e-9) << about(*model, seed);
    const auto Dv = oracle.dtau_dv(s), M = oracle.mass_matrix(s.q);
    for (auto& [name, algorithm] : every<InverseDynamicsDerivatives<double>>(model)) {
      SCOPED_TRACE(name + ", " + about(*model, seed));
      Answer a(n);
      algorithm->evaluate(s.q, s.v, s.vdot, a.tau, a.Dq, a.Dv, a.M, &bound.loads);
      EXPECT_LT(error(a.tau, tau), 1e-10);
      EXPECT_LT(error(a.M, M), 1e-11);
      EXPECT_LT(error(a.Dq, Dq), 1e-9);
      EXPECT_LT(error(a.Dv, Dv), 1e-9);
      errors.push_back(std::max(error(a.Dq, Dq), error(a.Dv, Dv)));
    }
  }
  std::sort(errors.begin(), errors.end());
  RecordProperty("median", std::to_string(errors[errors.size() / 2]));
  EXPECT_LT(errors[errors.size() / 2], 1e-12);
}

TEST(DerivativesTest, ForwardDynamicsAgreesWithDifferencesThroughTheClosure) {
  for (unsigned long long seed = 1; seed <= robots; ++seed) {
    const ModelPtr model = any_robot(seed);
    const int n = model->nv();
    const State s = any_state(*model, seed);
    const LoadCase loads = any_loads(*model, seed);
    const BoundLoads bound(model, loads, s);
    DifferenceOracle oracle(model, &loads);
    const auto vdot = oracle.vdot(s.q, s.v, s.tau);
    const auto Dq = oracle.dvdot_dq(s), Dv = oracle.dvdot_dv(s);
    const Matrix inverse = test::inverse(matrix(oracle.mass_matrix(s.q), n));
    for (auto& [name, algorithm] : every<ForwardDynamicsDerivatives<double>>(model)) {
      SCOPED_TRACE(name + ", " + about(*model, seed));
      Answer a(n);
      algorithm->evaluate(s.q, s.v, s.tau, a.tau, a.Dq, a.Dv, a.M, &bound.loads);
      // Masses of 1 beside rotors of 1e-4 behind a ratio of 0.01: M^-1 loses digits.
      EXPECT_LT(error(a.tau, vdot), 1e-9);
      EXPECT_LT((matrix(a.M, n) - inverse).cwiseAbs().maxCoeff(),
                1e-9 * std::max(1.0, inverse.cwiseAbs().maxCoeff()));
      EXPECT_LT(error(a.Dq, Dq),
                3e-8);  // measured: one of 200 robots at 1.2e-8; by which side is not known
      EXPECT_LT(error(a.Dv, Dv), 1e-8);
    }
    for (auto& [name, algorithm] : every<InverseMassMatrix<double>>(model)) {
      SCOPED_TRACE(name + ", " + about(*model, seed));
      std::vector<double> M_inverse(n * n);
      algorithm->evaluate(s.q, M_inverse);
      EXPECT_LT((matrix(M_inverse, n) - inverse).cwiseAbs().maxCoeff(),
                1e-9 * std::max(1.0, inverse.cwiseAbs().maxCoeff()));
    }
  }
}

TEST(DerivativesTest, AdjointsAreTheProductsWithTheMatrices) {
  for (unsigned long long seed = 1; seed <= robots; ++seed) {
    const ModelPtr model = any_robot(seed);
    const int n = model->nv();
    const State s = any_state(*model, seed);
    const LoadCase loads = any_loads(*model, seed);
    const BoundLoads bound(model, loads, s);
    const std::vector<double> lambda = Rng(seed + 5).vector(n);
    const Eigen::Map<const Eigen::RowVectorXd> l(lambda.data(), n);
    Answer a(n), b(n);
    any<InverseDynamicsDerivatives<double>>(model)->evaluate(s.q, s.v, s.vdot, a.tau, a.Dq, a.Dv,
                                                             a.M, &bound.loads);
    any<ForwardDynamicsDerivatives<double>>(model)->evaluate(s.q, s.v, s.tau, b.tau, b.Dq, b.Dv,
                                                             b.M, &bound.loads);
    const auto compare = [&](const std::vector<double>& x, const std::vector<double>& D) {
      const Matrix full = matrix(D, n);
      const Eigen::RowVectorXd wanted = l * full;
      const double difference =
          (Eigen::Map<const Eigen::RowVectorXd>(x.data(), n) - wanted).cwiseAbs().maxCoeff();
      // Both sum products of the size of D's entries.
      EXPECT_LT(difference, 1e-11 * std::max(1.0, n * full.cwiseAbs().maxCoeff()));
    };
    std::vector<double> by_q(n), by_v(n), by_a(n), vdot(n);
    for (auto& [name, algorithm] : every<InverseDynamicsAdjoint<double>>(model)) {
      SCOPED_TRACE(name + ", " + about(*model, seed));
      algorithm->evaluate(s.q, s.v, s.vdot, lambda, by_q, by_v, by_a, &bound.loads);
      compare(by_q, a.Dq), compare(by_v, a.Dv), compare(by_a, a.M);
    }
    for (auto& [name, algorithm] : every<ForwardDynamicsAdjoint<double>>(model)) {
      SCOPED_TRACE(name + ", " + about(*model, seed));
      algorithm->evaluate(s.q, s.v, s.tau, lambda, vdot, by_q, by_v, by_a, &bound.loads);
      EXPECT_LT(error(vdot, b.tau), 1e-11);
      compare(by_q, b.Dq), compare(by_v, b.Dv), compare(by_a, b.M);
    }
  }
}

// Without loads, branches of trees are lanes; a wrench of nothing takes the way of all robots.
TEST(DerivativesTest, AdjointOfTreesIsTheSameWithBranchesAsLanes) {
  for (unsigned long long seed = 1; seed <= 100; ++seed) {
    SCOPED_TRACE("tree of seed " + std::to_string(seed));
    using Shape = RobotOptions::Shape;
    static constexpr Shape shapes[] = {Shape::random, Shape::chain, Shape::binary, Shape::star};
    RobotOptions tree;
    tree.seed = seed, tree.bodies = 1 + static_cast<int>(seed % 30);
    tree.shape = shapes[seed % 4];
    tree.floating_base = seed % 3 == 0;
    tree.types = {"revolute", "prismatic"};
    const ModelPtr model = host().compile(random_robot(host().registry(), tree));
    const int n = model->nv();
    const State s = random_state(*model, seed);
    const std::vector<double> lambda = Rng(seed + 5).vector(n);
    const Wrenches<double> nothing(model);
    const Loads<double> loads{&nothing, nullptr, nullptr};
    std::vector<double> by_q(n), by_v(n), by_a(n), q(n), v(n), a(n);
    const auto algorithm = host().create<InverseDynamicsAdjoint<double>>("c-rnea-adjoint", model);
    algorithm->evaluate(s.q, s.v, s.vdot, lambda, by_q, by_v, by_a);
    algorithm->evaluate(s.q, s.v, s.vdot, lambda, q, v, a, &loads);
    EXPECT_LT(error(by_q, q), 1e-12);
    EXPECT_LT(error(by_v, v), 1e-12);
    EXPECT_LT(error(by_a, a), 1e-12);
  }
}

TEST(DerivativesTest, CoriolisMatrixGivesTheVelocityForcesAndASkewMatrix) {
  for (unsigned long long seed = 1; seed <= robots; ++seed) {
    const ModelPtr model = any_robot(seed);
    const int n = model->nv();
    const State s = any_state(*model, seed);
    DifferenceOracle oracle(model);
    const std::vector<double> zero(n, 0.0);
    const auto moving = oracle.tau(s.q, s.v, zero), still = oracle.tau(s.q, zero, zero);
    const Matrix Md = matrix(best_difference([&](double t) {
                               std::vector<double> step = s.v;
                               for (double& x : step) x *= t;
                               return oracle.mass_matrix(oracle.moved_along(s.q, step));
                             }).derivative,
                             n);
    const double size_of_M = largest(oracle.mass_matrix(s.q));
    for (auto& [name, algorithm] : every<CoriolisMatrix<double>>(model)) {
      SCOPED_TRACE(name + ", " + about(*model, seed));
      std::vector<double> values(n * n);
      algorithm->evaluate(s.q, s.v, values);
      const Matrix C = matrix(values, n);
      const Eigen::VectorXd forces = C * Eigen::Map<const Eigen::VectorXd>(s.v.data(), n);
      const double size = std::max(1.0, largest(moving) + largest(still));
      for (int i = 0; i < n; ++i) EXPECT_NEAR(forces(i), moving[i] - still[i], 1e-11 * size);
      // Rounding of M, 1e-16 and near dead points of 1e-14, over steps of 1e-4 or more.
      EXPECT_LT((C + C.transpose() - Md).cwiseAbs().maxCoeff(),
                1e-9 * std::max({1.0, Md.cwiseAbs().maxCoeff(), size_of_M}));
    }
  }
}

}  // namespace
}  // namespace espalier::test::derivatives_test
