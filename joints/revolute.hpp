#pragma once

#include <espalier/plugin.hpp>

namespace espalier {

/// Rotation about the axis, right-handed: q = [angle], v = [rate].
/// Source: Featherstone (2008), Table 4.1.
struct Revolute {
  static constexpr int nq = 1, nv = 1;
  using Subspace = RevoluteAxes;

  explicit Revolute(const JointSpec& /*joint*/) {}

  /// Origins together, axes parallel.
  static std::vector<LoopRow> loop_rows(const JointSpec& joint) {
    std::vector<LoopRow> rows;
    const auto [u, w] = across(joint.axis);
    for (const Vec3<double>& direction : {u, w, joint.axis}) keep_offset(direction, rows);
    keep_axis(joint.axis, rows);
    return rows;
  }

  template <class T>
  RotationZ<T> position(const T* q) const {
    return RotationZ<T>::by(q[0]);
  }
};

}  // namespace espalier
