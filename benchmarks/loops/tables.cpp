#include "benchmarks/loops/tables.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

#include "benchmarks/loops/contestants.hpp"
#include "benchmarks/loops/published.hpp"
#include "benchmarks/markdown.hpp"
#include "benchmarks/statistics.hpp"

namespace espalier::bench {

namespace {

const char* const dash = "-";

class Tables {
 public:
  explicit Tables(const std::vector<Row>& rows) : rows_(rows) {}

  std::string all() const {
    return "Forward dynamics, microseconds a call (best):\n\n" + times(Work::forward) +
           "\nInverse dynamics, microseconds a call (best):\n\n" + times(Work::inverse) +
           "\nInverse operational-space inertia of welded feet, or of all tips of a robot without "
           "feet, microseconds a call (best):\n\n" +
           times(Work::inverse_osim) +
           "\nDerivatives of forward dynamics, and M⁻¹, microseconds a call (best):\n\n" +
           times(Work::forward_derivatives) +
           "\nPublished times of others, measured on another machine (Zen 3, 2.45 GHz), beside "
           "`c-aba` here:\n\n" +
           others() +
           "\nGrowth with the number of links, forward dynamics, nanoseconds a link "
           "(best):\n\n" +
           growth(Work::forward, "c-aba") +
           "\nGrowth with the number of links, inverse operational-space inertia of a weld on the "
           "last link, nanoseconds a link (best):\n\n" +
           growth(Work::inverse_osim, "c-pv-osimr");
  }
  std::string paper() const {
    return "Table II: time of other inverse dynamics minus that of `c-rnea`, in percent of "
           "it:\n\n" +
           percents("c-rnea", "c-rnea", Work::inverse, published::table_2) +
           "\nTable III: time of other forward dynamics minus that of `c-aba`, in percent of "
           "it:\n\n" +
           percents("c-aba", "c-aba-stacked", Work::forward, published::table_3) +
           "\nTable IV: time for other inverse operational-space inertias minus that of `c-efpa`, "
           "in percent of it:\n\n" +
           percents("c-efpa", "c-efpa", Work::inverse_osim, published::table_4) +
           "\nWhat exactness costs on geared robots:\n\n" + exactness() +
           "\nFigure 11, forward dynamics of chains, nanoseconds a link (best):\n\n" +
           growth(Work::forward, "c-aba") +
           "\nFigure 13, inverse operational-space inertia of a weld on the last link, nanoseconds "
           "a link (best):\n\n" +
           growth(Work::inverse_osim, "c-efpa");
  }

 private:
  double ns(const std::string& robot, Work work, const std::string& algorithm,
            const std::string& library = "Espalier") const {
    return best_ns(rows_, robot, work, algorithm, library);
  }
  static std::string cell(const char* pattern, double x) {
    return std::isnan(x) ? dash : format(pattern, x);
  }

  /// What was timed of a work, in the order of the rows.
  std::vector<std::pair<std::string, std::string>> timed(Work work) const {
    std::vector<std::pair<std::string, std::string>> all;  // library, algorithm
    for (const Row& row : rows_) {
      const std::pair<std::string, std::string> what{row.library, row.algorithm};
      if (row.work != to_string(work) || row.ns.empty()) continue;
      if (std::find(all.begin(), all.end(), what) == all.end()) all.push_back(what);
    }
    return all;
  }
  static bool in_growth(const std::string& robot) {
    const std::size_t at = robot.find("_chain_");
    if (at == std::string::npos || robot.compare(0, 8, "four_bar") == 0) return false;
    const int links = std::stoi(robot.substr(at + 7));
    return std::find(std::begin(growth_lengths), std::end(growth_lengths), links) !=
           std::end(growth_lengths);
  }

  std::string times(Work work) const {
    std::vector<std::string> head{"call"};
    std::vector<std::string> robots;
    for (const Row& row : rows_) {
      if (in_growth(row.robot)) continue;
      if (std::find(robots.begin(), robots.end(), row.robot) == robots.end()) {
        robots.push_back(row.robot);
        head.push_back(row.robot + format(" (%d)", row.nv));
      }
    }
    Table table(head);
    for (const auto& [library, algorithm] : timed(work)) {
      std::vector<std::string> line{library == "Espalier" ? "`" + algorithm + "`"
                                                          : library + ": " + algorithm};
      for (const std::string& robot : robots) {
        line.push_back(cell("%.2f", ns(robot, work, algorithm, library) / 1e3));
      }
      table.add(line);
    }
    return table.text();
  }

