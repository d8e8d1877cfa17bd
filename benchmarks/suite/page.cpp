#include "benchmarks/suite/page.hpp"

#include <algorithm>
#include <cmath>

#include "benchmarks/batches.hpp"
#include "benchmarks/loops/published.hpp"
#include "benchmarks/markdown.hpp"
#include "benchmarks/suite/demands.hpp"

namespace espalier::bench {

namespace {

const char* const dash = "-";
const std::string forward = to_string(Work::forward), inverse = to_string(Work::inverse),
                  matrix = to_string(Work::mass_matrix), osim = to_string(Work::inverse_osim),
                  many_forward = forward + ", batch", many_inverse = inverse + ", batch";

std::string code(const std::string& words) { return "`" + words + "`"; }
std::string cell(const char* pattern, double x) {
  return std::isnan(x) ? dash : format(pattern, x);
}
/// A time, and in brackets how many times Espalier's it is.
std::string beside(double time, double ours) {
  if (std::isnan(time)) return dash;
  return format("%.0f", time) +
         (std::isnan(ours) ? "" : format(" (%.*f)", time / ours < 9.95 ? 1 : 0, time / ours));
}
std::string size_of(const Measured& m, const std::string& robot) {
  const auto row =
      std::find_if(m.rows.begin(), m.rows.end(), [&](const Row& r) { return r.robot == robot; });
  return row->bodies == row->nv
             ? robot
             : robot + ", " + std::to_string(row->nv) + (row->floating ? " floating" : "");
}

/// Single calls of robots without loops: Espalier's first algorithm, and every peer's.
std::string calls(const Measured& m) {
  std::vector<std::string> peers = m.peers();
  std::erase_if(peers, [&](const std::string& peer) {  // those for robots with loops alone
    const std::vector<std::string> robots = m.robots(matrix);
    return std::all_of(robots.begin(), robots.end(), [&](const std::string& robot) {
      return std::isnan(m.theirs(robot, forward, peer));
    });
  });
  std::vector<std::string> head{"robot", "call", "Espalier"};
  head.insert(head.end(), peers.begin(), peers.end());
  Table table(head, 2);
  for (const std::string& robot : m.robots(matrix)) {
    std::string name = size_of(m, robot);
    for (const auto& [work, algorithm] :
         {std::pair(forward, "aba"), std::pair(inverse, "rnea"), std::pair(matrix, "crba")}) {
      const double ours = m.ours(robot, work, algorithm);
      std::vector<std::string> line{std::exchange(name, ""), code(algorithm), cell("%.0f", ours)};
      for (const std::string& peer : peers) {
        line.push_back(beside(m.theirs(robot, work, peer), ours));
      }
      table.add(line);
    }
  }
  return table.text();
}

/// Some works, a line each, beside the peers that have the first of them.
std::string works_table(const Measured& m, const std::vector<Work>& works) {
  std::vector<std::string> peers = m.peers();
  std::erase_if(peers, [&](const std::string& peer) {
    return std::isnan(m.theirs("humanoid", to_string(works.front()), peer));
  });
  std::vector<std::string> head{"robot", "call", "Espalier"};
  head.insert(head.end(), peers.begin(), peers.end());
  Table table(head, 2);
  for (const std::string& robot : m.robots(to_string(works.front()))) {
    std::string name = size_of(m, robot);
    for (const Work what : works) {
      const std::string work = to_string(what);
      const double ours = m.theirs(robot, work, "Espalier");
      std::vector<std::string> line{std::exchange(name, ""), work, cell("%.0f", ours)};
      for (const std::string& peer : peers) {
        line.push_back(beside(m.theirs(robot, work, peer), ours));
      }
      table.add(line);
    }
  }
  return table.text();
}

std::string batch_table(const Measured& m) {
  std::vector<std::string> head{"robot", "algorithm", "single call"};
  const std::vector<BatchKind> kinds = batch_kinds();
  for (const BatchKind& kind : kinds) {
    head.push_back("batch" + (kind.suffix.empty() ? ", 1 thread" : kind.suffix));
  }
  head.emplace_back("Pinocchio's loop");
  head.emplace_back("over a thread of ours");
  Table table(head, 2);
  for (const std::string& robot : m.robots(many_forward)) {
    std::string name = size_of(m, robot);
    for (const char* algorithm : {"aba", "rnea", "c-aba", "c-rnea"}) {
      const std::string work = std::string(algorithm).ends_with("aba") ? forward : inverse;
      const double single = m.ours(robot, work, algorithm);
      if (std::isnan(single)) continue;
      std::vector<std::string> line{std::exchange(name, ""), code(algorithm), cell("%.0f", single)};
      for (const BatchKind& kind : kinds) {
        const double time = m.ours(robot, work + ", batch", batch_name(algorithm, kind.suffix));
        line.push_back(std::isnan(time) ? dash : format("%.0f (%.2f)", time, single / time));
      }
      const double loop = m.theirs(robot, work + ", batch", "Pinocchio");
      line.push_back(cell("%.0f", loop));
      line.push_back(cell("%.1f", loop / m.ours(robot, work + ", batch", batch_name(algorithm))));
      table.add(line);
    }
  }
  return table.text();
}

/// All ways to J M^-1 J^T, over the fastest of Espalier's.
std::string osim_table(const Measured& m) {
  std::vector<std::pair<std::string, std::string>> ways;  // library, algorithm
  std::vector<std::string> head{"robot"};
  for (const Row& row : m.rows) {
    const std::pair<std::string, std::string> way{row.library, row.algorithm};
    if (row.work != osim || row.ns.empty() || row.algorithm.starts_with("c-")) continue;
    if (std::find(ways.begin(), ways.end(), way) != ways.end()) continue;
    ways.push_back(way);
    head.push_back(row.library == "Espalier" ? code(row.algorithm)
                                             : row.library + " " + code(row.algorithm));
  }
  Table table(head);
  for (const std::string& robot : m.robots(osim)) {
    if (std::isnan(m.ours(robot, osim, "pv-osim"))) continue;
    const double best = m.theirs(robot, osim, "Espalier");
    std::vector<std::string> line{size_of(m, robot)};
    for (const auto& [library, algorithm] : ways) {
      const Row* row = m.find(robot, osim, library, algorithm);
      line.push_back(row == nullptr ? dash : beside(row->best(), best));
    }
    table.add(line);
  }
  return table.text();
}

/// The fastest way of generalized_rbda, or what was published where it was not timed.
std::string rbda_cell(const Measured& m, const std::string& robot, double ours) {
  const double here = m.theirs(robot, forward, "generalized_rbda");
  if (!std::isnan(here)) return beside(here, ours);
  for (const published::Time& time : published::times) {
    if (robot != time.robot || !std::string(time.who).starts_with("generalized_rbda")) continue;
    return beside(1e3 * time.microseconds, ours) + " published";
  }
  return dash;
}

std::string loop_table(const Measured& m) {
  Table table({"robot", "`c-aba`", "`projection`", "Pinocchio, exact", "generalized_rbda",
               "`c-rnea`", "J M⁻¹ Jᵀ by `c-pv-osimr`"});
  for (const std::string& robot : m.robots(forward)) {
    const double ours = m.ours(robot, forward, "c-aba");
    if (std::isnan(ours)) continue;
    table.add({size_of(m, robot), cell("%.0f", ours),
               beside(m.ours(robot, forward, "projection"), ours),
               beside(m.theirs(robot, forward, "Pinocchio", rounding), ours),
               rbda_cell(m, robot, ours), cell("%.0f", m.ours(robot, inverse, "c-rnea")),
               cell("%.0f", m.ours(robot, osim, "c-pv-osimr"))});
  }
  return table.text();
}

std::string growth_lines(const Measured& m) {
  std::string out;
  for (const auto& [work, algorithm] : {std::pair(forward, "aba"), std::pair(inverse, "rnea")}) {
    const LineFit line = m.growth(work, algorithm);
    if (std::isnan(line.deviation)) continue;
    out += format(
        "* Chains of 2 to 500 bodies: `%s` takes %.0f ns and %.1f ns a body; no point is further "
        "than %.1f %% from this line.\n",
        algorithm, line.start, line.slope, 100 * line.deviation);
  }
  return out;
}

std::string footprint_table(const Measured& m) {
  Table table({"robot", "algorithm", "bodies", "Model, bytes a body", "workspace, bytes a body",
               "allocations in 16 calls"},
              2);
  for (const Footprint& f : m.footprints) {
    table.add({f.robot, code(f.algorithm), std::to_string(f.bodies), format("%.0f", f.model_bytes),
               format("%.0f", f.workspace_bytes), std::to_string(f.allocations)});
  }
  return table.text();
}

std::string latency_table(const Measured& m) {
  Table table({"robot", "algorithm", "median", "99 %", "99.9 %", "99.9 % over median"}, 2);
  for (const Latency& l : m.latencies) {
    table.add({l.robot, code(l.algorithm), format("%.0f", l.p50), format("%.0f", l.p99),
               format("%.0f", l.p999), format("%.2f", l.p999 / l.p50)});
  }
  return table.text();
}

std::string start_table(const Measured& m) {
  Table table({"robot", "library", "ms", "median ms", "MB"}, 2);
  for (const StartUp& s : m.start_ups) {
    table.add({s.robot, s.library, format("%.1f", s.ms), format("%.1f", s.median_ms),
               format("%.1f", s.megabytes)});
  }
  return table.text();
}

/// Espalier's calls, and beside each what the peers take for the same work.
std::string cold_table(const Measured& m) {
  Table table({"robot", "library", "call", "in no cache", "in the last cache"}, 3);
  for (const Cold& c : m.cold) {
    table.add(
        {c.robot, c.library, code(c.algorithm), format("%.0f", c.ns), format("%.0f", c.near_ns)});
  }
  return table.text();
}

std::string not_timed(const Measured& m) {
  std::string out;
  for (const auto& [name, why] : m.absent) out += "* " + name + " is left out: " + why + "\n";
  for (const Row& row : m.rows) {
    if (row.why_not.empty()) continue;
    out += "* " + row.robot + ", " + row.library + (row.algorithm.empty() ? "" : " ") +
           row.algorithm + ": " + row.why_not + "\n";
  }
  return out;
}

}  // namespace

std::string wanted_table(const Measured& measured) {
  Table table({"work", "wanted", "stretch", "", "measured"}, 5);
  for (const Demand& d : demands(measured)) {
    const auto number = [&](double x) { return format(d.pattern, x); };
    std::string all;
    for (const auto& [what, how_much] : d.measured) {
      all += (all.empty() ? "" : ", ") + what + " " + number(how_much);
    }
    if (!d.note.empty()) all += " (" + d.note + ")";
    table.add({d.work, std::string(d.at_most ? "at most " : "at least ") + format("%.4g", d.wanted),
               d.stretch ? format("%.4g", *d.stretch) : "", d.verdict(), all.empty() ? dash : all});
  }
  return table.text();
}

std::string page(const Measured& m) {
  std::string out = m.where + "\n\n### Wanted and measured\n\n" + wanted_table(m) +
                    "\n### Single calls\n\nNanoseconds (best), in brackets over Espalier's.\n\n" +
                    calls(m) + "\n" + growth_lines(m) +
                    "\n### Jacobians and placements\n\nNanoseconds (best), in brackets over "
                    "Espalier's. A Jacobian is 6 x nv in the link's axes, zeros written; "
                    "placements are from positions alone.\n\n" +
                    works_table(m, {Work::jacobian, Work::jacobians, Work::placements}) +
                    "\n### One body\n\nNanoseconds (best), in brackets over Espalier's.\n\n" +
                    works_table(m, {Work::bias_forces, Work::center_of_mass, Work::energy}) +
                    "\n### Derivatives\n\nNanoseconds (best), in brackets over Espalier's. "
                    "Matrices are whole and their zeros written; Pinocchio leaves one triangle of "
                    "the mass matrix and of its inverse to the caller.\n\n" +
                    works_table(m, {Work::inverse_derivatives, Work::forward_derivatives,
                                    Work::inverse_mass_matrix}) +
                    "\n### Batches of 4096 states\n\nNanoseconds a state (best), in brackets how "
                    "many times faster than the single call.\n\n" +
                    batch_table(m) +
                    "\n### Inverse operational-space inertia of welded feet, or of all tips of a "
                    "robot without feet\n\nNanoseconds (best), in brackets over the fastest of "
                    "Espalier's.\n\n" +
                    osim_table(m) +
                    "\n### Robots with loops, exact\n\nNanoseconds (best), in brackets over "
                    "`c-aba`'s. Of a library's ways the fastest; published times were measured "
                    "on another machine (Zen 3, 2.45 GHz).\n\n" +
                    loop_table(m);
  if (!m.footprints.empty()) out += "\n### Memory\n\n" + footprint_table(m);
  if (!m.latencies.empty()) {
    out += format(
               "\n### Latency\n\nNanoseconds of single calls, each timed for itself: the quietest "
               "of %d runs of %d calls.\n\n",
               latency_runs, latency_calls) +
           latency_table(m);
  }
  if (!m.cold.empty()) {
    out += format(
               "\n### Cold caches\n\nNanoseconds of a call that finds neither its numbers nor "
               "its code in the processor's caches, or in the last one alone, median of %d.\n\n",
               cold_calls) +
           cold_table(m);
  }
  if (!m.start_ups.empty()) {
    out += format(
               "\n### Start\n\nProcessor time of a program that reads a robot, computes its "
               "accelerations once and ends (best of %d), and the most memory that it has had. "
               "Libraries and files are in the system's cache. A program that does nothing takes "
               "about 1 ms and 2.4 MB. Modules of peers hold what the suite asks of them "
               "besides.\n\n",
               start_ups) +
           start_table(m);
  }
  const std::string left_out = not_timed(m);
  if (!left_out.empty()) out += "\n### Left out\n\n" + left_out;
  return out;
}

}  // namespace espalier::bench
