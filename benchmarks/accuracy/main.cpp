// How wrong torques are that neglect or approximate what transmissions do: a leg of the MIT
// Humanoid in sinusoidal motion. See docs/performance.md.
//
//   espalier_bench_accuracy [--svg FILE] [--csv FILE] [--markdown FILE]

#include <CLI/CLI.hpp>
#include <cstdio>

#include "benchmarks/accuracy/experiment.hpp"
#include "benchmarks/markdown.hpp"
#include "benchmarks/program.hpp"
#include "charts/chart.hpp"

namespace espalier::bench {

namespace {

using charts::Chart;

constexpr double plotted_frequency = 1.5, plotted_time = 2.0;  // Hz, s
constexpr int plotted_every = 16;                              // steps

std::string table(const std::vector<Torques>& runs) {
  Table table({"frequency, Hz", "joint", "largest torque, N·m", "unconstrained: RMS error, N·m",
               "% of largest", "approximate: RMS error, N·m", "% of largest"});
  for (const Torques& run : runs) {
    for (const JointTorques& joint : run.joints) {
      const TorqueError none = error_of(joint, joint.unconstrained);
      const TorqueError near = error_of(joint, joint.approximate);
      table.add({format("%.2f", run.frequency), joint.joint, format("%.3f", largest_torque(joint)),
                 format("%.4f", none.rms), format("%.1f", none.percent), format("%.4f", near.rms),
                 format("%.1f", near.percent)});
    }
  }
  return table.text();
}

/// Torques of knee and ankle.
Chart chart(const Torques& run) {
  Chart chart;
  chart.title = format("Leg of the MIT Humanoid, q = %.1f rad · sin(2π · %.1f Hz · t)", amplitude,
                       run.frequency);
  chart.label = "time [s]";
  const auto thinned = [&](const std::vector<double>& all) {
    std::vector<double> some;
    for (std::size_t i = 0; i < all.size() && run.time[i] < plotted_time + 0.5 * time_step;
         i += plotted_every) {
      some.push_back(all[i]);
    }
    return some;
  };
  chart.x = thinned(run.time);
  for (const char* name : {"knee", "ankle"}) {
    for (const JointTorques& joint : run.joints) {
      if (joint.joint != name) continue;
      chart.panels.push_back(
          {std::string(name) + " torque [N·m]",
           {{"exact (c-rnea)", "#000000", "", thinned(joint.exact)},
            {"approximate-rnea", "#0072b2", "6 3", thinned(joint.approximate)},
            {"unconstrained-rnea", "#d55e00", "2 2", thinned(joint.unconstrained)}}});
    }
  }
  return chart;
}

std::string csv(const std::vector<Torques>& runs) {
  std::string text = "frequency_Hz,time_s";
  for (const JointTorques& joint : runs.front().joints) {
    std::string name = joint.joint;
    for (char& c : name) c = c == ' ' ? '_' : c;
    for (const char* kind : {"exact", "approximate", "unconstrained"}) {
      text += "," + name + "_" + kind + "_Nm";
    }
  }
  text += "\n";
  for (const Torques& run : runs) {
    for (std::size_t i = 0; i < run.time.size(); ++i) {
      text += format("%g,%g", run.frequency, run.time[i]);
      for (const JointTorques& joint : run.joints) {
        text +=
            format(",%.9g,%.9g,%.9g", joint.exact[i], joint.approximate[i], joint.unconstrained[i]);
      }
      text += "\n";
    }
  }
  return text;
}

int run(int count, char** words) {
  CLI::App app("Errors of torques that neglect or approximate what transmissions do");
  std::string svg_file, csv_file, markdown_file;
  app.add_option("--svg", svg_file, "file for the plot");
  app.add_option("--csv", csv_file, "file for all torques");
  app.add_option("--markdown", markdown_file,
                 "file in which the table is written between <!-- accuracy:begin --> and "
                 "<!-- accuracy:end -->");
  CLI11_PARSE(app, count, words);

  const Host host;
  std::vector<Torques> runs;
  for (const double frequency : frequencies) runs.push_back(move_leg(host, frequency));
  std::fputs(table(runs).c_str(), stdout);
  for (const Torques& moved : runs) {
    if (moved.frequency == plotted_frequency && !svg_file.empty()) {
      save(svg_file, chart(moved).svg());
    }
  }
  if (!csv_file.empty()) save(csv_file, csv(runs));
  if (!markdown_file.empty()) replace_section(markdown_file, "accuracy", table(runs));
  return 0;
}

}  // namespace

}  // namespace espalier::bench

int main(int count, char** words) {
  return espalier::bench::run_guarded("espalier_bench_accuracy", espalier::bench::run, count,
                                      words);
}
