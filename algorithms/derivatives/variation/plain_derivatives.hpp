#pragma once

#include <type_traits>

#include "algorithms/derivatives/variation/pair_slots.hpp"
#include "algorithms/derivatives/variation/path_lanes.hpp"

namespace espalier {

/// Pairs of the coordinate of a body that nothing ties with those that carry it, (12.1), and of a
/// floating root, (12.2). At double the pairs of a way are lanes.
template <class T>
class PlainDerivatives {
 public:
  PlainDerivatives(const Model& model, const WaysToGround& ways) : model_(model), ways_(ways) {
    lanes_.plan(ways.paths(), ways.visited());
  }

  /// Rows of M of a body that nothing ties.
  void inertia(const VariationState<T>& s, const Cluster& c, T* M) {
    const long n = model_.nv();
    const int i = c.first, o = s.support(i);
    const VariationColumn<T>* x = s.columns(i);
    for (int k = 0; k < c.nv; ++k) {
      const long row = c.v + k;
      const Force<T> t1 = s.body[i].IC * x[k].S;
      for (int j = 0; j <= k; ++j) {
        T m = dot(x[j].S, t1);
        if (j == k) m += T(s.armature(c.spanning_v + k));
        M[row * n + c.v + j] = M[(c.v + j) * n + row] = m;
      }
      if (o == 0) continue;
      for (const auto& step : ways_.path(o)) {
        const long j = step.coordinate;
        M[row * n + j] = M[j * n + row] = dot(s.column[step.column].S, t1);
      }
      if (ways_.base(o) < 0) continue;
      for (int l = 0; l < 6; ++l) {
        M[row * n + ways_.base(o) + l] = M[(ways_.base(o) + l) * n + row] = t1[l];
      }
    }
  }

  /// @param k  its place in the order
  void inverse_dynamics(VariationState<T>& s, const Cluster& c, int k, T* tau, T* Dq, T* Dv, T* M) {
    const long n = model_.nv(), row = c.v;
    const int rate = c.spanning_v, o = s.support(c.first);
    const auto& b = s.body[c.first];
    const VariationColumn<T>& x = *s.columns(c.first);
    const bool wrenches = s.wrenches.vary();
    PairTerms<T>& t = terms_;
    t.t1 = b.IC * x.S;
    t.t2 = b.B.transpose_times(x.S);
    t.t3 = b.B.times(x.S.w) + b.IC * x.ups;
    t.t4 = b.B.times(x.psi1.w) + b.IC * x.psi2;
    if (wrenches) {
      t.t4 += s.wrenches.E[c.first].times(x.S);
      t.t5 = s.wrenches.E[c.first].transpose_times(x.S);
    }
    T force = dot(x.S, b.f) + s.armature(rate) * s.motion.qdd()[rate];
    T own_q = dot(x.S, t.t4), own_v = dot(x.S, t.t3);
    if (const JointForces<T>* joints = s.joint_forces()) {
      force -= joints->force[rate];
      if (!joints->by_position.empty()) own_q -= joints->by_position[rate];
      if (!joints->by_rate.empty()) own_v -= joints->by_rate[rate];
    }
    tau[row] = s.tau_s[rate] = force;
    if (M != nullptr) M[row * n + row] = dot(x.S, t.t1) + s.armature(rate);
    Dq[row * n + row] = own_q;
    Dv[row * n + row] = own_v;
    if (o == 0) return;
    t.t4 += cross_star(x.S, b.f);
    if constexpr (std::is_same_v<T, double>) {
      way_lanes(s, t, k, row, Dq, Dv, M);
    } else {
      way(s, t, o, row, Dq, Dv, M);
    }
    t.body = o;
    if (ways_.base(o) >= 0) floating_base(s, t, row, Dq, Dv, M);
  }
  /// The pairs of a floating root with itself, springs and dampers of its joint not counted.
  void free_root(const VariationState<T>& s, const Cluster& c, T* Dq, T* Dv, T* M) {
    const long n = model_.nv();
    const auto& b = s.body[c.first];
    const Vec3<T> g = s.ground(c.first).v;
    for (int k = 0; k < 6; ++k) {
      Motion<T> S = Motion<T>::zero();
      S[k] = T(1.0);
      const Force<T> t1 = b.IC * S;
      Force<T> t3 = b.B.times(S.w) + b.IC * cross(b.v, S);
      Force<T> t4 = b.IC * Motion<T>{Vec3<T>::zero(), cross(g, S.w)};
      if (s.wrenches.vary()) t4 += s.wrenches.E[c.first].times(S);
      const T armature = T(s.armature(c.spanning_v + k));
      for (int j = 0; j < 6; ++j) {
        const long at = (c.v + j) * n + c.v + k;
        if (M != nullptr) M[at] = j == k ? t1[j] + armature : t1[j];
        Dq[at] = t4[j];
        Dv[at] = t3[j];
      }
    }
  }

