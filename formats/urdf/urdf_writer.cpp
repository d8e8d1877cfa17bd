// Writes URDF+ that reads back to the same Description; what URDF cannot say goes into <espalier>.

#include <tinyxml2.h>

#include <set>

#include "espalier/kernel/errors.hpp"
#include "formats/text.hpp"
#include "formats/urdf/urdf.hpp"

namespace espalier {

namespace {

using formats::in_quotes;

class UrdfWriter {
 public:
  std::string write(const Description& robot) {
    xml_.PushHeader(false, true);
    open("robot", "robot " + in_quotes(robot.name));
    if (!robot.name.empty()) name("name", robot.name);
    write_extras(robot);
    for (const auto& link : robot.links) write_link(link);
    for (const auto& joint : robot.joints) write_joint(joint);
    for (const auto& coupling : robot.couplings) write_coupling(coupling);
    for (const auto& loop : robot.loops) write_loop(loop);
    for (const auto& law : robot.laws) write_law(law);
    xml_.CloseElement();
    return xml_.CStr();
  }

 private:
  /// Gravity, whether the root floats, named states, inputs and rules of contact: URDF has no
  /// elements for them.
  void write_extras(const Description& robot) {
    const bool usual = same(robot.gravity, Description{}.gravity);
    if (usual && !robot.floating && robot.states.empty() && robot.actuators.empty() &&
        robot.excluded_contacts.empty() && robot.contact_pairs.empty()) {
      return;
    }
    xml_.OpenElement("espalier");
    if (!usual) vector("gravity", robot.gravity);
    if (robot.floating) xml_.PushAttribute("root", *robot.floating ? "floating" : "fixed");
    for (const NamedState& state : robot.states) write_state(state);
    for (const ActuatorDescription& actuator : robot.actuators) {
      open("actuator", "actuator " + in_quotes(actuator.name));
      name("name", actuator.name);
      if (actuator.lower) number("lower", *actuator.lower);
      if (actuator.upper) number("upper", *actuator.upper);
      for (const auto& [joint, gear] : actuator.gear) {
        xml_.OpenElement("joint");
        name("name", joint);
        values("gear", gear);
        xml_.CloseElement();
      }
      xml_.CloseElement();
    }
    for (const PairDescription& pair : robot.excluded_contacts) {
      write_pair("excluded_contact", pair);
    }
    for (const PairDescription& pair : robot.contact_pairs) write_pair("contact_pair", pair);
    xml_.CloseElement();
  }

  void write_state(const NamedState& state) {
    open("state", "state " + in_quotes(state.name));
    name("name", state.name);
    std::set<std::string> joints;
    for (const auto* part : {&state.positions, &state.velocities}) {
      for (const auto& [joint, values] : *part) joints.insert(joint);
    }
    for (const std::string& joint : joints) {
      xml_.OpenElement("joint");
      name("name", joint);
      const auto q = state.positions.find(joint), v = state.velocities.find(joint);
      if (q != state.positions.end()) values("position", q->second);
      if (v != state.velocities.end()) values("velocity", v->second);
      xml_.CloseElement();
    }
    xml_.CloseElement();
  }

  void write_pair(const char* element, const PairDescription& pair) {
    open(element, element);
    name("first", pair.first);
    name("second", pair.second);
    xml_.CloseElement();
  }

  void write_link(const LinkDescription& link) {
    open("link", "link " + in_quotes(link.name));
    name("name", link.name);
    if (link.inertial) {
      const Inertial& I = *link.inertial;
      xml_.OpenElement("inertial");
      pose(I.origin);
      element("mass", "value", I.mass);
      xml_.OpenElement("inertia");
      number("ixx", I.I.xx), number("ixy", I.I.xy), number("ixz", I.I.xz);
      number("iyy", I.I.yy), number("iyz", I.I.yz), number("izz", I.I.zz);
      xml_.CloseElement();
      xml_.CloseElement();
    }
    const std::size_t visuals = sayable(link.visuals), collisions = sayable(link.collisions);
    write_shapes("visual", link.visuals, 0, visuals);
    write_shapes("collision", link.collisions, 0, collisions);
    if (visuals < link.visuals.size() || collisions < link.collisions.size() ||
        !link.frames.empty()) {
      xml_.OpenElement("espalier");
      write_shapes("visual", link.visuals, visuals, link.visuals.size());
      write_shapes("collision", link.collisions, collisions, link.collisions.size());
      for (const FrameDescription& frame : link.frames) {
        xml_.OpenElement("frame");
        name("name", frame.name);
        pose(frame.origin);
        xml_.CloseElement();
      }
      xml_.CloseElement();
    }
    xml_.CloseElement();
  }

