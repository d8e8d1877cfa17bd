// Times the methods for the inertia-weighted input matrix M^-1 B on the robots of Krög, Gattringer
// and Müller, after checking that they agree. See docs/input-matrix.md.
//
//   espalier_bench_input_matrix [--markdown FILE] [--svg FILE] [--seconds S]

#include <CLI/CLI.hpp>
#include <cmath>
#include <cstdio>

#include "benchmarks/input_matrix/measure.hpp"
#include "benchmarks/input_matrix/quadratic_programs.hpp"
#include "benchmarks/machine.hpp"
#include "benchmarks/markdown.hpp"
#include "benchmarks/program.hpp"
#include "charts/chart.hpp"

namespace espalier::bench {

namespace {

using charts::Chart;

/// Relative, to the largest entry: the project's specification.
constexpr double agreement = 1e-9;
constexpr int lengths[] = {1, 2, 5, 10, 15, 20, 25, 30, 35, 40, 45, 50};
constexpr int longest = 50;

/// The paper's tables 1 and 2, in its milliseconds (Matlab).
struct Published {
  const char* what;
  double iim, eufm, on;
};
constexpr Published single{"50 links, one input", 12.21, 10.30, 6.65},
    full{"50 links, 50 inputs", 13.22, 205.85, 7.26},
    walker{"humanoid, 42 inputs", 4.13, 67.20, 2.72};

std::string us(double ns) { return format("%.2f", 1e-3 * ns); }

std::vector<std::string> cells(const std::string& what, const Times& t) {
  std::vector<std::string> row{what, std::to_string(t.nv), std::to_string(t.inputs)};
  for (const double ns : t.ns) row.push_back(us(ns));
  row.push_back(format("%.2f", t.ns[iim] / t.ns[bremer_on]));
  for (int m = iim; m < method_count; ++m) {
    row.push_back(format("%.2f", t.ratio(static_cast<Method>(m))));
  }
  return row;
}
Table table_of_times(const char* on_name) {
  const std::string alone = on_name;
  return Table({"robot", "nv", "inputs", alone + ", µs", "bremer-on, µs", "iim, µs",
                "iim-closed-form, µs", "eufm, µs", "dense, µs", "iim : bremer-on", "iim : " + alone,
                "closed form : " + alone, "eufm : " + alone, "dense : " + alone});
}

std::vector<std::string> beside(const Published& p, const Times& t) {
  return {p.what,
          format("%.2f", p.iim / p.on),
          format("%.2f", t.ns[iim] / t.ns[bremer_on]),
          format("%.2f", t.ratio(iim)),
          format("%.2f", p.eufm / p.on),
          format("%.2f", t.ns[eufm] / t.ns[bremer_on]),
          format("%.2f", t.ratio(eufm)),
          format("%.1f", p.eufm / p.iim),
          format("%.1f", t.ns[eufm] / t.ns[iim])};
}

/// Exponent of growth between two sizes.
std::string exponent(double small, double large, double times) {
  return format("%.2f", std::log(large / small) / std::log(times));
}

class Suite {
 public:
  explicit Suite(double seconds) : seconds_(seconds) {}

  void run() {
    for (const int n : lengths) {
      one_.push_back(take(pendulum(host_, n, 1), "aba"));
      all_.push_back(take(pendulum(host_, n, n), "aba"));
    }
    for (const int m : lengths) some_.push_back(take(pendulum(host_, longest, m), "aba"));
    humanoid_ = take(humanoid(host_, false), "aba");
    geared_ = take(humanoid(host_, true), "c-aba");
  }
  bool agree() const { return agree_; }

