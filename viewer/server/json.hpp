#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "espalier/kernel/spatial/transform.hpp"

namespace espalier::viewer {

using Json = nlohmann::json;

/// One line of JSON; bytes that are no UTF-8 are replaced.
std::string to_text(const Json& document);
/// [x, y, z, qx, qy, qz, qw]: where a frame is in its parent, rounded to what a screen shows.
/// @param X  from the parent's frame to the frame
Json placement(const Transform<double>& X);
/// Appends the same seven numbers, not rounded, to a list.
void append_placement(const Transform<double>& X, double* seven);

}  // namespace espalier::viewer
