#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/session.hpp"
#include "espalier/kernel/model/closure.hpp"

/// Positions of a robot whose loops may be open, and what came of closing them: for 'close' and
/// 'assemble'.

namespace espalier::cli {

/// Reads "q" of a state file ("-": standard input; other parts are not looked at) and what is set
/// on the command line; joints that neither names stay.
/// @param sets          of the form joint=number or joint=number,number,...
/// @param[in,out] q     spanning positions, size nq; normalised, nothing is closed
/// @throws Failure (wrong form: exit code 2), UnknownName, SizeMismatch
void read_positions(const Model& model, const std::optional<std::string>& file,
                    const std::vector<std::string>& sets, std::vector<double>& q);

/// Prints verdict, numbers and positions; writes them as a state file if wanted.
/// @return exit code: 0 if loops are closed and no dead point lay in the way
int report_closure(Session& session, const Model& model, const Closure& closure,
                   const std::vector<double>& q, const std::optional<std::string>& output);

/// Warns of clusters whose independent joints hardly determine the others at a position.
/// @param where  "the neutral position", "the start", ...
void warn_near_dead_points(Session& session, const Model& model, const std::vector<double>& q,
                           const std::string& where);

}  // namespace espalier::cli
