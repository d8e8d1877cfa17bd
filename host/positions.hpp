#pragma once

#include <vector>

#include "espalier/kernel/model/closure.hpp"
#include "espalier/kernel/views.hpp"

/// Positions of a model as vectors whose sizes are checked: std::vector, std::span, Eigen.

namespace espalier {

/// The neutral position, loops closed; size nq.
ESPALIER_API std::vector<double> neutral_position(const Model& model);
/// A random position within the limits of joints, loops closed where they can be; size nq.
ESPALIER_API std::vector<double> random_position(const Model& model, unsigned long long seed);

/// As close(model, start, q, options) of kernel/model/closure.hpp.
/// @param model      whose loops are closed
/// @param start      assembled position, size nq
/// @param[in,out] q  independent positions, size nq; out: assembled
/// @param options    tolerance and when to give up
/// @throws SizeMismatch
ESPALIER_API Closure close(const Model& model, In<double> start, Out<double> q,
                           const CloseOptions& options = {});
/// Newton's method on the dependent positions from where they are. @throws SizeMismatch
ESPALIER_API Closure project(const Model& model, Out<double> q, const CloseOptions& options = {});
/// First assembly from any guess. @throws SizeMismatch
ESPALIER_API Closure assemble(const Model& model, Out<double> q, const CloseOptions& options = {});
/// Largest residual and smallest margin at a position, nothing moved. @throws SizeMismatch
ESPALIER_API Closure examine(const Model& model, In<double> q, const CloseOptions& options = {});

}  // namespace espalier
