#pragma once

#include <Eigen/SparseLU>
#include <memory>
#include <vector>

#include "sensing/solvers/sparse_matrix.hpp"

namespace espalier {

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
  /// Another right side of the last A. @param values  of that A
  bool solve_again(const double* values, const double* b, double* x);

 private:
  const SparsePattern& pattern_;
  void *symbolic_ = nullptr, *numeric_ = nullptr;
};

#endif  // ESPALIER_UMFPACK

/// The same by Eigen's SparseLU. Allocates.
class EigenLu {
 public:
  explicit EigenLu(const SparsePattern& pattern);

  bool solve(const double* values, const double* b, double* x);
  bool solve_again(const double* values, const double* b, double* x);

 private:
  Eigen::SparseMatrix<double> A_;
  Eigen::SparseLU<Eigen::SparseMatrix<double>, Eigen::COLAMDOrdering<int>> lu_;
  Eigen::VectorXd row_, column_;  ///< scales
};

/// What pivots anew where an order of pivots that was settled off-line does not do.
#ifdef ESPALIER_UMFPACK
using FallbackLu = UmfpackLu;
#else
using FallbackLu = EigenLu;
#endif

}  // namespace espalier
