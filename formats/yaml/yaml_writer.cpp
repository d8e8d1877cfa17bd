// Writes a flat robot as Espalier YAML that reads back to the same Description.

#include <yaml-cpp/emitter.h>
#include <yaml-cpp/emittermanip.h>

#include <set>

#include "espalier/kernel/errors.hpp"
#include "espalier/kernel/utf8.hpp"
#include "formats/text.hpp"
#include "formats/yaml/yaml.hpp"

namespace espalier {

namespace {

using formats::in_quotes;

class YamlWriter {
 public:
  std::string write(const Description& robot) {
    who_ = "yaml: robot " + in_quotes(robot.name);
    out_ << YAML::BeginMap << YAML::Key << "espalier" << YAML::Value << "1";
    if (!robot.name.empty()) text("name", robot.name);
    vector("gravity", robot.gravity, Description{}.gravity);
    if (robot.floating) text("root", *robot.floating ? "floating" : "fixed");
    section("links", "link", robot.links, [this](const auto& link) { write_link(link); });
    section("joints", "joint", robot.joints, [this](const auto& joint) { write_joint(joint); });
    section("loops", "loop", robot.loops, [this](const auto& loop) { write_loop(loop); });
    section("couplings", "coupling", robot.couplings,
            [this](const auto& coupling) { write_coupling(coupling); });
    section("laws", "law", robot.laws, [this](const auto& law) { write_law(law); });
    section("states", "state", robot.states, [this](const auto& state) { write_state(state); });
    section("actuators", "actuator", robot.actuators,
            [this](const auto& actuator) { write_actuator(actuator); });
    write_pairs("excluded_contacts", robot.excluded_contacts);
    write_pairs("contact_pairs", robot.contact_pairs);
    out_ << YAML::EndMap;
    return std::string(out_.c_str(), out_.size()) + "\n";
  }

 private:
  /// A mapping from names to elements. Names given twice cannot be keys of one mapping.
  template <class Element, class Write>
  void section(const char* title, const char* kind, const std::vector<Element>& elements,
               Write write) {
    if (elements.empty()) return;
    out_ << YAML::Key << title << YAML::Value << YAML::BeginMap;
    std::set<std::string> names;
    for (const Element& element : elements) {
      who_ = std::string("yaml: ") + kind + " " + in_quotes(element.name);
      if (!names.insert(element.name).second) {
        throw Unsupported(who_ + ": name is given twice, expected it once (rename one of them)");
      }
      key(element.name);
      out_ << YAML::Value;
      write(element);
    }
    out_ << YAML::EndMap;
  }

  void write_link(const LinkDescription& link) {
    if (!link.inertial && link.visuals.empty() && link.collisions.empty() && link.frames.empty()) {
      out_ << YAML::Flow << YAML::BeginMap << YAML::EndMap;
      return;
    }
    out_ << YAML::BeginMap;
    if (link.inertial) {
      const Inertial& I = *link.inertial;
      number("mass", I.mass);
      vector("com", I.origin.xyz);
      vector("inertia_rpy", I.origin.rpy);
      numbers("inertia", {I.I.xx, I.I.yy, I.I.zz, I.I.xy, I.I.xz, I.I.yz});
    }
    shapes("visual", link.visuals);
    shapes("collision", link.collisions);
    if (!link.frames.empty()) {
      out_ << YAML::Key << "frames" << YAML::Value << YAML::BeginMap;
      std::set<std::string> names;
      for (const FrameDescription& frame : link.frames) {
        if (!names.insert(frame.name).second) {
          throw Unsupported(who_ + ": frame " + in_quotes(frame.name) +
                            " is given twice, expected it once (rename one of them)");
        }
        key(frame.name);
        out_ << YAML::Value << YAML::Flow << YAML::BeginMap;
        pose(frame.origin);
        out_ << YAML::EndMap;
      }
      out_ << YAML::EndMap;
    }
    out_ << YAML::EndMap;
  }

  void shapes(const char* title, const std::vector<ShapeDescription>& shapes) {
    if (shapes.empty()) return;
    out_ << YAML::Key << title << YAML::Value << YAML::BeginSeq;
    for (const ShapeDescription& shape : shapes) {
      out_ << YAML::Flow << YAML::BeginMap;
      std::visit([this](const auto& s) { geometry(s); }, shape.shape);
      if (!shape.name.empty()) text("name", shape.name);
      pose(shape.origin);
      if (shape.color) {
        numbers("color", {shape.color->r, shape.color->g, shape.color->b, shape.color->a});
      }
      if (!shape.material.empty()) text("material", shape.material);
      if (shape.friction) number("friction", *shape.friction);
      if (shape.torsional_friction) number("torsional_friction", *shape.torsional_friction);
      if (shape.rolling_friction) number("rolling_friction", *shape.rolling_friction);
      out_ << YAML::EndMap;
    }
    out_ << YAML::EndSeq;
  }

