#pragma once

#include "algorithms/segments/articulated/articulated_state.hpp"

namespace espalier {

/// The floating base in the articulated-body algorithm: its motion subspace is the identity, and
/// its acceleration the solution of one 6 x 6 system.

template <class T>
void forward_velocities(const FloatingBase& s, ArticulatedState<T>& state) {
  const T* v = state.motion.qd();
  WorldBody<T>& b = state.body[s.body];
  b.r = Vec3<T>::zero();
  const Vec3<T> omega{v[0], v[1], v[2]}, velocity{v[3], v[4], v[5]};
  b.motion = {omega, Vec3<T>::zero(),
              state.motion.joints.X[s.body].E * state.body[0].motion.a + cross(omega, velocity)};
  const Moments<T> moments{b.moments.m, Vec3<T>::from(b.moments.h), Sym3<T>::from(b.moments.Sigma)};
  b.pA = inertial_wrench(moments, b.motion.a, acceleration_matrix(omega, b.motion.alpha));
  b.inertia.start(moments);
}

template <class T>
void eliminate(const FloatingBase& s, ArticulatedState<T>& state, const T* tau) {
  WorldBody<T>& b = state.body[s.body];
  WorldRate<T>* rate = state.rate.data();
  ArticulatedInertia<T>& IA = b.inertia.open();
  IA.A.xx += rate[0].armature, IA.A.yy += rate[1].armature, IA.A.zz += rate[2].armature;
  IA.C.xx += rate[3].armature, IA.C.yy += rate[4].armature, IA.C.zz += rate[5].armature;
  for (int j = 0; j < 6; ++j) rate[j].u = tau[j] - b.pA[j];
}

template <class T>
void forward_accelerations(const FloatingBase& s, ArticulatedState<T>& state, T* vdot) {
  WorldBody<T>& b = state.body[s.body];
  const WorldRate<T>* rate = state.rate.data();
  b.da = free_acceleration<T>(
      b.inertia.open(), {{rate[0].u, rate[1].u, rate[2].u}, {rate[3].u, rate[4].u, rate[5].u}});
  for (int j = 0; j < 6; ++j) vdot[j] = b.da[j];
}

}  // namespace espalier
