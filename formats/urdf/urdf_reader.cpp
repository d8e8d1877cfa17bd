// Reads URDF and URDF+: one function per element.

#include <cmath>
#include <map>

#include "espalier/kernel/errors.hpp"
#include "espalier/kernel/model/joint.hpp"
#include "formats/text.hpp"
#include "formats/urdf/closed_loops.hpp"
#include "formats/urdf/urdf.hpp"
#include "formats/urdf/urdf_elements.hpp"
#include "formats/urdf/urdf_shapes.hpp"
#include "formats/urdf/urdf_transmissions.hpp"
#include "formats/urdf/urdf_words.hpp"

namespace espalier {

namespace {

using formats::in_quotes;
using urdf::XMLElement;

class UrdfReader : private urdf::Elements {
 public:
  explicit UrdfReader(const std::string& origin)
      : Elements(origin), origin_(origin), shapes_(*this, findings_) {}

  Description read(std::string_view text) {
    formats::require_readable(text, "urdf", origin_);
    tinyxml2::XMLDocument document;
    document.Parse(text.data(), text.size());
    if (document.Error()) refuse_xml(document, text);
    const XMLElement* root = document.RootElement();
    if (root == nullptr) {  // comments alone are XML
      throw InvalidModel("urdf: file (" + origin_ + ") has no element, expected <robot>");
    }
    use_prefix_of(*root);
    if (!is(*root, "robot")) {
      fail("urdf", *root, "root element is <" + std::string(root->Name()) + ">, expected <robot>");
    }
    if (const XMLElement* next = root->NextSiblingElement()) {
      fail("urdf", *next,
           "element after </robot> is <" + std::string(next->Name()) +
               ">, expected the end of the file");
    }
    return read_robot(*root);
  }

 private:
  Description read_robot(const XMLElement& root) {
    Description robot;
    robot.where = at(root);
    // Robots without a name exist, and nothing depends on it.
    const char* robot_name = root.Attribute("name");
    if (robot_name && *robot_name) robot.name = name("robot", root, "name");
    const std::string who = "robot " + in_quotes(robot.name);
    shapes_.collect_materials(root);
    for (const XMLElement* e = root.FirstChildElement(); e; e = e->NextSiblingElement()) {
      if (is(*e, "link")) {
        robot.links.push_back(read_link(*e));
      } else if (is(*e, "joint")) {
        robot.joints.push_back(read_joint(*e));
      } else if (is(*e, "loop")) {
        robot.loops.push_back(read_loop(*e));
      } else if (is(*e, "constraint")) {
        robot.loops.push_back(read_constraint(*e));
      } else if (is(*e, "coupling")) {
        robot.couplings.push_back(read_coupling(*e));
      } else if (is(*e, "law")) {
        robot.laws.push_back(read_law(*e));
      } else {
        refuse_xacro(who, *e);
      }
    }
    if (const XMLElement* espalier = child(who, root, "espalier")) {
      robot.gravity = vector(who, *espalier, "gravity", robot.gravity);
      robot.floating = read_floating(who, *espalier);
      read_extras(*espalier, robot);
    }
    urdf::read_transmissions(*this, root, robot, findings_);
    urdf::find_misspelled(*this, root, findings_);
    robot.findings = std::move(findings_);
    return robot;
  }

  LinkDescription read_link(const XMLElement& e) {
    LinkDescription link;
    link.where = at(e);
    link.name = name("link", e, "name");
    const std::string who = "link " + in_quotes(link.name);
    shapes_.read(who, e, link);
    const XMLElement* inertial = child(who, e, "inertial");
    if (inertial == nullptr) return link;
    Inertial& I = link.inertial.emplace();
    I.origin = pose(who, *inertial);
    I.mass = number(who, required_child(who, *inertial, "mass"), "value");
    const XMLElement& inertia = required_child(who, *inertial, "inertia");
    I.I = {number(who, inertia, "ixx"),      number(who, inertia, "ixy", 0.0),
           number(who, inertia, "ixz", 0.0), number(who, inertia, "iyy"),
           number(who, inertia, "iyz", 0.0), number(who, inertia, "izz")};
    return link;
  }

