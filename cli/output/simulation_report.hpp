#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "cli/files/json_form.hpp"
#include "cli/output/row_energies.hpp"
#include "espalier/simulation/contact/contact_simulation.hpp"
#include "espalier/simulation/contact/meshes/mesh_shape.hpp"
#include "espalier/simulation/simulation.hpp"

/// What `simulate` says at its end.

namespace espalier::cli {

class Session;

/// What a run came to.
struct RunSummary {
  double duration = 0.0;  ///< simulated [s]
  double seconds = 0.0;   ///< by the clock
  long long samples = 0;
  EnergyRange energies;
  double largest_residual = 0.0;  ///< of loops

  void take(const Sample& now) {
    energies.take(static_cast<std::size_t>(samples++), now.kinetic, now.energy());
    largest_residual = std::max(largest_residual, now.residual);
  }
};

/// The report of a run, on the ground or not.
struct RunReport {
  const Model& model;
  std::string algorithm, integrator;
  double dt;
  RunSummary summary;
  double least_margin;                ///< of the loops' singularity margins
  std::vector<double> q, v;           ///< at the end
  std::optional<std::string> output;  ///< file of the motion
  Json more;                          ///< members of this kind of run
  std::string lines;                  ///< likewise, as text
};

/// What happened on the way: coordinates that changed, singular poses, limits.
void add_events(RunReport& report, const Simulation& simulation);
/// What touches at the end, steps that were not solved, and meshes that touch as hulls.
void add_contacts(RunReport& report, const contact::ContactSimulation& simulation,
                  const std::vector<contact::MeshHull>& meshes);
/// As text, or as JSON where the session says so.
void print(Session& session, const RunReport& report);

}  // namespace espalier::cli
