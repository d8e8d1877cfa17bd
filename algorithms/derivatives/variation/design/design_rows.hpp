#pragma once

#include "algorithms/derivatives/variation/adjoint_sweep.hpp"

/// What an adjoint sweep says of a robot's numbers. Source: theory/derivatives 17 and 18.

namespace espalier {

/// Derivatives of lambda^T tau by m, h and J of a body, its frame (17.1).
template <class T>
void inertial_rows(const VariationState<T>& state, const AdjointSweep<T>& sweep, int i, T* out) {
  const auto& b = state.body[i];
  const Motion<T> s = b.X * sweep.twist(i), v = b.X * b.v, a = b.X * b.a;
  const Vec3<T> d = a.v + cross(v.w, v.v);
  out[0] = dot(s.v, d);
  const Vec3<T> h = cross(d, s.w) + cross(s.v, a.w) + cross(cross(s.v, v.w), v.w);
  for (int k = 0; k < 3; ++k) out[1 + k] = h[k];
  const Vec3<T> sw = cross(s.w, v.w);
  const auto add = [&](const Vec3<T>& x, const Vec3<T>& y) {
    for (int k = 0; k < 3; ++k) out[4 + k] += x[k] * y[k];
    out[7] += x.x * y.y + x.y * y.x;
    out[8] += x.x * y.z + x.z * y.x;
    out[9] += x.y * y.z + x.z * y.y;
  };
  for (int k = 4; k < 10; ++k) out[k] = T(0.0);
  add(s.w, a.w), add(sw, v.w);
}

/// Those by the placement of its joint: a locked virtual joint in front of it.
template <class T>
void placement_rows(const VariationState<T>& state, const AdjointSweep<T>& sweep, int i, T* out) {
  const Body& b = state.model().body(i);
  const auto& parent = state.body[b.parent];
  // The parent's pose in the common frame; of a floating root's ground the root's own.
  const Transform<T> on = b.parent == 0 ? state.common(i).inverse() : parent.X;
  const Transform<T> X = b.placement * on;
  const Motion<T> v = b.parent == 0 ? Motion<T>::zero() : parent.v;
  const Motion<T> a = b.parent == 0 ? state.ground(i) : parent.a;
  for (int k = 0; k < 6; ++k) {
    Motion<T> unit = Motion<T>::zero();
    unit[k] = T(1.0);
    out[k] = sweep.along(state, i, X.inverse_times(unit), v, a);
  }
}

}  // namespace espalier
