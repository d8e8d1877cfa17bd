#pragma once

#include <vector>

#include "algorithms/segments/articulated/world_body.hpp"
#include "algorithms/segments/turning_rows.hpp"
#include "espalier/kernel/model/motion/tree_kinematics.hpp"
#include "espalier/kernel/problems/algorithm.hpp"

namespace espalier {

/// Bodies side by side in the articulated-body recursion; a plain one in world_body.hpp.
template <class T>
struct ArticulatedRow {
  using V = typename RowLanes<T>::V;
  static constexpr int lanes = RowLanes<T>::size;

  Mat3<V> E() const {
    return {
        {{seen[0], seen[1], seen[2]}, {seen[3], seen[4], seen[5]}, {seen[6], seen[7], seen[8]}}};
  }

  // What rows further out read, and add to: real arrays, since lanes are picked out of them by
  // number.
  V seen[18];  ///< E, and the motion at vdot = 0: omega, alpha, a
  V IA[27];    ///< inertia and bias wrench of what hangs on the body: A, B, C, pA
  V da[6];     ///< acceleration beyond that at vdot = 0
  Vec3<V> r;   ///< from the parent's origin
  Force<V> U;  ///< IA S / D
  V u;         ///< (tau - S^T pA) / D
  Mat3<V> placement_E;
  Vec3<V> placement_r;
  Moments<V, V> moments;  ///< body axes
  V armature;
  RowStep<T> parent;
  bool on_root = false, leaf = true;
  int size = 0;          ///< lanes in use
  int lane[lanes];       ///< these
  long rate[lanes];      ///< per used lane
  int body[lanes];       ///< per lane, those of idle ones another's
  int lane_rate[lanes];  ///< per lane, likewise
};

/// Forward dynamics of a branching tree of revolute joints, on the ground or on a floating root,
/// several bodies at once: what plain runs do (plain_run.hpp), row by row.
///
/// Frames: world axes (those of the floating root, if there is one), origin of each body's frame.
/// Cost: O(n), a fourth of the operations.  Source: Featherstone (2008), Table 7.1.
template <class T>
class ArticulatedRows {
 public:
  using Row = ArticulatedRow<T>;
  using V = typename Row::V;
  static constexpr int lanes = Row::lanes;
  using Plan = TurningRows<lanes>;

  ArticulatedRows(const Model& model, const Plan& plan)
      : model_(model),
        root_(plan.root),
        joints_(model),
        sine_(model.active_body_count() + 1),
        cosine_(sine_.size()),
        armature_(model.nv(), 0.0) {
    for (const auto& [rate, value] : model.armature()) armature_[rate] = value;
    if (root_ > 0) root_moments_ = Moments<double>::from(model.folded_inertia(root_));
    rows_.reserve(plan.rows.size());
    for (const auto& row : plan.rows) lay_out(row);
  }

  /// @param wrenches  external, each in its body's frame, or nullptr
  void compute(const T* q, const T* v, const T* tau, T* vdot, const Wrenches<T>* wrenches,
               const Vec3<double>& gravity) {
    for (const BodyRun& run : model_.active_runs()) {
      if (run.first == root_) continue;
      run.joints->turns(q + run.q, sine_.data() + run.first, cosine_.data() + run.first);
    }
    start_root(q, v, gravity);
    for (Row& row : rows_) forward_velocities(row, v);
    if (wrenches != nullptr) apply(*wrenches);
    for (std::size_t k = rows_.size(); k-- > 0;) eliminate(rows_[k], tau);
    accelerate_root(tau, vdot);
    for (Row& row : rows_) forward_accelerations(row, vdot);
  }

  // --- passes over a row -------------------------------------------------------------------------