  void geometry(const Box& s) { numbers("box", {s.size.x, s.size.y, s.size.z}); }
  void geometry(const Sphere& s) { number("sphere", s.radius); }
  void geometry(const Cylinder& s) { round("cylinder", s.radius, s.length); }
  void geometry(const Capsule& s) { round("capsule", s.radius, s.length); }
  void geometry(const Ellipsoid& s) { numbers("ellipsoid", {s.radii.x, s.radii.y, s.radii.z}); }
  void geometry(const Plane& s) { numbers("plane", {s.x, s.y}); }
  void geometry(const Mesh& s) {
    out_ << YAML::Key << "mesh" << YAML::Value << YAML::Flow << YAML::BeginMap;
    text("file", s.file);
    vector("scale", s.scale, {1, 1, 1});
    out_ << YAML::EndMap;
  }
  void geometry(const HeightField& s) {
    out_ << YAML::Key << "height_field" << YAML::Value << YAML::Flow << YAML::BeginMap;
    if (!s.file.empty()) text("file", s.file);
    vector("size", s.size, {1, 1, 1});
    number("base", s.base, 0.0);
    if (!s.heights.empty()) {
      number("rows", s.rows);
      number("columns", s.columns);
      numbers("heights", s.heights);
    }
    out_ << YAML::EndMap;
  }
  void round(const char* kind, double radius, double length) {
    out_ << YAML::Key << kind << YAML::Value << YAML::Flow << YAML::BeginMap;
    number("radius", radius);
    number("length", length);
    out_ << YAML::EndMap;
  }

  void write_joint(const JointDescription& joint) {
    out_ << YAML::BeginMap;
    text("type", joint.type);
    text("parent", joint.parent);
    text("child", joint.child);
    pose(joint.origin);
    vector("axis", joint.axis, {1, 0, 0});
    parameters(joint.parameters);
    const Limits& limits = joint.limits;
    if (limits.lower || limits.upper || limits.velocity || limits.effort) {
      out_ << YAML::Key << "limits" << YAML::Value << YAML::Flow << YAML::BeginMap;
      if (limits.lower) number("lower", *limits.lower);
      if (limits.upper) number("upper", *limits.upper);
      if (limits.velocity) number("velocity", *limits.velocity);
      if (limits.effort) number("effort", *limits.effort);
      out_ << YAML::EndMap;
    }
    number("damping", joint.passive.damping, 0.0);
    number("friction", joint.passive.friction, 0.0);
    number("stiffness", joint.passive.stiffness, 0.0);
    number("rest", joint.passive.rest, 0.0);
    number("armature", joint.armature, 0.0);
    if (joint.mimic) {
      out_ << YAML::Key << "mimic" << YAML::Value << YAML::Flow << YAML::BeginMap;
      text("joint", joint.mimic->joint);
      number("multiplier", joint.mimic->multiplier, 1.0);
      number("offset", joint.mimic->offset, 0.0);
      out_ << YAML::EndMap;
    }
    if (joint.independent) {
      out_ << YAML::Key << "independent" << YAML::Value << (*joint.independent ? "true" : "false");
    }
    out_ << YAML::EndMap;
  }

  void write_loop(const LoopDescription& loop) {
    out_ << YAML::BeginMap;
    text("type", loop.type);
    frame("predecessor", loop.predecessor, loop.predecessor_origin);
    frame("successor", loop.successor, loop.successor_origin);
    vector("axis", loop.axis, {1, 0, 0});
    parameters(loop.parameters);
    out_ << YAML::EndMap;
  }

  void write_coupling(const CouplingDescription& coupling) {
    out_ << YAML::BeginMap;
    text("predecessor", coupling.predecessor);
    text("successor", coupling.successor);
    number("ratio", coupling.ratio);
    out_ << YAML::EndMap;
  }

  void write_law(const LawDescription& law) {
    out_ << YAML::BeginMap;
    text("type", law.type);
    out_ << YAML::Key << "joints" << YAML::Value << YAML::Flow << YAML::BeginSeq;
    for (const std::string& joint : law.joints) name(joint);
    out_ << YAML::EndSeq;
    parameters(law.parameters);
    out_ << YAML::EndMap;
  }

  void write_state(const NamedState& state) {
    out_ << YAML::BeginMap;
    numbers_by_name("positions", state.positions);
    numbers_by_name("velocities", state.velocities);
    out_ << YAML::EndMap;
  }

