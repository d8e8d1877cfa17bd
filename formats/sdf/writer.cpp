// Writes SDF 1.9. What SDF cannot say stands in elements and attributes of the prefix espalier.

#include <tinyxml2.h>

#include <map>
#include <set>

#include "espalier/kernel/errors.hpp"
#include "formats/known_names.hpp"
#include "formats/sdf/sdf.hpp"
#include "formats/text.hpp"

namespace espalier {

namespace {

using formats::in_quotes;

class SdfWriter {
 public:
  explicit SdfWriter(const Description& robot) : robot_(robot) {
    std::set<std::string> children;
    for (const LinkDescription& link : robot.links) used_.insert(link.name);
    for (const JointDescription& joint : robot.joints) children.insert(joint.child);
    for (const LinkDescription& link : robot.links) {
      if (!children.contains(link.name)) root_ = &link;
    }
    if (root_ == nullptr) throw Unsupported("sdf: robot has no root link, expected one");
    if (robot.links.size() == 1 && root_->name == "world") {
      throw Unsupported("sdf: robot has no link but 'world', expected one that moves");
    }
    for (const LinkDescription& link : robot.links) {
      const bool ground = &link == root_ && !link.inertial && !robot.floating.value_or(false);
      if (!reserved(link.name) || (ground && link.name == "world")) continue;
      throw Unsupported("sdf: name of link " + in_quotes(link.name) +
                        " means something else in SDF, expected another one");
    }
    // Links, joints and frames share their names in SDF.
    for (const JointDescription& joint : robot.joints) {
      const std::string name = unused(joint.name, "_joint");
      if (name != joint.name)
        lose("joint " + in_quotes(joint.name) + ": is called " + in_quotes(name));
      joint_name_[joint.name] = name;
      if (joint.type == "floating") continue;  // is not written
      if (link_joint_.emplace(joint.child, name).second) tree_.insert(&joint);
    }
  }

  std::string write() {
    xml_.OpenElement("sdf");
    xml_.PushAttribute("version", "1.9");
    xml_.PushAttribute("xmlns:espalier", "https://espalier.invalid/sdf");
    open("world");
    xml_.PushAttribute("name", "default");  // "world" is reserved
    element("gravity", list({robot_.gravity.x, robot_.gravity.y, robot_.gravity.z}));
    open("model");
    name("name", robot_.name.empty() ? "robot" : robot_.name);
    const bool ground = root_->name == "world" && !root_->inertial;
    if (ground &&
        (!root_->visuals.empty() || !root_->collisions.empty() || !root_->frames.empty())) {
      lose("link 'world': shapes and frames of the ground");
    }
    for (const LinkDescription& link : robot_.links) {
      if (!(ground && &link == root_)) write_link(link);
    }
    // What nothing holds floats there.
    if (!ground && !robot_.floating.value_or(false)) {
      open("joint");
      name("name", unused(root_->name + "_fixed", "_"));
      xml_.PushAttribute("type", "fixed");
      element("parent", "world");
      element("child", root_->name);
      close();
    }
    for (const JointDescription& joint : robot_.joints) write_joint(joint);
    for (const LoopDescription& loop : robot_.loops) write_loop(loop);
    for (const CouplingDescription& c : robot_.couplings) {
      open("espalier:coupling");
      name("name", c.name), name("predecessor", c.predecessor), name("successor", c.successor);
      xml_.PushAttribute("ratio", formats::number_text(c.ratio, who_).c_str());
      close();
      lose("coupling " + in_quotes(c.name) + ": its links move freely there");
    }
    for (const LawDescription& law : robot_.laws) {
      open("espalier:law");
      name("name", law.name), name("type", law.type);
      for (const std::string& joint : law.joints) {
        open("espalier:joint");
        name("name", renamed(joint));
        close();
      }
      parameters(law.parameters);
      close();
      lose("law " + in_quotes(law.name) + ": its joints move freely there");
    }
    for (const NamedState& state : robot_.states) lose("state " + in_quotes(state.name));
    for (const ActuatorDescription& a : robot_.actuators) lose("actuator " + in_quotes(a.name));
    if (!robot_.excluded_contacts.empty() || !robot_.contact_pairs.empty()) {
      lose("rules of contact between pairs");
    }
    close();
    close();
    close();
    return xml_.CStr();
  }

  const std::vector<std::string>& losses() const { return losses_; }

