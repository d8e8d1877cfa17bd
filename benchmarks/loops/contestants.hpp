#pragma once

#include <vector>

#include "benchmarks/contestant.hpp"
#include "benchmarks/loops/robots.hpp"
#include "benchmarks/report.hpp"

namespace espalier::bench {

/// What an algorithm is called where it runs on the model whose rotors are bodies.
std::string with_rotors(const std::string& algorithm);

/// Every registered algorithm for forward and inverse dynamics and for the inverse OSIM that can
/// run on the robot, on the model with folded rotors and, if it is exact, on the one that keeps
/// them. The first for each work, c-aba, c-rnea and c-efpa on the former, are the references.
/// Approximate ones may differ by any finite number.
Contestants our_loop_contestants(const Host& host, const LoopRobot& robot, Refusals& refused);

/// Pinocchio's exact ways for a robot with loops: rotors as bodies, projection and a dense factor
/// where all clusters are geared; contact models where the robot consists of four-bars.
/// @throws std::runtime_error: the module is absent, or what stands in the way
Contestants pinocchio_loop_contestants(const LoopRobot& robot);

}  // namespace espalier::bench
