#pragma once

#include <span>
#include <vector>

#include "espalier/kernel/model/layout.hpp"

/// The same robot described a little differently: models that share everything with the one that
/// they are made from, but for one thing. Sizes, spanning positions and spanning rates are the
/// same.

namespace espalier {

/// The same robot with other independent joints in one cluster: rows of G that follow the position
/// are solved for other columns. Positions q serve both models; rates v of one are
/// qd[independent_rates()] of the other, exactly.
/// @param model    compiled
/// @param cluster  index among Model::clusters(); its G depends on the position
/// @param columns  of its constraint (ClusterConstraint::rate says whose), as many as it has
///                 independent rates, each once
/// @throws InvalidModel for a cluster whose G is constant, a wrong number of columns or one that is
///         none or twice there
ESPALIER_API ModelPtr with_independent(const Model& model, int cluster,
                                       std::span<const int> columns);

/// The same robot with more armature on its spanning rates: algorithms of it have
/// M + G^T diag(added) G for M.
/// @param model  compiled
/// @param added  for each spanning rate, not below zero [kg·m² or kg]
/// @throws SizeMismatch; InvalidModel for a number that is negative or not finite
ESPALIER_API ModelPtr with_armature(const Model& model, std::span<const double> added);

}  // namespace espalier