  JointDescription read_joint(const XMLElement& e) {
    JointDescription joint;
    joint.where = at(e);
    joint.name = name("joint", e, "name");
    const std::string who = "joint " + in_quotes(joint.name);
    joint.type = name(who, e, "type");
    joint.parent = name(who, required_child(who, e, "parent"), "link");
    joint.child = name(who, required_child(who, e, "child"), "link");
    joint.origin = pose(who, e);
    joint.axis = axis(who, e);
    joint.independent = boolean(who, e, "independent");
    if (const XMLElement* limit = child(who, e, "limit")) {
      joint.limits = read_limits(who, *limit, joint.type == "continuous");
    }
    if (const XMLElement* dynamics = child(who, e, "dynamics")) {
      joint.passive.damping = number(who, *dynamics, "damping", 0.0);
      joint.passive.friction = number(who, *dynamics, "friction", 0.0);
    }
    if (const XMLElement* mimic = child(who, e, "mimic")) {
      joint.mimic = Mimic{name(who, *mimic, "joint"), number(who, *mimic, "multiplier", 1.0),
                          number(who, *mimic, "offset", 0.0)};
    }
    if (const XMLElement* espalier = child(who, e, "espalier")) {
      joint.armature = number(who, *espalier, "armature", 0.0);
      joint.passive.stiffness = number(who, *espalier, "stiffness", 0.0);
      joint.passive.rest = number(who, *espalier, "rest", 0.0);
      if (auto lower = optional_number(who, *espalier, "lower")) joint.limits.lower = lower;
      if (auto upper = optional_number(who, *espalier, "upper")) joint.limits.upper = upper;
      joint.parameters = parameters(who, *espalier);
    }
    return joint;
  }

  /// URDF says that lower and upper default to 0; where both are missing the joint is taken as
  /// unlimited, not as locked. A continuous joint has no position limits, whatever is written.
  Limits read_limits(const std::string& who, const XMLElement& e, bool continuous) {
    Limits limits;
    limits.effort = optional_number(who, e, "effort");
    limits.velocity = optional_number(who, e, "velocity");
    const auto lower = optional_number(who, e, "lower");
    const auto upper = optional_number(who, e, "upper");
    if (!continuous && (lower || upper)) {
      limits.lower = lower.value_or(0.0);
      limits.upper = upper.value_or(0.0);
    }
    return limits;
  }

  LoopDescription read_loop(const XMLElement& e) {
    LoopDescription loop;
    loop.where = at(e);
    loop.name = name("loop", e, "name");
    const std::string who = "loop " + in_quotes(loop.name);
    loop.type = name(who, e, "type");
    const XMLElement& predecessor = required_child(who, e, "predecessor");
    const XMLElement& successor = required_child(who, e, "successor");
    loop.predecessor = name(who, predecessor, "link");
    loop.successor = name(who, successor, "link");
    loop.predecessor_origin = pose(who, predecessor);
    loop.successor_origin = pose(who, successor);
    loop.axis = axis(who, e);
    if (const XMLElement* espalier = child(who, e, "espalier")) {
      loop.parameters = parameters(who, *espalier);
    }
    return loop;
  }

  CouplingDescription read_coupling(const XMLElement& e) {
    CouplingDescription coupling;
    coupling.where = at(e);
    coupling.name = name("coupling", e, "name");
    const std::string who = "coupling " + in_quotes(coupling.name);
    coupling.predecessor = name(who, required_child(who, e, "predecessor"), "link");
    coupling.successor = name(who, required_child(who, e, "successor"), "link");
    coupling.ratio = number(who, required_child(who, e, "ratio"), "value");
    return coupling;
  }

