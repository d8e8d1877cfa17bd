#pragma once

#include <string>
#include <vector>

#include "espalier/kernel/model/description.hpp"
#include "espalier/kernel/model/joint.hpp"
#include "espalier/plugins/registry.hpp"
#include "tests/support/random.hpp"

/// Random robots: trees of any size and shape with all registered joint types.

namespace espalier::test {

struct RobotOptions {
  enum class Shape { random, chain, star, binary };
  int bodies = 10;
  Shape shape = Shape::random;
  unsigned long long seed = 1;
  std::vector<std::string> types;  ///< of joints; empty: all registered ones that move
                                   ///< and bring no equations of their own
  double several_rates = 0.3;      ///< share of joints of several rates, where types is empty
  bool floating_base = false;      ///< the first body hangs on a floating joint
  double welded = 0.3;             ///< share of joints that get a welded link before and after
  double armature = 0.3;           ///< share of joints with armature
  double length = 0.3;             ///< largest coordinate of placements and centres of mass [m]
};

/// Mass, centre of mass and an inertia that a body can have, in turned axes.
Inertial random_inertial(Rng& rng, double length);

Pose random_pose(Rng& rng, double length);

/// A joint of a type with random axis, parameters and placement. Parameters are the type's sample
/// or, where it has none, directions if their name begins with "axis" and else positive numbers.
JointDescription random_joint(Rng& rng, const JointType& type, const std::string& name,
                              const std::string& parent, const std::string& child, double length);

/// Registered joint types that move and bring no equations of their own, by the number of rates.
std::vector<const JointType*> moving_types(const Registry& registry, bool several_rates);

/// A robot with `bodies` moving links "link1", ..., on joints "joint1", ... and welded links with
/// and without mass between them. Root "base".
Description random_robot(const Registry& registry, const RobotOptions& options);

}  // namespace espalier::test