  /// How many shapes, from the first, URDF knows; the others follow in <espalier>, in their order.
  static std::size_t sayable(const std::vector<ShapeDescription>& shapes) {
    std::size_t count = 0;
    while (count < shapes.size() && !std::holds_alternative<Ellipsoid>(shapes[count].shape) &&
           !std::holds_alternative<Plane>(shapes[count].shape) &&
           !std::holds_alternative<HeightField>(shapes[count].shape)) {
      ++count;
    }
    return count;
  }

  void write_shapes(const char* element, const std::vector<ShapeDescription>& shapes,
                    std::size_t first, std::size_t end) {
    for (std::size_t i = first; i < end; ++i) {
      const ShapeDescription& shape = shapes[i];
      xml_.OpenElement(element);
      if (!shape.name.empty()) name("name", shape.name);
      pose(shape.origin);
      xml_.OpenElement("geometry");
      std::visit([this](const auto& s) { geometry(s); }, shape.shape);
      xml_.CloseElement();
      xml_.CloseElement();
      if (!shape.material.empty() || shape.color) {
        xml_.OpenElement("material");
        if (shape.material.empty()) {
          xml_.PushAttribute("name", "");
        } else {
          name("name", shape.material);
        }
        if (shape.color) {
          const Color& c = *shape.color;
          xml_.OpenElement("color");
          numbers("rgba", {c.r, c.g, c.b, c.a});
          xml_.CloseElement();
        }
        xml_.CloseElement();
      }
      if (shape.friction || shape.torsional_friction || shape.rolling_friction) {
        xml_.OpenElement("espalier");
        if (shape.friction) number("friction", *shape.friction);
        if (shape.torsional_friction) number("torsional_friction", *shape.torsional_friction);
        if (shape.rolling_friction) number("rolling_friction", *shape.rolling_friction);
        xml_.CloseElement();
      }
      xml_.CloseElement();
    }
  }

  // Each opens an element.
  void geometry(const Box& s) { xml_.OpenElement("box"), vector("size", s.size); }
  void geometry(const Sphere& s) { xml_.OpenElement("sphere"), number("radius", s.radius); }
  void geometry(const Cylinder& s) {
    xml_.OpenElement("cylinder"), number("radius", s.radius), number("length", s.length);
  }
  void geometry(const Capsule& s) {
    xml_.OpenElement("capsule"), number("radius", s.radius), number("length", s.length);
  }
  void geometry(const Ellipsoid& s) { xml_.OpenElement("ellipsoid"), vector("radii", s.radii); }
  void geometry(const Plane& s) { xml_.OpenElement("plane"), number("x", s.x), number("y", s.y); }
  void geometry(const Mesh& s) {
    xml_.OpenElement("mesh");
    name("filename", s.file);
    if (!same(s.scale, {1, 1, 1})) vector("scale", s.scale);
  }
  void geometry(const HeightField& s) {
    xml_.OpenElement("height_field");
    if (!s.file.empty()) name("filename", s.file);
    vector("size", s.size);
    number("base", s.base);
    if (s.heights.empty()) return;
    xml_.PushAttribute("columns", s.columns);
    numbers("heights", s.heights);
  }

  void write_joint(const JointDescription& joint) {
    open("joint", "joint " + in_quotes(joint.name));
    name("name", joint.name);
    name("type", joint.type);
    if (joint.independent) xml_.PushAttribute("independent", *joint.independent);
    link("parent", joint.parent);
    link("child", joint.child);
    pose(joint.origin);
    axis(joint.axis);
    // What <limit> can say of the position: both limits, on a joint that is not continuous.
    const Limits& limits = joint.limits;
    const bool both = limits.lower && limits.upper && joint.type != "continuous";
    if (both || limits.velocity || limits.effort) {
      xml_.OpenElement("limit");
      if (both) number("lower", *limits.lower), number("upper", *limits.upper);
      if (limits.velocity) number("velocity", *limits.velocity);
      if (limits.effort) number("effort", *limits.effort);
      xml_.CloseElement();
    }
    const PassiveDynamics& passive = joint.passive;
    if (passive.damping != 0.0 || passive.friction != 0.0) {
      xml_.OpenElement("dynamics");
      number("damping", passive.damping);
      number("friction", passive.friction);
      xml_.CloseElement();
    }
    if (joint.mimic) {
      xml_.OpenElement("mimic");
      name("joint", joint.mimic->joint);
      number("multiplier", joint.mimic->multiplier);
      number("offset", joint.mimic->offset);
      xml_.CloseElement();
    }
    const bool one_sided = !both && (limits.lower || limits.upper);
    if (joint.armature != 0.0 || passive.stiffness != 0.0 || passive.rest != 0.0 || one_sided ||
        !joint.parameters.empty()) {
      xml_.OpenElement("espalier");
      if (joint.armature != 0.0) number("armature", joint.armature);
      if (passive.stiffness != 0.0) number("stiffness", passive.stiffness);
      if (passive.rest != 0.0) number("rest", passive.rest);
      if (one_sided && limits.lower) number("lower", *limits.lower);
      if (one_sided && limits.upper) number("upper", *limits.upper);
      parameters(joint.parameters);
      xml_.CloseElement();
    }
    xml_.CloseElement();
  }

