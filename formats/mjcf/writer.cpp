// Writes MJCF. What MJCF cannot say is kept in <custom><text name="espalier ...">, which MuJoCo
// ignores and Espalier reads, and is listed as a loss.

#include <tinyxml2.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>

#include "espalier/kernel/errors.hpp"
#include "espalier/kernel/model/joint.hpp"
#include "formats/mjcf/elements.hpp"
#include "formats/mjcf/mjcf.hpp"
#include "formats/text.hpp"

namespace espalier {

namespace {

using formats::in_quotes;

/// tinyxml2, here and in MuJoCo, reads 100 levels.
constexpr int deepest_body = 90;
/// Between the two balls that stand for a hinge [m].
constexpr double hinge_width = 0.1;
/// Sites at the ends of a rod, after its name.
constexpr const char *rod_first = " (predecessor)", *rod_second = " (successor)";

class Writer {
 public:
  explicit Writer(const Description& robot) : robot_(robot) {
    for (std::size_t l = 0; l < robot.links.size(); ++l) link_number_[robot.links[l].name] = l;
    std::set<std::string> children;
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
    for (const LinkDescription& link : robot.links) {
      if (children.contains(link.name)) continue;
      if (root_ != nullptr) {
        throw Unsupported("mjcf: links " + in_quotes(root_->name) + " and " + in_quotes(link.name) +
                          " have no parent, expected one root");
      }
      root_ = &link;
    }
    if (root_ == nullptr) throw Unsupported("mjcf: robot has no root link, expected one");
    place(root_->name, Transform<double>::identity(), 0);
  }

  std::string write() {
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
      body(*root_, nullptr);
    }
    close();
    constraints();
    actuators();
    contacts();
    keyframes();
    custom();
    close();
    return xml_.CStr();
  }

  const std::vector<std::string>& losses() const { return losses_; }

 private:
  // --- the tree ---------------------------------------------------------------------------------

