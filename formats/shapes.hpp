#pragma once

#include <optional>
#include <string>

#include "espalier/kernel/model/geometry.hpp"

/// What sizes of shapes the formats read and write.

namespace espalier::formats {

/// "radius is -1, expected a number that is not negative", if a size is negative or no number.
std::optional<std::string> wrong_size(const Shape& shape);
/// Whether a solid has an edge, a radius or a length of zero.
bool is_flat(const Shape& shape);

}  // namespace espalier::formats
