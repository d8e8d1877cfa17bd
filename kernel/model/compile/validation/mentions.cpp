#include <algorithm>

#include "espalier/kernel/errors.hpp"
#include "espalier/kernel/model/compile/validation/validate.hpp"
#include "espalier/kernel/text.hpp"

namespace espalier::detail {

namespace {

class Mentions {
 public:
  Mentions(const Description& robot, const ModelTypes& types, const CompileOptions& options,
           Findings& findings)
      : robot_(robot), types_(types), findings_(findings) {
    if (options.root == CompileOptions::Root::floating) joints_.push_back("root");
    for (const JointDescription& joint : robot.joints) joints_.push_back(joint.name);
    for (const LinkDescription& link : robot.links) {
      links_.push_back(link.name);
      for (const ShapeDescription& shape : link.collisions) shapes_.push_back(shape.name);
    }
  }

  void run() {
    for (const NamedState& state : robot_.states) {
      expect_joints("state '" + state.name + "'", state.positions, state.where);
      expect_joints("state '" + state.name + "'", state.velocities, state.where);
    }
    for (const ActuatorDescription& actuator : robot_.actuators) check(actuator);
    for (const PairDescription& pair : robot_.excluded_contacts) {
      for (const std::string& link : {pair.first, pair.second}) {
        if (among(link, links_)) continue;
        findings_.error(pair.where,
                        "excluded contact: link '" + link + "' is unknown" + one_of(link, links_));
      }
    }
    for (const PairDescription& pair : robot_.contact_pairs) {
      for (const std::string& shape : {pair.first, pair.second}) {
        if (among(shape, shapes_)) continue;
        findings_.warning(pair.where, "contact pair: collision shape '" + shape + "' is unknown" +
                                          one_of(shape, shapes_));
      }
    }
  }

 private:
  using Names = std::vector<std::string>;

  static bool among(const std::string& name, const Names& names) {
    return std::find(names.begin(), names.end(), name) != names.end();
  }

  /// @param values  by joints
  template <class Values>
  void expect_joints(const std::string& who, const Values& values, const SourceLocation& where) {
    for (const auto& [joint, numbers] : values) {
      if (among(joint, joints_)) continue;  // the floating root among them
      const bool root = joint == "root";
      if (root && robot_.floating.value_or(false)) continue;  // --root fixed holds it
      findings_.error(where, who + ": joint '" + joint + "' is unknown" +
                                 (root ? " (the root is fixed: add --root floating)" : "") +
                                 one_of(joint, joints_));
    }
  }

  void check(const ActuatorDescription& actuator) {
    const std::string who = "actuator '" + actuator.name + "'";
    expect_joints(who, actuator.gear, actuator.where);
    bool acts = false;
    for (const auto& [name, gear] : actuator.gear) {
      for (const double x : gear) acts = acts || x != 0.0;
      const int rates = rates_of(name);
      if (rates == 0) {  // somebody has locked it
        findings_.warning(actuator.where, who + ": joint '" + name +
                                              "' is fixed, expected one that moves (the input "
                                              "has no effect on it)");
      }
      if (rates <= 0 || static_cast<int>(gear.size()) == rates) continue;
      findings_.error(actuator.where, who + ": gear of joint '" + name + "' has " +
                                          std::to_string(gear.size()) + " numbers, expected " +
                                          std::to_string(rates) + ", one for each of its rates");
    }
    if (!acts) {
      findings_.warning(actuator.where,
                        who + ": its gear is 0 for every joint, expected one that it drives");
    }
    if (actuator.lower && actuator.upper && *actuator.lower > *actuator.upper) {
      findings_.warning(actuator.where, who + ": lower bound is " + text::number(*actuator.lower) +
                                            ", expected at most the upper bound " +
                                            text::number(*actuator.upper));
    }
  }

  /// Of a joint of the description; -1 where it is unknown, or its type is.
  int rates_of(const std::string& name) const {
    for (const JointDescription& joint : robot_.joints) {
      if (joint.name != name) continue;
      try {
        return types_.joint_type(joint.type).nv();
      } catch (const UnknownName&) {
        return -1;
      }
    }
    return -1;
  }

  const Description& robot_;
  const ModelTypes& types_;
  Findings& findings_;
  Names joints_, links_, shapes_;
};

}  // namespace

void check_mentions(const Description& robot, const ModelTypes& types,
                    const CompileOptions& options, Findings& findings) {
  Mentions(robot, types, options, findings).run();
}

}  // namespace espalier::detail
