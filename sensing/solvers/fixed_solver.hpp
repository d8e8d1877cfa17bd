#pragma once

#include <memory>
#include <string>
#include <vector>

#include "sensing/solvers/fixed_lu.hpp"
#include "sensing/solvers/fresh_lu.hpp"

namespace espalier {

/// Solves systems of one pattern in a fixed order of pivots, with one step of iterative refinement.
/// Where a pivot turns out too small, or refinement has much to do, the matrix is factored anew
/// with pivots of its own (UMFPACK, or Eigen in a build without it), which allocates.
class FixedSolver {
 public:
  FixedSolver(SparsePattern pattern, PivotOrder order);
  FixedSolver(const FixedSolver&) = delete;
  FixedSolver& operator=(const FixedSolver&) = delete;

  /// @returns false if the matrix is singular up to rounding; then x holds no answer
  bool solve(const double* values, const double* b, double* x);
  /// Another right side for the matrix of the last solve(), which was not singular. No refinement.
  void solve_again(const double* b, double* x);

  const SparsePattern& pattern() const { return pattern_; }
  const FixedLu& lu() const { return lu_; }
  long fallbacks() const { return fallbacks_; }  ///< factorisations anew until now
  /// The pivot that was too small at the last fallback; its column is lu().order().columns[].
  int weak_pivot() const { return weak_pivot_; }

 private:
  bool refine(const double* values, const double* b, double* x);

  SparsePattern pattern_;
  FixedLu lu_;
  std::vector<double> residual_, unit_;  ///< unit: by which unknowns compare
  std::unique_ptr<FallbackLu> fresh_;
  long fallbacks_ = 0;
  int weak_pivot_ = -1;
  bool factored_ = false;  ///< in the fixed order
};

}  // namespace espalier
