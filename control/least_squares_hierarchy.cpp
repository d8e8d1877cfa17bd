#include "espalier/control/least_squares_hierarchy.hpp"

#include <Eigen/QR>
#include <algorithm>
#include <cmath>

namespace espalier {

long LeastSquaresHierarchy::split(const Eigen::MatrixXd& A) {
  const long free = basis_.cols();
  const Eigen::MatrixXd B = A * basis_;
  const double size = A.size() == 0 ? 0.0 : A.colwise().norm().maxCoeff();
  const double largest = B.size() == 0 ? 0.0 : B.colwise().norm().maxCoeff();
  if (!(largest > rank_tolerance * size)) return 0;  // only rounding is left of this level
  Eigen::CompleteOrthogonalDecomposition<Eigen::MatrixXd> qtz;
  qtz.setThreshold(rank_tolerance * size / largest);  // Eigen takes it relative to the largest
  qtz.compute(B);
  // B P = Q [T 0; 0 0] Z: the first rows of Z P^T span what B acts on.
  Eigen::MatrixXd V = Eigen::MatrixXd::Identity(free, free);
  if (qtz.rank() < free) V = qtz.matrixZ().transpose();
  basis_ = (basis_ * qtz.colsPermutation()) * V;
  return qtz.rank();
}

void LeastSquaresHierarchy::set_up(const Eigen::MatrixXd& A, const Eigen::VectorXd& b, long rank,
                                   const Limits& limits, bool first) {
  using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  const long free = basis_.cols();
  const Eigen::MatrixXd C = limits.C * basis_;
  const Eigen::VectorXd now = limits.C * x_;
  // Rows on which no free direction acts are as they are, and would be hopeless only by rounding.
  rows_.clear();
  for (long k = 0; k < C.rows(); ++k) {
    if (C.row(k).norm() > rank_tolerance * limits.C.row(k).norm()) rows_.push_back(k);
  }
  program_.resize(static_cast<int>(free), static_cast<int>(rows_.size()));
  const Eigen::MatrixXd B = A * basis_.leftCols(rank);
  Eigen::Map<RowMajor> H(program_.H.data(), free, free);
  H.topLeftCorner(rank, rank) = B.transpose() * B;
  const double scale = std::max(H.diagonal().maxCoeff(), 1e-300);
  H /= scale;
  Eigen::Map<Eigen::VectorXd>(program_.g.data(), rank) = B.transpose() * (A * x_ - b) / scale;
  Eigen::Map<RowMajor> program_C(program_.A.data(), static_cast<long>(rows_.size()), free);
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    const long k = rows_[i];
    program_C.row(static_cast<long>(i)) = C.row(k);
    program_.row_lower[i] = limits.lower[k] - now[k];
    program_.row_upper[i] = limits.upper[k] - now[k];
    if (!first) {  // z = 0 obeys all limits, but for the solver's tolerance
      program_.row_lower[i] = std::min(program_.row_lower[i], 0.0);
      program_.row_upper[i] = std::max(program_.row_upper[i], 0.0);
    }
  }
}

Eigen::MatrixXd LeastSquaresHierarchy::pressed_rows(
    const QuadraticProgramSolver::Solution& solution, const Limits& limits) const {
  std::vector<long> pressed;
  const Eigen::Map<const Eigen::VectorXd> z(solution.x.data(), basis_.cols());
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    const double multiplier = solution.row_multipliers[i];
    const double value = limits.C.row(rows_[i]).dot(basis_ * z);
    const double room =
        multiplier > 0.0 ? program_.row_upper[i] - value : value - program_.row_lower[i];
    if (std::abs(multiplier) > std::max(least_press, room)) pressed.push_back(rows_[i]);
  }
  return limits.C(pressed, Eigen::all);
}

void LeastSquaresHierarchy::drop(long columns) {
  basis_ = basis_.rightCols(basis_.cols() - columns).eval();
}

LeastSquaresHierarchy::Outcome LeastSquaresHierarchy::solve(const std::vector<Level>& levels,
                                                            const Limits& limits,
                                                            QuadraticProgramSolver* solver) {
  const long m = limits.C.cols();
  Outcome outcome;
  x_ = Eigen::VectorXd::Zero(m);
  basis_ = Eigen::MatrixXd::Identity(m, m);
  const Level effort{Eigen::MatrixXd::Identity(m, m), Eigen::VectorXd::Zero(m)};
  for (outcome.level = 0; outcome.level <= levels.size() && basis_.cols() > 0; ++outcome.level) {
    const bool last = outcome.level == levels.size();
    if (last && solver == nullptr) break;  // x has no part in the null space yet
    const auto& [A, b] = last ? effort : levels[outcome.level];
    const long rank = split(A);
    Eigen::VectorXd best = x_;
    if (rank > 0) {
      const Eigen::MatrixXd M = basis_.leftCols(rank);
      best += M * (A * M).colPivHouseholderQr().solve(b - A * x_);
    }
    const Eigen::VectorXd values = limits.C * best;
    if (solver == nullptr || ((values.array() >= limits.lower.array()).all() &&
                              (values.array() <= limits.upper.array()).all())) {
      x_ = best;  // no limit is in the way
    } else if (rank > 0 || outcome.level == 0) {
      set_up(A, b, rank, limits, outcome.level == 0);
      const QuadraticProgramSolver::Solution& solution = solver->solve(program_);
      outcome.verdict = solution.verdict;
      outcome.iterations += solution.iterations;
      outcome.residual = std::max(outcome.residual, solution.residual);
      if (solution.verdict != QuadraticProgramSolver::Verdict::solved) return outcome;
      const Eigen::MatrixXd pressed = pressed_rows(solution, limits);
      x_ += basis_ * Eigen::Map<const Eigen::VectorXd>(solution.x.data(), basis_.cols());
      drop(rank);
      drop(split(pressed));
      continue;
    }
    drop(rank);
  }
  return outcome;
}

}  // namespace espalier
