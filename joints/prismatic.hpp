#pragma once

#include <espalier/plugin.hpp>

namespace espalier {

/// Translation along the axis: q = [displacement], v = [speed].
/// Source: Featherstone (2008), Table 4.1.
struct Prismatic {
  static constexpr int nq = 1, nv = 1;
  using Subspace = PrismaticAxes;

  explicit Prismatic(const JointSpec& /*joint*/) {}

  /// Origin of the successor on the axis, attitude kept.
  static std::vector<LoopRow> loop_rows(const JointSpec& joint) {
    std::vector<LoopRow> rows;
    const auto [u, w] = across(joint.axis);
    for (const Vec3<double>& direction : {u, w}) keep_offset(direction, rows);
    keep_axis(joint.axis, rows);
    rows.push_back({LoopRow::Kind::aligned, u, w, 0.0});
    rows.push_back({LoopRow::Kind::facing, u, u, 0.0});
    return rows;
  }

  template <class T>
  TranslationZ<T> position(const T* q) const {
    return {q[0]};
  }
};

}  // namespace espalier
