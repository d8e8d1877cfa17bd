#pragma once

#include <set>
#include <string>
#include <utility>

#include "espalier/kernel/sub_mechanism.hpp"

/// Robots composed of sub-mechanisms, in C++.

namespace espalier::test {

/// Adds an instance of a sub-mechanism whose inputs are all frames `origin` of the link `on`. Names
/// in it become prefix + name. Returns its outputs, the links renamed.
inline std::vector<Assembly::Output> attach(Description& robot, const SubMechanism& mechanism,
                                            const Parameters& parameters, const std::string& prefix,
                                            const std::string& on, const Pose& origin = {}) {
  PartSpec spec;
  spec.what = "sub-mechanism";
  spec.name = prefix;
  spec.parameters = parameters;
  Assembly a = mechanism.assemble(spec);
  std::set<std::string> inputs;
  for (const std::string_view input : mechanism.inputs()) inputs.emplace(input);
  const auto link = [&](std::string& name, Pose& frame) {
    if (!inputs.contains(name)) {
      name = prefix + name;
      return;
    }
    name = on;
    frame = Pose::from(frame.transform() * origin.transform());
  };
  Pose ignored;
  for (LinkDescription& l : a.parts.links) l.name = prefix + l.name;
  for (JointDescription& j : a.parts.joints) {
    j.name = prefix + j.name;
    j.child = prefix + j.child;
    link(j.parent, j.origin);
    if (j.mimic) j.mimic->joint = prefix + j.mimic->joint;
  }
  for (LoopDescription& l : a.parts.loops) {
    l.name = prefix + l.name;
    link(l.predecessor, l.predecessor_origin);
    link(l.successor, l.successor_origin);
  }
  for (CouplingDescription& c : a.parts.couplings) {
    c.name = prefix + c.name;
    link(c.predecessor, ignored);
    link(c.successor, ignored);
  }
  for (LawDescription& l : a.parts.laws) {
    l.name = prefix + l.name;
    for (std::string& joint : l.joints) joint = prefix + joint;
  }
  for (Assembly::Output& o : a.outputs) link(o.link, o.origin);
  const auto append = [](auto& to, auto& from) {
    to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
  };
  append(robot.links, a.parts.links);
  append(robot.joints, a.parts.joints);
  append(robot.loops, a.parts.loops);
  append(robot.couplings, a.parts.couplings);
  append(robot.laws, a.parts.laws);
  return std::move(a.outputs);
}

/// One instance on a link "base"; names are its own.
inline Description on_base(const SubMechanism& mechanism, const Parameters& parameters) {
  Description robot;
  robot.name = "composed";
  robot.links.push_back({"base", Inertial{{}, 2.0, {0.1, 0, 0, 0.1, 0, 0.1}}, {}});
  attach(robot, mechanism, parameters, "", "base");
  return robot;
}

}  // namespace espalier::test
