#pragma once

#include <vector>

#include "algorithms/chains/groups.hpp"

namespace espalier {

/// Where chains meet other bodies: parents are the bodies that chains hang on, but for the ground;
/// attachment bodies those of chains that carry others or whose motion others read.
struct ChainAttachments {
  /// @param watched  bodies whose motion others read in any case
  ChainAttachments(const Model& model, const ChainPlan& plan, const ChainGroups& groups,
                   const std::vector<int>& watched);

  std::vector<std::vector<int>> parents;  ///< per group: in no chain, and not of a group before
  std::vector<std::vector<int>> bodies;   ///< per group: attachment bodies
  std::vector<int> all;                   ///< attachment bodies of all groups
};

}  // namespace espalier