 private:
  /// Pairs of a coordinate with those on the way to the ground, which are lanes.
  void way_lanes(const VariationState<T>& s, const PairTerms<T>& t, int k, long row, T* Dq, T* Dv,
                 T* M) {
    const long n = model_.nv();
    lanes_.visit(k, s.column.data());
    lanes_.multiply(t.t1, t.t2, t.t3, t.t4, s.wrenches.vary() ? &t.t5 : nullptr);
    for (int p = 0; p < lanes_.size(); ++p) {
      const long j = lanes_.coordinate(p);
      if (M != nullptr) M[row * n + j] = M[j * n + row] = lanes_.product(PathLanes::mass, p);
      Dq[row * n + j] = lanes_.product(PathLanes::q_row, p);
      Dv[row * n + j] = lanes_.product(PathLanes::v_row, p);
      Dq[j * n + row] = lanes_.product(PathLanes::q_column, p);
      Dv[j * n + row] = lanes_.product(PathLanes::v_column, p);
    }
  }
  /// The same one by one, where robots are lanes.
  void way(const VariationState<T>& s, const PairTerms<T>& t, int body, long row, T* Dq, T* Dv,
           T* M) {
    const long n = model_.nv();
    const bool wrenches = s.wrenches.vary();
    for (const auto& step : ways_.path(body)) {
      const VariationColumn<T>& a = s.column[step.column];
      const long j = step.coordinate;
      if (M != nullptr) M[row * n + j] = M[j * n + row] = dot(a.S, t.t1);
      T by_q = dot(a.psi2, t.t1) + dot(t.t2, a.psi1.w);
      if (wrenches) by_q += dot(t.t5.w, a.S.w) + dot(t.t5.v, a.S.v);
      Dq[row * n + j] = by_q;
      Dv[row * n + j] = dot(a.ups, t.t1) + dot(t.t2, a.S.w);
      Dq[j * n + row] = dot(a.S, t.t4);
      Dv[j * n + row] = dot(a.S, t.t3);
    }
  }
  /// (12.2): the columns of a floating root are unit vectors.
  void floating_base(const VariationState<T>& s, const PairTerms<T>& t, long row, T* Dq, T* Dv,
                     T* M) const {
    const long n = model_.nv(), base = ways_.base(t.body);
    const int root = s.root(t.body);
    const Force<T> v_t1 = cross_star(s.body[root].v, t.t1);
    const Vec3<T> by_turn = cross(t.t1.f, s.ground(root).v), by_spin = t.t2 - v_t1.n;
    T *q = Dq + row * n + base, *v = Dv + row * n + base;
    for (int k = 0; k < 3; ++k) {
      q[k] = by_turn[k], q[k + 3] = T(0.0);
      v[k] = by_spin[k], v[k + 3] = -v_t1.f[k];
    }
    for (int k = 0; k < 6; ++k) {
      const long at = (base + k) * n + row;
      Dq[at] = t.t4[k];
      Dv[at] = t.t3[k];
      if (M != nullptr) M[row * n + base + k] = M[at] = t.t1[k];
      if (s.wrenches.vary()) q[k] += t.t5[k];
    }
  }

  const Model& model_;
  const WaysToGround& ways_;
  PathLanes lanes_;
  PairTerms<T> terms_;
};

}  // namespace espalier
