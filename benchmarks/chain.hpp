#pragma once

#include <string>

namespace espalier::bench {

/// A chain of revolute bodies as URDF text, so that every library reads the same robot: axes x, y,
/// z in turn, turned and offset joint frames, general inertias. The same text for the same number.
std::string chain_urdf(int bodies);

}  // namespace espalier::bench
