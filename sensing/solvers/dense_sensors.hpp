#pragma once

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>

#include "algorithms/oracles/dense.hpp"
#include "espalier/kernel/problems/dynamics/hybrid_dynamics.hpp"
#include "espalier/sensing/sensor_dynamics.hpp"
#include "sensing/solvers/sensor_pivots.hpp"

namespace espalier {

/// The oracle: all matrices dense. Solutions of the equations that hold exactly are d0 + Z w; w
/// follows from the other sensors by orthogonal least squares, whitened with their covariance.
/// Makes no attempt at speed, and allocates. Cost: O(n^3).
/// Source: Björck (1996), section 5.1 (null space method).
template <class T>
class DenseSensors final : public SensorDynamics<T> {
 public:
  using typename SensorDynamics<T>::Answer;

  /// @throws SingularMechanism for sensors that determine too little; InvalidModel for covariances
  ///         that are singular, but for variances that are zero
  explicit DenseSensors(const Setup& setup) : SensorDynamics<T>(setup, true) {
    expect_well_posed(this->equations());
    const SensorSystem& system = this->system();
    for (int i = 0; i < system.model_rows(); ++i) exact_.push_back(i);
    for (const SensorSystem::Covariance& R : system.covariance()) {
      std::vector<int> kept;
      for (int i = 0; i < R.size; ++i) {
        const bool exact = R.values[i * R.size + i] == 0.0;
        (exact ? exact_ : noisy_).push_back(system.model_rows() + R.first + i);
        if (!exact) kept.push_back(i);
      }
      Matrix part(kept.size(), kept.size());
      for (std::size_t i = 0; i < kept.size(); ++i) {
        for (std::size_t j = 0; j < kept.size(); ++j)
          part(i, j) = R.values[kept[i] * R.size + kept[j]];
      }
      factor_.emplace_back(part);
    }
  }

 private:
  using Matrix = Eigen::MatrixXd;
  using Vector = Eigen::VectorXd;

