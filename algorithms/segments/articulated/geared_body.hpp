#pragma once

#include "algorithms/segments/articulated/plain_run.hpp"
#include "algorithms/segments/clusters/cluster_state.hpp"

namespace espalier {

/// A body with geared rotors in the articulated-body algorithm: a plain body whose D and U also
/// have the rotors' inertia and their axis momentum k on the parent (theory/clusters 5.4).

template <class T>
void forward_velocities(const GearedBody& s, ClusterState<T>& state) {
  forward_velocities(s.joint, static_cast<ArticulatedState<T>&>(state));
}

template <class T>
void eliminate(const GearedBody& s, ClusterState<T>& state, const T* tau) {
  WorldBody<T>& b = state.body[s.cluster->first];
  WorldBody<T>& p = state.body[b.parent];
  const Vec3<T> k = transpose_times(p.E, s.momentum);
  p.pA.n += cross(p.motion.omega, scale(state.v[s.cluster->v], k));
  const T force = tau[s.cluster->v] - dot(k, p.motion.alpha);
  with_subspace(*s.joint.run, [&](auto ops) {
    using Ops = decltype(ops);
    if constexpr (Ops::n == 1) {
      eliminate_rate<Ops>(b, state.rate[s.cluster->spanning_v],
                          static_cast<ArticulatedState<T>&>(state), force, s.inertia,
                          [&](Force<T>& U) { U.n += k; });
    }
  });
}

template <class T>
void forward_accelerations(const GearedBody& s, ClusterState<T>& state, T* vdot) {
  forward_accelerations(s.joint, static_cast<ArticulatedState<T>&>(state), vdot);
}

}  // namespace espalier
