#pragma once

#include <gtest/gtest.h>

#include "tests/support/host.hpp"
#include "tests/support/random_cluster_robot.hpp"

/// The robots on which kinematics is held against dense products.

namespace espalier::test {

/// Calls f(model, seed) for trees of all joints, of 1, 2, ... bodies, every second one floating.
template <class F>
void for_each_random_tree(int count, F&& f) {
  for (int seed = 0; seed < count; ++seed) {
    SCOPED_TRACE(seed);
    RobotOptions options;
    options.seed = seed;
    options.bodies = 1 + seed;
    options.floating_base = seed % 2 == 0;
    f(host().compile(random_robot(host().registry(), options)), seed);
  }
}
/// The same for robots with loops, every third one floating.
template <class F>
void for_each_random_cluster_robot(int count, F&& f) {
  for (int seed = 0; seed < count; ++seed) {
    SCOPED_TRACE(seed);
    ClusterRobotOptions options;
    options.seed = seed;
    options.floating_base = seed % 3 == 0;
    f(host().compile(random_cluster_robot(host().registry(), options)), seed);
  }
}

}  // namespace espalier::test
