#pragma once

#include <vector>

#include "espalier/kernel/model/motion/spanning_motion.hpp"
#include "espalier/kernel/model/motion/subspace.hpp"
#include "espalier/kernel/problems/task.hpp"

namespace espalier {

/// (dJ/dt) v: what the rows of a task accelerate by at vdot = 0, without gravity.
/// Frame: body.  Cost: O(n).  Source: Featherstone (2008), section 2.11 (spatial accelerations).
template <class T>
class TaskBias {
 public:
  TaskBias(const Model& model, const Task& task)
      : model_(model),
        task_(task),
        motion_(model),
        E_(model.body_count() + 1, Mat3<T>::identity()),
        v_(model.body_count() + 1, Motion<T>::zero()),
        a_(v_) {}

  /// @param[out] bias  m
  void compute(const T* q, const T* v, T* bias);

 private:
  /// Twist and spatial acceleration of a body from its parent's.
  template <class Ops>
  void forward_pass(const BodyRun& run, int k) {
    const int i = run.first + k, at = run.v + k * Ops::n;
    const int parent = model_.body(i).parent;
    const Transform<T>& X = motion_.joints.X[i];
    const Motion<T>* S = motion_.joints.S.data() + at;
    E_[i] = X.E * E_[parent];
    Motion<T> joint = Motion<T>::zero();
    Ops::add(joint, S, motion_.qd() + at);
    v_[i] = X * v_[parent] + joint;
    a_[i] = X * a_[parent] + cross(v_[i], joint);
    if (motion_.g() != nullptr) Ops::add(a_[i], S, motion_.g() + at);
    if constexpr (Ops::dense) a_[i] += motion_.joints.bias[i];
  }

  const Model& model_;
  const Task& task_;
  SpanningMotion<T> motion_;
  std::vector<Mat3<T>> E_;  ///< world to body axes
  std::vector<Motion<T>> v_, a_;
};

// Below the class, so that it can be compiled once for several plugins (instances/).
template <class T>
void TaskBias<T>::compute(const T* q, const T* v, T* bias) {
  motion_.update(q, v);
  for (const BodyRun& run : model_.runs()) {
    with_subspace(run, [&](auto ops) {
      for (int k = 0; k < run.count; ++k) forward_pass<decltype(ops)>(run, k);
    });
  }
  for (const Task::Part& part : task_.parts()) {
    const Motion<T>&twist = v_[part.body], &a = a_[part.body];
    Motion<T> rate = a;
    if (part.world) {
      const Vec3<T> velocity = twist.v + cross(twist.w, part.point);
      const Vec3<T> acceleration = a.v + cross(a.w, part.point) + cross(twist.w, velocity);
      rate = {transpose_times(E_[part.body], a.w), transpose_times(E_[part.body], acceleration)};
    }
    for (int i = 0; i < part.size(); ++i) bias[part.first + i] = dot(rate, part.rows[i]);
  }
}

}  // namespace espalier
