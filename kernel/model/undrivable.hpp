#pragma once

#include <vector>

#include "espalier/kernel/model/model.hpp"

namespace espalier::detail {

/// Bodies of a model whose joints move no inertia at positions q, so that their accelerations do
/// not exist: the articulated-body recursion, run once. Bodies in constrained clusters are given
/// the benefit of the doubt.
std::vector<int> undrivable_bodies(const Model& model, const double* q);

}  // namespace espalier::detail
