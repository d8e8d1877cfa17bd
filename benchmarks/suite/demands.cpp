#include "benchmarks/suite/demands.hpp"

#include <algorithm>
#include <cmath>

#include "benchmarks/batches.hpp"
#include "benchmarks/loops/published.hpp"
#include "benchmarks/markdown.hpp"

namespace espalier::bench {

namespace {

const std::string forward = to_string(Work::forward), inverse = to_string(Work::inverse),
                  osim = to_string(Work::inverse_osim), many_forward = forward + ", batch",
                  many_inverse = inverse + ", batch";

/// ABA and RNEA on some robots against Pinocchio.
Demand single_calls(const Measured& m, const std::string& title,
                    const std::vector<std::string>& robots, double wanted, double stretch) {
  Demand d{.work = title, .wanted = wanted, .stretch = stretch};
  for (const std::string& robot : robots) {
    d.add(robot + " ABA", m.theirs(robot, forward, "Pinocchio") / m.ours(robot, forward, "aba"));
    d.add(robot + " RNEA", m.theirs(robot, inverse, "Pinocchio") / m.ours(robot, inverse, "rnea"));
  }
  return d;
}

/// One work on some robots against Pinocchio, by Espalier's fastest way.
Demand against_pinocchio(const Measured& m, const std::string& title, const std::string& work,
                         const std::vector<std::string>& robots, double wanted) {
  Demand d{.work = title, .wanted = wanted};
  for (const std::string& robot : robots) {
    d.add(robot, m.theirs(robot, work, "Pinocchio") / m.theirs(robot, work, "Espalier"));
  }
  return d;
}

/// Doubles differ by rounding alone.
void note_difference(Demand& d, double difference) {
  if (difference > rounding) d.note = format("largest relative difference %.0e", difference);
}

Demand batches(const Measured& m, const std::string& title, const std::string& suffix,
               double wanted, std::optional<double> stretch) {
  Demand d{.work = title, .wanted = wanted, .stretch = stretch};
  const std::string name = batch_name("aba", suffix);
  double difference = 0.0;
  for (const char* robot : {"humanoid", "atlas"}) {
    const Row* ours = m.find(robot, many_forward, "Espalier", name);
    if (ours == nullptr) continue;
    d.add(robot, m.theirs(robot, many_forward, "Pinocchio") / ours->best());
    difference = std::max(difference, ours->difference);
  }
  note_difference(d, difference);
  return d;
}

/// Measured here where generalized_rbda is installed and builds the robot, else divided into its
/// published times.
Demand against_rbda(const Measured& m, const std::string& title, double wanted) {
  Demand d{.work = title, .wanted = wanted};
  for (const published::Time& time : published::times) {
    if (time.wanted != wanted) continue;
    const double ours = m.ours(time.robot, forward, "c-aba");
    const double here = m.theirs(time.robot, forward, "generalized_rbda");
    if (!std::isnan(here)) {
      d.add(time.robot, here / ours);
    } else {
      d.add(time.robot + std::string(" (published)"), 1e3 * time.microseconds / ours);
      d.note = "published: their times were measured on another machine, Zen 3 of 2.45 GHz";
    }
  }
  return d;
}

Demand against_exact_routes(const Measured& m) {
  Demand d{.work =
               "exact C-ABA with loops, one call, against Pinocchio's exact routes (rotors as "
               "bodies and projection; loops as constraints)",
           .wanted = published::wanted_pinocchio};
  for (const std::string& robot : m.robots(forward)) {
    const double ours = m.ours(robot, forward, "c-aba");
    if (!std::isnan(ours)) d.add(robot, m.theirs(robot, forward, "Pinocchio", rounding) / ours);
  }
  return d;
}

Demand own_batches(const Measured& m, const std::string& title, const std::string& suffix) {
  Demand d{.work = title, .wanted = 4};
  double difference = 0.0;
  for (const std::string& robot : m.robots(many_forward)) {
    const Row* batch = m.find(robot, many_forward, "Espalier", batch_name("c-aba", suffix));
    if (batch == nullptr) continue;
    d.add(robot, m.ours(robot, forward, "c-aba") / batch->best());
    difference = std::max(difference, batch->difference);
  }
  note_difference(d, difference);
  return d;
}

Demand two_threads(const Measured& m) {
  Demand d{.work = "two threads against one, batch", .wanted = 1.8, .pattern = "%.2f"};
  const auto add = [&](const std::string& robot, const std::string& work, const char* algorithm,
                       const char* title) {
    d.add(robot + title, m.ours(robot, work, batch_name(algorithm)) /
                             m.ours(robot, work, batch_name(algorithm, ", 2 threads")));
  };
  add("humanoid", many_forward, "aba", " ABA");
  add("humanoid", many_inverse, "rnea", " RNEA");
  add("mit_humanoid", many_forward, "c-aba", " C-ABA");
  return d;
}

void add_properties(const Measured& m, std::vector<Demand>& all) {
  // Nobody has said which deviation still is linear; a tenth tells it from n log n by far.
  Demand linear{.work =
                    "cost linear in bodies, chains of 2 to 500: largest deviation from a line, "
                    "%",
                .at_most = true,
                .wanted = 10};
  linear.add("ABA", 100 * m.growth(forward, "aba").deviation);
  linear.add("RNEA", 100 * m.growth(inverse, "rnea").deviation);
  Demand model{.work = "memory of a Model, bytes a body",
               .at_most = true,
               .wanted = 2000,
               .pattern = "%.0f"};
  Demand workspace{.work = "memory of a workspace, bytes a body",
                   .at_most = true,
                   .wanted = 2000,
                   .pattern = "%.0f"};
  Demand allocations{
      .work = "allocations in evaluate()", .at_most = true, .wanted = 0, .pattern = "%.0f"};
  double allocated = 0;
  for (const Footprint& f : m.footprints) {
    if (model.measured.empty() || model.measured.back().first != f.robot) {
      model.add(f.robot, f.model_bytes);
    }
    workspace.add(f.robot + " " + f.algorithm, f.workspace_bytes);
    allocated += static_cast<double>(f.allocations);
  }
  if (!m.footprints.empty()) allocations.add("all of these", allocated);
  Demand latency{.work = "99.9th percentile of single calls over their median, idle core",
                 .at_most = true,
                 .wanted = 3};
  for (const Latency& l : m.latencies) latency.add(l.robot + " " + l.algorithm, l.p999 / l.p50);
  for (Demand* d : {&linear, &model, &workspace, &allocations, &latency}) all.push_back(*d);
}

/// Branching trees, a humanoid with hands, an arm without right angles.
void add_generated(const Measured& m, std::vector<Demand>& all) {
  const std::vector<std::string> trees{"tree_60", "tree_60_ternary", "tree_254"};
  all.push_back(against_pinocchio(m, "ABA, one call, branching trees, against Pinocchio", forward,
                                  trees, 3.5));
  all.push_back(against_pinocchio(m, "RNEA, one call, branching trees, against Pinocchio", inverse,
                                  trees, 3));
  all.push_back(against_pinocchio(m, "CRBA, one call, branching trees of 60, against Pinocchio",
                                  to_string(Work::mass_matrix), {"tree_60", "tree_60_ternary"},
                                  1.8));
  const std::vector<std::string> arm{"general_arm"}, hands{"humanoid_hands"};
  all.push_back(against_pinocchio(m, "ABA, one call, arm without right angles, against Pinocchio",
                                  forward, arm, 3.5));
  all.push_back(against_pinocchio(m, "the same, RNEA", inverse, arm, 3));
  all.push_back(against_pinocchio(m, "ABA, one call, humanoid with hands, against Pinocchio",
                                  forward, hands, 4));
  all.push_back(against_pinocchio(m, "CRBA, one call, both of these and Panda, against Pinocchio",
                                  to_string(Work::mass_matrix),
                                  {"general_arm", "humanoid_hands", "panda"}, 2.2));
}

/// What programs wait for before their first result, and calls that come after other work.
void add_starts(const Measured& m, std::vector<Demand>& all) {
  const auto wanted = [](const char* work, double at_most) {
    return Demand{.work = work, .at_most = true, .wanted = at_most};
  };
  Demand arm = wanted("process start to first result, six-axis arm, ms of the processor", 3),
         humanoid = wanted("the same, humanoid", 4), memory = wanted("memory after it, MB", 9);
  for (const StartUp& s : m.start_ups) {
    if (s.library != "Espalier") continue;
    (s.robot == "ur5" ? arm : humanoid).add(s.robot, s.ms);
    memory.add(s.robot, s.megabytes);
  }
  Demand cold{.work = "all caches cold, against Pinocchio", .wanted = 1.3};
  for (const Cold& ours : m.cold) {
    if (ours.library != "Espalier") continue;
    for (const Cold& theirs : m.cold) {
      if (theirs.robot == ours.robot && theirs.algorithm == ours.algorithm &&
          theirs.library.starts_with("Pinocchio")) {
        cold.add(ours.robot + " " + ours.algorithm, theirs.ns / ours.ns);
      }
    }
  }
  for (const Demand* d : {&arm, &humanoid, &memory, &cold}) all.push_back(*d);
}

}  // namespace

std::vector<Demand> demands(const Measured& m) {
  std::vector<Demand> all;
  all.push_back(single_calls(m, "ABA and RNEA, one call, humanoids, against Pinocchio",
                             {"humanoid", "atlas"}, 3, 4.5));
  all.push_back(
      single_calls(m, "ABA and RNEA, one call, six-axis arm, against Pinocchio", {"ur5"}, 3, 5));
  add_generated(m, all);
  all.push_back(against_pinocchio(m, "Jacobians of all links, against Pinocchio",
                                  to_string(Work::jacobians),
                                  {"humanoid", "talos", "chain_100", "tree_254"}, 2));
  all.push_back(against_pinocchio(m, "Jacobian of one link, against Pinocchio",
                                  to_string(Work::jacobian), {"humanoid", "chain_100", "tree_254"},
                                  2));
  all.push_back(against_pinocchio(m, "placements of all links, against Pinocchio",
                                  to_string(Work::placements), {"humanoid", "panda", "tree_60"},
                                  3));
  Demand body{.work = "one body: bias forces, centre of mass, energy, against Pinocchio",
              .wanted = 1.5};
  for (const Work work : {Work::bias_forces, Work::center_of_mass, Work::energy}) {
    const std::string name = to_string(work);
    body.add(name,
             m.theirs("quadrotor", name, "Pinocchio") / m.theirs("quadrotor", name, "Espalier"));
  }
  all.push_back(body);
  all.push_back(against_pinocchio(m, "derivatives of inverse dynamics, against Pinocchio",
                                  to_string(Work::inverse_derivatives), {"humanoid", "ur5"}, 2.5));
  all.push_back(against_pinocchio(m, "derivatives of forward dynamics, humanoid, against Pinocchio",
                                  to_string(Work::forward_derivatives), {"humanoid"}, 2.8));
  all.push_back(against_pinocchio(m, "the same, six-axis arm", to_string(Work::forward_derivatives),
                                  {"ur5"}, 2.5));
  all.push_back(against_pinocchio(m, "inverse mass matrix, against Pinocchio",
                                  to_string(Work::inverse_mass_matrix), {"humanoid", "ur5"}, 2.5));
  all.push_back(batches(
      m, "ABA, batch of 4096, double, humanoids, per core, against Pinocchio's loop", "", 12, 16));
  all.push_back(batches(m, "the same, float", ", float", 20, std::nullopt));
  all.push_back(against_rbda(m,
                             "exact C-ABA with loops, one call, against generalized_rbda, geared "
                             "robots",
                             published::wanted_geared));
  all.push_back(against_rbda(m, "the same, Tello", published::wanted_tello));
  all.push_back(against_exact_routes(m));
  Demand osims{
      .work = "inverse OSIM of two 6D feet, humanoids, against Pinocchio's best Delassus algorithm",
      .wanted = 2.5};
  for (const char* robot : {"humanoid", "atlas"}) {
    osims.add(robot, m.theirs(robot, osim, "Pinocchio") / m.theirs(robot, osim, "Espalier"));
  }
  all.push_back(osims);
  all.push_back(own_batches(
      m, "C-ABA with loops in a batch, double, per core, against our own single call", ""));
  all.push_back(own_batches(m, "the same, float", ", float"));
  all.push_back(two_threads(m));
  add_properties(m, all);
  add_starts(m, all);
  return all;
}

}  // namespace espalier::bench
