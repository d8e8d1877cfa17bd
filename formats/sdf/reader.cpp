// Reads SDF: first all frames, links and joints with what their poses are relative to, then the
// tree.

#include <algorithm>
#include <cmath>
#include <deque>
#include <map>
#include <numbers>
#include <set>

#include "espalier/kernel/errors.hpp"
#include "espalier/plugins/registry.hpp"
#include "formats/sdf/sdf.hpp"
#include "formats/text.hpp"
#include "formats/xml/node.hpp"

namespace espalier {

namespace {

using formats::in_quotes;
using formats::XmlNode;

constexpr const char* model_frame = "__model__";

/// Values from here on mean "none" in SDF.
constexpr double endless = 1e15;

/// As Pose::from(), with angles of exactly 0 where there is no rotation.
Pose pose_of(const Transform<double>& X) {
  Pose pose = Pose::from(X);
  for (int i = 0; i < 3; ++i) pose.xyz[i] += 0.0, pose.rpy[i] += 0.0;
  return pose;
}

struct Frame {
  std::string relative_to;  ///< full name of a frame
  Transform<double> X = Transform<double>::identity();
  std::string attached_to;  ///< of frames: what moves it
  const XmlNode* node = nullptr;
  enum class State { open, running, done } state = State::open;
  Transform<double> in_model = Transform<double>::identity();  ///< from the world, when done
};

struct SdfJoint {
  const XmlNode* node;
  std::string name, scope, type, parent, child;  ///< links, resolved
};

class SdfReader {
 public:
  explicit SdfReader(const std::string& origin) : origin_(origin) {}

  Description read(std::string_view text) {
    root_ = formats::parse_xml(text, "sdf", origin_);
    if (root_.name != "sdf")
      root_.fail("sdf", "root element is <" + root_.name + ">, expected <sdf>");
    const XmlNode* within = &root_;
    if (const XmlNode* world = root_.child("world")) within = world;
    std::vector<const XmlNode*> models;
    for (const XmlNode& node : within->children) {
      if (node.name == "model") models.push_back(&node);
      if (node.name == "include") lose(node, "<include> of another model", true);
    }
    if (models.empty()) root_.fail("sdf", "<model> is missing, expected one");
    robot_.where = models[0]->where;
    if (const XmlNode* gravity = within->child("gravity")) {
      robot_.gravity = vector(*gravity, "gravity");
    }
    for (const char* still : {model_frame, "world"}) frames_[still].state = Frame::State::done;
    if (models.size() == 1) {
      robot_.name = name(*models[0], "model");
      if (const XmlNode* pose = models[0]->child("pose")) {
        frames_[model_frame].in_model = transform(*pose);
      }
      read_model(*models[0], "");
    } else {
      for (const XmlNode* model : models) nest(*model, "");
    }
    resolve_all();
    build();
    return std::move(robot_);
  }

 private:
  // --- first pass: names and poses --------------------------------------------------------------

  void nest(const XmlNode& model, const std::string& scope) {
    const std::string prefix = scope + name(model, "model") + "::";
    Frame& frame = add_frame(prefix + model_frame, model, scope, model_frame);
    frame.node = &model;
    alias_[scope + name(model, "model")] = prefix + model_frame;
    read_model(model, prefix);
  }

  void read_model(const XmlNode& model, const std::string& scope) {
    if (model.find("placement_frame")) lose(model, "attribute 'placement_frame'", true);
    bool is_static = false;
    if (const XmlNode* s = model.child("static")) {
      is_static = formats::parse_bool(s->text).value_or(false);
    }
    for (const XmlNode& node : model.children) {
      if (node.name == "link") {
        const std::string link = scope + name(node, "link");
        add_frame(link, node, scope, model_frame);
        if (links_.contains(link))
          node.fail("link " + in_quotes(link), "name is given twice, expected it once");
        links_[link] = &node;
        link_order_.push_back(link);
        if (is_static) static_.insert(link);
      } else if (node.name == "frame") {
        const std::string* to = node.find("attached_to");
        const std::string attached = to && !to->empty() ? *to : model_frame;
        Frame& frame = add_frame(scope + name(node, "frame"), node, scope, attached);
        frame.attached_to = full(attached, scope);
        frame_order_.push_back(scope + name(node, "frame"));
      } else if (node.name == "joint") {
        const XmlNode* child = node.child("child");
        if (child == nullptr || !node.child("parent")) {
          node.fail("joint " + in_quotes(name(node, "joint")),
                    "<parent> or <child> is missing, expected both");
        }
        const std::string joint = scope + name(node, "joint");
        Frame& frame = add_frame(joint, node, scope, trimmed(child->text));
        frame.attached_to = full(trimmed(child->text), scope);
        const std::string* type = node.find("type");
        joints_.push_back({&node, joint, scope, type ? *type : "",
                           trimmed(node.child("parent")->text), trimmed(child->text)});
      } else if (node.name == "model") {
        nest(node, scope);
      } else if (node.name == "include") {
        lose(node, "<include> of another model", true);
      }
    }
  }

