#pragma once

#include <Eigen/Core>

#include "espalier/kernel/export.hpp"

/// Dense linear algebra for tests, by Eigen's decompositions. They stand in a library of their own
/// that is optimised: in tests, which are not, each takes seconds to compile and tens of times as
/// long to run.

namespace espalier::test {

/// Any matrix or vector, or a part of one.
using AnyMatrix = Eigen::Ref<const Eigen::MatrixXd>;

/// A B
ESPALIER_API Eigen::MatrixXd product(const AnyMatrix& A, const AnyMatrix& B);
/// A^-1 B for a square matrix A, by full pivoting; likewise the next two.
ESPALIER_API Eigen::MatrixXd solved(const AnyMatrix& A, const AnyMatrix& B);
ESPALIER_API Eigen::MatrixXd inverse(const AnyMatrix& A);    ///< A^-1
ESPALIER_API double log_of_determinant(const AnyMatrix& A);  ///< of its magnitude
/// X with the least |A X - B|, for a matrix A of full rank.
ESPALIER_API Eigen::MatrixXd least_squares(const AnyMatrix& A, const AnyMatrix& B);
ESPALIER_API Eigen::VectorXd singular_values(const AnyMatrix& A);  ///< largest first, to all digits
ESPALIER_API Eigen::VectorXd eigenvalues_of_symmetric(const AnyMatrix& A);  ///< smallest first
/// w with A x = w B x for symmetric matrices, B positive definite; smallest first.
ESPALIER_API Eigen::VectorXd eigenvalues_of_pair(const AnyMatrix& A, const AnyMatrix& B);
ESPALIER_API bool is_positive_definite(const AnyMatrix& A);  ///< whether it has a Cholesky factor
/// Orthonormal columns that span all x with A x = 0.
ESPALIER_API Eigen::MatrixXd null_space(const AnyMatrix& A);
/// Length of what x has beyond the span of the columns of A, which are independent.
ESPALIER_API double distance_from_span(const AnyMatrix& A, const Eigen::VectorXd& x);

}  // namespace espalier::test
