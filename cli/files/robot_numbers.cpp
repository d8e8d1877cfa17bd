#include "cli/files/robot_numbers.hpp"

#include "cli/command.hpp"
#include "cli/session.hpp"

namespace espalier::cli {

namespace {

/// Finds a number of a robot by name.
class NumberFinder {
 public:
  NumberFinder(const std::string& who, const std::string& target)
      : asks_(who), who_(who + ": '" + target + "': "), target_(target) {}

  double& in(Description& robot) {
    // Names of parts may have dots; kinds and fields have none.
    const std::size_t first = target_.find('.'), last = target_.rfind('.');
    if (first == std::string::npos || first == last) {
      throw usage_error(asks_ + ": target is '" + target_ +
                        "', expected <kind>.<name>.<field>, e.g. links.shank.mass");
    }
    const std::string kind = target_.substr(0, first);
    const std::string name = target_.substr(first + 1, last - first - 1);
    field_ = target_.substr(last + 1);
    if (const std::size_t open = field_.find('[');
        open != std::string::npos && field_.back() == ']') {
      index_ = field_.substr(open + 1, field_.size() - open - 2);
      field_.resize(open);
    }
    if (kind == "links") return of_link(named(robot.links, name));
    if (kind == "joints") return of_joint(named(robot.joints, name));
    if (kind == "couplings") {
      CouplingDescription& coupling = named(robot.couplings, name);
      if (field_ == "ratio") return coupling.ratio;
      refuse({"ratio"});
    }
    if (kind == "laws") return parameter(named(robot.laws, name).parameters);
    if (kind == "loops") return of_loop(named(robot.loops, name));
    throw usage_error(who_ + "kind is '" + kind + "'" +
                      suggest(kind, {"links", "joints", "couplings", "laws", "loops"}));
  }

 private:
  template <class P>
  P& named(std::vector<P>& parts, const std::string& name) const {
    std::vector<std::string> known;
    for (P& p : parts) {
      if (p.name == name) return p;
      known.push_back(p.name);
    }
    throw Failure(unusable, "UnknownName", who_ + "part is '" + name + "'" + suggest(name, known));
  }
  [[noreturn]] void refuse(const std::vector<std::string>& known) const {
    throw usage_error(who_ + "field is '" + field_ + "'" + suggest(field_, known));
  }
  double& component(Vec3<double>& x) const {
    if (index_ == "0") return x.x;
    if (index_ == "1") return x.y;
    if (index_ == "2") return x.z;
    throw usage_error(who_ + "index is '" + index_ + "', expected 0, 1 or 2");
  }
  double& parameter(Parameters& parameters, std::vector<std::string> known = {}) const {
    const auto found = parameters.find(field_);
    if (found != parameters.end()) {
      std::vector<double>& values = found->second;
      if (values.size() == 1 && index_.empty()) return values[0];
      for (std::size_t k = 0; k < values.size(); ++k) {
        if (index_ == std::to_string(k)) return values[k];
      }
      throw usage_error(who_ + "index is '" + index_ + "', expected one from 0 to " +
                        std::to_string(values.size() - 1));
    }
    for (const auto& item : parameters) known.push_back(item.first);
    refuse(known);
  }
  double& of_link(LinkDescription& link) const {
    if (!link.inertial) {
      throw Failure(unusable, "InvalidModel",
                    who_ + "link has no inertia, expected one with a mass");
    }
    if (field_ == "mass") return link.inertial->mass;
    if (field_ == "com") return component(link.inertial->origin.xyz);
    refuse({"mass", "com"});
  }
  double& of_joint(JointDescription& joint) const {
    if (field_ == "xyz") return component(joint.origin.xyz);
    if (field_ == "rpy") return component(joint.origin.rpy);
    if (field_ == "damping") return joint.passive.damping;
    if (field_ == "friction") return joint.passive.friction;
    if (field_ == "stiffness") return joint.passive.stiffness;
    if (field_ == "rest") return joint.passive.rest;
    if (field_ == "armature") return joint.armature;
    refuse({"xyz", "rpy", "damping", "friction", "stiffness", "rest", "armature"});
  }
  double& of_loop(LoopDescription& loop) const {
    if (field_ == "predecessor_xyz") return component(loop.predecessor_origin.xyz);
    if (field_ == "successor_xyz") return component(loop.successor_origin.xyz);
    return parameter(loop.parameters, {"predecessor_xyz", "successor_xyz"});
  }

  std::string asks_, who_, target_, field_, index_;
};

}  // namespace

double& number_of(Description& robot, const std::string& target, const std::string& who) {
  return NumberFinder(who, target).in(robot);
}

}  // namespace espalier::cli