  Frame& add_frame(const std::string& full_name, const XmlNode& node, const std::string& scope,
                   const std::string& standard) {
    Frame& frame = frames_[full_name];
    if (frame.node != nullptr) {
      node.fail(node.name + " " + in_quotes(full_name),
                "name is given twice, expected it once among links, joints and frames");
    }
    frame.node = &node;
    std::string to = standard;
    if (const XmlNode* pose = node.child("pose")) {
      frame.X = transform(*pose);
      const std::string* relative = pose->find("relative_to");
      if (relative == nullptr) relative = pose->find("frame");  // 1.5 and 1.6
      if (relative != nullptr && !relative->empty()) to = *relative;
    }
    frame.relative_to = full(to, scope);
    return frame;
  }

  std::string full(const std::string& local, const std::string& scope) const {
    return local == "world" ? local : scope + local;
  }

  void resolve_all() {
    for (auto& [full_name, frame] : frames_) resolve(full_name);
  }

  const Transform<double>& resolve(const std::string& given) {
    const auto alias = alias_.find(given);
    const std::string& full_name = alias == alias_.end() ? given : alias->second;
    const auto found = frames_.find(full_name);
    if (found == frames_.end()) {
      std::vector<std::string> known;
      for (const auto& [other, frame] : frames_) known.push_back(other);
      throw InvalidModel("sdf: frame " + in_quotes(full_name) + " (" + origin_ + ") is unknown" +
                         suggest(full_name, known));
    }
    // A chain of frames is followed without recursion, so that its length does not matter.
    std::vector<Frame*> chain;
    for (Frame* at = &found->second; at->state != Frame::State::done;) {
      if (at->state == Frame::State::running) {
        for (Frame* f : chain) f->state = Frame::State::open;
        at->node->fail("frame " + in_quotes(full_name),
                       "its pose is relative to itself, expected a tree");
      }
      at->state = Frame::State::running;
      chain.push_back(at);
      std::string next = at->relative_to;
      if (const auto other = alias_.find(next); other != alias_.end()) next = other->second;
      const auto to = frames_.find(next);
      if (to == frames_.end()) {
        std::vector<std::string> known;
        for (const auto& [other, frame] : frames_) known.push_back(other);
        at->node->fail(at->node->name, "pose is relative to " + in_quotes(next) +
                                           ", which is unknown" + suggest(next, known));
      }
      if (to->second.state == Frame::State::done) break;
      at = &to->second;
    }
    for (auto at = chain.rbegin(); at != chain.rend(); ++at) {
      std::string next = (*at)->relative_to;
      if (const auto other = alias_.find(next); other != alias_.end()) next = other->second;
      (*at)->in_model = (*at)->X * frames_.at(next).in_model;
      (*at)->state = Frame::State::done;
    }
    return found->second.in_model;
  }