  std::string machine() const {
    return "Measured on " + processor() + ", plugins loaded as " +
           instruction_set(host_, "input-matrix", "iim") + ", compiled by " + __VERSION__ + " (" +
           ESPALIER_BUILD_TYPE + "). The largest relative difference from `dense` is " +
           format("%.0e", worst_) + ".\n";
  }
  std::string published() const {
    Table table({"", "iim : O(n), published", "iim : bremer-on", "iim : aba",
                 "eufm : O(n), published", "eufm : bremer-on", "eufm : aba",
                 "eufm : iim, published", "here"});
    table.add(beside(single, one_.back()));
    table.add(beside(full, all_.back()));
    table.add(beside(walker, humanoid_));
    return table.text();
  }
  std::string pendulums() const {
    Table table = table_of_times("aba");
    for (std::size_t k = 0; k < one_.size(); ++k) {
      const std::string name = std::to_string(lengths[k]) + (lengths[k] == 1 ? " link" : " links");
      table.add(cells(name, one_[k]));
      if (lengths[k] > 1) table.add(cells(name, all_[k]));
    }
    return table.text();
  }
  std::string humanoids() const {
    Table table = table_of_times("O(n)");
    table.add(cells("MIT Humanoid without rotors (aba)", humanoid_));
    table.add(cells("MIT Humanoid (c-aba)", geared_));
    return table.text();
  }
  std::string growth() const {
    std::size_t half = 0;
    while (lengths[half] != longest / 2) ++half;
    Table table({"", "aba", "bremer-on", "iim", "iim-closed-form", "eufm", "dense"});
    const auto exponents = [&](const char* name, const std::vector<Times>& t) {
      std::vector<std::string> row{name};
      for (int m = 0; m < method_count; ++m) {
        row.push_back(exponent(t[half].ns[m], t.back().ns[m], 2.0));
      }
      table.add(std::move(row));
    };
    exponents("exponent of n, one input, 25 to 50 links", one_);
    exponents("exponent of n, n inputs, 25 to 50 links", all_);
    exponents("exponent of m, 50 links, 25 to 50 inputs", some_);
    std::vector<std::string> row{"µs for each further input, 50 links"};
    for (int m = 0; m < method_count; ++m) {
      row.push_back(format("%.3f", 1e-3 * (some_.back().ns[m] - some_[0].ns[m]) / (longest - 1)));
    }
    table.add(std::move(row));
    return table.text();
  }
  /// The task of control as equation (1) and as equation (2).
  std::string programs() {
    const auto solvers = host_.registry().entries(Kind::qp_solver);
    if (solvers.empty()) return "No solver of quadratic programs is registered.\n";
    const std::string solver = solvers.front()->about.name;
    Table table({"program", "limits", "variables", "equations", "inequalities", "set up, µs",
                 "solve, µs", "in all, (1) : (2)", "unsolved"});
    for (const bool limited : {false, true}) {
      const Programs p = measure_programs(host_, solver, limited);
      agree_ = agree_ && p.difference <= agreement;
      worst_ = std::max(worst_, p.difference);
      const auto total = [](const ProgramTimes& t) { return t.setup_ns + t.solve_ns; };
      const auto add = [&](const char* name, const ProgramTimes& t, const std::string& ratio) {
        table.add({name, limited ? "yes" : "no", std::to_string(t.variables),
                   std::to_string(t.equations), std::to_string(t.rows), us(t.setup_ns),
                   us(t.solve_ns), ratio, std::to_string(t.unsolved)});
      };
      add("(1): accelerations and inputs", p.with_motion,
          format("%.1f", total(p.with_motion) / total(p.inputs_alone)));
      add("(2): inputs alone, by `iim`", p.inputs_alone, "");
    }
    return table.text() + "\nSolver: `" + solver + "`.\n";
  }
  std::string svg() const {
    Chart chart;
    chart.title = "Input matrix and free acceleration of an n-link pendulum";
    chart.label = "links";
    for (const int n : lengths) chart.x.push_back(n);
    const auto panel = [&](const char* label, const std::vector<Times>& times) {
      Chart::Panel p{label, {}};
      const char* const looks[][3] = {{"aba alone", "#000000", ""},
                                      {"bremer-on alone", "#999999", ""},
                                      {"iim", "#0072b2", ""},
                                      {"iim-closed-form", "#009e73", "6 3"},
                                      {"eufm", "#d55e00", "2 2"}};
      for (int m = on; m < dense; ++m) {
        Chart::Line line{looks[m][0], looks[m][1], looks[m][2], {}};
        for (const Times& t : times) line.y.push_back(1e-3 * t.ns[m]);
        p.lines.push_back(std::move(line));
      }
      chart.panels.push_back(std::move(p));
    };
    panel("one input [µs]", one_);
    panel("n inputs [µs]", all_);
    return chart.svg();
  }

 private:
  Times take(const Setup& setup, const char* forward) {
    std::fprintf(stderr, "espalier_bench_input_matrix: %s\n", setup.model->name().c_str());
    Times t = measure(host_, setup, forward, seconds_);
    for (int m = iim; m < dense; ++m) {
      agree_ = agree_ && t.difference[m] <= agreement;
      worst_ = std::max(worst_, t.difference[m]);
    }
    return t;
  }

  Host host_;
  double seconds_;
  std::vector<Times> one_, all_, some_;  ///< by lengths; the last: 50 links and so many inputs
  Times humanoid_, geared_;
  bool agree_ = true;
  double worst_ = 0.0;
};

int run(int count, char** words) {
  CLI::App app("Times the methods for the inertia-weighted input matrix");
  std::string markdown_file, svg_file;
  double seconds = 0.5;
  app.add_option(
      "--markdown", markdown_file,
      "file in which the tables are written between <!-- machine:begin --> and "
      "<!-- machine:end -->, likewise published, humanoids, pendulums, growth and programs");
  app.add_option("--svg", svg_file, "file for the plot of the pendulums");
  app.add_option("--seconds", seconds, "for each robot")->check(CLI::Range(1e-3, 600.0));
  CLI11_PARSE(app, count, words);

  Suite suite(seconds);
  suite.run();
  const std::pair<const char*, std::string> sections[] = {
      {"machine", suite.machine()},     {"published", suite.published()},
      {"humanoids", suite.humanoids()}, {"pendulums", suite.pendulums()},
      {"growth", suite.growth()},       {"programs", suite.programs()}};
  for (const auto& [name, text] : sections) {
    std::printf("## %s\n\n%s\n", name, text.c_str());
    if (!markdown_file.empty()) replace_section(markdown_file, name, text);
  }
  if (!svg_file.empty()) save(svg_file, suite.svg());
  if (suite.agree()) return 0;
  std::fprintf(stderr, "espalier_bench_input_matrix: results differ by more than %.0e\n",
               agreement);
  return 1;
}

}  // namespace

}  // namespace espalier::bench

int main(int count, char** words) {
  return espalier::bench::run_guarded("espalier_bench_input_matrix", espalier::bench::run, count,
                                      words);
}
