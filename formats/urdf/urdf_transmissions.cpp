#include "formats/urdf/urdf_transmissions.hpp"

#include <algorithm>
#include <array>

#include "espalier/kernel/suggest.hpp"
#include "formats/text.hpp"

namespace espalier::urdf {

using formats::in_quotes;

namespace {

class Reader {
 public:
  Reader(const Elements& in, Description& robot, std::vector<Finding>& findings)
      : in_(in), robot_(robot), findings_(findings) {}

  void read(const XMLElement& transmission) {
    const char* name = transmission.Attribute("name");
    who_ = "transmission " + in_quotes(name ? name : "");
    std::vector<const XMLElement*> joints, actuators;
    double reduction = take_reduction(transmission);
    for (const XMLElement* e = transmission.FirstChildElement(); e; e = e->NextSiblingElement()) {
      const bool is_joint = in_.is(*e, "joint"), is_actuator = in_.is(*e, "actuator");
      if (is_joint) joints.push_back(e);
      if (is_actuator) actuators.push_back(e);
      if (is_joint || is_actuator) reduction *= take_reduction(*e);
    }
    // One motor for one joint: its torque is the input. Others are told apart by type, with signs
    // of their own; there the input is the force at the joint itself.
    const bool simple = joints.size() == 1 && actuators.size() == 1;
    for (const XMLElement* joint : joints) {
      const char* motor = simple ? actuators.front()->Attribute("name") : nullptr;
      drive(*joint, motor ? motor : "", simple ? reduction : 1.0);
    }
  }

 private:
  /// The product of <mechanicalReduction> in an element.
  double take_reduction(const XMLElement& parent) {
    double product = 1.0;
    for (const XMLElement* e = parent.FirstChildElement(); e; e = e->NextSiblingElement()) {
      if (!in_.is(*e, "mechanicalReduction") && !in_.is(*e, "mechanical_reduction")) continue;
      const std::string text = e->GetText() ? e->GetText() : "";
      const auto ratio = formats::parse_number(text);
      if (!ratio) {
        in_.fail(who_, *e,
                 "<" + std::string(e->Name()) + "> is " + in_quotes(text) + ", expected a number" +
                     formats::advice_on_number(text));
      }
      if (*ratio == 1.0) continue;
      if (*ratio != 0.0) product *= *ratio;
      findings_.push_back(
          {Finding::Severity::warning,
           who_ + " (" + in_.at(*e).text() + "): <" + e->Name() + "> is " + in_quotes(text) +
               ", expected 1: the rotor behind it is no part of the dynamics (give the rotor as a "
               "link and the gear as <coupling>, or what it adds to the joint as 'armature' of "
               "<espalier>)",
           in_.at(*e).text(), false});
    }
    return product;
  }

  void drive(const XMLElement& e, const std::string& motor, double gear) {
    const char* name = e.Attribute("name");
    const auto& joints = robot_.joints;
    const auto it = std::find_if(joints.begin(), joints.end(), [&](const JointDescription& j) {
      return name != nullptr && j.name == name;
    });
    if (it == joints.end()) {
      std::vector<std::string> known;
      for (const JointDescription& j : joints) known.push_back(j.name);
      findings_.push_back({Finding::Severity::warning,
                           who_ + " (" + in_.at(e).text() + "): joint " +
                               in_quotes(name ? name : "") + " is unknown" +
                               (name ? suggest(name, known) : ", expected a name") +
                               " (left out: it gets no input)",
                           in_.at(e).text(), false});
      return;
    }
    static constexpr std::array<std::string_view, 3> of_one_rate{"revolute", "continuous",
                                                                 "prismatic"};
    const auto drives = [&](const ActuatorDescription& a) { return a.gear.contains(it->name); };
    if (std::find(of_one_rate.begin(), of_one_rate.end(), it->type) == of_one_rate.end() ||
        std::any_of(robot_.actuators.begin(), robot_.actuators.end(), drives)) {
      return;
    }
    ActuatorDescription actuator;
    actuator.name = unused(formats::is_name(motor) ? motor : it->name);
    actuator.gear[it->name] = {gear};
    actuator.where = in_.at(e);
    robot_.actuators.push_back(std::move(actuator));
  }

  std::string unused(const std::string& wanted) const {
    const auto taken = [&](const std::string& name) {
      return std::any_of(robot_.actuators.begin(), robot_.actuators.end(),
                         [&](const ActuatorDescription& a) { return a.name == name; });
    };
    std::string name = wanted;
    for (int i = 2; taken(name); ++i) name = wanted + "_" + std::to_string(i);
    return name;
  }

  const Elements& in_;
  Description& robot_;
  std::vector<Finding>& findings_;
  std::string who_;
};

}  // namespace

void read_transmissions(const Elements& in, const XMLElement& robot, Description& out,
                        std::vector<Finding>& findings) {
  Reader reader(in, out, findings);
  for (const XMLElement* e = robot.FirstChildElement(); e; e = e->NextSiblingElement()) {
    if (in.is(*e, "transmission")) reader.read(*e);
  }
}

}  // namespace espalier::urdf
