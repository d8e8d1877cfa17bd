// Reads MJCF: bodies, their joints, masses, geoms and sites.

#include <algorithm>
#include <cmath>
#include <numbers>

#include "espalier/kernel/linear_algebra/decompositions.hpp"
#include "formats/mjcf/reader.hpp"
#include "formats/text.hpp"

namespace espalier::mjcf {

using formats::in_quotes;

namespace {

Transform<double> shifted(const Vec3<double>& by) { return {Mat3<double>::identity(), by}; }

bool is_zero(const Vec3<double>& v) { return v.x == 0.0 && v.y == 0.0 && v.z == 0.0; }

}  // namespace

void Reader::read_world(const XmlNode& node) {
  const std::string* childclass = node.find("childclass");
  read_children(node, 0, childclass ? *childclass : "", Transform<double>::identity());
}

/// What stands in a body or in a frame of it.
void Reader::read_children(const XmlNode& node, int body, const std::string& childclass,
                           const Transform<double>& frame) {
  for (const XmlNode& child : node.children) {
    if (child.name == "body") {
      read_body(child, body, childclass, frame);
    } else if (child.name == "geom") {
      read_geom_of(child, body, childclass, frame);
    } else if (child.name == "site") {
      read_site(child, body, childclass, frame);
    } else if (child.name == "frame") {
      const Element e = element(child, "frame", childclass);
      const std::string* own = child.find("childclass");
      read_children(child, body, own ? *own : childclass, e.frame() * frame);
    } else if (child.name == "composite" || child.name == "flexcomp" || child.name == "replicate" ||
               child.name == "attach" || child.name == "plugin") {
      lose(child, "<" + child.name + "> has no counterpart", true);
    } else if (node.name == "frame" &&
               (child.name == "joint" || child.name == "freejoint" || child.name == "inertial")) {
      lose(child, "<" + child.name + "> stands in a <frame>", true);
    }
  }
}

/// A frame in that of a body, whatever the file's coordinates are.
Transform<double> Reader::placed(const Element& e, int body) const {
  return compiler_.global ? e.frame() * bodies_[body].X.inverse() : e.frame();
}

void Reader::read_body(const XmlNode& node, int parent, const std::string& inherited,
                       const Transform<double>& frame) {
  const Element e(node, "body", compiler_, nullptr);
  const std::string* own_class = node.find("childclass");
  const std::string childclass = own_class ? *own_class : inherited;
  const int number = static_cast<int>(bodies_.size());
  if (compiler_.global && !e.has("pos")) {
    e.fail("attribute 'pos' is missing, expected it where coordinates are global");
  }
  ReadBody body;
  body.parent = parent;
  const bool named = e.has("name") && !e.text("name").empty();
  if (named && body_number_.contains(e.name("name"))) {
    e.fail("name is " + in_quotes(e.name("name")) + ", which is given twice, expected it once");
  }
  body.link =
      named ? e.name("name") : unused("body" + std::to_string(number), link_names_, given_links_);
  link_names_.insert(body.link);
  const Transform<double> placement = placed(e, parent) * frame;
  body.X = placement * bodies_[parent].X;
  using FromGeom = CompilerOptions::FromGeom;
  const XmlNode* inertial = node.child("inertial");
  body.by_geoms = compiler_.inertia_from_geom == FromGeom::yes ||
                  (compiler_.inertia_from_geom == FromGeom::automatic && inertial == nullptr);
  bodies_.push_back(body);
  body_number_[body.link] = number;
  if (e.number("gravcomp", 0.0) != 0.0) {
    lose(node, "attribute 'gravcomp' is not 0: gravity would be compensated", true);
  }
  if (e.boolean("mocap", false)) {
    lose(node, "attribute 'mocap' is true: the body is fixed where it is", false);
  }
  read_joints(node, number, childclass, placement);
  LinkDescription link;
  link.name = body.link, link.where = node.where;
  bodies_[number].index = robot_.links.size();
  robot_.links.push_back(std::move(link));
  if (inertial != nullptr) read_inertial(*inertial, number);
  read_children(node, number, childclass, Transform<double>::identity());
  if (body.by_geoms && bodies_[number].inertia.m > 0.0) {  // a body without geoms keeps its own
    robot_.links[bodies_[number].index].inertial = inertial_of(bodies_[number].inertia);
  }
}

/// One joint after the other, each about its own point of the body; the last one's link is the body
/// where it turns about the body's origin.
void Reader::read_joints(const XmlNode& node, int body, const std::string& childclass,
                         const Transform<double>& placement) {
  const ReadBody& own = bodies_[body];
  std::vector<const XmlNode*> nodes;
  for (const XmlNode& child : node.children) {
    if (child.name == "joint" || child.name == "freejoint") nodes.push_back(&child);
  }
  std::string parent = bodies_[own.parent].link;
  Transform<double> to_body = placement;  // from the link that the next joint hangs on
  const auto fix = [&] {
    JointDescription weld;
    weld.name = unused(own.link, joint_names_, given_joints_);
    weld.type = "fixed", weld.parent = parent, weld.child = own.link;
    weld.origin = pose_of(to_body);
    weld.where = node.where;
    robot_.joints.push_back(std::move(weld));
  };
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const XmlNode& at = *nodes[i];
    const bool is_free = at.name == "freejoint";
    const Element e =
        is_free ? Element(at, "freejoint", compiler_, nullptr) : element(at, "joint", childclass);
    ReadJoint read;
    using Type = ReadJoint::Type;
    const std::string word =
        is_free ? "free" : e.word("type", "hinge", {"hinge", "slide", "ball", "free"});
    read.type = word == "hinge"   ? Type::hinge
                : word == "slide" ? Type::slide
                : word == "ball"  ? Type::ball
                                  : Type::free;
    const bool named = e.has("name") && !e.text("name").empty();
    if (named && joint_number_.contains(e.name("name"))) {
      e.fail("name is " + in_quotes(e.name("name")) + ", which is given twice, expected it once");
    }
    read.name = named ? e.name("name") : unused(own.link + "_joint", joint_names_, given_joints_);
    joint_names_.insert(read.name);
    read.body = body, read.index = robot_.joints.size();

    JointDescription joint;
    joint.name = read.name, joint.where = at.where, joint.parent = parent;
    Vec3<double> p{0, 0, 0}, axis = e.vector("axis", {0, 0, 1});
    if (read.type != Type::free) p = e.vector("pos", p);
    if (compiler_.global) {
      p = own.X.E * (p - own.X.r);
      axis = own.X.E * axis;
    }
    const double length = std::sqrt(dot(axis, axis));
    const bool has_axis = read.type == Type::hinge || read.type == Type::slide;
    if (has_axis && !(length > 1e-14)) e.fail("attribute 'axis' is zero, expected a direction");
    if (has_axis) axis = scale(1.0 / length, axis);
    Transform<double> origin = shifted(p) * to_body;
    if (read.type == Type::hinge) {
      read.reference = e.angle("ref", 0.0);
      joint.type = "revolute";
      origin = Transform<double>{turned_about(axis, -read.reference), {0, 0, 0}} * origin;
    } else if (read.type == Type::slide) {
      read.reference = e.number("ref", 0.0);
      joint.type = "prismatic";
      origin = shifted(scale(-read.reference, axis)) * origin;
    } else {
      joint.type = read.type == Type::ball ? "spherical" : "floating";
    }
    if (has_axis) joint.axis = axis;
    if (read.type == Type::free) {
      if (own.parent != 0 || nodes.size() > 1) {
        e.fail("joint is free, expected that on a body of the world and alone");
      }
      // Its position is the body's in the world, whatever the body's own attributes say.
      joint.origin = {};
      p = {0, 0, 0};
    } else {
      joint.origin = pose_of(origin);
    }
    read.axis = transpose_times(own.X.E, axis);
    read_joint_terms(e, read.type, joint);

    const bool last = i + 1 == nodes.size() && is_zero(p);
    joint.child = last ? own.link : unused(read.name + "_link", link_names_, given_links_);
    if (!last) {
      LinkDescription between;
      between.name = joint.child, between.where = at.where;
      robot_.links.push_back(std::move(between));
    }
    parent = joint.child;
    to_body = shifted(-p);
    robot_.joints.push_back(std::move(joint));
    joint_number_[read.name] = joints_.size();
    joints_.push_back(read);
    if (i + 1 == nodes.size() && !last) fix();
  }
  if (nodes.empty()) fix();
}

