#pragma once

#include <Eigen/Core>
#include <algorithm>

#include "espalier/kernel/problems/quadratic_program.hpp"
#include "tests/support/random.hpp"

/// Random quadratic programs.

namespace espalier::test {

struct ProgramOptions {
  int variables = 20, rows = 20, rank = 20;  ///< of H
  int equations = 0;                         ///< among the rows
  double one_sided = 0.5;                    ///< part of the bounds that are infinite on one side
};

/// A convex program that has a solution: some x obeys all bounds with room to spare, and H's null
/// space is bounded by the variables' bounds.
inline QuadraticProgram random_program(unsigned long long seed, const ProgramOptions& options) {
  Rng rng(seed);
  const int n = options.variables, m = options.rows;
  QuadraticProgram p(n, m);
  using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  const auto matrix = [&](int rows, int columns) {
    RowMajor A(rows, columns);
    for (double& x : A.reshaped()) x = rng.uniform();
    return A;
  };
  const RowMajor J = matrix(options.rank, n), A = matrix(m, n);
  Eigen::VectorXd wanted(options.rank), inside(n);
  for (double& x : wanted) x = rng.uniform(-5.0, 5.0);  // far out: bounds become active
  for (double& x : inside) x = rng.uniform(-0.5, 0.5);
  Eigen::Map<RowMajor>(p.H.data(), n, n) = J.transpose() * J;
  Eigen::Map<Eigen::VectorXd>(p.g.data(), n) = -J.transpose() * wanted;
  Eigen::Map<RowMajor>(p.A.data(), m, n) = A;
  for (int i = 0; i < n; ++i) p.lower[i] = -1.0, p.upper[i] = 1.0;
  const Eigen::VectorXd values = A * inside;
  for (int k = 0; k < m; ++k) {
    const double room = k < options.equations ? 0.0 : rng.uniform(0.1, 1.0);
    p.row_lower[k] = values[k] - room;
    p.row_upper[k] = values[k] + room;
    if (k < options.equations || !rng.chance(options.one_sided)) continue;
    if (rng.chance(0.5)) {
      p.row_lower[k] = -QuadraticProgram::infinity;
    } else {
      p.row_upper[k] = QuadraticProgram::infinity;
    }
  }
  return p;
}

}  // namespace espalier::test
