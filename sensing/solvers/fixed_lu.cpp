#include "sensing/solvers/fixed_lu.hpp"

#include <algorithm>
#include <cmath>

namespace espalier {

namespace {

/// A pivot smaller than this part of its column lets errors grow more than refinement takes back.
constexpr double least_in_column = 1e-6;
/// A pivot that elimination has brought down to this part of what its column was, is what rounding
/// left of zero, or near to it.
constexpr double least_of_original = 1e-11;

}  // namespace

FixedLu::FixedLu(const SparsePattern& pattern, PivotOrder order)
    : order_(std::move(order)), entries_(pattern.entries()) {
  const int n = order_.size();
  row_scale_.resize(n);
  column_scale_.resize(n);
  inverse_.resize(n);
  x_.assign(n, 0.0);
  find_pattern(pattern);
  lower_values_.resize(lower_.size());
  upper_values_.resize(upper_.size());
  off_values_.resize(off_.size());
  for (int k = 0; k < n; ++k) {
    row_scale_[k] = std::ldexp(1.0, order_.row_exponent[order_.rows[k]]);
    column_scale_[k] = std::ldexp(1.0, order_.column_exponent[order_.columns[k]]);
    const long below = lower_start_[k + 1] - lower_start_[k];
    for (int t = upper_start_[k]; t < upper_start_[k + 1]; ++t) {
      factor_additions_ += lower_start_[upper_[t] + 1] - lower_start_[upper_[t]];
    }
    factor_multiplications_ += below;
  }
  factor_multiplications_ += factor_additions_;
  solve_additions_ = static_cast<long>(lower_.size() + upper_.size() + off_.size());
  solve_multiplications_ = solve_additions_ + n;
}

long FixedLu::entries() const {
  return static_cast<long>(lower_.size() + upper_.size() + off_.size()) + order_.size();
}

/// Which entries the factors have: those of the matrix and of all columns of L that reach them.
void FixedLu::find_pattern(const SparsePattern& pattern) {
  const int n = order_.size();
  std::vector<int> pivot_of_row(n), block_of(n);
  for (int k = 0; k < n; ++k) pivot_of_row[order_.rows[k]] = k;
  for (std::size_t b = 0; b + 1 < order_.block_start.size(); ++b) {
    for (int k = order_.block_start[b]; k < order_.block_start[b + 1]; ++k) {
      block_of[k] = order_.block_start[b];
    }
  }
  in_start_ = off_start_ = lower_start_ = upper_start_ = {0};
  std::vector<bool> present(n, false);
  for (int k = 0; k < n; ++k) {
    const int column = order_.columns[k];
    std::vector<int> touched;
    int last = k;
    const auto touch = [&](int i) {
      if (present[i]) return;
      present[i] = true;
      touched.push_back(i);
      last = std::max(last, i);
    };
    for (int e = pattern.column_start[column]; e < pattern.column_start[column + 1]; ++e) {
      const int row = pattern.row_index[e], i = pivot_of_row[row];
      const double scale =
          std::ldexp(1.0, order_.row_exponent[row] + order_.column_exponent[column]);
      if (i < block_of[k]) {
        off_.push_back({e, i, scale});
      } else {
        in_.push_back({e, i, scale});
        touch(i);
      }
    }
    for (int j = block_of[k]; j < k; ++j) {
      if (!present[j]) continue;
      upper_.push_back(j);
      for (int t = lower_start_[j]; t < lower_start_[j + 1]; ++t) touch(lower_[t]);
    }
    for (int i = k + 1; i <= last; ++i) {
      if (present[i]) lower_.push_back(i);
    }
    for (const int i : touched) present[i] = false;
    in_start_.push_back(static_cast<int>(in_.size()));
    off_start_.push_back(static_cast<int>(off_.size()));
    lower_start_.push_back(static_cast<int>(lower_.size()));
    upper_start_.push_back(static_cast<int>(upper_.size()));
  }
}

int FixedLu::factor(const double* values) {
  double* const x = x_.data();
  const int n = order_.size();
  for (int k = 0; k < n; ++k) {
    double original = 0.0;
    for (int e = in_start_[k]; e < in_start_[k + 1]; ++e) {
      const Source& s = in_[e];
      const double a = values[s.slot] * s.scale;
      x[s.to] = a;
      original = std::max(original, std::abs(a));
    }
    for (int t = upper_start_[k]; t < upper_start_[k + 1]; ++t) {
      const int j = upper_[t];
      const double u = x[j];
      upper_values_[t] = u;
      x[j] = 0.0;
      const int end = lower_start_[j + 1];
      for (int p = lower_start_[j]; p < end; ++p) x[lower_[p]] -= lower_values_[p] * u;
    }
    const double pivot = x[k];
    x[k] = 0.0;
    double largest = 0.0;
    for (int p = lower_start_[k]; p < lower_start_[k + 1]; ++p) {
      largest = std::max(largest, std::abs(x[lower_[p]]));
    }
    // Negated, so that NaN fails.
    if (!(std::abs(pivot) >= least_in_column * largest) ||
        !(std::abs(pivot) > least_of_original * original)) {
      std::fill(x_.begin(), x_.end(), 0.0);
      return k;
    }
    const double inverse = 1.0 / pivot;
    inverse_[k] = inverse;
    for (int p = lower_start_[k]; p < lower_start_[k + 1]; ++p) {
      lower_values_[p] = x[lower_[p]] * inverse;
      x[lower_[p]] = 0.0;
    }
  }
  for (std::size_t e = 0; e < off_.size(); ++e) {
    off_values_[e] = values[off_[e].slot] * off_[e].scale;
  }
  return -1;
}

void FixedLu::solve(const double* b, double* out) {
  double* const x = x_.data();
  const int n = order_.size();
  for (int k = 0; k < n; ++k) x[k] = b[order_.rows[k]] * row_scale_[k];
  for (std::size_t block = order_.block_start.size() - 1; block-- > 0;) {
    const int first = order_.block_start[block], end = order_.block_start[block + 1];
    for (int k = first; k < end; ++k) {
      const double y = x[k];
      for (int p = lower_start_[k]; p < lower_start_[k + 1]; ++p)
        x[lower_[p]] -= lower_values_[p] * y;
    }
    for (int k = end - 1; k >= first; --k) {
      const double y = x[k] * inverse_[k];
      x[k] = y;
      for (int t = upper_start_[k]; t < upper_start_[k + 1]; ++t)
        x[upper_[t]] -= upper_values_[t] * y;
      for (int e = off_start_[k]; e < off_start_[k + 1]; ++e) x[off_[e].to] -= off_values_[e] * y;
    }
  }
  for (int k = 0; k < n; ++k) out[order_.columns[k]] = x[k] * column_scale_[k];
  std::fill(x_.begin(), x_.end(), 0.0);  // factor() expects zeros
}

}  // namespace espalier
