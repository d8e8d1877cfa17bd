// Times forward and inverse dynamics and the inverse OSIM of robots with loops by every algorithm
// that can run on them, after checking that all exact ones give the same results. See
// docs/performance.md.
//
//   espalier_bench_loops [--markdown FILE] [--json FILE] [--svg FOLDER] [--paper]
//                        [--robot FILE]... [--benchmark_...]

#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "benchmarks/loops/chains.hpp"
#include "benchmarks/loops/charts.hpp"
#include "benchmarks/loops/contestants.hpp"
#include "benchmarks/loops/tables.hpp"
#include "benchmarks/machine.hpp"
#include "benchmarks/markdown.hpp"
#include "benchmarks/program.hpp"
#include "benchmarks/report.hpp"

namespace espalier::bench {

namespace {

class Suite {
 public:
  /// @param paper_alone  those algorithms alone that are in the paper's tables
  explicit Suite(bool paper_alone) : paper_alone_(paper_alone) {}

  void add_paper() {
    for (LoopRobot& robot : paper_robots(host_)) add(std::move(robot));
  }
  /// Chains of all lengths: forward dynamics and inverse OSIM, rotors folded.
  void add_growth() {
    for (const int links : growth_lengths) {
      add(robot_of_yaml(host_, name("geared_chain", links), geared_chain_yaml(links)), true);
      add(robot_of_yaml(host_, name("belt_chain", links), belt_chain_yaml(links)), true);
    }
  }
  void add_file(const std::string& path, bool floating) {
    add(LoopRobot(host_, std::filesystem::path(path).stem().string(), host_.read(path), floating));
  }

  void run() {
    std::printf("timing...\n");
    std::fflush(stdout);
    contest_.run();
    print(contest_.rows());
  }

  /// Sections of docs/performance.md.
  std::vector<std::pair<std::string, std::string>> sections() const {
    const std::string measured = "Measured on " + processor() + ", plugins loaded as " +
                                 instruction_set(host_, "forward-dynamics", "c-aba") +
                                 ", compiled by " + __VERSION__ + " (" + ESPALIER_BUILD_TYPE +
                                 ").\n\n";
    std::vector<std::pair<std::string, std::string>> all{
        {"paper", measured + paper_tables(contest_.rows())}};
    if (!paper_alone_) all.emplace_back("loops", measured + loop_tables(contest_.rows()));
    return all;
  }
  void draw(const std::string& folder) const {
    for (const auto& [name, svg] : paper_charts(contest_.rows())) save(folder + "/" + name, svg);
  }
  nlohmann::json json() const {
    return {{"compiler", __VERSION__},
            {"build_type", ESPALIER_BUILD_TYPE},
            {"processor", processor()},
            {"instruction_set", instruction_set(host_, "forward-dynamics", "c-aba")},
            {"results", to_json(contest_.rows())}};
  }
  bool all_agree() const { return contest_.all_agree(); }

 private:
  static std::string name(const char* chain, int number) {
    return std::string(chain) + "_" + std::to_string(number);
  }

  /// Compares all algorithms on a robot and registers those that agree.
  void add(LoopRobot&& moved, bool growth = false) {
    const LoopRobot& robot = *robots_.emplace_back(std::make_unique<LoopRobot>(std::move(moved)));
    Refusals refused;
    Contestants all = our_loop_contestants(host_, robot, refused);
    if (!growth && !paper_alone_) add_loop_peers(robot, all, refused);
    if (paper_alone_) {
      std::erase_if(all, [&](const auto& c) { return !in_paper_tables(c->algorithm); });
    }
    if (growth) {
      std::erase_if(all, [&](const auto& c) {
        const bool shown = c->work == Work::forward || c->work == Work::inverse_osim;
        return !shown || !c->not_timed().empty() ||
               c->algorithm.find(with_rotors("")) != std::string::npos;
      });
    }
    if (growth || paper_alone_) refused.clear();
    contest_.add(robot, std::move(all), refused);
  }

  bool paper_alone_;
  Host host_;
  std::vector<std::unique_ptr<LoopRobot>> robots_;  // contestants refer to them
  Contest contest_;
};

int run(int count, char** words) {
  std::vector<char*> left = initialize(count, words);

  CLI::App app("Times Espalier's algorithms on robots with loops");
  std::string markdown, json, svg;
  bool paper_alone = false;
  OwnRobots robots;
  app.add_option("--markdown", markdown,
                 "file in which the tables are written between <!-- loops:begin --> and "
                 "<!-- loops:end -->, likewise paper");
  app.add_option("--svg", svg, "folder for the plots loops_*.svg, figures 9 to 13 of the paper");
  app.add_flag("--paper", paper_alone, "the algorithms of the paper's tables II to IV alone");
  app.add_option("--json", json, "file for the results");
  robots.add_to(app, "robot files");
  if (const std::optional<int> code = parse(app, left)) return *code;

  Suite suite(paper_alone);
  for (const std::string& path : robots.floating) suite.add_file(path, true);
  for (const std::string& path : robots.fixed) suite.add_file(path, false);
  if (robots.none()) {
    suite.add_paper();
    suite.add_growth();
  }
  suite.run();
  for (const auto& [name, text] : suite.sections()) {
    if (robots.none()) std::printf("\n## %s\n\n%s", name.c_str(), text.c_str());
    if (!markdown.empty()) replace_section(markdown, name, text);
  }
  if (!svg.empty()) suite.draw(svg);
  if (!json.empty()) save(json, suite.json().dump(2) + "\n");
  if (suite.all_agree()) return 0;
  std::fprintf(stderr, "espalier_bench_loops: results differ, see above\n");
  return 1;
}

}  // namespace

}  // namespace espalier::bench

int main(int count, char** words) {
  return espalier::bench::run_guarded("espalier_bench_loops", espalier::bench::run, count, words);
}