 private:
  /// Names that SDF keeps for itself.
  static bool reserved(const std::string& name) {
    return name == "world" || (name.size() >= 4 && name.starts_with("__") && name.ends_with("__"));
  }
  /// The name, or one with an ending that neither SDF nor another part has.
  std::string unused(std::string name, const char* ending) {
    while (reserved(name) || !used_.insert(name).second) name += ending;
    return name;
  }

  void write_link(const LinkDescription& link) {
    who_ = "sdf: link " + in_quotes(link.name);
    open("link");
    name("name", link.name);
    if (!link.inertial) xml_.PushAttribute("espalier:massless", "true");
    const auto hangs = link_joint_.find(link.name);
    if (hangs != link_joint_.end()) {
      open("pose");
      name("relative_to", hangs->second);
      close();
    }
    if (link.inertial) {
      const Inertial& I = *link.inertial;
      open("inertial");
      pose(I.origin);
      element("mass", text(I.mass));
      open("inertia");
      element("ixx", text(I.I.xx)), element("ixy", text(I.I.xy)), element("ixz", text(I.I.xz));
      element("iyy", text(I.I.yy)), element("iyz", text(I.I.yz)), element("izz", text(I.I.zz));
      close();
      close();
    }
    std::set<std::string> taken;
    shapes("visual", link.visuals, taken);
    taken.clear();
    shapes("collision", link.collisions, taken);
    close();
    for (const FrameDescription& frame : link.frames) {
      open("frame");
      const std::string own = unused(frame.name, "_frame");
      if (own != frame.name)
        lose("frame " + in_quotes(frame.name) + ": is called " + in_quotes(own));
      name("name", own);
      name("attached_to", link.name);
      pose(frame.origin);
      close();
    }
  }

  void shapes(const char* kind, const std::vector<ShapeDescription>& all,
              std::set<std::string>& taken) {
    for (const ShapeDescription& shape : all) {
      if (std::holds_alternative<HeightField>(shape.shape) &&
          std::get<HeightField>(shape.shape).file.empty()) {
        lose("height field of " + who_);
        continue;
      }
      open(kind);
      std::string own = shape.name.empty() ? kind : shape.name;
      for (int i = 2; !taken.insert(own).second; ++i)
        own = (shape.name.empty() ? kind : shape.name) + ("_" + std::to_string(i));
      name("name", own);
      pose(shape.origin);
      open("geometry");
      std::visit([this](const auto& s) { geometry(s); }, shape.shape);
      close();
      if (shape.color || !shape.material.empty()) {
        open("material");
        if (!shape.material.empty()) name("espalier:name", shape.material);
        if (shape.color) {
          const std::string rgba =
              list({shape.color->r, shape.color->g, shape.color->b, shape.color->a});
          element("ambient", rgba);
          element("diffuse", rgba);
        }
        close();
      }
      if (shape.torsional_friction || shape.rolling_friction) {
        lose("torsional and rolling friction of a shape of " + who_);
      }
      if (shape.friction) {
        for (const char* e : {"surface", "friction", "ode"}) open(e);
        element("mu", text(*shape.friction));
        for (int i = 0; i < 3; ++i) close();
      }
      close();
    }
  }

  void geometry(const Box& s) { one("box", {{"size", list({s.size.x, s.size.y, s.size.z})}}); }
  void geometry(const Sphere& s) { one("sphere", {{"radius", text(s.radius)}}); }
  void geometry(const Cylinder& s) {
    one("cylinder", {{"radius", text(s.radius)}, {"length", text(s.length)}});
  }
  void geometry(const Capsule& s) {
    one("capsule", {{"radius", text(s.radius)}, {"length", text(s.length)}});
  }
  void geometry(const Ellipsoid& s) {
    one("ellipsoid", {{"radii", list({s.radii.x, s.radii.y, s.radii.z})}});
  }
  void geometry(const Plane& s) { one("plane", {{"normal", "0 0 1"}, {"size", list({s.x, s.y})}}); }
  void geometry(const Mesh& s) {
    formats::require_writable_name(s.file, who_);
    one("mesh", {{"uri", s.file}, {"scale", list({s.scale.x, s.scale.y, s.scale.z})}});
  }
  void geometry(const HeightField& s) {
    formats::require_writable_name(s.file, who_);
    one("heightmap", {{"uri", s.file}, {"size", list({s.size.x, s.size.y, s.size.z})}});
    if (s.base != 0.0) lose("base of a height field of " + who_);
  }
  void one(const char* kind, const std::vector<std::pair<const char*, std::string>>& values) {
    open(kind);
    for (const auto& [key, value] : values) element(key, value);
    close();
  }