/// A coefficient of stiffness or damping, zero where it is not given. Newer files may give those of
/// higher order after it.
double Reader::coefficient(const Element& e, std::string_view attribute) {
  if (!e.has(attribute)) return 0.0;
  const std::vector<double> values = e.numbers(attribute, 0);
  if (values.empty()) e.fail("attribute " + in_quotes(attribute) + " is empty, expected a number");
  if (std::any_of(values.begin() + 1, values.end(), [](double x) { return x != 0.0; })) {
    lose(e.node(),
         "attribute " + in_quotes(attribute) +
             " has coefficients of higher order, which have no "
             "counterpart",
         true);
  }
  return values[0];
}

/// Limits, passive terms, armature.
void Reader::read_joint_terms(const Element& e, ReadJoint::Type type, JointDescription& joint) {
  using Type = ReadJoint::Type;
  const bool single = type == Type::hinge || type == Type::slide;
  const bool angle = type == Type::hinge;
  if (e.has("range")) {
    const auto range = e.numbers("range", 2);
    const std::string limited = e.word("limited", "auto", {"auto", "true", "false"});
    const bool is_limited = limited == "true" || (limited == "auto" && compiler_.autolimits &&
                                                  (range[0] != 0.0 || range[1] != 0.0));
    if (is_limited && !single) {
      if (type == Type::ball) lose(e.node(), "range of a ball joint has no counterpart", false);
    } else if (is_limited) {
      const double k = angle && compiler_.degrees ? std::numbers::pi / 180.0 : 1.0;
      joint.limits.lower = range[0] * k, joint.limits.upper = range[1] * k;
    }
  }
  if (const auto effort = e.bounds("actuatorfrcrange", "actuatorfrclimited")) {
    joint.limits.effort = std::max(std::abs(effort->first), std::abs(effort->second));
  }
  joint.armature = e.number("armature", 0.0);
  if (type == Type::free && joint.armature != 0.0) {
    lose(e.node(), "attribute 'armature' of a free joint is not 0", true);
    joint.armature = 0.0;
  }
  joint.passive.damping = coefficient(e, "damping");
  joint.passive.friction = e.number("frictionloss", 0.0);
  const double stiffness = coefficient(e, "stiffness");
  if (single) {
    joint.passive.stiffness = stiffness;
    joint.passive.rest = e.angle("springref", 0.0, angle);
  } else if (stiffness != 0.0) {
    lose(e.node(), "attribute 'stiffness' of a joint of several rates has no counterpart", true);
  }
  if (e.has("springdamper")) {
    const auto values = e.numbers("springdamper", 2);
    if (values[0] != 0.0 || values[1] != 0.0) {
      lose(e.node(), "attribute 'springdamper' makes MuJoCo choose stiffness and damping", true);
    }
  }
}

