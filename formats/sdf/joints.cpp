// Reads SDF: joints of the tree, joints that close loops, gearboxes.

#include <cmath>
#include <numbers>

#include "espalier/kernel/errors.hpp"
#include "espalier/plugins/registry.hpp"
#include "formats/sdf/reader.hpp"
#include "formats/text.hpp"

namespace espalier::sdf {

using formats::in_quotes;

namespace {

/// Values from here on mean "none" in SDF.
constexpr double endless = 1e15;

}  // namespace

/// Direction of <axis> or <axis2> in the joint's frame.
Vec3<double> Reader::direction(const ReadJoint& joint, const char* element) {
  const XmlNode* axis = joint.node->child(element);
  const XmlNode* xyz = axis ? axis->child("xyz") : nullptr;
  if (xyz == nullptr) return {0, 0, 1};
  Vec3<double> v = vector(*xyz, "joint " + in_quotes(joint.name));
  const std::string* in = xyz->find("expressed_in");
  std::string frame = in && !in->empty() ? full(*in, joint.scope) : "";
  const XmlNode* legacy = axis->child("use_parent_model_frame");
  if (legacy && formats::parse_bool(legacy->text).value_or(false))
    frame = joint.scope + model_frame;
  if (frame.empty()) return v;
  return resolve(joint.name).E * transpose_times(resolve(frame).E, v);
}

/// Type, axis and parameters, in the joint's frame.
template <class Part>
void Reader::read_kind(const ReadJoint& joint, Part& part) {
  const std::string who = "joint " + in_quotes(joint.name);
  const std::string& type = joint.type;
  static const std::map<std::string, std::string> types{
      {"revolute", "revolute"},   {"continuous", "continuous"},
      {"prismatic", "prismatic"}, {"ball", "spherical"},
      {"universal", "universal"}, {"revolute2", "universal"},
      {"screw", "helical"},       {"fixed", "fixed"}};
  const auto known = types.find(type);
  if (known == types.end()) {
    joint.node->fail(who, "type is " + in_quotes(type) +
                              ", expected one of revolute, continuous, "
                              "prismatic, ball, universal, revolute2, "
                              "screw, gearbox, fixed");
  }
  part.type = known->second;
  part.axis = direction(joint, "axis");
  if (part.type == "universal") {
    const Vec3<double> second = direction(joint, "axis2");
    part.parameters["axis2"] = {second.x, second.y, second.z};
  } else if (part.type == "helical") {
    if (joint.node->child("screw_thread_pitch")) {  // metres per turn
      part.parameters["pitch"] = {number(*joint.node, who, "screw_thread_pitch", 1.0) /
                                  (2.0 * std::numbers::pi)};
    } else {  // radians per metre, left-handed
      part.parameters["pitch"] = {-1.0 / number(*joint.node, who, "thread_pitch", 1.0)};
    }
  }
}

void Reader::read_tree_joint(const ReadJoint& from, bool reversed) {
  const std::string who = "joint " + in_quotes(from.name);
  JointDescription joint;
  joint.name = unused(from.name), joint.where = from.node->where;
  read_kind(from, joint);
  std::string parent = from.parent, child = from.child;
  if (reversed) {
    std::swap(parent, child);
    turn_round(from, joint);
  }
  joint.parent = parent;
  const Transform<double> frame = resolve(from.name), beyond = resolve(child) * frame.inverse();
  joint.origin = pose_of(frame * resolve(parent).inverse());
  read_terms(from, joint);
  const Pose offset = pose_of(beyond);
  double off = 0.0;
  for (int i = 0; i < 3; ++i) off += std::abs(offset.xyz[i]) + std::abs(offset.rpy[i]);
  // A frame to rounding is the link's own.
  if (off < 1e-13 || joint.type == "fixed") {
    if (joint.type == "fixed") joint.origin = pose_of(resolve(child) * resolve(parent).inverse());
    joint.child = child;
    robot_.joints.push_back(std::move(joint));
    return;
  }
  LinkDescription between;
  between.name = from.name + "_frame", between.where = from.node->where;
  while (links_.contains(between.name)) between.name += "_";
  joint.child = between.name;
  JointDescription weld;
  weld.name = unused(child + "_weld"), weld.type = "fixed", weld.where = from.node->where;
  weld.parent = between.name, weld.child = child, weld.origin = offset;
  robot_.links.push_back(std::move(between));
  robot_.joints.push_back(std::move(joint));
  robot_.joints.push_back(std::move(weld));
}

/// A joint that leads towards the root, seen from there: the inverse motion.
void Reader::turn_round(const ReadJoint& from, JointDescription& joint) {
  joint.axis = -joint.axis;
  if (joint.type == "spherical") {
    lose(*from.node, "leads towards the root: its position is the inverse rotation, which", false);
  } else if (joint.type == "universal") {  // the last turn comes first
    std::vector<double>& second = joint.parameters.at("axis2");
    const Vec3<double> first = joint.axis;
    joint.axis = {-second[0], -second[1], -second[2]};
    second = {first.x, first.y, first.z};
    lose(*from.node, "leads towards the root: the order of its two positions", false);
  }
}

PassiveDynamics Reader::passive_of(const XmlNode& axis, const std::string& who) const {
  PassiveDynamics passive;
  if (const XmlNode* dynamics = axis.child("dynamics")) {
    passive.damping = number(*dynamics, who, "damping", 0.0);
    passive.friction = number(*dynamics, who, "friction", 0.0);
    passive.stiffness = number(*dynamics, who, "spring_stiffness", 0.0);
    passive.rest = number(*dynamics, who, "spring_reference", 0.0);
  }
  return passive;
}

void Reader::read_terms(const ReadJoint& from, JointDescription& joint) {
  const std::string who = "joint " + in_quotes(from.name);
  if (const std::string* i = from.node->find("espalier:independent"))
    joint.independent = formats::parse_bool(*i);
  if (const std::string* a = from.node->find("espalier:armature")) {
    joint.armature = formats::numbers_of(*from.node, who, "armature", *a, 1)[0];
  }
  const XmlNode* axis = from.node->child("axis");
  if (axis == nullptr || joint.type == "fixed") return;
  if (const XmlNode* limit = axis->child("limit")) read_limits(*limit, who, joint);
  joint.passive = passive_of(*axis, who);
  if (joint.type == "universal" || joint.type == "spherical") {
    // One damping and friction for all rates, and no spring.
    const XmlNode* axis2 = joint.type == "universal" ? from.node->child("axis2") : nullptr;
    const PassiveDynamics first = joint.passive, second = axis2 ? passive_of(*axis2, who) : first;
    if (first.damping != second.damping || first.friction != second.friction ||
        first.stiffness != 0.0 || second.stiffness != 0.0) {
      lose(*from.node, "a spring, or damping or friction of one axis, of a joint of several rates",
           true);
    }
    joint.passive.stiffness = joint.passive.rest = 0.0;
  }
  if (const XmlNode* mimic = axis->child("mimic")) {
    const std::string* leader = mimic->find("joint");
    if (leader == nullptr)
      mimic->fail(who, "attribute 'joint' of <mimic> is missing, expected a joint");
    const double m = number(*mimic, who, "multiplier", 1.0);
    joint.mimic =
        Mimic{full(*leader, from.scope), m,
              number(*mimic, who, "offset", 0.0) - m * number(*mimic, who, "reference", 0.0)};
  }
}

void Reader::read_limits(const XmlNode& limit, const std::string& who,
                         JointDescription& joint) const {
  const auto read = [&](const char* key, std::optional<double>& out, bool negative_is_none) {
    const XmlNode* node = limit.child(key);
    if (node == nullptr) return;
    const std::string text = trimmed(node->text);
    if (text == "inf" || text == "-inf" || text == "+inf") return;
    const double value = formats::numbers_of(*node, who, "<" + std::string(key) + ">", text, 1)[0];
    if (std::abs(value) >= endless || (negative_is_none && value < 0.0)) return;
    out = value;
  };
  if (joint.type != "continuous") {
    read("lower", joint.limits.lower, false), read("upper", joint.limits.upper, false);
  }
  read("effort", joint.limits.effort, true), read("velocity", joint.limits.velocity, true);
}

/// A joint that closes a loop. Where it has a spring, damping or armature, which loops have not, it
/// leads to a link of its own, and that is welded to the child.
void Reader::read_loop(const ReadJoint& from) {
  JointDescription joint;
  read_kind(from, joint);
  read_terms(from, joint);
  const PassiveDynamics& p = joint.passive;
  if (p.damping != 0.0 || p.friction != 0.0 || p.stiffness != 0.0 || joint.armature != 0.0 ||
      joint.mimic) {
    return read_loop_with_terms(from, std::move(joint));
  }
  if (joint.limits.lower || joint.limits.upper) {
    lose(*from.node, "limit of a joint that closes a loop", false);
  }
  LoopDescription loop;
  loop.name = unused(from.name), loop.where = from.node->where;
  read_kind(from, loop);
  loop.predecessor = from.parent, loop.successor = from.child;
  const Transform<double> frame = resolve(from.name);
  loop.predecessor_origin = pose_of(frame * resolve(from.parent).inverse());
  loop.successor_origin = pose_of(frame * resolve(from.child).inverse());
  if (loop.type == "continuous") loop.type = "revolute";
  robot_.loops.push_back(std::move(loop));
}

void Reader::read_loop_with_terms(const ReadJoint& from, JointDescription joint) {
  const Transform<double> frame = resolve(from.name);
  LinkDescription end;
  end.name = from.name + "_end", end.where = from.node->where;
  while (links_.contains(end.name)) end.name += "_";
  joint.name = unused(from.name), joint.where = from.node->where;
  joint.parent = from.parent, joint.child = end.name;
  joint.origin = pose_of(frame * resolve(from.parent).inverse());
  LoopDescription weld;
  weld.name = unused(from.name + "_loop"), weld.where = from.node->where;
  weld.type = "fixed", weld.predecessor = end.name, weld.successor = from.child;
  weld.successor_origin = pose_of(frame * resolve(from.child).inverse());
  robot_.links.push_back(std::move(end));
  robot_.joints.push_back(std::move(joint));
  robot_.loops.push_back(std::move(weld));
}

/// theta2 = -ratio theta1, from the reference body to the child about axis2 and to the parent
/// about axis.
void Reader::read_gearbox(const ReadJoint& from) {
  const std::string who = "joint " + in_quotes(from.name);
  const XmlNode* reference = from.node->child("gearbox_reference_body");
  if (reference == nullptr)
    from.node->fail(who, "<gearbox_reference_body> is missing, expected a link");
  const std::string body = link_of(full(trimmed(reference->text), from.scope), *reference);
  const double ratio = number(*from.node, who, "gearbox_ratio", 1.0);
  const auto turning = [&](const std::string& link,
                           const char* axis) -> std::pair<std::string, double> {
    for (const auto& [j, reversed] : tree_) {
      const ReadJoint& joint = joints_[j];
      const std::string &parent = reversed ? joint.child : joint.parent,
                        &child = reversed ? joint.parent : joint.child;
      if (parent != body || child != link ||
          (joint.type != "revolute" && joint.type != "continuous"))
        continue;
      const Vec3<double> along = transpose_times(resolve(joint.name).E, direction(joint, "axis"));
      const Vec3<double> wanted = transpose_times(resolve(from.name).E, direction(from, axis));
      const double sign = dot(along, wanted) * (reversed ? -1.0 : 1.0);
      return {joint.name, sign < 0.0 ? -1.0 : 1.0};
    }
    from.node->fail(who, "link " + in_quotes(link) + " does not turn about its reference body " +
                             in_quotes(body) + " by one joint, expected that");
  };
  const auto [first, s1] = turning(from.parent, "axis");
  const auto [second, s2] = turning(from.child, "axis2");
  LawDescription law;
  law.name = unused(from.name), law.where = from.node->where;
  law.type = "weighted_sum_2";
  law.joints = {first, second};
  law.parameters = {{"weights", {ratio * s1, s2}}};
  robot_.laws.push_back(std::move(law));
}

}  // namespace espalier::sdf
