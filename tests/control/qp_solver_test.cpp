#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <stdexcept>

#include "espalier/plugins/registrar.hpp"
#include "tests/support/host.hpp"
#include "tests/support/quadratic_programs.hpp"

// Every registered solver of quadratic programs.

namespace espalier::test::qp_solver_test {
namespace {

using Verdict = QuadraticProgramSolver::Verdict;

class QpSolver : public testing::TestWithParam<const Entry*> {
 protected:
  std::unique_ptr<QuadraticProgramSolver> solver_ =
      host().registry().create_qp_solver(GetParam()->about.name);
};

INSTANTIATE_TEST_SUITE_P(Registered, QpSolver,
                         testing::ValuesIn(host().registry().entries(Kind::qp_solver)),
                         [](const auto& at) { return at.param->about.name; });

TEST(QpSolvers, ThereIsOne) { EXPECT_FALSE(host().registry().entries(Kind::qp_solver).empty()); }

TEST(QpSolvers, UnknownNameIsRefusedWithTheKnownOnes) {
  try {
    host().registry().create_qp_solver("alglub");
    FAIL() << "no error";
  } catch (const UnknownName& error) {
    EXPECT_STREQ(std::string(error.what()).substr(0, 72).c_str(),
                 "QP solver 'alglub' is unknown, expected alglib (did you mean 'alglib'?);");
  }
}

struct Broken final : QuadraticProgramSolver {
  Broken() { throw std::runtime_error("no licence"); }
  void compute(const QuadraticProgram&, Solution&) override {}
};

TEST(QpSolvers, FactoryThatThrowsIsToldWithItsPlugin) {
  Registry registry;
  Registrar registrar("broken.so");
  registrar.qp_solver<Broken>({.name = "broken"});
  registry.commit(std::move(registrar));
  try {
    registry.create_qp_solver("broken");
    FAIL() << "no error";
  } catch (const PluginError& error) {
    EXPECT_STREQ(error.what(),
                 "broken.so: factory of QP solver 'broken' threw 'no licence', expected a solver");
  }
}

TEST(QpSolvers, WhatIsNotOptimalIsNotBelieved) {
  struct Boasting final : QuadraticProgramSolver {
    void compute(const QuadraticProgram&, Solution& solution) override {
      solution.verdict = Verdict::solved;
    }
  } solver;
  QuadraticProgram p(1, 0);
  p.H = {1.0};
  EXPECT_EQ(solver.solve(p).verdict, Verdict::solved);  // zero is right here
  p.g = {0.5};
  EXPECT_EQ(solver.solve(p).verdict, Verdict::failed);
  EXPECT_EQ(solver.solve(p).residual, 0.5);
}

TEST_P(QpSolver, FindsTheCornerOfATriangleByHand) {
  // Nearest point to (2, 1) with x + y <= 1, x, y >= 0: (1, 0), where the row pulls with 1 and the
  // bound of y with (y - 1) + 1 = 0.
  QuadraticProgram p(2, 1);
  p.H = {1, 0, 0, 1};
  p.g = {-2, -1};
  p.lower = {0, 0};
  p.A = {1, 1};
  p.row_upper = {1};
  const auto& s = solver_->solve(p);
  ASSERT_EQ(s.verdict, Verdict::solved);
  // The bound of y is active without a force: interior points come near with the root of their
  // tolerance, 1e-12.
  EXPECT_NEAR(s.x[0], 1.0, 2e-6);
  EXPECT_NEAR(s.x[1], 0.0, 2e-6);
  EXPECT_NEAR(s.row_multipliers[0], 1.0, 2e-6);
}

TEST_P(QpSolver, ConditionsOfOptimalityHoldOnRandomPrograms) {
  for (unsigned long long seed = 0; seed < 200; ++seed) {
    const int n = 1 + static_cast<int>(seed % 80);
    ProgramOptions options;
    options.variables = n;
    options.rows = static_cast<int>(seed * 7 % 61);
    options.rank = std::max(1, seed % 3 == 0 ? n / 2 : n);
    options.equations = std::min(options.rows, seed % 2 == 0 ? n / 5 : 0);
    const QuadraticProgram p = random_program(seed, options);
    const auto& s = solver_->solve(p);
    ASSERT_EQ(s.verdict, Verdict::solved) << "seed " << seed;
    EXPECT_EQ(s.residual, optimality_residual(p, s));
    // Tolerance 1e-12 of the scaled problem, times condition; measured 5e-9 at most.
    EXPECT_LE(s.residual, 1e-8) << "seed " << seed << ", " << n << " variables";
  }
}

TEST_P(QpSolver, AnswerDoesNotDependOnProgramsBefore) {
  // One solver for programs of several sizes gives what a fresh one gives.
  for (const int n : {5, 30, 5, 12}) {
    const QuadraticProgram p = random_program(n, {.variables = n, .rows = n, .rank = n});
    const std::vector<double> again = solver_->solve(p).x;
    const auto fresh = host().registry().create_qp_solver(GetParam()->about.name);
    EXPECT_EQ(again, fresh->solve(p).x);
  }
}

TEST_P(QpSolver, InfeasibleProgramsAreToldFromSolvedOnes) {
  int told = 0;
  for (unsigned long long seed = 0; seed < 60; ++seed) {
    const int n = 2 + static_cast<int>(seed % 40);
    QuadraticProgram p = random_program(seed, {.variables = n, .rows = n + 2, .rank = n});
    // The last two rows are one row that is asked to be in two ranges.
    for (int j = 0; j < n; ++j) p.A[(n + 1) * n + j] = p.A[n * n + j];
    p.row_lower[n] = 0.5, p.row_upper[n] = 1.0;
    p.row_lower[n + 1] = -1.0, p.row_upper[n + 1] = 0.5 - (seed % 2 == 0 ? 1.0 : 0.01);
    const auto& s = solver_->solve(p);
    ASSERT_NE(s.verdict, Verdict::solved) << "seed " << seed;
    told += s.verdict == Verdict::infeasible;
  }
  EXPECT_EQ(told, 60);
}

TEST_P(QpSolver, UnboundedProgramEndsUnsolved) {
  QuadraticProgram p(2, 0);
  p.H = {1, 0, 0, 0};
  p.g = {0, -1};
  EXPECT_EQ(solver_->solve(p).verdict, Verdict::failed);
}

TEST_P(QpSolver, ProgramWithoutVariablesIsSolvedWhereZeroObeys) {
  QuadraticProgram p(0, 1);
  EXPECT_EQ(solver_->solve(p).verdict, Verdict::solved);
  p.row_lower = {1.0}, p.row_upper = {2.0};
  EXPECT_EQ(solver_->solve(p).verdict, Verdict::infeasible);
}

template <class E>
std::string refusal(QuadraticProgramSolver& solver, const QuadraticProgram& p) {
  try {
    solver.solve(p);
  } catch (const E& error) {
    return error.what();
  }
  return "no error";
}

TEST_P(QpSolver, BadProgramsAreRefusedByName) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  const QuadraticProgram good(3, 2);
  QuadraticProgram p = good;
  p.H[5] = nan;
  EXPECT_EQ(refusal<InvalidModel>(*solver_, p),
            "quadratic program: H[1][2] is nan, expected a finite number");
  p = good, p.g[2] = QuadraticProgram::infinity;
  EXPECT_EQ(refusal<InvalidModel>(*solver_, p),
            "quadratic program: g[2] is inf, expected a finite number");
  p = good, p.lower[1] = 2, p.upper[1] = 1;
  EXPECT_EQ(refusal<InvalidModel>(*solver_, p),
            "quadratic program: range of variable 1 is 2 to 1, expected a lower bound that is not "
            "above the upper one");
  p = good, p.row_upper[0] = nan;
  EXPECT_EQ(refusal<InvalidModel>(*solver_, p),
            "quadratic program: range of row 0 is -inf to nan, expected a lower bound that is not "
            "above the upper one");
  p = good, p.A.pop_back();
  EXPECT_EQ(refusal<SizeMismatch>(*solver_, p), "quadratic program: size of A is 5, expected 6");
}

}  // namespace
}  // namespace espalier::test::qp_solver_test
