#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

/// What a joint has besides its type: parameters, limits and passive forces.

namespace espalier {

/// Named numbers of a joint or sub-mechanism ("pitch", "axis2", "ratio", ...).
using Parameters = std::map<std::string, std::vector<double>>;

/// Limits of a joint of one rate.
struct Limits {
  std::optional<double> lower, upper;  ///< position [rad or m]
  std::optional<double> velocity;      ///< [rad/s or m/s]
  std::optional<double> effort;        ///< [N·m or N]
};

/// Passive forces of a joint; they act only where they are asked for.
struct PassiveDynamics {
  double damping = 0.0;    ///< tau -= damping v [N·m·s/rad or N·s/m]
  double friction = 0.0;   ///< tau -= friction sign(v) [N·m or N]
  double stiffness = 0.0;  ///< tau -= stiffness (q - rest) [N·m/rad or N/m]
  double rest = 0.0;       ///< [rad or m]
};

}  // namespace espalier
