#include "espalier/kernel/model/compile/validation/validate.hpp"
#include "espalier/kernel/utf8.hpp"

namespace espalier::detail {

namespace {

/// Reports texts of a description that are no UTF-8, by the part that they stand in.
class TextCheck {
 public:
  explicit TextCheck(Findings& findings) : findings_(findings) {}

  /// The next part of a list. @param number  from 1, as it stands in the description
  void part(const char* kind, std::size_t number, const std::string& name,
            const SourceLocation& where) {
    kind_ = kind, number_ = number, name_ = &name, where_ = &where;
    look("name", name);
  }
  void look(const char* what, const std::string& text) {
    if (text::is_utf8(text)) return;
    findings_.error(*where_, std::string(kind_) + " '" + text::shown(*name_) + "' (number " +
                                 std::to_string(number_) + " of these): " + what + " '" +
                                 text::shown(text) +
                                 "' is not UTF-8, expected UTF-8 (save the file in that encoding)");
  }
  template <class Values>
  void keys(const char* what, const Values& values) {
    for (const auto& [key, value] : values) look(what, key);
  }

 private:
  Findings& findings_;
  const char* kind_ = "";
  std::size_t number_ = 0;
  const std::string* name_ = nullptr;
  const SourceLocation* where_ = nullptr;
};

template <class Parts, class Look>
void each(TextCheck& check, const char* kind, const Parts& parts, const Look& look) {
  std::size_t number = 0;
  for (const auto& part : parts) {
    check.part(kind, ++number, part.name, part.where);
    look(part);
  }
}

}  // namespace

void check_texts(const Description& robot, Findings& findings) {
  TextCheck check(findings);
  check.part("robot", 1, robot.name, robot.where);
  each(check, "link", robot.links, [&](const LinkDescription& link) {
    for (const auto* shapes : {&link.visuals, &link.collisions}) {
      for (const ShapeDescription& shape : *shapes) {
        check.look("name of a shape", shape.name), check.look("material", shape.material);
      }
    }
    for (const FrameDescription& frame : link.frames) check.look("name of a frame", frame.name);
  });
  each(check, "joint", robot.joints, [&](const JointDescription& joint) {
    check.look("type", joint.type);
    check.look("parent", joint.parent), check.look("child", joint.child);
    if (joint.mimic) check.look("joint that it mimics", joint.mimic->joint);
    check.keys("parameter", joint.parameters);
  });
  each(check, "loop", robot.loops, [&](const LoopDescription& loop) {
    check.look("type", loop.type);
    check.look("predecessor", loop.predecessor), check.look("successor", loop.successor);
    check.keys("parameter", loop.parameters);
  });
  each(check, "coupling", robot.couplings, [&](const CouplingDescription& coupling) {
    check.look("predecessor", coupling.predecessor), check.look("successor", coupling.successor);
  });
  each(check, "law", robot.laws, [&](const LawDescription& law) {
    check.look("type", law.type);
    for (const std::string& joint : law.joints) check.look("joint", joint);
    check.keys("parameter", law.parameters);
  });
  each(check, "state", robot.states, [&](const NamedState& state) {
    check.keys("joint", state.positions), check.keys("joint", state.velocities);
  });
  each(check, "actuator", robot.actuators,
       [&](const ActuatorDescription& actuator) { check.keys("joint", actuator.gear); });
}

}  // namespace espalier::detail
