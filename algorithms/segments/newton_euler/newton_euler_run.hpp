#pragma once

#include <type_traits>

#include "algorithms/segments/newton_euler/newton_euler_state.hpp"
#include "espalier/kernel/model/motion/subspace.hpp"

namespace espalier {

/// A run of plain bodies in the Newton-Euler recursion (Luh, Walker, Paul 1980; Featherstone 2008,
/// Table 5.1), at the accelerations of second_moments.hpp:
///   omega = E omega_p + S_w qd,  alpha = E alpha_p + E omega_p x S_w qd + S_w qdd + c_w,
///   a = E (a_p + Om_p r) + (omega + E omega_p) x S_v qd + S_v qdd + c_v,  Om = alpha x + omega
///   x^2.

/// A body on the ground, whose omega, alpha and Om are zero.
/// @param a   acceleration of the ground against gravity
/// @param E   to the body's axes: their product is formed here, since the place in memory by which
///            a caller would pass it were read before its parts have arrived there
/// @param at  first spanning rate of its joint
template <class Ops, bool accelerated, class T>
void move_on_ground(NewtonEulerBody<T>& b, const Mat3<T>& E, const Vec3<T>& a, int i, int at,
                    const NewtonEulerState<T>& state) {
  BodyMotion<T>& m = b.motion;
  const Motion<T>* S = state.joints->S.data() + at;
  Motion<T> vJ = Motion<T>::zero(), c = Motion<T>::zero();
  Ops::add(vJ, S, state.qd + at);
  if (accelerated && (!Ops::dense || state.qdd != nullptr)) Ops::add(c, S, state.qdd + at);
  if constexpr (Ops::dense) c += state.joints->bias[i];
  m.omega = vJ.w;
  m.alpha = c.w;
  m.a = E * a + cross(vJ.w, vJ.v) + c.v;
  m.Om = acceleration_matrix(m.omega, m.alpha);
  b.f = inertial_wrench(b.moments, m);
}

/// @tparam accelerated  whether spanning accelerations are not zero; dense joints, each of which
///                     would be compiled twice, look themselves
template <class Ops, bool accelerated, class T>
void move_bodies(const PlainRun& s, NewtonEulerState<T>& state) {
  for (int k = s.begin; k < s.end; ++k) {
    const int i = s.body(k), at = s.run->v + k * Ops::n;
    NewtonEulerBody<T>& b = state.body[i];
    const BodyMotion<T>& p = state.body[b.parent].motion;
    BodyMotion<T>& m = b.motion;
    const Transform<T>& X = state.joints->X[i];
    const T* qd = state.qd + at;
    if (b.parent == 0) {
      move_on_ground<Ops, accelerated>(b, X.E, p.a, i, at, state);
      continue;
    }

    const Vec3<T> omega_p = X.E * p.omega;
    m.alpha = X.E * p.alpha;
    m.a = X.E * (p.a + p.Om * X.r);
    if constexpr (std::is_same_v<Ops, SubspaceOps<RevoluteAxes>>) {
      m.omega = {omega_p.x, omega_p.y, omega_p.z + qd[0]};
      m.alpha.x += omega_p.y * qd[0];
      m.alpha.y -= omega_p.x * qd[0];
      if constexpr (accelerated) m.alpha.z += state.qdd[at];
    } else {
      const Motion<T>* S = state.joints->S.data() + at;
      Motion<T> vJ = Motion<T>::zero(), c = Motion<T>::zero();
      Ops::add(vJ, S, qd);
      if (accelerated && (!Ops::dense || state.qdd != nullptr)) Ops::add(c, S, state.qdd + at);
      if constexpr (Ops::dense) c += state.joints->bias[i];
      m.omega = omega_p + vJ.w;
      m.alpha += cross(omega_p, vJ.w) + c.w;
      m.a += cross(m.omega + omega_p, vJ.v) + c.v;
    }
    m.Om = acceleration_matrix(m.omega, m.alpha);
    b.f = inertial_wrench(b.moments, m);
  }
}

/// Pass 1: motion, and the wrench that each body needs for it.
/// (The accelerations of plain bodies are the spanning ones of the state.)
template <class T>
void forward_motion(const PlainRun& s, NewtonEulerState<T>& state, const T* /*vdot*/) {
  with_subspace(*s.run, [&](auto ops) {
    using Ops = decltype(ops);
    if constexpr (!Ops::dense) {
      if (state.qdd == nullptr) return move_bodies<Ops, false>(s, state);
    }
    move_bodies<Ops, true>(s, state);
  });
}

/// Pass 2: tau = S^T f on the spanning rates, and f to the parent.
template <class T>
void collect_forces(const PlainRun& s, NewtonEulerState<T>& state, T* tau) {
  if (!state.tau_spanning.empty()) tau = state.tau_spanning.data();
  with_subspace(*s.run, [&](auto ops) {
    using Ops = decltype(ops);
    for (int k = s.end; k-- > s.begin;) {
      const int i = s.body(k), at = s.run->v + k * Ops::n;
      const NewtonEulerBody<T>& b = state.body[i];
      Ops::project(b.f, state.joints->S.data() + at, tau + at);
      if (b.parent == 0) continue;
      state.body[b.parent].f += state.joints->X[i].transpose_times_force(b.f);
    }
  });
}

}  // namespace espalier
