#pragma once

/// Derivatives of the dynamics by the state, and the matrices that come with them.
///
/// Derivatives by q are along the tangent of the independent coordinates on the right, the
/// components of v and vdot held: d/de of q moved by e v as Model::integrate() does, loops closed;
/// for a floating joint e is the body's twist, angular part first. Matrices are nv x nv, row-major,
/// entry (i, j) the derivative of component i by coordinate j (theory/derivatives 11).
/// Results are one-sided where a load is not smooth (dry friction at rest).

#include "espalier/kernel/problems/centroidal_dynamics.hpp"
#include "espalier/kernel/problems/coriolis_matrix.hpp"
#include "espalier/kernel/problems/design_derivatives.hpp"
#include "espalier/kernel/problems/forward_dynamics_adjoint.hpp"
#include "espalier/kernel/problems/forward_dynamics_derivatives.hpp"
#include "espalier/kernel/problems/inverse_dynamics_adjoint.hpp"
#include "espalier/kernel/problems/inverse_dynamics_derivatives.hpp"
#include "espalier/kernel/problems/inverse_mass_matrix.hpp"
#include "espalier/kernel/problems/kinematics_derivatives.hpp"
#include "espalier/kernel/problems/step_derivatives.hpp"
