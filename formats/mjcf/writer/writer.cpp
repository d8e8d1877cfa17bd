// Writes MJCF: the file and its tree of bodies.

#include <Eigen/Core>
#include <algorithm>
#include <cmath>

#include "espalier/kernel/errors.hpp"
#include "espalier/kernel/linear_algebra/decompositions.hpp"
#include "formats/known_names.hpp"
#include "formats/mjcf/mjcf.hpp"
#include "formats/mjcf/writer/writer.hpp"
#include "formats/text.hpp"

namespace espalier::mjcf {

using formats::in_quotes;

namespace {

/// tinyxml2, here and in MuJoCo, reads 100 levels.
constexpr int deepest_body = 90;

/// Least mass [kg] and inertia [kg·m²] of what moves in MuJoCo.
constexpr double least_mass = 1e-15;

/// In rising order.
Eigen::Vector3d principal_moments(const Inertial& inertial) {
  const Sym3<double>& I = inertial.I;
  Eigen::Matrix3d matrix;
  matrix << I.xx, I.xy, I.xz, I.xy, I.yy, I.yz, I.xz, I.yz, I.zz;
  return espalier::detail::eigen_of_symmetric(matrix).values;
}

}  // namespace

Writer::Writer(const Description& robot) : robot_(robot) {
  for (std::size_t l = 0; l < robot.links.size(); ++l) link_number_[robot.links[l].name] = l;
  std::set<std::string> children;
  for (const LoopDescription& loop : robot.loops) {
    if (loop.type == "rod") site_names_.insert({loop.name + rod_first, loop.name + rod_second});
  }
  for (const JointDescription& joint : robot.joints) joint_names_.insert(joint.name);
  for (const JointDescription& joint : robot.joints) {
    if (!link_number_.contains(joint.parent) || !link_number_.contains(joint.child)) {
      throw Unsupported("mjcf: joint " + in_quotes(joint.name) +
                        ": a link of it is unknown, expected a robot that can be used");
    }
    if (children.insert(joint.child).second) {
      carried_[joint.parent].push_back(&joint);
    } else {
      cut_.push_back(&joint);
    }
  }
  for (const LawDescription& law : robot.laws) {  // what closes a loop is no joint there
    for (const JointDescription* cut : cut_) {
      if (std::find(law.joints.begin(), law.joints.end(), cut->name) == law.joints.end()) continue;
      throw Unsupported("mjcf: law " + in_quotes(law.name) + " is on joint " +
                        in_quotes(cut->name) +
                        ", which closes a loop, expected joints that carry " +
                        "links (let another joint close it)");
    }
  }
  for (const LinkDescription& link : robot.links) {
    if (children.contains(link.name)) continue;
    if (root_ != nullptr) {
      throw Unsupported("mjcf: links " + in_quotes(root_->name) + " and " + in_quotes(link.name) +
                        " have no parent, expected one root");
    }
    root_ = &link;
  }
  if (root_ == nullptr) throw Unsupported("mjcf: robot has no root link, expected one");
  for (const LinkDescription& link : robot.links) {
    const bool ground = &link == root_ && !link.inertial && !robot.floating.value_or(false);
    if (link.name != "world" || ground) continue;
    throw Unsupported("mjcf: link 'world' is not the ground, expected another name (rename it)");
  }
  place(root_->name, Transform<double>::identity(), 0);
}

std::string Writer::write() {
  xml_.OpenElement("mujoco");
  if (!robot_.name.empty()) text("model", robot_.name, "robot");
  open("compiler");
  xml_.PushAttribute("angle", "radian");
  xml_.PushAttribute("inertiafromgeom", "false");
  close();
  open("option");
  vector("gravity", robot_.gravity);
  close();
  assets();
  open("worldbody");
  // The world body itself has neither name nor mass.
  if (root_->name == "world" && !root_->inertial) {
    contents(*root_);
    children(*root_);
  } else {
    write_root();
  }
  close();
  collect_constraints();
  tendons();
  equalities();
  actuators();
  contacts();
  keyframes();
  custom();
  close();
  return xml_.CStr();
}

/// The root is a body of the world there, and hangs on a free joint if it floats.
void Writer::write_root() {
  std::string said = "<root link=" + quoted(root_->name);
  if (robot_.floating) said += *robot_.floating ? " floating='true'" : " floating='false'";
  keep("root " + root_->name, said + "/>");
  if (!robot_.floating.value_or(false)) return body(*root_, nullptr);
  free_root_.name = "root", free_root_.type = "floating", free_root_.parent = "world",
  free_root_.child = root_->name;
  body(*root_, &free_root_);
}

void Writer::place(const std::string& link, const Transform<double>& X, int depth) {
  if (depth > deepest_body) {
    throw Unsupported("mjcf: link " + in_quotes(link) + ": is deeper in the tree than " +
                      std::to_string(deepest_body) + ", expected less (XML parsers give up)");
  }
  at_zero_[link] = X;
  const auto found = carried_.find(link);
  if (found == carried_.end()) return;
  for (const JointDescription* joint : found->second) {
    place(joint->child, joint->origin.transform() * X, depth + 1);
  }
}

void Writer::children(const LinkDescription& link) {
  const auto found = carried_.find(link.name);
  if (found == carried_.end()) return;
  for (const JointDescription* joint : found->second) {
    body(robot_.links[link_number_.at(joint->child)], joint);
  }
}

void Writer::body(const LinkDescription& link, const JointDescription* joint) {
  who_ = "mjcf: link " + in_quotes(link.name);
  open("body");
  text("name", link.name, "body");
  if (joint != nullptr) frame(joint->origin);
  if (link.inertial) inertial(*link.inertial);
  doubt_mass(link, joint);
  if (joint != nullptr) write_joint(*joint);
  contents(link);
  children(link);
  close();
}

void Writer::inertial(const Inertial& I) {
  open("inertial");
  vector("pos", I.origin.xyz);
  number("mass", I.mass);
  const Sym3<double> J = congruence(rpy_to_E(I.origin.rpy), I.I);
  numbers("fullinertia", {J.xx, J.yy, J.zz, J.xy, J.xz, J.yz});
  close();
}

/// Whether MuJoCo takes it for something that can move: it, or what is welded to it, has mass and
/// inertia.
bool Writer::has_mass(const LinkDescription& link) const {
  if (link.inertial && link.inertial->mass > least_mass &&
      principal_moments(*link.inertial)(0) > least_mass) {
    return true;
  }
  const auto found = carried_.find(link.name);
  return found != carried_.end() &&
         std::any_of(found->second.begin(), found->second.end(), [&](const auto* joint) {
           return joint->type == "fixed" && has_mass(robot_.links[link_number_.at(joint->child)]);
         });
}

/// Bodies that MuJoCo refuses, and computes with nowhere.
void Writer::doubt_mass(const LinkDescription& link, const JointDescription* joint) {
  const std::string who = "link " + in_quotes(link.name);
  if (joint != nullptr && joint->type != "fixed" && !has_mass(link)) {
    lose(who + ": moves without mass, or without inertia about an axis, which MuJoCo refuses");
  }
  if (!link.inertial) return;
  const Eigen::Vector3d e = principal_moments(*link.inertial);
  const bool rigid = e(0) >= 0.0 && e(0) + e(1) >= e(2) * (1.0 - 1e-9);
  if (!rigid) {
    lose(who +
         ": principal moments of inertia are those of no rigid body, which MuJoCo refuses "
         "(balanceinertia=\"true\" in <compiler> changes them)");
  }
}

void Writer::text(const char* attribute, const std::string& value, const char* what) {
  formats::require_writable_name(value, "mjcf: " + std::string(what));
  xml_.PushAttribute(attribute, value.c_str());
}

void Writer::number(const char* attribute, double value) {
  xml_.PushAttribute(attribute, formats::number_text(value, who_).c_str());
}

std::string Writer::list(const std::vector<double>& values) const {
  std::string text;
  for (const double value : values) {
    text += (text.empty() ? "" : " ") + formats::number_text(value, who_);
  }
  return text;
}

void Writer::numbers(const char* attribute, const std::vector<double>& values) {
  xml_.PushAttribute(attribute, list(values).c_str());
}

void Writer::frame(const Pose& pose) {
  if (pose.xyz.x != 0.0 || pose.xyz.y != 0.0 || pose.xyz.z != 0.0) vector("pos", pose.xyz);
  if (pose.rpy.x == 0.0 && pose.rpy.y == 0.0 && pose.rpy.z == 0.0) return;
  const auto q = quaternion(rpy_to_E(pose.rpy));
  numbers("quat", {q[0], q[1], q[2], q[3]});
}

std::array<double, 4> quaternion(const Mat3<double>& E) {
  const double t[4] = {E(0, 0) + E(1, 1) + E(2, 2), E(0, 0) - E(1, 1) - E(2, 2),
                       E(1, 1) - E(0, 0) - E(2, 2), E(2, 2) - E(0, 0) - E(1, 1)};
  const auto k = static_cast<int>(std::max_element(t, t + 4) - t);
  const double a = std::sqrt(1.0 + t[k]) / 2.0, f = 0.25 / a;
  const double x = E(1, 2) - E(2, 1), y = E(2, 0) - E(0, 2), z = E(0, 1) - E(1, 0);
  const double xy = E(0, 1) + E(1, 0), xz = E(0, 2) + E(2, 0), yz = E(1, 2) + E(2, 1);
  if (k == 0) return {a, f * x, f * y, f * z};
  if (k == 1) return {f * x, a, f * xy, f * xz};
  if (k == 2) return {f * y, f * xy, a, f * yz};
  return {f * z, f * xz, f * yz, a};
}

/// A text as attribute of XML inside of an attribute.
std::string Writer::quoted(const std::string& value) const {
  formats::require_writable_name(value, who_);
  std::string out = "'";
  for (const char c : value) {
    out += c == '&' ? "&amp;" : c == '<' ? "&lt;" : c == '\'' ? "&apos;" : std::string(1, c);
  }
  return out + "'";
}

std::string Writer::parameters(const Parameters& parameters) const {
  std::string out;
  for (const auto& [key, values] : parameters) {
    out += "<parameter name=" + quoted(key) + " value='" + list(values) + "'/>";
  }
  return out;
}

}  // namespace espalier::mjcf

namespace espalier {

std::string MjcfFormat::write(const Description& robot) const {
  expect_known_names(robot);
  return mjcf::Writer(robot).write();
}

std::vector<std::string> MjcfFormat::losses(const Description& robot) const {
  expect_known_names(robot);
  mjcf::Writer writer(robot);
  writer.write();
  return writer.losses();
}

}  // namespace espalier
