#pragma once

#include <memory>
#include <string>
#include <vector>

#include "espalier/espalier.hpp"
#include "espalier/kernel/model/layout.hpp"
#include "espalier/simulation/simulation.hpp"
#include "tests/support/four_bar.hpp"
#include "tests/support/host.hpp"
#include "tests/support/state.hpp"

namespace espalier::test {

/// The state of a robot at some time.
struct At {
  std::vector<double> q, v;
};

inline std::string forward_dynamics_for(const ModelPtr& model) {
  const Registry& registry = host().registry();
  for (const char* name : {"c-aba", "dense"}) {
    if (registry.can(registry.find_algorithm("forward-dynamics", name), *model).ok) return name;
  }
  return "dense";
}

inline std::unique_ptr<Simulation> simulation(
    const ModelPtr& model, const std::string& integrator, const At& start,
    const Parameters& integrator_options = {}, const SimulationOptions& options = {},
    std::vector<std::unique_ptr<Controller>> controllers = {}) {
  auto s =
      make_simulation(host(), model, {forward_dynamics_for(model), integrator, integrator_options},
                      options, std::move(controllers));
  s->start(start.q, start.v);
  return s;
}

/// Where a robot is after `duration`, by steps of h.
inline At after(const ModelPtr& model, const std::string& integrator, const At& start,
                double duration, double h, const Parameters& options = {},
                const SimulationOptions& how = {}) {
  const auto s = simulation(model, integrator, start, options, how);
  s->run(duration, h, 1 << 30, [](const Sample&) { return true; });
  return {s->q(), s->v()};
}

/// Largest distance of positions, in tangent coordinates, and of rates.
inline double distance(const Model& model, const At& a, const At& b) {
  std::vector<double> between(model.spanning_nv());
  model.difference(a.q.data(), b.q.data(), between.data());
  return std::max(largest(between), largest_difference(a.v, b.v));
}

/// Largest change of energy on the way, over the largest kinetic energy.
struct Drift {
  double relative = 0.0, residual = 0.0;
};
inline Drift drift(Simulation& s, double duration, double h, int every = 20) {
  double first = 0.0, most = 0.0, kinetic = 0.0;
  Drift out;
  bool begun = false;
  s.run(duration, h, every, [&](const Sample& now) {
    if (!begun) first = now.energy();
    begun = true;
    kinetic = std::max(kinetic, now.kinetic);
    most = std::max(most, std::abs(now.energy() - first));
    out.residual = std::max(out.residual, now.residual);
    return true;
  });
  out.relative = most / kinetic;
  return out;
}

}  // namespace espalier::test
