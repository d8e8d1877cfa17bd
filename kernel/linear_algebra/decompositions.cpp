#include "espalier/kernel/linear_algebra/decompositions.hpp"

#include <Eigen/Dense>

namespace espalier::detail {

Eigen::VectorXd singular_values_by_rotations(const RowMatrix& A) {
  return Eigen::JacobiSVD<RowMatrix>(A).singularValues();
}
Eigen::VectorXd eigenvalues_of_symmetric(const Eigen::MatrixXd& A) {
  return Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(A, Eigen::EigenvaluesOnly).eigenvalues();
}
Eigen::VectorXd least_squares(const RowMatrix& A, const Eigen::VectorXd& b) {
  return A.completeOrthogonalDecomposition().solve(b);
}
Eigen::VectorXd solve_symmetric(const Eigen::MatrixXd& A, const Eigen::VectorXd& b) {
  return A.ldlt().solve(b);
}
double determinant(const Eigen::MatrixXd& A) { return A.determinant(); }
std::vector<int> pivot_order(const Eigen::MatrixXd& A) {
  const Eigen::ColPivHouseholderQR<Eigen::MatrixXd> qr(A);
  const auto& order = qr.colsPermutation().indices();
  return {order.data(), order.data() + order.size()};
}

}  // namespace espalier::detail
