#pragma once

#include <type_traits>

#include "algorithms/derivatives/variation/mass_factor/branch_solves.hpp"
#include "algorithms/derivatives/variation/mass_factor/lane_mass_factor.hpp"

namespace espalier {

/// What factors M at a scalar.
template <class T>
using MassFactor = std::conditional_t<std::is_same_v<T, double>, BranchFactor, LaneMassFactor<T>>;

/// In the place of BranchSolves where robots are lanes, whose factor solves itself.
struct NoSolves {
  explicit NoSolves(const Model&, bool = false) {}
};

}  // namespace espalier
