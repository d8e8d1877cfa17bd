#include "espalier/kernel/model/compile/validation/validate.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>

#include "espalier/kernel/errors.hpp"
#include "espalier/kernel/guard.hpp"
#include "espalier/kernel/model/law.hpp"
#include "espalier/kernel/suggest.hpp"
#include "espalier/kernel/utf8.hpp"

namespace espalier::detail {

namespace {

/// Reports names that are empty or given twice.
class NameCheck {
 public:
  NameCheck(const char* what, Findings& findings) : what_(what), findings_(findings) {}

  void add(const std::string& name, const SourceLocation& where) {
    if (name.empty()) {
      findings_.error(where, std::string(what_) + ": name is empty, expected a name");
      return;
    }
    const auto [first, is_new] = where_.emplace(name, where);
    if (!is_new) {
      const std::string elsewhere = first->second.text();
      findings_.error(where, std::string(what_) + " '" + name + "': name is given twice" +
                                 (elsewhere.empty() ? "" : " (first at " + elsewhere + ")") +
                                 ", expected unique names (rename one)");
    }
  }
  bool has(const std::string& name) const { return where_.contains(name); }
  std::vector<std::string> names() const {
    std::vector<std::string> all;
    for (const auto& [name, where] : where_) all.push_back(name);
    return all;
  }

 private:
  const char* what_;
  Findings& findings_;
  std::map<std::string, SourceLocation> where_;
};

}  // namespace

std::string number(double x) {
  std::string text = std::to_string(x);
  if (x != 0.0 && std::abs(x) < 1e-3) {
    char buffer[32];
    std::snprintf(buffer, sizeof buffer, "%g", x);
    text = buffer;
  }
  return text;
}

bool Findings::failed() const {
  return std::any_of(list_.begin(), list_.end(),
                     [](const Finding& f) { return f.severity == Finding::Severity::error; });
}

void Findings::throw_if_failed(const std::string& robot) const {
  const Finding* first = nullptr;
  int others = -1;
  for (const Finding& f : list_) {
    if (f.severity != Finding::Severity::error) continue;
    if (first == nullptr) first = &f;
    ++others;
  }
  if (first == nullptr) return;
  std::string text = "robot '" + text::shown(robot) + "': " + first->text;
  if (!first->where.empty()) text += " [" + first->where + "]";
  if (others > 0) {
    text += " (and " + std::to_string(others) + " more error" + (others > 1 ? "s" : "") +
            "; `espalier check` lists them)";
  }
  throw InvalidModel(text);
}

std::string one_of(const std::string& name, const std::vector<std::string>& known) {
  return ", expected one of " + list_of(known) + did_you_mean(name, known);
}

std::string list_of(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i == 12) return text + ", ... (" + std::to_string(names.size()) + " in all)";
    text += (i == 0 ? "'" : ", '") + names[i] + "'";
  }
  return text;
}

namespace {

/// The checks of validate(), one function for each kind of part.
class Validation {
 public:
  Validation(const Description& robot, const ModelTypes& types, const CompileOptions& options,
             Findings& findings)
      : robot_(robot), types_(types), options_(options), findings_(findings) {}

  void run() {
    if (!finite(robot_.gravity)) {
      findings_.error(robot_.where,
                      "gravity has a number that is not finite or beyond 1e60, expected numbers");
    }
    for (const LinkDescription& link : robot_.links) links_.add(link.name, link.where);
    check_inertias(robot_, options_, findings_);
    if (options_.root == CompileOptions::Root::floating)
      joints_.add("root", {"--root floating", 0});
    for (const JointDescription& joint : robot_.joints) {
      joints_.add(joint.name, joint.where);
      by_name_.emplace(joint.name, &joint);
    }
    for (const JointDescription& joint : robot_.joints) check(joint);
    for (const LoopDescription& loop : robot_.loops) check(loop);
    for (const CouplingDescription& coupling : robot_.couplings) check(coupling);
    for (const LawDescription& law : robot_.laws) check(law);
    check_mentions(robot_, types_, options_, findings_);
  }

 private:
  void expect_link(const std::string& who, const char* role, const std::string& link,
                   const SourceLocation& where) {
    if (links_.has(link)) return;
    findings_.error(where, who + ": " + role + " link '" + link + "' is unknown" +
                               one_of(link, links_.names()));
  }

  void expect_placed(const std::string& who, const Pose& origin, const SourceLocation& where) {
    if (placed(origin)) return;
    findings_.error(where, who +
                               ": origin has a number that is not finite, or a length beyond 1e8, "
                               "expected metres");
  }

  void check(const JointDescription& joint) {
    const std::string who = "joint '" + joint.name + "'";
    expect_link(who, "parent", joint.parent, joint.where);
    expect_link(who, "child", joint.child, joint.where);
    if (joint.parent == joint.child) {
      findings_.error(joint.where, who + ": parent and child are both '" + joint.child +
                                       "', expected two links");
    }
    expect_placed(who, joint.origin, joint.where);
    check_type(who, joint, types_, findings_);
    check_passive(joint, findings_);
    if (joint.mimic && joint.type == "fixed") {
      findings_.warning(joint.where, who + ": mimics joint '" + joint.mimic->joint +
                                         "', but is fixed, expected a joint that moves (the "
                                         "mimic has no effect)");
    } else if (joint.mimic && options_.mimic == CompileOptions::MimicRule::honour) {
      check_mimic(who, joint, *joint.mimic);
    }
  }

