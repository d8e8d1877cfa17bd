#pragma once

#include <string>
#include <vector>

#include "espalier/kernel/problems/algorithm.hpp"
#include "tests/support/random.hpp"

/// Ways to cut a robot into subsystems.

namespace espalier::test {

using Groups = std::vector<SubsystemGroup>;

/// One group "g<k>" for each number k >= 0 that clusters have; others are in none.
inline Groups groups_of(const Model& model, const std::vector<int>& of_cluster) {
  Groups groups;
  std::vector<int> index(of_cluster.size(), -1);
  for (const Joint& joint : model.joints()) {
    const int k = of_cluster[model.body(joint.body).cluster];
    if (k < 0) continue;
    if (index[k] < 0) {
      index[k] = static_cast<int>(groups.size());
      groups.push_back({"g" + std::to_string(k), {}});
    }
    groups[index[k]].joints.push_back(joint.name);
  }
  return groups;
}

inline Groups whole_robot(const Model& model) {
  return groups_of(model, std::vector<int>(model.clusters().size(), 0));
}

/// All that hangs on one cluster of those on the ground; these are on their own.
inline Groups whole_chains(const Model& model) {
  std::vector<int> chain;
  for (const Cluster& c : model.clusters()) {
    const int own = static_cast<int>(chain.size());
    if (c.parent < 0) {
      chain.push_back(-1);
    } else {
      chain.push_back(chain[c.parent] < 0 ? own : chain[c.parent]);
    }
  }
  return groups_of(model, chain);
}

/// Each cluster joins its parent, a cluster beside it on a common body, or none.
inline Groups random_groups(const Model& model, unsigned long long seed) {
  Rng rng(seed);
  const auto clusters = model.clusters();
  std::vector<int> group;
  for (std::size_t c = 0; c < clusters.size(); ++c) {
    int joined = rng.chance(0.7) ? static_cast<int>(c) : -1;  // -1: in no group
    for (std::size_t other = 0; other < c; ++other) {
      const bool on_it = clusters[c].parent == static_cast<int>(other);
      const bool beside = clusters[c].supports[0] == clusters[other].supports[0];
      if (group[other] >= 0 && (on_it || beside) && rng.chance(0.4)) joined = group[other];
    }
    group.push_back(joined);
  }
  return groups_of(model, group);
}

}  // namespace espalier::test
