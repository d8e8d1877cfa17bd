// Dynamics from sensors: times of the sparse LU in a fixed order of pivots beside factorisations
// that look for an order and for pivots anew, and operations beside those of the recursive
// algorithms, as in figures 1 and 2 of Nori (2017). See docs/sensors.md.
//
//   espalier_bench_sensors [--markdown FILE] [--svg FILE] [--counts-svg FILE] [--seconds S]

#include <CLI/CLI.hpp>
#include <cstdio>

#include "benchmarks/machine.hpp"
#include "benchmarks/markdown.hpp"
#include "benchmarks/program.hpp"
#include "benchmarks/sensors/counting.hpp"
#include "benchmarks/sensors/timing.hpp"
#include "charts/chart.hpp"

namespace espalier::bench {

namespace {

using charts::Chart;

constexpr int timed[] = {5, 10, 20, 30, 50, 75, 100};
constexpr int counted[] = {1, 2, 5, 10, 15, 20, 30, 40, 50, 75, 100};
constexpr int standing[] = {6, 10, 15, 20, 30, 40, 50, 75, 100};

std::string us(double ns) { return format(ns < 1e5 ? "%.1f" : "%.0f", 1e-3 * ns); }

std::string times_table(const std::vector<ChainTimes>& all) {
  std::vector<std::string> head{"bodies", "unknowns"};
  for (const ChainTimes::Solver& s : all.front().solvers) head.push_back(s.name + ", µs");
  head.insert(head.end(),
              {"fastest other : fixed", "dense : fixed", "entries of the matrix, µs", "aba, µs"});
  Table table(head, 0);
  for (const ChainTimes& t : all) {
    std::vector<std::string> row{std::to_string(t.bodies), std::to_string(t.unknowns)};
    for (const ChainTimes::Solver& s : t.solvers) row.push_back(us(s.ns));
    row.push_back(format("%.1f", t.fastest_other() / t.fixed()));
    row.push_back(format("%.0f", t.solvers.back().ns / t.fixed()));
    row.push_back(us(t.update_ns));
    row.push_back(format("%.2f", 1e-3 * t.aba_ns));
    table.add(row);
  }
  return table.text();
}

std::string humanoid_table(const std::vector<HumanoidTime>& all) {
  Table table({"algorithm", "load cells", "equations", "unknowns", "µs"}, 2);
  for (const HumanoidTime& t : all) {
    table.add({t.algorithm, t.sensors, std::to_string(t.equations), std::to_string(t.unknowns),
               us(t.ns)});
  }
  return table.text();
}

/// Multiplications + additions for each body.
std::string per_body(double multiplications, double additions, int bodies) {
  return format("%.0f + %.0f", multiplications / bodies, additions / bodies);
}
std::string per_body(const LuCount& c, int bodies) {
  return per_body(static_cast<double>(c.multiplications), static_cast<double>(c.additions), bodies);
}
std::string per_body(const OperationCounts& c, int bodies) {
  return per_body(static_cast<double>(c.multiplications), static_cast<double>(c.additions), bodies);
}

std::string chains_table(const std::vector<ChainCounts>& all) {
  Table table({"bodies", "LU, order of sparse-lu", "LU, safe order", "LU, threshold order", "aba",
               "LU of inverse dynamics", "rnea"},
              0);
  for (const ChainCounts& c : all) {
    table.add({std::to_string(c.bodies), per_body(c.ours, c.bodies), per_body(c.safe, c.bodies),
               per_body(c.threshold, c.bodies), per_body(c.aba, c.bodies),
               per_body(c.inverse, c.bodies), per_body(c.rnea, c.bodies)});
  }
  return table.text();
}
std::string standing_table(const std::vector<StandingCounts>& all) {
  Table table({"bodies", "unknowns", "LU, order of sparse-lu", "LU, threshold order",
               "dense LU, multiplications", "rnea, for scale"},
              0);
  for (const StandingCounts& c : all) {
    table.add({std::to_string(c.bodies), std::to_string(c.unknowns), per_body(c.ours, c.bodies),
               per_body(c.threshold, c.bodies), format("%.0f", c.dense / c.bodies),
               per_body(c.rnea, c.bodies)});
  }
  return table.text();
}

std::string times_svg(const std::vector<ChainTimes>& all) {
  Chart chart;
  chart.title = "Forward dynamics of a chain as one sparse system";
  chart.label = "bodies";
  Chart::Panel time{"time [µs]", {}}, ratio{"time, fixed order = 1", {}};
  const char* const looks[][2] = {
      {"#0072b2", ""}, {"#009e73", ""}, {"#d55e00", "6 3"}, {"#cc79a7", "2 2"}};
  for (const ChainTimes& t : all) chart.x.push_back(t.bodies);
  for (std::size_t c = 0; c + 1 < all.front().solvers.size(); ++c) {
    Chart::Line line{all.front().solvers[c].name, looks[c][0], looks[c][1], {}}, part = line;
    for (const ChainTimes& t : all) {
      line.y.push_back(1e-3 * t.solvers[c].ns);
      part.y.push_back(t.solvers[c].ns / t.fixed());
    }
    time.lines.push_back(line);
    ratio.lines.push_back(part);
  }
  chart.panels = {time, ratio};
  return chart.svg();
}

double operations(const LuCount& c) { return static_cast<double>(c.multiplications + c.additions); }
double operations(const OperationCounts& c) {
  return static_cast<double>(c.multiplications + c.additions);
}

std::string counts_svg(const std::vector<ChainCounts>& dh,
                       const std::vector<ChainCounts>& general) {
  Chart chart;
  chart.title = "Multiplications and additions for each body of a chain";
  chart.label = "bodies";
  for (const ChainCounts& c : dh) chart.x.push_back(c.bodies);
  const auto panel = [&](const char* label, const std::vector<ChainCounts>& all) {
    Chart::Panel p{label,
                   {{"LU", "#0072b2", "", {}},
                    {"LU safe", "#009e73", "6 3", {}},
                    {"LU threshold", "#d55e00", "2 2", {}},
                    {"aba", "#000000", "", {}},
                    {"inverse LU", "#cc79a7", "", {}},
                    {"rnea", "#999999", "", {}}}};
    for (const ChainCounts& c : all) {
      const double counts[] = {operations(c.ours), operations(c.safe),    operations(c.threshold),
                               operations(c.aba),  operations(c.inverse), operations(c.rnea)};
      for (std::size_t k = 0; k < p.lines.size(); ++k) p.lines[k].y.push_back(counts[k] / c.bodies);
    }
    chart.panels.push_back(p);
  };
  panel("Denavit-Hartenberg frames", dh);
  panel("general frames", general);
  return chart.svg();
}

int run(int count, char** words) {
  CLI::App app("Dynamics from sensors: times and operations of the sparse LU in a fixed order");
  std::string markdown_file, svg_file, counts_file;
  double seconds = 2.0;
  app.add_option("--markdown", markdown_file,
                 "file in which the tables are written between <!-- machine:begin --> and "
                 "<!-- machine:end -->, likewise fixed-order, humanoid, forward-dh, "
                 "forward-general and standing");
  app.add_option("--svg", svg_file, "file for the plot of times");
  app.add_option("--counts-svg", counts_file, "file for the plot of operations");
  app.add_option("--seconds", seconds, "for each chain")->check(CLI::Range(1e-3, 600.0));
  CLI11_PARSE(app, count, words);

  const Host host;
  std::vector<ChainCounts> dh, general;
  for (const int bodies : counted) {
    dh.push_back(count_chain(host, bodies, Geometry::denavit_hartenberg));
    general.push_back(count_chain(host, bodies, Geometry::general));
  }
  std::vector<StandingCounts> feet;
  for (const int bodies : standing) {
    feet.push_back(count_standing(host, bodies, Geometry::denavit_hartenberg));
  }
  std::vector<ChainTimes> times;
  for (const int bodies : timed) {
    std::fprintf(stderr, "espalier_bench_sensors: %d bodies\n", bodies);
    times.push_back(measure_chain(host, bodies, seconds));
  }
  const std::string machine = "Measured on " + processor() + ", plugins loaded as " +
                              instruction_set(host, "sensor-dynamics", "sparse-lu") +
                              ", compiled by " + __VERSION__ + " (" + ESPALIER_BUILD_TYPE +
                              "); the best of 25 turns.\n";
  const std::pair<const char*, std::string> sections[] = {
      {"machine", machine},
      {"fixed-order", times_table(times)},
      {"humanoid", humanoid_table(measure_humanoid(host, seconds))},
      {"forward-dh", chains_table(dh)},
      {"forward-general", chains_table(general)},
      {"standing", standing_table(feet)}};
  for (const auto& [name, text] : sections) {
    std::printf("## %s\n\n%s\n", name, text.c_str());
    if (!markdown_file.empty()) replace_section(markdown_file, name, text);
  }
  if (!svg_file.empty()) save(svg_file, times_svg(times));
  if (!counts_file.empty()) save(counts_file, counts_svg(dh, general));
  return 0;
}

}  // namespace

}  // namespace espalier::bench

int main(int count, char** words) {
  return espalier::bench::run_guarded("espalier_bench_sensors", espalier::bench::run, count, words);
}
