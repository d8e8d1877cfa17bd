#pragma once

#include <string>
#include <vector>

#include "tests/support/random_robot.hpp"
#include "tests/support/state.hpp"

/// Random robots with transmissions and loops of every kind, and states on them.

namespace espalier::test {

struct ClusterRobotOptions {
  unsigned long long seed = 1;
  int parts = 5;               ///< how many parts are put together
  bool floating_base = false;  ///< the base hangs on a floating joint, all else on the base
  /// Names of the parts to choose from (random_cluster_robot.cpp lists them); empty: all.
  std::vector<std::string> kinds;
};

/// Builds a robot part by part. Links are placed at the neutral position, where every joint's frame
/// coincides with its link's: loops close there by construction.
Description random_cluster_robot(const Registry& registry, const ClusterRobotOptions& options);

/// A state on closed loops, away from dead points: the smallest singular value of the dependent
/// columns is at least a hundredth of the largest where the robot has such positions.
State random_cluster_state(const Model& model, unsigned long long seed);

}  // namespace espalier::test
