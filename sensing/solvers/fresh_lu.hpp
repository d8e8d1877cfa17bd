#pragma once

#include <Eigen/SparseLU>
#include <memory>
#include <vector>

#include "sensing/solvers/sparse_matrix.hpp"

namespace espalier {

/// A matrix whose rows and then columns are scaled to largest entries of 1, so that a pivot of
/// 1e-14 is what rounding left of zero whatever the units.
class ScaledMatrix {
 public:
  /// @param pattern  has to outlive the matrix
  explicit ScaledMatrix(const SparsePattern& pattern);

  /// Takes a matrix as it stands. @param values  by SparsePattern's entries
  void take(const double* values);
  /// Scales rows, then columns, to largest entries of 1: a pivot of 1e-14 then is what rounding
  /// left of zero, whatever the units.
  void scale();
  const std::vector<double>& values() const { return values_; }
  /// Scales a right side.
  void scale_rows(const double* b, double* scaled) const;
  /// Turns a solution of the scaled matrix into one of the matrix.
  void scale_columns(double* x) const;

 private:
  /// Calls use(row, column, entry) for each entry.
  template <class Use>
  void each_entry(Use use) {
    for (int j = 0; j < pattern_.size(); ++j) {
      for (int k = pattern_.column_start[j]; k < pattern_.column_start[j + 1]; ++k) {
        use(pattern_.row_index[k], j, values_[k]);
      }
    }
  }

  const SparsePattern& pattern_;
  std::vector<double> values_, row_, column_;
};

#ifdef ESPALIER_UMFPACK
/// LU of SuiteSparse's UMFPACK: orders once for the pattern, and pivots anew for every matrix.
/// Allocates. Source: Davis (2004), algorithm 832.
class UmfpackLu {
 public:
  explicit UmfpackLu(const SparsePattern& pattern);
  ~UmfpackLu();
  UmfpackLu(const UmfpackLu&) = delete;
  UmfpackLu& operator=(const UmfpackLu&) = delete;

  /// Solves A x = b. @returns false if A is singular up to rounding
  bool solve(const double* values, const double* b, double* x);
  /// Another right side of the last A.
  bool solve_again(const double* b, double* x);

 private:
  /// @returns whether the matrix with its scales is regular
  bool factor();

  const SparsePattern& pattern_;
  ScaledMatrix scaled_;
  std::vector<double> right_;
  void *symbolic_ = nullptr, *numeric_ = nullptr;
};

#endif  // ESPALIER_UMFPACK

/// The same by Eigen's SparseLU. Allocates.
class EigenLu {
 public:
  explicit EigenLu(const SparsePattern& pattern);

  bool solve(const double* values, const double* b, double* x);
  bool solve_again(const double* b, double* x);

 private:
  ScaledMatrix scaled_;
  Eigen::SparseMatrix<double> A_;
  Eigen::SparseLU<Eigen::SparseMatrix<double>, Eigen::COLAMDOrdering<int>> lu_;
};

/// What pivots anew where an order of pivots that was settled off-line does not do.
#ifdef ESPALIER_UMFPACK
using FallbackLu = UmfpackLu;
#else
using FallbackLu = EigenLu;
#endif

}  // namespace espalier
