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

  template <class T>
  Transform<T> position(const T* /*q*/) const {
    return Transform<T>::identity();
  }
};

}  // namespace espalier
