#include "tests/support/dense_algebra.hpp"

#include <Eigen/Dense>

#include "espalier/kernel/linear_algebra/decompositions.hpp"

namespace espalier::test {

using Matrix = Eigen::MatrixXd;
using Vector = Eigen::VectorXd;

Matrix product(const AnyMatrix& A, const AnyMatrix& B) { return A * B; }
Matrix solved(const AnyMatrix& A, const AnyMatrix& B) {
  return Eigen::FullPivLU<Matrix>(A).solve(Matrix(B));
}
Matrix inverse(const AnyMatrix& A) { return solved(A, Matrix::Identity(A.rows(), A.rows())); }
double log_of_determinant(const AnyMatrix& A) {
  return Eigen::FullPivLU<Matrix>(A).matrixLU().diagonal().array().abs().log().sum();
}
Matrix least_squares(const AnyMatrix& A, const AnyMatrix& B) {
  return Eigen::ColPivHouseholderQR<Matrix>(A).solve(Matrix(B));
}
Vector singular_values(const AnyMatrix& A) { return Eigen::JacobiSVD<Matrix>(A).singularValues(); }
Vector eigenvalues_of_symmetric(const AnyMatrix& A) {
  return detail::eigen_of_symmetric(Matrix(A)).values;
}
Vector eigenvalues_of_pair(const AnyMatrix& A, const AnyMatrix& B) {
  // With x = S y and S^T B S = 1.
  const auto [values, vectors] = detail::eigen_of_symmetric(Matrix(B));
  const Matrix S = product(vectors, Matrix(values.cwiseSqrt().cwiseInverse().asDiagonal()));
  return eigenvalues_of_symmetric(product(S.transpose(), product(A, S)));
}
bool is_positive_definite(const AnyMatrix& A) {
  return Eigen::LLT<Matrix>(A).info() == Eigen::Success;
}
Matrix null_space(const AnyMatrix& A) {
  const Eigen::ColPivHouseholderQR<Matrix> qr{Matrix(A.transpose())};
  return Matrix(qr.householderQ()).rightCols(A.cols() - qr.rank());
}
double distance_from_span(const AnyMatrix& A, const Vector& x) {
  if (A.cols() == 0) return x.norm();
  const Eigen::ColPivHouseholderQR<Matrix> qr{Matrix(A)};
  // What x has along the columns of Q beyond the first ones.
  return Vector(qr.householderQ().transpose() * x).tail(A.rows() - A.cols()).norm();
}

}  // namespace espalier::test
