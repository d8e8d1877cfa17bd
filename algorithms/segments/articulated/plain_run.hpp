#pragma once

#include "algorithms/segments/articulated/articulated_state.hpp"

namespace espalier {

/// A run of plain bodies in the articulated-body algorithm (Featherstone 2008, Table 7.1).

/// Pass 1: E, r, S, the motion at vdot = 0, the wrench that it needs, and the rigid inertia.
/// @tparam accelerated  whether spanning accelerations g are not zero; dense ones look themselves
template <class Ops, bool accelerated, class T>
void forward_velocities(const PlainRun& s, ArticulatedState<T>& state) {
  const T *v = state.motion.qd(), *g = state.motion.g();
  for (int k = s.begin; k < s.end; ++k) {
    const int i = s.body(k), at = s.run->v + k * Ops::n;
    WorldBody<T>& b = state.body[i];
    const WorldBody<T>& p = state.body[b.parent];
    if (b.turned) {
      b.place(p, state.model.body(i).placement, state.chains.sine(i), state.chains.cosine(i));
    } else {
      const Transform<T>& X = state.motion.joints.X[i];
      b.E = X.E * p.E;
      b.r = transpose_times(p.E, X.r);
    }
    FrameMotion<T> m;
    if constexpr (std::is_same_v<Ops, SubspaceOps<RevoluteAxes>>) {
      const Vec3<T>& z = b.E.row[2];
      m = next_motion(p.motion, b.r, scale(v[at], z),
                      accelerated ? scale(g[at], z) : Vec3<T>::zero());
    } else {
      Motion<T> vJ = Motion<T>::zero(), c = Motion<T>::zero();
      WorldRate<T>* rate = state.rate.data() + at;
      if constexpr (std::is_same_v<Ops, SubspaceOps<PrismaticAxes>>) {
        rate->S = {Vec3<T>::zero(), b.E.row[2]};
        vJ.v = scale(v[at], b.E.row[2]);
        if constexpr (accelerated) c.v = scale(g[at], b.E.row[2]);
      } else {
        for (int j = 0; j < Ops::n; ++j) {
          const Motion<T> S = Ops::column(state.motion.joints.S.data() + at, j);
          rate[j].S = {transpose_times(b.E, S.w), transpose_times(b.E, S.v)};
          vJ += scale(v[at + j], rate[j].S);
          if (accelerated && (!Ops::dense || g != nullptr)) c += scale(g[at + j], rate[j].S);
        }
        if constexpr (Ops::dense) {
          const Motion<T>& bias = state.motion.joints.bias[i];
          c += Motion<T>{transpose_times(b.E, bias.w), transpose_times(b.E, bias.v)};
        }
      }
      m = next_motion(p.motion, b.r, vJ, c);
    }
    if (b.seen) b.motion = m;
    const Moments<T> moments = turned(b.moments, b.E);
    b.inertia.start(moments);
    b.pA = inertial_wrench(moments, m.a, acceleration_matrix(m.omega, m.alpha));
  }
}

/// Pass 2 for one rate. The shift to the parent is taken before the rank-one update, so that it
/// does not wait for the division.
/// @param inertia, reflect  what is reflected on the rate; reflect(U) adds the coupling to U = IA S
template <class Ops, class T, class Reflect>
void eliminate_rate(WorldBody<T>& b, WorldRate<T>& rate, ArticulatedState<T>& state, const T& tau,
                    double inertia, Reflect&& reflect) {
  Force<T> U = b.template times<Ops>(rate);
  const T D = b.template S_transpose_times<Ops>(rate, U) + inertia;
  reflect(U);
  const T inverse = T(1.0) / D;
  rate.u = (tau - b.template S_transpose_times<Ops>(rate, b.pA)) * inverse;
  const Force<T> U_parent{U.n + cross(b.r, U.f), U.f};
  rate.U = scale(inverse, U);
  if (b.parent == 0) return;
  ArticulatedInertia<T> Ia = b.inertia.shifted_by(b.r);
  Ia.subtract_outer(inverse, U_parent);
  WorldBody<T>& p = state.body[b.parent];
  p.inertia.add(Ia);
  p.pA += Force<T>{b.pA.n + cross(b.r, b.pA.f), b.pA.f} + scale(rate.u, U_parent);
}

/// Pass 2 for n rates: D is factored as L D L^T, and with w = L^-1 U,
/// U D^-1 U^T = sum of w_j w_j^T / d_j.
template <int n, class T>
void eliminate_rates(WorldBody<T>& b, int at, ArticulatedState<T>& state, const T* tau) {
  WorldRate<T>* rate = state.rate.data() + at;
  Ldlt<T, n>& D = state.template factor_of<n>(at);
  ArticulatedInertia<T> Ia = b.inertia.articulated();
  for (int j = 0; j < n; ++j) {
    rate[j].U = Ia * rate[j].S;
    for (int l = j; l < n; ++l) D.L[l][j] = dot(rate[l].S, rate[j].U);
    D.L[j][j] += rate[j].armature;
    rate[j].u = tau[at + j] - dot(rate[j].S, b.pA);
  }
  D.factor();
  if (b.parent == 0) return;
  Force<T> pa = b.pA;
  Force<T> w[n];
  T x[n];
  for (int j = 0; j < n; ++j) {
    w[j] = rate[j].U;
    x[j] = rate[j].u;
    for (int l = 0; l < j; ++l) {
      w[j] -= scale(D.L[j][l], w[l]);
      x[j] -= D.L[j][l] * x[l];
    }
    Ia.subtract_outer(D.L[j][j], w[j]);
    pa += scale(D.L[j][j] * x[j], w[j]);
  }
  WorldBody<T>& p = state.body[b.parent];
  p.inertia.add(shifted(Ia, b.r));
  p.pA += Force<T>{pa.n + cross(b.r, pa.f), pa.f};
}

/// Pass 3: accelerations beyond those at vdot = 0.
template <class Ops, class T>
void forward_accelerations(const PlainRun& s, ArticulatedState<T>& state, T* vdot) {
  constexpr int n = Ops::n;
  for (int k = s.begin; k < s.end; ++k) {
    const int at = s.run->v + k * n;
    WorldBody<T>& b = state.body[s.body(k)];
    const WorldRate<T>* rate = state.rate.data() + at;
    const Motion<T>& p = state.body[b.parent].da;
    const Motion<T> a{p.w, p.v + cross(p.w, b.r)};
    T* qdd = vdot + s.shift + at;
    for (int j = 0; j < n; ++j) qdd[j] = rate[j].u - dot(a, rate[j].U);
    if constexpr (n > 1) state.template factor_of<n>(at).solve(qdd);
    if (!b.seen) continue;
    b.da = a;
    for (int j = 0; j < n; ++j) b.da += scale(qdd[j], b.unit(rate[j]));
  }
}

// --- the three passes
// -----------------------------------------------------------------------------

template <class T>
void forward_velocities(const PlainRun& s, ArticulatedState<T>& state) {
  with_subspace(*s.run, [&](auto ops) {
    using Ops = decltype(ops);
    if constexpr (!Ops::dense) {
      if (state.motion.g() == nullptr) return forward_velocities<Ops, false>(s, state);
    }
    forward_velocities<Ops, true>(s, state);
  });
}
template <class T>
void eliminate(const PlainRun& s, ArticulatedState<T>& state, const T* tau) {
  with_subspace(*s.run, [&](auto ops) {
    using Ops = decltype(ops);
    const T* tau_here = tau + s.shift;
    for (int k = s.end - 1; k >= s.begin; --k) {
      const int at = s.run->v + k * Ops::n;
      WorldBody<T>& b = state.body[s.body(k)];
      if constexpr (Ops::n == 1) {
        WorldRate<T>& rate = state.rate[at];
        eliminate_rate<Ops>(b, rate, state, tau_here[at], rate.armature, [](Force<T>&) {});
      } else {
        eliminate_rates<Ops::n>(b, at, state, tau_here);
      }
    }
  });
}
template <class T>
void forward_accelerations(const PlainRun& s, ArticulatedState<T>& state, T* vdot) {
  with_subspace(*s.run, [&](auto ops) { forward_accelerations<decltype(ops)>(s, state, vdot); });
}

}  // namespace espalier
