#pragma once

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "espalier/kernel/model/closure.hpp"
#include "tests/support/four_bar.hpp"
#include "tests/support/random.hpp"
#include "tests/support/state.hpp"

/// Mechanisms that are one cluster however large they are: chains and nets of loops that share
/// bars. All close at their neutral position, which is no dead point. Universal joints turn about
/// two axes across the bars that hang on them.

namespace espalier::test {

namespace detail {

/// Pose of a frame in the x-y plane.
inline Pose in_plane(double x, double y, double angle = 0.0) {
  return {{x, y, 0.0}, {0.0, 0.0, angle}};
}
inline void add_pin(Description& robot, const std::string& name, const std::string& predecessor,
                    double along_predecessor, const std::string& successor,
                    double along_successor) {
  LoopDescription pin;
  pin.name = name;
  pin.type = "revolute";
  pin.predecessor = predecessor, pin.successor = successor;
  pin.predecessor_origin.xyz = {along_predecessor, 0, 0};
  pin.successor_origin.xyz = {along_successor, 0, 0};
  pin.axis = {0, 0, 1};
  pin.where = {"robot.test", 300 + static_cast<int>(robot.loops.size())};
  robot.loops.push_back(pin);
}

}  // namespace detail

/// Planar parallel cranks: `cranks` of them on the ground, a coupler between any two neighbours.
/// 2 cranks - 1 bodies, one degree of freedom.
/// @param independent  number of the crank that is declared independent; -1: none is declared
inline Description ladder(int cranks, int independent = -1) {
  Description robot = ground();
  robot.name = "ladder" + std::to_string(2 * cranks - 1);
  robot.gravity = {0, -9.81, 0};
  const double between = 0.4;
  const auto number = [](int i) { return std::to_string(i); };
  const auto length = [](int i) { return 0.3 + 0.01 * (i % 5); };
  const auto angle = [](int i) { return 1.1 + 0.05 * (i % 3); };
  for (int i = 0; i < cranks; ++i) {
    add_rod(robot, "crank_link" + number(i), length(i));
    add_joint(robot, "crank" + number(i), "revolute", "base", "crank_link" + number(i), {0, 0, 1},
              detail::in_plane(i * between, 0.0, angle(i)));
  }
  for (int i = 0; i + 1 < cranks; ++i) {
    const double dx =
        between + length(i + 1) * std::cos(angle(i + 1)) - length(i) * std::cos(angle(i));
    const double dy = length(i + 1) * std::sin(angle(i + 1)) - length(i) * std::sin(angle(i));
    const double coupler = std::hypot(dx, dy);
    add_rod(robot, "coupler_link" + number(i), coupler);
    add_joint(robot, "coupler" + number(i), "revolute", "crank_link" + number(i),
              "coupler_link" + number(i), {0, 0, 1},
              detail::in_plane(length(i), 0.0, std::atan2(dy, dx) - angle(i)));
    detail::add_pin(robot, "pin" + number(i), "coupler_link" + number(i), coupler,
                    "crank_link" + number(i + 1), length(i + 1));
  }
  if (independent >= 0) {
    for (JointDescription& joint : robot.joints) {
      joint.independent = joint.name == "crank" + number(independent);
    }
  }
  return robot;
}

/// A scissor lift that hangs on one pin: pairs of crossed bars, two degrees of freedom, each pair
/// hanging on the one before. 2 stages bodies.
inline Description scissor_lift(int stages) {
  Description robot = ground();
  robot.name = "scissor_lift" + std::to_string(2 * stages);
  robot.gravity = {0, -9.81, 0};
  const double half = 0.25, lean = 0.6;  // of a bar; of bars to the vertical
  const double along_a = M_PI / 2 - lean, along_b = M_PI / 2 + lean;
  std::string left = "base", right;  // bars whose upper ends the next pair is pinned to
  for (int i = 0; i < stages; ++i) {
    const std::string number = std::to_string(i);
    const std::string a = "rising_link" + number, b = "falling_link" + number;
    // Bar a has its frame at its lower end, bar b in the middle, where it crosses a; x axes point
    // up, a's to the right and b's to the left.
    add_rod(robot, a, 2 * half, 0.5 + 0.1 * (i % 3));
    add_joint(
        robot, "rising" + number, "revolute", left, a, {0, 0, 1},
        i == 0 ? detail::in_plane(0, 0, along_a) : detail::in_plane(half, 0, along_a - along_b));
    const double I = 0.6 * half * half / 3;
    add_link(robot, b, 0.6, {0.01, 0, 0}, {1e-3, 0, 0, I, 0, I});
    add_joint(robot, "falling" + number, "revolute", a, b, {0, 0, 1},
              detail::in_plane(half, 0, along_b - along_a));
    if (i > 0) detail::add_pin(robot, "pin" + number, right, 2 * half, b, -half);
    left = b, right = a;
  }
  return robot;
}

/// Strings of bars that hang on universal joints, a cross bar between neighbours at every level: a
/// universal joint at one end, a ball at the other. `wide` x `deep` cells, each with one more
/// degree of freedom than its four rates less three equations; 4 wide deep + 2 deep rates.
inline Description net(int wide, int deep) {
  Description robot = ground();
  robot.name = "net" + std::to_string(wide) + "x" + std::to_string(deep);
  robot.gravity = {0, 0, -9.81};
  const double bar = 0.3, between = 0.35;
  const auto name = [](const char* what, int i, int j) {
    return what + std::to_string(i) + "_" + std::to_string(j);
  };
  const Sym3<double> I{0.01, 0, 0, 0.012, 0, 0.011};
  for (int i = 0; i <= wide; ++i) {
    for (int j = 0; j < deep; ++j) {
      add_link(robot, name("bar", i, j), 0.5 + 0.05 * ((i + j) % 3), {0, 0, -bar / 2}, I);
      add_joint(robot, name("swing", i, j), "universal", j == 0 ? "base" : name("bar", i, j - 1),
                name("bar", i, j), {1, 0, 0},
                {j == 0 ? Vec3<double>{i * between, 0, 0} : Vec3<double>{0, 0, -bar}, {0, 0, 0}});
    }
  }
  for (int i = 0; i < wide; ++i) {
    for (int j = 0; j < deep; ++j) {
      add_link(robot, name("cross", i, j), 0.3, {between / 2, 0, 0}, I);
      add_joint(robot, name("turn", i, j), "universal", name("bar", i, j), name("cross", i, j),
                {0, 1, 0}, {{0, 0, -bar}, {0, 0, 0}});
      LoopDescription ball;
      ball.name = name("ball", i, j);
      ball.type = "spherical";
      ball.predecessor = name("cross", i, j), ball.successor = name("bar", i + 1, j);
      ball.predecessor_origin.xyz = {between, 0, 0};
      ball.successor_origin.xyz = {0, 0, -bar};
      ball.where = {"robot.test", 300 + static_cast<int>(robot.loops.size())};
      robot.loops.push_back(ball);
    }
  }
  return robot;
}

/// Six legs of a universal joint and a slide each; the platform hangs on the first by a ball joint
/// and is tied to the others by balls. 13 bodies, 21 rates, six degrees of freedom; the slides are
/// independent.
inline Description stewart_platform() {
  Description robot = ground();
  robot.name = "stewart_platform";
  const double base_radius = 1.0, top_radius = 0.6, height = 1.2;
  const Sym3<double> thin{0.02, 0, 0, 0.02, 0, 0.001};
  const auto foot = [&](int k) {
    const double a = 2 * M_PI / 6 * k + (k % 2 == 0 ? 0.2 : -0.2);
    return Vec3<double>{base_radius * std::cos(a), base_radius * std::sin(a), 0};
  };
  const auto head = [&](int k) {
    const double a = 2 * M_PI / 6 * k + (k % 2 == 0 ? -0.25 : 0.25);
    return Vec3<double>{top_radius * std::cos(a), top_radius * std::sin(a), height};
  };
  add_link(robot, "platform", 5.0, {0.02, 0.01, 0.05}, {0.5, 0.01, 0.02, 0.6, 0, 0.9});
  for (int k = 0; k < 6; ++k) {
    const std::string number = std::to_string(k);
    const Vec3<double> d = head(k) - foot(k);
    const double length = std::sqrt(dot(d, d));
    // z along the leg: turned about x, then about y.
    const double about_x = std::asin(-d.y / length), about_y = std::atan2(d.x, d.z);
    add_link(robot, "tube" + number, 1.0, {0, 0, 0.3}, thin);
    add_joint(robot, "cardan" + number, "universal", "base", "tube" + number, {1, 0, 0},
              {foot(k), {about_x, about_y, 0}});
    add_link(robot, "rod" + number, 0.7, {0, 0, -0.2}, thin);
    add_joint(robot, "slide" + number, "prismatic", "tube" + number, "rod" + number, {0, 0, 1},
              {{0, 0, length}, {0, 0, 0}});
    if (k == 0) {
      // The platform's frame has the leg's axes at the neutral position; its points below are given
      // in these.
      add_joint(robot, "ball0", "spherical", "rod0", "platform");
    }
  }
  const auto leg_axes = [&](int k, Vec3<double> r) {
    const Vec3<double> d = head(k) - foot(k);
    const double length = std::sqrt(dot(d, d));
    const Transform<double> X =
        Pose{{0, 0, 0}, {std::asin(-d.y / length), std::atan2(d.x, d.z), 0}}.transform();
    return X.E * r;
  };
  for (int k = 1; k < 6; ++k) {
    const std::string number = std::to_string(k);
    LoopDescription ball;
    ball.name = "ball" + number;
    ball.type = "spherical";
    ball.predecessor = "rod" + number, ball.successor = "platform";
    ball.successor_origin.xyz = leg_axes(0, head(k) - head(0));
    ball.where = {"robot.test", 300 + k};
    robot.loops.push_back(ball);
  }
  for (JointDescription& joint : robot.joints) {
    joint.independent = joint.name.rfind("slide", 0) == 0;
  }
  return robot;
}

/// A random tree of revolute and prismatic joints, some of whose bodies are tied by balls to others
/// and to the ground, where they are at the neutral position.
inline Description random_loops(int bodies, int loops, unsigned long long seed) {
  Rng rng(seed);
  Description robot = ground();
  robot.name = "random_loops" + std::to_string(bodies) + "_" + std::to_string(seed);
  robot.gravity = rng.vec3(5.0);
  std::vector<std::string> names{"base"};
  std::vector<Transform<double>> place{Transform<double>::identity()};
  for (int i = 1; i <= bodies; ++i) {
    const std::string link = "link" + std::to_string(i);
    const int parent = std::max(0, i - 1 - rng.below(4));
    add_link(robot, link, 0.5 + rng.uniform() * 0.2, rng.vec3(0.1), {0.1, 0, 0, 0.1, 0, 0.1});
    const Pose origin{rng.vec3(0.4), rng.vec3(1.0)};
    add_joint(robot, "joint" + std::to_string(i), rng.chance(0.85) ? "revolute" : "prismatic",
              names[parent], link, {0, 0, 1}, origin);
    names.push_back(link);
    place.push_back(origin.transform() * place[parent]);
  }
  for (int l = 0; l < loops; ++l) {
    const int a = bodies - rng.below(bodies / 2), b = rng.below(bodies / 2 + 1);
    LoopDescription ball;
    ball.name = "tie" + std::to_string(l);
    ball.type = "spherical";
    ball.predecessor = names[a], ball.successor = names[b];
    ball.predecessor_origin.xyz = rng.vec3(0.3);
    // The same point as the successor sees it.
    const Vec3<double> world =
        place[a].r + transpose_times(place[a].E, ball.predecessor_origin.xyz);
    ball.successor_origin.xyz = place[b].E * (world - place[b].r);
    ball.where = {"robot.test", 300 + l};
    robot.loops.push_back(ball);
  }
  return robot;
}

/// A closed position near the neutral one, random rates, forces and wrenches. Independent joints
/// move by `size` [rad]; a state that does not close is tried again with half of it.
inline State big_cluster_state(const Model& model, unsigned long long seed, double size = 0.15) {
  State s = random_state(model, seed);
  Rng rng(seed);
  std::vector<double> neutral(model.nq());
  model.neutral(neutral.data());
  for (int attempt = 0; attempt < 8; ++attempt, size *= 0.5) {
    std::vector<double> step(model.spanning_nv(), 0.0);
    for (const int rate : model.independent_rates()) step[rate] = size * rng.uniform();
    model.integrate(neutral.data(), step.data(), s.q.data());
    if (project(model, s.q.data()).verdict == Closure::Verdict::closed) return s;
  }
  s.q = neutral;
  return s;
}

}  // namespace espalier::test
