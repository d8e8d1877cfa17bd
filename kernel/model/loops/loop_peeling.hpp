#pragma once

#include <Eigen/Core>
#include <vector>

namespace espalier {

class ClusterConstraint;

namespace detail {

using RowMajorMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// Dependent columns of a cluster whose loops can be solved one after the other.
struct Peeling {
  std::vector<int> dependent;  ///< columns
  std::vector<int> rest;       ///< rows of K that do not fall to any of these
};

/// Takes loops (and laws, couplings) away one by one, each that determines some columns that no
/// loop still there has an entry in, as well conditioned at all given positions: it is solved last.
/// What is left over has to be solved together. So the blocks of LoopBlocks are as small as loops
/// are.
/// @param K         of a sparse constraint, at some positions
/// @param priority  per column: 0 is taken first, then 1; others never
Peeling peel_loops(const ClusterConstraint& constraint, const std::vector<RowMajorMatrix>& K,
                   const std::vector<int>& priority);

}  // namespace detail
}  // namespace espalier
