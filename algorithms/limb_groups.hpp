#pragma once

#include <algorithm>
#include <vector>

#include "algorithms/limb_plan.hpp"

namespace espalier {

/// Limbs that are computed at once, one in each lane of a pack, in the order outward: carriers come
/// before what they carry. A limb that carries none may wait for others of its length.
struct LimbGroups {
  LimbGroups(const LimbPlan& plan, int lanes) {
    const std::vector<Limb>& limbs = plan.limbs;
    int deepest = 0;
    for (const Limb& limb : limbs) deepest = std::max(deepest, limb.level);
    std::vector<bool> placed(limbs.size(), false);
    for (int level = deepest; level >= 0; --level) {
      std::vector<int> ready;
      for (std::size_t i = 0; i < limbs.size(); ++i) {
        const bool may = limbs[i].level == level || (limbs[i].level < level && limbs[i].leaf);
        if (may && !placed[i]) ready.push_back(static_cast<int>(i));
      }
      std::stable_sort(ready.begin(), ready.end(), [&](int a, int b) {
        return limbs[a].bodies.size() > limbs[b].bodies.size();
      });
      for (std::size_t begin = 0; begin < ready.size(); begin += lanes) {
        const std::size_t end = std::min(ready.size(), begin + lanes);
        const std::vector<int> group(ready.begin() + begin, ready.begin() + end);
        if (std::none_of(group.begin(), group.end(),
                         [&](int i) { return limbs[i].level == level; })) {
          continue;
        }
        for (const int i : group) placed[i] = true;
        groups.push_back(group);
        levels.push_back(level);
      }
    }
    std::reverse(groups.begin(), groups.end());
    std::reverse(levels.begin(), levels.end());
  }

  std::vector<std::vector<int>> groups;  ///< indices of limbs
  std::vector<int> levels;               ///< of the groups: the highest of a limb
};

}  // namespace espalier
