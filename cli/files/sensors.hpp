#pragma once

#include <string>
#include <vector>

#include "cli/files/json_form.hpp"

/// Sensor files:
///   {"sensors": [{"kind": "torque", "joint": name, "value": 1.2, "covariance": 0.01},
///                {"kind": "wrench", "link": name, "xyz": [3], "rpy": [3], "rows": ["fz", "mx"],
///                 "value": [2 numbers]}, ...]}

namespace espalier::cli {

/// Sensors of a file and what they measured.
struct SensorFile {
  std::string file;
  std::vector<Sensor> sensors;
  std::vector<std::vector<double>> values;  ///< per sensor; empty where the file has none

  /// Whether any sensor has values.
  bool measured() const;
  /// All values in the order of SensorSystem::measurement_names().
  /// @throws SizeMismatch naming a sensor whose values are missing or not as many as it has rows
  std::vector<double> measurements(const Model& model) const;
};

/// @param file  "-": standard input
/// @throws Failure (wrong form: exit code 2), UnknownName with a suggestion
SensorFile read_sensors(const std::string& file, const Model& model);

/// A sensor as such a file has it.
Json sensor_json(const Sensor& sensor);

}  // namespace espalier::cli
