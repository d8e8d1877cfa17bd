#pragma once

#include "benchmarks/sensors/counting.hpp"

namespace espalier::bench {

/// Forward dynamics of a chain by the matrix form of the articulated-body algorithm: with unknowns
/// f_i, a_i, qdd_i and the articulated inertias IA_i,
///   W_L D W_R is lower triangular,
/// so that forward substitution solves (Nori 2017, section V-C and appendix B, steps 1 to 5).
/// Counted are the recursion for IA, the products of the matrices and with the right side, the
/// substitution, and W_R times its result; what a zero or a one meets is not.
/// @param model  a chain of joints of one rate on the ground
/// @throws std::runtime_error if the product is not lower triangular at a random position
LuCount count_matrix_form(const Model& model);

}  // namespace espalier::bench
