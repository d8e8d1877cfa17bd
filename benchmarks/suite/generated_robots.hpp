#pragma once

#include <string>

namespace espalier::bench {

/// An arm of seven continuous joints as URDF text, with joint frames as of a Kinova Gen3: at right
/// angles to each other, but for the digits that such files leave out (1.5708), so that no axis is
/// exactly parallel or at a right angle to the next. General inertias.
std::string general_arm_urdf();
/// One body, whose axes are no principal ones.
std::string quadrotor_urdf();

/// A robot with a hand of five fingers on each of two links: four joints each, the thumb three.
/// @throws InvalidModel if the text has no such link
std::string with_hands(std::string urdf, const std::string& left, const std::string& right);

}  // namespace espalier::bench
