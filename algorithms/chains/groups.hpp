#pragma once

#include <vector>

#include "algorithms/chains/plan.hpp"

namespace espalier {

/// Chains that are computed at once, one in each lane of a pack; parents before children. A chain
/// that carries nothing may join chains of a higher level, next to others of its length.
struct ChainGroups {
  ChainGroups(const ChainPlan& plan, int lanes);

  std::vector<std::vector<int>> groups;  ///< indices of chains
  std::vector<int> levels;               ///< of the groups: the highest of a chain
};

}  // namespace espalier
