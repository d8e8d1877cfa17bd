#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "espalier/simulation/simulation.hpp"
#include "viewer/server/mechanism.hpp"

namespace espalier::viewer {

/// What all clients look at: a robot, and what is sent of it.
struct Stage {
  /// @throws as Host::read() and compile(); InvalidModel for a mesh folder that is none
  Stage(const Host& host, const std::string& robot_file, const CompileOptions& options,
        const std::vector<std::filesystem::path>& mesh_folders = {});

  const Host& host;
  std::string robot_file;
  Description description;
  ModelPtr model;
  MeshFiles meshes;
  Json scene;
  std::vector<double> start;  ///< position in which clients begin
  /// What simulations run by, unless a client asks for another.
  SimulationNames names;
};

/// One viewer's robot and its conversation, without the network: text in, text out. Never throws
/// for what a client writes. Belongs to one thread.
///
/// In: {"do": "hello" | "set" | "neutral" | "random" | "place" | "branch" | "drag" | "play" |
/// "pause" | "step" | "rest" | "seen", ...}, see client.cpp. Out: {"scene": ...}, {"pose": ...},
/// {"error": text}. A message with an "id" has it in its answer.
class Client {
 public:
  explicit Client(const Stage& stage);

  /// @return the answer; empty where none is due
  std::string receive(std::string_view text);
  bool playing() const { return playing_; }
  /// Advances a running simulation, unless the page has yet to draw the frames before.
  /// @param seconds  of the clock since the last call
  /// @return what to send, if the simulation runs
  std::optional<std::string> tick(double seconds);

 private:
  Json answer(const Json& message);
  Json pose();
  void start_simulation(const Json& message);
  void leave_simulation();

  const Stage& stage_;
  Mechanism mechanism_;
  std::unique_ptr<Simulation> simulation_;
  SimulationNames names_;
  bool playing_ = false;
  double step_ = 1e-3, speed_ = 1.0;
  int sent_ = 0, seen_ = 0;  // frames
};

}  // namespace espalier::viewer
