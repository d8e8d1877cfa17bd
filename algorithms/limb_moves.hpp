#pragma once

#include <algorithm>
#include <vector>

#include "algorithms/limb_groups.hpp"

namespace espalier {

/// Bodies of a run that are in no limb, or a group of limbs, at their place on the way outward.
struct LimbMove {
  int group = -1;  ///< of limbs, or -1
  int run = 0, begin = 0, end = 0;
  int order = 0;  ///< twice the level of limb_plan.hpp, one more for limbs

  /// @param body  in no limb
  static LimbMove of(const Model& model, const LimbPlan& plan, int body) {
    const int run = model.body(body).run, begin = body - model.runs()[run].first;
    return {-1, run, begin, begin + 1, 2 * plan.level[body]};
  }
  /// Whether a body goes on where this ends.
  bool continued_by(const LimbMove& next) const {
    return group < 0 && run == next.run && end == next.begin && order == next.order;
  }
};

/// The way outward through a robot of limbs and other bodies, and where they meet.
struct LimbMoves {
  /// @param looked_at  further bodies of limbs that others want to know the motion of
  LimbMoves(const Model& model, const LimbPlan& plan, const LimbGroups& groups,
            const std::vector<int>& looked_at) {
    const int n = model.active_body_count();
    std::vector<bool> port(n + 1, false);
    for (const int body : looked_at) port[body] = plan.limb_of[body] >= 0;
    for (int i = 1; i <= n; ++i) {
      const int p = model.body(i).parent;
      if (plan.limb_of[i] < 0 && plan.limb_of[p] >= 0) port[p] = true;
    }
    for (std::size_t k = plan.limbs.size();
         k-- > 0;) {  // what hangs on a body has its attitude from it
      const Limb& limb = plan.limbs[k];
      const bool any = std::any_of(limb.bodies.begin(), limb.bodies.end(),
                                   [&](const LimbBody& b) { return port[b.body]; });
      if (any && plan.limb_of[limb.carrier] >= 0) port[limb.carrier] = true;
    }
    std::vector<bool> met(n + 1, false);
    for (const std::vector<int>& group : groups.groups) {
      std::vector<int>& of_group = carriers.emplace_back();
      ports.emplace_back();
      for (const int l : group) {
        const Limb& limb = plan.limbs[l];
        if (plan.limb_of[limb.carrier] < 0 && !met[limb.carrier]) {
          of_group.push_back(limb.carrier);
          met[limb.carrier] = true;
        }
        for (const LimbBody& b : limb.bodies) {
          if (!port[b.body]) continue;
          ports.back().push_back(b.body);
          all_ports.push_back(b.body);
        }
      }
    }
    for (int i = 1; i <= n; ++i) {
      if (plan.limb_of[i] >= 0) continue;
      const LimbMove move = LimbMove::of(model, plan, i);
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
                     [](const LimbMove& a, const LimbMove& b) { return a.order < b.order; });
  }

  std::vector<LimbMove> moves;
  std::vector<std::vector<int>> carriers;  ///< per group: in no limb, and not of a group before
  std::vector<std::vector<int>> ports;  ///< per group: bodies of limbs that others hang on or see
  std::vector<int> all_ports;
};

}  // namespace espalier
