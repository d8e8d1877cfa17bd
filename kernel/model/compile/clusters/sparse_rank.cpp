#include "espalier/kernel/model/compile/clusters/sparse_rank.hpp"

#include <Eigen/OrderingMethods>
#include <Eigen/SparseQR>
#include <algorithm>
#include <cmath>

namespace espalier::detail {

RowRank row_rank(const SparseMatrix& A) {
  RowRank out;
  out.kept.assign(A.rows(), false);
  SparseMatrix columns = A.transpose();
  columns.prune(0.0);
  columns.makeCompressed();
  double largest = 0.0;
  for (int j = 0; j < columns.outerSize(); ++j) largest = std::max(largest, columns.col(j).norm());
  if (!(largest > 0.0)) return out;
  Eigen::SparseQR<SparseMatrix, Eigen::COLAMDOrdering<int>> qr;
  qr.setPivotThreshold(1e-8 * largest);
  qr.compute(columns);
  out.rank = static_cast<int>(qr.rank());
  double smallest = 0.0, most = 0.0;
  for (int i = 0; i < out.rank; ++i) {
    out.kept[qr.colsPermutation().indices()(i)] = true;
    const double pivot = std::abs(qr.matrixR().coeff(i, i));
    smallest = i == 0 ? pivot : std::min(smallest, pivot);
    most = std::max(most, pivot);
  }
  if (out.rank > 0) out.least = smallest / most;
  return out;
}

ColumnPivots::ColumnPivots(const SparseMatrix& A)
    : remainder_(A), rows_(A.cols()), has_(A.cols()), norm_(A.cols()), taken_(A.cols(), false) {
  for (int j = 0; j < A.outerSize(); ++j) {
    has_[j].assign(A.rows(), false);
    for (SparseMatrix::InnerIterator it(A, j); it; ++it) {
      rows_[j].push_back(static_cast<int>(it.row()));
      has_[j][it.row()] = true;
    }
    norm_[j] = remainder_.col(j).norm();
  }
}

int ColumnPivots::best(const std::vector<bool>& allowed, double least) const {
  int best = -1;
  for (std::size_t j = 0; j < norm_.size(); ++j) {
    if (!allowed[j] || taken_[j]) continue;
    // Among equals the first.
    if (norm_[j] > least * (1.0 + 1e-9)) best = static_cast<int>(j), least = norm_[j];
  }
  return best;
}

void ColumnPivots::take(int column) {
  taken_[column] = true;
  const std::vector<int>& rows = rows_[column];
  const Eigen::VectorXd direction = remainder_.col(column) / norm_[column];
  for (std::size_t j = 0; j < norm_.size(); ++j) {
    if (taken_[j]) continue;
    double along = 0.0;
    for (const int i : rows) along += direction(i) * remainder_(i, j);
    if (along == 0.0) continue;
    for (const int i : rows) {
      remainder_(i, j) -= along * direction(i);
      if (!has_[j][i]) has_[j][i] = true, rows_[j].push_back(i);
    }
    double square = 0.0;
    for (const int i : rows_[j]) square += remainder_(i, j) * remainder_(i, j);
    norm_[j] = std::sqrt(square);
  }
}

}  // namespace espalier::detail