  void write_actuator(const ActuatorDescription& actuator) {
    out_ << YAML::BeginMap;
    numbers_by_name("gear", actuator.gear);
    if (actuator.lower) number("lower", *actuator.lower);
    if (actuator.upper) number("upper", *actuator.upper);
    out_ << YAML::EndMap;
  }

  void numbers_by_name(const char* title,
                       const std::map<std::string, std::vector<double>>& numbers) {
    if (numbers.empty()) return;
    out_ << YAML::Key << title << YAML::Value << YAML::BeginMap;
    for (const auto& [joint, values] : numbers) {
      if (values.empty()) {
        throw Unsupported(who_ + ": joint " + in_quotes(joint) +
                          " has no values, expected one or more");
      }
      key(joint);
      out_ << YAML::Value;
      if (values.size() == 1) {
        out_ << formats::number_text(values[0], who_);
      } else {
        list(values);
      }
    }
    out_ << YAML::EndMap;
  }

  void write_pairs(const char* title, const std::vector<PairDescription>& pairs) {
    if (pairs.empty()) return;
    who_ = "yaml: " + std::string(title);
    out_ << YAML::Key << title << YAML::Value << YAML::BeginSeq;
    for (const PairDescription& pair : pairs) {
      out_ << YAML::Flow << YAML::BeginSeq;
      name(pair.first), name(pair.second);
      out_ << YAML::EndSeq;
    }
    out_ << YAML::EndSeq;
  }

  // --- pieces -----------------------------------------------------------------------------------

  void frame(const char* key, const std::string& link, const Pose& origin) {
    out_ << YAML::Key << key << YAML::Value << YAML::BeginMap;
    text("link", link);
    pose(origin);
    out_ << YAML::EndMap;
  }
  void pose(const Pose& pose) {
    vector("xyz", pose.xyz);
    vector("rpy", pose.rpy);
  }
  void parameters(const Parameters& parameters) {
    if (parameters.empty()) return;
    out_ << YAML::Key << "parameters" << YAML::Value << YAML::BeginMap;
    for (const auto& [parameter, values] : parameters) {
      if (values.empty()) {
        throw Unsupported(who_ + ": parameter " + in_quotes(parameter) +
                          " has no values, expected one or more");
      }
      key(parameter);
      out_ << YAML::Value;
      list(values);
    }
    out_ << YAML::EndMap;
  }
  void vector(const char* key, const Vec3<double>& v, const Vec3<double>& standard = {0, 0, 0}) {
    if (v.x == standard.x && v.y == standard.y && v.z == standard.z) return;
    numbers(key, {v.x, v.y, v.z});
  }
  void numbers(const char* key, const std::vector<double>& values) {
    out_ << YAML::Key << key << YAML::Value;
    list(values);
  }
  void list(const std::vector<double>& values) {
    out_ << YAML::Flow << YAML::BeginSeq;
    for (const double value : values) out_ << formats::number_text(value, who_);
    out_ << YAML::EndSeq;
  }
  void number(const char* key, double value, std::optional<double> standard = std::nullopt) {
    if (value == standard) return;
    out_ << YAML::Key << key << YAML::Value << formats::number_text(value, who_);
  }
  void text(const char* key, const std::string& value) {
    out_ << YAML::Key << key << YAML::Value;
    name(value);
  }
  /// A name as key of a mapping. Before a colon YAML allows 1024 characters (1.2, 7.4.2), counted
  /// as written, where an escape takes up to twice the bytes of what it stands for; a longer key is
  /// marked by "?". yaml-cpp marks those of more than 1024 bytes, and would mark all that follow if
  /// it were told to mark them.
  void key(const std::string& value) {
    out_ << YAML::Key;
    if (value.size() <= 1024 && 2 * value.size() + 2 > 1024) out_ << YAML::LongKey;
    name(value);
  }
  /// Names are quoted unless they are plain words, so that no YAML reader takes them for a number.
  void name(const std::string& value) {
    formats::require_writable_name(value, who_);
    bool plain = true;
    for (std::size_t i = 0; i < value.size();) {
      const std::size_t length = text::utf8_length(std::string_view(value).substr(i));
      const char c = value[i];
      const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
      plain = plain && (letter || (i > 0 && ((c >= '0' && c <= '9') || c == '-' || c == '.')));
      i += length;
    }
    if (!plain) out_ << YAML::DoubleQuoted;
    out_ << value;
  }

  YAML::Emitter out_;
  std::string who_;  ///< what is being written, for errors
};

}  // namespace

std::string YamlFormat::write(const Description& robot) const { return YamlWriter().write(robot); }

}  // namespace espalier
