#pragma once

#include <vector>

#include "espalier/kernel/model/model.hpp"

namespace espalier {

/// Multiplications that body columns take less than rate by rate (cluster_on_one.hpp), of all rates
/// of a cluster with one supporting body; theory/large-clusters C.2.
/// @param articulated  per body: whether other clusters hang on it
inline double saved_by_columns(const Model& m, const Cluster& c,
                               const std::vector<bool>& articulated) {
  std::vector<int> depth(c.count, 0);  // rates from the supporting body to each body
  double saved = 0.0;
  const double n = c.nv, square = n * (n + 1);
  for (int i = c.first; i < c.first + c.count; ++i) {
    const Body& body = m.body(i);
    const int between = body.parent >= c.first ? depth[body.parent - c.first] : 0;
    depth[i - c.first] = between + body.nv;
    const double columns =
        n * (39 + (articulated[i] ? 12 : 0) + (c.supports[0] != 0 ? 12 : 0)) + 3 * square;
    double rates = 0.0;
    for (int k = 0; k < body.nv; ++k) {
      rates += 12 + (articulated[i] ? 90 : 24) + 6 * n + square + (between + k) * (9 + n + n * n);
    }
    saved += rates - columns;
  }
  return saved;
}

/// Per body of a model: whether a cluster that it is not in hangs on it.
inline std::vector<bool> supporting_bodies(const Model& m) {
  std::vector<bool> out(m.body_count() + 1, false);
  for (const Cluster& c : m.clusters()) {
    for (const int o : c.supports) out[o] = true;
  }
  return out;
}

}  // namespace espalier
