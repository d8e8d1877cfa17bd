#pragma once

#include <functional>
#include <string>

#include "tests/support/end_effectors.hpp"
#include "tests/support/host.hpp"
#include "tests/support/random_cluster_robot.hpp"
#include "tests/support/random_robot.hpp"

/// The random robots with random end-effectors on which operational-space algorithms are compared.

namespace espalier::test {

inline constexpr int task_robots = 200;  // of each kind, as the specification asks

/// A robot at a state, with what is asked of it.
struct TaskCase {
  espalier::Setup setup;
  State state;
  const Model& model() const { return *setup.model; }
};

inline TaskCase on_tree(unsigned long long seed) {
  using Shape = RobotOptions::Shape;
  static constexpr Shape shapes[] = {Shape::random, Shape::chain, Shape::binary, Shape::star};
  RobotOptions options;
  options.seed = seed;
  options.bodies = 1 + static_cast<int>(seed % 25);
  options.shape = shapes[seed / 8 % 4];
  options.floating_base = seed % 3 == 0;
  const ModelPtr model = host().compile(random_robot(host().registry(), options));
  return {{model, random_end_effectors(*model, seed)}, random_state(*model, 500 + seed)};
}

inline TaskCase on_clusters(unsigned long long seed) {
  ClusterRobotOptions options;
  options.seed = seed;
  options.parts = 1 + static_cast<int>(seed % 7);
  options.floating_base = seed % 3 == 0;
  const ModelPtr model = host().compile(random_cluster_robot(host().registry(), options));
  return {{model, random_end_effectors(*model, seed)}, random_cluster_state(*model, 1000 + seed)};
}

/// Calls f for every step-th robot of either kind.
inline void for_each_task(const std::function<void(const TaskCase&)>& f, int step = 1) {
  for (int seed = 0; seed < task_robots; seed += step) {
    {
      SCOPED_TRACE("tree of seed " + std::to_string(seed));
      f(on_tree(seed));
    }
    SCOPED_TRACE("cluster robot of seed " + std::to_string(seed));
    f(on_clusters(seed));
  }
}

}  // namespace espalier::test
