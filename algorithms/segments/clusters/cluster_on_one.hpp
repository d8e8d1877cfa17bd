#pragma once

#include <algorithm>
#include <type_traits>

#include "algorithms/linear_algebra/small_ldlt.hpp"
#include "algorithms/segments/articulated/plain_run.hpp"
#include "algorithms/segments/clusters/body_columns.hpp"
#include "algorithms/segments/clusters/cluster_state.hpp"

namespace espalier {

/// A cluster with one supporting body o in the articulated-body algorithm.
/// Source: Chignoli et al. (2023), Algorithm 1; theory/clusters 5.4 (fused, folded rotors) and
/// theory/template 2, instance C.
///
/// Its bodies accelerate by da_b = Xo_b da_o + J_b ydd with J_b = J_parent + S_b G_b, so that
///   Mqq = sum J^T IA J,  Moq = sum Xo^T IA J,  Moo = sum Xo^T IA Xo      (X are shifts only)
///   Ia = Moo - Moq Mqq^-1 Moq^T,  pa = po + Moq Mqq^-1 r,  r = tau - sum J^T pA.
/// A folded rotor with axis momentum k, inertia J and row rho of G adds k rho to Moq and
/// J rho^T rho to Mqq.

/// What is known of a cluster of few rates is at hand until it is stored: in registers up to three.
template <class T, int fixed>
struct ClusterNumbers {
  T Mqq[fixed * fixed], r[fixed], x[fixed];
  Force<T> Moq[fixed], w[fixed];
};

/// Code of its own for clusters of 1, 2 and 3 independent rates, and for platforms on six legs;
/// 0 stands for any number.
template <class F>
void with_rate_count(int nv, F&& f) {
  switch (nv) {
    case 1:
      return f(std::integral_constant<int, 1>{});
    case 2:
      return f(std::integral_constant<int, 2>{});
    case 3:
      return f(std::integral_constant<int, 3>{});
    case 6:
      return f(std::integral_constant<int, 6>{});
    default:
      return f(std::integral_constant<int, 0>{});
  }
}

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
/// Moq Mqq^-1 Moq^T as a sum of w_j w_j^T / d_j with w = L^-1 Moq.
template <int fixed, class T>
ESPALIER_ALWAYS_INLINE void subtract_from(WorldBody<T>& o, ClusterSystem<T> m, Force<T>* w, T* x) {
  ArticulatedInertia<T>& IA = o.inertia.open();
  for_each_below<fixed>(m.n, [&](int j) ESPALIER_INLINED {
    w[j] = m.Moq[j];
    x[j] = m.r[j];
    for (int l = 0; l < j; ++l) {
      w[j] -= scale(m.Mqq[j * m.n + l], w[l]);
      x[j] -= m.Mqq[j * m.n + l] * x[l];
    }
    IA.subtract_outer(m.Mqq[j * m.n + j], w[j]);
    o.pA += scale(m.Mqq[j * m.n + j] * x[j], w[j]);
  });
}

template <int fixed, class T>
void eliminate(const ClusterOnOne& s, ClusterState<T>& state, const T* tau) {
  const Cluster& c = *s.cluster;
  const int n = fixed > 0 ? fixed : c.nv;
  ClusterNumbers<T, std::max(fixed, 1)> here;
  const ClusterSystem<T> stored{n, state.workspace.data() + s.workspace,
                                state.workspace.data() + s.workspace + n * n,
                                state.Moq.data() + c.v};
  const ClusterSystem<T> m = fixed > 0 ? ClusterSystem<T>{n, here.Mqq, here.r, here.Moq} : stored;
  for (int j = 0; j < n; ++j) {
    m.r[j] = tau[c.v + j];
    m.Moq[j] = Force<T>::zero();
    for (int l = 0; l <= j; ++l) m.Mqq[j * n + l] = T(0.0);
  }
  if (s.by_columns) {
    add_body_columns<fixed>(c, state, m);
  } else {
    add_rotors<fixed>(c, state, m);
    add_bodies<fixed>(c, state, m);
  }
  ldlt<fixed>(m.Mqq, n);
  if constexpr (fixed > 0) {
    for (int j = 0; j < n; ++j) {
      for (int l = 0; l <= j; ++l) stored.Mqq[j * n + l] = m.Mqq[j * n + l];
      stored.r[j] = m.r[j];
      stored.Moq[j] = m.Moq[j];
    }
  }
  if (c.supports[0] == 0) return;
  WorldBody<T>& o = state.body[c.supports[0]];
  subtract_from<fixed>(o, m, fixed > 0 ? here.w : state.w.data(),
                       fixed > 0 ? here.x : state.x.data());
}

/// ydd = Mqq^-1 (r - Moq^T da_o), and the accelerations of the bodies that others ask for.
template <int fixed, class T>
void forward_accelerations(const ClusterOnOne& s, ClusterState<T>& state, T* vdot) {
  const Cluster& c = *s.cluster;
  const int n = fixed > 0 ? fixed : c.nv;
  const T* Mqq = state.workspace.data() + s.workspace;
  const T* r = Mqq + n * n;
  const Motion<T>& da_o = state.body[c.supports[0]].da;
  T* ydd = vdot + c.v;
  for (int j = 0; j < n; ++j) ydd[j] = r[j] - dot(da_o, state.Moq[c.v + j]);
  ldlt_solve<fixed>(Mqq, n, ydd);
  const T* G = state.motion.G(c);
  for (int i = c.first; i < c.first + c.count; ++i) {
    const Body& body = state.model.body(i);
    WorldBody<T>& b = state.body[i];
    if (!b.seen) continue;
    const Motion<T>& p = state.body[b.parent].da;
    b.da = {p.w, p.v + cross(p.w, b.r)};
    for (int k = 0; k < body.nv; ++k) {
      const T* rho = G + (body.v + k - c.spanning_v) * n;
      T qdd = rho[0] * ydd[0];
      for (int j = 1; j < n; ++j) qdd += rho[j] * ydd[j];
      b.da += scale(qdd, b.unit(state.rate[body.v + k]));
    }
  }
}

// --- the three passes
// -----------------------------------------------------------------------------

template <class T>
void forward_velocities(const ClusterOnOne& s, ClusterState<T>& state) {
  for (const PlainRun& bodies : s.bodies) {
    forward_velocities(bodies, static_cast<ArticulatedState<T>&>(state));
  }
}
template <class T>
void eliminate(const ClusterOnOne& s, ClusterState<T>& state, const T* tau) {
  with_rate_count(s.cluster->nv, [&](auto n) { eliminate<n()>(s, state, tau); });
}
template <class T>
void forward_accelerations(const ClusterOnOne& s, ClusterState<T>& state, T* vdot) {
  with_rate_count(s.cluster->nv, [&](auto n) { forward_accelerations<n()>(s, state, vdot); });
}

}  // namespace espalier
