// Writes MJCF: constraints as equalities and tendons, and as they are in texts.

#include <algorithm>
#include <cmath>

#include "espalier/kernel/errors.hpp"
#include "formats/mjcf/writer/writer.hpp"
#include "formats/text.hpp"

namespace espalier::mjcf {

using formats::in_quotes;

namespace {

/// Between the two balls that stand for a hinge [m].
constexpr double hinge_width = 0.1;

/// The unit vector along a direction, or what is none.
Vec3<double> unit_or_none(const Vec3<double>& v) {
  const double length = std::sqrt(dot(v, v));
  return length > 0.0 ? scale(1.0 / length, v) : v;
}

}  // namespace

void Writer::collect_constraints() {
  for (const JointDescription& joint : robot_.joints) {
    if (!joint.mimic) continue;
    const Mimic& mimic = *joint.mimic;
    ties_.push_back(
        {"mimic " + joint.name, joint.name, mimic.joint, {mimic.offset, mimic.multiplier}});
    keep("mimic " + joint.name, "<mimic joint=" + quoted(joint.name) +
                                    " of=" + quoted(mimic.joint) + " law='" +
                                    list({mimic.multiplier, mimic.offset}) + "'/>");
  }
  for (const CouplingDescription& coupling : robot_.couplings) add_coupling(coupling);
  for (const LawDescription& law : robot_.laws) add_law(law);
}

void Writer::tendons() {
  open("tendon");
  for (const Sum& sum : sums_) fixed_tendon(sum.name, sum.weights);
  for (const ActuatorDescription& actuator : robot_.actuators) {
    if (actuator.gear.size() < 2 || !unsayable(actuator).empty()) continue;
    std::map<std::string, double> weights;
    for (const auto& [joint, gear] : actuator.gear) weights[joint] = gear.at(0);
    fixed_tendon("tendon of " + actuator.name, weights);
  }
  for (const LoopDescription& loop : robot_.loops) {
    if (loop.type != "rod") continue;
    open("spatial");
    text("name", "loop " + loop.name, "tendon");
    for (const char* end : {rod_first, rod_second}) {
      open("site");
      text("site", loop.name + end, "site");
      close();
    }
    close();
  }
  close();
}

void Writer::equalities() {
  open("equality");
  for (const Tie& tie : ties_) {
    open("joint");
    text("name", tie.name, "equality");
    text("joint1", tie.first, "joint");
    text("joint2", tie.second, "joint");
    std::vector<double> polynomial = tie.polynomial;
    polynomial.resize(5, 0.0);
    numbers("polycoef", polynomial);
    close();
    lose("joint " + in_quotes(tie.first) + ": is tied to " + in_quotes(tie.second) + " softly");
  }
  for (const Sum& sum : sums_) {
    open("tendon");
    text("name", sum.name, "equality");
    text("tendon1", sum.name, "tendon");
    numbers("polycoef", {sum.sum, 0, 0, 0, 0});
    close();
    lose("constraint " + in_quotes(sum.name) + ": is soft");
  }
  for (const JointDescription* joint : cut_) {
    LoopDescription loop;
    loop.name = joint->name, loop.type = joint->type;
    loop.predecessor = joint->parent, loop.successor = joint->child;
    loop.predecessor_origin = joint->origin, loop.axis = joint->axis;
    loop.parameters = joint->parameters;
    write_loop(loop);
  }
  for (const LoopDescription& loop : robot_.loops) write_loop(loop);
  close();
}

void Writer::fixed_tendon(const std::string& name, const std::map<std::string, double>& weights) {
  open("fixed");
  text("name", name, "tendon");
  for (const auto& [joint, weight] : weights) {
    open("joint");
    text("joint", joint, "joint");
    number("coef", weight);
    close();
  }
  close();
}

/// Joints from a link to the root.
std::vector<const JointDescription*> Writer::way_up(const std::string& link) const {
  std::vector<const JointDescription*> way;
  for (std::string at = link;;) {
    const JointDescription* up = nullptr;
    for (const JointDescription& joint : robot_.joints) {
      const bool cut = std::find(cut_.begin(), cut_.end(), &joint) != cut_.end();
      if (joint.child == at && !cut) up = &joint;
    }
    if (up == nullptr || way.size() > robot_.joints.size()) return way;
    way.push_back(up);
    at = up->parent;
  }
}

void Writer::add_coupling(const CouplingDescription& coupling) {
  keep("coupling " + coupling.name, "<coupling name=" + quoted(coupling.name) +
                                        " predecessor=" + quoted(coupling.predecessor) +
                                        " successor=" + quoted(coupling.successor) + " ratio='" +
                                        list({coupling.ratio}) + "'/>");
  Sum sum;
  sum.name = "coupling " + coupling.name;
  const auto p = way_up(coupling.predecessor), s = way_up(coupling.successor);
  const auto on = [](const auto& way, const JointDescription* joint) {
    return std::find(way.begin(), way.end(), joint) != way.end();
  };
  for (const JointDescription* joint : p) {
    if (joint->type != "fixed" && !on(s, joint)) sum.weights[joint->name] += coupling.ratio;
  }
  for (const JointDescription* joint : s) {
    if (joint->type != "fixed" && !on(p, joint)) sum.weights[joint->name] -= 1.0;
  }
  if (sum.weights.size() == 2) {
    // The successor's side turns faster and depends.
    const auto &a = *sum.weights.begin(), &b = *std::next(sum.weights.begin());
    const bool swap = b.second == -1.0;
    const auto &dependent = swap ? b : a, &leader = swap ? a : b;
    ties_.push_back(
        {sum.name, dependent.first, leader.first, {0.0, -leader.second / dependent.second}});
  } else {
    sums_.push_back(std::move(sum));
  }
}

void Writer::add_law(const LawDescription& law) {
  const auto numbers_of = [&](const char* key) -> std::vector<double> {
    const auto found = law.parameters.find(key);
    return found == law.parameters.end() ? std::vector<double>{} : found->second;
  };
  std::string said = "<law name=" + quoted(law.name) + " type=" + quoted(law.type) + ">";
  for (const std::string& joint : law.joints) said += "<joint name=" + quoted(joint) + "/>";
  keep("law " + law.name, said + parameters(law.parameters) + "</law>");
  if (law.type == "polynomial" && numbers_of("at").empty() &&
      numbers_of("coefficients").size() <= 5 && law.joints.size() == 2) {
    ties_.push_back({"law " + law.name, law.joints[1], law.joints[0], numbers_of("coefficients")});
    return;
  }
  if (law.type.starts_with("weighted_sum_") && numbers_of("weights").size() == law.joints.size()) {
    Sum sum;
    sum.name = "law " + law.name;
    for (std::size_t i = 0; i < law.joints.size(); ++i) {
      sum.weights[law.joints[i]] += numbers_of("weights")[i];
    }
    const auto constant = numbers_of("sum");
    sum.sum = constant.empty() ? 0.0 : constant[0];
    sums_.push_back(std::move(sum));
    return;
  }
  lose("law " + in_quotes(law.name) + " of type " + in_quotes(law.type) +
       ": its joints are independent there");
}

void Writer::write_loop(const LoopDescription& loop) {
  who_ = "mjcf: loop " + in_quotes(loop.name);
  keep_loop(loop);
  const bool hinge = loop.type == "revolute" || loop.type == "continuous";
  const Transform<double> p = loop.predecessor_origin.transform() * at_zero_.at(loop.predecessor);
  const Transform<double> s = loop.successor_origin.transform() * at_zero_.at(loop.successor);
  const Vec3<double> gap = s.r - p.r, axis = unit_or_none(loop.axis);
  if (loop.type == "rod") {
    open("tendon");
    text("name", "loop " + loop.name, "equality");
    text("tendon1", "loop " + loop.name, "tendon");
    const auto wanted = loop.parameters.find("length");
    const double L = wanted == loop.parameters.end() ? 0.0 : wanted->second.at(0);
    numbers("polycoef", {L - std::sqrt(dot(gap, gap)), 0, 0, 0, 0});
    close();
  } else if (loop.type == "spherical" || hinge) {
    // MuJoCo finds the point on the second body at the reference position; where the loop is open
    // there, only custom data can say where it is.
    const Vec3<double> turned = transpose_times(p.E, axis) - transpose_times(s.E, axis);
    if (std::sqrt(dot(gap, gap)) > 1e-9 || (hinge && std::sqrt(dot(turned, turned)) > 1e-9)) {
      lose("loop " + in_quotes(loop.name) + " of type " + in_quotes(loop.type) +
           ": is open at the zero position, so that MuJoCo leaves it open");
      return;
    }
    write_connects(loop, hinge);
  } else if (loop.type == "fixed") {
    write_weld(loop);
  } else {
    lose("loop " + in_quotes(loop.name) + " of type " + in_quotes(loop.type) +
         ": is a joint that closes no loop there, so that MuJoCo leaves it open");
    return;
  }
  lose("loop " + in_quotes(loop.name) + ": is soft");
}

/// A ball, or two of them along a hinge.
void Writer::write_connects(const LoopDescription& loop, bool hinge) {
  for (int i = 0; i < (hinge ? 2 : 1); ++i) {
    open("connect");
    text("name", "loop " + loop.name + (i == 0 ? "" : second_equality), "connect");
    text("body1", loop.predecessor, "body");
    text("body2", loop.successor, "body");
    const Vec3<double> along =
        transpose_times(loop.predecessor_origin.transform().E, unit_or_none(loop.axis));
    vector("anchor", loop.predecessor_origin.xyz + scale(i * hinge_width, along));
    close();
  }
}

void Writer::write_weld(const LoopDescription& loop) {
  open("weld");
  text("name", "loop " + loop.name, "weld");
  text("body1", loop.predecessor, "body");
  text("body2", loop.successor, "body");
  const Transform<double> X =
      loop.successor_origin.transform().inverse() * loop.predecessor_origin.transform();
  const auto q = quaternion(X.E);
  numbers("relpose", {X.r.x, X.r.y, X.r.z, q[0], q[1], q[2], q[3]});
  close();
}

void Writer::keep_loop(const LoopDescription& loop) {
  const auto side = [&](const char* name, const std::string& link, const Pose& pose) {
    return std::string("<") + name + " link=" + quoted(link) + " xyz='" +
           list({pose.xyz.x, pose.xyz.y, pose.xyz.z}) + "' rpy='" +
           list({pose.rpy.x, pose.rpy.y, pose.rpy.z}) + "'/>";
  };
  keep("loop " + loop.name, "<loop name=" + quoted(loop.name) + " type=" + quoted(loop.type) +
                                " axis='" + list({loop.axis.x, loop.axis.y, loop.axis.z}) + "'>" +
                                side("predecessor", loop.predecessor, loop.predecessor_origin) +
                                side("successor", loop.successor, loop.successor_origin) +
                                parameters(loop.parameters) + "</loop>");
}

}  // namespace espalier::mjcf
