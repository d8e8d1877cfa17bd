#pragma once

#include "espalier/kernel/scalar/pack.hpp"

namespace espalier {

/// Three numbers and three more, side by side, by two stores.
inline void store_six(const Quad& a, const Quad& b, double* to) {
  a.store(to);  // the last number is overwritten
  Quad(__builtin_shufflevector(a.lanes, b.lanes, 2, 4, 5, 6)).store(to + 2);
}

}  // namespace espalier
