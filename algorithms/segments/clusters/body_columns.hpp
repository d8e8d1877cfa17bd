#pragma once

#include "algorithms/linear_algebra/small_ldlt.hpp"
#include "algorithms/segments/clusters/cluster_state.hpp"

namespace espalier {

/// Mqq, Moq and r of a large cluster with one supporting body, by the columns of its bodies'
/// motion: J_b = shift(J_parent) + S_b G_b, and then for each body by itself
///   F = IA J_b,  Mqq += J_b^T F,  r -= J_b^T pA,  Moq += F shifted to the supporting body.
/// Nothing is propagated from body to body, so that the cost does not grow with their depth.
/// Source: theory/large-clusters C.2, method A.

/// J of all bodies, and where these are from the supporting body.
template <class T>
void place_columns(const Cluster& c, ClusterState<T>& state, int n) {
  const T* G = state.motion.G(c);
  for (int i = c.first; i < c.first + c.count; ++i) {
    const WorldBody<T>& b = state.body[i];
    const Body& body = state.model.body(i);
    Motion<T>* J = state.columns.data() + (i - c.first) * n;
    Vec3<T>& x = state.from_support[i - c.first];
    if (b.parent >= c.first) {
      const Motion<T>* P = state.columns.data() + (b.parent - c.first) * n;
      x = state.from_support[b.parent - c.first] + b.r;
      for (int j = 0; j < n; ++j) J[j] = {P[j].w, P[j].v + cross(P[j].w, b.r)};
    } else {
      x = b.r;
      for (int j = 0; j < n; ++j) J[j] = Motion<T>::zero();
    }
    for (int k = 0; k < body.nv; ++k) {
      const WorldRate<T>& rate = state.rate[body.v + k];
      const T* rho = G + (body.v + k - c.spanning_v) * n;
      if (rate.turns) {
        for (int j = 0; j < n; ++j) J[j].w += scale(rho[j], b.E.row[2]);
      } else {
        for (int j = 0; j < n; ++j) J[j] += scale(rho[j], rate.S);
      }
    }
  }
}

/// Folded rotors: k rho to Moq, and what their parent's turning has to do with their spin to Mqq.
template <class T>
void add_rotor_columns(const Cluster& c, ClusterState<T>& state, ClusterSystem<T> m) {
  for (int k = 0; k < c.rotors; ++k) {
    const Rotor& rotor = state.model.rotors()[c.rotor + k];
    const auto spin = state.spin(rotor);
    const T* rho = state.motion.G(c) + (c.spanning_nv + k) * m.n;
    add_square(T(rotor.inertia), rho, m.n, m.Mqq);
    for (int j = 0; j < m.n; ++j) {
      m.r[j] -= rho[j] * spin.tau;
      m.Moq[j].n += scale(rho[j], spin.k);
    }
    if (rotor.parent < c.first) continue;
    const Motion<T>* J = state.columns.data() + (rotor.parent - c.first) * m.n;
    for (int j = 0; j < m.n; ++j) {
      const T along = dot(J[j].w, spin.k);
      for (int l = 0; l <= j; ++l) {
        m.Mqq[j * m.n + l] += rho[j] * dot(J[l].w, spin.k) + along * rho[l];
      }
    }
  }
}

/// Mqq, Moq and r; Moo and po collect on the supporting body, unless that is the ground.
template <int fixed, class T>
void add_body_columns(const Cluster& c, ClusterState<T>& state, ClusterSystem<T> m) {
  if constexpr (fixed > 0) m.n = fixed;
  const int n = m.n;
  place_columns(c, state, n);
  add_rotor_columns(c, state, m);
  const bool grounded = c.supports[0] == 0;
  const T* G = state.motion.G(c);
  for (int i = c.first; i < c.first + c.count; ++i) {
    const WorldBody<T>& b = state.body[i];
    const Body& body = state.model.body(i);
    const Motion<T>* J = state.columns.data() + (i - c.first) * n;
    const Vec3<T>& x = state.from_support[i - c.first];
    for (int j = 0; j < n; ++j) {
      const Force<T> F = b.inertia.times(J[j]);
      for (int l = 0; l <= j; ++l) m.Mqq[j * n + l] += dot(J[l], F);
      m.r[j] -= dot(J[j], b.pA);
      if (!grounded) m.Moq[j] += Force<T>{F.n + cross(x, F.f), F.f};
    }
    for (int k = 0; k < body.nv; ++k) {
      const double armature = state.rate[body.v + k].armature;
      if (armature != 0.0) {
        add_square(T(armature), G + (body.v + k - c.spanning_v) * n, n, m.Mqq);
      }
    }
  }
  for (int i = c.first + c.count; !grounded && i-- > c.first;) {
    const WorldBody<T>& b = state.body[i];
    WorldBody<T>& p = state.body[b.parent];
    b.inertia.propagate_to(p.inertia, b.r);
    p.pA += Force<T>{b.pA.n + cross(b.r, b.pA.f), b.pA.f};
  }
}

}  // namespace espalier
