#pragma once

#include <espalier/plugin.hpp>

namespace espalier {

/// Translation along the axis: q = [displacement], v = [speed].
/// Source: Featherstone (2008), Table 4.1.
struct Prismatic {
  static constexpr int nq = 1, nv = 1;
  using Subspace = PrismaticAxes;

  explicit Prismatic(const JointSpec& /*joint*/) {}

  template <class T>
  TranslationZ<T> position(const T* q) const {
    return {q[0]};
  }
};

}  // namespace espalier
