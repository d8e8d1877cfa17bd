#include "formats/known_names.hpp"

#include <set>

#include "espalier/kernel/errors.hpp"
#include "espalier/kernel/text.hpp"

namespace espalier {

namespace {

/// Names of one kind of part.
class KnownNames {
 public:
  template <class Parts>
  KnownNames(const char* kind, const Parts& parts) : kind_(kind) {
    add(parts);
  }
  /// @throws InvalidModel if a name is given twice
  template <class Parts>
  void add(const Parts& parts) {
    for (const auto& part : parts) {
      if (names_.insert(part.name).second) continue;
      throw InvalidModel(kind_ + (" " + text::quoted(part.name)) + in_brackets(part.where) +
                         ": name is given twice, expected unique names (rename one)");
    }
  }

  /// A name that several parts may have.
  void also(const std::string& name) { names_.insert(name); }

  void expect(const std::string& who, const std::string& name, const SourceLocation& where) const {
    if (names_.contains(name)) return;
    throw InvalidModel(who + in_brackets(where) + ": " + kind_ + " " + text::quoted(name) +
                       " is unknown, expected one that the robot has");
  }

 private:
  static std::string in_brackets(const SourceLocation& where) {
    const std::string place = where.text();
    return place.empty() ? "" : " (" + place + ")";
  }

  const char* kind_;
  std::set<std::string> names_;
};

}  // namespace

void expect_known_names(const Description& robot) {
  const KnownNames links("link", robot.links);
  KnownNames joints("joint", robot.joints);
  KnownNames constraints("constraint", robot.loops);
  constraints.add(robot.couplings);
  constraints.add(robot.laws);
  for (const JointDescription& j : robot.joints) {
    for (const std::string& link : {j.parent, j.child}) {
      links.expect("joint " + text::quoted(j.name), link, j.where);
    }
    if (j.child == "world") {
      throw InvalidModel("link 'world', which hangs on joint " + text::quoted(j.name) +
                         ": has the name of the ground in this format, expected another one "
                         "(rename it)");
    }
    if (j.mimic) joints.expect("joint " + text::quoted(j.name), j.mimic->joint, j.where);
  }
  for (const LoopDescription& l : robot.loops) {
    for (const std::string& link : {l.predecessor, l.successor}) {
      links.expect("loop " + text::quoted(l.name), link, l.where);
    }
  }
  for (const CouplingDescription& c : robot.couplings) {
    for (const std::string& link : {c.predecessor, c.successor}) {
      links.expect("coupling " + text::quoted(c.name), link, c.where);
    }
  }
  for (const LawDescription& l : robot.laws) {
    for (const std::string& joint : l.joints) {
      joints.expect("law " + text::quoted(l.name), joint, l.where);
    }
  }
  // States and inputs may name the joint that a floating root hangs on.
  if (robot.floating.value_or(false)) {
    JointDescription root;
    root.name = "root";
    joints.add(std::vector{root});
  }
  for (const NamedState& s : robot.states) {
    for (const auto* values : {&s.positions, &s.velocities}) {
      for (const auto& [joint, numbers] : *values) {
        joints.expect("state " + text::quoted(s.name), joint, s.where);
      }
    }
  }
  for (const ActuatorDescription& a : robot.actuators) {
    for (const auto& [joint, gear] : a.gear) {
      joints.expect("actuator " + text::quoted(a.name), joint, a.where);
    }
  }
  for (const PairDescription& pair : robot.excluded_contacts) {
    for (const std::string& link : {pair.first, pair.second}) {
      links.expect("excluded contact", link, pair.where);
    }
  }
  KnownNames shapes("collision shape", std::vector<ShapeDescription>{});
  for (const LinkDescription& link : robot.links) {
    for (const ShapeDescription& shape : link.collisions) shapes.also(shape.name);
  }
  for (const PairDescription& pair : robot.contact_pairs) {
    for (const std::string& shape : {pair.first, pair.second}) {
      shapes.expect("contact pair", shape, pair.where);
    }
  }
}

}  // namespace espalier
