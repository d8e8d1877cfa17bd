#pragma once

#include <optional>
#include <vector>

#include "espalier/kernel/export.hpp"

namespace espalier {

class ClusterConstraint;

/// Block triangular form of the dependent columns of a cluster's K: the order in which its
/// constraints are eliminated, few rows at a time. A chain of loops that share bars has blocks of
/// two, however long it is.
///
/// Block k has as many rows as columns; its rows have entries in its own columns, in those of
/// blocks before it, and in independent columns. So det K_dep is the product of the blocks'
/// determinants. Source: Dulmage, Mendelsohn (1958); Pothen, Fan (1990).
struct LoopBlocks {
  struct Inside {
    int value;     ///< entry of K
    int position;  ///< in the block, row-major
  };
  struct Outside {
    int value;   ///< entry of K
    int row;     ///< of the block
    int column;  ///< of K: independent, or of a block before
  };
  struct Block {
    int size;
    int first;            ///< its rows and columns among `rows`, `columns`
    int inside, outside;  ///< its first entries
    int inside_end, outside_end;
    int factor;  ///< where its size x size numbers start
  };
  std::vector<Block> blocks;
  std::vector<int> rows, columns;  ///< of K, block after block
  std::vector<Inside> inside;
  std::vector<Outside> outside;
  int factor_size = 0;  ///< of all blocks
  int largest = 0;      ///< size of the largest block

  /// The finest block triangular form of a sparse constraint, or nullopt if its rows and dependent
  /// columns cannot be matched one to one.
  static std::optional<LoopBlocks> find(const ClusterConstraint& constraint);
};

}  // namespace espalier