  void compute(double* d, Answer& answer) override {
    const SensorSystem& system = this->system();
    const int n = system.unknowns();
    Matrix A = Matrix::Zero(system.rows(), n);
    for (int j = 0; j < n; ++j) {
      for (int e = system.column_start()[j]; e < system.column_start()[j + 1]; ++e) {
        A(system.row_index()[e], j) = system.values()[e];
      }
    }
    const Vector right = Eigen::Map<const Vector>(system.right_side().data(), system.rows());
    if (!A.allFinite() || !right.allFinite()) return give_up(system, nullptr, d);
    // Units of rows and columns by which their largest entries are 1.
    Vector row = A.cwiseAbs().rowwise().maxCoeff().cwiseMax(1e-300).cwiseInverse();
    const Matrix rows_scaled = row.asDiagonal() * A;
    const Vector unit =
        rows_scaled.cwiseAbs().colwise().maxCoeff().transpose().cwiseMax(1e-300).cwiseInverse();

    if (system.square() && !this->gives_variances()) {
      const Eigen::PartialPivLU<Matrix> lu(rows_scaled * unit.asDiagonal());
      // Beside rows and columns of largest entry 1, less is what rounding left of zero.
      if (!(lu.matrixLU().diagonal().cwiseAbs().minCoeff() > 1e-14)) {
        return give_up(system, nullptr, d);
      }
      Eigen::Map<Vector>(d, n) = unit.cwiseProduct(lu.solve(Vector(row.cwiseProduct(right))));
      std::fill(answer.residual.begin(), answer.residual.end(), 0.0);
      answer.chi_square = 0.0;
      return;
    }
    const Matrix E = Matrix(rows_scaled * unit.asDiagonal())(exact_, Eigen::all);
    const Vector e = row.cwiseProduct(right)(exact_);
    Eigen::CompleteOrthogonalDecomposition<Matrix> exact(E);
    exact.setThreshold(1e-12);
    const Vector x0 = exact.solve(e);
    Eigen::ColPivHouseholderQR<Matrix> range(E.transpose());
    range.setThreshold(1e-12);
    const Matrix Z = Matrix(range.householderQ()).rightCols(n - range.rank());

    const Matrix C = Matrix(A * unit.asDiagonal())(noisy_, Eigen::all);
    Matrix CZ = C * Z;
    Vector y = Vector(right(noisy_)) - C * x0;
    whiten(CZ);
    Matrix y_white = y;
    whiten(y_white);
    Vector x = x0;
    Matrix spread = Matrix::Zero(Z.cols(), Z.cols());
    if (Z.cols() > 0) {
      Eigen::ColPivHouseholderQR<Matrix> least(CZ);
      least.setThreshold(1e-12);
      if (least.rank() < Z.cols()) return give_up(system, nullptr, d);
      x += Z * least.solve(y_white);
      const Matrix R = least.matrixQR().topRows(Z.cols()).template triangularView<Eigen::Upper>();
      const Matrix inverse =
          R.template triangularView<Eigen::Upper>().solve(Matrix::Identity(Z.cols(), Z.cols()));
      spread = least.colsPermutation() * inverse;  // times its transpose: covariance of w
    } else if (exact.rank() < n) {
      return give_up(system, nullptr, d);
    }
    Eigen::Map<Vector>(d, n) = unit.cwiseProduct(x);
    const Vector residual = right - A * Eigen::Map<Vector>(d, n);
    answer.residual.assign(residual.data() + system.model_rows(),
                           residual.data() + residual.size());
    Matrix white = Vector(residual(noisy_));
    whiten(white);
    answer.chi_square = white.squaredNorm();
    if (!this->gives_variances()) return;
    std::fill(answer.variance.begin(), answer.variance.end(), 0.0);
    if (Z.cols() == 0) return;  // nothing that varies
    const Matrix deviation = unit.asDiagonal() * (Z * spread);
    for (int j = 0; j < n; ++j) {
      const SensorSystem::Told& told = system.told(j);
      const Eigen::Map<const Eigen::RowVectorXd> of(told.row.data(), told.count);
      answer.variance[j] = (of * deviation.middleRows(told.first, told.count)).squaredNorm();
    }
  }
  /// L^-1 from the left, L the factors of the covariance.
  void whiten(Matrix& rows) const {
    if (rows.cols() == 0) return;  // exact measurements leave no directions
    long first = 0;
    for (const auto& llt : factor_) {
      const long size = llt.rows();
      llt.matrixL().solveInPlace(rows.middleRows(first, size));
      first += size;
    }
  }

  std::vector<int> exact_, noisy_;  ///< rows
  std::vector<Eigen::LLT<Matrix>> factor_;
};

/// The oracle for hybrid dynamics: M vdot + C = tau with its rows and columns sorted. Allocates.
/// Cost: O(n^3).  Source: Featherstone (2008), section 9.2.
template <class T>
class DenseHybrid final : public HybridDynamics<T> {
 public:
  explicit DenseHybrid(const Setup& setup) : HybridDynamics<T>(setup), equations_(this->model()) {
    for (int j = 0; j < this->model().nv(); ++j) {
      (this->is_accelerated(j) ? accelerated_ : free_).push_back(j);
    }
  }

 private:
  void compute(const double* q, const double* v, const double* known, double* tau, double* vdot,
               const Wrenches<double>* wrenches) override {
    equations_.update(q, v, this->gravity(), wrenches);
    const long n = this->model().nv();
    if (n == 0) return;
    const Eigen::Map<const Eigen::VectorXd> x(known, n);
    Eigen::Map<Eigen::VectorXd> a(vdot, n), t(tau, n);
    const Eigen::MatrixXd& M = equations_.M();
    a = Eigen::VectorXd::Zero(n);
    for (const int j : accelerated_) a(j) = x(j);
    if (!free_.empty()) {
      const Eigen::VectorXd right = x - equations_.bias() - M * a;
      const Eigen::VectorXd solved =
          Eigen::MatrixXd(M(free_, free_)).partialPivLu().solve(Eigen::VectorXd(right(free_)));
      for (std::size_t k = 0; k < free_.size(); ++k) a(free_[k]) = solved(k);
    }
    t = M * a + equations_.bias();
    for (const int j : free_) t(j) = x(j);
  }

  DenseEquations equations_;
  std::vector<int> accelerated_, free_;
};

}  // namespace espalier
