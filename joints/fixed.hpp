#pragma once

#include <espalier/plugin.hpp>

namespace espalier {

/// No motion: a weld. In a tree the compiler folds the child into the parent's body; as a loop
/// joint it ties two frames together. The axis has no meaning.
struct Fixed {
  static constexpr int nq = 0, nv = 0;
  using Subspace = Axes<>;

  explicit Fixed(const JointSpec& /*joint*/) {}

  static Mat3<double> alignment(const JointSpec& /*joint*/) { return Mat3<double>::identity(); }

  /// Frames together.
  static std::vector<LoopRow> loop_rows(const JointSpec& /*joint*/) {
    const Vec3<double> axes[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    std::vector<LoopRow> rows;
    for (int i = 0; i < 3; ++i) {
      keep_offset(axes[i], rows);
      rows.push_back({LoopRow::Kind::aligned, axes[i], axes[(i + 1) % 3], 0.0});
      rows.push_back({LoopRow::Kind::facing, axes[i], axes[i], 0.0});
    }
    return rows;
  }

  template <class T>
  Transform<T> position(const T* /*q*/) const {
    return Transform<T>::identity();
  }
};

}  // namespace espalier
