#include "espalier/kernel/linear_algebra/decompositions.hpp"

#include <Eigen/Dense>

namespace espalier::detail {

Eigen::VectorXd singular_values_by_rotations(const RowMatrix& A) {
  return Eigen::JacobiSVD<RowMatrix>(A).singularValues();
}
Eigen::VectorXd eigenvalues_of_symmetric(const Eigen::MatrixXd& A) {
  return Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(A, Eigen::EigenvaluesOnly).eigenvalues();
}
Eigen::Vector3d eigenvalues_of_symmetric(const Eigen::Matrix3d& A) {
  return Eigen::SelfAdjointEigenSolver<Eigen::Matrix3d>(A, Eigen::EigenvaluesOnly).eigenvalues();
}
SymmetricEigen<Eigen::Dynamic> eigen_of_symmetric(const Eigen::MatrixXd& A) {
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(A);
  return {solver.eigenvalues(), solver.eigenvectors()};
}
SymmetricEigen<3> eigen_of_symmetric(const Eigen::Matrix3d& A) {
  const Eigen::SelfAdjointEigenSolver<Eigen::Matrix3d> solver(A);
  return {solver.eigenvalues(), solver.eigenvectors()};
}
int rank(const Eigen::MatrixXd& A) {
  return static_cast<int>(Eigen::ColPivHouseholderQR<RowMatrix>(A).rank());
}
Eigen::VectorXd least_squares(const RowMatrix& A, const Eigen::VectorXd& b) {
  return A.completeOrthogonalDecomposition().solve(b);
}
Eigen::VectorXd solve_symmetric(const Eigen::MatrixXd& A, const Eigen::VectorXd& b) {
  return A.ldlt().solve(b);
}
double determinant(const Eigen::MatrixXd& A) { return A.determinant(); }
std::vector<int> pivot_order(const Eigen::MatrixXd& A) {
  const Eigen::ColPivHouseholderQR<RowMatrix> qr(A);
  const auto& order = qr.colsPermutation().indices();
  return {order.data(), order.data() + order.size()};
}

}  // namespace espalier::detail
