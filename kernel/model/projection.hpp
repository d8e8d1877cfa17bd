#pragma once

#include "espalier/kernel/model/model.hpp"

/// Between independent rates and the rates of all spanning joints, for models whose clusters have
/// constant couplings: qd = G v, tau = G^T tau_spanning (SPEC 5.1).

namespace espalier {

/// qd = G v, cluster by cluster.
template <class T>
void spanning_rates(const Model& model, const T* v, T* qd) {
  for (const Cluster& c : model.clusters()) {
    for (int i = 0; i < c.spanning_nv; ++i) {
      if (c.G.empty()) {
        qd[c.spanning_v + i] = v[c.v + i];
        continue;
      }
      T sum = T(0.0);
      for (int j = 0; j < c.nv; ++j) {
        const double g = c.G[i * c.nv + j];
        if (g != 0.0) sum += g * v[c.v + j];
      }
      qd[c.spanning_v + i] = sum;
    }
  }
}

/// tau = G^T tau_spanning, cluster by cluster.
template <class T>
void independent_forces(const Model& model, const T* tau_spanning, T* tau) {
  for (const Cluster& c : model.clusters()) {
    for (int j = 0; j < c.nv; ++j) {
      if (c.G.empty()) {
        tau[c.v + j] = tau_spanning[c.spanning_v + j];
        continue;
      }
      T sum = T(0.0);
      for (int i = 0; i < c.spanning_nv; ++i) {
        const double g = c.G[i * c.nv + j];
        if (g != 0.0) sum += g * tau_spanning[c.spanning_v + i];
      }
      tau[c.v + j] = sum;
    }
  }
}

}  // namespace espalier
