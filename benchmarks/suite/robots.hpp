#pragma once

#include <string>
#include <utility>
#include <vector>

#include "benchmarks/robot.hpp"

namespace espalier::bench {

/// Lengths of the chains.
inline constexpr int chain_lengths[] = {2, 5, 10, 20, 50, 100, 200, 500};
std::string chain_name(int bodies);

/// Robots without loops that are not there, and why.
using Absent = std::vector<std::pair<std::string, std::string>>;

/// Robots of the repository, those of ../shared/robots where that folder is, and talos.urdf there
/// if somebody has put it there.
std::vector<Robot> tree_robots(const Host& host, Absent& absent);
/// Chains of all lengths.
std::vector<Robot> chains(const Host& host);
/// Binary and ternary trees of revolute bodies, `tree_60`, `tree_60_ternary` and `tree_254`; the
/// humanoid with two hands, `humanoid_hands`; an arm without exact right angles, `general_arm`.
std::vector<Robot> generated_robots(const Host& host);

/// The URDF without its root link and the floating joint that hangs on it: peers bring a floating
/// joint of their own.
/// @throws InvalidModel if there is no floating joint, or its text is not XML
std::string without_floating_joint(const std::string& urdf);

}  // namespace espalier::bench
