#include "benchmarks/sensors/tables.hpp"

#include "benchmarks/markdown.hpp"
#include "charts/chart.hpp"

namespace espalier::bench {

namespace {

using charts::Chart;

constexpr int counted[] = {1, 2, 5, 10, 15, 20, 30, 40, 50, 75, 100};
constexpr int standing[] = {6, 10, 15, 20, 30, 40, 50, 75, 100};

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
  Table table({"bodies", "LU, order of sparse-lu", "LU, safe order", "LU, threshold order",
               "matrix form of the ABA", "aba", "LU of inverse dynamics", "rnea"},
              0);
  for (const ChainCounts& c : all) {
    table.add({std::to_string(c.bodies), per_body(c.ours, c.bodies), per_body(c.safe, c.bodies),
               per_body(c.threshold, c.bodies), per_body(c.matrix_form, c.bodies),
               per_body(c.aba, c.bodies), per_body(c.inverse, c.bodies),
               per_body(c.rnea, c.bodies)});
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

double operations(const LuCount& c) { return static_cast<double>(c.multiplications + c.additions); }
double operations(const OperationCounts& c) {
  return static_cast<double>(c.multiplications + c.additions);
}

}  // namespace

std::string counts_svg(const SensorCounts& counts) {
  Chart chart;
  chart.title = "Multiplications and additions for each body of a chain";
  chart.label = "bodies";
  for (const ChainCounts& c : counts.dh) chart.x.push_back(c.bodies);
  const auto panel = [&](const char* label, const std::vector<ChainCounts>& all) {
    Chart::Panel p{label,
                   {{"LU", "#0072b2", "", {}},
                    {"LU safe", "#009e73", "6 3", {}},
                    {"LU threshold", "#d55e00", "2 2", {}},
                    {"matrix form", "#e69f00", "8 3 2 3", {}},
                    {"aba", "#000000", "", {}},
                    {"inverse LU", "#cc79a7", "", {}},
                    {"rnea", "#999999", "", {}}}};
    for (const ChainCounts& c : all) {
      const double counts[] = {operations(c.ours),      operations(c.safe),
                               operations(c.threshold), operations(c.matrix_form),
                               operations(c.aba),       operations(c.inverse),
                               operations(c.rnea)};
      for (std::size_t k = 0; k < p.lines.size(); ++k) p.lines[k].y.push_back(counts[k] / c.bodies);
    }
    chart.panels.push_back(p);
  };
  panel("Denavit-Hartenberg frames", counts.dh);
  panel("general frames", counts.general);
  return chart.svg();
}

SensorCounts sensor_counts(const Host& host) {
  SensorCounts out;
  for (const int bodies : counted) {
    out.dh.push_back(count_chain(host, bodies, Geometry::denavit_hartenberg));
    out.general.push_back(count_chain(host, bodies, Geometry::general));
  }
  for (const int bodies : standing) {
    out.feet.push_back(count_standing(host, bodies, Geometry::denavit_hartenberg));
  }
  return out;
}

std::vector<std::pair<std::string, std::string>> count_sections(const SensorCounts& counts) {
  return {{"forward-dh", chains_table(counts.dh)},
          {"forward-general", chains_table(counts.general)},
          {"standing", standing_table(counts.feet)}};
}

}  // namespace espalier::bench
