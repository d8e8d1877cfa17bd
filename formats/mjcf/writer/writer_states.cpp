// Writes MJCF: inputs, rules of contact, named states, and the texts of what MJCF cannot say.

#include <algorithm>

#include "espalier/kernel/errors.hpp"
#include "formats/mjcf/writer/writer.hpp"
#include "formats/text.hpp"

namespace espalier::mjcf {

using formats::in_quotes;

/// Whether it is the joint of a root that may float, where the description does not say that it
/// does: the file has no such joint then.
bool Writer::is_unwritten_root(const std::string& joint) const {
  return joint == "root" && free_root_.name.empty() && !joint_names_.contains("root");
}

bool Writer::is_free(const std::string& joint) const {
  if (joint == free_root_.name || is_unwritten_root(joint)) return true;
  return std::any_of(joints_.begin(), joints_.end(), [&](const JointDescription* j) {
    return j->name == joint && j->type == "floating";
  });
}

/// Why MJCF has no such input; empty: it has. Motors of free joints push along the world's axes and
/// turn about the body's; ours do both in the body's.
std::string Writer::unsayable(const ActuatorDescription& actuator) const {
  if (actuator.gear.empty()) return "drives nothing";
  for (const auto& [joint, gear] : actuator.gear) {
    if (!is_free(joint)) continue;
    if (is_unwritten_root(joint)) return "drives the floating root";
    if (actuator.gear.size() > 1) return "drives a free joint beside others";
    for (std::size_t k = 3; k < gear.size(); ++k) {
      if (gear[k] != 0.0) return "pushes a free joint along axes that turn with it";
    }
  }
  return "";
}

void Writer::actuators() {
  if (robot_.actuators.empty()) return;
  open("actuator");
  for (const ActuatorDescription& actuator : robot_.actuators) {
    if (const std::string why = unsayable(actuator); !why.empty()) {
      lose("actuator " + in_quotes(actuator.name) + ": " + why);
      continue;
    }
    open("motor");
    if (!actuator.name.empty()) text("name", actuator.name, "actuator");
    if (actuator.gear.size() == 1) {
      text("joint", actuator.gear.begin()->first, "joint");
      std::vector<double> gear = actuator.gear.begin()->second;
      if (is_free(actuator.gear.begin()->first)) gear.insert(gear.begin(), {0.0, 0.0, 0.0});
      if (gear.size() > 6) gear.resize(6);
      numbers("gear", gear);
    } else {
      text("tendon", "tendon of " + actuator.name, "tendon");
    }
    if (actuator.lower && actuator.upper && *actuator.lower < *actuator.upper) {
      xml_.PushAttribute("ctrllimited", "true");
      numbers("ctrlrange", {*actuator.lower, *actuator.upper});
    } else if (actuator.lower || actuator.upper) {
      lose("actuator " + in_quotes(actuator.name) +
           ": bounds, which are not two with room between");
    }
    close();
  }
  close();
}

void Writer::contacts() {
  if (robot_.excluded_contacts.empty() && robot_.contact_pairs.empty()) return;
  open("contact");
  for (const PairDescription& pair : robot_.excluded_contacts) {
    open("exclude");
    text("body1", pair.first, "body"), text("body2", pair.second, "body");
    close();
  }
  for (const PairDescription& pair : robot_.contact_pairs) {
    open("pair");
    text("geom1", pair.first, "geom"), text("geom2", pair.second, "geom");
    close();
  }
  close();
}

void Writer::keyframes() {
  if (robot_.states.empty()) return;
  keep_states();
  open("keyframe");
  for (const NamedState& state : robot_.states) key(state);
  close();
}

void Writer::key(const NamedState& state) {
  open("key");
  if (!state.name.empty()) text("name", state.name, "key");
  std::vector<double> qpos, qvel;
  for (const JointDescription* joint : joints_) {
    const auto value = [&](const auto& values, std::vector<double> fallback) {
      const auto found = values.find(joint->name);
      if (found != values.end() && found->second.size() == fallback.size()) return found->second;
      return fallback;
    };
    std::vector<double> q, v;
    if (joint->type == "floating") {
      const auto p = value(state.positions, {0, 0, 0, 0, 0, 0, 1});
      const auto w = value(state.velocities, {0, 0, 0, 0, 0, 0});
      const Vec3<double> linear =
          transpose_times(quaternion_to_E(p.data() + 3), Vec3<double>{w[3], w[4], w[5]});
      q = {p[0], p[1], p[2], p[6], p[3], p[4], p[5]};
      v = {linear.x, linear.y, linear.z, w[0], w[1], w[2]};
    } else if (joint->type == "spherical") {
      const auto p = value(state.positions, {0, 0, 0, 1});
      q = {p[3], p[0], p[1], p[2]};
      v = value(state.velocities, {0, 0, 0});
    } else {
      q = value(state.positions, {0}), v = value(state.velocities, {0});
      if (joint->type == "universal" || joint->type == "cylindrical") {
        q = value(state.positions, {0, 0}), v = value(state.velocities, {0, 0});
      } else if (joint->type == "helical") {  // as far as the slide's tie asks
        const auto pitch = joint->parameters.find("pitch");
        const double k = pitch == joint->parameters.end() ? 0.0 : pitch->second.at(0);
        q.push_back(k * q[0]), v.push_back(k * v[0]);
      }
    }
    qpos.insert(qpos.end(), q.begin(), q.end());
    qvel.insert(qvel.end(), v.begin(), v.end());
  }
  numbers("qpos", qpos), numbers("qvel", qvel);
  close();
}

/// States of joints that are two there, and those that do not name all joints.
void Writer::keep_states() {
  for (const NamedState& state : robot_.states) {
    std::string said = "<state name=" + quoted(state.name) + ">";
    for (const auto& [element, values] :
         {std::pair{"position", &state.positions}, std::pair{"velocity", &state.velocities}}) {
      for (const auto& [joint, numbers] : *values) {
        if (is_unwritten_root(joint)) {
          lose("state " + in_quotes(state.name) + ": " + element + " of the floating root");
          continue;
        }
        said += std::string("<") + element + " joint=" + quoted(joint) + " value='" +
                list(numbers) + "'/>";
      }
    }
    keep("state " + state.name, said + "</state>");
  }
}

/// Inputs that drive several joints, or none, or are bounded on one side.
void Writer::keep_actuators() {
  for (const ActuatorDescription& actuator : robot_.actuators) {
    if (actuator.gear.contains("root") && is_unwritten_root("root")) continue;
    std::string said = "<actuator name=" + quoted(actuator.name);
    if (actuator.lower) said += " lower='" + list({*actuator.lower}) + "'";
    if (actuator.upper) said += " upper='" + list({*actuator.upper}) + "'";
    said += ">";
    for (const auto& [joint, gear] : actuator.gear) {
      said += "<gear joint=" + quoted(joint) + " value='" + list(gear) + "'/>";
    }
    keep("actuator " + actuator.name, said + "</actuator>");
  }
}

void Writer::custom() {
  keep_actuators();
  for (const JointDescription& joint : robot_.joints) {
    if (!joint.independent || joint.type == "fixed") continue;
    texts_.push_back(
        {"independent " + joint.name, "<independent joint=" + quoted(joint.name) + " value='" +
                                          (*joint.independent ? "true" : "false") + "'/>"});
  }
  if (texts_.empty()) return;
  open("custom");
  for (const auto& [name, data] : texts_) {
    open("text");
    text("name", "espalier " + name, "text");
    xml_.PushAttribute("data", data.c_str());
    close();
  }
  close();
}

}  // namespace espalier::mjcf
