#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>

#include "espalier/kernel/errors.hpp"
#include "espalier/kernel/guard.hpp"
#include "espalier/kernel/model/compile/validation/validate.hpp"
#include "espalier/kernel/suggest.hpp"

/// What a description says of one joint, by itself and of its type.

namespace espalier::detail {

JointSpec spec_of(const JointDescription& joint) {
  const double length = std::sqrt(dot(joint.axis, joint.axis));
  const Vec3<double> axis = length > 1e-9 ? scale(1.0 / length, joint.axis) : Vec3<double>{0, 0, 1};
  JointSpec spec;
  spec.name = joint.name, spec.parameters = joint.parameters, spec.where = joint.where.text();
  spec.axis = axis;
  return spec;
}

void check_passive(const JointDescription& joint, Findings& findings) {
  const std::string who = "joint '" + joint.name + "'";
  const auto check = [&](double value, const char* what, double most = most_number,
                         const char* words = "1e60") {
    if (!(value <= most) || value < 0.0) {
      findings.error(joint.where, who + ": " + what + " is " + number(value) +
                                      ", expected a number that is not negative, up to " + words);
    }
  };
  check(joint.passive.damping, "damping");
  check(joint.passive.friction, "friction");
  check(joint.passive.stiffness, "stiffness");
  check(joint.armature, "armature", most_armature, "1e15");
  if (!finite(joint.passive.rest)) {
    findings.error(joint.where, who + ": rest position of its spring is " +
                                    number(joint.passive.rest) + ", expected a finite number");
  }
  const Limits& l = joint.limits;
  for (const std::optional<double>& limit : {l.lower, l.upper, l.velocity, l.effort}) {
    if (limit && std::isnan(*limit)) {
      findings.error(joint.where, who + ": a limit is not a number, expected one");
    }
  }
  for (const auto& [limit, what] : {std::pair{l.velocity, "velocity"}, {l.effort, "effort"}}) {
    if (limit && *limit < 0.0) {
      findings.warning(joint.where, who + ": " + what + " limit is " + number(*limit) +
                                        ", expected a number that is not negative");
    }
  }
  // Limits that exclude nothing are often huge; those that exclude everything else are wrong.
  if ((l.lower && *l.lower > most_number) || (l.upper && *l.upper < -most_number)) {
    findings.error(
        joint.where,
        who + ": limits leave nothing but positions beyond 1e60, expected " + "limits of a robot");
  }
  if (l.lower && l.upper && *l.lower > *l.upper) {
    findings.warning(joint.where, who + ": lower limit is " + number(*l.lower) +
                                      ", expected at most the upper limit " + number(*l.upper));
  }
}

void check_parameter_names(const std::string& who, const std::string& reader,
                           const Parameters& given, const std::vector<std::string_view>& known,
                           const SourceLocation& where, Findings& findings) {
  for (const auto& [name, values] : given) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    const std::vector<std::string> names(known.begin(), known.end());
    findings.error(where,
                   who + ": parameter '" + name + "' is unknown to " + reader + ", expected " +
                       (names.empty() ? "none" : list_of(names) + did_you_mean(name, names)));
  }
}

namespace {

/// Makes a joint and places it at its neutral position, as every algorithm will.
void try_out(const JointType& type, const JointSpec& spec) {
  const Transform<double> placement{type.alignment(spec), {0, 0, 0}};
  const std::unique_ptr<JointRun> run = type.make_run({&spec, 1}, {&placement, 1});
  if (run == nullptr || type.nv() == 0 || type.nv() > 6) return;
  std::vector<double> q(type.nq()), qd(type.nv());
  Transform<double> X;
  Motion<double> S[6], bias;
  run->neutral(q.data());
  run->kinematics(q.data(), qd.data(), {&X, S, &bias});
  run->normalize(q.data());
}

/// What the type says of the joint's axis and parameters.
void check_parameters(const JointDescription& joint, const JointType& type, Findings& findings) {
  try {
    const JointSpec spec = spec_of(joint);
    guarded([&] { return "joint '" + joint.name + "' of type '" + joint.type + "'"; },
            "its constructor or its position", [&] { try_out(type, spec); });
  } catch (const Error& error) {  // names the joint itself
    findings.error(joint.where, error.what());
  }
}

/// Springs and limits are of joints whose position is one number.
void check_position(const JointDescription& joint, const JointType& type, Findings& findings) {
  if (type.nq() <= 1) return;
  const std::string who = "joint '" + joint.name + "' of type '" + joint.type + "': ";
  if (joint.passive.stiffness != 0.0) {
    findings.warning(joint.where, who + "stiffness is " + number(joint.passive.stiffness) +
                                      ", expected none (springs act on joints whose position is "
                                      "one number: this one does nothing)");
  }
  if (joint.limits.lower || joint.limits.upper) {
    findings.warning(joint.where, who +
                                      "position has limits, expected none (they act on joints "
                                      "whose position is one number, and not here)");
  }
}

}  // namespace

void check_type(const std::string& who, const JointDescription& joint, const ModelTypes& types,
                Findings& findings) {
  try {
    const JointType& type = types.joint_type(joint.type);
    check_position(joint, type, findings);
    check_parameter_names(who, "joints of type '" + joint.type + "'", joint.parameters,
                          type.parameter_names(), joint.where, findings);
    const double length = std::sqrt(dot(joint.axis, joint.axis));
    const bool about_axis = type.nv() > 0 && type.subspace() != SubspaceKind::free &&
                            type.subspace() != SubspaceKind::spherical;
    if (!std::isfinite(length) || (about_axis && length < 1e-9)) {
      findings.error(joint.where, who + ": axis has length " + number(length) +
                                      ", expected a direction (give three numbers, not all zero)");
    } else if (about_axis && std::abs(length - 1.0) > 1e-3) {
      findings.warning(joint.where, who + ": axis has length " + number(length) +
                                        ", expected 1 (it is normalised)");
    }
    if (type.nv() > 6) {
      findings.error(joint.where, who + ": type '" + joint.type + "' has " +
                                      std::to_string(type.nv()) + " rates, expected at most 6");
    }
    check_parameters(joint, type, findings);
  } catch (const Error& error) {
    findings.error(joint.where, who + ": " + error.what());
  }
}

}  // namespace espalier::detail
