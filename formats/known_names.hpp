#pragma once

#include "espalier/kernel/model/description.hpp"

namespace espalier {

/// Before a robot is written into a format that resolves names while it writes.
/// @throws InvalidModel naming the first link, joint or constraint whose name is given twice, the
///         first part that names a link, joint or shape that the robot has not, or a link that is
///         called "world" and hangs on a joint
void expect_known_names(const Description& robot);

}  // namespace espalier
