#include "espalier/kernel/model/passive.hpp"

#include <algorithm>

#include "espalier/kernel/errors.hpp"

namespace espalier {

void passive_forces(const Model& model, const double* q, const double* v, double* tau) {
  std::fill(tau, tau + model.nv(), 0.0);
  for (const Cluster& cluster : model.clusters()) {
    for (int b = cluster.first; b < cluster.first + cluster.count; ++b) {
      const Joint& joint = model.joints()[model.body(b).joint];
      const PassiveDynamics& p = joint.passive;
      if (p.damping == 0.0 && p.friction == 0.0 && p.stiffness == 0.0) continue;
      if (cluster.implicit) {
        throw Unsupported("joint '" + joint.name +
                          "': passive forces are given inside the loop of cluster '" +
                          cluster.name + "', expected them on joints outside of loops");
      }
      for (int k = 0; k < joint.nv; ++k) {
        // Row of G: how this rate follows from the cluster's independent ones.
        const int row = joint.v + k - cluster.spanning_v;
        const auto G = [&](int j) {
          return cluster.G.empty() ? (j == row ? 1.0 : 0.0) : cluster.G[row * cluster.nv + j];
        };
        double rate = 0.0;
        for (int j = 0; j < cluster.nv; ++j) rate += G(j) * v[cluster.v + j];
        double force = -p.damping * rate - p.friction * ((rate > 0.0) - (rate < 0.0));
        if (joint.nq == 1) force -= p.stiffness * (q[joint.q] - p.rest);
        for (int j = 0; j < cluster.nv; ++j) tau[cluster.v + j] += G(j) * force;
      }
    }
  }
}

}  // namespace espalier
