#include "formats/urdf/urdf_words.hpp"

#include <algorithm>

#include "formats/text.hpp"
#include "formats/words.hpp"

namespace espalier::urdf {

using formats::in_quotes;
using formats::meant;
using formats::Words;

namespace {

const formats::Grammar& grammar() {
  static const Words frame{"xyz", "rpy", "quat_xyzw"};
  static const Words shape{"origin", "geometry", "material", "espalier", "verbose"};
  static const formats::Grammar known{
      {"robot",
       {{"link", "joint", "loop", "constraint", "coupling", "law", "espalier", "material",
         "transmission", "gazebo", "sensor", "group"},
        {"name", "version"}}},
      {"link", {{"inertial", "visual", "collision", "espalier"}, {"name", "type"}}},
      {"inertial", {{"origin", "mass", "inertia"}, {}}},
      {"mass", {{}, {"value"}}},
      {"inertia", {{}, {"ixx", "ixy", "ixz", "iyy", "iyz", "izz"}}},
      {"origin", {{}, frame}},
      {"parent_origin", {{}, frame}},
      {"child_origin", {{}, frame}},
      {"visual", {shape, {"name"}}},
      {"collision", {shape, {"name"}}},
      {"geometry",
       {{"box", "sphere", "cylinder", "capsule", "mesh", "ellipsoid", "plane", "height_field"},
        {}}},
      {"box", {{}, {"size"}}},
      {"sphere", {{}, {"radius"}}},
      {"cylinder", {{}, {"radius", "length"}}},
      {"capsule", {{}, {"radius", "length"}}},
      {"mesh", {{}, {"filename", "scale"}}},
      {"ellipsoid", {{}, {"radii"}}},
      {"material", {{"color", "texture"}, {"name"}}},
      {"color", {{}, {"rgba"}}},
      {"joint",
       {{"parent", "child", "origin", "axis", "limit", "dynamics", "mimic", "calibration",
         "safety_controller", "espalier", "hardwareInterface"},
        {"name", "type", "independent"}}},
      {"parent", {{}, {"link"}}},
      {"child", {{}, {"link"}}},
      {"axis", {{}, {"xyz"}}},
      {"parent_axis", {{}, {"xyz"}}},
      {"child_axis", {{}, {"xyz"}}},
      {"limit",
       {{}, {"lower", "upper", "effort", "velocity", "acceleration", "deceleration", "jerk"}}},
      {"dynamics", {{}, {"damping", "friction"}}},
      {"mimic", {{}, {"joint", "multiplier", "offset"}}},
      {"loop", {{"predecessor", "successor", "axis", "espalier"}, {"name", "type"}}},
      {"coupling", {{"predecessor", "successor", "ratio"}, {"name"}}},
      {"predecessor", {{"origin"}, {"link"}}},
      {"successor", {{"origin"}, {"link"}}},
      {"ratio", {{}, {"value"}}},
      {"law", {{"joint", "parameter"}, {"name", "type"}}},
      {"law/joint", {{}, {"name"}}},
      {"parameter", {{}, {"name", "value"}}},
      {"constraint",
       {{"parent", "child", "parent_origin", "child_origin", "parent_axis", "child_axis"},
        {"name", "type"}}},
      {"robot/espalier",
       {{"state", "actuator", "excluded_contact", "contact_pair"}, {"gravity", "root"}}},
      {"link/espalier", {{"frame", "visual", "collision"}, {}}},
      {"frame", {{"origin"}, {"name"}}},
      {"joint/espalier", {{"parameter"}, {"armature", "stiffness", "rest", "lower", "upper"}}},
      {"loop/espalier", {{"parameter"}, {}}},
      {"visual/espalier", {{}, {"friction", "torsional_friction", "rolling_friction"}}},
      {"collision/espalier", {{}, {"friction", "torsional_friction", "rolling_friction"}}},
      {"state", {{"joint"}, {"name"}}},
      {"state/joint", {{}, {"name", "position", "velocity"}}},
      {"actuator", {{"joint"}, {"name", "lower", "upper"}}},
      {"actuator/joint", {{}, {"name", "gear"}}},
      {"excluded_contact", {{}, {"first", "second"}}},
      {"contact_pair", {{}, {"first", "second"}}}};
  return known;
}

class Search {
 public:
  Search(const Elements& in, std::vector<Finding>& findings) : in_(in), findings_(findings) {}

  /// @param word   the element's name without prefix
  /// @param above  that of the element around it
  /// @param who    part of the robot in which it stands
  void look(const XMLElement& e, std::string_view word, const std::string& above,
            const std::string& who) {
    const auto& known = grammar();
    auto content = known.find(above + "/" + std::string(word));
    if (content == known.end()) content = known.find(word);
    if (content == known.end()) return;
    const auto& [children, attributes] = content->second;
    for (const auto* a = e.FirstAttribute(); a; a = a->Next()) {
      const auto wanted = meant(a->Name(), attributes);
      if (wanted) {
        tell(who, e, "attribute " + in_quotes(a->Name()) + " of <" + std::string(word) + ">",
             in_quotes(*wanted));
      }
    }
    for (const XMLElement* c = e.FirstChildElement(); c; c = c->NextSiblingElement()) {
      const auto is_it = [&](std::string_view child) { return in_.is(*c, child); };
      const auto child = std::find_if(children.begin(), children.end(), is_it);
      if (child != children.end()) {
        const char* name = word == "robot" ? c->Attribute("name") : nullptr;
        const std::string part =
            word != "robot" ? who
                            : std::string(*child) + (name ? " " + in_quotes(name) : std::string());
        look(*c, *child, std::string(word), part);
      } else if (const auto wanted = meant(c->Name(), children)) {
        tell(who, *c, "element <" + std::string(c->Name()) + ">", "<" + std::string(*wanted) + ">");
      }
    }
  }

 private:
  void tell(const std::string& who, const XMLElement& e, const std::string& what,
            const std::string& wanted) {
    findings_.push_back({Finding::Severity::warning,
                         who + " (" + in_.at(e).text() + "): " + what + " is unknown, expected " +
                             wanted + " (did you mean that? it is left out)",
                         in_.at(e).text(), true});
  }

  const Elements& in_;
  std::vector<Finding>& findings_;
};

}  // namespace

void find_misspelled(const Elements& in, const XMLElement& robot, std::vector<Finding>& findings) {
  const char* name = robot.Attribute("name");
  Search(in, findings).look(robot, "robot", "", "robot " + in_quotes(name ? name : ""));
}

}  // namespace espalier::urdf
