#pragma once

#include <Eigen/Dense>
#include <vector>

#include "espalier/simulation/contact/problems/step.hpp"
#include "simulation/contact/stepping/tree_factor.hpp"

namespace espalier::contact {

/// How rates answer to what moves a solved step's equations while the modes of its rows are held:
///
///   Mh dp = r + J^T dlam,  A dlam = -(Q J Mh^-1 r + F),  A = Q G + D.
///
/// Rows that are redundant share their variation by least norm: that of the motion is unique unless
/// they slip in different directions.
/// Source: theory/contact 8.
class ModeResponse {
 public:
  using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

  /// Some rows of the step's problem and their modes.
  struct System {
    Matrix A, Q;
    std::vector<int> rows;
  };

  /// @param s  the step's; looked at when respond() is called
  ModeResponse(const StepState<double>& s, const TreeFactor<double>& tree) : s_(s), tree_(tree) {}

  /// Before the first response of a state.
  void restart() { indeterminate_ = false; }
  /// Whether impulses that some A since then did not see move the robot.
  bool indeterminate() const { return indeterminate_; }

  /// @param r  nv x columns  @param F  rows x columns  @return dp
  Matrix respond(Matrix r, const Matrix& F, const System& system) {
    const int n = static_cast<int>(s_.vf.size()), count = static_cast<int>(system.rows.size());
    const double* L = s_.factor.data();
    std::vector<double> column(n);
    const auto each_column = [&](auto&& f) {
      for (int k = 0; k < r.cols(); ++k) {
        for (int i = 0; i < n; ++i) column[i] = r(i, k);
        f();
        for (int i = 0; i < n; ++i) r(i, k) = column[i];
      }
    };
    each_column([&] { tree_.solve_transposed(L, column.data()); });
    if (count > 0) {
      Matrix Y = Matrix::Zero(count, n);
      for (int i = 0; i < count; ++i) {
        const int row = system.rows[i];
        s_.each_entry(row, [&](int k, std::size_t at) { Y(i, k) = s_.Y[at]; });
      }
      const Matrix right = system.Q * (Y * r) + F;
      Eigen::CompleteOrthogonalDecomposition<Eigen::MatrixXd> factor;
      factor.setThreshold(redundant);
      factor.compute(system.A);
      if (factor.rank() < count) note_redundant(system.A, Y);
      const Eigen::MatrixXd dlam = -factor.solve(Eigen::MatrixXd(right));
      r += Y.transpose() * dlam;
    }
    each_column([&] { tree_.solve(L, column.data()); });
    return r;
  }

 private:
  /// Of pivots over the largest: redundant rows are so to rounding and to the residual.
  static constexpr double redundant = 1e-9;

  void note_redundant(const Matrix& A, const Matrix& Y) {
    Eigen::FullPivLU<Eigen::MatrixXd> factor;
    factor.setThreshold(redundant);
    factor.compute(A);
    const Eigen::MatrixXd unseen = factor.kernel();
    const Eigen::MatrixXd moves = Y.transpose() * unseen;
    indeterminate_ = indeterminate_ || moves.norm() > 1e-6 * Y.norm() * unseen.norm();
  }

  const StepState<double>& s_;
  const TreeFactor<double>& tree_;
  bool indeterminate_ = false;
};

}  // namespace espalier::contact
