#pragma once

#include <algorithm>
#include <type_traits>

#include "algorithms/linear_algebra/small_ldlt.hpp"
#include "algorithms/segments/articulated/plain_run.hpp"
#include "algorithms/segments/clusters/body_columns.hpp"
#include "algorithms/segments/clusters/body_rates.hpp"

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
  std::copy_n(r, n, ydd);
  if (c.supports[0] != 0) {
    for (int j = 0; j < n; ++j) ydd[j] -= dot(da_o, state.Moq[c.v + j]);
  }
  ldlt_solve<fixed>(Mqq, n, ydd);
  const T* G = state.motion.G(c);
  for (int i = c.first; i < c.first + c.count; ++i) {
    const Body& body = state.model.body(i);
    WorldBody<T>& b = state.body[i];
    if (!b.followed) continue;
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

// --- the three passes ---------------------------------------------------------------------------

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
