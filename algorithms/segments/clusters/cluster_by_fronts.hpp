#pragma once

#include "algorithms/linear_algebra/fronts.hpp"
#include "algorithms/segments/articulated/plain_run.hpp"
#include "algorithms/segments/clusters/cluster_state.hpp"

namespace espalier {

/// A cluster with one supporting body o and many independent rates in the articulated-body
/// algorithm: what cluster_on_one.hpp computes with G, without it. Its spanning rates x (beyond g)
/// and da_o obey
///   H x + Mo da_o = tau - h + K^T lam,  K x = 0
/// with H, Mo and h = S^T pA of the spanning tree by composite bodies; tau acts on the independent
/// rates. Fronts eliminate x: what is left for da_o is what Ia and pa have beside Moo and po.
/// Source: theory/large-clusters C.3.

/// The order of numbers is that of for_each_inertia(); inertia and bias collect on the supporting
/// body.
template <class T>
void compose_spanning_inertia(const Cluster& c, ClusterState<T>& state, Fronts<T>& fronts) {
  const bool moving = c.supports[0] != 0;
  const T* g = state.motion.g();
  T *H = fronts.H(), *r = fronts.r() - c.spanning_v;
  for (int i = c.first + c.count; i-- > c.first;) {
    const WorldBody<T>& b = state.body[i];
    const Body& body = state.model.body(i);
    for (int k = 0; k < body.nv; ++k) {
      const int at = body.v + k;
      const WorldRate<T>& rate = state.rate[at];
      Force<T> F = b.times(rate);
      *H++ = b.S_transpose_times(rate, F) + rate.armature;
      for (int l = 1; l <= k; ++l) *H++ = b.S_transpose_times(state.rate[at - l], F);
      r[at] -= b.S_transpose_times(rate, b.pA);
      if (rate.armature != 0.0 && g != nullptr) r[at] -= rate.armature * g[at];
      const Vec3<T>* r_on = &b.r;
      for (int on = b.parent; on >= c.first; on = state.body[on].parent) {
        const WorldBody<T>& p = state.body[on];
        const Body& parent = state.model.body(on);
        F.n += cross(*r_on, F.f);
        for (int l = 0; l < parent.nv; ++l) {
          *H++ = p.S_transpose_times(state.rate[parent.v + l], F);
        }
        r_on = &p.r;
      }
      if (moving) F.n += cross(*r_on, F.f);
      for (int l = 0; moving && l < 6; ++l) *H++ = F[l];
    }
    if (b.parent == 0) continue;
    WorldBody<T>& p = state.body[b.parent];
    b.inertia.propagate_to(p.inertia, b.r);
    p.pA += Force<T>{b.pA.n + cross(b.r, b.pA.f), b.pA.f};
  }
}

/// What is left for da_o.
template <class T>
void add_left(const Fronts<T>& fronts, WorldBody<T>& o) {
  const auto left = [&](int i, int j) { return fronts.left(std::min(i, j), std::max(i, j)); };
  const auto square = [&](int at) {
    return Sym3<T>{left(at, at),         left(at, at + 1),     left(at, at + 2),
                   left(at + 1, at + 1), left(at + 1, at + 2), left(at + 2, at + 2)};
  };
  ArticulatedInertia<T>& IA = o.inertia.open();
  IA.A += square(0);
  IA.C += square(3);
  for (int i = 0; i < 3; ++i) IA.B.row[i] += Vec3<T>{left(i, 3), left(i, 4), left(i, 5)};
  const auto& r = fronts;
  o.pA -= Force<T>{{r.left(0), r.left(1), r.left(2)}, {r.left(3), r.left(4), r.left(5)}};
}

// --- the three passes
// -----------------------------------------------------------------------------

template <class T>
void forward_velocities(const ClusterByFronts& s, ClusterState<T>& state) {
  for (const PlainRun& bodies : s.bodies) {
    forward_velocities(bodies, static_cast<ArticulatedState<T>&>(state));
  }
}
template <class T>
void eliminate(const ClusterByFronts& s, ClusterState<T>& state, const T* tau) {
  const Cluster& c = *s.cluster;
  Fronts<T>& fronts = state.fronts[s.index];
  std::fill(fronts.r(), fronts.r() + c.spanning_nv, T(0.0));
  for (int j = 0; j < c.nv; ++j) fronts.r()[c.constraint->independent[j]] = tau[c.v + j];
  compose_spanning_inertia(c, state, fronts);
  fronts.factor(state.motion.constraint_work(c));
  if (c.supports[0] != 0) add_left(fronts, state.body[c.supports[0]]);
}
template <class T>
void forward_accelerations(const ClusterByFronts& s, ClusterState<T>& state, T* vdot) {
  const Cluster& c = *s.cluster;
  T* x = state.rates.data();
  for (int i = 0; i < 6 && c.supports[0] != 0; ++i) {
    x[c.spanning_nv + i] = state.body[c.supports[0]].da[i];
  }
  state.fronts[s.index].solve(x);
  for (int j = 0; j < c.nv; ++j) vdot[c.v + j] = x[c.constraint->independent[j]];
  for (int i = c.first; i < c.first + c.count; ++i) {
    const Body& body = state.model.body(i);
    WorldBody<T>& b = state.body[i];
    if (!b.followed) continue;
    const Motion<T>& p = state.body[b.parent].da;
    b.da = {p.w, p.v + cross(p.w, b.r)};
    for (int k = 0; k < body.nv; ++k) {
      b.da += scale(x[body.v + k - c.spanning_v], b.unit(state.rate[body.v + k]));
    }
  }
}

}  // namespace espalier