  /// The link that moves what is named: a link, a frame, a joint's child, a model's first link.
  std::string link_of(const std::string& given, const XmlNode& at) const {
    std::string named = given;
    for (std::size_t steps = 0; steps <= frames_.size(); ++steps) {
      if (named == "world" || links_.contains(named)) return named;
      const auto alias = alias_.find(named);
      if (alias != alias_.end()) named = alias->second;
      if (named.ends_with(model_frame)) {
        const std::string scope = named.substr(0, named.size() - std::string(model_frame).size());
        const auto first = std::find_if(link_order_.begin(), link_order_.end(),
                                        [&](const std::string& l) { return l.starts_with(scope); });
        if (first != link_order_.end()) return *first;
      }
      const auto frame = frames_.find(named);
      if (frame == frames_.end() || frame->second.attached_to.empty()) break;
      named = frame->second.attached_to;
    }
    std::vector<std::string> known(link_order_);
    at.fail(at.name, "name is " + in_quotes(given) + ", which is no link" + suggest(given, known));
  }

  // --- second pass: the tree --------------------------------------------------------------------

  void build() {
    bool world = !static_.empty();
    for (SdfJoint& joint : joints_) {
      joint.parent = link_of(full(joint.parent, joint.scope), *joint.node);
      joint.child = link_of(full(joint.child, joint.scope), *joint.node);
      world = world || joint.parent == "world" || joint.child == "world";
    }
    // Which joints the tree is made of: from the world, and then from links that no joint leads to.
    std::vector<bool> used(joints_.size(), false);
    std::set<std::string> reached;
    std::vector<std::string> roots;
    const auto grow = [&](const std::string& root) {
      reached.insert(root);
      std::deque<std::string> front{root};
      while (!front.empty()) {
        const std::string at = front.front();
        front.pop_front();
        for (std::size_t j = 0; j < joints_.size(); ++j) {
          const SdfJoint& joint = joints_[j];
          if (used[j] || joint.type == "gearbox" || (joint.parent != at && joint.child != at))
            continue;
          const std::string& other = joint.parent == at ? joint.child : joint.parent;
          if (reached.contains(other)) continue;
          used[j] = true;
          reached.insert(other);
          front.push_back(other);
          tree_.push_back({j, joint.parent != at});
        }
      }
    };
    if (world) grow("world");
    std::set<std::string> children;
    for (const SdfJoint& joint : joints_) {
      if (joint.type != "gearbox") children.insert(joint.child);
    }
    for (const bool any : {false, true}) {
      for (const std::string& link : link_order_) {
        if (reached.contains(link) || (!any && children.contains(link))) continue;
        roots.push_back(link);
        grow(link);
      }
    }
    if (roots.empty() && !world) root_.fail("sdf", "<link> is missing, expected one or more");
    world = world || roots.size() > 1;
    if (world) {
      LinkDescription ground;
      ground.name = "world", ground.where = robot_.where;
      robot_.links.push_back(ground);
    }
    for (const std::string& link : link_order_) read_link(link);
    if (world) {
      for (const std::string& link : roots) {
        JointDescription joint;
        joint.name = unused(link + (static_.contains(link) ? "_static" : "_free"));
        joint.type = static_.contains(link) ? "fixed" : "floating";
        joint.parent = "world", joint.child = link;
        joint.where = links_.at(link)->where;
        if (joint.type == "fixed") joint.origin = pose_of(at(link));
        robot_.joints.push_back(std::move(joint));
      }
    }
    for (const auto& [j, reversed] : tree_) read_tree_joint(joints_[j], reversed);
    for (std::size_t j = 0; j < joints_.size(); ++j) {
      if (joints_[j].type == "gearbox") {
        read_gearbox(joints_[j]);
      } else if (!used[j]) {
        read_loop(joints_[j]);
      }
    }
    read_own(*(root_.child("world") ? root_.child("world") : &root_));
  }

  const Transform<double>& at(const std::string& link) {
    return resolve(link);
  }

