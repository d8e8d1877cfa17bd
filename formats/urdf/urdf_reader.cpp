// Reads URDF and URDF+: one function per element.

#include <tinyxml2.h>

#include <cmath>
#include <map>

#include "espalier/kernel/errors.hpp"
#include "formats/text.hpp"
#include "formats/urdf/closed_loops.hpp"
#include "formats/urdf/urdf.hpp"

namespace espalier {

namespace {

using formats::in_quotes;
using tinyxml2::XMLElement;

class UrdfReader {
 public:
  explicit UrdfReader(const std::string& origin) : origin_(origin) {}

  Description read(std::string_view text) {
    formats::require_readable(text, "urdf", origin_);
    tinyxml2::XMLDocument document;
    document.Parse(text.data(), text.size());
    if (document.Error()) refuse_xml(document);
    const XMLElement* root = document.RootElement();
    if (root == nullptr) {  // comments alone are XML
      throw InvalidModel("urdf: file (" + origin_ + ") has no element, expected <robot>");
    }
    const std::string_view root_name = root->Name();
    const auto colon = root_name.find(':');
    if (colon != std::string_view::npos) prefix_ = root_name.substr(0, colon + 1);
    if (!is(*root, "robot")) {
      fail("urdf", *root, "root element is <" + std::string(root_name) + ">, expected <robot>");
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
    collect_materials(root);
    for (const XMLElement* e = root.FirstChildElement(); e; e = e->NextSiblingElement()) {
      if (is(*e, "link")) {
        robot.links.push_back(read_link(*e));
      } else if (is(*e, "joint")) {
        robot.joints.push_back(read_joint(*e));
      } else if (is(*e, "loop")) {
        robot.loops.push_back(read_loop(*e));
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
    }
    robot.findings = std::move(findings_);
    return robot;
  }

  LinkDescription read_link(const XMLElement& e) {
    LinkDescription link;
    link.where = at(e);
    link.name = name("link", e, "name");
    const std::string who = "link " + in_quotes(link.name);
    read_shapes(who, e, link);
    for (const XMLElement* own = e.FirstChildElement(); own; own = own->NextSiblingElement()) {
      if (!is(*own, "espalier")) continue;
      read_shapes(who, *own, link);
      for (const XMLElement* f = own->FirstChildElement(); f; f = f->NextSiblingElement()) {
        if (!is(*f, "frame")) continue;
        tolerate([&] { link.frames.push_back({name(who, *f, "name"), pose(who, *f), at(*f)}); });
      }
    }
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

  // --- geometry ---------------------------------------------------------------------------------

  /// What is wrong with a shape is no harm to dynamics: it is left out, and said.
  template <class F>
  void tolerate(F read) {
    try {
      read();
    } catch (const InvalidModel& error) {
      findings_.push_back(
          {Finding::Severity::warning, std::string(error.what()) + " (left out)", "", true});
    }
  }

  void read_shapes(const std::string& who, const XMLElement& parent, LinkDescription& link) {
    for (const XMLElement* e = parent.FirstChildElement(); e; e = e->NextSiblingElement()) {
      const bool visual = is(*e, "visual");
      if (!visual && !is(*e, "collision")) continue;
      tolerate([&] { (visual ? link.visuals : link.collisions).push_back(read_shape(who, *e)); });
    }
  }

  ShapeDescription read_shape(const std::string& who, const XMLElement& e) {
    ShapeDescription shape;
    shape.where = at(e);
    const char* shape_name = e.Attribute("name");
    if (shape_name != nullptr && *shape_name) shape.name = name(who, e, "name");
    shape.origin = pose(who, e);
    shape.shape = read_geometry(who, required_child(who, e, "geometry"));
    if (const XMLElement* material = child(who, e, "material")) {
      const char* text = material->Attribute("name");
      if (text != nullptr && *text) shape.material = name(who, *material, "name");
      const XMLElement* color = child(who, *material, "color");
      const auto known = materials_.find(shape.material);
      if (color != nullptr) {
        shape.color = read_color(who, *color);
      } else if (known != materials_.end()) {
        shape.color = known->second;
      }
    }
    if (const XMLElement* espalier = child(who, e, "espalier")) {
      shape.friction = optional_number(who, *espalier, "friction");
    }
    return shape;
  }

  Shape read_geometry(const std::string& who, const XMLElement& e) {
    const XMLElement* g = e.FirstChildElement();
    if (g == nullptr) fail(who, e, "<geometry> is empty, expected a shape");
    if (is(*g, "box")) return Box{required_vector(who, *g, "size")};
    if (is(*g, "sphere")) return Sphere{number(who, *g, "radius")};
    if (is(*g, "cylinder")) return Cylinder{number(who, *g, "radius"), number(who, *g, "length")};
    if (is(*g, "capsule")) return Capsule{number(who, *g, "radius"), number(who, *g, "length")};
    if (is(*g, "ellipsoid")) return Ellipsoid{required_vector(who, *g, "radii")};
    if (is(*g, "plane")) return Plane{number(who, *g, "x", 0.0), number(who, *g, "y", 0.0)};
    if (is(*g, "mesh")) {
      return Mesh{name(who, *g, "filename"), vector(who, *g, "scale", {1, 1, 1})};
    }
    if (is(*g, "height_field")) return read_height_field(who, *g);
    fail(who, *g,
         "shape is <" + std::string(g->Name()) +
             ">, expected <box>, <sphere>, <cylinder>, <capsule> or <mesh>");
  }

  HeightField read_height_field(const std::string& who, const XMLElement& e) {
    HeightField field;
    if (e.Attribute("filename") != nullptr) field.file = name(who, e, "filename");
    field.size = vector(who, e, "size", {1, 1, 1});
    field.base = number(who, e, "base", 0.0);
    const char* text = e.Attribute("heights");
    if (text == nullptr) return field;
    const auto heights = formats::parse_numbers(text);
    const double columns = number(who, e, "columns");
    if (!heights || heights->empty() || !(columns >= 1.0) ||
        columns > static_cast<double>(heights->size()) || columns != std::floor(columns) ||
        heights->size() % static_cast<std::size_t>(columns) != 0) {
      fail(who, e, "heights are not finite numbers in whole rows of 'columns', expected such");
    }
    field.columns = static_cast<int>(columns);
    field.rows = static_cast<int>(heights->size()) / field.columns;
    field.heights = *heights;
    return field;
  }

  Color read_color(const std::string& who, const XMLElement& e) {
    const char* text = e.Attribute("rgba");
    const auto c = formats::parse_numbers(text ? text : "");
    if (!c || c->size() != 4) {
      fail(who, e,
           attribute_of("rgba", e) + in_quotes(text ? text : "") + ", expected four numbers");
    }
    return {(*c)[0], (*c)[1], (*c)[2], (*c)[3]};
  }

  /// Materials may be used before they are defined, and be defined by any visual.
  void collect_materials(const XMLElement& parent) {
    for (const XMLElement* e = parent.FirstChildElement(); e; e = e->NextSiblingElement()) {
      if (is(*e, "link") || is(*e, "visual")) collect_materials(*e);
      if (!is(*e, "material") || e->Attribute("name") == nullptr) continue;
      tolerate([&] {
        const XMLElement* color = child("material", *e, "color");
        if (color) materials_.emplace(e->Attribute("name"), read_color("material", *color));
      });
    }
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
      joint.parameters = read_parameters(who, *espalier);
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
      loop.parameters = read_parameters(who, *espalier);
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
    law.parameters = read_parameters(who, e);
    return law;
  }

  Parameters read_parameters(const std::string& who, const XMLElement& parent) {
    Parameters parameters;
    for (const XMLElement* e = parent.FirstChildElement(); e; e = e->NextSiblingElement()) {
      if (!is(*e, "parameter")) continue;
      const std::string key = name(who, *e, "name");
      const char* text = e->Attribute("value");
      const auto values = formats::parse_numbers(text ? text : "");
      if (!values || values->empty()) {
        fail(who, *e,
             "parameter " + in_quotes(key) + " is " + in_quotes(text ? text : "") +
                 ", expected one or more finite numbers");
      }
      if (!parameters.emplace(key, *values).second) {
        fail(who, *e, "parameter " + in_quotes(key) + " is given twice, expected it once");
      }
    }
    return parameters;
  }

  // --- pieces of elements -----------------------------------------------------------------------

  Vec3<double> axis(const std::string& who, const XMLElement& parent) {
    const XMLElement* e = child(who, parent, "axis");
    return e ? vector(who, *e, "xyz", {1, 0, 0}) : Vec3<double>{1, 0, 0};
  }

  Pose pose(const std::string& who, const XMLElement& parent) {
    const XMLElement* e = child(who, parent, "origin");
    if (e == nullptr) return {};
    Pose pose{vector(who, *e, "xyz", {0, 0, 0}), vector(who, *e, "rpy", {0, 0, 0})};
    const char* quaternion = e->Attribute("quat_xyzw");  // URDF 1.1 and later
    if (quaternion == nullptr) return pose;
    const auto q = formats::parse_numbers(quaternion);
    double norm = 0.0;
    if (q && q->size() == 4) norm = std::hypot(std::hypot((*q)[0], (*q)[1], (*q)[2]), (*q)[3]);
    if (e->Attribute("rpy") != nullptr || !(norm > 1e-9) || !std::isfinite(norm)) {
      fail(who, *e,
           "attribute 'quat_xyzw' of <origin> is " + in_quotes(quaternion) +
               ", expected four numbers that are not all zero, and no 'rpy' beside them");
    }
    double unit[4];
    for (std::size_t i = 0; i < 4; ++i) unit[i] = (*q)[i] / norm;
    return Pose::from({quaternion_to_E(unit), pose.xyz});
  }

  Vec3<double> vector(const std::string& who, const XMLElement& e, const char* attribute,
                      Vec3<double> fallback) {
    const char* text = e.Attribute(attribute);
    if (text == nullptr) return fallback;
    const auto v = formats::parse_numbers(text);
    if (!v || v->size() != 3) {
      fail(who, e,
           attribute_of(attribute, e) + in_quotes(text) + ", expected three finite numbers");
    }
    return {(*v)[0], (*v)[1], (*v)[2]};
  }

  Vec3<double> required_vector(const std::string& who, const XMLElement& e, const char* attribute) {
    if (e.Attribute(attribute) == nullptr) {
      fail(who, e, attribute_of(attribute, e) + "missing, expected three finite numbers");
    }
    return vector(who, e, attribute, {0, 0, 0});
  }

  std::optional<double> optional_number(const std::string& who, const XMLElement& e,
                                        const char* attribute) {
    const char* text = e.Attribute(attribute);
    if (text == nullptr) return std::nullopt;
    const auto value = formats::parse_number(text);
    if (!value) {
      fail(who, e, attribute_of(attribute, e) + in_quotes(text) + ", expected a finite number");
    }
    return value;
  }

  double number(const std::string& who, const XMLElement& e, const char* attribute,
                std::optional<double> fallback = std::nullopt) {
    const auto value = optional_number(who, e, attribute);
    if (value) return *value;
    if (fallback) return *fallback;
    fail(who, e, attribute_of(attribute, e) + "missing, expected a finite number");
  }

  std::optional<bool> boolean(const std::string& who, const XMLElement& e, const char* attribute) {
    const char* text = e.Attribute(attribute);
    if (text == nullptr) return std::nullopt;
    const auto value = formats::parse_bool(text);
    if (!value)
      fail(who, e, attribute_of(attribute, e) + in_quotes(text) + ", expected true or false");
    return value;
  }

  std::string name(const std::string& who, const XMLElement& e, const char* attribute) {
    const char* text = e.Attribute(attribute);
    if (text == nullptr) fail(who, e, attribute_of(attribute, e) + "missing, expected a name");
    if (!formats::is_name(text)) {
      fail(who, e,
           attribute_of(attribute, e) + in_quotes(text) +
               ", expected one or more characters without control characters");
    }
    return text;
  }

  /// The child element of this name, if there is one.
  const XMLElement* child(const std::string& who, const XMLElement& parent, const char* local) {
    const XMLElement* found = nullptr;
    for (const XMLElement* e = parent.FirstChildElement(); e; e = e->NextSiblingElement()) {
      if (!is(*e, local)) continue;
      if (found != nullptr) {
        fail(who, *e,
             "<" + std::string(local) + "> is given a second time (the first is at line " +
                 std::to_string(found->GetLineNum()) + "), expected it once");
      }
      found = e;
    }
    return found;
  }

  const XMLElement& required_child(const std::string& who, const XMLElement& parent,
                                   const char* local) {
    const XMLElement* e = child(who, parent, local);
    if (e == nullptr) {
      fail(who, parent,
           "element <" + std::string(local) + "> in <" + parent.Name() +
               "> is missing, expected it once");
    }
    return *e;
  }

  // --- matching and errors ----------------------------------------------------------------------

  bool is(const XMLElement& e, std::string_view local) const {
    const std::string_view full = e.Name();
    return full.size() == prefix_.size() + local.size() && full.starts_with(prefix_) &&
           full.ends_with(local);
  }

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

  static std::string attribute_of(const char* attribute, const XMLElement& e) {
    return "attribute '" + std::string(attribute) + "' of <" + e.Name() + "> is ";
  }

  SourceLocation at(const XMLElement& e) const { return {origin_, e.GetLineNum()}; }

  [[noreturn]] void fail(const std::string& who, const XMLElement& e,
                         const std::string& what) const {
    throw InvalidModel(who + " (" + at(e).text() + "): " + what);
  }

  [[noreturn]] void refuse_xml(const tinyxml2::XMLDocument& document) const {
    const bool deep = document.ErrorID() == tinyxml2::XML_ELEMENT_DEPTH_EXCEEDED;
    std::string reason = document.ErrorName();
    if (deep) reason = "nested deeper than " + std::to_string(TINYXML2_MAX_ELEMENT_DEPTH);
    throw InvalidModel("urdf: file (" + SourceLocation{origin_, document.ErrorLineNum()}.text() +
                       ") is not readable XML (" + reason +
                       "), expected well-formed XML with the root element <robot>");
  }

  const std::string& origin_;
  std::map<std::string, Color, std::less<>> materials_;
  std::vector<Finding> findings_;
  std::string prefix_;  ///< namespace prefix of the root element, with its colon
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
