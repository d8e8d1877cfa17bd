#include "sensing/solvers/fixed_solver.hpp"

#include <algorithm>
#include <cmath>

namespace espalier {

FixedSolver::FixedSolver(SparsePattern pattern, PivotOrder order)
    : pattern_(std::move(pattern)), lu_(pattern_, std::move(order)), residual_(pattern_.size()) {
  for (const int exponent : lu_.order().column_exponent)
    unit_.push_back(std::ldexp(1.0, -exponent));
}

bool FixedSolver::solve(const double* values, const double* b, double* x) {
  const int weak = lu_.factor(values);
  factored_ = weak < 0;
  if (factored_) {
    lu_.solve(b, x);
    if (refine(values, b, x)) return true;
    factored_ = false;
  }
  weak_pivot_ = weak;
  ++fallbacks_;
  if (!fresh_) fresh_ = std::make_unique<FallbackLu>(pattern_);
  return fresh_->solve(values, b, x);
}

void FixedSolver::solve_again(const double* b, double* x) {
  if (factored_) {
    lu_.solve(b, x);
  } else {
    fresh_->solve_again(b, x);
  }
}

/// @returns whether the correction was small: below a millionth of the answer its square, what is
/// left of the error, is below rounding.
bool FixedSolver::refine(const double* values, const double* b, double* x) {
  const int n = pattern_.size();
  std::copy(b, b + n, residual_.begin());
  for (int j = 0; j < n; ++j) {
    for (int k = pattern_.column_start[j]; k < pattern_.column_start[j + 1]; ++k) {
      residual_[pattern_.row_index[k]] -= values[k] * x[j];
    }
  }
  lu_.solve(residual_.data(), residual_.data());
  double largest = 0.0, correction = 0.0;
  for (int j = 0; j < n; ++j) {
    largest = std::max(largest, std::abs(x[j]) * unit_[j]);
    correction = std::max(correction, std::abs(residual_[j]) * unit_[j]);
    x[j] += residual_[j];
  }
  return correction <= 1e-6 * largest;  // false for NaN
}

}  // namespace espalier
