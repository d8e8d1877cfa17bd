#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "espalier/kernel/model/motion/passive.hpp"
#include "espalier/kernel/model/motion/spanning_motion.hpp"
#include "espalier/simulation/simulation.hpp"
#include "viewer/server/json.hpp"

namespace espalier::viewer {

/// Makes the controllers of a file for a model; empty: there is no file.
using ControllerSource = std::function<std::vector<std::unique_ptr<Controller>>(const Model&)>;

/// Names of the controllers that a page offers: "none"; "gravity", motors bear the robot's weight
/// at every position; "hold", besides springs and dampers at the present position; "file".
std::vector<std::string> controller_names(const ControllerSource& source);

/// What a run consists of, by name.
struct RunNames {
  SimulationNames simulation;
  std::string controller = "none";
};

/// A simulation that a page watches. Belongs to one thread.
class Run {
 public:
  /// @param q  closed position, at which "hold" holds  @param v  independent rates
  /// @throws as make_simulation(); UnknownName for a controller
  Run(const Host& host, const ModelPtr& model, const RunNames& names,
      const ControllerSource& source, In<double> q, In<double> v, double t);
  ~Run();

  void step(double h) { simulation_->step(h); }
  double time() const { return simulation_->time(); }
  const std::vector<double>& q() const { return simulation_->q(); }
  const std::vector<double>& v() const { return simulation_->v(); }

  /// {"t", "kinetic", "gravity", "springs", "energy", "residual", "v", "tau"}; tau are the
  /// controllers' forces on the independent rates.
  Json sample();
  /// Accelerations of the independent rates now. @param[out] vdot  size nv
  void accelerations(std::vector<double>& vdot);

 private:
  /// Forces of the controllers, and of passive elements if asked for, on the independent rates.
  const std::vector<double>& reduced(bool passive);

  ModelPtr model_;
  std::vector<Controller*> controllers_;  ///< the simulation's
  std::unique_ptr<Simulation> simulation_;
  std::unique_ptr<ForwardDynamics<double>> dynamics_;
  PassiveForces passive_;
  SpanningMotion<double> motion_;
  std::vector<double> forces_, tau_;
};

}  // namespace espalier::viewer
