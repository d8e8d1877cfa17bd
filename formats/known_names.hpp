#pragma once

#include "espalier/kernel/model/description.hpp"

namespace espalier {

/// Before a robot is written into a format that resolves names while it writes.
/// @throws InvalidModel naming the first link, joint or constraint whose name is given twice, or
///         the first part that names a link or joint that the robot has not
void expect_known_names(const Description& robot);

}  // namespace espalier
