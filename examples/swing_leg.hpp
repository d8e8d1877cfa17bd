#pragma once

#include <array>
#include <cmath>

#include "espalier/kernel/model/description.hpp"

/// A leg in a plane, whose x points down: a hip behind a gear, and a knee that a motor at the hip's
/// height turns through a gear and a four-bar along the thigh.

namespace espalier::examples {

/// Numbers of its design.
struct LegDesign {
  static constexpr int count = 5;
  static constexpr std::array<const char*, count> names{"hip ratio", "knee ratio", "crank",
                                                        "coupler", "rocker"};
  std::array<double, count> numbers{6.0, 6.0, 0.07, 0.4, 0.06};  // ratios, lengths [m]

  LegDesign changed(int k, double by) const {
    LegDesign other = *this;
    other.numbers[k] += by;
    return other;
  }
};

inline Description swing_leg(const LegDesign& design) {
  const auto [hip_ratio, knee_ratio, crank, coupler, rocker] = design.numbers;
  constexpr double thigh = 0.4, tilt = M_PI / 2 + 0.75;  // of crank and rocker at zero position
  Description robot;
  robot.name = "swing_leg";
  robot.gravity = {9.81, 0, 0};
  const auto link = [&](const char* name, double mass, double com, double inertia) {
    const Inertial inertial{{{com, 0, 0}, {0, 0, 0}}, mass, {inertia, 0, 0, inertia, 0, inertia}};
    robot.links.push_back({name, inertial, {}});
  };
  robot.links.push_back({"base", {}, {}});
  link("thigh", 3.0, 0.15, 0.03), link("shank", 1.2, 0.18, 0.015);
  link("crank", 0.15, 0.5 * crank, 2e-4), link("coupler", 0.12, 0.5 * coupler, 1e-3);
  link("hip_rotor", 0.3, 0.0, 2e-4), link("knee_rotor", 0.3, 0.0, 2e-4);
  const auto joint = [&](const char* name, const char* parent, const char* child, double x,
                         double angle) {
    JointDescription& j = robot.joints.emplace_back();
    j.name = name, j.type = "continuous", j.parent = parent, j.child = child;
    j.origin = {{x, 0, 0}, {0, 0, angle}}, j.axis = {0, 0, 1};
  };
  joint("hip", "base", "thigh", 0.0, 0.0), joint("hip_rotor", "base", "hip_rotor", 0.0, 0.0);
  joint("knee", "thigh", "shank", thigh, 0.0);
  robot.joints.back().independent = true;
  joint("crank", "thigh", "crank", 0.0, tilt), joint("coupler", "crank", "coupler", crank, -tilt);
  joint("knee_rotor", "thigh", "knee_rotor", 0.0, 0.0);
  robot.couplings.push_back({"hip_gear", "thigh", "hip_rotor", hip_ratio, {}});
  robot.couplings.push_back({"knee_gear", "crank", "knee_rotor", knee_ratio, {}});
  robot.laws.push_back({"knee_bars",
                        "four_bar",
                        {"crank", "knee", "coupler"},
                        {{"crank", {crank}},
                         {"coupler", {coupler}},
                         {"rocker", {rocker}},
                         {"pivot", {thigh, 0.0}},
                         {"zeros", {tilt, tilt, -tilt}}},
                        {}});
  return robot;
}

}  // namespace espalier::examples
