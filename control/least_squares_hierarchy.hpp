#pragma once

#include <Eigen/Core>
#include <vector>

#include "espalier/kernel/problems/quadratic_program.hpp"

namespace espalier {

/// Least squares with strict priorities: minimises |A_1 x - b_1|², then |A_2 x - b_2|² among the x
/// that reach the first minimum, and so on, at last the weighted sum of x². With a solver of
/// quadratic programs, all x obey lower <= C x <= upper.
///
/// A program's solution is as exact as the squares of its rows allow; where the limits that hold it
/// back are known, the level is solved once more on them, by orthogonal decompositions.
///
/// After each level x may only vary in the null space of its A, of which an orthonormal basis N is
/// kept, x = x_0 + N z: what a level has reached is kept to rounding, and programs get smaller.
/// Belongs to one thread; allocates. Cost: O(m² r) for r rows and m variables, and the programs.
/// Source: Kanoun, Lamiraux, Wieber (2011), Kinematic control of redundant manipulators:
/// generalizing the task-priority framework to inequality tasks; here by null-space bases.
class ESPALIER_API LeastSquaresHierarchy {
 public:
  struct Level {
    Eigen::MatrixXd A;
    Eigen::VectorXd b;
  };
  /// lower <= C x <= upper; bounds may be infinite. Rows of length 1 suit solvers best.
  struct Limits {
    Eigen::MatrixXd C;
    Eigen::VectorXd lower, upper;
  };
  /// How it ended, and at which level where not well: levels.size() is the last one, of x.
  struct Outcome {
    QuadraticProgramSolver::Verdict verdict = QuadraticProgramSolver::Verdict::solved;
    std::size_t level = 0;
    double residual = 0.0;  ///< largest of the programs
    int iterations = 0;     ///< of all programs
  };

  /// Singular values of a level, its rows scaled to length 1, below this count as zero.
  static constexpr double rank_tolerance = 1e-9;
  /// Rows below this part of a level's longest one are rounding.
  static constexpr double row_tolerance = 1e-13;

  /// Multipliers above this, in programs whose H is of order 1, are those of active limits: the
  /// root of the tolerance to which solvers make multiplier times distance zero.
  static constexpr double least_press = 1e-6;

  /// @param weights  of the squares of x in the last level, above 0
  /// @param solver   null: limits are not heeded
  Outcome solve(const std::vector<Level>& levels, const Eigen::VectorXd& weights,
                const Limits& limits, QuadraticProgramSolver* solver);
  /// The last solution; not to be used unless solved.
  const Eigen::VectorXd& x() const { return x_; }

 private:
  /// Splits the null space so far into what A acts on and what it does not: N V, V orthonormal.
  /// @returns the rank
  long split(const Eigen::MatrixXd& A);
  /// The x of least |A x - b|², of which split() gave the rank, that is nearest to the one so far.
  Eigen::VectorXd least(const Level& level, long rank) const;
  /// Takes the least x of a level, and what the level acts on from the null space.
  void settle(const Level& level);
  /// min |A (x + M z) - b|² over z, M = basis_, of which the first `rank` columns are acted on.
  void set_up(const Eigen::MatrixXd& A, const Eigen::VectorXd& b, long rank, const Limits& limits,
              bool first);

  /// Limits that hold the solution of the last program back, as a level that is to be on them:
  /// every x that is as good lies there, so that they are kept, too. Without that, later programs
  /// would have no inner points.
  Level pressed(const QuadraticProgramSolver::Solution& solution, const Limits& limits) const;
  /// From the program's solution to the exact one on the limits that hold it back, where that
  /// obeys all others, too.
  void finish(const Level& level, long rank, const Level& pressed, const Limits& limits);
  /// Takes the first columns from the basis: what they span is decided.
  void drop(long columns);

  Eigen::MatrixXd basis_;
  Eigen::VectorXd x_;
  std::vector<long> rows_;  ///< of the limits, in the last program
  QuadraticProgram program_;
};

}  // namespace espalier