  LawDescription read_law(const XMLElement& e) {
    LawDescription law;
    law.where = at(e);
    law.name = name("law", e, "name");
    const std::string who = "law " + in_quotes(law.name);
    law.type = name(who, e, "type");
    for (const XMLElement* j = e.FirstChildElement(); j; j = j->NextSiblingElement()) {
      if (is(*j, "joint")) law.joints.push_back(name(who, *j, "name"));
    }
    if (law.joints.empty()) {
      fail(who, e, "element <joint> in <law> is missing, expected one for each of its joints");
    }
    law.parameters = parameters(who, e);
    return law;
  }

  /// What urdfdom calls a constraint (ros/urdfdom#264): a joint, or a cut link, between two frames.
  LoopDescription read_constraint(const XMLElement& e) const {
    LoopDescription loop;
    loop.where = at(e);
    loop.name = name("constraint", e, "name");
    const std::string who = "constraint " + in_quotes(loop.name);
    static const std::map<std::string, const char*> types{{"revolute_joint", "revolute"},
                                                          {"prismatic_joint", "prismatic"},
                                                          {"universal_joint", "universal"},
                                                          {"spherical_joint", "spherical"},
                                                          {"link", "fixed"}};
    const std::string type = name(who, e, "type");
    const auto known = types.find(type);
    if (known == types.end()) {
      fail(who, e,
           attribute_of("type", e) + in_quotes(type) +
               ", expected one of revolute_joint, prismatic_joint, universal_joint, "
               "spherical_joint, link");
    }
    loop.type = known->second;
    loop.predecessor = name(who, required_child(who, e, "parent"), "link");
    loop.successor = name(who, required_child(who, e, "child"), "link");
    loop.predecessor_origin = pose(who, e, "parent_origin");
    loop.successor_origin = pose(who, e, "child_origin");
    const XMLElement *first = child(who, e, "parent_axis"), *second = child(who, e, "child_axis");
    if (first != nullptr) loop.axis = required_vector(who, *first, "xyz");
    if (second == nullptr) return loop;
    const Vec3<double> other = required_vector(who, *second, "xyz");
    if (loop.type == "universal") {
      loop.parameters["axis2"] = {other.x, other.y, other.z};
    } else if (loop.type == "revolute" || loop.type == "prismatic") {
      turn_onto(loop, other);
    }
    return loop;
  }

  /// Turns the successor's frame on the shortest way, so that its axis is the predecessor's.
  static void turn_onto(LoopDescription& loop, const Vec3<double>& axis) {
    const auto unit = [](const Vec3<double>& v) { return scale(1.0 / std::sqrt(dot(v, v)), v); };
    if (!(dot(axis, axis) > 0.0) || !(dot(loop.axis, loop.axis) > 0.0)) return;  // validate() tells
    const Vec3<double> from = unit(loop.axis), to = unit(axis);
    Vec3<double> about = cross(from, to);
    const double sine = std::sqrt(dot(about, about)), angle = std::atan2(sine, dot(from, to));
    if (angle == 0.0) return;
    if (sine < 1e-9) about = across(from).first;  // half a turn, about any axis across
    about = unit(about);
    const double q[4] = {about.x * std::sin(angle / 2.0), about.y * std::sin(angle / 2.0),
                         about.z * std::sin(angle / 2.0), std::cos(angle / 2.0)};
    const Transform<double> turned{quaternion_to_E(q), {0, 0, 0}};
    loop.successor_origin = Pose::from(turned * loop.successor_origin.transform());
  }

  // --- what URDF has no elements for ------------------------------------------------------------

  /// Whether the root floats, where <espalier> of the robot says so.
  std::optional<bool> read_floating(const std::string& who, const XMLElement& espalier) const {
    if (espalier.Attribute("root") == nullptr) return std::nullopt;
    const std::string stated = name(who, espalier, "root");
    if (stated != "fixed" && stated != "floating") {
      fail(who, espalier, "root is " + in_quotes(stated) + ", expected 'fixed' or 'floating'");
    }
    return stated == "floating";
  }

