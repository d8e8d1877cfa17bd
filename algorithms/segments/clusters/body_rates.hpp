#pragma once

#include <algorithm>

#include "algorithms/linear_algebra/small_ldlt.hpp"
#include "algorithms/segments/clusters/cluster_state.hpp"

/// Mqq, Moq and r of a cluster with one supporting body, rate by rate of its spanning tree; column
/// by column in body_columns.hpp.  Source: theory/clusters 5.4.

namespace espalier {

/// The row of G of a body's rate. That of an independent one is a unit row, whose products with
/// others take one entry of Mqq or one of its rows instead of all.
template <class T>
struct RateRow {
  const T* rho;
  int unit;  ///< where it is one; -1: anywhere, or not worth a look
};
/// With code of their own, few rates are multiplied faster than looked at.
template <int fixed, class T>
RateRow<T> row_of_rate(const Cluster& c, const ClusterState<T>& state, int rate, int n) {
  const T* rho = state.motion.G(c) + (rate - c.spanning_v) * n;
  return {rho, fixed == 0 || fixed > 3 ? state.unit[rate] : -1};
}
/// Mqq += s row^T row.
template <class T>
void add_square(const T& s, const RateRow<T>& row, ClusterSystem<T> m) {
  if (row.unit >= 0) {
    m.Mqq[row.unit * m.n + row.unit] += s;
  } else {
    add_square(s, row.rho, m.n, m.Mqq);
  }
}
/// Mqq += s (a^T b + b^T a), rows of two rates.
template <class T>
void add_product(const T& s, const RateRow<T>& a, const RateRow<T>& b, ClusterSystem<T> m) {
  if (a.unit >= 0 && b.unit >= 0) {
    m.Mqq[std::max(a.unit, b.unit) * m.n + std::min(a.unit, b.unit)] += s;
  } else if (a.unit >= 0 || b.unit >= 0) {
    const int unit = std::max(a.unit, b.unit);
    const T* other = a.unit >= 0 ? b.rho : a.rho;
    for (int l = 0; l <= unit; ++l) m.Mqq[unit * m.n + l] += s * other[l];
    for (int j = unit; j < m.n; ++j) m.Mqq[j * m.n + unit] += s * other[j];
  } else {
    add_product(s, a.rho, b.rho, m.n, m.Mqq);
  }
}

/// Carries the wrench F of a unit of the rates rho, seen from body `at`, to the supporting body:
/// on its way it meets the rates between, Mqq += S^T F, and what arrives is its part of Moq.
template <int fixed, class T>
ESPALIER_ALWAYS_INLINE void carry_inward(Force<T> F, int at, const RateRow<T>& row,
                                         const Cluster& c, ClusterState<T>& state,
                                         ClusterSystem<T> m) {
  while (at >= c.first) {
    const Body& body = state.model.body(at);
    const WorldBody<T>& b = state.body[at];
    for (int k = 0; k < body.nv; ++k) {
      const int rate = body.v + k;
      add_product(b.S_transpose_times(state.rate[rate], F), row_of_rate<fixed>(c, state, rate, m.n),
                  row, m);
    }
    F.n += cross(b.r, F.f);
    at = b.parent;
  }
  if (at == 0) return;  // nothing asks how the ground would move
  if (row.unit >= 0) {
    m.Moq[row.unit] += F;
    return;
  }
  for_each_below<fixed>(m.n, [&](int j) ESPALIER_INLINED { m.Moq[j] += scale(row.rho[j], F); });
}
template <int fixed, class T>
ESPALIER_ALWAYS_INLINE void add_rotors(const Cluster& c, ClusterState<T>& state,
                                       ClusterSystem<T> m) {
  for (int k = 0; k < c.rotors; ++k) {
    const Rotor& rotor = state.model.rotors()[c.rotor + k];
    const auto spin = state.spin(rotor);
    const T* rho = state.motion.G(c) + (c.spanning_nv + k) * m.n;
    add_square(T(rotor.inertia), rho, m.n, m.Mqq);
    for (int j = 0; j < m.n; ++j) m.r[j] -= rho[j] * spin.tau;
    if (rotor.parent >= c.first) {
      carry_inward<fixed>({spin.k, Vec3<T>::zero()}, rotor.parent, RateRow<T>{rho, -1}, c, state,
                          m);
    } else {
      for (int j = 0; j < m.n; ++j) m.Moq[j].n += scale(rho[j], spin.k);
    }
  }
}
/// Rate by rate of the spanning tree, as composite bodies: with F what a unit of a rate takes of
/// all that hangs on it inside, Mqq = G^T M G, M_kl = S_l^T F_k, and Moq = F G. So bodies are
/// multiplied by one unit motion, however many independent rates there are.
template <int fixed, class T>
ESPALIER_ALWAYS_INLINE void add_bodies(const Cluster& c, ClusterState<T>& state,
                                       ClusterSystem<T> m) {
  for (int i = c.first + c.count; i-- > c.first;) {
    const WorldBody<T>& b = state.body[i];
    const Body& body = state.model.body(i);
    for (int k = 0; k < body.nv; ++k) {
      const WorldRate<T>& rate = state.rate[body.v + k];
      const RateRow<T> row = row_of_rate<fixed>(c, state, body.v + k, m.n);
      const Force<T> F = b.times(rate);
      add_square(b.S_transpose_times(rate, F) + rate.armature, row, m);
      for (int l = 0; l < k; ++l) {
        add_product(b.S_transpose_times(state.rate[body.v + l], F),
                    row_of_rate<fixed>(c, state, body.v + l, m.n), row, m);
      }
      const T force = b.S_transpose_times(rate, b.pA);
      if (row.unit >= 0) {
        m.r[row.unit] -= force;
      } else {
        for (int j = 0; j < m.n; ++j) m.r[j] -= row.rho[j] * force;
      }
      carry_inward<fixed>({F.n + cross(b.r, F.f), F.f}, b.parent, row, c, state, m);
    }
    if (b.parent == 0) continue;
    WorldBody<T>& p = state.body[b.parent];  // Moo and po collect on the supporting body
    b.inertia.propagate_to(p.inertia, b.r);
    p.pA += Force<T>{b.pA.n + cross(b.r, b.pA.f), b.pA.f};
  }
}

}  // namespace espalier
