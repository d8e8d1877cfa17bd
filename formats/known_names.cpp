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
    for (const auto& part : parts) names_.insert(part.name);
  }

  void expect(const std::string& who, const std::string& name, const SourceLocation& where) const {
    if (names_.contains(name)) return;
    const std::string place = where.text();
    throw InvalidModel(who + (place.empty() ? "" : " (" + place + ")") + ": " + kind_ + " " +
                       text::quoted(name) + " is unknown, expected one that the robot has");
  }

 private:
  const char* kind_;
  std::set<std::string> names_;
};

}  // namespace

void expect_known_names(const Description& robot) {
  const KnownNames links("link", robot.links), joints("joint", robot.joints);
  for (const JointDescription& j : robot.joints) {
    for (const std::string& link : {j.parent, j.child}) {
      links.expect("joint " + text::quoted(j.name), link, j.where);
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
}

}  // namespace espalier
