#pragma once

#include "algorithms/derivatives/variation/variation_state.hpp"

/// Entries of G of a cluster and of its variations V, W and P (13.2), by spanning rate and column;
/// rho of a rotor is G at its rate.

namespace espalier::variation {

template <class T>
T G(const VariationState<T>& s, const Cluster& c, int rate, int k) {
  if (!c.constrained) return T(rate - c.spanning_v == k ? 1.0 : 0.0);
  return s.motion.G(c)[c.row(rate) * c.nv + k];
}
template <class T>
T V(const VariationState<T>& s, const Cluster& c, int rate, int k) {
  return s.motion.varies(c) ? s.motion.V(c)[c.row(rate) * c.nv + k] : T(0.0);
}
template <class T>
T W(const VariationState<T>& s, const Cluster& c, int rate, int k) {
  return s.motion.varies(c) ? s.motion.W(c)[c.row(rate) * c.nv + k] : T(0.0);
}
template <class T>
T P(const VariationState<T>& s, const Cluster& c, int rate, int k) {
  return s.motion.varies(c) ? s.motion.P(c)[c.row(rate) * c.nv + k] : T(0.0);
}
/// The body outside cluster c that carries body i, which may be outside itself.
template <class T>
int outside(const VariationState<T>& s, const Cluster& c, int i) {
  return i >= c.first ? s.support(i) : i;
}
/// sum over spanning rates of G_j armature x(rate).
template <class T, class F>
T armature_product(const VariationState<T>& s, const Cluster& c, int j, F&& x) {
  T sum = T(0.0);
  for (int rate = c.spanning_v; rate < c.spanning_v + c.spanning_nv; ++rate) {
    const double a = s.armature(rate);
    if (a != 0.0) sum += a * (G(s, c, rate, j) * x(rate));
  }
  return sum;
}

}  // namespace espalier::variation
