// Writes MJCF: joints.

#include <cmath>

#include "espalier/kernel/errors.hpp"
#include "espalier/kernel/model/joint.hpp"
#include "formats/mjcf/writer/writer.hpp"
#include "formats/text.hpp"

namespace espalier::mjcf {

using formats::in_quotes;

namespace {

/// The default second axis of universal joints: y, z, x for x, y, z; else perpendicular.
Vec3<double> next_axis(const Vec3<double>& axis) {
  if (axis.x == 1.0) return {0, 1, 0};
  if (axis.y == 1.0) return {0, 0, 1};
  if (axis.z == 1.0) return {1, 0, 0};
  return across(scale(1.0 / std::sqrt(dot(axis, axis)), axis)).first;
}

}  // namespace

void Writer::write_joint(const JointDescription& joint) {
  who_ = "mjcf: joint " + in_quotes(joint.name);
  const std::string& type = joint.type;
  if (type == "fixed") return;
  joints_.push_back(&joint);
  if (type == "revolute" || type == "continuous") {
    one(joint, joint.name, "hinge", joint.axis, true);
    if (type == "continuous") {
      keep("type " + joint.name,
           "<type joint=" + quoted(joint.name) + " value=" + quoted(joint.type) + "/>");
    }
  } else if (type == "prismatic") {
    one(joint, joint.name, "slide", joint.axis, true);
  } else if (type == "spherical") {
    open("joint");
    text("name", joint.name, "joint");
    xml_.PushAttribute("type", "ball");
    terms(joint, false);
    close();
  } else if (type == "floating") {
    const bool on_world = joint.parent == root_->name && root_->name == "world";
    if (&joint != &free_root_ && (!on_world || !(joint.origin == Pose{}))) {
      throw Unsupported(who_ +
                        ": type is 'floating', expected it on the root link 'world' and "
                        "without origin (MJCF has free joints there only)");
    }
    const bool resists = joint.passive.damping != 0.0 || joint.passive.friction != 0.0;
    open(resists ? "joint" : "freejoint");
    text("name", joint.name, "joint");
    if (resists) xml_.PushAttribute("type", "free");
    if (joint.passive.damping != 0.0) number("damping", joint.passive.damping);
    if (joint.passive.friction != 0.0) number("frictionloss", joint.passive.friction);
    close();
    if (joint.armature != 0.0) lose(joint.name + ": armature of a free joint");
  } else if (type == "universal") {
    const auto given = joint.parameters.find("axis2");
    const Vec3<double> second =
        given != joint.parameters.end() && given->second.size() == 3
            ? Vec3<double>{given->second[0], given->second[1], given->second[2]}
            : next_axis(joint.axis);
    two(joint, "hinge", second);
  } else if (type == "cylindrical") {
    two(joint, "slide", joint.axis);
  } else if (type == "helical") {
    const std::string second = two(joint, "slide", joint.axis);
    const auto pitch = joint.parameters.find("pitch");
    const double k = pitch == joint.parameters.end() ? 0.0 : pitch->second.at(0);
    ties_.push_back({"joint " + joint.name, second, joint.name, {0.0, k}});
  } else {
    throw Unsupported(who_ + ": type is " + in_quotes(type) +
                      ", expected revolute, continuous, prismatic, spherical, floating, "
                      "universal, cylindrical, helical or fixed (MJCF has no other joints)");
  }
}

/// A joint of two rates, or of one that turns and slides: a hinge, and a second joint after it,
/// whose name is handed back.
std::string Writer::two(const JointDescription& joint, const char* second,
                        const Vec3<double>& axis) {
  std::string name = joint.name + second_joint;
  while (!joint_names_.insert(name).second) name += second_joint;
  one(joint, joint.name, "hinge", joint.axis, joint.type == "helical");
  open("joint");
  text("name", name, "joint");
  xml_.PushAttribute("type", second);
  direction(axis);
  if (joint.type != "helical") terms(joint, false);
  close();
  const Vec3<double>& a = joint.axis;
  keep("joint " + joint.name, "<joint name=" + quoted(joint.name) + " type=" + quoted(joint.type) +
                                  " second=" + quoted(name) + " axis='" + list({a.x, a.y, a.z}) +
                                  "'>" + parameters(joint.parameters) + "</joint>");
  lose("joint " + in_quotes(joint.name) + ": is two joints there" +
       (joint.type == "helical" ? ", coupled softly" : ""));
  return name;
}

void Writer::one(const JointDescription& joint, const std::string& name, const char* type,
                 const Vec3<double>& axis, bool whole) {
  open("joint");
  text("name", name, "joint");
  xml_.PushAttribute("type", type);
  direction(axis);
  terms(joint, whole);
  close();
}

void Writer::direction(const Vec3<double>& axis) {
  if (!(dot(axis, axis) > 1e-18)) {
    throw Unsupported(who_ + ": axis is zero, expected a direction");
  }
  vector("axis", axis);
}

void Writer::terms(const JointDescription& joint, bool single) {
  const Limits& l = joint.limits;
  if (single && l.lower && l.upper) {
    xml_.PushAttribute("limited", "true");
    numbers("range", {*l.lower, *l.upper});
  }
  const bool one_sided = (l.lower.has_value() != l.upper.has_value()) || (!single && l.lower);
  if (one_sided || l.effort || l.velocity) keep_limits(joint, one_sided);
  if (joint.armature != 0.0) number("armature", joint.armature);
  if (joint.passive.damping != 0.0) number("damping", joint.passive.damping);
  if (joint.passive.friction != 0.0) number("frictionloss", joint.passive.friction);
  // Springs of joints of several positions do nothing.
  if (single && joint.passive.stiffness != 0.0) number("stiffness", joint.passive.stiffness);
  if (single && joint.passive.rest != 0.0) number("springref", joint.passive.rest);
}

/// Limits on one side, of rates and of forces.
void Writer::keep_limits(const JointDescription& joint, bool one_sided) {
  const Limits& l = joint.limits;
  std::string said = "<limit joint=" + quoted(joint.name);
  const auto add = [&](const char* key, const std::optional<double>& value) {
    if (value) said += std::string(" ") + key + "='" + formats::number_text(*value, who_) + "'";
  };
  if (one_sided) add("lower", l.lower), add("upper", l.upper);
  add("effort", l.effort), add("velocity", l.velocity);
  const std::string name = "limit " + joint.name;
  for (const auto& [other, xml] : texts_) {
    if (other == name) return;  // the second of two joints that stand for one
  }
  keep(name, said + "/>");
  lose("joint " + in_quotes(joint.name) + ": limits of effort, of velocity or on one side");
}

}  // namespace espalier::mjcf
