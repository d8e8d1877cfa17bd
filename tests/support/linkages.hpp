#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "tests/support/big_clusters.hpp"

/// Mechanisms that swing through dead points of their coordinates.

namespace espalier::test {

inline void declare_independent(Description& robot, const std::vector<std::string>& names) {
  for (JointDescription& joint : robot.joints) {
    joint.independent = std::find(names.begin(), names.end(), joint.name) != names.end();
  }
}

/// Stephenson's third six-bar: a crank-rocker, a dyad from a point of its coupler to the ground.
/// One degree of freedom; the crank can turn, the dyad's last bar "output" swings.
inline Description stephenson(const std::string& independent = "output") {
  Description robot = ground();
  robot.name = "stephenson";
  robot.gravity = {0, -9.81, 0};
  const auto pin = detail::in_plane;
  add_rod(robot, "crank_link", 0.2);
  add_joint(robot, "crank", "revolute", "base", "crank_link", {0, 0, 1}, pin(0, 0, 1.0));
  add_rod(robot, "coupler_link", 0.5);
  add_joint(robot, "coupler", "revolute", "crank_link", "coupler_link", {0, 0, 1},
            pin(0.2, 0, -0.5));
  add_rod(robot, "rocker_link", 0.45);
  add_joint(robot, "rocker", "revolute", "base", "rocker_link", {0, 0, 1}, pin(0.6, 0, 1.8));
  // From the point (0.25, 0.2) of the coupler.
  add_rod(robot, "dyad_link", 0.5);
  add_joint(robot, "dyad", "revolute", "coupler_link", "dyad_link", {0, 0, 1}, pin(0.25, 0.2, 1.2));
  add_rod(robot, "output_link", 0.45);
  add_joint(robot, "output", "revolute", "base", "output_link", {0, 0, 1}, pin(-0.1, 0.6, 0.6));
  detail::add_pin(robot, "pin", "coupler_link", 0.5, "rocker_link", 0.45);
  detail::add_pin(robot, "second_pin", "dyad_link", 0.5, "output_link", 0.45);
  declare_independent(robot, {independent});
  return robot;
}

/// The linkage that tips an excavator's bucket: a cylinder moves a rocker on the stick, a link
/// leads from it to the bucket. The cylinder's slide is independent; its dead points are where it
/// lies in line with the rocker. Here the rocker is short enough to turn.
inline Description bucket_linkage() {
  Description robot = ground();
  robot.name = "bucket_linkage";
  robot.gravity = {0, -9.81, 0};
  const auto pin = detail::in_plane;
  add_rod(robot, "rocker_link", 0.2, 4.0);
  add_joint(robot, "rocker", "revolute", "base", "rocker_link", {0, 0, 1}, pin(0, 0, 1.2));
  add_rod(robot, "bar", 0.42, 3.0);
  add_joint(robot, "link", "revolute", "rocker_link", "bar", {0, 0, 1}, pin(0.2, 0, -1.0));
  add_rod(robot, "bucket_link", 0.35, 12.0);
  add_joint(robot, "bucket", "revolute", "base", "bucket_link", {0, 0, 1}, pin(0.4, 0, 1.6));
  add_rod(robot, "tube", 0.5, 5.0);
  add_joint(robot, "cylinder", "revolute", "base", "tube", {0, 0, 1}, pin(-0.9, 0.1, 0.1));
  add_rod(robot, "piston", 0.4, 2.0);
  add_joint(robot, "slide", "prismatic", "tube", "piston", {1, 0, 0}, pin(0.5, 0, 0));
  detail::add_pin(robot, "rocker_pin", "piston", 0.4, "rocker_link", 0.2);
  detail::add_pin(robot, "bucket_pin", "bar", 0.42, "bucket_link", 0.35);
  declare_independent(robot, {"slide"});
  return robot;
}

/// A scissor lift on the ground: one end of the lowest pair on a pin, the other on a slide, which a
/// spring holds. One degree of freedom: the slide.
inline Description standing_scissor_lift(int stages) {
  Description robot = scissor_lift(stages);
  add_link(robot, "carriage", 0.5, {0, 0, 0}, {1e-3, 0, 0, 1e-3, 0, 1e-3});
  const double reach = 0.5 * std::sin(0.6);
  add_joint(robot, "slide", "prismatic", "base", "carriage", {1, 0, 0}, detail::in_plane(reach, 0));
  robot.joints.back().passive.stiffness = 20000.0 * stages;
  robot.joints.back().passive.rest = 0.5 * std::sin(0.7) - reach;  // swings to 0.81 rad
  detail::add_pin(robot, "foot", "carriage", 0.0, "falling_link0", -0.25);
  declare_independent(robot, {"slide"});
  return robot;
}

/// Three arms that turn about horizontal axes of the ground, two parallel rods from each to a
/// platform: a universal joint above, a ball below. It hangs; nine degrees of freedom: three of
/// the arms, and each rod turns about itself. The arms and these turns are independent.
inline Description delta() {
  Description robot = ground();
  robot.name = "delta";
  const double base = 0.25, arm = 0.3, rod = 0.7, top = 0.08, wide = 0.06;
  // Arms hang outwards below the horizontal, rods lead back to the platform.
  const double droop = 0.3, lean = std::asin((base + arm * std::cos(droop) - top) / rod);
  const Vec3<double> first{top, wide, 0};  // the ball that the platform's frame has its origin in
  for (int k = 0; k < 3; ++k) {
    const std::string number = std::to_string(k);
    const double a = 2.0 * M_PI / 3.0 * k;
    // x outwards, y along the axis; turned about y by the droop.
    add_link(robot, "arm_link" + number, 0.8, {arm / 2, 0, 0}, {1e-3, 0, 0, 7e-3, 0, 7e-3});
    add_joint(robot, "arm" + number, "revolute", "base", "arm_link" + number, {0, 1, 0},
              {{base * std::cos(a), base * std::sin(a), 0}, {0, droop, a}});
    robot.joints.back().passive.stiffness = 80.0;  // carries the platform, far from stretched
    for (int side = 0; side < 2; ++side) {
      const std::string name = number + (side == 0 ? "l" : "r");
      const double y = side == 0 ? wide : -wide;
      // The rod is along -z.
      add_link(robot, "rod_link" + name, 0.15, {0, 0, -rod / 2}, {7e-3, 0, 0, 7e-3, 0, 2e-4});
      add_joint(robot, "rod" + name, "universal", "arm_link" + number, "rod_link" + name, {1, 0, 0},
                {{arm, y, 0}, {0, lean - droop, 0}});
      if (k == 0 && side == 0) {
        add_link(robot, "platform", 1.0, Vec3<double>{0, 0, -0.02} - first,
                 {2e-3, 0, 0, 2e-3, 0, 3e-3});
        add_joint(robot, "ball", "spherical", "rod_link" + name, "platform", {0, 0, 1},
                  {{0, 0, -rod}, {0, -lean, 0}});
        continue;
      }
      LoopDescription ball;
      ball.name = "ball" + name;
      ball.type = "spherical";
      ball.predecessor = "rod_link" + name, ball.successor = "platform";
      ball.predecessor_origin.xyz = {0, 0, -rod};
      ball.successor_origin.xyz = Vec3<double>{top * std::cos(a) - y * std::sin(a),
                                               top * std::sin(a) + y * std::cos(a), 0} -
                                  first;
      ball.where = {"robot.test", 300 + static_cast<int>(robot.loops.size())};
      robot.loops.push_back(ball);
    }
  }
  for (JointDescription& joint : robot.joints) {
    if (joint.name.starts_with("arm")) joint.independent = true;
  }
  return robot;
}

/// A closed chain of bars between random points: planar of four to six bars, or spatial of five to
/// eight revolute and a few prismatic joints that a ball closes. Independent joints are chosen at
/// random, so that it hardly ever swings without a dead point of theirs.
inline Description random_loop(unsigned long long seed) {
  Rng rng(seed);
  Description robot = ground();
  const bool planar = seed % 2 == 0;
  robot.name = (planar ? "planar_loop" : "spatial_loop") + std::to_string(seed);
  robot.gravity = planar ? Vec3<double>{0, -9.81, 0} : Vec3<double>{0, 0, -9.81};
  const int bars = planar ? 3 + rng.below(3) : 4 + rng.below(3);
  std::string parent = "base";
  Transform<double> place = Transform<double>::identity();
  Pose origin;
  for (int i = 0; i < bars; ++i) {
    const std::string number = std::to_string(i), link = "link" + number;
    const double length = rng.uniform(0.25, 0.6);
    const double I = length * length / 12.0;
    origin.rpy = planar ? Vec3<double>{0, 0, rng.uniform(0.3, 1.6)} : rng.vec3(1.2);
    add_link(robot, link, 1.0, {length / 2, 0, 0}, {0.2 * I, 0, 0, I, 0, I});
    add_joint(robot, "joint" + number, "revolute", parent, link, {0, 0, 1}, origin);
    place = origin.transform() * place;
    origin.xyz = {length, planar ? 0.0 : rng.uniform(-0.1, 0.1), 0};
    parent = link;
  }
  LoopDescription closing;
  closing.name = "closing";
  closing.type = planar ? "revolute" : "spherical";
  closing.axis = {0, 0, 1};
  closing.predecessor = parent, closing.successor = "base";
  closing.predecessor_origin.xyz = origin.xyz;
  closing.successor_origin.xyz = place.r + transpose_times(place.E, origin.xyz);
  closing.where = {"robot.test", 300};
  robot.loops.push_back(closing);
  std::vector<int> order;
  for (int i = 0; i < bars; ++i) order.push_back(i);
  rng.shuffle(order);
  std::vector<std::string> independent;
  for (int i = 0; i < bars - (planar ? 2 : 3); ++i) {
    independent.push_back("joint" + std::to_string(order[i]));
  }
  declare_independent(robot, independent);
  return robot;
}

}  // namespace espalier::test
