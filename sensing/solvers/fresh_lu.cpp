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

}  // namespace

#ifdef ESPALIER_UMFPACK
UmfpackLu::UmfpackLu(const SparsePattern& pattern) : pattern_(pattern) {
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
  double info[UMFPACK_INFO];
  const int factored = umfpack_di_numeric(pattern_.column_start.data(), pattern_.row_index.data(),
                                          values, symbolic_, &numeric_, nullptr, info);
  if (factored != UMFPACK_OK || !(info[UMFPACK_RCOND] > least_pivot_ratio)) {
    umfpack_di_free_numeric(&numeric_);
    return false;
  }
  return solve_again(values, b, x);
}

bool UmfpackLu::solve_again(const double* values, const double* b, double* x) {
  return numeric_ != nullptr &&
         umfpack_di_solve(UMFPACK_A, pattern_.column_start.data(), pattern_.row_index.data(),
                          values, x, b, numeric_, nullptr, nullptr) == UMFPACK_OK;
}

#endif  // ESPALIER_UMFPACK

EigenLu::EigenLu(const SparsePattern& pattern)
    : row_(Eigen::VectorXd::Ones(pattern.size())), column_(row_) {
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
  std::copy(values, values + A_.nonZeros(), A_.valuePtr());
  // Rows and columns of largest entry 1: a pivot of 1e-14 then is what rounding left of zero.
  for (Eigen::VectorXd* scale : {&row_, &column_}) {
    Eigen::VectorXd most = Eigen::VectorXd::Zero(n);
    for (int j = 0; j < n; ++j) {
      for (Eigen::SparseMatrix<double>::InnerIterator e(A_, j); e; ++e) {
        double& m = most(scale == &row_ ? e.row() : j);
        m = std::max(m, std::abs(e.value()));
      }
    }
    *scale = (most.array() > 0.0).select(most.cwiseInverse(), 1.0);
    for (int j = 0; j < n; ++j) {
      for (Eigen::SparseMatrix<double>::InnerIterator e(A_, j); e; ++e) {
        e.valueRef() *= (*scale)(scale == &row_ ? e.row() : j);
      }
    }
  }
  lu_.factorize(A_);
  if (lu_.info() != Eigen::Success) return false;
  // A singular matrix that passed answers some right side with about 1e16 times its size.
  Eigen::VectorXd probe(n);
  for (long i = 0; i < n; ++i)
    probe(i) = i % 2 == 0 ? 1.0 : -0.7 + 0.1 * static_cast<double>(i % 5);
  const Eigen::VectorXd answer = lu_.solve(probe);
  if (!answer.allFinite() || answer.cwiseAbs().maxCoeff() > 1.0 / least_pivot_ratio) return false;
  return solve_again(values, b, x);
}

bool EigenLu::solve_again(const double* /*values*/, const double* b, double* x) {
  const long n = A_.cols();
  const Eigen::Map<const Eigen::VectorXd> right(b, n);
  Eigen::Map<Eigen::VectorXd>(x, n) =
      column_.cwiseProduct(lu_.solve(Eigen::VectorXd(row_.cwiseProduct(right))));
  return Eigen::Map<Eigen::VectorXd>(x, n).allFinite();
}

}  // namespace espalier
