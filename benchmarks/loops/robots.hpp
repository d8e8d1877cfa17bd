#pragma once

#include <string>
#include <vector>

#include "benchmarks/robot.hpp"

namespace espalier::bench {

/// A point of one body that is a point of another, in their frames; body 0 is the ground.
struct SharedPoint {
  int body[2];
  Vec3<double> point[2];
};

/// A robot with loops, its rotors folded and kept, and the states at which all are called.
struct LoopRobot {
  std::string name;
  bool floating = false;
  ModelPtr model;                        ///< rotors folded into their parents, the default
  std::vector<RandomState> states;       ///< assembled
  ModelPtr kept;                         ///< rotors as bodies; null where there are none
  std::vector<RandomState> kept_states;  ///< the same states
  std::vector<std::string> held;         ///< held_links()
  std::vector<int> kept_rate;            ///< where each independent rate of `model` is in `kept`
  std::vector<SharedPoint> points;       ///< what peers close its loops by; none: by G alone

  /// @param draw  `state_count` closed states of the model
  /// @throws InvalidModel if a state cannot be assembled
  LoopRobot(const Host& host, std::string name, const Description& description, bool floating,
            std::vector<RandomState> (*draw)(const Model&) = random_states);
};

/// Those of Chignoli et al. (2023), Tello, and sixteen four-bars by laws and by pins.
std::vector<LoopRobot> paper_robots(const Host& host);
/// A robot of robots/ by its file name; all of these have a floating root.
LoopRobot robot_of_collection(const Host& host, const std::string& file);
/// A generated one (chains.hpp) by its YAML text, on a fixed root.
Description read_yaml(const Host& host, const std::string& name, const std::string& yaml);
LoopRobot robot_of_yaml(const Host& host, const std::string& name, const std::string& yaml);
/// A chain of four-bars (four_bar_chain_yaml) whose laws are replaced by loop joints that turn.
Description closed_by_pins(Description four_bars);

}  // namespace espalier::bench