  /// E, r, the motion at vdot = 0, the wrench that it needs, and the rigid inertia.
  void forward_velocities(Row& row, const T* v) const {
    const V c = side_by_side<T>([&](int k) { return cosine_[row.body[k]]; });
    const V s = side_by_side<T>([&](int k) { return sine_[row.body[k]]; });
    const V qd = side_by_side<T>([&](int k) { return v[row.lane_rate[k]]; });
    Mat3<V> E;
    FrameMotion<V> p;
    if (row.on_root) {
      E = rotate_rows(s, c, row.placement_E);
      row.r = row.placement_r;
      p = {all_lanes(root_motion_.omega), all_lanes(root_motion_.alpha), all_lanes(root_motion_.a)};
    } else {
      V x[18];
      read_lanes<0, 18>(
          row.parent, [&](int r) { return rows_[r].seen; }, x);
      const Mat3<V> P{{{x[0], x[1], x[2]}, {x[3], x[4], x[5]}, {x[6], x[7], x[8]}}};
      p = {{x[9], x[10], x[11]}, {x[12], x[13], x[14]}, {x[15], x[16], x[17]}};
      E = rotate_rows(s, c, row.placement_E * P);
      row.r = transpose_times(P, row.placement_r);
    }
    const FrameMotion<V> m = next_motion(p, row.r, scale(qd, E.row[2]), Vec3<V>::zero());
    for (int a = 0; a < 3; ++a) {
      for (int b = 0; b < 3; ++b) row.seen[3 * a + b] = E(a, b);
      row.seen[9 + a] = m.omega[a], row.seen[12 + a] = m.alpha[a], row.seen[15 + a] = m.a[a];
    }
    const Moments<V, V> moments{row.moments.m, transpose_times(E, row.moments.h),
                                congruence(E, row.moments.Sigma)};
    put(moments.articulated(), row.IA);
    const Force<V> pA = inertial_wrench(moments, m.a, acceleration_matrix(m.omega, m.alpha));
    for (int a = 0; a < 6; ++a) row.IA[21 + a] = pA[a];
  }
  /// U, D, u; IA and pA to the parents. The shift to the parent does not wait for the division.
  void eliminate(Row& row, const T* tau) {
    const ArticulatedInertia<V> IA = get(row.IA);
    const Force<V> pA{{row.IA[21], row.IA[22], row.IA[23]}, {row.IA[24], row.IA[25], row.IA[26]}};
    const Vec3<V> z{row.seen[6], row.seen[7], row.seen[8]};
    const V force = side_by_side<T>([&](int k) { return tau[row.lane_rate[k]]; });
    const Force<V> U{IA.A * z, transpose_times(IA.B, z)};
    const V inverse = V(1.0) / (dot(z, U.n) + row.armature);
    row.u = (force - dot(z, pA.n)) * inverse;
    row.U = scale(inverse, U);
    if (row.on_root && root_ == 0) return;
    const Force<V> U_parent{U.n + cross(row.r, U.f), U.f};
    ArticulatedInertia<V> Ia = shifted(IA, row.r);
    Ia.subtract_outer(inverse, U_parent);
    const Force<V> pa = Force<V>{pA.n + cross(row.r, pA.f), pA.f} + scale(row.u, U_parent);
    if (!row.on_root && row.parent.row >= 0) {
      V* to = rows_[row.parent.row].IA;
      ArticulatedInertia<V> sum = get(to);
      sum += Ia;
      put(sum, to);
      for (int a = 0; a < 6; ++a) to[21 + a] += pa[a];
      return;
    }
    V x[27];
    put(Ia, x);
    for (int a = 0; a < 6; ++a) x[21 + a] = pa[a];
    for (int k = 0; k < row.size; ++k) {
      const int lane = row.lane[k];
      if (row.on_root) {
        for (int n = 0; n < 27; ++n) root_IA_[n] += row_of<T>(x + n, lane);
        continue;
      }
      const auto& place = row.parent.place[lane];
      V* to = rows_[place.row].IA;
      for (int n = 0; n < 27; ++n) row_of<T>(to + n, place.lane) += row_of<T>(x + n, lane);
    }
  }
  /// Accelerations beyond those at vdot = 0.
  void forward_accelerations(Row& row, T* vdot) const {
    Motion<V> a;
    if (row.on_root) {
      a = {all_lanes(root_da_.w), all_lanes(root_da_.v)};
    } else {
      V x[6];
      read_lanes<0, 6>(
          row.parent, [&](int r) { return rows_[r].da; }, x);
      a = {{x[0], x[1], x[2]}, {x[3], x[4], x[5]}};
    }
    a.v += cross(a.w, row.r);
    const V qdd = row.u - dot(a, row.U);
    for (int k = 0; k < row.size; ++k) vdot[row.rate[k]] = row_of<T>(&qdd, row.lane[k]);
    if (row.leaf) return;
    for (int n = 0; n < 3; ++n) {
      row.da[n] = a.w[n] + qdd * row.seen[6 + n], row.da[3 + n] = a.v[n];
    }
  }

 private:
  static Vec3<V> all_lanes(const Vec3<T>& x) { return {V(x.x), V(x.y), V(x.z)}; }
  template <class S>
  static ArticulatedInertia<S> get(const S* I) {
    return {{I[0], I[1], I[2], I[3], I[4], I[5]},
            {{{I[6], I[7], I[8]}, {I[9], I[10], I[11]}, {I[12], I[13], I[14]}}},
            {I[15], I[16], I[17], I[18], I[19], I[20]}};
  }
  template <class S>
  static void put(const ArticulatedInertia<S>& I, S* x) {
    x[0] = I.A.xx, x[1] = I.A.xy, x[2] = I.A.xz, x[3] = I.A.yy, x[4] = I.A.yz, x[5] = I.A.zz;
    for (int a = 0; a < 3; ++a) {
      for (int b = 0; b < 3; ++b) x[6 + 3 * a + b] = I.B(a, b);
    }
    x[15] = I.C.xx, x[16] = I.C.xy, x[17] = I.C.xz, x[18] = I.C.yy, x[19] = I.C.yz, x[20] = I.C.zz;
  }

