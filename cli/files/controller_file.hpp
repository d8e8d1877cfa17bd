#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cli/session.hpp"
#include "espalier/simulation/simulation.hpp"

namespace espalier::cli {

/// Reads the controllers of a JSON file: one object, or a list of them under "controllers".
///
///   {"type": "constant", "tau": {joint: number or list}}
///   {"type": "pd", "joints": {joint: {"kp": , "kd": , "target": , "target_rate": }}}
///   {"type": "table", "time": [...], "tau": {joint: [...]}}
///   {"type": "table", "file": "torques.csv"}      header: time,joint,...; path from the JSON file
///
/// @throws Failure (wrong form: exit code 2), UnknownName, SizeMismatch, InvalidModel
std::vector<std::unique_ptr<Controller>> read_controllers(const Model& model,
                                                          const std::string& file);

}  // namespace espalier::cli
