#include "algorithms/chains/groups.hpp"

#include <algorithm>

namespace espalier {

ChainGroups::ChainGroups(const ChainPlan& plan, int lanes) {
  const std::vector<Chain>& chains = plan.chains;
  int deepest = 0;
  for (const Chain& chain : chains) deepest = std::max(deepest, chain.level);
  std::vector<bool> placed(chains.size(), false);
  for (int level = deepest; level >= 0; --level) {
    std::vector<int> ready;
    for (std::size_t i = 0; i < chains.size(); ++i) {
      const bool may = chains[i].level == level || (chains[i].level < level && chains[i].leaf);
      if (may && !placed[i]) ready.push_back(static_cast<int>(i));
    }
    std::stable_sort(ready.begin(), ready.end(), [&](int a, int b) {
      return chains[a].bodies.size() > chains[b].bodies.size();
    });
    for (std::size_t begin = 0; begin < ready.size(); begin += lanes) {
      const std::size_t end = std::min(ready.size(), begin + lanes);
      const std::vector<int> group(ready.begin() + begin, ready.begin() + end);
      if (std::none_of(group.begin(), group.end(),
                       [&](int i) { return chains[i].level == level; })) {
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

}  // namespace espalier