  /// @param cluster  the cluster algorithm, @param paper_like  and its form that the paper times
  template <class Alternatives>
  std::string percents(const std::string& cluster, const std::string& paper_like, Work work,
                       const Alternatives& alternatives) const {
    std::vector<std::string> head{"", "against"};
    for (const auto& column : published::columns) head.emplace_back(column.title);
    Table table(head);
    const auto line = [&](const std::string& algorithm, const std::string& reference) {
      std::vector<std::string> cells{"`" + algorithm + "`", "`" + reference + "`"};
      for (const auto& column : published::columns) {
        const double exact = ns(column.robot, work, reference);
        cells.push_back(cell("%+.1f", 100 * (ns(column.robot, work, algorithm) / exact - 1)));
      }
      table.add(cells);
    };
    for (const auto& alternative : alternatives) {
      const std::string algorithm = alternative.algorithm;
      line(algorithm, cluster);
      if (alternative.title == nullptr) continue;
      line(alternative.exact ? with_rotors(algorithm) : algorithm, with_rotors(paper_like));
      std::vector<std::string> cells{alternative.title, "published"};
      for (const double percent : alternative.percent) cells.push_back(format("%+.1f", percent));
      table.add(cells);
    }
    return table.text();
  }

  std::string others() const {
    Table table({"robot", "who", "theirs, µs", "`c-aba`, µs", "theirs / ours", "wanted", ""});
    for (const auto& time : published::times) {
      const double ours = ns(time.robot, Work::forward, "c-aba") / 1e3;
      const double ratio = time.microseconds / ours;
      table.add({time.robot, time.who, format("%.0f", time.microseconds), cell("%.2f", ours),
                 cell("%.1f", ratio), format("%.0f", time.wanted),
                 std::isnan(ratio)      ? dash
                 : ratio >= time.wanted ? "met"
                                        : "missed"});
    }
    return table.text();
  }

  std::string exactness() const {
    Table table({"robot", "`c-aba` / `approximate-aba`", "wanted at most", ""});
    for (const char* robot : published::geared_robots) {
      const double ratio =
          ns(robot, Work::forward, "c-aba") / ns(robot, Work::forward, "approximate-aba");
      table.add({robot, cell("%.2f", ratio), format("%.2f", published::exact_over_approximate),
                 std::isnan(ratio)                            ? dash
                 : ratio <= published::exact_over_approximate ? "met"
                                                              : "missed"});
    }
    return table.text();
  }

  /// @param fitted  algorithm whose times are described by a line
  std::string growth(Work work, const std::string& fitted) const {
    std::vector<std::pair<std::string, std::string>> chains;  // chain, algorithm
    std::vector<std::string> head{"links"};
    for (const char* chain : {"geared_chain_", "belt_chain_"}) {
      for (const Row& row : rows_) {
        const std::pair<std::string, std::string> what{chain, row.algorithm};
        if (row.robot.rfind(chain, 0) != 0 || !in_growth(row.robot) || row.ns.empty()) continue;
        if (row.work != to_string(work)) continue;
        if (std::find(chains.begin(), chains.end(), what) != chains.end()) continue;
        chains.push_back(what);
        head.push_back((what.first == "geared_chain_" ? "geared: `" : "belts: `") + row.algorithm +
                       "`");
      }
    }
    Table table(head);
    for (const int links : growth_lengths) {
      std::vector<std::string> line{std::to_string(links)};
      for (const auto& [chain, algorithm] : chains) {
        const double time = ns(chain + std::to_string(links), work, algorithm);
        line.push_back(cell("%.1f", time / links));
      }
      table.add(line);
    }
    return table.text() + "\n" + fit("geared_chain_", work, fitted) +
           fit("belt_chain_", work, fitted);
  }

  std::string fit(const std::string& chain, Work work, const std::string& algorithm) const {
    std::vector<double> x, y;
    for (const int links : growth_lengths) {
      const double time = ns(chain + std::to_string(links), work, algorithm);
      if (std::isnan(time)) return "";
      x.push_back(links), y.push_back(time);
    }
    const LineFit line = fit_line(x, y);
    return format(
        "* %s2 to %s200: `%s` takes %.0f ns and %.1f ns a link; no point is further "
        "than %.1f %% from this line.\n",
        chain.c_str(), chain.c_str(), algorithm.c_str(), line.start, line.slope,
        100 * line.deviation);
  }

  const std::vector<Row>& rows_;
};

}  // namespace

double best_ns(const std::vector<Row>& rows, const std::string& robot, Work work,
               const std::string& algorithm, const std::string& library) {
  for (const Row& row : rows) {
    if (row.robot == robot && row.work == to_string(work) && row.algorithm == algorithm &&
        row.library.compare(0, library.size(), library) == 0 && !row.ns.empty()) {
      return row.best();
    }
  }
  return std::numeric_limits<double>::quiet_NaN();
}

bool in_paper_tables(const std::string& algorithm) {
  std::vector<std::string> names{"c-rnea", "c-aba", "c-aba-stacked", "c-efpa"};
  const auto take = [&](const auto& table) {
    for (const auto& alternative : table) names.emplace_back(alternative.algorithm);
  };
  take(published::table_2), take(published::table_3), take(published::table_4);
  return std::any_of(names.begin(), names.end(), [&](const std::string& name) {
    return algorithm == name || algorithm == with_rotors(name);
  });
}

std::string loop_tables(const std::vector<Row>& rows) { return Tables(rows).all(); }
std::string paper_tables(const std::vector<Row>& rows) { return Tables(rows).paper(); }

}  // namespace espalier::bench
