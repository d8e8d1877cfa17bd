#pragma once

#include <vector>

#include "formats/urdf/urdf_elements.hpp"

namespace espalier::urdf {

/// Looks for misspelled elements and attributes: unknown ones beside a known word. What resembles
/// no known word is another program's, of which URDF files are full, and passes.
/// @param[out] findings  warnings that a strict reading refuses
void find_misspelled(const Elements& in, const XMLElement& robot, std::vector<Finding>& findings);

}  // namespace espalier::urdf
