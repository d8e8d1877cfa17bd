// Times forward and inverse dynamics and the inverse OSIM of robots with loops by every algorithm
// that can run on them, after checking that all exact ones give the same results. See
// docs/performance.md.
//
//   espalier_bench_loops [--markdown FILE] [--json FILE] [--robot FILE]... [--benchmark_...]

#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "benchmarks/loops/chains.hpp"
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
  void add_paper() {
    for (LoopRobot& robot : paper_robots(host_)) add(std::move(robot));
  }
  /// Chains of all lengths: exact forward dynamics and inverse OSIM, rotors folded.
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

  std::string markdown() const {
    return "Measured on " + processor() + ", plugins loaded as " +
           instruction_set(host_, "forward-dynamics", "c-aba") + ", compiled by " + __VERSION__ +
           " (" + ESPALIER_BUILD_TYPE + ").\n\n" + loop_tables(contest_.rows());
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
    if (!growth) add_loop_peers(robot, all, refused);
    if (growth) {
      std::erase_if(all, [&](const auto& c) {
        const bool exact = c->agreement < 1.0;
        const bool shown = c->work == Work::forward || c->work == Work::inverse_osim;
        return !shown || !exact || !c->not_timed().empty() ||
               c->algorithm.find(with_rotors("")) != std::string::npos;
      });
      refused.clear();
    }
    contest_.add(robot, std::move(all), refused);
  }

  Host host_;
  std::vector<std::unique_ptr<LoopRobot>> robots_;  // contestants refer to them
  Contest contest_;
};

int run(int count, char** words) {
  std::vector<char*> left = initialize(count, words);

  CLI::App app("Times Espalier's algorithms on robots with loops");
  std::string markdown, json;
  OwnRobots robots;
  app.add_option("--markdown", markdown,
                 "file in which the tables are written between <!-- loops:begin --> and "
                 "<!-- loops:end -->");
  app.add_option("--json", json, "file for the results");
  robots.add_to(app, "robot files");
  if (const std::optional<int> code = parse(app, left)) return *code;

  Suite suite;
  for (const std::string& path : robots.floating) suite.add_file(path, true);
  for (const std::string& path : robots.fixed) suite.add_file(path, false);
  if (robots.none()) {
    suite.add_paper();
    suite.add_growth();
  }
  suite.run();
  if (robots.none()) std::printf("\n%s", suite.markdown().c_str());
  if (!markdown.empty()) replace_section(markdown, "loops", suite.markdown());
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