  void write_coupling(const CouplingDescription& coupling) {
    open("coupling", "coupling " + in_quotes(coupling.name));
    name("name", coupling.name);
    link("predecessor", coupling.predecessor);
    link("successor", coupling.successor);
    element("ratio", "value", coupling.ratio);
    xml_.CloseElement();
  }

  void write_loop(const LoopDescription& loop) {
    open("loop", "loop " + in_quotes(loop.name));
    name("name", loop.name);
    name("type", loop.type);
    link("predecessor", loop.predecessor, &loop.predecessor_origin);
    link("successor", loop.successor, &loop.successor_origin);
    axis(loop.axis);
    if (!loop.parameters.empty()) {
      xml_.OpenElement("espalier");
      parameters(loop.parameters);
      xml_.CloseElement();
    }
    xml_.CloseElement();
  }

  void write_law(const LawDescription& law) {
    open("law", "law " + in_quotes(law.name));
    name("name", law.name);
    name("type", law.type);
    for (const std::string& joint : law.joints) {
      xml_.OpenElement("joint");
      name("name", joint);
      xml_.CloseElement();
    }
    parameters(law.parameters);
    xml_.CloseElement();
  }

  // --- pieces of elements -----------------------------------------------------------------------

  void open(const char* element, std::string who) {
    who_ = "urdf: " + std::move(who);
    xml_.OpenElement(element);
  }
  void link(const char* element, const std::string& link_name, const Pose* origin = nullptr) {
    xml_.OpenElement(element);
    name("link", link_name);
    if (origin) pose(*origin);
    xml_.CloseElement();
  }
  void element(const char* element, const char* attribute, double value) {
    xml_.OpenElement(element);
    number(attribute, value);
    xml_.CloseElement();
  }
  void pose(const Pose& pose) {
    if (pose == Pose{}) return;
    xml_.OpenElement("origin");
    vector("xyz", pose.xyz);
    vector("rpy", pose.rpy);
    xml_.CloseElement();
  }
  void axis(const Vec3<double>& axis) {
    if (same(axis, {1, 0, 0})) return;
    xml_.OpenElement("axis");
    vector("xyz", axis);
    xml_.CloseElement();
  }
  void parameters(const Parameters& parameters) {
    for (const auto& [key, values] : parameters) {
      if (values.empty()) {
        throw Unsupported(who_ + ": parameter " + in_quotes(key) +
                          " has no values, expected one or more");
      }
      xml_.OpenElement("parameter");
      name("name", key);
      numbers("value", values);
      xml_.CloseElement();
    }
  }
  void name(const char* attribute, const std::string& text) {
    formats::require_writable_name(text, who_);
    xml_.PushAttribute(attribute, text.c_str());
  }
  void number(const char* attribute, double value) {
    xml_.PushAttribute(attribute, formats::number_text(value, who_).c_str());
  }
  void vector(const char* attribute, const Vec3<double>& v) { numbers(attribute, {v.x, v.y, v.z}); }
  void numbers(const char* attribute, const std::vector<double>& values) {
    std::string text;
    for (const double value : values) {
      text += (text.empty() ? "" : " ") + formats::number_text(value, who_);
    }
    xml_.PushAttribute(attribute, text.c_str());
  }
  void values(const char* attribute, const std::vector<double>& values) {
    if (values.empty()) {
      throw Unsupported(who_ + ": " + attribute + " has no values, expected one or more");
    }
    numbers(attribute, values);
  }
  static bool same(const Vec3<double>& a, const Vec3<double>& b) {
    return a.x == b.x && a.y == b.y && a.z == b.z;
  }

  tinyxml2::XMLPrinter xml_;
  std::string who_;  ///< what is being written, for errors
};

}  // namespace

std::string UrdfFormat::write(const Description& robot) const { return UrdfWriter().write(robot); }

}  // namespace espalier
