#pragma once

#include "algorithms/segments/articulated/plain_run.hpp"
#include "algorithms/segments/clusters/cluster_state.hpp"

namespace espalier {

/// A cluster with several supporting bodies in the articulated-body algorithm: plain dense algebra
/// on y = (da_o1, ..., da_on, ydd), see multi_support_cluster.hpp. Source: theory/clusters 5.4.

template <class T>
void forward_velocities(const ClusterOnSeveral& s, ClusterState<T>& state) {
  for (const PlainRun& bodies : s.bodies) {
    forward_velocities(bodies, static_cast<ArticulatedState<T>&>(state));
  }
}

/// What the joint of a body supplies to the equations of motion.
template <class T>
void add_supplied_dynamics(int i, const T* G, ClusterState<T>& state,
                           MultiSupportCluster<T>& multi_support) {
  const Body& body = state.model.body(i);
  const WorldBody<T>& p = state.body[body.parent];
  const T* g = state.motion.g();
  state.own.update(i, state.q, state.motion.qd(), p.E * p.motion.omega);
  state.own.turn(p.E);
  state.own.accelerate(p.motion.alpha, p.motion.a, g == nullptr ? nullptr : g + body.v);
  multi_support.add_equations(body, body.parent, state.own.M(), state.own.f(), G);
}

template <class T>
void eliminate(const ClusterOnSeveral& s, ClusterState<T>& state, const T* tau) {
  const Cluster& c = *s.cluster;
  MultiSupportCluster<T>& multi_support = state.multi_support[s.index];
  const T* G = c.constrained ? state.motion.G(c) : multi_support.identity();
  multi_support.start(tau);
  for (int k = 0; k < c.rotors; ++k) {
    state.spins[k] = state.spin(state.model.rotors()[c.rotor + k]);
  }
  for (int i = c.first; i < c.first + c.count; ++i) {
    const WorldBody<T>& b = state.body[i];
    const Body& body = state.model.body(i);
    const WorldRate<T>* rate = state.rate.data() + body.v;
    multi_support.add_body(
        i, b.parent, b.r, b.inertia.articulated(), b.pA, G, body,
        [&](int k) { return b.unit(rate[k]); }, [&](int k) { return rate[k].armature; });
    if (state.model.runs()[body.run].type->has_equations()) {
      add_supplied_dynamics(i, G, state, multi_support);
    }
  }
  for (int k = 0; k < c.rotors; ++k) {
    const auto& spin = state.spins[k];
    multi_support.add_rotor(state.model.rotors()[c.rotor + k], spin.k, spin.tau,
                            G + (c.spanning_nv + k) * c.nv);
  }
  multi_support.eliminate();
  for (std::size_t o = 0; o < c.supports.size(); ++o) {
    if (c.supports[o] == 0) continue;
    WorldBody<T>& body = state.body[c.supports[o]];
    multi_support.propagate_to_parent(static_cast<int>(o), body.inertia.open(), body.pA);
  }
}

template <class T>
void forward_accelerations(const ClusterOnSeveral& s, ClusterState<T>& state, T* vdot) {
  const Cluster& c = *s.cluster;
  MultiSupportCluster<T>& multi_support = state.multi_support[s.index];
  for (std::size_t o = 0; o < c.supports.size(); ++o) {
    multi_support.set_support(static_cast<int>(o), state.body[c.supports[o]].da);
  }
  multi_support.solve(vdot + c.v);
  for (int i = c.first; i < c.first + c.count; ++i)
    state.body[i].da = multi_support.acceleration(i);
}

}  // namespace espalier
