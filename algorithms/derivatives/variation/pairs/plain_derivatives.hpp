#pragma once

#include <array>
#include <type_traits>

#include "algorithms/derivatives/variation/lanes/path_lanes.hpp"
#include "algorithms/derivatives/variation/pairs/base_pairs.hpp"
#include "algorithms/derivatives/variation/pairs/pair_slots.hpp"

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
    if (ways_.base(o) < 0) return;
    const int root = s.root(o);
    base_with_coordinate(t, s.wrenches.vary(), s.body[root].v, s.ground(root).v, n, row,
                         ways_.base(o), Dq, Dv, M);
  }
  /// The pairs of a floating root with itself, springs and dampers of its joint not counted.
  void free_root(const VariationState<T>& s, const Cluster& c, T* Dq, T* Dv, T* M) {
    const auto& b = s.body[c.first];
    std::array<double, 6> armature;
    for (int k = 0; k < 6; ++k) armature[k] = s.armature(c.spanning_v + k);
    const WrenchVariation<T>* E = s.wrenches.vary() ? &s.wrenches.E[c.first] : nullptr;
    base_with_itself(b.IC, b.B, b.v, s.ground(c.first).v, E, armature, model_.nv(), c.v, Dq, Dv, M);
  }

 private:
  /// Pairs of a coordinate with those on the way to the ground, which are lanes.
  void way_lanes(const VariationState<T>& s, const PairTerms<T>& t, int k, long row, T* Dq, T* Dv,
                 T* M) {
    const long n = model_.nv();
    lanes_.visit(
        k, [&](int i) -> const auto& { return s.column[i]; });
    lanes_.multiply(t.t1, t.t2, t.t3, t.t4, s.wrenches.vary() ? &t.t5 : nullptr);
    lanes_.write(row, n, Dq, Dv, M);
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
  const Model& model_;
  const WaysToGround& ways_;
  PathLanes lanes_;
  PairTerms<T> terms_;
};

}  // namespace espalier