  void read_link(const std::string& link_name) {
    const XmlNode& node = *links_.at(link_name);
    const std::string who = "link " + in_quotes(link_name);
    LinkDescription link;
    link.name = link_name, link.where = node.where;
    if (const XmlNode* inertial = node.child("inertial")) {
      Inertial& I = link.inertial.emplace();
      I.mass = number(*inertial, who, "mass", 1.0);
      if (const XmlNode* pose = inertial->child("pose")) I.origin = pose_text(*pose);
      I.I = {1, 0, 0, 1, 0, 1};  // the standard's default
      if (const XmlNode* m = inertial->child("inertia")) {
        I.I = {number(*m, who, "ixx", 1.0), number(*m, who, "ixy", 0.0),
               number(*m, who, "ixz", 0.0), number(*m, who, "iyy", 1.0),
               number(*m, who, "iyz", 0.0), number(*m, who, "izz", 1.0)};
      }
    } else if (node.find("espalier:massless") == nullptr) {
      link.inertial = Inertial{{}, 1.0, {1, 0, 0, 1, 0, 1}};  // the standard's default
    }
    for (const XmlNode& child : node.children) {
      if (child.name != "visual" && child.name != "collision") continue;
      try {
        (child.name == "visual" ? link.visuals : link.collisions)
            .push_back(read_shape(child, who, link_name));
      } catch (const InvalidModel& error) {
        robot_.findings.push_back({Finding::Severity::warning,
                                   std::string(error.what()) + " (left out)", child.where.text(),
                                   true});
      }
    }
    for (const std::string& f : frame_order_) {
      const Frame& frame = frames_.at(f);
      if (link_of(f, *frame.node) != link_name) continue;
      link.frames.push_back({f, pose_of(resolve(f) * at(link_name).inverse()), frame.node->where});
    }
    robot_.links.push_back(std::move(link));
  }

  ShapeDescription read_shape(const XmlNode& node, const std::string& who,
                              const std::string& link) {
    ShapeDescription shape;
    shape.where = node.where;
    if (const std::string* n = node.find("name"); n && formats::is_name(*n)) shape.name = *n;
    Transform<double> X = Transform<double>::identity();
    if (const XmlNode* pose = node.child("pose")) {
      X = transform(*pose);
      const std::string* to = pose->find("relative_to");
      if (to && !to->empty()) {
        const auto cut = link.rfind("::");
        const std::string scope = cut == std::string::npos ? "" : link.substr(0, cut + 2);
        X = X * resolve(full(*to, scope)) * at(link).inverse();
      } else {
        shape.origin = pose_text(*pose);
      }
      if (to && !to->empty()) shape.origin = pose_of(X);
    }
    const XmlNode* geometry = node.child("geometry");
    if (geometry == nullptr || geometry->children.empty())
      node.fail(who, "<geometry> is empty, expected a shape");
    const XmlNode& g = geometry->children.front();
    const auto v3 = [&](const char* key, const Vec3<double>& fallback) {
      const XmlNode* c = g.child(key);
      return c ? vector(*c, who) : fallback;
    };
    if (g.name == "box") {
      shape.shape = Box{v3("size", {1, 1, 1})};
    } else if (g.name == "sphere") {
      shape.shape = Sphere{number(g, who, "radius", 1.0)};
    } else if (g.name == "cylinder") {
      shape.shape = Cylinder{number(g, who, "radius", 1.0), number(g, who, "length", 1.0)};
    } else if (g.name == "capsule") {
      shape.shape = Capsule{number(g, who, "radius", 0.5), number(g, who, "length", 1.0)};
    } else if (g.name == "ellipsoid") {
      shape.shape = Ellipsoid{v3("radii", {1, 1, 1})};
    } else if (g.name == "plane") {
      Plane plane;
      if (const XmlNode* size = g.child("size")) {
        const auto s = formats::numbers_of(*size, who, "<size>", size->text, 2);
        plane = {s[0], s[1]};
      }
      const Vec3<double> normal = v3("normal", {0, 0, 1});
      if (normal.x != 0.0 || normal.y != 0.0 || !(normal.z > 0.0)) {
        node.fail(who, "normal of <plane> is not z, expected 0 0 1 (turn its pose)");
      }
      shape.shape = plane;
    } else if (g.name == "mesh") {
      const XmlNode* uri = g.child("uri");
      if (uri == nullptr || !formats::is_name(trimmed(uri->text)))
        g.fail(who, "<uri> of <mesh> is missing, expected a file");
      shape.shape = Mesh{trimmed(uri->text), v3("scale", {1, 1, 1})};
    } else if (g.name == "heightmap" && g.child("uri")) {
      HeightField field;
      field.file = trimmed(g.child("uri")->text);
      field.size = v3("size", {1, 1, 1});
      if (!formats::is_name(field.file))
        g.fail(who, "<uri> of <heightmap> is no name, expected a file");
      shape.shape = field;
    } else {
      g.fail(who, "shape is <" + g.name +
                      ">, expected box, sphere, cylinder, capsule, ellipsoid, plane or mesh");
    }
    if (const XmlNode* material = node.child("material")) {
      const XmlNode* diffuse = material->child("diffuse");
      if (diffuse != nullptr) {
        const auto c = formats::numbers_of(*diffuse, who, "<diffuse>", diffuse->text, 0);
        if (c.size() >= 3) shape.color = Color{c[0], c[1], c[2], c.size() > 3 ? c[3] : 1.0};
      }
      if (const std::string* n = material->find("espalier:name"); n && formats::is_name(*n))
        shape.material = *n;
    }
    const XmlNode* at_surface = node.child("surface");
    for (const char* key : {"friction", "ode", "mu"}) {
      if (at_surface != nullptr) at_surface = at_surface->child(key);
    }
    if (at_surface != nullptr)
      shape.friction = formats::numbers_of(*at_surface, who, "<mu>", at_surface->text, 1)[0];
    return shape;
  }