  void place(const std::string& link, const Transform<double>& X, int depth) {
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

  void children(const LinkDescription& link) {
    const auto found = carried_.find(link.name);
    if (found == carried_.end()) return;
    for (const JointDescription* joint : found->second) {
      body(robot_.links[link_number_.at(joint->child)], joint);
    }
  }

  void body(const LinkDescription& link, const JointDescription* joint) {
    who_ = "mjcf: link " + in_quotes(link.name);
    open("body");
    text("name", link.name, "body");
    if (joint != nullptr) frame(joint->origin);
    if (link.inertial) inertial(*link.inertial);
    if (joint != nullptr) write_joint(*joint);
    contents(link);
    children(link);
    close();
  }

  void inertial(const Inertial& I) {
    open("inertial");
    vector("pos", I.origin.xyz);
    number("mass", I.mass);
    const Sym3<double> J = congruence(rpy_to_E(I.origin.rpy), I.I);
    numbers("fullinertia", {J.xx, J.yy, J.zz, J.xy, J.xz, J.yz});
    close();
  }

  void write_joint(const JointDescription& joint) {
    who_ = "mjcf: joint " + in_quotes(joint.name);
    const std::string& type = joint.type;
    if (type == "fixed") return;
    joints_.push_back(&joint);
    if (type == "revolute" || type == "continuous") {
      one(joint, joint.name, "hinge", joint.axis, true);
      if (type == "continuous") keep_type(joint);
    } else if (type == "prismatic") {
      one(joint, joint.name, "slide", joint.axis, true);
    } else if (type == "spherical") {
      open("joint");
      text("name", joint.name, "joint");
      xml_.PushAttribute("type", "ball");
      terms(joint, false);
      close();
    } else if (type == "floating") {
      if (joint.parent != root_->name || root_->name != "world" || !(joint.origin == Pose{})) {
        throw Unsupported(who_ +
                          ": type is 'floating', expected it on the root link 'world' and "
                          "without origin (MJCF has free joints there only)");
      }
      open("freejoint");
      text("name", joint.name, "joint");
      close();
      if (joint.armature != 0.0) lose(joint.name + ": armature of a free joint");
    } else if (type == "universal") {
      const auto given = joint.parameters.find("axis2");
      const Vec3<double> second =
          given != joint.parameters.end() && given->second.size() == 3
              ? Vec3<double>{given->second[0], given->second[1], given->second[2]}
              : next_axis(joint.axis);
      one(joint, joint.name, "hinge", joint.axis, false);
      one(joint, joint.name + "_2", "hinge", second, false);
      lose("joint " + in_quotes(joint.name) + ": is two hinges there");
    } else if (type == "cylindrical") {
      one(joint, joint.name, "hinge", joint.axis, false);
      one(joint, joint.name + "_2", "slide", joint.axis, false);
      lose("joint " + in_quotes(joint.name) + ": is a hinge and a slide there");
    } else if (type == "helical") {
      one(joint, joint.name, "hinge", joint.axis, true);
      open("joint");
      text("name", joint.name + "_2", "joint");
      xml_.PushAttribute("type", "slide");
      vector("axis", joint.axis);
      close();
      const auto pitch = joint.parameters.find("pitch");
      const double k = pitch == joint.parameters.end() ? 0.0 : pitch->second.at(0);
      ties_.push_back({joint.name + "_2", joint.name, {0.0, k}});
      lose("joint " + in_quotes(joint.name) + ": is a hinge and a slide there, coupled softly");
    } else {
      throw Unsupported(who_ + ": type is " + in_quotes(type) +
                        ", expected revolute, continuous, prismatic, spherical, floating, "
                        "universal, cylindrical, helical or fixed (MJCF has no other joints)");
    }
  }

  /// The default second axis of universal joints: y, z, x for x, y, z; else perpendicular.
  static Vec3<double> next_axis(const Vec3<double>& axis) {
    if (axis.x == 1.0) return {0, 1, 0};
    if (axis.y == 1.0) return {0, 0, 1};
    if (axis.z == 1.0) return {1, 0, 0};
    return across(scale(1.0 / std::sqrt(dot(axis, axis)), axis)).first;
  }

  void one(const JointDescription& joint, const std::string& name, const char* type,
           const Vec3<double>& axis, bool whole) {
    open("joint");
    text("name", name, "joint");
    xml_.PushAttribute("type", type);
    vector("axis", axis);
    terms(joint, whole);
    close();
  }

  void terms(const JointDescription& joint, bool single) {
    const Limits& l = joint.limits;
    if (single && l.lower && l.upper) {
      xml_.PushAttribute("limited", "true");
      numbers("range", {*l.lower, *l.upper});
    }
    const bool one_sided = (l.lower.has_value() != l.upper.has_value()) || (!single && l.lower);
    if (one_sided || l.effort || l.velocity) {
      std::string said = "<limit joint=" + quoted(joint.name);
      const auto add = [&](const char* key, const std::optional<double>& value) {
        if (value) said += std::string(" ") + key + "='" + formats::number_text(*value, who_) + "'";
      };
      if (one_sided) add("lower", l.lower), add("upper", l.upper);
      add("effort", l.effort), add("velocity", l.velocity);
      texts_.push_back({"limit " + joint.name, said + "/>"});
      lose("joint " + in_quotes(joint.name) + ": limits of effort, of velocity or on one side");
    }
    if (joint.armature != 0.0) number("armature", joint.armature);
    if (joint.passive.damping != 0.0) number("damping", joint.passive.damping);
    if (joint.passive.friction != 0.0) number("frictionloss", joint.passive.friction);
    if (joint.passive.stiffness != 0.0) number("stiffness", joint.passive.stiffness);
    if (joint.passive.rest != 0.0) number("springref", joint.passive.rest);
  }

  void keep_type(const JointDescription& joint) {
    texts_.push_back({"type " + joint.name,
                      "<type joint=" + quoted(joint.name) + " value=" + quoted(joint.type) + "/>"});
  }

  // --- geometry ---------------------------------------------------------------------------------

  void contents(const LinkDescription& link) {
    std::vector<bool> both(link.collisions.size(), false);
    for (const ShapeDescription& shape : link.visuals) {
      bool touches = false;
      for (std::size_t i = 0; i < link.collisions.size() && !touches; ++i) {
        const ShapeDescription& other = link.collisions[i];
        touches = !both[i] && other.shape == shape.shape && other.origin == shape.origin &&
                  other.name == shape.name;
        if (touches) both[i] = true;
      }
      geom(shape, true, touches);
    }
    for (std::size_t i = 0; i < link.collisions.size(); ++i) {
      if (!both[i]) geom(link.collisions[i], false, true);
    }
    for (const FrameDescription& site : link.frames) {
      open("site");
      text("name", site.name, "site");
      frame(site.origin);
      close();
    }
    for (const LoopDescription& loop : robot_.loops) {
      if (loop.type != "rod") continue;
      if (loop.predecessor == link.name) rod_end(loop.name + rod_first, loop.predecessor_origin);
      if (loop.successor == link.name) rod_end(loop.name + rod_second, loop.successor_origin);
    }
  }

  void rod_end(const std::string& name, const Pose& origin) {
    open("site");
    text("name", name, "site");
    frame(origin);
    close();
  }

  void geom(const ShapeDescription& shape, bool visual, bool collision) {
    open("geom");
    if (!shape.name.empty() && geom_names_.insert(shape.name).second) {
      text("name", shape.name, "geom");
    }
    std::visit([this](const auto& s) { geometry(s); }, shape.shape);
    frame(shape.origin);
    if (!shape.material.empty()) text("material", shape.material, "material");
    if (shape.color) {
      const Color& c = *shape.color;
      numbers("rgba", {c.r, c.g, c.b, c.a});
    }
    if (shape.friction) numbers("friction", {*shape.friction, 0.005, 0.0001});
    if (!collision) {
      xml_.PushAttribute("contype", 0);
      xml_.PushAttribute("conaffinity", 0);
    }
    xml_.PushAttribute("group", visual ? (collision ? 0 : 1) : 3);
    close();
  }

  void kind(const char* type) { xml_.PushAttribute("type", type); }
  void geometry(const Box& s) {
    kind("box"), numbers("size", {s.size.x / 2.0, s.size.y / 2.0, s.size.z / 2.0});
  }
  void geometry(const Sphere& s) { kind("sphere"), number("size", s.radius); }
  void geometry(const Cylinder& s) {
    kind("cylinder"), numbers("size", {s.radius, s.length / 2.0});
  }
  void geometry(const Capsule& s) { kind("capsule"), numbers("size", {s.radius, s.length / 2.0}); }
  void geometry(const Ellipsoid& s) {
    kind("ellipsoid"), numbers("size", {s.radii.x, s.radii.y, s.radii.z});
  }
  void geometry(const Plane& s) { kind("plane"), numbers("size", {s.x / 2.0, s.y / 2.0, 1.0}); }
  void geometry(const Mesh& s) { kind("mesh"), text("mesh", mesh_name(s), "mesh"); }
  void geometry(const HeightField& s) { kind("hfield"), text("hfield", field_name(s), "hfield"); }

  static std::string key_of(const Mesh& s) {
    std::string key = s.file;
    for (int i = 0; i < 3; ++i) key += " " + std::to_string(s.scale[i]);
    return key;
  }
  std::string mesh_name(const Mesh& s) { return "mesh" + std::to_string(meshes_.at(key_of(s))); }
  std::string field_name(const HeightField& s) {
    const auto same = [&](const HeightField* f) { return Shape(*f) == Shape(s); };
    const auto found = std::find_if(fields_.begin(), fields_.end(), same);
    return "field" + std::to_string(found - fields_.begin());
  }

  void assets() {
    open("asset");
    std::map<std::string, std::optional<Color>> materials;
    for (const LinkDescription& link : robot_.links) {
      for (const auto* shapes : {&link.visuals, &link.collisions}) {
        for (const ShapeDescription& shape : *shapes) {
          if (!shape.material.empty()) materials.emplace(shape.material, shape.color);
          if (const auto* mesh = std::get_if<Mesh>(&shape.shape)) {
            const int number = static_cast<int>(meshes_.size());
            if (!meshes_.emplace(key_of(*mesh), number).second) continue;
            who_ = "mjcf: link " + in_quotes(link.name);
            if (mesh->file.find("://") != std::string::npos) {
              lose("mesh " + in_quotes(mesh->file) + ": MuJoCo reads paths, not URIs");
            }
            open("mesh");
            text("name", "mesh" + std::to_string(number), "mesh");
            text("file", mesh->file, "mesh");
            vector("scale", mesh->scale);
            close();
          } else if (const auto* field = std::get_if<HeightField>(&shape.shape)) {
            const auto same = [&](const HeightField* f) { return Shape(*f) == Shape(*field); };
            if (std::any_of(fields_.begin(), fields_.end(), same)) continue;
            fields_.push_back(field);
            open("hfield");
            text("name", "field" + std::to_string(fields_.size() - 1), "hfield");
            numbers("size", {field->size.x / 2.0, field->size.y / 2.0, field->size.z, field->base});
            if (!field->file.empty()) text("file", field->file, "hfield");
            if (!field->heights.empty()) {
              xml_.PushAttribute("nrow", field->rows);
              xml_.PushAttribute("ncol", field->columns);
              numbers("elevation", field->heights);
              lose("height field: MuJoCo stretches its heights to 0 .. 1");
            }
            close();
          }
        }
      }
    }
    for (const auto& [name, color] : materials) {
      open("material");
      text("name", name, "material");
      if (color) numbers("rgba", {color->r, color->g, color->b, color->a});
      close();
    }
    close();
  }

  // --- constraints ------------------------------------------------------------------------------

  struct Tie {  ///< first = polynomial of second
    std::string first, second;
    std::vector<double> polynomial;
  };
  struct Sum {  ///< a fixed tendon whose length is constant
    std::string name;
    std::map<std::string, double> weights;
    double sum = 0.0;
  };
  struct RodTendon {
    std::string name;
    const LoopDescription* loop;
  };

  void constraints() {
    for (const JointDescription& joint : robot_.joints) {
      if (!joint.mimic) continue;
      ties_.push_back(
          {joint.name, joint.mimic->joint, {joint.mimic->offset, joint.mimic->multiplier}});
    }
    for (const CouplingDescription& coupling : robot_.couplings) add_coupling(coupling);
    for (const LawDescription& law : robot_.laws) add_law(law);
    for (const LoopDescription& loop : robot_.loops) {
      if (loop.type == "rod") rods_.push_back({loop.name, &loop});
    }
    std::vector<std::pair<std::string, const ActuatorDescription*>> driven;
    for (const ActuatorDescription& actuator : robot_.actuators) {
      if (actuator.gear.size() > 1) driven.emplace_back("tendon of " + actuator.name, &actuator);
    }
    if (!sums_.empty() || !rods_.empty() || !driven.empty()) {
      open("tendon");
      for (const Sum& sum : sums_) fixed_tendon(sum.name, sum.weights);
      for (const auto& [name, actuator] : driven) {
        std::map<std::string, double> weights;
        for (const auto& [joint, gear] : actuator->gear) weights[joint] = gear.at(0);
        fixed_tendon(name, weights);
      }
      for (const RodTendon& rod : rods_) {
        open("spatial");
        text("name", rod.name, "tendon");
        for (const char* end : {rod_first, rod_second}) {
          open("site");
          text("site", rod.name + end, "site");
          close();
        }
        close();
      }
      close();
    }
    open("equality");
    for (const Tie& tie : ties_) {
      open("joint");
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

  void fixed_tendon(const std::string& name, const std::map<std::string, double>& weights) {
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
  std::vector<const JointDescription*> way_up(const std::string& link) const {
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

  void add_coupling(const CouplingDescription& coupling) {
    Sum sum;
    sum.name = coupling.name;
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
      ties_.push_back({dependent.first, leader.first, {0.0, -leader.second / dependent.second}});
    } else {
      sums_.push_back(std::move(sum));
    }
  }

  void add_law(const LawDescription& law) {
    const auto numbers_of = [&](const char* key) -> std::vector<double> {
      const auto found = law.parameters.find(key);
      return found == law.parameters.end() ? std::vector<double>{} : found->second;
    };
    if (law.type == "polynomial" && numbers_of("at").empty() &&
        numbers_of("coefficients").size() <= 5 && law.joints.size() == 2) {
      ties_.push_back({law.joints[1], law.joints[0], numbers_of("coefficients")});
      return;
    }
    if (law.type.starts_with("weighted_sum_") &&
        numbers_of("weights").size() == law.joints.size()) {
      Sum sum;
      sum.name = law.name;
      for (std::size_t i = 0; i < law.joints.size(); ++i) {
        sum.weights[law.joints[i]] += numbers_of("weights")[i];
      }
      const auto constant = numbers_of("sum");
      sum.sum = constant.empty() ? 0.0 : constant[0];
      sums_.push_back(std::move(sum));
      return;
    }
    std::string said = "<law name=" + quoted(law.name) + " type=" + quoted(law.type) + ">";
    for (const std::string& joint : law.joints) said += "<joint name=" + quoted(joint) + "/>";
    texts_.push_back({"law " + law.name, said + parameters(law.parameters) + "</law>"});
    lose("law " + in_quotes(law.name) + " of type " + in_quotes(law.type) +
         ": its joints are independent there");
  }

  void write_loop(const LoopDescription& loop) {
    who_ = "mjcf: loop " + in_quotes(loop.name);
    const Transform<double> p = loop.predecessor_origin.transform() * at_zero_.at(loop.predecessor);
    const Transform<double> s = loop.successor_origin.transform() * at_zero_.at(loop.successor);
    const double length = std::sqrt(dot(loop.axis, loop.axis));
    const Vec3<double> axis = length > 0.0 ? scale(1.0 / length, loop.axis) : loop.axis;
    const bool hinge = loop.type == "revolute" || loop.type == "continuous";
    if (loop.type == "rod") {
      open("tendon");
      text("tendon1", loop.name, "tendon");
      const Vec3<double> line = s.r - p.r;
      const auto wanted = loop.parameters.find("length");
      const double L = wanted == loop.parameters.end() ? 0.0 : wanted->second.at(0);
      numbers("polycoef", {L - std::sqrt(dot(line, line)), 0, 0, 0, 0});
      close();
    } else if (loop.type == "spherical" || hinge) {
      // MuJoCo finds the point on the second body at the reference position; where the loop is open
      // there, only custom data can say where it is.
      const Vec3<double> gap = s.r - p.r;
      const Vec3<double> turned = transpose_times(p.E, axis) - transpose_times(s.E, axis);
      if (std::sqrt(dot(gap, gap)) > 1e-9 || (hinge && std::sqrt(dot(turned, turned)) > 1e-9)) {
        keep_loop(loop, "is open at the zero position");
        return;
      }
      for (int i = 0; i < (hinge ? 2 : 1); ++i) {
        open("connect");
        text("name", loop.name + (i == 0 ? "" : " (2)"), "connect");
        text("body1", loop.predecessor, "body");
        text("body2", loop.successor, "body");
        const Vec3<double> along = transpose_times(loop.predecessor_origin.transform().E, axis);
        vector("anchor", loop.predecessor_origin.xyz + scale(i * hinge_width, along));
        close();
      }
    } else if (loop.type == "fixed") {
      open("weld");
      text("name", loop.name, "weld");
      text("body1", loop.predecessor, "body");
      text("body2", loop.successor, "body");
      const Transform<double> X =
          loop.successor_origin.transform().inverse() * loop.predecessor_origin.transform();
      const auto q = quaternion(X.E);
      numbers("relpose", {X.r.x, X.r.y, X.r.z, q[0], q[1], q[2], q[3]});
      close();
    } else {
      keep_loop(loop, "is a joint that closes no loop there");
      return;
    }
    lose("loop " + in_quotes(loop.name) + ": is soft");
  }

  void keep_loop(const LoopDescription& loop, const std::string& why) {
    const auto side = [&](const char* name, const std::string& link, const Pose& pose) {
      return std::string("<") + name + " link=" + quoted(link) + " xyz='" +
             list({pose.xyz.x, pose.xyz.y, pose.xyz.z}) + "' rpy='" +
             list({pose.rpy.x, pose.rpy.y, pose.rpy.z}) + "'/>";
    };
    texts_.push_back(
        {"loop " + loop.name, "<loop name=" + quoted(loop.name) + " type=" + quoted(loop.type) +
                                  " axis='" + list({loop.axis.x, loop.axis.y, loop.axis.z}) + "'>" +
                                  side("predecessor", loop.predecessor, loop.predecessor_origin) +
                                  side("successor", loop.successor, loop.successor_origin) +
                                  parameters(loop.parameters) + "</loop>"});
    lose("loop " + in_quotes(loop.name) + " of type " + in_quotes(loop.type) + ": " + why +
         ", so that MuJoCo leaves it open");
  }

  // --- inputs, contacts, states -----------------------------------------------------------------

  void actuators() {
    if (robot_.actuators.empty()) return;
    open("actuator");
    for (const ActuatorDescription& actuator : robot_.actuators) {
      if (actuator.gear.empty()) continue;
      open("motor");
      if (!actuator.name.empty()) text("name", actuator.name, "actuator");
      if (actuator.gear.size() == 1) {
        text("joint", actuator.gear.begin()->first, "joint");
        numbers("gear", actuator.gear.begin()->second);
      } else {
        text("tendon", "tendon of " + actuator.name, "tendon");
      }
      if (actuator.lower && actuator.upper) {
        xml_.PushAttribute("ctrllimited", "true");
        numbers("ctrlrange", {*actuator.lower, *actuator.upper});
      }
      close();
    }
    close();
  }

  void contacts() {
    if (robot_.excluded_contacts.empty() && robot_.contact_pairs.empty()) return;
    open("contact");
    for (const PairDescription& pair : robot_.excluded_contacts) {
      open("exclude");
      text("body1", pair.first, "body"), text("body2", pair.second, "body");
      close();
    }
    for (const PairDescription& pair : robot_.contact_pairs) {
      open("pair");
      text("geom1", pair.first, "geom"), text("geom2", pair.second, "geom");
      close();
    }
    close();
  }

  void keyframes() {
    if (robot_.states.empty()) return;
    for (const JointDescription* joint : joints_) {
      for (const char* several : {"universal", "cylindrical", "helical"}) {
        if (joint->type != several) continue;
        lose("named states: joints of type " + in_quotes(joint->type) +
             " have other positions there");
        return;
      }
    }
    open("keyframe");
    for (const NamedState& state : robot_.states) {
      open("key");
      if (!state.name.empty()) text("name", state.name, "key");
      std::vector<double> qpos, qvel;
      for (const JointDescription* joint : joints_) {
        const auto value = [&](const auto& values, std::vector<double> fallback) {
          const auto found = values.find(joint->name);
          if (found != values.end() && found->second.size() == fallback.size())
            return found->second;
          return fallback;
        };
        std::vector<double> q, v;
        if (joint->type == "floating") {
          const auto p = value(state.positions, {0, 0, 0, 0, 0, 0, 1});
          const auto w = value(state.velocities, {0, 0, 0, 0, 0, 0});
          const Vec3<double> linear =
              transpose_times(quaternion_to_E(p.data() + 3), Vec3<double>{w[3], w[4], w[5]});
          q = {p[0], p[1], p[2], p[6], p[3], p[4], p[5]};
          v = {linear.x, linear.y, linear.z, w[0], w[1], w[2]};
        } else if (joint->type == "spherical") {
          const auto p = value(state.positions, {0, 0, 0, 1});
          q = {p[3], p[0], p[1], p[2]};
          v = value(state.velocities, {0, 0, 0});
        } else {
          q = value(state.positions, {0}), v = value(state.velocities, {0});
        }
        qpos.insert(qpos.end(), q.begin(), q.end());
        qvel.insert(qvel.end(), v.begin(), v.end());
      }
      numbers("qpos", qpos), numbers("qvel", qvel);
      close();
    }
    close();
  }

  void custom() {
    for (const JointDescription& joint : robot_.joints) {
      if (!joint.independent || joint.type == "fixed") continue;
      texts_.push_back(
          {"independent " + joint.name, "<independent joint=" + quoted(joint.name) + " value='" +
                                            (*joint.independent ? "true" : "false") + "'/>"});
    }
    if (texts_.empty()) return;
    open("custom");
    for (const auto& [name, data] : texts_) {
      open("text");
      text("name", "espalier " + name, "text");
      xml_.PushAttribute("data", data.c_str());
      close();
    }
    close();
  }

  // --- pieces -----------------------------------------------------------------------------------

  void open(const char* element) { xml_.OpenElement(element); }
  void close() { xml_.CloseElement(); }
  void lose(const std::string& what) { losses_.push_back(what); }
  void text(const char* attribute, const std::string& value, const char* what) {
    formats::require_writable_name(value, "mjcf: " + std::string(what));
    xml_.PushAttribute(attribute, value.c_str());
  }
  void number(const char* attribute, double value) {
    xml_.PushAttribute(attribute, formats::number_text(value, who_).c_str());
  }
  std::string list(const std::vector<double>& values) const {
    std::string text;
    for (const double value : values) {
      text += (text.empty() ? "" : " ") + formats::number_text(value, who_);
    }
    return text;
  }
  void numbers(const char* attribute, const std::vector<double>& values) {
    xml_.PushAttribute(attribute, list(values).c_str());
  }
  void vector(const char* attribute, const Vec3<double>& v) { numbers(attribute, {v.x, v.y, v.z}); }
  void frame(const Pose& pose) {
    if (pose.xyz.x != 0.0 || pose.xyz.y != 0.0 || pose.xyz.z != 0.0) vector("pos", pose.xyz);
    if (pose.rpy.x == 0.0 && pose.rpy.y == 0.0 && pose.rpy.z == 0.0) return;
    const auto q = quaternion(rpy_to_E(pose.rpy));
    numbers("quat", {q[0], q[1], q[2], q[3]});
  }
  /// w, x, y, z of E, from its largest component, so that nothing is lost to cancellation.
  static std::array<double, 4> quaternion(const Mat3<double>& E) {
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
  std::string quoted(const std::string& value) const {
    formats::require_writable_name(value, who_);
    std::string out = "'";
    for (const char c : value) {
      out += c == '&' ? "&amp;" : c == '<' ? "&lt;" : c == '\'' ? "&apos;" : std::string(1, c);
    }
    return out + "'";
  }
  std::string parameters(const Parameters& parameters) const {
    std::string out;
    for (const auto& [key, values] : parameters) {
      out += "<parameter name=" + quoted(key) + " value='" + list(values) + "'/>";
    }
    return out;
  }

  const Description& robot_;
  tinyxml2::XMLPrinter xml_;
  std::string who_ = "mjcf";
  const LinkDescription* root_ = nullptr;
  std::map<std::string, std::size_t> link_number_;
  std::map<std::string, std::vector<const JointDescription*>> carried_;
  std::vector<const JointDescription*> cut_;     ///< joints that close loops
  std::vector<const JointDescription*> joints_;  ///< in the file's order
  std::map<std::string, Transform<double>> at_zero_;
  std::map<std::string, int> meshes_;
  std::vector<const HeightField*> fields_;
  std::set<std::string> geom_names_;
  std::vector<Tie> ties_;
  std::vector<Sum> sums_;
  std::vector<RodTendon> rods_;
  std::vector<std::pair<std::string, std::string>> texts_;
  std::vector<std::string> losses_;
};

}  // namespace

std::string MjcfFormat::write(const Description& robot) const { return Writer(robot).write(); }

std::vector<std::string> MjcfFormat::losses(const Description& robot) const {
  Writer writer(robot);
  writer.write();
  return writer.losses();
}

}  // namespace espalier
