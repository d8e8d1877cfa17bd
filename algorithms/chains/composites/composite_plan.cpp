#include "algorithms/chains/composites/composite_plan.hpp"

#include <algorithm>

namespace espalier {
namespace {

/// Takes the joints of a body's cluster out of those that chains may have.
void keep_out(const Model& model, int body, ChainJoints& joints) {
  const Cluster& c = model.clusters()[model.body(body).cluster];
  for (int i = c.first; i < c.first + c.count; ++i) joints.turning[i] = false;
}

/// Takes out what supports a cluster with several supports, whose wrenches meet further in.
void keep_out_supports(const Model& model, ChainJoints& joints) {
  for (const Cluster& c : model.clusters()) {
    if (joints.turning[c.first]) continue;
    std::vector<int> on(c.supports.begin(), c.supports.end());
    for (int r = c.rotor; r < c.rotor + c.rotors; ++r) {
      if (model.rotors()[r].parent < c.first) on.push_back(model.rotors()[r].parent);
    }
    if (std::all_of(on.begin(), on.end(), [&](int o) { return o == on.front(); })) continue;
    for (int o : on) {
      for (; o != 0; o = model.body(o).parent) keep_out(model, o, joints);
    }
  }
}

}  // namespace

ChainPlan composite_chains_of(const Model& model) {
  /// Rates of a chain, and on it, at which both cost about the same in single calls.
  constexpr int longest = 20;
  ChainJoints joints = ChainJoints::of(model);
  keep_out_supports(model, joints);
  for (;;) {
    ChainPlan plan(model, joints, ChainPlan::Branches::end);
    std::vector<int> carried(plan.chains.size(), 0);
    for_passed_attachments(model, plan,
                           [&](int body, int nv) { carried[plan.chain_of[body]] += nv; });
    bool too_much = false;
    for (std::size_t l = 0; l < plan.chains.size(); ++l) {
      const std::vector<ChainBody>& bodies = plan.chains[l].bodies;
      if (static_cast<int>(bodies.size()) <= longest && carried[l] <= longest) continue;
      too_much = true;
      for (const ChainBody& b : bodies) keep_out(model, b.body, joints);
    }
    if (!too_much) return plan;
  }
}

}  // namespace espalier
