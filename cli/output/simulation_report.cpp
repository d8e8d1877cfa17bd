#include "cli/output/simulation_report.hpp"

#include <spdlog/fmt/fmt.h>

#include "cli/files/state.hpp"
#include "cli/session.hpp"

namespace espalier::cli {

namespace {

const char* kind_of(const SimulationEvent& event) {
  switch (event.kind) {
    case SimulationEvent::Kind::coordinates:
      return "coordinates";
    case SimulationEvent::Kind::singularity:
      return "singularity";
    case SimulationEvent::Kind::limit:
      return "limit";
    case SimulationEvent::Kind::turn:
      return "turn";
    case SimulationEvent::Kind::damping:
      return "damping";
    case SimulationEvent::Kind::friction:
      return "friction";
  }
  return "";
}

/// What hulls of few corners leave out.
std::string hulls_text(const std::vector<contact::MeshHull>& meshes) {
  if (meshes.empty()) return "";
  const auto worst = std::max_element(meshes.begin(), meshes.end(),
                                      [](const auto& a, const auto& b) { return a.gap < b.gap; });
  return fmt::format(
      "hulls: {} of meshes; the surface of {} is {:.2g} m outside of its {} corners of {}, of "
      "others less\n",
      meshes.size(), worst->shape, worst->gap, worst->corners, worst->of);
}

Json as_json(const RunReport& report) {
  const RunSummary& s = report.summary;
  const EnergyRange& energies = s.energies;
  const double drift = energies.largest_drift(), kinetic = energies.largest_kinetic;
  Json out{{"model", report.model.name()},
           {"algorithm", report.algorithm},
           {"integrator", report.integrator},
           {"duration", s.duration},
           {"dt", report.dt},
           {"rows", s.samples},
           {"energy",
            {{"first", energies.first},
             {"last", energies.last},
             {"largest_change", drift},
             {"relative_to_largest_kinetic", kinetic > 0.0 ? Json(drift / kinetic) : Json()}}},
           {"largest_loop_residual", s.largest_residual},
           {"least_singularity_margin", report.least_margin},
           {"seconds", s.seconds},
           {"real_time_factor", s.seconds > 0.0 ? s.duration / s.seconds : 0.0}};
  State end;
  end.inputs.q = report.q, end.inputs.v = report.v;
  end.inputs.tau.assign(report.model.nv(), 0.0), end.inputs.vdot.assign(report.model.nv(), 0.0);
  const Json all = to_json(report.model, end);
  out["final"] = {{"q", all["q"]}, {"v", all["v"]}};
  out.update(report.more);
  return out;
}

std::string as_text(const RunReport& report) {
  const RunSummary& s = report.summary;
  const EnergyRange& energies = s.energies;
  const double drift = energies.largest_drift(), kinetic = energies.largest_kinetic;
  std::string text = fmt::format(
      "{}: {:g} s by {} and {}, steps of {:g} s\n\n"
      "energy: {:.9g} J at the start, {:.9g} J at the end ({:+.3g} J); largest change {:.3g} J",
      report.model.name(), s.duration, report.algorithm, report.integrator, report.dt,
      energies.first, energies.last, energies.last - energies.first, drift);
  // Of a robot at rest, rounding over rounding says nothing.
  if (kinetic > 1e-12 * std::abs(energies.first) && kinetic > 1e-30) {
    text += fmt::format(", {:.3g} of the largest kinetic energy", drift / kinetic);
  }
  text += "\n";
  if (report.model.has_variable_constraints()) {
    text += fmt::format("loops: largest residual {:.3g}, least singularity margin {:.3g}\n",
                        s.largest_residual, report.least_margin);
  }
  text += report.lines;
  text += fmt::format("time: {:.3g} s, {:.3g} times real time\n", s.seconds,
                      s.seconds > 0.0 ? s.duration / s.seconds : 0.0);
  if (report.output) text += fmt::format("{}: {} rows\n", *report.output, s.samples);
  return text;
}

}  // namespace

void add_events(RunReport& report, const Simulation& simulation) {
  report.more["events"] = Json::array();
  int changes = 0;
  for (const SimulationEvent& event : simulation.events()) {
    report.more["events"].push_back(
        {{"kind", kind_of(event)}, {"t", event.t}, {"text", simulation.text(event)}});
    changes += event.kind == SimulationEvent::Kind::coordinates;
  }
  if (changes == 0) return;
  report.lines +=
      fmt::format("coordinates: changed {} times near dead points (--json lists them)\n", changes);
}

void add_contacts(RunReport& report, const contact::ContactSimulation& simulation,
                  const std::vector<contact::MeshHull>& meshes) {
  Json hulls = Json::array();
  for (const contact::MeshHull& m : meshes) {
    hulls.push_back({{"shape", m.shape},
                     {"mesh", m.file},
                     {"corners", m.corners},
                     {"of", m.of},
                     {"gap", m.gap},
                     {"hollow", m.hollow}});
  }
  report.more["contact"] = {{"points", simulation.contacts().size()},
                            {"residual", simulation.contact_residual()},
                            {"unsolved_steps", simulation.unsolved_steps()},
                            {"deep_steps", simulation.deep_steps()},
                            {"hulls", std::move(hulls)}};
  report.lines += fmt::format(
      "contact: {} points within the margin at the end; {} steps not solved to 1e-6 m/s, {} "
      "too deep\n",
      simulation.contacts().size(), simulation.unsolved_steps(), simulation.deep_steps());
  report.lines += hulls_text(meshes);
}

void print(Session& session, const RunReport& report) {
  if (session.json) {
    session.print(as_json(report));
  } else {
    session.print(as_text(report));
  }
}

}  // namespace espalier::cli
