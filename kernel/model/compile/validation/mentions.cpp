#include <algorithm>

#include "espalier/kernel/errors.hpp"
#include "espalier/kernel/model/compile/validation/validate.hpp"
#include "espalier/kernel/text.hpp"

namespace espalier::detail {

namespace {

/// Names are looked up where something mentions them, and listed for messages alone.
class Mentions {
 public:
  Mentions(const Description& robot, const ModelTypes& types, const CompileOptions& options,
           Findings& findings)
      : robot_(robot),
        types_(types),
        root_floats_(options.root == CompileOptions::Root::floating),
        findings_(findings) {}

  void run() {
    for (const NamedState& state : robot_.states) {
      expect_joints("state '" + state.name + "'", state.positions, state.where);
      expect_joints("state '" + state.name + "'", state.velocities, state.where);
    }
    for (const ActuatorDescription& actuator : robot_.actuators) check(actuator);
    for (const PairDescription& pair : robot_.excluded_contacts) {
      for (const std::string& link : {pair.first, pair.second}) {
        if (among(link, robot_.links)) continue;
        findings_.error(pair.where, "excluded contact: link '" + link + "' is unknown" +
                                        one_of(link, names_of(robot_.links)));
      }
    }
    for (const PairDescription& pair : robot_.contact_pairs) {
      const Names known = shapes();
      for (const std::string& shape : {pair.first, pair.second}) {
        if (std::find(known.begin(), known.end(), shape) != known.end()) continue;
        findings_.warning(pair.where, "contact pair: collision shape '" + shape + "' is unknown" +
                                          one_of(shape, known));
      }
    }
  }

 private:
  using Names = std::vector<std::string>;

  template <class Parts>
  static bool among(const std::string& name, const Parts& parts) {
    return std::any_of(parts.begin(), parts.end(),
                       [&](const auto& part) { return part.name == name; });
  }
  template <class Parts>
  static Names names_of(const Parts& parts) {
    Names all;
    for (const auto& part : parts) all.push_back(part.name);
    return all;
  }
  Names joints() const {
    Names all = names_of(robot_.joints);
    if (root_floats_) all.insert(all.begin(), "root");
    return all;
  }
  Names shapes() const {
    Names all;
    for (const LinkDescription& link : robot_.links) {
      for (const ShapeDescription& shape : link.collisions) all.push_back(shape.name);
    }
    return all;
  }

  /// @param values  by joints
  template <class Values>
  void expect_joints(const std::string& who, const Values& values, const SourceLocation& where) {
    for (const auto& [joint, numbers] : values) {
      if (among(joint, robot_.joints)) continue;
      const bool root = joint == "root";  // --root fixed holds one that floats in the file
      if (root && (root_floats_ || robot_.floating.value_or(false))) continue;
      findings_.error(where, who + ": joint '" + joint + "' is unknown" +
                                 (root ? " (the root is fixed: add --root floating)" : "") +
                                 one_of(joint, joints()));
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
  bool root_floats_;
  Findings& findings_;
};

}  // namespace

void check_mentions(const Description& robot, const ModelTypes& types,
                    const CompileOptions& options, Findings& findings) {
  Mentions(robot, types, options, findings).run();
}

}  // namespace espalier::detail
