#pragma once

#include <Eigen/Core>
#include <vector>

#include "espalier/kernel/export.hpp"

/// Decompositions of dense matrices of any size, and of inertias, for what happens once per model
/// or per solved position. Each of Eigen's templates for them takes seconds to compile: they are
/// instantiated in one source, for one order of the numbers.

namespace espalier::detail {

using RowMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// Singular values, largest first, by Jacobi's method: to all digits.
Eigen::VectorXd singular_values_by_rotations(const RowMatrix& A);
/// Eigenvalues of a symmetric matrix, smallest first.
Eigen::VectorXd eigenvalues_of_symmetric(const Eigen::MatrixXd& A);
Eigen::Vector3d eigenvalues_of_symmetric(const Eigen::Matrix3d& A);
/// Eigenvalues of a symmetric matrix, smallest first, and its eigenvectors as columns.
template <int size>
struct SymmetricEigen {
  Eigen::Matrix<double, size, 1> values;
  Eigen::Matrix<double, size, size> vectors;
};
ESPALIER_API SymmetricEigen<Eigen::Dynamic> eigen_of_symmetric(const Eigen::MatrixXd& A);
ESPALIER_API SymmetricEigen<3> eigen_of_symmetric(const Eigen::Matrix3d& A);
/// By QR with column pivoting, up to rounding.
int rank(const Eigen::MatrixXd& A);
/// x with the least |A x - b| and, of those, the shortest.
Eigen::VectorXd least_squares(const RowMatrix& A, const Eigen::VectorXd& b);
/// x with A x = b for a symmetric A.
Eigen::VectorXd solve_symmetric(const Eigen::MatrixXd& A, const Eigen::VectorXd& b);
double determinant(const Eigen::MatrixXd& A);
/// Columns in the order in which QR with column pivoting takes them: the one that says most first.
ESPALIER_API std::vector<int> pivot_order(const Eigen::MatrixXd& A);

}  // namespace espalier::detail
