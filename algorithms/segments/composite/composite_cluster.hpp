#pragma once

#include <algorithm>
#include <span>

#include "algorithms/segments/composite/composite_state.hpp"

namespace espalier {

/// Clusters in the composite-rigid-body algorithm; those on one body and on several differ in the
/// number of ways alone. Source: Featherstone (2008), Table 6.2; theory/clusters 5.4, of whose sums
/// only the part that inertia takes is needed here.
///
/// A unit acceleration of an independent rate of cluster c moves its bodies by the columns J_b (the
/// supporting bodies rest) and what hangs on them rigidly:
///   J_b = J_parent + S_b G_b,  M(c,c) = sum J_b^T Ic_b J_b,
///   F_o = sum of Ic_b J_b over the bodies that support o carries,
/// and M(c,d) = F_o^T J_a for every body a on the way from o to the ground, d the cluster of a.
/// A folded rotor of axis momentum k, inertia j and row rho of G adds k rho to F and
/// j rho^T rho to M(c,c).

/// J of a cluster's body: that of its parent and what its own joint adds.
template <class Ops, class T>
void place_columns(const Cluster& c, const CompositeBody<T>& b, CompositeState<T>& state) {
  const int n = c.nv;
  Motion<T>* J = state.J.data() + b.J;
  with_rates(b.moving, n, [&](auto moving) {
    if (b.parent == b.support) {
      moving.for_each([&](int j) { J[j] = Motion<T>::zero(); });
    } else {
      const Motion<T>* P = state.J.data() + state.body[b.parent].J;
      moving.for_each([&](int j) { J[j] = {P[j].w, P[j].v + cross(P[j].w, b.r)}; });
    }
    const T* rho = state.G(c) + (b.rate - c.spanning_v) * n;
    for (int k = 0; k < Ops::n; ++k, rho += n) {
      const Motion<T> S = b.template unit<Ops>(state.motion->joints.S.data() + b.rate, k);
      moving.for_each([&](int j) { J[j] += scale(rho[j], S); });
    }
  });
  if (b.column < 0) return;
  for (int j = 0; j < n; ++j) state.inward.store(b.column + j, J[j], b.x);
}
/// s rho^T rho to the lower triangle of the cluster's block.
template <class T>
void add_square(const Cluster& c, const CompositeState<T>& state, const T& s, const T* rho, T* M) {
  for (int j = 0; j < c.nv; ++j) {
    T* row = state.row(M, c.v + j) + c.v;
    const T t = s * rho[j];
    for (int l = 0; l <= j; ++l) row[l] += t * rho[l];
  }
}
/// A folded rotor's part of M(c,c) and F.
template <class T>
void add_rotor(const Cluster& c, CompositeState<T>& state, const Rotor& rotor, const T* rho, T* M) {
  const int n = c.nv;
  add_square(c, state, T(rotor.inertia), rho, M);
  const CompositeBody<T>& parent = state.body[rotor.parent];
  const Vec3<T> k = transpose_times(parent.E, rotor.momentum);
  const int first_way = state.body[c.first].way;
  int way = first_way;
  if (rotor.parent >= c.first) {
    way = parent.way;
    const Motion<T>* J = state.J.data() + parent.J;
    for (int j = 0; j < n; ++j) {
      T* row = state.row(M, c.v + j) + c.v;
      for (int l = 0; l <= j; ++l) row[l] += rho[j] * dot(J[l].w, k) + rho[l] * dot(J[j].w, k);
    }
  } else {
    while (state.ways[way].support != rotor.parent) ++way;
  }
  Force<T>* F = state.F.data() + (way - first_way) * n;
  for (int j = 0; j < n; ++j) F[j].n += scale(rho[j], k);
}

// --- the passes, for every kind of cluster
// --------------------------------------------------------

template <class T>
void place_cluster(const Cluster& c, CompositeState<T>& state) {
  for (int i = c.first; i < c.first + c.count; ++i) {
    CompositeBody<T>& b = state.body[i];
    state.place(b, state.motion->joints.X[i]);
    with_subspace(state.model.runs()[state.model.body(i).run],
                  [&](auto ops) { place_columns<decltype(ops)>(c, b, state); });
  }
}

template <class T>
void collect_cluster(const Cluster& c, CompositeState<T>& state, T* M) {
  const int n = c.nv, ways = state.ways_of(c), first_way = state.body[c.first].way;
  for (int j = 0; j < n; ++j) {
    T* row = state.row(M, c.v + j);
    std::fill(row, row + c.v + j + 1, T(0.0));
  }
  std::fill_n(state.F.begin(), ways * n, Force<T>::zero());
  const T* G = state.G(c);
  for (int i = c.first; i < c.first + c.count; ++i) {
    const CompositeBody<T>& b = state.body[i];
    const Motion<T>* J = state.J.data() + b.J;
    Force<T>* F = state.F.data() + (b.way - first_way) * n;
    with_rates(b.moving, n, [&](auto moving) {
      moving.for_each([&](int j) {
        const Force<T> U = b.Ic * J[j];
        T* row = state.row(M, c.v + j) + c.v;
        moving.for_each_up_to(j, [&](int l) { row[l] += dot(J[l], U); });
        F[j] += Force<T>{U.n + cross(b.x, U.f), U.f};
      });
    });
    for (int rate = b.rate; rate < b.rate + state.model.body(i).nv; ++rate) {
      if (state.armature[rate] == 0.0) continue;
      add_square(c, state, T(state.armature[rate]), G + (rate - c.spanning_v) * n, M);
    }
    state.propagate_to_support(b);
  }
  for (int r = 0; r < c.rotors; ++r) {
    add_rotor(c, state, state.model.rotors()[c.rotor + r], G + (c.spanning_nv + r) * n, M);
  }
  for (int w = 0; w < ways; ++w) {
    for (int j = 0; j < n; ++j) {
      state.inward.add_row(state.ways[first_way + w], state.F[w * n + j], c.v + j, M);
    }
  }
}

template <class T>
void mirror_cluster(const Cluster& c, const CompositeState<T>& state, T* M) {
  const std::span ways(state.ways.data() + state.body[c.first].way, state.ways_of(c));
  state.inward.mirror_rates(ways, c.v, c.nv, M);
}

template <class T>
void place(const ClusterOnOne& s, CompositeState<T>& state) {
  place_cluster(*s.cluster, state);
}
template <class T>
void place(const ClusterOnSeveral& s, CompositeState<T>& state) {
  place_cluster(*s.cluster, state);
}
template <class T>
void collect(const ClusterOnOne& s, CompositeState<T>& state, T* M) {
  collect_cluster(*s.cluster, state, M);
}
template <class T>
void collect(const ClusterOnSeveral& s, CompositeState<T>& state, T* M) {
  collect_cluster(*s.cluster, state, M);
}
template <class T>
void mirror(const ClusterOnOne& s, const CompositeState<T>& state, T* M) {
  mirror_cluster(*s.cluster, state, M);
}
template <class T>
void mirror(const ClusterOnSeveral& s, const CompositeState<T>& state, T* M) {
  mirror_cluster(*s.cluster, state, M);
}

}  // namespace espalier
