// Dynamics from sensors: times of the sparse LU in a fixed order of pivots beside factorisations
// that look for an order and for pivots anew, and operations beside those of the recursive
// algorithms, as in figures 1 and 2 of Nori (2017). See docs/sensors.md.
//
//   espalier_bench_sensors [--markdown FILE] [--svg FILE] [--counts-svg FILE] [--seconds S]
//                          [--check FILE] [--counts]

#include <CLI/CLI.hpp>
#include <cstdio>

#include "benchmarks/machine.hpp"
#include "benchmarks/markdown.hpp"
#include "benchmarks/program.hpp"
#include "benchmarks/sensors/tables.hpp"
#include "benchmarks/sensors/timing.hpp"
#include "charts/chart.hpp"

namespace espalier::bench {

namespace {

using charts::Chart;

constexpr int timed[] = {5, 10, 20, 30, 50, 75, 100};

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

int run(int count, char** words) {
  CLI::App app("Dynamics from sensors: times and operations of the sparse LU in a fixed order");
  std::string markdown_file, svg_file, counts_file, check_file;
  double seconds = 2.0;
  app.add_option("--markdown", markdown_file,
                 "file in which the tables are written between <!-- machine:begin --> and "
                 "<!-- machine:end -->, likewise fixed-order, humanoid, forward-dh, "
                 "forward-general and standing");
  app.add_option("--svg", svg_file, "file for the plot of times");
  app.add_option("--counts-svg", counts_file, "file for the plot of operations");
  app.add_option("--seconds", seconds, "for each chain")->check(CLI::Range(1e-3, 600.0));
  app.add_option("--check", check_file,
                 "no times: file whose tables of counts must be these, or the status is 1");
  bool counts_alone = false;
  app.add_flag("--counts", counts_alone, "no times");
  CLI11_PARSE(app, count, words);

  const Host host;
  const SensorCounts counts = sensor_counts(host);
  if (!check_file.empty()) {
    bool same = true;
    for (const auto& [name, text] : count_sections(counts)) {
      const std::string where = where_different(check_file, name, text, sensors_command);
      if (where.empty()) continue;
      same = false;
      std::fprintf(stderr, "espalier_bench_sensors: %s\n", where.c_str());
    }
    return same ? 0 : 1;
  }
  std::vector<std::pair<std::string, std::string>> sections = count_sections(counts);
  if (!counts_file.empty()) save(counts_file, counts_svg(counts));
  if (!counts_alone) {
    std::vector<ChainTimes> times;
    for (const int bodies : timed) {
      std::fprintf(stderr, "espalier_bench_sensors: %d bodies\n", bodies);
      times.push_back(measure_chain(host, bodies, seconds));
    }
    sections.emplace_back("machine", "Measured on " + processor() + ", plugins loaded as " +
                                         instruction_set(host, "sensor-dynamics", "sparse-lu") +
                                         ", compiled by " + __VERSION__ + " (" +
                                         ESPALIER_BUILD_TYPE + "); the best of 25 turns.\n");
    sections.emplace_back("fixed-order", times_table(times));
    sections.emplace_back("humanoid", humanoid_table(measure_humanoid(host, seconds)));
    if (!svg_file.empty()) save(svg_file, times_svg(times));
  }
  for (const auto& [name, text] : sections) {
    std::printf("## %s\n\n%s\n", name.c_str(), text.c_str());
    if (!markdown_file.empty()) replace_section(markdown_file, name, text);
  }
  return 0;
}

}  // namespace

}  // namespace espalier::bench

int main(int count, char** words) {
  return espalier::bench::run_guarded("espalier_bench_sensors", espalier::bench::run, count, words);
}
