#pragma once

#include <string>
#include <vector>

#include "espalier/simulation/contact/contact_simulation.hpp"
#include "tests/contact/support.hpp"
#include "tests/support/simple_robot.hpp"

namespace espalier::test {

using contact::ContactSimulation;
using contact::PlacedShape;
using contact::StepOptions;
using contact::StepStatus;
using contact::Surface;
using contact::World;

inline constexpr double g = 9.81, h = 1e-3;

/// Adds a body that flies freely; its frame is at its centre of mass.
inline void add_flying(Description& robot, const std::string& name, double mass,
                       const Vec3<double>& I) {
  add_link(robot, name, mass, {0, 0, 0}, {I.x, 0, 0, I.y, 0, I.z});
  add_joint(robot, name, "floating", "base", name);
}
inline Vec3<double> box_inertia(double mass, const Vec3<double>& half) {
  const double x = half.x * half.x, y = half.y * half.y, z = half.z * half.z;
  return {mass / 3.0 * (y + z), mass / 3.0 * (x + z), mass / 3.0 * (x + y)};
}

/// A box that flies, on a plane.
struct Boxed {
  ModelPtr model;
  World world;
};
inline Boxed box_on_plane(const Vec3<double>& half, double mass, const Surface& surface) {
  Description robot = ground();
  add_flying(robot, "box", mass, box_inertia(mass, half));
  Boxed b{host().compile(robot), {}};
  PlacedShape box;
  box.link = "box", box.shape = Shape::box(half), box.surface = surface;
  b.world.shapes = {World::ground(surface), box};
  return b;
}

/// Position of a flying body: place and turned by nothing.
inline std::vector<double> at(const Vec3<double>& x) { return {x.x, x.y, x.z, 0, 0, 0, 1}; }

inline ContactSimulation simulate(const Boxed& b, const StepOptions& options = {}) {
  return ContactSimulation(host().registry(), b.model, b.world, options);
}

inline Vec3<double> force_sum(const ContactSimulation& s) {
  Vec3<double> sum{0, 0, 0};
  for (const auto& c : s.contacts()) sum += c.force;
  return sum;
}

}  // namespace espalier::test
