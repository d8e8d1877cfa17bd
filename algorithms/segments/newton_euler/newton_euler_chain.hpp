#pragma once

#include "algorithms/segments/newton_euler/rnea_state.hpp"

namespace espalier {

/// Serial chains in the Newton-Euler recursion: the exchange between bodies that are in no chain
/// and the boundary states of the chains, whose passes are in chains/sweeps.hpp.

template <class T>
void forward_motion(const ChainGroup& s, RneaState<T>& state, const T* vdot) {
  ChainSweeps<T>& chains = state.chains;
  for (const int i : chains.attachments().parents[s.group]) {
    const BodyMotion<T>& m = state.body[i].motion;
    BoundaryState<T>& boundary = chains.boundary(i);
    boundary.omega = m.omega, boundary.alpha = m.alpha, boundary.a = m.a;
    boundary.pA = Force<T>::zero();
  }
  chains.outward_motion(s.group, state.v, vdot);
  for (const int i : chains.attachments().bodies[s.group]) {
    const BoundaryState<T>& b = chains.boundary(i);
    state.body[i].motion = {{b.omega, b.alpha, b.a}, acceleration_matrix(b.omega, b.alpha)};
    state.body[i].f = Force<T>::zero();
  }
}

template <class T>
void collect_forces(const ChainGroup& s, RneaState<T>& state, T* tau) {
  ChainSweeps<T>& chains = state.chains;
  for (const int i : chains.attachments().bodies[s.group]) chains.boundary(i).pA += state.body[i].f;
  chains.inward_force(s.group, tau);
  for (const int i : chains.attachments().parents[s.group])
    state.body[i].f += chains.boundary(i).pA;
}

}  // namespace espalier
