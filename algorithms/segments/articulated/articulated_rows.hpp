#pragma once

#include <vector>

#include "algorithms/segments/articulated/articulated_root.hpp"
#include "algorithms/segments/articulated/articulated_row.hpp"
#include "espalier/kernel/model/motion/joint_turns.hpp"
#include "espalier/kernel/problems/algorithm.hpp"

namespace espalier {

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
        root_(model, plan.root),
        sine_(model.active_body_count() + 1),
        cosine_(sine_.size()) {
    std::vector<double> armature(model.nv(), 0.0);
    for (const auto& [rate, value] : model.armature()) armature[rate] = value;
    rows_.reserve(plan.rows.size());
    for (const auto& row : plan.rows) lay_out(row, armature);
    for (const BodyRun& run : model.active_runs()) {
      if (run.first != root_.body) turning_.emplace_back(run);
    }
  }

  /// @param wrenches  external, each in its body's frame, or nullptr
  void compute(const T* q, const T* v, const T* tau, T* vdot, const Wrenches<T>* wrenches,
               const Vec3<double>& gravity) {
    for (const RunTurns<T>& run : turning_) run.update(q, sine_.data(), cosine_.data());
    root_.start(q, v, gravity);
    for (Row& row : rows_) forward_velocities(row, v);
    if (wrenches != nullptr) apply(*wrenches);
    for (std::size_t k = rows_.size(); k-- > 0;) eliminate(rows_[k], tau);
    root_.accelerate(tau, vdot);
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
      p = {all_lanes(root_.motion.omega), all_lanes(root_.motion.alpha), all_lanes(root_.motion.a)};
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
    put_inertia(moments.articulated(), row.IA);
    const Force<V> pA = inertial_wrench(moments, m.a, acceleration_matrix(m.omega, m.alpha));
    for (int a = 0; a < 6; ++a) row.IA[21 + a] = pA[a];
  }
  /// U, D, u; IA and pA to the parents. The shift to the parent does not wait for the division.
  void eliminate(Row& row, const T* tau) {
    const ArticulatedInertia<V> IA = get_inertia(row.IA);
    const Force<V> pA{{row.IA[21], row.IA[22], row.IA[23]}, {row.IA[24], row.IA[25], row.IA[26]}};
    const Vec3<V> z{row.seen[6], row.seen[7], row.seen[8]};
    const V force = side_by_side<T>([&](int k) { return tau[row.lane_rate[k]]; });
    const Force<V> U{IA.A * z, transpose_times(IA.B, z)};
    const V inverse = V(1.0) / (dot(z, U.n) + row.armature);
    row.u = (force - dot(z, pA.n)) * inverse;
    row.U = scale(inverse, U);
    if (row.on_root && root_.body == 0) return;
    const Force<V> U_parent{U.n + cross(row.r, U.f), U.f};
    ArticulatedInertia<V> Ia = shifted(IA, row.r);
    Ia.subtract_outer(inverse, U_parent);
    const Force<V> pa = Force<V>{pA.n + cross(row.r, pA.f), pA.f} + scale(row.u, U_parent);
    if (!row.on_root && row.parent.row >= 0) {
      V* to = rows_[row.parent.row].IA;
      ArticulatedInertia<V> sum = get_inertia(to);
      sum += Ia;
      put_inertia(sum, to);
      for (int a = 0; a < 6; ++a) to[21 + a] += pa[a];
      return;
    }
    V x[27];
    put_inertia(Ia, x);
    for (int a = 0; a < 6; ++a) x[21 + a] = pa[a];
    for (int k = 0; k < row.size; ++k) {
      const int lane = row.lane[k];
      if (row.on_root) {
        for (int n = 0; n < 27; ++n) root_.IA[n] += row_of<T>(x + n, lane);
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
      a = {all_lanes(root_.da.w), all_lanes(root_.da.v)};
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

  /// Subtracts external wrenches from those that the bodies need.
  void apply(const Wrenches<T>& wrenches) {
    if (root_.body > 0) {
      for (int a = 0; a < 6; ++a) root_.IA[21 + a] -= wrenches[root_.body][a];
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
  void lay_out(const typename Plan::Row& from, const std::vector<double>& armature) {
    rows_.emplace_back(model_, from, armature);
    if (from.ways.empty()) return;
    for (int k = 0; k < lanes; ++k) {
      if (from.body[k] > 0) rows_[from.ways[0][k].row].leaf = false;
    }
  }

  const Model& model_;
  ArticulatedRoot<T> root_;
  std::vector<Row> rows_;
  std::vector<RunTurns<T>> turning_;
  std::vector<T> sine_, cosine_;  ///< per body
};

}  // namespace espalier
