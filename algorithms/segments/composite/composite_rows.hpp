#pragma once

#include <algorithm>
#include <vector>

#include "algorithms/chains/carried_wrenches.hpp"
#include "algorithms/linear_algebra/zeros.hpp"
#include "algorithms/segments/composite/composite_row.hpp"
#include "espalier/kernel/model/motion/joint_turns.hpp"

namespace espalier {

/// The mass matrix of a branching tree of revolute joints, on the ground or on a floating root,
/// several bodies at once: what plain runs do (composite_run.hpp), row by row.
///
/// Frames: world axes (those of the floating root, if there is one); inertias at body origins; F
/// and J about the origin of the first body of their branch, or of the root.
/// Cost: O(n d), a fourth of the operations.  Source: Featherstone (2008), Table 6.2.
template <class T>
class CompositeRows {
 public:
  using Row = CompositeRow<T>;
  using V = typename Row::V;
  static constexpr int lanes = Row::lanes;
  using Plan = TurningRows<lanes>;

  CompositeRows(const Model& model, const Plan& plan)
      : model_(model),
        size_(model.nv()),
        root_(plan.root),
        sine_(model.active_body_count() + 1),
        cosine_(sine_.size()),
        armature_(size_, 0.0) {
    for (const auto& [rate, value] : model.armature()) armature_[rate] = value;
    if (root_ > 0) root_inertia_ = model.folded_inertia(root_);
    long met = root_ > 0 ? 36 : 0;
    rows_.reserve(plan.rows.size());
    for (const auto& row : plan.rows) {
      lay_out(row);
      met +=
          rows_.back().size * (1 + 2 * (static_cast<long>(row.ways.size()) + (root_ > 0 ? 6 : 0)));
    }
    has_zeros_ = met < static_cast<long>(size_) * size_;
    for (const BodyRun& run : model.active_runs()) {
      if (run.first != root_ || run.count > 1) turning_.emplace_back(run);
    }
  }

  /// @param q       positions
  /// @param[out] M  symmetric, full storage
  void compute(const T* q, T* M) {
    for (const RunTurns<T>& run : turning_) run.update(q, sine_.data(), cosine_.data());
    for (Row& row : rows_) place(row);
    if (has_zeros_) write_zeros(M, static_cast<long>(size_) * size_);
    RigidInertia<T> root = RigidInertia<T>::zero();
    for (std::size_t k = rows_.size(); k-- > 0;) collect(rows_[k], root, M);
    if (root_ > 0) write_root(root, M);
  }

  // --- passes over a row, each tested alone ------------------------------------------------------

  /// Attitudes, places, J and inertias.
  void place(Row& row) const {
    const V c = side_by_side<T>([&](int k) { return cosine_[row.body[k]]; });
    const V s = side_by_side<T>([&](int k) { return sine_[row.body[k]]; });
    Mat3<V> E;
    Vec3<V> x;
    if (row.way.empty()) {
      row.r = row.placement_r;
      x = root_ > 0 ? row.r : Vec3<V>::zero();
      E = rotate_rows(s, c, row.placement_E);
    } else {
      V p[12];
      read<0, 12>(row.way[0], p);
      const Mat3<V> P{{{p[0], p[1], p[2]}, {p[3], p[4], p[5]}, {p[6], p[7], p[8]}}};
      row.r = transpose_times(P, row.placement_r);
      x = Vec3<V>{p[9], p[10], p[11]} + row.r;
      E = rotate_rows(s, c, row.placement_E * P);
    }
    const Vec3<V> v = cross(x, E.row[2]);
    for (int a = 0; a < 3; ++a) {
      for (int b = 0; b < 3; ++b) row.seen[3 * a + b] = E(a, b);
      row.seen[9 + a] = x[a];
      row.seen[12 + a] = v[a];
    }
    Row::put({row.inertia.m, transpose_times(E, row.inertia.h), congruence(E, row.inertia.I)},
             row.Ic);
  }
  /// Rows and columns of M; Ic to the parents. @param root  where those on it add theirs
  void collect(Row& row, RigidInertia<T>& root, T* M) {
    const RigidInertia<V> Ic = Row::get(row.Ic);
    const Vec3<V> w{row.seen[6], row.seen[7], row.seen[8]};
    const Force<V> U{Ic.I * w, cross(w, Ic.h)};
    const Force<V> F{U.n + cross(row.x(), U.f), U.f};
    write(row, dot(w, U.n) + row.armature, row.diagonal, row.diagonal, M);
    for (const typename Row::Step& step : row.way) {
      V J[6];
      read<6, 3>(step, J);
      read<12, 3>(step, J + 3);
      const V x = (J[0] * F.n.x + J[1] * F.n.y + J[2] * F.n.z) +
                  (J[3] * F.f.x + J[4] * F.f.y + J[5] * F.f.z);
      write(row, x, step.entry, step.mirrored, M);
    }
    if (root_ > 0) write_rates_of_root(row, F, M);
    if (!row.way.empty() || root_ > 0) propagate_to_parents(row, Ic, root);
  }