  /// Motion, rigid inertia and wrench of the root; of the ground its acceleration against gravity.
  void start_root(const T* q, const T* v, const Vec3<double>& gravity) {
    root_motion_ = {Vec3<T>::zero(), Vec3<T>::zero(), Vec3<T>::from(-gravity)};
    root_da_ = Motion<T>::zero();
    if (root_ == 0) return;
    joints_.update(model_.runs()[model_.body(root_).run], q, v);
    const Vec3<T> omega{v[0], v[1], v[2]}, velocity{v[3], v[4], v[5]};
    root_motion_.omega = omega;
    root_motion_.a = joints_.X[root_].E * root_motion_.a + cross(omega, velocity);
    const Moments<T> moments{root_moments_.m, Vec3<T>::from(root_moments_.h),
                             Sym3<T>::from(root_moments_.Sigma)};
    put(moments.articulated(), root_IA_);
    const Force<T> pA =
        inertial_wrench(moments, root_motion_.a, acceleration_matrix(omega, root_motion_.alpha));
    for (int a = 0; a < 6; ++a) root_IA_[21 + a] = pA[a];
  }
  /// Subtracts external wrenches from those that the bodies need.
  void apply(const Wrenches<T>& wrenches) {
    if (root_ > 0) {
      for (int a = 0; a < 6; ++a) root_IA_[21 + a] -= wrenches[root_][a];
    }
    for (Row& row : rows_) {
      for (int k = 0; k < row.size; ++k) {
        const int lane = row.lane[k];
        const Force<T>& w = wrenches[row.body[lane]];
        for (int a = 0; a < 3; ++a) {
          for (int b = 0; b < 3; ++b) {
            const T& E = row_of<T>(row.seen + 3 * b + a, lane);
            row_of<T>(row.IA + 21 + a, lane) -= E * w.n[b];
            row_of<T>(row.IA + 24 + a, lane) -= E * w.f[b];
          }
        }
      }
    }
  }
  void accelerate_root(const T* tau, T* vdot) {
    if (root_ == 0) return;
    ArticulatedInertia<T> IA = get(root_IA_);
    IA.A.xx += armature_[0], IA.A.yy += armature_[1], IA.A.zz += armature_[2];
    IA.C.xx += armature_[3], IA.C.yy += armature_[4], IA.C.zz += armature_[5];
    Force<T> force;
    for (int a = 0; a < 6; ++a) force[a] = tau[a] - root_IA_[21 + a];
    root_da_ = free_acceleration(IA, force);
    for (int a = 0; a < 6; ++a) vdot[a] = root_da_[a];
  }

  void lay_out(const typename Plan::Row& from) {
    Row& row = rows_.emplace_back();
    row.on_root = from.ways.empty();
    if (!row.on_root) row.parent = RowStep<T>(from.ways[0]);
    int other = 0;
    for (const int b : from.body) other = b > 0 ? b : other;
    for (int k = 0; k < lanes; ++k) {
      const bool idle = from.body[k] == 0;
      const int b = row.body[k] = idle ? other : from.body[k];
      const Body& body = model_.body(b);
      row.lane_rate[k] = body.v;
      set(row, k, body, idle ? RigidInertia<double>::zero() : model_.folded_inertia(b), idle);
      if (idle) continue;
      row.lane[row.size] = k, row.rate[row.size] = body.v;
      ++row.size;
      if (!row.on_root) rows_[from.ways[0][k].row].leaf = false;
    }
  }
  void set(Row& row, int k, const Body& body, const RigidInertia<double>& I, bool idle) {
    const auto put_in = [&](V& x, double value) { row_of<T>(&x, k) = T(value); };
    for (int a = 0; a < 3; ++a) {
      for (int b = 0; b < 3; ++b) put_in(row.placement_E(a, b), body.placement.E(a, b));
      put_in(row.placement_r[a], body.placement.r[a]);
      put_in(row.moments.h[a], I.h[a]);
    }
    const Sym3<double> Sigma = Moments<double>::from(I).Sigma;
    put_in(row.moments.m, I.m);
    put_in(row.armature, idle ? 1.0 : armature_[body.v]);  // an idle lane's D is not zero
    put_in(row.moments.Sigma.xx, Sigma.xx), put_in(row.moments.Sigma.xy, Sigma.xy);
    put_in(row.moments.Sigma.xz, Sigma.xz), put_in(row.moments.Sigma.yy, Sigma.yy);
    put_in(row.moments.Sigma.yz, Sigma.yz), put_in(row.moments.Sigma.zz, Sigma.zz);
  }

  const Model& model_;
  int root_;                  ///< floating body; 0: none
  TreeKinematics<T> joints_;  ///< of the root
  std::vector<Row> rows_;
  std::vector<T> sine_, cosine_;  ///< per body
  std::vector<double> armature_;  ///< per rate
  Moments<double> root_moments_ = Moments<double>::zero();
  FrameMotion<T> root_motion_;
  T root_IA_[27];  ///< as ArticulatedRow::IA
  Motion<T> root_da_;
};

}  // namespace espalier
