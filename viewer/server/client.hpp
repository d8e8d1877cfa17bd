#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "viewer/server/mechanism.hpp"
#include "viewer/server/motion/forces.hpp"
#include "viewer/server/motion/run.hpp"

namespace espalier::viewer {

/// What all clients look at: a robot, and what is sent of it.
struct Stage {
  /// @throws as Host::read() and compile(); InvalidModel for a mesh folder that is none
  Stage(const Host& host, const std::string& robot_file, const CompileOptions& options,
        const std::vector<std::filesystem::path>& mesh_folders = {},
        const ReadOptions& reading = {});

  /// The scene of the robot with a choice of independent coordinates, with the names of what it can
  /// run by. @param[in,out] names  what it runs by unless a client asks for another
  Json scene_with(const Description& description, const ModelPtr& model, RunNames& names) const;

  const Host& host;
  std::string robot_file;
  CompileOptions options;
  Description description;
  ModelPtr model;
  MeshFiles meshes;
  ControllerSource controllers{};  ///< of a file; empty: none
  RunNames names;
  Json scene;
  std::vector<double> start;          ///< position in which clients begin
  std::vector<double> usual_margins;  ///< Mechanism's, found once for all clients
  /// A robot beside it, which does the same: another file, or the same by another algorithm.
  const Stage* other = nullptr;
  bool keeps_algorithm = false;  ///< as the other: runs by its own algorithm alone
};

/// One viewer's robot and its conversation, without the network: text in, text out. Never throws
/// for what a client writes. Belongs to one thread.
///
/// In: {"do": "hello" | "set" | "neutral" | "random" | "place" | "branch" | "coordinates" | "drag"
/// | "show" | "play" | "pause" | "step" | "rest" | "seen", ...}, see client.cpp. Out: {"scene":
/// ...},
/// {"pose": ...}, {"error": text}; {"other": the same of the robot beside, "difference": number}.
/// A message with an "id" has it in its answer.
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
  Json move(const std::string& what, const Json& message);
  Json pose();
  void add_forces(Json& pose);
  void start_simulation(const Json& message);
  void leave_simulation();
  void change_coordinates(int cluster, const std::string& joint);
  void take_other(const Json& message, Json& out);
  std::optional<Json> for_other(Json message) const;
  double difference() const;

  const Stage& stage_;
  std::shared_ptr<const Description> description_;  ///< with the coordinates that were chosen
  ModelPtr model_;
  Json scene_;
  std::unique_ptr<Mechanism> mechanism_;
  std::unique_ptr<Run> run_;
  std::unique_ptr<Forces> forces_;  ///< made when they are first asked for
  std::unique_ptr<Client> other_;
  RunNames names_;
  bool playing_ = false, show_reactions_ = false;
  int strength_of_ = -1;  ///< link whose polytope is shown
  double step_ = 1e-3, speed_ = 1.0;
  int sent_ = 0, seen_ = 0;  // frames
};

}  // namespace espalier::viewer
