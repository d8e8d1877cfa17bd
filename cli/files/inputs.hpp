#pragma once

#include <vector>

#include "cli/files/json_form.hpp"
#include "espalier/kernel/problems/operational_space/input_matrix.hpp"

/// Inputs in state files: motors and contacts whose answer the input matrix is.
///   [{"joint": name} |
///    {"link": name, "offset": [x, y, z], "rows": "6d" | "3d" | [[6 numbers], ...],
///     "axes": "link" | "world"}]
/// each with a "name" for its columns, if that of the joint or link does not do.

namespace espalier::cli {

/// @throws Failure (wrong form), UnknownName, SizeMismatch
std::vector<Input> read_inputs(const Json& list, const JsonForm& form, const Model& model);
/// What reads back as these inputs.
Json inputs_json(const std::vector<Input>& inputs);

}  // namespace espalier::cli
