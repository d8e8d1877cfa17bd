#pragma once

#include "algorithms/segments/articulated/articulated_state.hpp"

namespace espalier {

/// Serial chains in the articulated-body algorithm: the exchange between the state of world-frame
/// bodies and the boundary states of the chains, whose passes are in chains/sweeps.hpp.
/// Not inlined: ABA and C-ABA share the code.
/// Parents are the bodies that chains hang on; attachment bodies those of chains that carry others.

// What a chain on the ground that carries nothing does not run stands apart.

template <class T>
[[gnu::noinline]] void take_parents_motion(const ChainGroup& s, ArticulatedState<T>& state) {
  for (const int i : state.chains.attachments().parents[s.group]) {
    BoundaryState<T>& boundary = state.chains.boundary(i);
    const WorldBody<T>& b = state.body[i];
    boundary.omega = b.to_body(b.motion.omega);
    boundary.alpha = b.to_body(b.motion.alpha);
    boundary.a = b.to_body(b.motion.a);
    boundary.IA = ArticulatedInertia<T>::zero();
    boundary.pA = Force<T>::zero();
  }
}
template <class T>
[[gnu::noinline]] void show_motion(const ChainGroup& s, ArticulatedState<T>& state) {
  ChainSweeps<T>& chains = state.chains;
  for (const int i : chains.attachments().bodies[s.group]) {
    const BoundaryState<T>& boundary = chains.boundary(i);
    WorldBody<T>& b = state.body[i];
    if (!b.aligned) b.E = chains.attitude(i, state.body[chains.plan().parent(i)].E);
    b.motion = {b.to_world(boundary.omega), b.to_world(boundary.alpha), b.to_world(boundary.a)};
    b.inertia.start(Moments<T>::zero());
    b.pA = Force<T>::zero();
  }
}
template <class T>
[[gnu::noinline]] void forward_velocities(const ChainGroup& s, ArticulatedState<T>& state) {
  const bool meets_others = state.chains.meets_others(s.group);
  if (meets_others) take_parents_motion(s, state);
  state.chains.outward_motion(s.group, state.v, nullptr);
  if (meets_others) show_motion(s, state);
}

template <class T>
[[gnu::noinline]] void take_inertias(const ChainGroup& s, ArticulatedState<T>& state) {
  for (const int i : state.chains.attachments().bodies[s.group]) {
    BoundaryState<T>& boundary = state.chains.boundary(i);
    const WorldBody<T>& b = state.body[i];
    if (b.aligned) {
      boundary.IA += b.inertia.articulated(), boundary.pA += b.pA;
    } else {
      boundary.IA += congruence(b.E.transposed(), b.inertia.articulated());
      boundary.pA += Force<T>{b.E * b.pA.n, b.E * b.pA.f};
    }
  }
}
template <class T>
[[gnu::noinline]] void propagate_to_parents(const ChainGroup& s, ArticulatedState<T>& state) {
  for (const int i : state.chains.attachments().parents[s.group]) {
    const BoundaryState<T>& boundary = state.chains.boundary(i);
    WorldBody<T>& b = state.body[i];
    if (b.aligned) {
      b.inertia.add(boundary.IA), b.pA += boundary.pA;
    } else {
      b.inertia.add(congruence(b.E, boundary.IA));
      b.pA += Force<T>{transpose_times(b.E, boundary.pA.n), transpose_times(b.E, boundary.pA.f)};
    }
  }
}
template <class T>
[[gnu::noinline]] void eliminate(const ChainGroup& s, ArticulatedState<T>& state, const T* tau) {
  const bool meets_others = state.chains.meets_others(s.group);
  if (meets_others) take_inertias(s, state);
  state.chains.inward_inertia(s.group, tau);
  if (meets_others) propagate_to_parents(s, state);
}

template <class T>
[[gnu::noinline]] void take_parents_acceleration(const ChainGroup& s, ArticulatedState<T>& state) {
  for (const int i : state.chains.attachments().parents[s.group]) {
    const WorldBody<T>& b = state.body[i];
    state.chains.boundary(i).da = {b.to_body(b.da.w), b.to_body(b.da.v)};
  }
}
template <class T>
[[gnu::noinline]] void show_acceleration(const ChainGroup& s, ArticulatedState<T>& state) {
  for (const int i : state.chains.attachments().bodies[s.group]) {
    WorldBody<T>& b = state.body[i];
    const Motion<T>& da = state.chains.boundary(i).da;
    b.da = {b.to_world(da.w), b.to_world(da.v)};
  }
}
template <class T>
[[gnu::noinline]] void forward_accelerations(const ChainGroup& s, ArticulatedState<T>& state,
                                             T* vdot) {
  const bool meets_others = state.chains.meets_others(s.group);
  if (meets_others) take_parents_acceleration(s, state);
  state.chains.outward_acceleration(s.group, vdot);
  if (meets_others) show_acceleration(s, state);
}

}  // namespace espalier
