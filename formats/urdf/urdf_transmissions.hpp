#pragma once

#include <vector>

#include "formats/urdf/urdf_elements.hpp"

namespace espalier::urdf {

/// Makes an input of each joint that a <transmission> names, unless the robot has one for it, and
/// says which gears hide rotors that dynamics leave out.
/// @param robot           the element, whose links and joints are read already
/// @param[in,out] out     gets actuators
/// @param[out] findings   warnings: reductions that are not 1, joints that are unknown
void read_transmissions(const Elements& in, const XMLElement& robot, Description& out,
                        std::vector<Finding>& findings);

}  // namespace espalier::urdf
