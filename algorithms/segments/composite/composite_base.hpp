#pragma once

#include <algorithm>

#include "algorithms/segments/composite/composite_state.hpp"

namespace espalier {

/// The floating base in the composite-rigid-body algorithm: its motion subspace is the identity, so
/// that its block of M is the composite inertia of the robot, and all wrenches are their entries.

template <class T>
void place(const FloatingBase& s, CompositeState<T>& state) {
  CompositeBody<T>& b = state.body[s.body];
  b.Ic = {T(b.inertia.m), Vec3<T>::from(b.inertia.h), Sym3<T>::from(b.inertia.I)};
}

template <class T>
void collect(const FloatingBase& s, CompositeState<T>& state, T* M) {
  const RigidInertia<T>& I = state.body[s.body].Ic;
  const Vec3<T>& h = I.h;
  const T zero = T(0.0);
  const T rows[6][6] = {
      {I.I.xx, I.I.xy, I.I.xz, zero, -h.z, h.y}, {I.I.xy, I.I.yy, I.I.yz, h.z, zero, -h.x},
      {I.I.xz, I.I.yz, I.I.zz, -h.y, h.x, zero}, {zero, h.z, -h.y, I.m, zero, zero},
      {-h.z, zero, h.x, zero, I.m, zero},        {h.y, -h.x, zero, zero, zero, I.m}};
  for (int k = 0; k < 6; ++k) {
    T* row = state.row(M, k);
    std::copy_n(rows[k], 6, row);
    row[k] += T(state.armature[k]);
  }
}

/// Both triangles are written before.
template <class T>
void mirror(const FloatingBase&, const CompositeState<T>&, T*) {}

}  // namespace espalier
