#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "espalier/espalier.hpp"
#include "espalier/kernel/model/layout.hpp"
#include "espalier/simulation/contact/shape.hpp"
#include "espalier/simulation/contact/world.hpp"

/// Robots that stand on rigid ground, as Espalier and as a peer get them.

namespace espalier::bench {

/// A robot with its feet, drives and stance.
struct StandingRobot {
  Description description;  ///< its root on a floating joint 'root' of the link 'world'
  ModelPtr model;
  std::vector<contact::PlacedShape> feet;  ///< spheres; empty: it flies
  std::vector<std::string> drives;         ///< joints of one rate
  double kp = 0.0, kd = 0.0;               ///< of every drive [N·m/rad, N·m·s/rad]
  std::vector<double> q;                   ///< stance, nq: lowest foot on the ground
  double mass = 0.0;                       ///< [kg]
  bool implicit_friction = false;          ///< of joints, instead of rows
  std::optional<contact::World> own;       ///< lies: the file's shapes instead of feet, and limits
  std::string file;                        ///< of a robot that lies
};

/// How a robot of a file is to stand.
struct Standing {
  std::string file;
  std::vector<std::pair<std::string, Vec3<double>>> feet;  ///< part of a link's name, and where
  double radius = 0.02;                                    ///< of the spheres there [m]
  double kp = 0.0, kd = 0.0;
  /// Part of a joint's name, and its position [rad]: independent joints of the stance.
  std::vector<std::pair<std::string, double>> stance = {};
  double friction = 0.0;  ///< dry friction of every joint of one rate [N·m]
  bool implicit_friction = false;
};

/// @param flies  without feet, and without ground
/// @throws std::runtime_error where loops do not close in the stance
StandingRobot stand(const Host& host, const Standing& how, bool flies = false);

/// A robot of a file with its own shapes, which touch each other, and no drives: falls from 0.4 m
/// on its back.
/// @param file  MJCF, for both
/// @throws std::runtime_error unless its root floats on a joint 'root' and the file has a plane
StandingRobot lie_down(const Host& host, const std::string& file);

/// The same as MJCF, feet and ground with it.
std::string mjcf_of(const Host& host, const StandingRobot& robot);

constexpr double friction_on_ground = 0.7;

}  // namespace espalier::bench
