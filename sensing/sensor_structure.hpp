#pragma once

#include <vector>

#include "espalier/kernel/export.hpp"

namespace espalier {

/// What the pattern of a sparse matrix says whatever its numbers are.
struct BlockForm {
  /// Largest rank that numbers can give it: the size of a maximum matching of rows and columns.
  int structural_rank = 0;
  /// Of a square matrix of full structural rank: rows and columns in an order that makes it block
  /// upper triangular, with square blocks on the diagonal that cannot be split; blocks of size 1
  /// alone mean a triangular matrix. Empty for other matrices.
  std::vector<int> row_order;
  std::vector<int> column_order;  ///< likewise
  std::vector<int> block_start;   ///< one more than there are blocks
};

/// Dulmage-Mendelsohn decomposition, by a maximum matching and strongly connected components.
/// @param rows                     of the matrix
/// @param column_start, row_index  its columns, compressed
/// Cost: near-linear in the entries where greedy matching nearly succeeds, as it does here.
/// Source: Dulmage, Mendelsohn (1958); Pothen, Fan, "Computing the block triangular form of a
/// sparse matrix" (1990).
ESPALIER_API BlockForm block_form(int rows, const std::vector<int>& column_start,
                                  const std::vector<int>& row_index);

}  // namespace espalier
