#include <cmath>
#include <limits>

#include "tests/support/host.hpp"
#include "tests/support/random_cluster_robot.hpp"
#include "tests/torture/agreement.hpp"

namespace espalier::torture {

namespace {

/// Numbers that are legal where they are not meant, and others that never are.
double absurd(Rng& rng) {
  static const double numbers[] = {0.0,
                                   -0.0,
                                   -1.0,
                                   1e9,
                                   -1e9,
                                   1e30,
                                   1e-30,
                                   1e154,
                                   1e-154,
                                   1e300,
                                   1e308,
                                   5e-324,
                                   1e-308,
                                   std::numeric_limits<double>::infinity(),
                                   std::numeric_limits<double>::quiet_NaN(),
                                   0.1};
  return numbers[rng.below(static_cast<int>(std::size(numbers)))];
}

/// Some link or joint; robots have at least one of each.
template <class Parts>
auto& one_of(Rng& rng, Parts& parts) {
  return parts[rng.below(static_cast<int>(parts.size()))];
}

/// Takes away what makes a mass matrix regular.
void make_singular(Rng& rng, Description& robot) {
  for (int k = 1 + rng.below(3); k-- > 0;) {
    LinkDescription& link = one_of(rng, robot.links);
    switch (rng.below(4)) {
      case 0:
        link.inertial.reset();
        break;
      case 1:  // a point on some axis
        if (link.inertial) link.inertial->I = {}, link.inertial->origin = {};
        break;
      case 2:
        if (link.inertial) link.inertial->mass = 0.0, link.inertial->I = {};
        break;
      default: {  // two joints with one axis
        if (robot.joints.size() < 2) break;
        JointDescription& joint = one_of(rng, robot.joints);
        joint.origin = {};
        joint.armature = 0.0;
        break;
      }
    }
  }
}

/// Puts numbers and names where nobody expects them.
void make_absurd(Rng& rng, Description& robot) {
  for (int k = 1 + rng.below(3); k-- > 0;) {
    LinkDescription& link = one_of(rng, robot.links);
    if (robot.joints.empty()) return;
    JointDescription& joint = one_of(rng, robot.joints);
    const int component = rng.below(3);
    switch (rng.below(16)) {
      case 0:
        if (link.inertial) link.inertial->mass = absurd(rng);
        break;
      case 1:
        if (link.inertial) link.inertial->I.xx = absurd(rng);
        break;
      case 2:
        if (link.inertial) link.inertial->I.xy = absurd(rng);
        break;
      case 3:
        if (link.inertial) link.inertial->origin.xyz[component] = absurd(rng);
        break;
      case 4:
        joint.origin.xyz[component] = absurd(rng);
        break;
      case 5:
        joint.origin.rpy[component] = absurd(rng);
        break;
      case 6:
        joint.axis[component] = absurd(rng);
        break;
      case 7:
        joint.armature = absurd(rng);
        break;
      case 8:
        joint.passive.damping = absurd(rng), joint.passive.stiffness = absurd(rng);
        break;
      case 9:
        joint.limits.lower = absurd(rng), joint.limits.upper = absurd(rng);
        break;
      case 10:
        joint.parent = rng.chance(0.5) ? joint.child : one_of(rng, robot.links).name;
        break;
      case 11:
        link.name = rng.chance(0.5) ? "" : one_of(rng, robot.links).name;
        break;
      case 12:
        joint.name = rng.chance(0.5) ? "" : one_of(rng, robot.joints).name;
        break;
      case 13:
        joint.type = rng.chance(0.3) ? "no such type" : one_of(rng, robot.joints).type;
        break;
      case 14:
        joint.mimic = Mimic{one_of(rng, robot.joints).name, absurd(rng), absurd(rng)};
        break;
      default:
        if (!robot.couplings.empty()) one_of(rng, robot.couplings).ratio = absurd(rng);
        robot.gravity[component] = absurd(rng);
    }
  }
}

Outcome run(std::uint64_t number) {
  Rng rng(number);
  const Registry& registry = test::host().registry();
  Description robot;
  if (rng.chance(0.5)) {
    test::RobotOptions options;
    options.seed = number;
    options.bodies = 1 + rng.below(12);
    options.shape = static_cast<test::RobotOptions::Shape>(rng.below(4));
    options.floating_base = rng.chance(0.4);
    robot = test::random_robot(registry, options);
  } else {
    test::ClusterRobotOptions options;
    options.seed = number;
    options.parts = 1 + rng.below(4);
    options.floating_base = rng.chance(0.3);
    robot = test::random_cluster_robot(registry, options);
  }
  const int how = rng.below(4);
  const bool legal = how < 2;
  if (how == 2) make_singular(rng, robot);
  if (how == 3) make_absurd(rng, robot);
  CompileOptions options;
  if (rng.chance(0.2)) options.root = CompileOptions::Root::floating;
  if (rng.chance(0.2)) options.mimic = CompileOptions::MimicRule::ignore;
  ModelPtr model;
  Outcome out;
  try {
    model = Model::compile(robot, registry, options);
    out = agree(model, rng, 2);
  } catch (const Error& error) {
    out = refusal(error.what());
  }
  ++out.counts[legal ? "legal robots" : how == 2 ? "singular robots" : "absurd robots"];
  return out;
}

}  // namespace

Kind robots() {
  return {"robots", "random robots, legal, singular and absurd: all algorithms agree or refuse",
          0.4, 30.0, run};
}

}  // namespace espalier::torture