  std::vector<Row>& rows() { return rows_; }

 private:
  /// Numbers first, first + 1, ... of `seen` of the bodies at a step.
  template <int first, int count>
  ESPALIER_ALWAYS_INLINE void read(const typename Row::Step& step, V* out) const {
    read_lanes<first, count>(
        static_cast<const RowStep<T>&>(step), [&](int row) { return rows_[row].seen; }, out);
  }
  /// One entry of M for each body of a row, in both triangles.
  ESPALIER_ALWAYS_INLINE static void write(const Row& row, V x, const long* entry,
                                           const long* mirrored, T* M) {
    if (row.size == lanes) {
      for (int k = 0; k < lanes; ++k) M[entry[k]] = M[mirrored[k]] = row_of<T>(&x, k);
      return;
    }
    for (int k = 0; k < row.size; ++k) {
      M[entry[k]] = M[mirrored[k]] = row_of<T>(&x, row.lane[k]);
    }
  }
  /// The root's rates meet the wrenches themselves.
  void write_rates_of_root(const Row& row, Force<V> F, T* M) const {
    for (int k = 0; k < row.size; ++k) {
      const Force<T> of_lane = wrench_of_lane<T>(F, row.lane[k]);
      T *of_rate = M + row.rate[k] * size_, *column = M + row.rate[k];
      for (int a = 0; a < 6; ++a) of_rate[a] = column[a * static_cast<long>(size_)] = of_lane[a];
    }
  }
  void propagate_to_parents(const Row& row, const RigidInertia<V>& Ic, RigidInertia<T>& root) {
    if (!row.way.empty() && row.way[0].row >= 0) {
      V* to = rows_[row.way[0].row].Ic;
      RigidInertia<V> sum = Row::get(to);
      add_shifted(Ic, row.r, sum);
      return Row::put(sum, to);
    }
    RigidInertia<V> shifted = RigidInertia<V>::zero();
    add_shifted(Ic, row.r, shifted);
    V numbers[10];
    Row::put(shifted, numbers);
    for (int k = 0; k < row.size; ++k) {
      const int lane = row.lane[k];
      if (row.way.empty()) {
        const auto x = [&](int n) { return row_of<T>(numbers + n, lane); };
        root += RigidInertia<T>{x(0), {x(1), x(2), x(3)}, {x(4), x(5), x(6), x(7), x(8), x(9)}};
        continue;
      }
      const auto& place = row.way[0].place[lane];
      V* to = rows_[place.row].Ic;
      for (int n = 0; n < 10; ++n) row_of<T>(to + n, place.lane) += row_of<T>(numbers + n, lane);
    }
  }
  void write_root(const RigidInertia<T>& carried, T* M) const {
    RigidInertia<T> I = carried;
    I += root_inertia_;
    for (int k = 0; k < 6; ++k) {
      Motion<T> unit = Motion<T>::zero();
      unit[k] = T(1.0);
      const Force<T> column = I * unit;
      for (int a = 0; a < 6; ++a) M[a * static_cast<long>(size_) + k] = column[a];
      M[k * static_cast<long>(size_) + k] += T(armature_[k]);
    }
  }

  void lay_out(const typename Plan::Row& from) {
    Row& row = rows_.emplace_back(model_, from.body, armature_);
    for (int k = 0; k < row.size; ++k) row.diagonal[k] = row.rate[k] * (size_ + 1);
    for (const auto& places : from.ways) lay_out(row, places);
  }
  void lay_out(Row& row, const std::array<typename Plan::Place, lanes>& places) {
    typename Row::Step& step = row.way.emplace_back(places);
    for (int k = 0; k < row.size; ++k) {
      const auto& place = places[row.lane[k]];
      const long met = model_.body(rows_[place.row].body[place.lane]).v;
      step.entry[k] = row.rate[k] * size_ + met, step.mirrored[k] = met * size_ + row.rate[k];
    }
  }
  const Model& model_;
  int size_;  ///< rates of M
  int root_;
  bool has_zeros_;
  std::vector<Row> rows_;
  std::vector<RunTurns<T>> turning_;
  std::vector<T> sine_, cosine_;  ///< per body
  std::vector<double> armature_;  ///< per rate
  RigidInertia<double> root_inertia_ = RigidInertia<double>::zero();
};

}  // namespace espalier
