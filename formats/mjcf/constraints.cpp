// Reads MJCF: tendons and equality constraints.

#include <algorithm>
#include <cmath>

#include "formats/mjcf/reader.hpp"
#include "formats/text.hpp"

namespace espalier::mjcf {

using formats::in_quotes;

namespace {

Transform<double> shifted(const Vec3<double>& by) { return {Mat3<double>::identity(), by}; }

bool parallel(const Vec3<double>& a, const Vec3<double>& b) {
  const Vec3<double> c = cross(a, b);
  return dot(c, c) < 1e-12;  // unit vectors, to the rounding of figures in files
}

bool single(ReadJoint::Type type) {
  return type == ReadJoint::Type::hinge || type == ReadJoint::Type::slide;
}

}  // namespace

// --- tendons ------------------------------------------------------------------------------------

void Reader::read_tendons(const XmlNode& node) {
  for (const XmlNode& child : node.children) {
    const Element e = element(child, "tendon", "");
    const std::string name = e.text("name");
    bool active = false;
    for (const char* term : {"stiffness", "damping", "frictionloss", "armature"}) {
      active =
          active || (e.has(term) && e.text(term).find_first_not_of("0. ") != std::string::npos);
    }
    if (child.name == "fixed") {
      FixedTendon tendon;
      for (const XmlNode& part : child.children) {
        if (part.name != "joint") continue;
        const Element j(part, e.who(), compiler_, nullptr);
        const ReadJoint& joint = joint_named(j, j.name("joint"));
        if (!single(joint.type)) j.fail("joint is neither hinge nor slide, expected such");
        tendon.coefficients[joint.name] += j.number("coef", 1.0);
      }
      tendons_[name] = std::move(tendon);
    } else if (child.name == "spatial") {
      std::vector<std::string> sites;
      bool straight = true;
      for (const XmlNode& part : child.children) {
        const std::string* site = part.name == "site" ? part.find("site") : nullptr;
        straight = straight && site != nullptr;
        if (site) sites.push_back(*site);
      }
      if (straight && sites.size() == 2 && sites_.contains(sites[0]) && sites_.contains(sites[1])) {
        rods_[name] = {sites[0], sites[1]};
      } else {
        lose(child, "spatial tendon has no counterpart", false);
      }
    } else {
      lose(child, "<" + child.name + "> of <tendon> has no counterpart", false);
    }
    if (e.bounds("range", "limited")) lose(child, "range of a tendon has no counterpart", false);
    if (active) lose(child, "tendon has stiffness, damping, friction or armature", true);
  }
}

// --- equalities ---------------------------------------------------------------------------------

void Reader::read_equalities(const XmlNode& node) {
  XmlNode alive = node;
  std::erase_if(alive.children, [&](const XmlNode& child) {
    const Element e = element(child, "equality", "");
    const std::string* name = child.find("name");
    return !e.boolean("active", true) || (name != nullptr && is_restored(*name));
  });
  read_connects(alive);
  for (const XmlNode& child : alive.children) {
    const Element e = element(child, "equality", "");
    if (child.name == "connect") continue;
    if (child.name == "weld") {
      read_weld(e);
    } else if (child.name == "joint") {
      read_joint_equality(e);
    } else if (child.name == "tendon") {
      read_tendon_equality(e);
    } else {
      lose(child, "<" + child.name + "> of <equality> has no counterpart", true);
    }
  }
}

/// Joints on the way between two bodies, without those that both hang on.
std::vector<int> Reader::path_joints(int first, int second) const {
  const auto ancestors = [&](int body) {
    std::vector<int> all;
    for (; body >= 0; body = bodies_[body].parent) all.push_back(body);
    return all;
  };
  const std::vector<int> a = ancestors(first), b = ancestors(second);
  std::vector<int> joints;
  for (std::size_t j = 0; j < joints_.size(); ++j) {
    const bool on_a = std::find(a.begin(), a.end(), joints_[j].body) != a.end();
    const bool on_b = std::find(b.begin(), b.end(), joints_[j].body) != b.end();
    if (on_a != on_b) joints.push_back(static_cast<int>(j));
  }
  return joints;
}

/// The axis that all joints of a loop turn about or slide across, if there is one: then a ball that
/// closes the loop is a pin.
std::optional<Vec3<double>> Reader::common_axis(int first, int second) const {
  std::optional<Vec3<double>> axis;
  const std::vector<int> path = path_joints(first, second);
  for (const int j : path) {
    if (joints_[j].type != ReadJoint::Type::hinge) continue;
    if (axis && !parallel(*axis, joints_[j].axis)) return std::nullopt;
    axis = joints_[j].axis;
  }
  for (const int j : path) {
    if (!single(joints_[j].type)) return std::nullopt;
    const bool slides = joints_[j].type == ReadJoint::Type::slide;
    if (axis && slides && std::abs(dot(*axis, joints_[j].axis)) > 1e-6) return std::nullopt;
  }
  return axis;
}

/// A connect is a ball; two of them between the same bodies are a hinge through both points, and
/// one whose loop is planar is the pin that it is.
void Reader::read_connects(const XmlNode& equality) {
  struct Connect {
    const XmlNode* node;
    int first, second;
    Transform<double> at;  ///< from the world, axes of the first body
    bool used = false;
  };
  std::vector<Connect> connects;
  for (const XmlNode& child : equality.children) {
    if (child.name != "connect") continue;
    const Element e = element(child, "connect", "");
    Connect c{&child, 0, 0, Transform<double>::identity()};
    if (e.has("site1")) {
      const auto find = [&](std::string_view attribute) {
        const auto site = sites_.find(e.name(attribute));
        if (site == sites_.end())
          e.fail("site " + in_quotes(e.name(attribute)) + " is unknown, expected one of a body");
        return site->second;
      };
      const Site a = find("site1"), b = find("site2");
      c.first = a.body, c.second = b.body;
      c.at = shifted(a.X.r) * bodies_[a.body].X;
      const Vec3<double> there = (shifted(b.X.r) * bodies_[b.body].X).r;
      const Vec3<double> gap = there - c.at.r;
      if (dot(gap, gap) > 1e-12) {
        // The sites meet in another position than the reference one: two frames, not one.
        LoopDescription loop;
        loop.name = unused(e.has("name") ? e.name("name") : "connect", constraint_names_);
        loop.type = "spherical", loop.where = child.where;
        loop.predecessor = bodies_[a.body].link, loop.successor = bodies_[b.body].link;
        loop.predecessor_origin.xyz = a.X.r, loop.successor_origin.xyz = b.X.r;
        robot_.loops.push_back(std::move(loop));
        continue;
      }
    } else {
      c.first = body_named(e, "body1"), c.second = body_named(e, "body2");
      const Vec3<double> anchor = e.vector("anchor", {0, 0, 0});
      c.at = shifted(anchor) * bodies_[c.first].X;
    }
    if (c.first == c.second) e.fail("bodies are one and the same, expected two");
    connects.push_back(c);
  }
  for (std::size_t i = 0; i < connects.size(); ++i) {
    Connect& c = connects[i];
    if (c.used) continue;
    std::vector<Connect*> same{&c};
    for (std::size_t k = i + 1; k < connects.size(); ++k) {
      Connect& d = connects[k];
      if ((d.first == c.first && d.second == c.second) ||
          (d.first == c.second && d.second == c.first)) {
        same.push_back(&d);
      }
    }
    const Element e = element(*c.node, "connect", "");
    LoopDescription loop;
    loop.where = c.node->where;
    loop.name = unused(e.has("name") && !e.text("name").empty() ? e.name("name") : "connect",
                       constraint_names_);
    loop.type = "spherical";
    loop.predecessor = bodies_[c.first].link, loop.successor = bodies_[c.second].link;
    std::optional<Vec3<double>> axis;
    if (same.size() == 2) {
      const Vec3<double> line = same[1]->at.r - c.at.r;
      const double length = std::sqrt(dot(line, line));
      if (length > 1e-9) axis = scale(1.0 / length, line), same[1]->used = true;
    } else if (same.size() == 1) {
      axis = common_axis(c.first, c.second);
    }
    if (axis) loop.type = "revolute", loop.axis = bodies_[c.first].X.E * *axis;
    loop.predecessor_origin = pose_of(c.at * bodies_[c.first].X.inverse());
    loop.predecessor_origin.rpy = {0, 0, 0};
    const Transform<double> there = c.at * bodies_[c.second].X.inverse();
    loop.successor_origin = pose_of(axis ? there : shifted(there.r));
    robot_.loops.push_back(std::move(loop));
  }
}

void Reader::read_weld(const Element& e) {
  LoopDescription loop;
  loop.where = e.node().where;
  loop.type = "fixed";
  int first = 0, second = 0;
  if (e.has("site1")) {
    const auto a = sites_.find(e.name("site1")), b = sites_.find(e.name("site2"));
    if (a == sites_.end() || b == sites_.end())
      e.fail("a site is unknown, expected sites of bodies");
    first = a->second.body, second = b->second.body;
    loop.predecessor_origin = pose_of(a->second.X), loop.successor_origin = pose_of(b->second.X);
  } else {
    first = body_named(e, "body1"), second = body_named(e, "body2");
    Transform<double> relative = bodies_[second].X * bodies_[first].X.inverse();
    if (e.has("relpose")) {
      const auto v = e.numbers("relpose", 7);
      const double norm = std::hypot(std::hypot(v[3], v[4], v[5]), v[6]);
      if (norm > 1e-14) {  // a quaternion of zeros means: as they are
        const double q[4] = {v[4] / norm, v[5] / norm, v[6] / norm, v[3] / norm};
        relative = {quaternion_to_E(q), {v[0], v[1], v[2]}};
      }
    }
    loop.predecessor_origin = pose_of(relative);
  }
  if (first == second) e.fail("bodies are one and the same, expected two");
  loop.name =
      unused(e.has("name") && !e.text("name").empty() ? e.name("name") : "weld", constraint_names_);
  loop.predecessor = bodies_[first].link, loop.successor = bodies_[second].link;
  robot_.loops.push_back(std::move(loop));
}

/// A joint that an equality holds still.
void Reader::lock(const Element& e, const ReadJoint& joint, double position) {
  if (!single(joint.type)) e.fail("joint is neither hinge nor slide, expected such");
  JointDescription& d = robot_.joints[joint.index];
  const Transform<double> moved = joint.type == ReadJoint::Type::hinge
                                      ? Transform<double>{turned_about(d.axis, position), {0, 0, 0}}
                                      : shifted(scale(position, d.axis));
  d.origin = pose_of(moved * d.origin.transform());
  d.type = "fixed", d.limits = {}, d.passive = {}, d.armature = 0.0;
  locked_[joint.name] = position;
}

void Reader::read_joint_equality(const Element& e) {
  const ReadJoint& first = joint_named(e, e.name("joint1"));
  std::vector<double> polynomial{0, 1, 0, 0, 0};
  if (e.has("polycoef")) {
    const auto given = e.numbers("polycoef", 0);
    if (given.size() > 5)
      e.fail("attribute 'polycoef' has more than 5 numbers, expected at most 5");
    std::copy(given.begin(), given.end(), polynomial.begin());
  }
  if (!e.has("joint2")) return lock(e, first, first.reference + polynomial[0]);
  const ReadJoint& second = joint_named(e, e.name("joint2"));
  if (!single(first.type) || !single(second.type)) {
    e.fail("joints are not hinges or slides, expected such");
  }
  if (first.name == second.name) e.fail("joints are one and the same, expected two");
  const bool linear = polynomial[2] == 0.0 && polynomial[3] == 0.0 && polynomial[4] == 0.0;
  if (linear && polynomial[1] == 0.0) return lock(e, first, first.reference + polynomial[0]);
  if (linear) return mimic(e, first, second, polynomial);
  LawDescription law;
  law.where = e.node().where;
  law.name = unused(e.has("name") && !e.text("name").empty() ? e.name("name") : first.name,
                    constraint_names_);
  law.type = "polynomial";
  law.joints = {second.name, first.name};
  law.parameters = {{"coefficients", polynomial}, {"at", {second.reference, first.reference}}};
  robot_.laws.push_back(std::move(law));
}

/// q1 - ref1 = a0 + a1 (q2 - ref2).
void Reader::mimic(const Element& e, const ReadJoint& dependent, const ReadJoint& leader,
                   const std::vector<double>& a) {
  JointDescription &first = robot_.joints[dependent.index], &second = robot_.joints[leader.index];
  const double offset = dependent.reference + a[0] - a[1] * leader.reference;
  if (!first.mimic) {
    first.mimic = Mimic{leader.name, a[1], offset};
  } else if (!second.mimic) {
    second.mimic = Mimic{dependent.name, 1.0 / a[1], -offset / a[1]};
  } else {
    LawDescription law;
    law.where = e.node().where;
    law.name = unused(dependent.name, constraint_names_);
    law.type = "weighted_sum_2";
    law.joints = {dependent.name, leader.name};
    law.parameters = {{"weights", {1.0, -a[1]}}, {"sum", {offset}}};
    robot_.laws.push_back(std::move(law));
  }
}

/// A Description's joints mimic joints that mimic none: chains are followed to their end.
void Reader::resolve_mimics() {
  for (JointDescription& joint : robot_.joints) {
    if (!joint.mimic) continue;
    for (std::size_t steps = 0;; ++steps) {
      const auto found = joint_number_.find(joint.mimic->joint);
      const JointDescription& leader = robot_.joints[joints_[found->second].index];
      if (leader.type == "fixed") break;  // locked: validate() says what is wrong
      if (!leader.mimic) break;
      if (steps > joints_.size() || leader.mimic->joint == joint.name) {
        // A circle of equalities: this one of them as a law.
        LawDescription law;
        law.where = joint.where;
        law.name = unused(joint.name, constraint_names_);
        law.type = "weighted_sum_2";
        law.joints = {joint.name, joint.mimic->joint};
        law.parameters = {{"weights", {1.0, -joint.mimic->multiplier}},
                          {"sum", {joint.mimic->offset}}};
        robot_.laws.push_back(std::move(law));
        joint.mimic.reset();
        break;
      }
      joint.mimic = Mimic{leader.mimic->joint, joint.mimic->multiplier * leader.mimic->multiplier,
                          joint.mimic->offset + joint.mimic->multiplier * leader.mimic->offset};
    }
  }
}

void Reader::read_tendon_equality(const Element& e) {
  const std::string name = e.name("tendon1");
  std::vector<double> polynomial{0, 1, 0, 0, 0};
  if (e.has("polycoef")) {
    const auto given = e.numbers("polycoef", 0);
    if (given.size() > 5)
      e.fail("attribute 'polycoef' has more than 5 numbers, expected at most 5");
    std::copy(given.begin(), given.end(), polynomial.begin());
  }
  const auto rod = rods_.find(name);
  if (rod != rods_.end() && !e.has("tendon2")) {
    const Site &a = sites_.at(rod->second.first), &b = sites_.at(rod->second.second);
    const Vec3<double> line = (b.X * bodies_[b.body].X).r - (a.X * bodies_[a.body].X).r;
    LoopDescription loop;
    loop.where = e.node().where;
    loop.name = unused(name, constraint_names_);
    loop.type = "rod";
    loop.predecessor = bodies_[a.body].link, loop.successor = bodies_[b.body].link;
    loop.predecessor_origin.xyz = a.X.r, loop.successor_origin.xyz = b.X.r;
    loop.parameters = {{"length", {std::sqrt(dot(line, line)) + polynomial[0]}}};
    robot_.loops.push_back(std::move(loop));
    return;
  }
  const auto first = tendons_.find(name);
  if (first == tendons_.end()) {
    return lose(e.node(), "equality of spatial tendons has no counterpart", true);
  }
  // Sum of c1 (q - ref) = a0 + a1 sum of c2 (q - ref).
  std::map<std::string, double> weights = first->second.coefficients;
  double sum = polynomial[0];
  if (e.has("tendon2")) {
    const auto second = tendons_.find(e.name("tendon2"));
    const bool linear = polynomial[2] == 0.0 && polynomial[3] == 0.0 && polynomial[4] == 0.0;
    if (second == tendons_.end() || !linear) {
      return lose(e.node(), "equality of tendons is not linear in joints", true);
    }
    for (const auto& [joint, c] : second->second.coefficients) weights[joint] -= polynomial[1] * c;
  }
  std::erase_if(weights, [](const auto& w) { return w.second == 0.0; });
  for (const auto& [joint, c] : weights) sum += c * joint_named(e, joint).reference;
  if (weights.empty()) e.fail("tendons name no joint, expected some");
  if (weights.size() == 1) {
    const ReadJoint& joint = joint_named(e, weights.begin()->first);
    return lock(e, joint, sum / weights.begin()->second);
  }
  if (weights.size() == 2) {
    const auto& [leader, b] = *weights.begin();
    const auto& [dependent, a] = *std::next(weights.begin());
    const ReadJoint &d = joint_named(e, dependent), &l = joint_named(e, leader);
    const double ratio = -b / a;
    return mimic(e, d, l, {sum / a - d.reference + ratio * l.reference, ratio});
  }
  if (weights.size() > 8) {
    return lose(e.node(), "equality of tendons ties more than 8 joints", true);
  }
  LawDescription law;
  law.where = e.node().where;
  law.name = unused(name, constraint_names_);
  law.type = "weighted_sum_" + std::to_string(weights.size());
  for (const auto& [joint, c] : weights) {
    law.joints.push_back(joint);
    law.parameters["weights"].push_back(c);
  }
  law.parameters["sum"] = {sum};
  robot_.laws.push_back(std::move(law));
}

}  // namespace espalier::mjcf
