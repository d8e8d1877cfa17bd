#pragma once

#include <string>
#include <utility>
#include <vector>

#include "sensing/solvers/sparse_matrix.hpp"

namespace espalier {

/// In which order a sparse matrix is eliminated, settled before its numbers are known: rows and
/// columns permuted to block upper triangular form, pivots on the diagonal. Rows and columns are
/// brought to comparable size by powers of two, which lose nothing.
struct PivotOrder {
  std::vector<int> rows, columns;  ///< pivot k stands in row rows[k] and column columns[k]
  std::vector<int> block_start;    ///< one more than there are blocks
  std::vector<int> row_exponent, column_exponent;  ///< by row and column: scaled by 2 to these

  int size() const { return static_cast<int>(rows.size()); }

  /// A text that parse() reads. @param fingerprint  of what it is for
  std::string text(const std::string& fingerprint) const;
  /// @throws InvalidModel if it is no such text, or belongs to another fingerprint or pattern
  static PivotOrder parse(const std::string& text, const std::string& fingerprint,
                          const SparsePattern& pattern);
};

/// Pivots that are known to be good, in their order. A step names rows and columns; as many pivots
/// are taken among them as pass the threshold.
struct PivotStep {
  std::vector<int> rows, columns;
  /// Least size of a pivot beside the largest entry of its column that is still to be eliminated.
  double threshold = 0.1;
};

/// Finds an order that is good for several sampled matrices of one pattern: block triangular form;
/// inside of blocks first the steps given, as far as they lie inside of one; then, by Markowitz'
/// criterion, pivots that are at least a tenth of their column's largest entry in all samples.
/// @param samples  values by SparsePattern's entries
/// @returns an order of size 0 if the pattern or all samples are singular
/// Source: Markowitz (1957); Duff, Erisman, Reid, "Direct methods for sparse matrices" (2017),
/// chapters 7 and 10; theory/sparse 6.
PivotOrder find_pivots(const SparsePattern& pattern,
                       const std::vector<std::vector<double>>& samples,
                       const std::vector<PivotStep>& steps);

}  // namespace espalier
