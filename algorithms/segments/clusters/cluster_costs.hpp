#pragma once

#include <optional>
#include <vector>

#include "algorithms/linear_algebra/front_plan.hpp"
#include "espalier/kernel/model/layout.hpp"

namespace espalier {

/// Multiplications that body columns take less than rate by rate (cluster_on_one.hpp), of all rates
/// of a cluster with one supporting body; theory/large-clusters C.2.
/// @param articulated  per body: whether other clusters hang on it
double saved_by_columns(const Model& m, const Cluster& c, const std::vector<bool>& articulated);

/// Per body of a model: whether a cluster that it is not in hangs on it.
std::vector<bool> supporting_bodies(const Model& m);

/// Rows of a cluster's spanning mass matrix H that meet: calls f(row, column) for each rate and
/// itself, those of its body before it, those of the bodies between it and the supporting body,
/// and, if that moves, the six components of its acceleration, numbers spanning_nv and on.
template <class F>
void for_each_inertia(const Model& m, const Cluster& c, F&& f) {
  for (int i = c.first + c.count; i-- > c.first;) {
    const Body& body = m.body(i);
    for (int k = 0; k < body.nv; ++k) {
      const int row = body.v + k - c.spanning_v;
      for (int l = 0; l <= k; ++l) f(row, row - l);
      for (int at = body.parent; at >= c.first; at = m.body(at).parent) {
        for (int l = 0; l < m.body(at).nv; ++l) f(row, m.body(at).v + l - c.spanning_v);
      }
      for (int l = 0; c.supports[0] != 0 && l < 6; ++l) f(row, c.spanning_nv + l);
    }
  }
}

/// Fronts (cluster_by_fronts.hpp) for a cluster with one supporting body, or nullopt where its
/// constraints are not eliminated in blocks, it drives rotors, or G takes fewer operations.
std::optional<FrontPlan> fronts_that_pay(const Model& m, const Cluster& c);

}  // namespace espalier
