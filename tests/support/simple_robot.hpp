#pragma once

#include <string>

#include "espalier/kernel/model/description.hpp"

/// Small robots written down by hand.

namespace espalier::test {

/// A link without mass.
inline void add_link(Description& robot, const std::string& name) {
  robot.links.push_back(
      {name, std::nullopt, {"robot.test", 100 + static_cast<int>(robot.links.size())}});
}
/// A link with its centre of mass at `com` and inertia about it.
inline void add_link(Description& robot, const std::string& name, double mass, Vec3<double> com,
                     Sym3<double> I) {
  add_link(robot, name);
  robot.links.back().inertial = Inertial{{com, {0, 0, 0}}, mass, I};
}
/// A link that gives no cause for complaint.
inline void add_solid(Description& robot, const std::string& name) {
  add_link(robot, name, 1.0, {0.1, 0.2, 0.3}, {0.1, 0, 0, 0.1, 0, 0.1});
}
inline JointDescription& add_joint(Description& robot, const std::string& name,
                                   const std::string& type, const std::string& parent,
                                   const std::string& child, Vec3<double> axis = {0, 0, 1},
                                   Pose origin = {}) {
  JointDescription joint;
  joint.name = name;
  joint.type = type;
  joint.parent = parent;
  joint.child = child;
  joint.axis = axis;
  joint.origin = origin;
  joint.where = {"robot.test", 200 + static_cast<int>(robot.joints.size())};
  robot.joints.push_back(joint);
  return robot.joints.back();
}
/// A robot that consists of its ground "base".
inline Description ground() {
  Description robot;
  robot.name = "tested";
  robot.where = {"robot.test", 1};
  add_link(robot, "base");
  return robot;
}
/// A chain base - link1 - ... of solid links on joints joint1, ... of the types given.
template <class Types>
Description chain_of(const Types& types, Vec3<double> axis = {0, 0, 1}) {
  Description robot = ground();
  std::string parent = "base";
  int i = 0;
  for (const auto& type : types) {
    const std::string number = std::to_string(++i);
    add_solid(robot, "link" + number);
    add_joint(robot, "joint" + number, type, parent, "link" + number, axis,
              {{0.1, 0.2, 0.3}, {0.1, 0.2, 0.3}});
    parent = "link" + number;
  }
  return robot;
}

/// A chain whose joints are 0.3 m apart along x, about parallel axes y: it can be closed.
template <class Types>
Description planar_chain_of(const Types& types) {
  Description robot = chain_of(types, {0, 1, 0});
  for (JointDescription& joint : robot.joints) joint.origin = {{0.3, 0, 0}, {0, 0, 0}};
  return robot;
}

}  // namespace espalier::test
