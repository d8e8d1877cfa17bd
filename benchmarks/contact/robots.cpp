#include "benchmarks/contact/robots.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <stdexcept>

#include "espalier/kernel/model/closure.hpp"
#include "espalier/kernel/model/placements.hpp"

namespace espalier::bench {

namespace {

/// The root hangs on a floating joint of the world.
void float_root(Description& robot) {
  std::set<std::string> children;
  for (const JointDescription& joint : robot.joints) children.insert(joint.child);
  const auto root =
      std::find_if(robot.links.begin(), robot.links.end(),
                   [&](const LinkDescription& link) { return children.count(link.name) == 0; });
  JointDescription joint;
  joint.name = "root", joint.type = "floating", joint.parent = "world", joint.child = root->name;
  LinkDescription world;
  world.name = "world";
  robot.links.insert(robot.links.begin(), world);
  robot.joints.insert(robot.joints.begin(), joint);
  robot.floating = false;  // by the joint, not by the file's word
}

std::vector<contact::PlacedShape> feet_of(const Description& robot, const Standing& how) {
  std::vector<contact::PlacedShape> feet;
  for (const LinkDescription& link : robot.links) {
    for (const auto& [part, at] : how.feet) {
      if (link.name.find(part) == std::string::npos) continue;
      contact::PlacedShape foot;
      foot.link = link.name;
      foot.shape = contact::Shape::sphere(how.radius);
      foot.pose.xyz = at;
      foot.surface.friction = friction_on_ground;
      feet.push_back(foot);
    }
  }
  if (feet.empty()) throw std::runtime_error(robot.name + ": no link is a foot");
  return feet;
}

/// The stance, closed, with the lowest foot on the ground.
void take_stance(StandingRobot& robot, const Standing& how) {
  const Model& model = *robot.model;
  std::vector<double> start(model.nq());
  model.neutral(start.data());
  robot.q = start;
  for (const Joint& joint : model.joints()) {
    if (joint.nv != 1 || joint.independent < 0) continue;
    robot.drives.push_back(joint.name);
    for (const auto& [part, angle] : how.stance) {
      if (joint.name.find(part) != std::string::npos) robot.q[joint.q] = angle;
    }
  }
  const Closure closure = close(model, start.data(), robot.q.data());
  if (closure.verdict != Closure::Verdict::closed) {
    throw std::runtime_error(model.name() + ": stance does not close: " + closure.text());
  }
  Placements placements(robot.model);
  placements.update(robot.q.data());
  double lowest = std::numeric_limits<double>::infinity();
  for (const contact::PlacedShape& foot : robot.feet) {
    const auto& links = model.links();
    const auto link = std::find_if(links.begin(), links.end(),
                                   [&](const Link& l) { return l.name == foot.link; });
    const Transform<double> X = placements.link(static_cast<int>(link - links.begin()));
    const Vec3<double> center = X.r + transpose_times(X.E, foot.pose.xyz);
    lowest = std::min(lowest, center.z - foot.shape.radius);
  }
  if (!robot.feet.empty()) robot.q[model.joint("root").q + 2] -= lowest;
}

}  // namespace

StandingRobot stand(const Host& host, const Standing& how, bool flies) {
  StandingRobot robot;
  robot.description = host.read(how.file);
  if (!flies) robot.feet = feet_of(robot.description, how);
  float_root(robot.description);
  for (JointDescription& joint : robot.description.joints) {
    if (how.friction > 0.0 && joint.type != "floating" && joint.type != "fixed") {
      joint.passive.friction = how.friction;
    }
  }
  robot.implicit_friction = how.implicit_friction;
  robot.model = host.compile(robot.description);
  robot.kp = how.kp, robot.kd = how.kd;
  for (const LinkDescription& link : robot.description.links) {
    if (link.inertial) robot.mass += link.inertial->mass;
  }
  take_stance(robot, how);
  return robot;
}

StandingRobot lie_down(const Host& host, const std::string& file) {
  StandingRobot robot;
  robot.file = file;
  robot.description = host.read(file);
  for (LinkDescription& link : robot.description.links) {
    // Programs differ in how two coefficients become one.
    for (ShapeDescription& shape : link.collisions) shape.friction = friction_on_ground;
  }
  robot.model = host.compile(robot.description);
  const Model& model = *robot.model;
  robot.own = contact::world_of(model);
  robot.own->self_collision = true;
  const auto root = std::find_if(model.joints().begin(), model.joints().end(), [&](const Joint& j) {
    return j.name == "root" && j.type == "floating";
  });
  const bool ground = std::any_of(
      robot.own->shapes.begin(), robot.own->shapes.end(),
      [](const contact::PlacedShape& s) { return s.shape.kind == contact::Shape::Kind::plane; });
  if (root == model.joints().end() || !ground) {
    throw std::runtime_error(file + ": expected a robot that floats, and a plane");
  }
  for (const LinkDescription& link : robot.description.links) {
    if (link.inertial) robot.mass += link.inertial->mass;
  }
  robot.q.resize(model.nq());
  model.neutral(robot.q.data());
  double* q = robot.q.data() + root->q;
  q[0] = q[1] = 0.0, q[2] = 0.4;
  const double half = 0.5 * std::sqrt(2.0);
  q[3] = q[5] = 0.0, q[4] = -half, q[6] = half;  // x up
  return robot;
}

std::string mjcf_of(const Host& host, const StandingRobot& robot) {
  Description mjcf = robot.description;
  for (LinkDescription& link : mjcf.links) {
    link.visuals.clear(), link.collisions.clear();
    if (link.name == "world" && !robot.feet.empty()) {
      ShapeDescription ground;
      ground.name = "ground", ground.shape = Plane{}, ground.friction = friction_on_ground;
      link.collisions.push_back(ground);
    }
    for (const contact::PlacedShape& foot : robot.feet) {
      if (foot.link != link.name) continue;
      ShapeDescription shape;
      shape.name = "foot" + std::to_string(&foot - robot.feet.data());
      shape.shape = Sphere{foot.shape.radius}, shape.origin = foot.pose;
      shape.friction = friction_on_ground;
      link.collisions.push_back(shape);
    }
  }
  std::string text = host.registry().format_for("robot.xml").write(mjcf);
  // Published inertias of small links miss the triangle inequality; MuJoCo refuses them else.
  const std::string compiler = "<compiler ";
  return text.insert(text.find(compiler) + compiler.size(), "balanceinertia=\"true\" ");
}

}  // namespace espalier::bench