void Reader::read_inertial(const XmlNode& node, int body) {
  const Element e(node, "inertial of body " + in_quotes(bodies_[body].link), compiler_, nullptr);
  Inertial inertial;
  inertial.mass = e.numbers("mass", 1)[0];
  inertial.origin = pose_of(placed(e, body));
  if (e.has("fullinertia")) {
    const auto v = e.numbers("fullinertia", 6);
    inertial.I = {v[0], v[3], v[4], v[1], v[5], v[2]};
  } else if (e.has("diaginertia")) {
    const auto v = e.numbers("diaginertia", 3);
    inertial.I = {v[0], 0, 0, v[1], 0, v[2]};
  }
  robot_.links[bodies_[body].index].inertial = inertial;
}

void Reader::read_geom_of(const XmlNode& node, int body, const std::string& childclass,
                          const Transform<double>& frame) {
  const Element e = element(node, "geom", childclass);
  Geom geom = read_geom(e, assets_);
  Transform<double> X = geom.shape.origin.transform();
  if (compiler_.global) X = X * bodies_[body].X.inverse();
  geom.shape.origin = pose_of(X * frame);
  LinkDescription& link = robot_.links[bodies_[body].index];
  if (geom.visual) link.visuals.push_back(geom.shape);
  if (geom.collision) link.collisions.push_back(geom.shape);
  geoms_.push_back(touching_geom(e, link.name, body));
  if (geom.collision && e.number("margin", 0.0) > e.number("gap", 0.0)) {
    if (with_margin_++ == 0) first_margin_ = &node;
  }
  if (!bodies_[body].by_geoms || geom.group < compiler_.first_group ||
      geom.group > compiler_.last_group) {
    return;
  }
  std::string doubt;
  bodies_[body].inertia += inertia_of(e, geom, options_, origin_, doubt);
  if (!doubt.empty()) tell(e.node(), doubt);
}

