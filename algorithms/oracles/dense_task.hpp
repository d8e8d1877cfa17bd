#pragma once

#include <Eigen/Cholesky>
#include <Eigen/Dense>
#include <limits>
#include <utility>

#include "algorithms/linear_algebra/semidefinite_factor.hpp"
#include "algorithms/oracles/dense.hpp"
#include "espalier/kernel/linear_algebra/decompositions.hpp"
#include "espalier/kernel/problems/dynamics/constrained_dynamics.hpp"
#include "espalier/kernel/problems/operational_space/inverse_osim.hpp"
#include "espalier/kernel/problems/operational_space/operational_space.hpp"

/// What the oracles of operational space have in common: J and (dJ/dt) v from explicit body
/// Jacobians, and a matrix with a rank. They allocate. Source: theory/delassus 4 and
/// theory/oracles 9.

namespace espalier {

/// The equations of motion seen from a task.
class DenseTask {
 public:
  DenseTask(const Model& model, const Task& task) : task_(task), equations_(model) {}

  /// Arguments as in DenseEquations::update().
  void update(const double* q, const double* v, const Vec3<double>& gravity,
              const Wrenches<double>* wrenches) {
    equations_.update(q, v, gravity, wrenches);
    Eigen::MatrixXd spanning(task_.size(), equations_.G().rows());
    bias_.resize(task_.size());
    for (const Task::Part& part : task_.parts()) {
      for (int k = 0; k < part.size(); ++k) row(part, k, spanning);
    }
    J_ = spanning * equations_.G();
    M_.compute(equations_.M());
    if (M_.info() == Eigen::Success) {
      // J M^-1 J^T as a square, so that it has no negative eigenvalues but by rounding.
      const Eigen::MatrixXd Y = M_.matrixL().solve(J_.transpose());
      inverse_osim_ = Y.transpose() * Y;
      MinvJt_ = M_.matrixU().solve(Y);
      Minv_bias_ = M_.solve(equations_.bias());
    } else {  // singular or not a number: neither has an inverse
      constexpr double nan = std::numeric_limits<double>::quiet_NaN();
      inverse_osim_.setConstant(J_.rows(), J_.rows(), nan);
      MinvJt_.setConstant(J_.cols(), J_.rows(), nan);
      Minv_bias_.setConstant(J_.cols(), nan);
    }
  }

  const DenseEquations& equations() const { return equations_; }
  const Eigen::MatrixXd& J() const { return J_; }                        ///< m x nv
  const Eigen::VectorXd& bias() const { return bias_; }                  ///< (dJ/dt) v
  const Eigen::MatrixXd& inverse_osim() const { return inverse_osim_; }  ///< J M^-1 J^T
  const Eigen::MatrixXd& MinvJt() const { return MinvJt_; }              ///< M^-1 J^T, nv x m
  /// Accelerations without task forces: M^-1 (tau - C).
  Eigen::VectorXd free_vdot(const double* tau) const {
    return M_.solve(Eigen::Map<const Eigen::VectorXd>(tau, J_.cols())) - Minv_bias_;
  }
  const Eigen::VectorXd& Minv_bias() const { return Minv_bias_; }  ///< M^-1 C

 private:
  using Vector3 = Eigen::Vector3d;

  /// Row k of a part: as a wrench in the body's frame it multiplies body Jacobian and acceleration.
  void row(const Task::Part& part, int k, Eigen::MatrixXd& spanning) {
    const DenseEquations& e = equations_;
    DenseEquations::Vector6 wrench = e.vector(part.rows[k]);
    double turning = 0.0;
    if (part.world) {
      const Mat3<double>& E = e.placement(part.body).E;
      const Vector3 moment = e.vector(E * part.rows[k].n), force = e.vector(E * part.rows[k].f);
      const Vector3 point = e.vector(part.point);
      wrench << moment + point.cross(force), force;
      // A point's ordinary acceleration is the spatial one at the point and w x its velocity.
      const Vector3 w = e.twist(part.body).head<3>(), v = e.twist(part.body).tail<3>();
      turning = force.dot(w.cross(v + w.cross(point)));
    }
    if (spanning.cols() > 0)  // a matrix without columns has no memory that a row could be in
      spanning.row(part.first + k) = wrench.transpose() * e.spanning_jacobian(part.body);
    bias_(part.first + k) = wrench.dot(e.bias_acceleration(part.body)) + turning;
  }

  const Task& task_;
  DenseEquations equations_;
  Eigen::LLT<Eigen::MatrixXd> M_;
  Eigen::MatrixXd J_, inverse_osim_, MinvJt_;
  Eigen::VectorXd bias_, Minv_bias_;
};

/// A symmetric positive semidefinite matrix by its eigenvalues, of which it keeps the largest: as
/// many as SemidefiniteFactor, whose rank all algorithms share, finds pivots.
class DenseSpectrum {
 public:
  static constexpr double tolerance = SemidefiniteFactor::tolerance;

  explicit DenseSpectrum(const Eigen::MatrixXd& A) : finite_(A.allFinite()), size_(A.rows()) {
    if (!finite_) return;
    detail::SymmetricEigen<Eigen::Dynamic> eigen = detail::eigen_of_symmetric(A);
    values_ = std::move(eigen.values);
    vectors_ = std::move(eigen.vectors);
    SemidefiniteFactor factor(static_cast<int>(size_));
    const Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> rows = A;
    factor.compute(rows.data(), 0.0);
    rank_ = factor.rank();
    values_.head(size_ - rank_).setZero();  // they ascend
  }

  int rank() const { return rank_; }
  /// Moore-Penrose inverse of A + shift 1; NaN where A has one.
  Eigen::MatrixXd pseudo_inverse(double shift = 0.0) const {
    if (!finite_) {
      return Eigen::MatrixXd::Constant(size_, size_, std::numeric_limits<double>::quiet_NaN());
    }
    Eigen::VectorXd inverse = values_.array() + shift;
    const double least = tolerance * inverse.maxCoeff();
    for (double& x : inverse) x = x > least ? 1.0 / x : 0.0;
    return vectors_ * inverse.asDiagonal() * vectors_.transpose();
  }

 private:
  bool finite_;
  long size_;
  int rank_ = 0;
  Eigen::VectorXd values_;
  Eigen::MatrixXd vectors_;
};

}  // namespace espalier
