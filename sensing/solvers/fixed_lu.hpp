#pragma once

#include <vector>

#include "sensing/solvers/pivot_order.hpp"

namespace espalier {

/// LU of matrices of one pattern in one order of pivots: the index lists of the elimination are
/// made once, and afterwards numbers run through them without a search, a branch on the pattern or
/// an allocation. Blocks on the diagonal are factored; what stands right of them only multiplies
/// (a triangular matrix has no elimination at all).
/// Source: Gilbert, Peierls (1988); Davis, Palamadai Natarajan, "KLU" (2010), for refactorisation.
class FixedLu {
 public:
  FixedLu(const SparsePattern& pattern, PivotOrder order);

  const PivotOrder& order() const { return order_; }
  /// Factors. @param values  of the pattern's entries
  /// @returns -1, or the first pivot that is too small: beside its column, or beside what the
  ///          column was before elimination
  int factor(const double* values);
  /// Solves A x = b with the last factors. @param b, x  may be the same
  void solve(const double* b, double* x);

  long factor_multiplications() const { return factor_multiplications_; }
  long factor_additions() const { return factor_additions_; }
  long solve_multiplications() const { return solve_multiplications_; }
  long solve_additions() const { return solve_additions_; }
  int divisions() const { return order_.size(); }
  /// Of L, U and the part right of the blocks.
  long entries() const;
  /// Entries that the matrix does not have.
  long fill() const { return entries() - entries_; }

 private:
  void find_pattern(const SparsePattern& pattern);

  struct Source {
    int slot, to;  ///< entry of the matrix, pivot of its row
    double scale;
  };

  PivotOrder order_;
  long entries_ = 0;
  // By pivot k: entries of column k inside of its block, above it, below and above the diagonal.
  std::vector<int> in_start_, off_start_, lower_start_, upper_start_;
  std::vector<Source> in_, off_;
  std::vector<int> lower_, upper_;  ///< pivots of the rows, ascending
  std::vector<double> lower_values_, upper_values_, off_values_, inverse_;
  std::vector<double> row_scale_, column_scale_;  ///< by pivot
  std::vector<double> x_;
  long factor_multiplications_ = 0, factor_additions_ = 0;
  long solve_multiplications_ = 0, solve_additions_ = 0;
};

}  // namespace espalier
