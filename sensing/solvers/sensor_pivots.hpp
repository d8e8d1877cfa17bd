#pragma once

#include <vector>

#include "espalier/sensing/sensor_dynamics.hpp"
#include "sensing/solvers/fixed_solver.hpp"

namespace espalier {

/// The square system of sensors as a pattern. @pre system.square()
SparsePattern pattern_of(const SensorSystem& system);

/// Pivots of a system that are good at every position: from the tips to the base, f_i on rows (f_i)
/// and a_i on rows (a_i), which are -1 whatever has been eliminated before; then each rate's
/// acceleration on its row (tau), where the torque is known, which gives the joint's articulated
/// inertia S^T IA S > 0, or the torque on that row, which is -1. Where block triangular form has
/// put some of these apart (a force along a joint's axis is known for itself), the body's rows and
/// columns that are left meet in the same inertia. Dependent rates of couplings stand
/// on their couplings' rows, other multipliers on those of their constraints, as far as they are
/// large enough. With torques known everywhere this elimination is the articulated-body algorithm.
/// Source: theory/sparse 6.
std::vector<PivotStep> safe_pivots(const SensorSystem& system);

/// The order for a square system: from a text that was saved, or by analysis.
/// @throws InvalidModel for a text that does not fit; Unsupported if no order is good at all
/// sampled
///         positions
PivotOrder order_for(SensorSystem& system, const std::string& symbolic);

/// Refuses sensors that determine nothing. @throws SingularMechanism with the verdict
void expect_well_posed(SensorSystem& system);

/// @throws Unsupported for a system with more or fewer equations than unknowns
void expect_square(const char* algorithm, const SensorSystem& system);

/// Of one solution in a fixed order.
SensorDynamics<double>::Operations operations_of(const FixedLu& lu);

/// Where a matrix cannot be solved: NaN, as in all
/// algorithms. @param[out] d  NaN  @throws SingularMechanism if the system is finite, naming the
/// unknown where it is known
void give_up(const SensorSystem& system, const FixedSolver* solver, double* d);

}  // namespace espalier
