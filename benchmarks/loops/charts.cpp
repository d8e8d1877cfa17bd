#include "benchmarks/loops/charts.hpp"

#include <cmath>
#include <limits>

#include "benchmarks/loops/published.hpp"
#include "benchmarks/loops/tables.hpp"
#include "charts/chart.hpp"

namespace espalier::bench {

namespace {

using charts::BarChart;
using charts::Chart;

/// Longest chain that is drawn: times of cubic algorithms would hide all else beyond.
constexpr int longest_drawn = 50;

struct Look {
  const char *algorithm, *colour, *dashes;
};
// Colours that are told apart by everyone (Okabe and Ito).
constexpr Look inverse_looks[] = {{"c-rnea", "#000000", ""},
                                  {"approximate-rnea", "#d55e00", ""},
                                  {"unconstrained-rnea", "#e69f00", ""},
                                  {"projected-rnea", "#0072b2", ""}};
constexpr Look forward_looks[] = {{"c-aba", "#000000", ""},
                                  {"approximate-aba", "#d55e00", "6 3"},
                                  {"projection", "#0072b2", ""},
                                  {"lagrange-multiplier", "#009e73", "8 3 2 3"}};
constexpr Look osim_looks[] = {{"c-efpa", "#000000", ""},
                               {"approximate-efpa", "#d55e00", "6 3"},
                               {"projected-efpa", "#0072b2", ""}};

template <std::size_t n>
std::string bars(const std::vector<Row>& rows, Work work, const std::string& title,
                 const Look (&looks)[n]) {
  BarChart out;
  out.title = title;
  out.label = std::string("time of ") + looks[0].algorithm + " = 1";
  for (const auto& column : published::columns) out.groups.emplace_back(column.title);
  bool any = false;
  for (const Look& look : looks) {
    BarChart::Series& series =
        out.series.emplace_back(BarChart::Series{look.algorithm, look.colour, {}});
    for (const auto& column : published::columns) {
      series.y.push_back(best_ns(rows, column.robot, work, look.algorithm) /
                         best_ns(rows, column.robot, work, looks[0].algorithm));
      any = any || !std::isnan(series.y.back());
    }
  }
  return any ? out.svg() : "";
}

template <std::size_t n>
std::string growth(const std::vector<Row>& rows, Work work, const std::string& title,
                   const Look (&looks)[n]) {
  Chart out;
  out.title = title;
  out.label = "links";
  for (const int links : growth_lengths) {
    if (links <= longest_drawn) out.x.push_back(links);
  }
  const auto lines = [&](const char* chain, bool linear) {
    Chart::Panel& panel = out.panels.emplace_back();
    panel.label = std::string(chain) + (linear ? ", ns a link" : ", µs");
    for (const Look& look : looks) {
      if (linear && &look - looks > 1) break;  // the exact recursion and the approximate one
      Chart::Line line{look.algorithm, look.colour, look.dashes, {}};
      for (const double links : out.x) {
        const std::string robot =
            std::string(chain) + "_chain_" + std::to_string(static_cast<int>(links));
        const double ns = best_ns(rows, robot, work, look.algorithm);
        line.y.push_back(linear ? ns / links : 1e-3 * ns);
        if (std::isnan(ns)) return false;
      }
      panel.lines.push_back(std::move(line));
    }
    return true;
  };
  const bool all = lines("geared", false) && lines("geared", true) && lines("belt", false) &&
                   lines("belt", true);
  return all ? out.svg() : "";
}

}  // namespace

std::vector<std::pair<std::string, std::string>> paper_charts(const std::vector<Row>& rows) {
  std::vector<std::pair<std::string, std::string>> all{
      {"loops_inverse.svg",
       bars(rows, Work::inverse, "Inverse dynamics with loops", inverse_looks)},
      {"loops_forward.svg",
       bars(rows, Work::forward, "Forward dynamics with loops", forward_looks)},
      {"loops_forward_growth.svg",
       growth(rows, Work::forward, "Forward dynamics of chains with rotors", forward_looks)},
      {"loops_osim.svg",
       bars(rows, Work::inverse_osim, "Inverse operational-space inertia with loops", osim_looks)},
      {"loops_osim_growth.svg",
       growth(rows, Work::inverse_osim, "Inverse OSIM of chains with rotors", osim_looks)}};
  std::erase_if(all, [](const auto& chart) { return chart.second.empty(); });
  return all;
}

}  // namespace espalier::bench
