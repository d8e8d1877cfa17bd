#pragma once

#include <array>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cli/files/end_effectors.hpp"
#include "cli/session.hpp"
#include "espalier/kernel/problems/operational_space/input_matrix.hpp"

/// A robot's state with everything that acts on it: from a state file, at random, and back.
///
///   {"q": {joint: number or list}, "v": {...}, "tau": {...}, "vdot": {...},
///    "gravity": [x, y, z], "external_wrenches": {link: [6 numbers]},
///    "end_effectors": as in end_effectors.hpp, "inputs": as in inputs.hpp,
///    "groups": {subsystem: [joints]}}

namespace espalier::cli {

struct State {
  Inputs inputs;  ///< `wrenches` points to the member below
  Vec3<double> gravity;
  std::vector<std::pair<std::string, std::array<double, 6>>> external_wrenches;
  std::shared_ptr<const Wrenches<double>> wrenches;
  std::vector<EndEffector> end_effectors;  ///< `inputs` holds their accelerations
  std::vector<Input> actuation;            ///< columns of the input matrix
  std::vector<SubsystemGroup> groups;      ///< Bremer's subsystems

  /// Has other end-effectors, of which no acceleration is wanted.
  void replace(std::vector<EndEffector> others);
};

/// Neutral positions (of free joints those of the state 'qpos0' that MJCF names), all else zero,
/// the model's gravity, no end-effectors and no inputs.
State neutral_state(const ModelPtr& model);

/// Reads a state file ("-": standard input), or takes a state of this name from the robot's file
/// where there is no such file. Joints left out are neutral. Positions of dependent
/// joints follow from their couplings and loops where they are left out, and must agree with them
/// to 1e-6 where they are given; v, tau and vdot belong to independent joints. Positions on
/// manifolds (quaternions) are normalised if they are off by at most 1e-3.
/// @throws Failure (wrong form: exit code 2; impossible numbers: 1), UnknownName, SizeMismatch
State read_state(const ModelPtr& model, const std::string& file);

/// The same of a state that the robot's file names.
/// @param tied  whether positions follow from couplings and loops and must agree with them
State read_named_state(const ModelPtr& model, const NamedState& state, bool tied = true);

/// q by Model::random; v, tau, vdot and accelerations of the end-effectors uniform in [-1, 1];
/// inputs as default_inputs() has them.
/// @param with_wrenches  whether each link gets a wrench too, components uniform in [-1, 1]
State random_state(const ModelPtr& model, unsigned long long seed,
                   std::vector<EndEffector> end_effectors, bool with_wrenches = false);

/// The contents of a state file that reads back as `state`.
Json to_json(const Model& model, const State& state);

/// Independent rates by joint name: a number for joints of one rate, else a list.
Json rates_by_joint(const Model& model, const double* rates);

/// Names of the independent joints that a dependent one follows, each in quotes.
std::string followed_joints(const Model& model, const Joint& dependent);

}  // namespace espalier::cli
