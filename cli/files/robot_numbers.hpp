#pragma once

#include <string>

#include "espalier/kernel/model/description.hpp"

namespace espalier::cli {

/// A number of a robot as it was read: "laws.knee.crank", "joints.knee.xyz[2]", ...
/// @param who  for errors
/// @throws Failure naming the target and what is known
double& number_of(Description& robot, const std::string& target, const std::string& who);

}  // namespace espalier::cli