  void write_joint(const JointDescription& joint) {
    who_ = "sdf: joint " + in_quotes(joint.name);
    static const std::map<std::string, const char*> types{
        {"revolute", "revolute"}, {"continuous", "continuous"}, {"prismatic", "prismatic"},
        {"spherical", "ball"},    {"universal", "universal"},   {"helical", "screw"},
        {"fixed", "fixed"}};
    if (joint.type == "floating") {
      if (joint.parent != "world" || !(joint.origin == Pose{})) {
        throw Unsupported(who_ +
                          ": type is 'floating', expected it between the root link 'world' and "
                          "a link, without origin (SDF has no joint for it)");
      }
      // No joint is what SDF calls free.
      lose("joint " + in_quotes(joint.name) + ": its name");
      return;
    }
    const auto type = types.find(joint.type);
    if (type == types.end()) {
      throw Unsupported(who_ + ": type is " + in_quotes(joint.type) +
                        ", expected revolute, continuous, prismatic, spherical, universal, helical "
                        "or fixed (SDF has no other joints)");
    }
    open("joint");
    name("name", renamed(joint.name));
    if (renamed(joint.name) != joint.name) name("espalier:name", joint.name);
    xml_.PushAttribute("type", type->second);
    if (joint.independent)
      xml_.PushAttribute("espalier:independent", *joint.independent ? "true" : "false");
    if (joint.armature != 0.0) {
      xml_.PushAttribute("espalier:armature", text(joint.armature).c_str());
      lose("joint " + in_quotes(joint.name) + ": armature");
    }
    element("parent", joint.parent);
    element("child", joint.child);
    if (tree_.contains(&joint)) {
      open("pose");
      name("relative_to",
           joint.parent == "world" && root_->name == "world" ? "__model__" : joint.parent);
      xml_.PushText(list({joint.origin.xyz.x, joint.origin.xyz.y, joint.origin.xyz.z,
                          joint.origin.rpy.x, joint.origin.rpy.y, joint.origin.rpy.z})
                        .c_str());
      close();
    }
    if (joint.type == "helical") {
      const auto pitch = joint.parameters.find("pitch");
      if (pitch == joint.parameters.end() || pitch->second.size() != 1 || pitch->second[0] == 0.0) {
        throw Unsupported(who_ + ": parameter 'pitch' is missing or zero, expected a number");
      }
      element("thread_pitch", text(-1.0 / pitch->second[0]));
    }
    if (joint.type == "spherical") lose_terms(joint);
    if (joint.type != "fixed" && joint.type != "spherical") axis("axis", joint, joint.axis, true);
    if (joint.type == "universal") {
      const auto second = joint.parameters.find("axis2");
      if (second == joint.parameters.end() || second->second.size() != 3) {
        const Vec3<double>& a = joint.axis;  // the default: y, z, x for x, y, z
        if (a.x + a.y + a.z != 1.0 || a.x * a.y + a.y * a.z + a.z * a.x != 0.0) {
          throw Unsupported(who_ + ": parameter 'axis2' is missing, expected three numbers");
        }
        axis("axis2", joint, {a.z, a.x, a.y}, false);
      } else {
        axis("axis2", joint, {second->second[0], second->second[1], second->second[2]}, false);
      }
    }
    close();
    if (joint.mimic) {
      open("espalier:mimic");
      name("joint", renamed(joint.name)), name("of", renamed(joint.mimic->joint));
      xml_.PushAttribute("law", list({joint.mimic->multiplier, joint.mimic->offset}).c_str());
      close();
      lose("joint " + in_quotes(joint.name) + ": mimics " + in_quotes(joint.mimic->joint) +
           " (SDF 1.11 could say it)");
    }
  }

  /// A ball has no <axis>, which holds the terms of others.
  void lose_terms(const JointDescription& ball) {
    const PassiveDynamics& p = ball.passive;
    const Limits& l = ball.limits;
    const std::string who = "joint " + in_quotes(ball.name);
    if (p.damping != 0.0 || p.friction != 0.0) lose(who + ": damping and friction of a ball");
    if (l.lower || l.upper || l.effort || l.velocity) lose(who + ": limits of a ball");
  }

