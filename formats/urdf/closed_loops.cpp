#include "formats/urdf/closed_loops.hpp"

#include <yaml-cpp/yaml.h>

#include <filesystem>
#include <fstream>

#include "espalier/kernel/errors.hpp"
#include "espalier/plugins/registry.hpp"
#include "formats/text.hpp"

namespace espalier::formats {

namespace {

/// Files of loops are a page long.
constexpr std::uintmax_t largest_file = 1u << 20;

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
      if (type != "6d" && type != "3d") {
        fail(loops, "type is " + in_quotes(type) + ", expected '6d' or '3d'");
      }
      LoopDescription loop;
      loop.name = pair[0].Scalar() + " = " + pair[1].Scalar();
      loop.type = type == "6d" ? "fixed" : "spherical";
      // A joint's frame is that of its child link.
      loop.predecessor = joint(pair, pair[0].Scalar()).child;
      loop.successor = joint(pair, pair[1].Scalar()).child;
      loop.where = at(pair);
      robot_.loops.push_back(std::move(loop));
    }
    const std::vector<std::string> names = list(root, "joint_name"),
                                   kinds = list(root, "joint_type");
    if (names.size() != kinds.size()) {
      fail(root, "lists 'joint_name' and 'joint_type' differ in length, expected the same");
    }
    for (std::size_t i = 0; i < names.size(); ++i) {
      JointDescription& changed = joint(root, names[i]);
      if (kinds[i] == "SPHERICAL") {
        changed.type = "spherical";
        changed.limits.lower.reset(), changed.limits.upper.reset();
      } else if (kinds[i] == "FIXED") {
        changed.type = "fixed", changed.limits = {}, changed.passive = {}, changed.armature = 0.0;
      } else {
        fail(root, "joint type is " + in_quotes(kinds[i]) + ", expected SPHERICAL or FIXED");
      }
    }
    for (const std::string& motor : list(root, "name_mot")) {
      ActuatorDescription actuator;
      actuator.name = joint(root, motor).name;
      actuator.gear[motor] = {1.0};
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

  JointDescription& joint(const YAML::Node& node, const std::string& name) {
    std::vector<std::string> known;
    for (JointDescription& joint : robot_.joints) {
      if (joint.name == name) return joint;
      known.push_back(joint.name);
    }
    fail(node, "joint " + in_quotes(name) + " is unknown" + suggest(name, known));
  }

  SourceLocation at(const YAML::Node& node) const { return {file_, node.Mark().line + 1}; }
  [[noreturn]] void fail(const YAML::Node& node, const std::string& what) const {
    throw InvalidModel("closed loops (" + at(node).text() + "): " + what);
  }

  const std::string& file_;
  Description& robot_;
};

}  // namespace

void read_closed_loops(const std::string& urdf_file, Description& robot) {
  namespace fs = std::filesystem;
  const fs::path beside = fs::path(urdf_file).replace_extension(".yaml");
  std::error_code error;
  if (!fs::is_regular_file(beside, error) || fs::file_size(beside, error) > largest_file || error) {
    return;
  }
  std::ifstream stream(beside, std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(stream)),
                         std::istreambuf_iterator<char>());
  // Espalier's own files have no such key; they are not parsed here.
  if (!text.starts_with("closed_loop") && text.find("\nclosed_loop") == std::string::npos) return;
  const std::string file = beside.string();
  try {
    const YAML::Node root = YAML::Load(text);
    if (root.IsMap() && root["closed_loop"]) ClosedLoops(file, robot).read(root);
  } catch (const YAML::Exception& problem) {
    throw InvalidModel("closed loops (" + file + "): file is not readable YAML (" + problem.what() +
                       "), expected lists");
  }
}

}  // namespace espalier::formats
