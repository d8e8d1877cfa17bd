#pragma once

#include <vector>

#include "algorithms/derivatives/variation/variation_state.hpp"
#include "espalier/kernel/problems/task.hpp"

namespace espalier {

/// Rows of a task at a state: J, (dJ/dt) v and how velocities and accelerations by rows vary with
/// the state, (15.2). Rows are taken into the common frame of their body's tree; there a row that
/// is fixed in the link's axes moves with the link, and one in world axes does not.
/// Matrices are m x nv, row-major; columns of coordinates that do not carry the body stay as they
/// were, and they are zero from the start.
template <class T>
class TaskVariation {
 public:
  /// @throws Unsupported for an end-effector on a folded rotor
  TaskVariation(const Model& model, const Task& task) : model_(model), task_(task) {
    rows_.resize(task.size()), points_.resize(task.parts().size());
    for (const Task::Part& part : task.parts()) {
      if (part.body <= model.active_body_count()) continue;
      throw Unsupported("derivatives of constrained dynamics: an end-effector is on the rotor '" +
                        model.body_names()[part.body] +
                        "', which is folded into its parent, expected another link (compile the "
                        "model with its rotors kept as bodies)");
    }
  }

  /// Takes in rows and points. @param s  after update()
  void place(const VariationState<T>& s) {
    for (std::size_t p = 0; p < points_.size(); ++p) {
      const Task::Part& part = task_.parts()[p];
      if (part.body == 0) continue;
      const Transform<T>& X = s.body[part.body].X;
      const Vec3<T> x = points_[p] = X.r + transpose_times(X.E, Vec3<T>::from(part.point));
      const Mat3<T> E = s.common(part.body).E;
      for (int i = 0; i < part.size(); ++i) {
        Force<T>& row = rows_[part.first + i];
        const Force<T> given = {Vec3<T>::from(part.rows[i].n), Vec3<T>::from(part.rows[i].f)};
        if (!part.world) {
          row = X.transpose_times_force(given);
          continue;
        }
        // About the common frame's origin, what multiplies the point's velocity.
        row.f = E * given.f;
        row.n = E * given.n + cross(x, row.f);
      }
    }
  }
  /// J after place().
  void jacobian(const VariationState<T>& s, T* J) const {
    each_column(s, [&](const Task::Part& part, const VariationColumn<T>& column, long j) {
      for (int i = part.first; i < part.first + part.size(); ++i) {
        J[i * model_.nv() + j] = dot(column.S, rows_[i]);
      }
    });
  }
  /// Accelerations by rows; (dJ/dt) v where vdot is zero. @param s  after accelerate()
  void accelerations(const VariationState<T>& s, T* out) const {
    for (std::size_t p = 0; p < points_.size(); ++p) {
      const Task::Part& part = task_.parts()[p];
      if (part.body == 0) {
        for (int i = 0; i < part.size(); ++i) out[part.first + i] = T(0.0);
        continue;
      }
      const Motion<T>& v = s.body[part.body].v;
      Motion<T> a = acceleration(s, part.body);
      // The ordinary acceleration is the spatial one at the point and w x its velocity.
      if (part.world) a.v += cross(v.w, point_velocity(v, points_[p]));
      for (int i = 0; i < part.size(); ++i) out[part.first + i] = dot(a, rows_[part.first + i]);
    }
  }
  /// Derivatives of accelerations by rows. @param s  after accelerate()
  void vary_accelerations(const VariationState<T>& s, T* by_q, T* by_v) const {
    each_column(s, [&](const Task::Part& part, const VariationColumn<T>& column, long j) {
      const Motion<T>& v = s.body[part.body].v;
      const Vec3<T>& x = points_[&part - task_.parts().data()];
      Motion<T> along_q =
          column.psi2 - cross(v, column.psi1) + cross(column.S, s.ground(part.body));
      Motion<T> along_v = column.ups - cross(v, column.S);
      if (part.world) {
        const Vec3<T> v_x = point_velocity(v, x);
        along_q.v += turning(v, v_x, column.psi1, x);
        along_v.v += turning(v, v_x, column.S, x);
        Motion<T> a = acceleration(s, part.body);
        a.v += cross(v.w, v_x);
        add_turn(column.S.w, a, x, along_q);
      }
      for (int i = part.first; i < part.first + part.size(); ++i) {
        by_q[i * model_.nv() + j] = dot(along_q, rows_[i]);
        by_v[i * model_.nv() + j] = dot(along_v, rows_[i]);
      }
    });
  }
  /// Derivative of velocities by rows by q. @param s  after update()
  void vary_velocities(const VariationState<T>& s, T* by_q) const {
    each_column(s, [&](const Task::Part& part, const VariationColumn<T>& column, long j) {
      Motion<T> along = column.psi1;
      if (part.world) {
        add_turn(column.S.w, s.body[part.body].v, points_[&part - task_.parts().data()], along);
      }
      for (int i = part.first; i < part.first + part.size(); ++i) {
        by_q[i * model_.nv() + j] = dot(along, rows_[i]);
      }
    });
  }
  /// The wrenches that forces by rows are, each constant in the frame of its rows.
  void wrenches(const T* force, FramedWrenches<T>& out) const {
    out.clear();
    for (const Task::Part& part : task_.parts()) {
      Force<T> sum = Force<T>::zero();
      for (int i = 0; i < part.size(); ++i) {
        const Force<double>& row = part.rows[i];
        sum += scale(force[part.first + i], Force<T>{Vec3<T>::from(row.n), Vec3<T>::from(row.f)});
      }
      const WrenchFrame frame = part.world ? WrenchFrame::world_at_point : WrenchFrame::link;
      out.add_item({part.body, frame, sum, part.point});
    }
  }

 private:
  /// Columns of the coordinates that carry the body of a part.
  template <class Each>
  void each_column(const VariationState<T>& s, Each&& each) const {
    for (const Task::Part& part : task_.parts()) {
      for (int i = part.body; i != 0; i = s.support(i)) {
        const Cluster& c = model_.clusters()[model_.body(i).cluster];
        for (int k = 0; k < c.nv; ++k) each(part, s.columns(i)[k], static_cast<long>(c.v + k));
      }
    }
  }
  /// Without the fictitious acceleration of the ground that stands for gravity.
  static Motion<T> acceleration(const VariationState<T>& s, int body) {
    return s.body[body].a - s.ground(body);
  }
  static Vec3<T> point_velocity(const Motion<T>& v, const Vec3<T>& x) {
    return v.v + cross(v.w, x);
  }
  /// Variation of w x v_x by that of the twist.
  static Vec3<T> turning(const Motion<T>& v, const Vec3<T>& v_x, const Motion<T>& dv,
                         const Vec3<T>& x) {
    return cross(dv.w, v_x) + cross(v.w, point_velocity(dv, x));
  }
  /// Components in axes that do not turn with the link: those of the point's vector change by
  /// turn x it, here about the common frame's origin.
  static void add_turn(const Vec3<T>& turn, const Motion<T>& of, const Vec3<T>& x, Motion<T>& out) {
    const Vec3<T> angular = cross(turn, of.w), linear = cross(turn, of.v + cross(of.w, x));
    out.w += angular;
    out.v += linear - cross(angular, x);
  }

  const Model& model_;
  const Task& task_;
  std::vector<Force<T>> rows_;   ///< common frame, about its origin
  std::vector<Vec3<T>> points_;  ///< of each part, common frame
};

}  // namespace espalier