  void check_mimic(const std::string& who, const JointDescription& joint, const Mimic& mimic) {
    const auto other = by_name_.find(mimic.joint);
    if (other == by_name_.end()) {
      findings_.error(joint.where, who + ": mimics joint '" + mimic.joint + "', which is unknown" +
                                       one_of(mimic.joint, joints_.names()));
    } else if (mimic.joint == joint.name) {
      findings_.error(joint.where, who + ": mimics itself, expected another joint");
    } else if (other->second->mimic) {
      findings_.error(joint.where, who + ": mimics '" + mimic.joint + "', which mimics '" +
                                       other->second->mimic->joint +
                                       "' itself, expected a joint that mimics none (name '" +
                                       other->second->mimic->joint + "' here)");
    }
    if (!finite(mimic.multiplier) || mimic.multiplier == 0.0) {
      findings_.error(joint.where, who + ": mimic multiplier is " + number(mimic.multiplier) +
                                       ", expected a number other than zero up to 1e60");
    }
    if (!finite(mimic.offset)) {
      findings_.error(joint.where, who + ": mimic offset is " + number(mimic.offset) +
                                       ", expected a finite number up to 1e60");
    }
  }

  void check(const LoopDescription& loop) {
    const std::string who = "loop '" + loop.name + "'";
    constraints_.add(loop.name, loop.where);
    expect_link(who, "predecessor", loop.predecessor, loop.where);
    expect_link(who, "successor", loop.successor, loop.where);
    if (loop.predecessor == loop.successor) {
      findings_.error(loop.where, who + ": predecessor and successor are both '" + loop.successor +
                                      "', expected two links");
    }
    try {
      const LoopJoint& type = types_.loop_joint(loop.type);
      check_parameter_names(who, "loops of type '" + loop.type + "'", loop.parameters,
                            type.parameter_names(), loop.where, findings_);
    } catch (const UnknownName& error) {
      findings_.error(loop.where, who + ": " + error.what());
    }
    const double length = std::sqrt(dot(loop.axis, loop.axis));
    if (!(length > 1e-9) || !std::isfinite(length)) {
      findings_.error(loop.where,
                      who + ": axis has length " + number(length) + ", expected a direction");
    }
    const bool first = placed(loop.predecessor_origin);  // one message for both
    expect_placed(who, first ? loop.successor_origin : loop.predecessor_origin, loop.where);
  }

  void check(const CouplingDescription& coupling) {
    const std::string who = "coupling '" + coupling.name + "'";
    constraints_.add(coupling.name, coupling.where);
    expect_link(who, "predecessor", coupling.predecessor, coupling.where);
    expect_link(who, "successor", coupling.successor, coupling.where);
    if (!finite(coupling.ratio) || coupling.ratio == 0.0) {
      findings_.error(coupling.where, who + ": ratio is " + number(coupling.ratio) +
                                          ", expected a number other than zero up to 1e60");
    }
  }

  void check(const LawDescription& law) {
    const std::string who = "law '" + law.name + "'";
    constraints_.add(law.name, law.where);
    try {
      const LawType& type = types_.law(law.type);
      check_parameter_names(who, "laws of type '" + law.type + "'", law.parameters,
                            type.parameter_names(), law.where, findings_);
      if (static_cast<int>(law.joints.size()) != type.positions()) {
        findings_.error(law.where, who + ": names " + std::to_string(law.joints.size()) +
                                       " joints, expected " + std::to_string(type.positions()) +
                                       " for type '" + law.type + "'");
      }
    } catch (const UnknownName& error) {
      findings_.error(law.where, who + ": " + error.what());
    }
    std::map<std::string, int> uses;
    for (const std::string& joint : law.joints) {
      if (!by_name_.contains(joint)) {
        findings_.error(
            law.where, who + ": joint '" + joint + "' is unknown" + one_of(joint, joints_.names()));
      } else if (++uses[joint] == 2) {
        findings_.error(law.where,
                        who + ": joint '" + joint + "' is named twice, expected it once");
      }
    }
  }

  const Description& robot_;
  const ModelTypes& types_;
  const CompileOptions& options_;
  Findings& findings_;
  NameCheck links_{"link", findings_}, joints_{"joint", findings_},
      constraints_{"constraint", findings_};
  std::map<std::string, const JointDescription*> by_name_;
};

}  // namespace

void validate(const Description& robot, const ModelTypes& types, const CompileOptions& options,
              Findings& findings) {
  if (robot.links.empty()) {
    findings.error(robot.where, "robot has no links, expected at least one");
    return;
  }
  check_texts(robot, findings);
  if (findings.failed()) return;  // the messages of other checks repeat names
  Validation(robot, types, options, findings).run();
}

}  // namespace espalier::detail
