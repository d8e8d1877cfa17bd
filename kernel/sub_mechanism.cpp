#include "espalier/kernel/sub_mechanism.hpp"

#include <algorithm>

namespace espalier {

JointDescription& Assembly::body(const std::string& name, const std::string& type,
                                 const std::string& parent, const std::optional<Inertial>& inertial,
                                 const Pose& origin) {
  parts.links.push_back({name, inertial, {}});
  JointDescription joint;
  joint.name = name;
  joint.type = type;
  joint.parent = parent;
  joint.child = name;
  joint.origin = origin;
  joint.axis = {0, 0, 1};
  parts.joints.push_back(std::move(joint));
  return parts.joints.back();
}

void Assembly::couple(const std::string& predecessor, const std::string& successor, double ratio) {
  parts.couplings.push_back({predecessor + ":" + successor, predecessor, successor, ratio, {}});
}

void Assembly::law(const std::string& type, const std::vector<std::string>& joints,
                   const Parameters& parameters, const std::vector<std::string_view>& names) {
  parts.laws.push_back({type, type, joints, detail::only(parameters, names), {}});
}

Parameters detail::only(const Parameters& parameters, const std::vector<std::string_view>& names) {
  Parameters some;
  for (const auto& [name, values] : parameters) {
    if (std::find(names.begin(), names.end(), name) != names.end()) some.emplace(name, values);
  }
  return some;
}

LoopDescription& Assembly::loop(const std::string& name, const std::string& type,
                                const std::string& predecessor, const Pose& predecessor_origin,
                                const std::string& successor, const Pose& successor_origin) {
  LoopDescription loop;
  loop.name = name;
  loop.type = type;
  loop.predecessor = predecessor;
  loop.predecessor_origin = predecessor_origin;
  loop.successor = successor;
  loop.successor_origin = successor_origin;
  loop.axis = {0, 0, 1};
  parts.loops.push_back(std::move(loop));
  return parts.loops.back();
}

}  // namespace espalier
