#pragma once

#include <string>

namespace espalier::bench {

/// A chain of revolute bodies as URDF text, so that every library reads the same robot: axes x, y,
/// z in turn, turned and offset joint frames, general inertias. The same text for the same numbers.
/// @param branches  bodies that hang on each body: of 1 a chain, of 2 a binary tree
std::string chain_urdf(int bodies, int branches = 1);

}  // namespace espalier::bench
