#include "formats/urdf/closed_loops.hpp"

#include <yaml-cpp/yaml.h>

#include <algorithm>

#include "espalier/kernel/errors.hpp"
#include "espalier/plugins/registry.hpp"
#include "formats/text.hpp"

namespace espalier::formats {

namespace {

constexpr const char* wanted =
    ", expected SPHERICAL, FIXED or UJOINT_ and two of X, Y, Z as in UJOINT_XY";

class ClosedLoops {
 public:
  ClosedLoops(const std::string& file, Description& robot) : file_(file), robot_(robot) {}

  void read(const YAML::Node& root) {
    const std::vector<std::string> types = list(root, "type");
    const YAML::Node loops = root["closed_loop"];
    if (!loops.IsSequence()) fail(loops, "key 'closed_loop' is no list, expected pairs of joints");
    for (std::size_t i = 0; i < loops.size(); ++i) {
      const YAML::Node pair = loops[i];
      if (!pair.IsSequence() || pair.size() != 2 || !pair[0].IsScalar() || !pair[1].IsScalar()) {
        fail(loops, "item of 'closed_loop' is no pair of names, expected two joints");
      }
      const std::string type = i < types.size() ? types[i] : "6d";
      const bool whole = type == "6d" || type == "6D";
      if (!whole && type != "3d" && type != "3D") {
        fail(loops, "type is " + in_quotes(type) + ", expected '6d' or '3d'");
      }
      LoopDescription loop;
      loop.name = pair[0].Scalar() + " = " + pair[1].Scalar();
      loop.type = whole ? "fixed" : "spherical";
      loop.predecessor = link_of(pair, pair[0].Scalar());
      loop.successor = link_of(pair, pair[1].Scalar());
      loop.where = at(pair);
      robot_.loops.push_back(std::move(loop));
    }
    const std::vector<std::string> names = list(root, "joint_name"),
                                   kinds = list(root, "joint_type");
    if (names.size() != kinds.size()) {
      fail(root, "lists 'joint_name' and 'joint_type' differ in length, expected the same");
    }
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (JointDescription* joint = find(names[i])) {
        change(root, *joint, kinds[i]);
      } else {
        robot_.findings.push_back({Finding::Severity::warning,
                                   "closed loops (" + at(root["joint_name"]).text() + "): joint " +
                                       in_quotes(names[i]) + " of 'joint_name' is unknown" +
                                       suggest(names[i], joint_names()) + " (left out)",
                                   at(root["joint_name"]).text(), true});
      }
    }
    for (const std::string& motor : list(root, "name_mot")) {
      ActuatorDescription actuator;
      const JointDescription& driven = joint(root, motor);
      if (driven.type == "fixed") continue;  // as of a gripper that the file holds still
      const auto drives = [&](const ActuatorDescription& a) { return a.gear.contains(motor); };
      if (std::any_of(robot_.actuators.begin(), robot_.actuators.end(), drives)) continue;
      actuator.name = motor;
      actuator.gear[motor].assign(driven.type == "spherical" ? 3 : 1, 1.0);
      actuator.where = at(root);
      robot_.actuators.push_back(std::move(actuator));
    }
  }

 private:
  std::vector<std::string> list(const YAML::Node& root, const char* key) const {
    std::vector<std::string> out;
    const YAML::Node node = root[key];
    if (!node) return out;
    if (!node.IsSequence()) fail(node, "key " + in_quotes(key) + " is no list, expected one");
    for (const YAML::Node& item : node) {
      if (!item.IsScalar()) fail(node, "item of " + in_quotes(key) + " is no name, expected names");
      out.push_back(item.Scalar());
    }
    return out;
  }

  /// What the file says of joints for which URDF has no types.
  void change(const YAML::Node& root, JointDescription& joint, const std::string& kind) {
    joint.limits.lower.reset(), joint.limits.upper.reset();
    if (kind == "SPHERICAL") {
      joint.type = "spherical";
    } else if (kind == "FIXED") {
      joint.type = "fixed", joint.limits = {}, joint.passive = {}, joint.armature = 0.0;
    } else if (kind.size() == 9 && kind.starts_with("UJOINT_") && kind[7] != kind[8]) {
      // Turns about the first of the two axes, then about the second.
      const auto axis = [&](char letter) -> Vec3<double> {
        if (letter < 'X' || letter > 'Z') fail(root, "joint type is " + in_quotes(kind) + wanted);
        return {letter == 'X' ? 1.0 : 0.0, letter == 'Y' ? 1.0 : 0.0, letter == 'Z' ? 1.0 : 0.0};
      };
      const Vec3<double> second = axis(kind[8]);
      joint.type = "universal", joint.axis = axis(kind[7]);
      joint.parameters = {{"axis2", {second.x, second.y, second.z}}};
    } else {
      fail(root, "joint type is " + in_quotes(kind) + wanted);
    }
  }

  /// The link whose frame is named: by its own name, or by that of the joint that carries it.
  std::string link_of(const YAML::Node& node, const std::string& name) const {
    std::vector<std::string> known;
    for (const LinkDescription& link : robot_.links) {
      if (link.name == name) return name;
      known.push_back(link.name);
    }
    for (const JointDescription& joint : robot_.joints) {
      if (joint.name == name) return joint.child;
      known.push_back(joint.name);
    }
    fail(node,
         "frame " + in_quotes(name) + " is neither a link nor a joint" + suggest(name, known));
  }

  JointDescription* find(const std::string& name) {
    for (JointDescription& joint : robot_.joints) {
      if (joint.name == name) return &joint;
    }
    return nullptr;
  }

  std::vector<std::string> joint_names() const {
    std::vector<std::string> names;
    for (const JointDescription& joint : robot_.joints) names.push_back(joint.name);
    return names;
  }

  const JointDescription& joint(const YAML::Node& node, const std::string& name) {
    if (const JointDescription* found = find(name)) return *found;
    fail(node, "joint " + in_quotes(name) + " is unknown" + suggest(name, joint_names()));
  }

  SourceLocation at(const YAML::Node& node) const { return {file_, node.Mark().line + 1}; }
  [[noreturn]] void fail(const YAML::Node& node, const std::string& what) const {
    throw InvalidModel("closed loops (" + at(node).text() + "): " + what);
  }

  const std::string& file_;
  Description& robot_;
};

}  // namespace

}  // namespace espalier::formats

void espalier_read_closed_loops(std::string_view text, const std::string& file,
                                espalier::Description& robot) {
  try {
    const YAML::Node root = YAML::Load(std::string(text));
    if (root.IsMap() && root["closed_loop"]) {
      espalier::formats::ClosedLoops(file, robot).read(root);
    }
  } catch (const YAML::Exception& problem) {
    throw espalier::InvalidModel("closed loops (" + file + "): file is not readable YAML (" +
                                 problem.what() + "), expected lists");
  }
}
