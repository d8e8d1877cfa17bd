#pragma once

#include <span>
#include <utility>
#include <vector>

#include "espalier/kernel/model/loops/constraint.hpp"

namespace espalier {

/// The order in which a sparse symmetric system is eliminated under constraints,
///   H x = r + K^T lam,  K x = 0,
/// and which numbers meet: fronts, small dense matrices along a tree, of which each adds what is
/// left of it to its parent. K's dependent columns are in block triangular form (LoopBlocks).
///
/// A block goes when nothing that is left reads its dependent variables: then its rows of K are
/// those that were given, without fill, and it is singular only where K's dependent columns are. A
/// free variable goes when no block that is left reads it: its pivot is then one of the positive
/// definite G^T H G. Among those that may go the one with the fewest neighbours does.
/// Source: theory/large-clusters C.3, with the blocks of C.2 for its dependents; Duff, Reid (1983).
struct FrontPlan {
  /// A number that is given, and where it belongs.
  struct Entry {
    int value;
    int position;
  };
  /// A block's dependent variables, or a free one.
  struct Step {
    int block;                   ///< of LoopBlocks; -1: a free variable
    int first, size;             ///< its variables among the front's
    int factor;                  ///< where its `size` rows start: columns after it, and one more
    std::vector<Entry> outside;  ///< K to these rows
  };
  /// Columns that stand beside one another in the child and in the parent.
  struct Run {
    int from, to, length;
  };
  struct Child {
    int front;
    std::vector<Run> runs;  ///< the right-hand side at last
  };
  /// A matrix of size() rows with one more column, the right-hand side; the upper triangle counts.
  struct Front {
    std::vector<int> variables;  ///< those that go, step by step, then those that the parent has
    int eliminated = 0;
    int matrix = 0;  ///< where it starts; shared with fronts that are done
    std::vector<Step> steps;
    std::vector<Entry> H;
    std::vector<Child> children;

    int size() const { return static_cast<int>(variables.size()); }
    int row_length() const { return size() + 1; }
  };

  std::vector<Front> fronts;    ///< children before parents; kept variables have the last alone
  int variables = 0, kept = 0;  ///< kept ones are numbered after the others
  int pairs = 0;                ///< numbers of H
  int matrices = 0, factors = 0, widest = 0;  ///< numbers of all; most of one step's rows
  double multiplications = 0.0;
};

/// @param constraint  eliminated in blocks
/// @param kept        variables that stay: numbers constraint.columns and on; no constraint reads
///                    them
/// @param pairs       of variables that have a number in H, each once, in the order of these
FrontPlan plan_fronts(const ClusterConstraint& constraint, int kept,
                      std::span<const std::pair<int, int>> pairs);

}  // namespace espalier
