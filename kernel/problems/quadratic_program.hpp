#pragma once

#include <limits>
#include <vector>

#include "espalier/kernel/export.hpp"

/// Convex quadratic programs and the interface of what solves them. Solvers are plugins;
/// Host::qp_solver() makes one by its name.

namespace espalier {

/// Minimise 1/2 x'H x + g'x subject to lower <= x <= upper and row_lower <= A x <= row_upper.
/// Matrices are row-major; a bound that is not there is infinite, an equation has equal bounds.
struct ESPALIER_API QuadraticProgram {
  /// Of a bound that is not there.
  static constexpr double infinity = std::numeric_limits<double>::infinity();

  QuadraticProgram() = default;
  /// Zero matrices, no bounds.
  QuadraticProgram(int variables, int rows) { resize(variables, rows); }
  /// As the constructor; keeps the storage.
  void resize(int variables, int rows);

  /// n.
  int variables() const { return static_cast<int>(g.size()); }
  /// Rows of A.
  int rows() const { return static_cast<int>(row_lower.size()); }

  std::vector<double> H;          ///< n x n, symmetric and positive semidefinite
  std::vector<double> g;          ///< n
  std::vector<double> lower;      ///< n
  std::vector<double> upper;      ///< n
  std::vector<double> A;          ///< rows x n
  std::vector<double> row_lower;  ///< rows
  std::vector<double> row_upper;  ///< rows
};

/// Solves quadratic programs; owns its workspace, belongs to one thread.
///
/// An author's class derives from it, has a constructor without arguments, and is registered by
/// registrar.qp_solver<S>().
class ESPALIER_API QuadraticProgramSolver {
 public:
  /// What became of a program.
  enum class Verdict {
    solved,      ///< the conditions of optimality hold to `residual`
    infeasible,  ///< no x obeys all bounds
    failed       ///< neither was found: unbounded, H not convex, or too badly scaled
  };
  /// The answer with its multipliers.
  struct Solution {
    Verdict verdict = Verdict::failed;  ///< what became of the program
    std::vector<double> x;              ///< n; not to be used unless solved
    /// H x + g + bound_multipliers + A' row_multipliers = 0: above zero at an upper bound, below
    /// zero at a lower one.
    std::vector<double> bound_multipliers;
    std::vector<double> row_multipliers;  ///< likewise, per row of A
    double residual = 0.0;                ///< optimality_residual(), measured by solve() itself
    int iterations = 0;                   ///< of the solver
  };

  QuadraticProgramSolver() = default;
  virtual ~QuadraticProgramSolver();
  QuadraticProgramSolver(const QuadraticProgramSolver&) = delete;
  QuadraticProgramSolver& operator=(const QuadraticProgramSolver&) = delete;

  /// Solves a program; always ends. An infeasible or unbounded program is a verdict, no error. May
  /// allocate.
  /// @returns a solution that is valid until the next call
  /// @throws SizeMismatch for vectors that do not fit one another; InvalidModel for numbers that
  /// are
  ///         not finite (bounds may be infinite) and for a lower bound above its upper one, naming
  ///         the variable or row
  const Solution& solve(const QuadraticProgram& program);

 protected:
  /// solve() once the program is checked: what a solver implements.
  /// @param program           of sizes that fit one another, all numbers good
  /// @param[in,out] solution  its vectors have their sizes and are zero, its verdict is `failed`
  virtual void compute(const QuadraticProgram& program, Solution& solution) = 0;

 private:
  Solution solution_;
};

/// How far x and its multipliers are from the conditions of Karush, Kuhn and Tucker: the largest of
/// the gradient of the Lagrangian, the violations of bounds, and, for complementarity, m d /
/// max(1, m, d) for multipliers m and distances d from the bound. Gradient and multipliers are
/// taken relative to the largest of 1, |g| and |H|. NaN where something is not finite.
ESPALIER_API double optimality_residual(const QuadraticProgram& program,
                                        const QuadraticProgramSolver::Solution& solution);

}  // namespace espalier
