#pragma once

#include <espalier/plugin.hpp>

namespace espalier {

/// Rotation about and translation along the axis: q = [angle, displacement], v their rates. Both
/// motions commute, so that S is constant.
/// Source: Featherstone (2008), Table 4.1.
struct Cylindrical {
  static constexpr int nq = 2, nv = 2;
  using Subspace = Axes<2, 5>;

  explicit Cylindrical(const JointSpec& /*joint*/) {}

  /// Axes on one line.
  static std::vector<LoopRow> loop_rows(const JointSpec& joint) {
    std::vector<LoopRow> rows;
    const auto [u, w] = across(joint.axis);
    for (const Vec3<double>& direction : {u, w}) keep_offset(direction, rows);
    keep_axis(joint.axis, rows);
    return rows;
  }

  template <class T>
  ScrewZ<T> position(const T* q) const {
    ScrewZ<T> X;
    sincos(q[0], X.s, X.c);
    X.d = q[1];
    return X;
  }
};

}  // namespace espalier
