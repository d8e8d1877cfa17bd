#pragma once

#include <string>
#include <vector>

#include "espalier/espalier.hpp"
#include "espalier/kernel/model/layout.hpp"

namespace espalier::bench {

/// What is timed; the order of the first four is that of peers/peer.h.
enum class Work {
  forward,
  inverse,
  mass_matrix,
  inverse_osim,
  jacobian,             ///< of the last of the robot's links
  jacobians,            ///< of all of them, one after the other into one matrix
  placements,           ///< of all of them, from positions alone
  inverse_derivatives,  ///< of inverse dynamics, by q and by v, and the mass matrix
  forward_derivatives,  ///< of forward dynamics, by q and by v, and the inverse of the mass matrix
  inverse_mass_matrix,
  bias_forces,     ///< Coriolis, centrifugal and gravity
  center_of_mass,  ///< with its velocity and acceleration
  energy           ///< kinetic and potential
};
const char* to_string(Work work);

/// Every call takes the next of so many random states, so that no branch or value repeats itself.
constexpr int state_count = 16;

struct RandomState {
  std::vector<double> q, v, tau, vdot;
};

/// `state_count` states of a model; loops are closed.
std::vector<RandomState> random_states(const Model& model);

/// Links that are welded for the inverse operational-space inertia: the feet of a robot that has
/// some (links whose names hold "foot", "toe" or "ankle" and that carry nothing), else all tips.
std::vector<std::string> held_links(const Model& model);

/// A robot as all libraries get it: the same text, the same states.
struct Robot {
  std::string name;
  std::string urdf;  ///< the file's text
  bool floating = false;
  ModelPtr model;
  std::string root;                 ///< link
  std::vector<std::string> joints;  ///< besides the root's, in the order of q and of v
  std::vector<std::string> links;   ///< that hang on them, their frames where the joints are
  std::vector<std::string> held;    ///< held_links()
  std::vector<RandomState> states;

  /// Compiles the robot without mimics, which peers ignore, and draws its states.
  /// @throws Unsupported if a joint besides the root has several degrees of freedom
  Robot(const Host& host, std::string name, std::string urdf, bool floating);
};

/// The text of a file. @throws InvalidModel if it cannot be read
std::string text_of(const std::string& path);
/// A URDF file; the robot's name is the file's.
Robot robot_of_file(const Host& host, const std::string& path, bool floating);

}  // namespace espalier::bench
