#pragma once

#include <algorithm>
#include <vector>

#include "algorithms/chains/groups.hpp"

namespace espalier {

/// Bodies of a run that are in no chain, or a group of chains, at their place on the way outward.
struct ChainMove {
  int group = -1;  ///< of chains, or -1
  int run = 0, begin = 0, end = 0;
  int order = 0;  ///< twice the level of chains/plan.hpp, one more for chains

  /// @param body  in no chain
  static ChainMove of(const Model& model, const ChainPlan& plan, int body) {
    const int run = model.body(body).run, begin = body - model.runs()[run].first;
    return {-1, run, begin, begin + 1, 2 * plan.level[body]};
  }
  /// Whether a body goes on where this ends.
  bool continued_by(const ChainMove& next) const {
    return group < 0 && run == next.run && end == next.begin && order == next.order;
  }
};

/// The way outward through a robot of chains and other bodies, and where they meet.
struct ChainMoves {
  /// @param looked_at  further bodies of chains that others want to know the motion of
  ChainMoves(const Model& model, const ChainPlan& plan, const ChainGroups& groups,
            const std::vector<int>& looked_at) {
    const int n = model.active_body_count();
    std::vector<bool> attachment(n + 1, false);
    for (const int body : looked_at) attachment[body] = plan.chain_of[body] >= 0;
    for (int i = 1; i <= n; ++i) {
      const int p = model.body(i).parent;
      if (plan.chain_of[i] < 0 && plan.chain_of[p] >= 0) attachment[p] = true;
    }
    for (std::size_t k = plan.chains.size();
         k-- > 0;) {  // what hangs on a body has its attitude from it
      const Chain& chain = plan.chains[k];
      const bool any = std::any_of(chain.bodies.begin(), chain.bodies.end(),
                                   [&](const ChainBody& b) { return attachment[b.body]; });
      if (any && plan.chain_of[chain.parent] >= 0) attachment[chain.parent] = true;
    }
    std::vector<bool> met(n + 1, false);
    for (const std::vector<int>& group : groups.groups) {
      std::vector<int>& of_group = parents.emplace_back();
      attachments.emplace_back();
      for (const int l : group) {
        const Chain& chain = plan.chains[l];
        if (plan.chain_of[chain.parent] < 0 && !met[chain.parent]) {
          of_group.push_back(chain.parent);
          met[chain.parent] = true;
        }
        for (const ChainBody& b : chain.bodies) {
          if (!attachment[b.body]) continue;
          attachments.back().push_back(b.body);
          all_attachments.push_back(b.body);
        }
      }
    }
    for (int i = 1; i <= n; ++i) {
      if (plan.chain_of[i] >= 0) continue;
      const ChainMove move = ChainMove::of(model, plan, i);
      if (!moves.empty() && moves.back().continued_by(move)) {
        ++moves.back().end;
      } else {
        moves.push_back(move);
      }
    }
    for (std::size_t g = 0; g < groups.groups.size(); ++g) {
      moves.push_back({static_cast<int>(g), 0, 0, 0, 2 * groups.levels[g] + 1});
    }
    std::stable_sort(moves.begin(), moves.end(),
                     [](const ChainMove& a, const ChainMove& b) { return a.order < b.order; });
  }

  std::vector<ChainMove> moves;
  std::vector<std::vector<int>> parents;  ///< per group: in no chain, and not of a group before
  std::vector<std::vector<int>> attachments;  ///< per group: bodies of chains that others hang on or see
  std::vector<int> all_attachments;
};

}  // namespace espalier
