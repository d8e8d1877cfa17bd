#pragma once

#include <vector>

#include "espalier/kernel/model/motion/spanning_motion.hpp"
#include "espalier/kernel/model/motion/subspace.hpp"
#include "espalier/kernel/problems/task.hpp"

namespace espalier {

/// Rows of J over the independent rates, from the joints on the way of each row to the ground and
/// G. Frames: rows in world axes, columns of joints in their bodies' axes.  Cost: O(n + m d).
template <class T>
class TaskJacobian {
 public:
  TaskJacobian(const Model& model, const Task& task)
      : model_(model),
        task_(task),
        motion_(model),
        E_(model.body_count() + 1, Mat3<T>::identity()),
        p_(model.body_count() + 1, Vec3<T>::zero()) {}

  /// @param[out] J  m x nv, row-major
  void compute(const T* q, T* J) {
    motion_.update(q, nullptr);
    const long nv = model_.nv();
    std::fill(J, J + task_.size() * nv, T(0.0));
    for (int i = 1; i <= model_.body_count(); ++i) {
      const int parent = model_.body(i).parent;
      const Transform<T>& X = motion_.joints.X[i];
      E_[i] = X.E * E_[parent];
      p_[i] = p_[parent] + transpose_times(E_[parent], X.r);
    }
    for (const Task::Part& part : task_.parts()) add_part(part, J + part.first * nv);
  }
  /// As of the last compute().
  const SpanningMotion<T>& motion() const { return motion_; }

 private:
  /// Column by column: the motion of the part's point for a rate of one, then all rows of it.
  void add_part(const Task::Part& part, T* J) const {
    const long nv = model_.nv();
    const Mat3<T>& E = E_[part.body];
    Vec3<T> point = p_[part.body];
    if (part.world) point += transpose_times(E, part.point);
    for (int b = part.body; b != 0; b = model_.body(b).parent) {
      const Body& body = model_.body(b);
      const Cluster& c = model_.clusters()[body.cluster];
      const Vec3<T> r = point - p_[b];
      with_subspace(model_.runs()[body.run], [&](auto ops) {
        using Ops = decltype(ops);
        for (int k = 0; k < Ops::n; ++k) {
          const Motion<T> S = Ops::column(motion_.joints.S.data() + body.v, k);
          Motion<T> s{transpose_times(E_[b], S.w), transpose_times(E_[b], S.v)};
          s.v += cross(s.w, r);
          if (!part.world) s = {E * s.w, E * s.v};
          for (int i = 0; i < part.size(); ++i) {
            const T x = dot(s, part.rows[i]);
            T* row = J + i * nv + c.v;
            if (!c.constrained) {
              row[body.v - c.spanning_v + k] += x;
              continue;
            }
            const T* G = motion_.G(c) + (c.row(body.v) + k) * c.nv;
            for (int j = 0; j < c.nv; ++j) row[j] += G[j] * x;
          }
        }
      });
    }
  }

  const Model& model_;
  const Task& task_;
  SpanningMotion<T> motion_;
  std::vector<Mat3<T>> E_;
  std::vector<Vec3<T>> p_;
};

}  // namespace espalier
