#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/files/state.hpp"
#include "espalier/simulation/contact/contact_simulation.hpp"
#include "espalier/simulation/contact/ground.hpp"

/// What `simulate --ground` reads, warns of and writes.

namespace espalier::cli {

/// The world that a robot touches.
struct Ground {
  contact::World world;
  contact::WorldReport shapes;
};
/// The world of --ground: "plane" or a file. Shapes that touch nothing and meshes that touch as
/// their hulls are told. @throws Failure with exit code 2 for what is wrong in the file
Ground read_ground(Session& session, const Model& model, const std::string& ground,
                   const ReadOptions& reading);

/// Tells shapes that overlap before anything moves: what pushes them apart is no physics.
/// @param trial  is moved by a step of length dt
void warn_of_overlap(Session& session, contact::ContactSimulation& trial, const State& start,
                     double dt);

/// Columns that say what touches: the force on each shape of the robot, how many points bear load,
/// and the residual of the impulses.
class ContactColumns {
 public:
  explicit ContactColumns(const contact::ContactSimulation& simulation);

  /// What stands in them now.
  const std::vector<double>& values();

  std::vector<std::string> names;

 private:
  const contact::ContactSimulation& simulation_;
  std::vector<const contact::Plan::Solid*> shapes_;
  std::vector<double> values_;
};

}  // namespace espalier::cli
