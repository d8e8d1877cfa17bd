#include "algorithms/chains/attachments.hpp"

#include <algorithm>

namespace espalier {

ChainAttachments::ChainAttachments(const Model& model, const ChainPlan& plan,
                                   const ChainGroups& groups, const std::vector<int>& watched) {
  const int n = model.active_body_count();
  std::vector<bool> attachment(n + 1, false);
  for (const int body : watched) attachment[body] = plan.chain_of[body] >= 0;
  for (int i = 1; i <= n; ++i) {
    const int p = model.body(i).parent;
    if (!plan.passes(i) && plan.chain_of[p] >= 0) attachment[p] = true;
  }
  // A chain whose attitude others need takes its own from its parent.
  for (std::size_t k = plan.chains.size(); k-- > 0;) {
    const Chain& chain = plan.chains[k];
    const bool any = std::any_of(chain.bodies.begin(), chain.bodies.end(),
                                 [&](const ChainBody& b) { return attachment[b.body]; });
    if (any && plan.chain_of[chain.parent] >= 0) attachment[chain.parent] = true;
  }
  std::vector<bool> met(n + 1, false);
  for (const std::vector<int>& group : groups.groups) {
    std::vector<int>& of_group = parents.emplace_back();
    bodies.emplace_back();
    for (const int l : group) {
      const Chain& chain = plan.chains[l];
      const int p = chain.parent;
      if (p > 0 && plan.chain_of[p] < 0 && !met[p]) {
        of_group.push_back(p);
        met[p] = true;
      }
      for (const ChainBody& b : chain.bodies) {
        if (!attachment[b.body]) continue;
        bodies.back().push_back(b.body);
        all.push_back(b.body);
      }
    }
  }
}

}  // namespace espalier
