#pragma once

#include <string>
#include <vector>

#include "benchmarks/loops/robots.hpp"

namespace espalier::bench {

/// A mechanism that is one cluster, as one of a kind that comes in sizes.
struct Mechanism {
  std::string kind;  ///< "ladder": what grows along one line of the tables
  Description description;
};

/// Ladders, scissor lifts, nets, random loops, parallel chains with a rod or a belt between their
/// tips, the Stewart platform: generated, the same for the same size (tests/support/big_clusters).
/// @param small  those alone that take no time to compare
std::vector<Mechanism> mechanisms(bool small);

/// Compiles one and draws its states: near its neutral position, so that all of them close. Peers
/// close its loops by the points that these share.
LoopRobot robot_of(const Host& host, const Mechanism& mechanism);

}  // namespace espalier::bench