  /// Direction of <axis> or <axis2> in the joint's frame.
  Vec3<double> direction(const SdfJoint& joint, const char* element) {
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
    return at(joint.name).E * transpose_times(resolve(frame).E, v);
  }

  /// Type, axis and parameters, in the joint's frame.
  template <class Part>
  void kind(const SdfJoint& joint, Part& part) {
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

  void read_tree_joint(const SdfJoint& from, bool reversed) {
    const std::string who = "joint " + in_quotes(from.name);
    JointDescription joint;
    joint.name = unused(from.name), joint.where = from.node->where;
    kind(from, joint);
    std::string parent = from.parent, child = from.child;
    if (reversed) {
      if (joint.type == "spherical" || joint.type == "universal") {
        from.node->fail(
            who, "leads towards the root, expected its parent and child the other way round");
      }
      std::swap(parent, child);
      joint.axis = -joint.axis;
    }
    joint.parent = parent;
    const Transform<double> frame = at(from.name), beyond = at(child) * frame.inverse();
    joint.origin = pose_of(frame * at(parent).inverse());
    terms(from, joint);
    const Pose offset = pose_of(beyond);
    double off = 0.0;
    for (int i = 0; i < 3; ++i) off += std::abs(offset.xyz[i]) + std::abs(offset.rpy[i]);
    // A frame to rounding is the link's own.
    if (off < 1e-13 || joint.type == "fixed") {
      if (joint.type == "fixed") joint.origin = pose_of(at(child) * at(parent).inverse());
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

  void terms(const SdfJoint& from, JointDescription& joint) {
    const std::string who = "joint " + in_quotes(from.name);
    if (const std::string* i = from.node->find("espalier:independent"))
      joint.independent = formats::parse_bool(*i);
    if (const std::string* a = from.node->find("espalier:armature")) {
      joint.armature = formats::numbers_of(*from.node, who, "armature", *a, 1)[0];
    }
    const XmlNode* axis = from.node->child("axis");
    if (axis == nullptr || joint.type == "fixed") return;
    if (const XmlNode* limit = axis->child("limit")) {
      const auto read = [&](const char* key, std::optional<double>& out, bool negative_is_none) {
        const XmlNode* node = limit->child(key);
        if (node == nullptr) return;
        const std::string text = trimmed(node->text);
        if (text == "inf" || text == "-inf" || text == "+inf") return;
        const double value =
            formats::numbers_of(*node, who, "<" + std::string(key) + ">", text, 1)[0];
        if (std::abs(value) >= endless || (negative_is_none && value < 0.0)) return;
        out = value;
      };
      if (joint.type != "continuous") {
        read("lower", joint.limits.lower, false), read("upper", joint.limits.upper, false);
      }
      read("effort", joint.limits.effort, true), read("velocity", joint.limits.velocity, true);
    }
    if (const XmlNode* dynamics = axis->child("dynamics")) {
      joint.passive.damping = number(*dynamics, who, "damping", 0.0);
      joint.passive.friction = number(*dynamics, who, "friction", 0.0);
      joint.passive.stiffness = number(*dynamics, who, "spring_stiffness", 0.0);
      joint.passive.rest = number(*dynamics, who, "spring_reference", 0.0);
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

  void read_loop(const SdfJoint& from) {
    LoopDescription loop;
    loop.name = unused(from.name), loop.where = from.node->where;
    kind(from, loop);
    loop.predecessor = from.parent, loop.successor = from.child;
    const Transform<double> frame = at(from.name);
    loop.predecessor_origin = pose_of(frame * at(from.parent).inverse());
    loop.successor_origin = pose_of(frame * at(from.child).inverse());
    if (loop.type == "continuous") loop.type = "revolute";
    robot_.loops.push_back(std::move(loop));
  }

  /// theta2 = -ratio theta1, from the reference body to the child about axis2 and to the parent
  /// about axis.
  void read_gearbox(const SdfJoint& from) {
    const std::string who = "joint " + in_quotes(from.name);
    const XmlNode* reference = from.node->child("gearbox_reference_body");
    if (reference == nullptr)
      from.node->fail(who, "<gearbox_reference_body> is missing, expected a link");
    const std::string body = link_of(full(trimmed(reference->text), from.scope), *reference);
    const double ratio = number(*from.node, who, "gearbox_ratio", 1.0);
    const auto turning = [&](const std::string& link,
                             const char* axis) -> std::pair<std::string, double> {
      for (const auto& [j, reversed] : tree_) {
        const SdfJoint& joint = joints_[j];
        const std::string &parent = reversed ? joint.child : joint.parent,
                          &child = reversed ? joint.parent : joint.child;
        if (parent != body || child != link ||
            (joint.type != "revolute" && joint.type != "continuous"))
          continue;
        const Vec3<double> along = transpose_times(at(joint.name).E, direction(joint, "axis"));
        const Vec3<double> wanted = transpose_times(at(from.name).E, direction(from, axis));
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

  /// What Espalier wrote of things that SDF cannot say.
  void read_own(const XmlNode& within) {
    for (const XmlNode& node : within.children) {
      if (node.name == "model") read_own(node);
      const auto attribute = [&](const char* key) {
        const std::string* value = node.find(key);
        if (value == nullptr || !formats::is_name(*value))
          node.fail(node.name, "attribute " + in_quotes(key) + " is missing, expected a name");
        return *value;
      };
      const auto parameters = [&] {
        Parameters out;
        for (const XmlNode& p : node.children) {
          const std::string *key = p.find("name"), *value = p.find("value");
          if (p.name == "espalier:parameter" && key && value) {
            out[*key] = formats::numbers_of(p, node.name, "parameter", *value, 0);
          }
        }
        return out;
      };
      if (node.name == "espalier:law") {
        LawDescription law;
        law.name = attribute("name"), law.type = attribute("type"), law.where = node.where;
        for (const XmlNode& j : node.children) {
          if (j.name == "espalier:joint" && j.find("name")) law.joints.push_back(*j.find("name"));
        }
        law.parameters = parameters();
        robot_.laws.push_back(std::move(law));
      } else if (node.name == "espalier:coupling") {
        CouplingDescription c;
        c.name = attribute("name"), c.where = node.where;
        c.predecessor = attribute("predecessor"), c.successor = attribute("successor");
        c.ratio = formats::numbers_of(node, node.name, "ratio", attribute("ratio"), 1)[0];
        robot_.couplings.push_back(std::move(c));
      } else if (node.name == "espalier:loop") {
        LoopDescription loop;
        loop.name = attribute("name"), loop.type = attribute("type"), loop.where = node.where;
        loop.predecessor = attribute("predecessor"), loop.successor = attribute("successor");
        const auto pose = [&](const char* key) {
          const auto v = formats::numbers_of(node, node.name, key, attribute(key), 6);
          return Pose{{v[0], v[1], v[2]}, {v[3], v[4], v[5]}};
        };
        loop.predecessor_origin = pose("predecessor_pose");
        loop.successor_origin = pose("successor_pose");
        const auto axis = formats::numbers_of(node, node.name, "axis", attribute("axis"), 3);
        loop.axis = {axis[0], axis[1], axis[2]};
        loop.parameters = parameters();
        robot_.loops.push_back(std::move(loop));
      } else if (node.name == "espalier:mimic") {
        for (JointDescription& joint : robot_.joints) {
          if (joint.name != attribute("joint")) continue;
          const auto v = formats::numbers_of(node, node.name, "law", attribute("law"), 2);
          joint.mimic = Mimic{attribute("of"), v[0], v[1]};
        }
      }
    }
  }

  // --- pieces -----------------------------------------------------------------------------------

  static std::string trimmed(const std::string& text) {
    const auto first = text.find_first_not_of(" \t\r\n");
    if (first == std::string::npos) return "";
    return text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
  }

  std::string name(const XmlNode& node, const std::string& what) const {
    const std::string* value = node.find("name");
    if (value == nullptr || !formats::is_name(*value))
      node.fail(what, "attribute 'name' is missing, expected a name");
    if (trimmed(*value) != *value) {  // <parent> and <child> could not refer to it
      node.fail(what, "name is " + formats::in_quotes(*value) +
                          ", expected one without white space around it");
    }
    return *value;
  }

  std::string unused(const std::string& wanted) {
    std::string unique = wanted;
    while (!names_.insert(unique).second) unique += "_";
    return unique;
  }

  double number(const XmlNode& parent, const std::string& who, const char* child,
                double fallback) const {
    const XmlNode* node = parent.child(child);
    if (node == nullptr) return fallback;
    return formats::numbers_of(*node, who, "<" + std::string(child) + ">", node->text, 1)[0];
  }

  Vec3<double> vector(const XmlNode& node, const std::string& who) const {
    const auto v = formats::numbers_of(node, who, "<" + node.name + ">", node.text, 3);
    return {v[0], v[1], v[2]};
  }

  /// The numbers of a pose as they are written, if they are angles in radians.
  Pose pose_text(const XmlNode& node) const {
    const std::string* format = node.find("rotation_format");
    const bool quaternion = format != nullptr && *format == "quat_xyzw";
    if (trimmed(node.text).empty()) return {};
    const auto v = formats::numbers_of(node, "pose", "<pose>", node.text, quaternion ? 7 : 6);
    if (quaternion) {
      const double norm = std::hypot(std::hypot(v[3], v[4], v[5]), v[6]);
      if (!(norm > 1e-12)) node.fail("pose", "quaternion is zero, expected one of length 1");
      const double q[4] = {v[3] / norm, v[4] / norm, v[5] / norm, v[6] / norm};
      return pose_of({quaternion_to_E(q), {v[0], v[1], v[2]}});
    }
    const std::string* degrees = node.find("degrees");
    const double k =
        degrees && formats::parse_bool(*degrees).value_or(false) ? std::numbers::pi / 180.0 : 1.0;
    return {{v[0], v[1], v[2]}, {k * v[3], k * v[4], k * v[5]}};
  }
  Transform<double> transform(const XmlNode& node) const { return pose_text(node).transform(); }

  void lose(const XmlNode& node, const std::string& what, bool changes) {
    robot_.findings.push_back({changes ? Finding::Severity::error : Finding::Severity::warning,
                               node.name + " (" + node.where.text() + "): " + what +
                                   " has no counterpart" +
                                   (changes ? ", expected a file without it (the robot would be "
                                              "another one; --lenient leaves it out)"
                                            : " (left out)"),
                               node.where.text(), changes});
  }

  const std::string& origin_;
  XmlNode root_;
  Description robot_;
  std::map<std::string, Frame> frames_;
  std::map<std::string, std::string> alias_;  ///< names of nested models -> their frames
  std::map<std::string, const XmlNode*> links_;
  std::vector<std::string> link_order_, frame_order_;
  std::vector<SdfJoint> joints_;
  std::vector<std::pair<std::size_t, bool>>
      tree_;  ///< joints of the tree, and whether turned round
  std::set<std::string> static_, names_;
};

}  // namespace

Description SdfFormat::read(std::string_view text, const std::string& origin,
                            const SubMechanisms& /*parts*/) const {
  return SdfReader(origin).read(text);
}

}  // namespace espalier
