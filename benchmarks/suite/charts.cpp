#include <cmath>
#include <limits>
#include <tuple>

#include "benchmarks/batches.hpp"
#include "benchmarks/suite/demands.hpp"
#include "benchmarks/suite/page.hpp"
#include "charts/chart.hpp"

namespace espalier::bench {

namespace {

const std::string forward = to_string(Work::forward);
constexpr const char* colours[] = {"#d6604d", "#4393c3", "#8073ac", "#5aae61", "#b8860b"};

const char* colour(std::size_t i) { return colours[i % std::size(colours)]; }

}  // namespace

std::string ratio_chart(const Measured& m) {
  charts::BarChart chart;
  chart.title = "Time of the fastest other library over Espalier's";
  chart.label = "times Espalier's";
  std::vector<std::string> robots;
  for (const std::string& robot : m.robots(to_string(Work::mass_matrix))) {
    if (robot.starts_with("chain_") && robot != "chain_20") continue;
    if (robot.starts_with("tree_") && robot != "tree_60") continue;
    robots.push_back(robot);
    const std::size_t gap = robot.find('_');
    chart.groups.push_back(
        gap == std::string::npos ? robot : robot.substr(0, gap) + "\n" + robot.substr(gap + 1));
  }
  bool any = false;
  for (const auto& [work, algorithm, title] :
       {std::tuple(Work::forward, "aba", "ABA"), std::tuple(Work::inverse, "rnea", "RNEA"),
        std::tuple(Work::mass_matrix, "crba", "CRBA"),
        std::tuple(Work::inverse_osim, "pv-osimr", "inverse OSIM")}) {
    charts::BarChart::Series series{title, colour(chart.series.size()), {}};
    for (const std::string& robot : robots) {
      double fastest = std::numeric_limits<double>::quiet_NaN();
      for (const std::string& peer : m.peers()) {
        fastest = std::fmin(fastest, m.theirs(robot, to_string(work), peer));
      }
      series.y.push_back(fastest / m.ours(robot, to_string(work), algorithm));
      any = any || !std::isnan(series.y.back());
    }
    chart.series.push_back(series);
  }
  charts::BarChart::Series batch{"ABA, batch of 4096, one thread", colour(4), {}};
  const std::string many = forward + ", batch";
  for (const std::string& robot : robots) {
    batch.y.push_back(m.theirs(robot, many, "Pinocchio") / m.ours(robot, many, batch_name("aba")));
  }
  chart.series.push_back(batch);
  return any ? chart.svg() : "";
}

std::string chain_chart(const Measured& m) {
  charts::Chart chart;
  chart.title = "Chains: time a body";
  chart.label = "bodies";
  for (const int bodies : chain_lengths) chart.x.push_back(bodies);
  const auto line = [&](const std::string& name, const char* dashes, auto&& time) {
    charts::Chart::Line drawn{name, "", dashes, {}};
    for (const int bodies : chain_lengths) {
      drawn.y.push_back(time(chain_name(bodies)) / bodies);
      if (std::isnan(drawn.y.back())) return;
    }
    std::vector<charts::Chart::Line>& lines = chart.panels.back().lines;
    drawn.colour = colour(lines.size());
    lines.push_back(std::move(drawn));
  };
  for (const auto& [work, algorithm, title] :
       {std::tuple(Work::forward, "aba", "forward, ns a body"),
        std::tuple(Work::inverse, "rnea", "inverse, ns a body")}) {
    chart.panels.push_back({title, {}, {}});
    const std::string what = to_string(work);
    line("Espalier", "",
         [&, name = algorithm](const std::string& chain) { return m.ours(chain, what, name); });
    // The other libraries' curves would leave no room for these.
    for (const std::string& peer : m.peers()) {
      if (!peer.starts_with("Pinocchio") && !peer.starts_with("RBDL")) continue;
      line(peer, "6 4", [&](const std::string& chain) { return m.theirs(chain, what, peer); });
    }
    if (chart.panels.back().lines.empty()) return "";
  }
  return chart.svg();
}

nlohmann::json to_json(const Measured& m) {
  nlohmann::json wanted = nlohmann::json::array(), memory = wanted, latency = wanted,
                 growth = wanted, cold = wanted, start = wanted, absent = wanted;
  for (const Demand& d : demands(m)) {
    nlohmann::json item{{"work", d.work},
                        {d.at_most ? "at_most" : "at_least", d.wanted},
                        {"measured", nlohmann::json::object()},
                        {"verdict", d.verdict()}};
    if (d.stretch) item["stretch"] = *d.stretch;
    if (!d.note.empty()) item["note"] = d.note;
    for (const auto& [what, how_much] : d.measured) item["measured"][what] = how_much;
    wanted.push_back(std::move(item));
  }
  for (const Footprint& f : m.footprints) {
    memory.push_back({{"robot", f.robot},
                      {"algorithm", f.algorithm},
                      {"bodies", f.bodies},
                      {"model_bytes_per_body", f.model_bytes},
                      {"workspace_bytes_per_body", f.workspace_bytes},
                      {"allocations", f.allocations}});
  }
  for (const Latency& l : m.latencies) {
    latency.push_back({{"robot", l.robot},
                       {"algorithm", l.algorithm},
                       {"ns_p50", l.p50},
                       {"ns_p99", l.p99},
                       {"ns_p999", l.p999}});
  }
  for (const Cold& c : m.cold) {
    cold.push_back(
        {{"robot", c.robot}, {"library", c.library}, {"algorithm", c.algorithm}, {"ns_p50", c.ns}});
  }
  for (const StartUp& s : m.start_ups) {
    start.push_back({{"robot", s.robot},
                     {"library", s.library},
                     {"ms", s.ms},
                     {"ms_p50", s.median_ms},
                     {"megabytes", s.megabytes}});
  }
  for (const auto& [work, algorithm] :
       {std::pair(Work::forward, "aba"), std::pair(Work::inverse, "rnea")}) {
    const LineFit line = m.growth(to_string(work), algorithm);
    if (std::isnan(line.deviation)) continue;
    growth.push_back({{"algorithm", algorithm},
                      {"ns_start", line.start},
                      {"ns_per_body", line.slope},
                      {"largest_deviation", line.deviation}});
  }
  for (const auto& [name, why] : m.absent) absent.push_back({{"robot", name}, {"why", why}});
  return {{"wanted", wanted},   {"results", to_json(m.rows)},
          {"growth", growth},   {"memory", memory},
          {"latency", latency}, {"cold", cold},
          {"start", start},     {"absent", absent}};
}

}  // namespace espalier::bench
