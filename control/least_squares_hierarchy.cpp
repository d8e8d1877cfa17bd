#include "espalier/control/least_squares_hierarchy.hpp"

#include <Eigen/QR>
#include <algorithm>
#include <cmath>

namespace espalier {

namespace {

/// By how much x misses a limit; below 0: none is missed.
double violation(const Eigen::VectorXd& x, const LeastSquaresHierarchy::Limits& limits) {
  const Eigen::VectorXd values = limits.C * x;
  return values.size() == 0
             ? 0.0
             : std::max((limits.lower - values).maxCoeff(), (values - limits.upper).maxCoeff());
}

}  // namespace

long LeastSquaresHierarchy::split(const Eigen::MatrixXd& A) {
  const long free = basis_.cols();
  // Each row by its own size: a crane's slewing and its gripper are ten orders of ten apart.
  Eigen::VectorXd scale = A.rowwise().norm();
  const double least_row = scale.size() == 0 ? 0.0 : row_tolerance * scale.maxCoeff();
  for (double& s : scale) s = s > least_row ? 1.0 / s : 0.0;
  const Eigen::MatrixXd B = scale.asDiagonal() * A * basis_;
  const double largest = B.size() == 0 ? 0.0 : B.colwise().norm().maxCoeff();
  if (!(largest > rank_tolerance)) return 0;  // only rounding is left of this level
  Eigen::CompleteOrthogonalDecomposition<Eigen::MatrixXd> qtz;
  qtz.setThreshold(rank_tolerance / largest);  // Eigen takes it relative to the largest
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

LeastSquaresHierarchy::Level LeastSquaresHierarchy::pressed(
    const QuadraticProgramSolver::Solution& solution, const Limits& limits) const {
  std::vector<long> rows;
  std::vector<double> bounds;
  const Eigen::Map<const Eigen::VectorXd> z(solution.x.data(), basis_.cols());
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    const double multiplier = solution.row_multipliers[i];
    const double value = limits.C.row(rows_[i]).dot(basis_ * z);
    const bool above = multiplier > 0.0;
    const double room = above ? program_.row_upper[i] - value : value - program_.row_lower[i];
    if (!(std::abs(multiplier) > std::max(least_press, room))) continue;
    rows.push_back(rows_[i]);
    bounds.push_back(above ? limits.upper[rows_[i]] : limits.lower[rows_[i]]);
  }
  return {limits.C(rows, Eigen::all), Eigen::Map<Eigen::VectorXd>(bounds.data(), bounds.size())};
}

void LeastSquaresHierarchy::drop(long columns) {
  basis_ = basis_.rightCols(basis_.cols() - columns).eval();
}

Eigen::VectorXd LeastSquaresHierarchy::least(const Level& level, long rank) const {
  if (rank == 0) return x_;
  const Eigen::MatrixXd M = basis_.leftCols(rank);
  Eigen::VectorXd scale = Eigen::VectorXd::Ones(level.A.rows());
  // All rows are reached, whatever they weigh: each to its own digits.
  if (rank == scale.size()) scale = level.A.rowwise().norm().cwiseInverse();
  const auto qr = (scale.asDiagonal() * level.A * M).eval().colPivHouseholderQr();
  Eigen::VectorXd x = x_;
  for (int k = 0; k < 2; ++k) {  // once more for what rounding beside large inputs has missed
    x += M * qr.solve(scale.cwiseProduct(level.b - level.A * x));
  }
  return x;
}

void LeastSquaresHierarchy::settle(const Level& level) {
  const long rank = split(level.A);
  x_ = least(level, rank);
  drop(rank);
}

void LeastSquaresHierarchy::finish(const Level& level, long rank, const Level& pressed,
                                   const Limits& limits) {
  const auto missed = [&](const Eigen::VectorXd& x) { return (level.A * x - level.b).norm(); };
  const Eigen::VectorXd start = x_;
  const Eigen::MatrixXd basis = basis_;
  // Rounding beside the numbers that were subtracted.
  const double rounding = 1e-13 * (1.0 + start.cwiseAbs().maxCoeff());
  const double most = std::max(violation(start, limits), rounding);
  Eigen::VectorXd best = start;
  // Limits that the way from the program's solution to the exact one meets, with their bounds.
  std::vector<long> met;
  std::vector<double> bounds;
  for (long tries = 0; tries <= basis.cols(); ++tries) {
    x_ = start;
    basis_ = basis;
    settle(pressed);
    settle({limits.C(met, Eigen::all), Eigen::Map<Eigen::VectorXd>(bounds.data(), bounds.size())});
    settle(level);
    if (!(missed(x_) <= (1.0 + least_press) * missed(start) + rounding * level.A.norm())) break;
    if (violation(x_, limits) <= most) {
      best = x_;
      break;
    }
    const Eigen::VectorXd values = limits.C * x_;
    for (long k = 0; k < values.size(); ++k) {
      const bool below = limits.lower[k] - values[k] > most;
      if (!below && !(values[k] - limits.upper[k] > most)) continue;
      met.push_back(k);
      bounds.push_back(below ? limits.lower[k] : limits.upper[k]);
    }
  }
  x_ = best;
  basis_ = basis;
  drop(rank);
  drop(split(pressed.A));
}

LeastSquaresHierarchy::Outcome LeastSquaresHierarchy::solve(const std::vector<Level>& levels,
                                                            const Eigen::VectorXd& weights,
                                                            const Limits& limits,
                                                            QuadraticProgramSolver* solver) {
  const long m = limits.C.cols();
  Outcome outcome;
  x_ = Eigen::VectorXd::Zero(m);
  basis_ = Eigen::MatrixXd::Identity(m, m);
  const Level effort{weights.cwiseSqrt().asDiagonal(), Eigen::VectorXd::Zero(m)};
  for (outcome.level = 0; outcome.level <= levels.size() && basis_.cols() > 0; ++outcome.level) {
    const Level& level = outcome.level == levels.size() ? effort : levels[outcome.level];
    if (solver == nullptr) {
      settle(level);
      continue;
    }
    const long rank = split(level.A);
    const Eigen::VectorXd best = least(level, rank);
    if (violation(best, limits) <= 0.0) {
      x_ = best;  // no limit is in the way
    } else if (rank > 0 || outcome.level == 0) {
      set_up(level.A, level.b, rank, limits, outcome.level == 0);
      const QuadraticProgramSolver::Solution& solution = solver->solve(program_);
      outcome.verdict = solution.verdict;
      outcome.iterations += solution.iterations;
      outcome.residual = std::max(outcome.residual, solution.residual);
      if (solution.verdict != QuadraticProgramSolver::Verdict::solved) return outcome;
      const Level holding = pressed(solution, limits);
      x_ += basis_ * Eigen::Map<const Eigen::VectorXd>(solution.x.data(), basis_.cols());
      finish(level, rank, holding, limits);
      continue;
    }
    drop(rank);
  }
  return outcome;
}

}  // namespace espalier
