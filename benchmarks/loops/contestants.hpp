#pragma once

#include <vector>

#include "benchmarks/contestant.hpp"
#include "benchmarks/loops/robots.hpp"
#include "benchmarks/report.hpp"

namespace espalier::bench {

/// What an algorithm is called where it runs on the model whose rotors are bodies.
std::string with_rotors(const std::string& algorithm);

/// Derivatives of forward dynamics, exact and by central differences, and every registered
/// algorithm for forward and inverse dynamics and for the inverse OSIM that can run on the robot,
/// on the model with folded rotors and, if it is exact, on the one that keeps them. The first for
/// each work, c-aba, c-rnea and c-efpa on the former, are the references. Approximate ones may
/// differ by any finite number.
Contestants our_loop_contestants(const Host& host, const LoopRobot& robot, Refusals& refused);

/// Adds the exact ways of the libraries whose modules are there (benchmarks/peers), rotors as
/// bodies. Pinocchio: projection and a dense factor where all clusters are geared; contact models
/// where loops are closed by points. generalized_rbda: C-ABA and projection on both. Beside them
/// lcaba of Pinocchio 4, which iterates and may differ by a tenth. A library that cannot be loaded
/// or cannot build the robot is among the refused.
void add_loop_peers(const LoopRobot& robot, Contestants& all, Refusals& refused);

}  // namespace espalier::bench