void Reader::read_site(const XmlNode& node, int body, const std::string& childclass,
                       const Transform<double>& frame) {
  const Element e = element(node, "site", childclass);
  Transform<double> X = placed(e, body);
  if (e.has("fromto")) {
    const auto v = e.numbers("fromto", 6);
    const Vec3<double> from{v[0], v[1], v[2]}, to{v[3], v[4], v[5]};
    if (is_zero(from - to)) e.fail("attribute 'fromto' has no length, expected two points");
    X = {z_onto(from - to), scale(0.5, from + to)};
  }
  X = X * frame;
  const std::string name = e.has("name") && !e.text("name").empty()
                               ? e.name("name")
                               : "site" + std::to_string(sites_.size());
  if (!sites_.emplace(name, Site{body, X}).second) {
    e.fail("name is " + in_quotes(name) + ", which is given twice, expected it once");
  }
  robot_.links[bodies_[body].index].frames.push_back({name, pose_of(X), node.where});
}

/// What the compiler options do to the masses of all bodies.
void Reader::settle_masses() {
  double total = 0.0;
  for (std::size_t b = 1; b < bodies_.size(); ++b) {
    auto& inertial = robot_.links[bodies_[b].index].inertial;
    const bool bounded = compiler_.bound_mass > 0.0 || compiler_.bound_inertia > 0.0;
    if (!inertial && bounded) inertial = Inertial{};
    if (!inertial) continue;
    inertial->mass = std::max(inertial->mass, compiler_.bound_mass);
    total += inertial->mass;
    if (compiler_.bound_inertia <= 0.0 && !compiler_.balance_inertia) continue;
    Sym3<double>& I = inertial->I;
    Eigen::Matrix3d M;
    M << I.xx, I.xy, I.xz, I.xy, I.yy, I.yz, I.xz, I.yz, I.zz;
    const detail::SymmetricEigen<3> principal = detail::eigen_of_symmetric(M);
    Eigen::Vector3d moments = principal.values.cwiseMax(compiler_.bound_inertia);
    if (compiler_.balance_inertia && moments[0] + moments[1] < moments[2]) {
      moments.setConstant(moments.mean());
    }
    M = principal.vectors * moments.asDiagonal() * principal.vectors.transpose();
    I = {M(0, 0), M(0, 1), M(0, 2), M(1, 1), M(1, 2), M(2, 2)};
  }
  if (!(compiler_.total_mass > 0.0) || total <= 0.0) return;
  const double k = compiler_.total_mass / total;
  for (std::size_t b = 1; b < bodies_.size(); ++b) {
    auto& inertial = robot_.links[bodies_[b].index].inertial;
    if (!inertial) continue;
    inertial->mass *= k;
    Sym3<double>& I = inertial->I;
    I = {k * I.xx, k * I.xy, k * I.xz, k * I.yy, k * I.yz, k * I.zz};
  }
}

}  // namespace espalier::mjcf
