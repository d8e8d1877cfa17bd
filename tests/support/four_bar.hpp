#pragma once

#include <algorithm>
#include <cmath>
#include <string>

#include "tests/support/simple_robot.hpp"

/// Planar four-bars and slider-cranks in the x-y plane, closed by a pin in space.

namespace espalier::test {

/// A uniform rod of 1 kg from its frame's origin along x.
inline void add_rod(Description& robot, const std::string& name, double length, double mass = 1.0) {
  const double I = mass * length * length / 12.0;
  add_link(robot, name, mass, {length / 2.0, 0, 0}, {0.01 * I + 1e-6, 0, 0, I + 1e-6, 0, I + 1e-6});
}

struct FourBar {
  double crank = 0.2, coupler = 0.5, rocker = 0.4, base = 0.6;  ///< lengths [m]
  std::string independent = "crank";
};

/// Joints crank, coupler (on the crank), rocker; gravity along -y. Loop "pin".
inline Description four_bar(const FourBar& b = {}) {
  Description robot = ground();
  robot.name = "four_bar";
  robot.gravity = {0, -9.81, 0};
  add_rod(robot, "crank_link", b.crank);
  add_rod(robot, "coupler_link", b.coupler);
  add_rod(robot, "rocker_link", b.rocker);
  add_joint(robot, "crank", "revolute", "base", "crank_link");
  add_joint(robot, "coupler", "revolute", "crank_link", "coupler_link", {0, 0, 1},
            {{b.crank, 0, 0}, {0, 0, 0}});
  add_joint(robot, "rocker", "revolute", "base", "rocker_link", {0, 0, 1},
            {{b.base, 0, 0}, {0, 0, 0}});
  for (JointDescription& joint : robot.joints) {
    if (!b.independent.empty()) joint.independent = joint.name == b.independent;
  }
  LoopDescription pin;
  pin.name = "pin";
  pin.type = "revolute";
  pin.predecessor = "coupler_link", pin.successor = "rocker_link";
  pin.predecessor_origin.xyz = {b.coupler, 0, 0};
  pin.successor_origin.xyz = {b.rocker, 0, 0};
  pin.axis = {0, 0, 1};
  pin.where = {"robot.test", 300};
  robot.loops.push_back(pin);
  return robot;
}

/// The coupler's and the rocker's angles for a crank angle, by hand: the crank's end sees the
/// rocker's pivot at distance d under the angle beta, and the triangle of coupler and rocker over
/// it has two assemblies, side = +1 and -1.
struct FourBarAngles {
  bool reachable = false;
  double coupler = 0.0, rocker = 0.0;
};
inline FourBarAngles solve(const FourBar& b, double crank, double side) {
  const double x = b.base - b.crank * std::cos(crank), y = -b.crank * std::sin(crank);
  const double d = std::hypot(x, y), beta = std::atan2(y, x);
  const double cosine = (b.coupler * b.coupler + d * d - b.rocker * b.rocker) / (2 * b.coupler * d);
  if (!(std::abs(cosine) <= 1.0 + 1e-6))
    return {};  // at a limit, a residual of 1e-10 takes it beyond
  const double a = beta + side * std::acos(std::min(1.0, std::max(-1.0, cosine)));
  const double px = b.crank * std::cos(crank) + b.coupler * std::cos(a) - b.base;
  const double py = b.crank * std::sin(crank) + b.coupler * std::sin(a);
  return {true, a - crank, std::atan2(py, px)};
}

}  // namespace espalier::test
