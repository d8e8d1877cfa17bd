#pragma once

#include <Eigen/Sparse>
#include <vector>

/// Ranks and pivots of large sparse matrices, for the compiler of clusters.

namespace espalier::detail {

using SparseMatrix = Eigen::SparseMatrix<double>;

/// What a rank-revealing QR factorisation says about the rows of a matrix.
struct RowRank {
  int rank = 0;
  std::vector<bool> kept;  ///< per row: one of `rank` rows that span all
  double least = 1.0;      ///< smallest pivot over the largest: the order of the smallest over the
                           ///< largest singular value
};
RowRank row_rank(const SparseMatrix& A);

/// Greedy choice of columns, largest remainder first, orthogonalised against those chosen before.
class ColumnPivots {
 public:
  explicit ColumnPivots(const SparseMatrix& A);
  /// The column, among those allowed and not taken, with the largest remainder; -1 if none has more
  /// than `least`.
  int best(const std::vector<bool>& allowed, double least) const;
  void take(int column);

 private:
  /// Columns that orthogonalisation has not touched have few entries, others soon have many: dense
  /// memory, and for each column the rows that it may have entries in.
  Eigen::MatrixXd remainder_;
  std::vector<std::vector<int>> rows_;
  std::vector<std::vector<bool>> has_;
  std::vector<double> norm_;
  std::vector<bool> taken_;
};

}  // namespace espalier::detail
