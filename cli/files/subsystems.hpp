#pragma once

#include <string>
#include <vector>

#include "cli/files/json_form.hpp"
#include "espalier/kernel/problems/dynamics/subsystem_matrices.hpp"

/// Bremer's subsystems in state files, on the command line and in answers.

namespace espalier::cli {

/// Groups of a state file: {name: [joints]}. Names are checked by the algorithms.
/// @throws Failure (wrong form)
std::vector<SubsystemGroup> read_groups(const Json& value, const JsonForm& form);
/// What reads back as these groups.
Json to_json(const std::vector<SubsystemGroup>& groups);
/// Joints whose names are the same up to the first dot, as those of one subsystem of a composed
/// robot are; joints without a dot are in no group.
std::vector<SubsystemGroup> groups_by_name(const Model& model);

/// {name: {"parent": name or "ground", "outputs": [links], "rates": [...], "inputs": [...],
///         "y": [...], "M": [rows], "h": [...], "B": [rows], "T": [rows], "F": [rows], "c": [...]}}
/// at the last call.
Json to_json(const SubsystemMatrices<double>& matrices);
/// A table of what hangs on what and how y is made up, for people.
std::string describe(const SubsystemMatrices<double>& matrices);

}  // namespace espalier::cli
