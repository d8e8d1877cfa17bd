#pragma once

#include <vector>

#include "espalier/kernel/model/model.hpp"

namespace espalier::detail {

/// Bodies of a model whose joints move no inertia at positions q, so that their accelerations do
/// not exist: the articulated-body recursion, run once. Bodies in constrained clusters are given
/// the benefit of the doubt.
std::vector<int> undrivable_bodies(const Model& model, const double* q);

/// The independent rate that takes the largest part in a motion without inertia, G^T H G not being
/// positive definite at positions q; -1 if there is none. Knows constrained clusters; dense, for
/// models in doubt. Models with joints of equations of their own are given the benefit of it.
int rate_without_inertia(const Model& model, const double* q);

}  // namespace espalier::detail
