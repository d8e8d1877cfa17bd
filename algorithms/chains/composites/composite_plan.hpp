#pragma once

#include <vector>

#include "algorithms/chains/plan.hpp"

namespace espalier {

/// Calls f(body, rates) for every attachment body that the wrenches of a cluster pass, with the
/// cluster's number of rates.
template <class F>
void for_passed_attachments(const Model& model, const ChainPlan& plan, F&& f) {
  for (const Cluster& c : model.clusters()) {
    for (int i = model.body(c.first).parent, chain = plan.chain_of[c.first]; i != 0;) {
      const int met = plan.chain_of[i];
      if (met >= 0 && met != chain) f(i, c.nv);
      chain = met;
      i = model.body(met >= 0 ? i : model.clusters()[model.body(i).cluster].first).parent;
    }
  }
}

/// The chains of a model for composite inertias: they end where they branch, so that as many as
/// possible are side by side. Left out are supports of clusters with several, and chains so long,
/// or with so many rates on them, that passing each wrench from body to body costs more than taking
/// it to the world's axes.
ChainPlan composite_chains_of(const Model& model);

}  // namespace espalier
