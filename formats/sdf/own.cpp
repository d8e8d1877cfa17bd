// Reads what Espalier wrote into SDF of things that SDF cannot say.

#include <array>

#include "espalier/kernel/errors.hpp"
#include "espalier/plugins/registry.hpp"
#include "formats/sdf/reader.hpp"
#include "formats/text.hpp"

namespace espalier::sdf {

using formats::in_quotes;

void Reader::read_own(const XmlNode& within) {
  for (const XmlNode& node : within.children) {
    if (node.name == "model") read_own(node);
    const auto attribute = [&](const char* key) {
      const std::string* value = node.find(key);
      if (value == nullptr || !formats::is_name(*value))
        node.fail(node.name, "attribute " + in_quotes(key) + " is missing, expected a name");
      return *value;
    };
    const auto parameters = [&] {
      Parameters out;
      for (const XmlNode& p : node.children) {
        const std::string *key = p.find("name"), *value = p.find("value");
        if (p.name == "espalier:parameter" && key && value) {
          out[*key] = formats::numbers_of(p, node.name, "parameter", *value, 0);
        }
      }
      return out;
    };
    if (node.name == "espalier:law") {
      LawDescription law;
      law.name = attribute("name"), law.type = attribute("type"), law.where = node.where;
      for (const XmlNode& j : node.children) {
        if (j.name == "espalier:joint" && j.find("name")) law.joints.push_back(*j.find("name"));
      }
      law.parameters = parameters();
      robot_.laws.push_back(std::move(law));
    } else if (node.name == "espalier:coupling") {
      CouplingDescription c;
      c.name = attribute("name"), c.where = node.where;
      c.predecessor = attribute("predecessor"), c.successor = attribute("successor");
      c.ratio = formats::numbers_of(node, node.name, "ratio", attribute("ratio"), 1)[0];
      robot_.couplings.push_back(std::move(c));
    } else if (node.name == "espalier:loop") {
      LoopDescription loop;
      loop.name = attribute("name"), loop.type = attribute("type"), loop.where = node.where;
      loop.predecessor = attribute("predecessor"), loop.successor = attribute("successor");
      const auto pose = [&](const char* key) {
        const auto v = formats::numbers_of(node, node.name, key, attribute(key), 6);
        return Pose{{v[0], v[1], v[2]}, {v[3], v[4], v[5]}};
      };
      loop.predecessor_origin = pose("predecessor_pose");
      loop.successor_origin = pose("successor_pose");
      const auto axis = formats::numbers_of(node, node.name, "axis", attribute("axis"), 3);
      loop.axis = {axis[0], axis[1], axis[2]};
      loop.parameters = parameters();
      robot_.loops.push_back(std::move(loop));
    } else if (node.name == "espalier:mimic") {
      for (JointDescription& joint : robot_.joints) {
        if (joint.name != attribute("joint")) continue;
        const auto v = formats::numbers_of(node, node.name, "law", attribute("law"), 2);
        joint.mimic = Mimic{attribute("of"), v[0], v[1]};
      }
    }
  }
}

/// Joints get the names back that SDF has for one thing only.
void Reader::restore_names() {
  std::set<std::string> all;
  for (const JointDescription& joint : robot_.joints) all.insert(joint.name);
  std::erase_if(originals_, [&](const auto& pair) { return !all.insert(pair.second).second; });
  const auto restore = [&](std::string& name) {
    const auto original = originals_.find(name);
    if (original != originals_.end()) name = original->second;
  };
  for (JointDescription& joint : robot_.joints) {
    restore(joint.name);
    if (joint.mimic) restore(joint.mimic->joint);
  }
  for (LawDescription& law : robot_.laws) {
    for (std::string& joint : law.joints) restore(joint);
  }
}

}  // namespace espalier::sdf
