#include "tests/support/random_robot.hpp"

#include <algorithm>

namespace espalier::test {

Inertial random_inertial(Rng& rng, double length) {
  Inertial inertial;
  inertial.mass = rng.uniform(0.2, 2.0);
  inertial.origin = {rng.vec3(length), rng.vec3(3.0)};
  // Second moments of the mass: sums of two of them are principal moments of inertia.
  const double s = inertial.mass * length * length;
  const double x = s * rng.uniform(0.05, 0.5), y = s * rng.uniform(0.05, 0.5),
               z = s * rng.uniform(0.05, 0.5);
  inertial.I = {y + z, 0, 0, x + z, 0, x + y};
  return inertial;
}

Pose random_pose(Rng& rng, double length) {
  // Half of all robots' placements have axes that are parallel to each other.
  constexpr double quarter = 1.5707963267948966;
  if (rng.chance(0.5)) return {rng.vec3(length), rng.vec3(3.0)};
  return {rng.vec3(length),
          {quarter * rng.below(4), quarter * (rng.below(3) - 1), quarter * rng.below(4)}};
}

JointDescription random_joint(Rng& rng, const JointType& type, const std::string& name,
                              const std::string& parent, const std::string& child, double length) {
  JointDescription joint;
  joint.name = name;
  joint.type = type.name();
  joint.parent = parent;
  joint.child = child;
  joint.origin = random_pose(rng, length);
  joint.axis = rng.direction();
  if (rng.chance(0.5)) {
    joint.axis = {0, 0, 0};
    joint.axis[rng.below(3)] = rng.chance(0.5) ? 1.0 : -1.0;
  }
  joint.parameters = type.sample();
  for (const std::string_view parameter : type.parameter_names()) {
    if (!type.sample().empty()) break;
    const Vec3<double> d = rng.direction();
    joint.parameters[std::string(parameter)] = parameter.starts_with("axis")
                                                   ? std::vector<double>{d.x, d.y, d.z}
                                                   : std::vector<double>{rng.uniform(0.05, 0.5)};
  }
  return joint;
}

std::vector<const JointType*> moving_types(const Registry& registry, bool several_rates) {
  std::vector<const JointType*> types;
  for (const Entry* e : registry.entries(Kind::joint)) {
    const int nv = e->joint->nv();
    if (e->joint->has_equations()) continue;
    if (nv > 0 && (nv > 1) == several_rates) types.push_back(e->joint.get());
  }
  return types;
}

Description random_robot(const Registry& registry, const RobotOptions& options) {
  using Shape = RobotOptions::Shape;
  Rng rng(options.seed);
  const auto single = moving_types(registry, false), several = moving_types(registry, true);
  std::vector<const JointType*> given;
  for (const std::string& name : options.types) given.push_back(&registry.joint_type(name));

  Description robot;
  robot.name = "random" + std::to_string(options.seed);
  robot.gravity = rng.vec3(10.0);
  const auto add_link = [&](const std::string& name, bool massive) {
    LinkDescription link;
    link.name = name;
    if (massive) link.inertial = random_inertial(rng, options.length);
    robot.links.push_back(link);
  };
  const auto weld = [&](const std::string& name, const std::string& parent,
                        const std::string& child) {
    robot.joints.push_back(
        random_joint(rng, registry.joint_type("fixed"), name, parent, child, options.length));
  };
  const auto choose = [&](int body) -> const JointType& {
    if (body == 1 && options.floating_base) return registry.joint_type("floating");
    if (!given.empty()) return *given[rng.below(static_cast<int>(given.size()))];
    const auto& types = rng.chance(options.several_rates) ? several : single;
    return *types[rng.below(static_cast<int>(types.size()))];
  };

  add_link("base", rng.chance(0.5));
  std::vector<std::vector<std::string>> links_of{{"base"}};  // links welded to each body
  for (int i = 1; i <= options.bodies; ++i) {
    const std::string number = std::to_string(i), own = "link" + number;
    int parent = 0;
    if (i > 1) {
      switch (options.shape) {
        case Shape::random:
          parent = rng.below(i);
          break;
        case Shape::chain:
          parent = i - 1;
          break;
        case Shape::star:
          parent = 1;
          break;
        case Shape::binary:
          parent = i / 2;
          break;
      }
      if (options.floating_base) parent = std::max(parent, 1);
    }
    std::string from = links_of[parent][rng.below(static_cast<int>(links_of[parent].size()))];
    if (rng.chance(options.welded)) {
      add_link("flange" + number, rng.chance(0.5));
      weld("weld_before" + number, from, "flange" + number);
      links_of[parent].push_back(from = "flange" + number);
    }
    // A body's mass may sit on a link that is welded to the joint's child.
    const bool moved = rng.chance(options.welded);
    add_link(own, !moved || rng.chance(0.5));
    robot.joints.push_back(
        random_joint(rng, choose(i), "joint" + number, from, own, options.length));
    if (rng.chance(options.armature)) robot.joints.back().armature = rng.uniform(0.001, 0.1);
    links_of.push_back({own});
    if (moved) {
      add_link("tool" + number, true);
      weld("weld_after" + number, own, "tool" + number);
      links_of.back().push_back("tool" + number);
    }
  }
  return robot;
}

}  // namespace espalier::test
