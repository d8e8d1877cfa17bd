#pragma once

/// Derivatives of the dynamics by the state, and the matrices that come with them.
///
/// Derivatives by q are along the tangent of the independent coordinates on the right, the
/// components of v and vdot held: d/de of q moved by e v as Model::integrate() does, loops closed;
/// for a floating joint e is the body's twist, angular part first. Matrices are nv x nv, row-major,
/// entry (i, j) the derivative of component i by coordinate j (theory/derivatives 11).
/// Results are one-sided where a load is not smooth (dry friction at rest).

#include "espalier/kernel/problems/derivatives/design_derivatives.hpp"
#include "espalier/kernel/problems/derivatives/forward_dynamics_adjoint.hpp"
#include "espalier/kernel/problems/derivatives/forward_dynamics_derivatives.hpp"
#include "espalier/kernel/problems/derivatives/inverse_dynamics_adjoint.hpp"
#include "espalier/kernel/problems/derivatives/inverse_dynamics_derivatives.hpp"
#include "espalier/kernel/problems/derivatives/kinematics_derivatives.hpp"
#include "espalier/kernel/problems/derivatives/step_derivatives.hpp"
#include "espalier/kernel/problems/dynamics/coriolis_matrix.hpp"
#include "espalier/kernel/problems/dynamics/inverse_mass_matrix.hpp"
#include "espalier/kernel/problems/kinematics/centroidal_dynamics.hpp"
