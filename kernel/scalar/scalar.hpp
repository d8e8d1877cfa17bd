#pragma once

#include "espalier/kernel/scalar/count.hpp"
#include "espalier/kernel/scalar/pack.hpp"
#include "espalier/kernel/scalar/scalar_list.hpp"

/// The scalars of the closed list, complete.

namespace espalier {

/// Lane `k` of a pack.
template <class S, int n>
inline double lane(const BasicPack<S, n>& x, int k) {
  return x[k];
}
/// A counted number has one lane.
inline double lane(const Count& x, int /*k*/) { return x.value(); }

}  // namespace espalier
