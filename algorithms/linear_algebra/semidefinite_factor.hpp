#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "algorithms/linear_algebra/small_ldlt.hpp"

namespace espalier {

/// A symmetric positive semidefinite matrix by its rank: P^T A P = R R^T with R m x rank, found by
/// diagonal pivoting, so that A^+ b = R (R^T R)^-2 R^T b is the shortest x of least |A x - b|; of a
/// regular matrix it is R^-T R^-1 b.
/// All memory is taken at the start. Source: Higham (2002), section 10.3.
class SemidefiniteFactor {
 public:
  /// Pivots below this share of the largest diagonal entry count as zeros: the one rule by which
  /// all algorithms decide the rank of J M^-1 J^T. On random robots with and without loops zeros
  /// come out below 1e-15, and others (heavily geared rotors beside light links) above 1e-11; Tello
  /// with arms has one of 1e-13 between, which no two ways of rounding agree about.
  static constexpr double tolerance = 1e-12;

  explicit SemidefiniteFactor(int size)
      : n_(size),
        R_(static_cast<std::size_t>(size) * size),
        G_(R_.size()),
        order_(size),
        x_(size) {}

  /// @param A  n x n, row-major, symmetric; compliance is added to the diagonal
  void compute(const double* A, double compliance) {
    std::copy_n(A, R_.size(), R_.begin());
    for (long i = 0; i < n_; ++i) R_[i * n_ + i] += compliance;
    std::iota(order_.begin(), order_.end(), 0);
    double largest = 0.0;
    finite_ = true;
    for (long i = 0; i < n_; ++i) {
      largest = std::max(largest, R_[i * n_ + i]);
      finite_ = finite_ && std::isfinite(R_[i * n_ + i]);
    }
    rank_ = 0;
    for (long k = 0; k < n_; ++k) {
      long pivot = k;
      for (long i = k + 1; i < n_; ++i) {
        if (R_[i * n_ + i] > R_[pivot * n_ + pivot]) pivot = i;
      }
      if (!(R_[pivot * n_ + pivot] > tolerance * largest)) break;
      exchange(k, pivot);
      const double root = std::sqrt(R_[k * n_ + k]);
      R_[k * n_ + k] = root;
      for (long i = k + 1; i < n_; ++i) R_[i * n_ + k] /= root;
      for (long i = k + 1; i < n_; ++i) {
        for (long j = k + 1; j <= i; ++j) R_[i * n_ + j] -= R_[i * n_ + k] * R_[j * n_ + k];
      }
      ++rank_;
    }
    if (rank_ == n_) return;            // R is triangular
    for (long a = 0; a < rank_; ++a) {  // R^T R, lower triangle
      for (long b = 0; b <= a; ++b) {
        double sum = 0.0;
        for (long i = a; i < n_; ++i) sum += R_[i * n_ + a] * R_[i * n_ + b];
        G_[a * rank_ + b] = sum;
      }
    }
    ldlt(G_.data(), rank_);
  }
  int rank() const { return rank_; }

  /// x = A^+ x; NaN where A has one.
  void solve(double* x) {
    if (!finite_) {
      std::fill_n(x, n_, std::numeric_limits<double>::quiet_NaN());
      return;
    }
    if (rank_ == n_) {
      solve_regular(x);
      return;
    }
    for (long a = 0; a < rank_; ++a) {
      x_[a] = 0.0;
      for (long i = a; i < n_; ++i) x_[a] += R_[i * n_ + a] * x[order_[i]];
    }
    ldlt_solve(G_.data(), rank_, x_.data());
    ldlt_solve(G_.data(), rank_, x_.data());
    for (long i = 0; i < n_; ++i) {
      double sum = 0.0;
      for (long a = 0; a < std::min<long>(rank_, i + 1); ++a) sum += R_[i * n_ + a] * x_[a];
      x[order_[i]] = sum;
    }
  }

 private:
  /// x = R^-T R^-1 x, whose rounding grows with the condition of A and not with its square.
  void solve_regular(double* x) {
    for (long i = 0; i < n_; ++i) {
      double sum = x[order_[i]];
      for (long k = 0; k < i; ++k) sum -= R_[i * n_ + k] * x_[k];
      x_[i] = sum / R_[i * n_ + i];
    }
    for (long i = n_; i-- > 0;) {
      x_[i] /= R_[i * n_ + i];
      for (long k = 0; k < i; ++k) x_[k] -= R_[i * n_ + k] * x_[i];
      x[order_[i]] = x_[i];
    }
  }
  /// Swaps rows and columns i < j of what is left, of which the lower triangle is kept.
  void exchange(long i, long j) {
    if (i == j) return;
    std::swap(order_[i], order_[j]);
    for (long k = 0; k < i; ++k) std::swap(R_[i * n_ + k], R_[j * n_ + k]);
    for (long k = i + 1; k < j; ++k) std::swap(R_[k * n_ + i], R_[j * n_ + k]);
    for (long k = j + 1; k < n_; ++k) std::swap(R_[k * n_ + i], R_[k * n_ + j]);
    std::swap(R_[i * n_ + i], R_[j * n_ + j]);
  }

  long n_;
  int rank_ = 0;
  bool finite_ = true;
  std::vector<double> R_, G_;
  std::vector<int> order_;
  std::vector<double> x_;
};

}  // namespace espalier