  /// Damping and friction stand at each axis, limits at the first.
  void axis(const char* which, const JointDescription& joint, const Vec3<double>& direction,
            bool limited) {
    open(which);
    element("xyz", list({direction.x, direction.y, direction.z}));
    const Limits& l = joint.limits;
    if (limited && (l.lower || l.upper || l.effort || l.velocity)) {
      open("limit");
      if (l.lower) element("lower", text(*l.lower));
      if (l.upper) element("upper", text(*l.upper));
      if (l.effort) element("effort", text(*l.effort));
      if (l.velocity) element("velocity", text(*l.velocity));
      close();
    }
    PassiveDynamics p = joint.passive;
    if (joint.type == "universal") p.stiffness = p.rest = 0.0;  // springs act on single positions
    if (p.damping != 0.0 || p.friction != 0.0 || p.stiffness != 0.0 || p.rest != 0.0) {
      open("dynamics");
      element("damping", text(p.damping)), element("friction", text(p.friction));
      element("spring_reference", text(p.rest)), element("spring_stiffness", text(p.stiffness));
      close();
    }
    close();
  }

  /// Two frames by name: SDF's joints that close loops assume that they meet at the zero position.
  void write_loop(const LoopDescription& loop) {
    open("espalier:loop");
    name("name", loop.name), name("type", loop.type);
    name("predecessor", loop.predecessor), name("successor", loop.successor);
    const auto place = [&](const char* key, const Pose& p) {
      xml_.PushAttribute(key, list({p.xyz.x, p.xyz.y, p.xyz.z, p.rpy.x, p.rpy.y, p.rpy.z}).c_str());
    };
    place("predecessor_pose", loop.predecessor_origin),
        place("successor_pose", loop.successor_origin);
    xml_.PushAttribute("axis", list({loop.axis.x, loop.axis.y, loop.axis.z}).c_str());
    parameters(loop.parameters);
    close();
    lose("loop " + in_quotes(loop.name) + ": is open there");
  }

  void parameters(const Parameters& all) {
    for (const auto& [key, values] : all) {
      open("espalier:parameter");
      name("name", key);
      xml_.PushAttribute("value", list(values).c_str());
      close();
    }
  }

  // --- pieces -----------------------------------------------------------------------------------

  void open(const char* element) { xml_.OpenElement(element); }
  void close() { xml_.CloseElement(); }
  void element(const char* element, const std::string& content) {
    open(element);
    xml_.PushText(content.c_str());
    close();
  }
  void name(const char* attribute, const std::string& value) {
    formats::require_writable_name(value, who_);
    constexpr const char* white_space = " \t\r\n";  // readers of SDF drop it around references
    if (value.find_first_not_of(white_space) != 0 ||
        value.find_last_not_of(white_space) + 1 != value.size()) {
      throw Unsupported(who_ + ": name is " + formats::in_quotes(value) +
                        ", expected one without white space around it");
    }
    xml_.PushAttribute(attribute, value.c_str());
  }
  std::string text(double value) const { return formats::number_text(value, who_); }
  std::string list(const std::vector<double>& values) const {
    std::string out;
    for (const double value : values) out += (out.empty() ? "" : " ") + text(value);
    return out;
  }
  void pose(const Pose& p) {
    if (p == Pose{}) return;
    element("pose", list({p.xyz.x, p.xyz.y, p.xyz.z, p.rpy.x, p.rpy.y, p.rpy.z}));
  }
  std::string renamed(const std::string& joint) const {
    const auto found = joint_name_.find(joint);
    return found == joint_name_.end() ? joint : found->second;
  }
  void lose(const std::string& what) { losses_.push_back(what); }

  const Description& robot_;
  tinyxml2::XMLPrinter xml_;
  std::string who_ = "sdf";
  const LinkDescription* root_ = nullptr;
  std::set<std::string> used_;
  std::map<std::string, std::string> joint_name_, link_joint_;
  std::set<const JointDescription*> tree_;
  std::vector<std::string> losses_;
};

}  // namespace

std::string SdfFormat::write(const Description& robot) const {
  expect_known_names(robot);
  return SdfWriter(robot).write();
}

std::vector<std::string> SdfFormat::losses(const Description& robot) const {
  expect_known_names(robot);
  SdfWriter writer(robot);
  writer.write();
  return writer.losses();
}

}  // namespace espalier