  /// Named states, inputs and rules of contact, in <espalier> of the robot.
  void read_extras(const XMLElement& espalier, Description& robot) const {
    for (const XMLElement* e = espalier.FirstChildElement(); e; e = e->NextSiblingElement()) {
      if (is(*e, "state")) {
        robot.states.push_back(read_state(*e));
      } else if (is(*e, "actuator")) {
        robot.actuators.push_back(read_actuator(*e));
      } else if (is(*e, "excluded_contact") || is(*e, "contact_pair")) {
        auto& pairs = is(*e, "contact_pair") ? robot.contact_pairs : robot.excluded_contacts;
        const std::string who = e->Name();
        pairs.push_back({name(who, *e, "first"), name(who, *e, "second"), at(*e)});
      }
    }
  }

  NamedState read_state(const XMLElement& e) const {
    NamedState state;
    state.where = at(e);
    state.name = name("state", e, "name");
    const std::string who = "state " + in_quotes(state.name);
    for (const XMLElement* j = e.FirstChildElement(); j; j = j->NextSiblingElement()) {
      if (!is(*j, "joint")) continue;
      const std::string joint = name(who, *j, "name");
      if (j->Attribute("position")) state.positions[joint] = numbers(who, *j, "position");
      if (j->Attribute("velocity")) state.velocities[joint] = numbers(who, *j, "velocity");
    }
    return state;
  }

  ActuatorDescription read_actuator(const XMLElement& e) const {
    ActuatorDescription actuator;
    actuator.where = at(e);
    actuator.name = name("actuator", e, "name");
    const std::string who = "actuator " + in_quotes(actuator.name);
    actuator.lower = optional_number(who, e, "lower");
    actuator.upper = optional_number(who, e, "upper");
    for (const XMLElement* j = e.FirstChildElement(); j; j = j->NextSiblingElement()) {
      if (is(*j, "joint")) actuator.gear[name(who, *j, "name")] = numbers(who, *j, "gear");
    }
    return actuator;
  }

  // --- errors -----------------------------------------------------------------------------------

  /// Definitions that xacro leaves behind are harmless; a macro that was not expanded is a part of
  /// the robot that would be missing.
  void refuse_xacro(const std::string& who, const XMLElement& e) const {
    const std::string_view full = e.Name();
    if (!full.starts_with("xacro:") || full == "xacro:property" || full == "xacro:arg" ||
        full == "xacro:macro") {
      return;
    }
    fail(who, e,
         "element is <" + std::string(full) + ">, expected URDF (run xacro on the file first)");
  }

  [[noreturn]] void refuse_xml(const tinyxml2::XMLDocument& document, std::string_view text) const {
    const bool deep = document.ErrorID() == tinyxml2::XML_ELEMENT_DEPTH_EXCEEDED;
    std::string reason = document.ErrorName();
    if (deep) reason = "nested deeper than " + std::to_string(TINYXML2_MAX_ELEMENT_DEPTH);
    throw InvalidModel("urdf: file (" + SourceLocation{origin_, document.ErrorLineNum()}.text() +
                       ") is not readable XML (" + reason +
                       "), expected well-formed XML with the root element <robot>" +
                       (deep ? "" : formats::open_element(text)));
  }

  const std::string& origin_;
  std::vector<Finding> findings_;
  urdf::Shapes shapes_;
};

}  // namespace

std::vector<std::string> UrdfFormat::extensions() const { return {".urdf"}; }

Description UrdfFormat::read(std::string_view text, const std::string& origin,
                             const SubMechanisms& /*parts*/) const {
  Description robot = UrdfReader(origin).read(text);
  formats::read_closed_loops(origin, robot);
  return robot;
}

}  // namespace espalier
