#include "sensing/solvers/fresh_lu.hpp"

#ifdef ESPALIER_UMFPACK
#include <umfpack.h>
#endif

#include <algorithm>
#include <cmath>

namespace espalier {

namespace {

/// Smallest over largest pivot of scaled rows below which a matrix counts as singular.
constexpr double least_pivot_ratio = 1e-14;
constexpr int passes = 10;  // of scaling

}  // namespace

ScaledMatrix::ScaledMatrix(const SparsePattern& pattern)
    : pattern_(pattern),
      values_(pattern.entries()),
      row_(pattern.size()),
      column_(pattern.size()) {}

void ScaledMatrix::take(const double* values) {
  std::copy(values, values + pattern_.entries(), values_.begin());
  std::fill(row_.begin(), row_.end(), 1.0);
  std::fill(column_.begin(), column_.end(), 1.0);
}

void ScaledMatrix::scale() {
  // Logarithms of scales that bring most entries near 1, by least squares; each pass solves for
  // rows, then for columns.
  const int n = pattern_.size();
  std::vector<double> row(n, 0.0), column(n, 0.0), sum(n);
  std::vector<int> count(n);
  for (int pass = 0; pass < 2 * passes; ++pass) {
    const bool rows = pass % 2 == 0;
    std::fill(sum.begin(), sum.end(), 0.0);
    std::fill(count.begin(), count.end(), 0);
    each_entry([&](int i, int j, double& a) {
      if (a == 0.0) return;
      const int of = rows ? i : j;
      sum[of] -= std::log2(std::abs(a)) + (rows ? column[j] : row[i]);
      ++count[of];
    });
    std::vector<double>& scales = rows ? row : column;
    for (int i = 0; i < n; ++i) scales[i] = count[i] > 0 ? sum[i] / count[i] : 0.0;
  }
  for (int i = 0; i < n; ++i) row_[i] = std::exp2(row[i]), column_[i] = std::exp2(column[i]);
  each_entry([&](int i, int j, double& a) { a *= row_[i] * column_[j]; });
  // And then the largest entries of rows, and those of columns, become 1.
  for (const bool rows : {true, false}) {
    std::fill(sum.begin(), sum.end(), 0.0);
    each_entry([&](int i, int j, double& a) {
      double& largest = sum[rows ? i : j];
      largest = std::max(largest, std::abs(a));
    });
    std::vector<double>& scales = rows ? row_ : column_;
    for (int i = 0; i < n; ++i) scales[i] /= sum[i] > 0.0 ? sum[i] : 1.0;
    each_entry([&](int i, int j, double& a) {
      const double largest = sum[rows ? i : j];
      a /= largest > 0.0 ? largest : 1.0;
    });
  }
}

void ScaledMatrix::scale_rows(const double* b, double* scaled) const {
  for (int i = 0; i < pattern_.size(); ++i) scaled[i] = row_[i] * b[i];
}

void ScaledMatrix::scale_columns(double* x) const {
  for (int j = 0; j < pattern_.size(); ++j) x[j] *= column_[j];
}

#ifdef ESPALIER_UMFPACK
UmfpackLu::UmfpackLu(const SparsePattern& pattern)
    : pattern_(pattern), scaled_(pattern), right_(pattern.size()) {
  umfpack_di_symbolic(pattern.size(), pattern.size(), pattern.column_start.data(),
                      pattern.row_index.data(), nullptr, &symbolic_, nullptr, nullptr);
}

UmfpackLu::~UmfpackLu() {
  umfpack_di_free_numeric(&numeric_);
  umfpack_di_free_symbolic(&symbolic_);
}

bool UmfpackLu::solve(const double* values, const double* b, double* x) {
  umfpack_di_free_numeric(&numeric_);
  // It takes singular matrices for what they are, but not NaN.
  const bool finite =
      std::all_of(values, values + pattern_.entries(), [](double a) { return std::isfinite(a); });
  if (!finite || symbolic_ == nullptr) return false;
  // Numbers from 1 to 1e30 have no scale that suits all: a matrix is singular if it is so in both,
  // as it stands (UMFPACK divides rows by their sums) and with columns scaled, too.
  scaled_.take(values);
  if (!factor()) {
    scaled_.scale();
    if (!factor()) return false;
  }
  return solve_again(b, x);
}

bool UmfpackLu::factor() {
  double info[UMFPACK_INFO];
  const int factored =
      umfpack_di_numeric(pattern_.column_start.data(), pattern_.row_index.data(),
                         scaled_.values().data(), symbolic_, &numeric_, nullptr, info);
  if (factored == UMFPACK_OK && info[UMFPACK_RCOND] > least_pivot_ratio) return true;
  umfpack_di_free_numeric(&numeric_);
  return false;
}

bool UmfpackLu::solve_again(const double* b, double* x) {
  if (numeric_ == nullptr) return false;
  scaled_.scale_rows(b, right_.data());
  const int solved =
      umfpack_di_solve(UMFPACK_A, pattern_.column_start.data(), pattern_.row_index.data(),
                       scaled_.values().data(), x, right_.data(), numeric_, nullptr, nullptr);
  scaled_.scale_columns(x);
  return solved == UMFPACK_OK;
}

#endif  // ESPALIER_UMFPACK

EigenLu::EigenLu(const SparsePattern& pattern) : scaled_(pattern) {
  const int n = pattern.size();
  std::vector<Eigen::Triplet<double>> entries;
  for (int j = 0; j < n; ++j) {
    for (int k = pattern.column_start[j]; k < pattern.column_start[j + 1]; ++k) {
      entries.emplace_back(pattern.row_index[k], j, 1.0);
    }
  }
  if (n == 0) return;
  A_.resize(n, n);
  A_.setFromTriplets(entries.begin(), entries.end());
  lu_.analyzePattern(A_);
}

bool EigenLu::solve(const double* values, const double* b, double* x) {
  const long n = A_.cols();
  scaled_.take(values);
  scaled_.scale();
  std::copy(scaled_.values().begin(), scaled_.values().end(), A_.valuePtr());
  lu_.factorize(A_);
  if (lu_.info() != Eigen::Success) return false;
  // A singular matrix that passed answers some right side with about 1e16 times its size.
  Eigen::VectorXd probe(n);
  for (long i = 0; i < n; ++i)
    probe(i) = i % 2 == 0 ? 1.0 : -0.7 + 0.1 * static_cast<double>(i % 5);
  const Eigen::VectorXd answer = lu_.solve(probe);
  if (!answer.allFinite() || answer.cwiseAbs().maxCoeff() > 1.0 / least_pivot_ratio) return false;
  return solve_again(b, x);
}

bool EigenLu::solve_again(const double* b, double* x) {
  Eigen::VectorXd right(A_.cols());
  scaled_.scale_rows(b, right.data());
  Eigen::Map<Eigen::VectorXd> solution(x, A_.cols());
  solution = lu_.solve(right);
  scaled_.scale_columns(x);
  return solution.allFinite();
}

}  // namespace espalier
