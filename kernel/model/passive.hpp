#pragma once

#include "espalier/kernel/model/model.hpp"

namespace espalier {

/// Computes the generalized forces of dampers, dry friction and springs in the joints: on each rate
/// of a joint -damping qd - friction sign(qd), sign(0) = 0, and on joints of one position
/// -stiffness (q - rest). Forces of dependent joints are generalized by G^T (SPEC 5.1).
/// They act only where a caller adds them to tau; no algorithm does.
/// @param q         spanning positions, size nq
/// @param v         independent rates, size nv
/// @param[out] tau  generalized forces, size nv [N·m, N]
/// @throws Unsupported if a joint under an implicit loop constraint has passive forces
ESPALIER_API void passive_forces(const Model& model, const double* q, const double* v, double* tau);

}  // namespace espalier
