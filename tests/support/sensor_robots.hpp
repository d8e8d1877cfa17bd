#pragma once

#include <string>
#include <vector>

#include "tests/support/host.hpp"
#include "tests/support/random_cluster_robot.hpp"
#include "tests/support/simple_robot.hpp"
#include "tests/support/state.hpp"

/// Robots and states for dynamics from sensors.

namespace espalier::test {

/// Every third with a floating base; joints that bring no equations of their own.
inline ModelPtr random_tree(unsigned long long seed, int bodies) {
  RobotOptions options;
  options.seed = seed;
  options.bodies = bodies;
  options.floating_base = seed % 3 == 0;
  options.types = {"revolute",    "revolute",  "prismatic", "helical",
                   "cylindrical", "universal", "spherical", "planar"};
  return host().compile(random_robot(host().registry(), options));
}

inline ModelPtr random_cluster_tree(unsigned long long seed, int parts) {
  ClusterRobotOptions options;
  options.seed = seed;
  options.parts = parts;
  options.floating_base = seed % 3 == 0;
  return host().compile(random_cluster_robot(host().registry(), options));
}

/// q of a tree with every joint of one rate at 0, 90 or 180 degrees (or metres' hundredths).
inline std::vector<double> special_position(const Model& model, Rng& rng) {
  std::vector<double> q(model.nq());
  model.neutral(q.data());
  for (const Joint& joint : model.joints()) {
    if (joint.nq == 1 && joint.nv == 1) q[joint.q] = 1.5707963267948966 * rng.below(3);
  }
  return q;
}

/// A pelvis that floats on two legs of joints along the axes given, soles "left_foot" and
/// "right_foot" whose normals are z. @param drop  how much lower the right sole is [m]
inline ModelPtr biped(const std::vector<Vec3<double>>& axes, double drop = 0.0) {
  Description robot = ground();
  add_solid(robot, "pelvis");
  add_joint(robot, "root", "floating", "base", "pelvis");
  for (const char* side : {"left", "right"}) {
    const double y = std::string(side) == "left" ? 0.1 : -0.1;
    std::string parent = "pelvis";
    for (std::size_t k = 0; k < axes.size(); ++k) {
      const bool last = k + 1 == axes.size();
      const std::string link = std::string(side) + (last ? "_foot" : "_" + std::to_string(k));
      add_solid(robot, link);
      const double extra = last && y < 0 ? drop : 0.0;
      add_joint(robot, std::string(side) + "_joint" + std::to_string(k), "revolute", parent, link,
                axes[k], {{0.0, k == 0 ? y : 0.0, -0.3 - extra}, {0, 0, 0}});
      parent = link;
    }
  }
  return host().compile(robot);
}

/// Accelerations of all joints, the pelvis' included, and the components of both feet's wrenches.
inline std::vector<Sensor> standing(const Model& model,
                                    const std::vector<std::string>& components) {
  std::vector<Sensor> all;
  for (const Coordinate& c : model.coordinates()) {
    all.push_back({.kind = Sensor::Kind::acceleration, .joint = c.name});
  }
  for (const char* foot : {"left_foot", "right_foot"}) {
    Sensor s{.kind = Sensor::Kind::wrench, .link = foot};
    for (const std::string& c : components) s.rows.push_back(Sensor::row_of(c));
    all.push_back(s);
  }
  return all;
}

}  // namespace espalier::test
