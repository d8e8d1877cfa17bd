#pragma once

#include "algorithms/segments/newton_euler/rnea_state.hpp"

namespace espalier {

/// Serial chains in the Newton-Euler recursion: the exchange between bodies that are in no chain
/// and the boundary states of the chains, whose passes are in chains/sweeps.hpp.

// What a chain on the ground that carries nothing does not run stands apart.

template <class T>
[[gnu::noinline]] void take_parents_motion(const ChainGroup& s, RneaState<T>& state) {
  for (const int i : state.chains.attachments().parents[s.group]) {
    const BodyMotion<T>& m = state.body[i].motion;
    BoundaryState<T>& boundary = state.chains.boundary(i);
    boundary.omega = m.omega, boundary.alpha = m.alpha, boundary.a = m.a;
    boundary.pA = Force<T>::zero();
  }
}
template <class T>
[[gnu::noinline]] void show_motion(const ChainGroup& s, RneaState<T>& state) {
  for (const int i : state.chains.attachments().bodies[s.group]) {
    const BoundaryState<T>& b = state.chains.boundary(i);
    state.body[i].motion = {{b.omega, b.alpha, b.a}, acceleration_matrix(b.omega, b.alpha)};
    state.body[i].f = Force<T>::zero();
  }
}
template <class T>
void forward_motion(const ChainGroup& s, RneaState<T>& state, const T* vdot) {
  const bool meets_others = state.chains.meets_others(s.group);
  if (meets_others) take_parents_motion(s, state);
  state.chains.outward_motion(s.group, state.v, vdot);
  if (meets_others) show_motion(s, state);
}

template <class T>
[[gnu::noinline]] void take_forces(const ChainGroup& s, RneaState<T>& state) {
  for (const int i : state.chains.attachments().bodies[s.group]) {
    state.chains.boundary(i).pA += state.body[i].f;
  }
}
template <class T>
[[gnu::noinline]] void propagate_to_parents(const ChainGroup& s, RneaState<T>& state) {
  for (const int i : state.chains.attachments().parents[s.group]) {
    state.body[i].f += state.chains.boundary(i).pA;
  }
}
template <class T>
void collect_forces(const ChainGroup& s, RneaState<T>& state, T* tau) {
  const bool meets_others = state.chains.meets_others(s.group);
  if (meets_others) take_forces(s, state);
  state.chains.inward_force(s.group, tau);
  if (meets_others) propagate_to_parents(s, state);
}

}  // namespace espalier
