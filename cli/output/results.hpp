#pragma once

#include <string>

#include "cli/session.hpp"

/// Presentation of what algorithms answer: named matrices, shown by what their rows and columns
/// stand for.

namespace espalier::cli {

/// Adds results to a document under their names: vectors over rates and tables over links as
/// objects by name, other matrices as rows; Jacobians of links come under "jacobians".
void add_results(const Model& model, const Results& results, Json& document);

/// Readable tables of the same.
/// @param setup  of the algorithms
std::string describe(const Setup& setup, const Results& results);

/// @throws SingularMechanism naming algorithm, result and joint, link or row of an end-effector if
///         a number is not finite
void expect_finite(const std::string& algorithm, const Setup& setup, const Results& results);

/// Name of rate k: its joint, with an index if the joint has several.
std::string rate_label(const Model& model, int rate);

}  // namespace espalier::cli
