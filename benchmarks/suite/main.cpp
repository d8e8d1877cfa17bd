// Times Espalier beside whichever other libraries are installed, in one process, after checking
// that all give the same results; writes tables, charts and a JSON file. See docs/performance.md.
//
//   espalier_bench [--output FOLDER] [--markdown FILE] [--robot URDF]... [--floating URDF]...
//                  [--benchmark_...]

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <thread>

#include "benchmarks/batches.hpp"
#include "benchmarks/chain.hpp"
#include "benchmarks/loops/contestants.hpp"
#include "benchmarks/machine.hpp"
#include "benchmarks/markdown.hpp"
#include "benchmarks/program.hpp"
#include "benchmarks/suite/generated_robots.hpp"
#include "benchmarks/suite/page.hpp"
#include "espalier/kernel/format.hpp"

namespace espalier::bench {

namespace {

constexpr int compile_bodies = 500;

std::string today() {
  const std::time_t now = std::time(nullptr);
  char text[16];
  std::strftime(text, sizeof text, "%Y-%m-%d", std::gmtime(&now));
  return text;
}

class Suite {
 public:
  Suite() {
    for (const std::string& name : Peer::known()) {
      try {
        const Peer& peer = peers_.emplace_back(name);
        std::printf("peer %s%s%s\n", peer.table().library, *peer.table().remark ? ": " : "",
                    peer.table().remark);
        libraries_.push_back(
            {{"name", name}, {"library", peer.table().library}, {"remark", peer.table().remark}});
      } catch (const std::exception& error) {
        std::printf("peer %s is absent: %s\n", name.c_str(), error.what());
        libraries_.push_back({{"name", name}, {"absent", error.what()}});
      }
    }
  }
  const Host& host() const { return host_; }

  void add(Robot&& moved, Works works) {
    const Robot& robot = *trees_.emplace_back(std::make_unique<Robot>(std::move(moved)));
    Contestants all = our_contestants(host_, robot, works);
    Refusals refused;
    for (const Peer& peer : peers_) {
      try {
        for (auto& theirs : peer.contestants(robot, works)) all.push_back(std::move(theirs));
      } catch (const std::exception& error) {
        refused.emplace_back(peer.table().library,
                             std::string("it refuses the robot: ") + error.what());
      }
    }
    contest_.add(robot, std::move(all), refused);
  }

  /// The fastest of Espalier's ways and one of the usual; the program `loops` times all.
  void add(LoopRobot&& moved) {
    const LoopRobot& robot = *loops_.emplace_back(std::make_unique<LoopRobot>(std::move(moved)));
    Refusals refused;
    Contestants all = our_loop_contestants(host_, robot, refused);
    std::erase_if(all, [](const auto& c) {
      static const char* const shown[] = {"c-aba", "projection", "c-rnea", "c-efpa", "c-pv-osimr"};
      return std::find(std::begin(shown), std::end(shown), c->algorithm) == std::end(shown);
    });
    refused.clear();
    add_batches(host_, robot.model, robot.states, Work::forward, "c-aba", all);
    add_batches(host_, robot.model, robot.states, Work::inverse, "c-rnea", all);
    add_loop_peers(robot, all, refused);
    contest_.add(robot, std::move(all), refused);
  }

  void add_all() {
    for (Robot& robot : tree_robots(host_, measured_.absent)) add(std::move(robot), Works::all);
    for (Robot& robot : generated_robots(host_)) add(std::move(robot), Works::calls);
    add(Robot(host_, "quadrotor", quadrotor_urdf(), true), Works::one_body);
    for (Robot& robot : chains(host_)) add(std::move(robot), Works::calls);
    for (LoopRobot& robot : paper_robots(host_)) add(std::move(robot));
    add_compile();
  }

  void run(bool everything) {
    std::printf("\ntiming...\n");
    std::fflush(stdout);
    contest_.run();
    measured_.rows = contest_.rows();
    print(measured_.rows);
    if (everything) {
      measured_.footprints = footprints(host_);
      add_latencies();
      add_cold();
      add_start_ups();
    }
    measured_.where = "Measured on " + processor() + ", " +
                      std::to_string(std::thread::hardware_concurrency()) + " cores, " + today() +
                      "; Espalier and the peers' modules compiled by " + __VERSION__ + " (" +
                      ESPALIER_BUILD_TYPE + "), plugins loaded as " +
                      instruction_set(host_, "forward-dynamics", "aba") + "; " + peer_names() + ".";
  }

  const Measured& measured() const { return measured_; }
  nlohmann::json json() const {
    nlohmann::json all = to_json(measured_);
    all["compiler"] = __VERSION__;
    all["build_type"] = ESPALIER_BUILD_TYPE;
    all["processor"] = processor();
    all["date"] = today();
    all["instruction_set"] = instruction_set(host_, "forward-dynamics", "aba");
    all["libraries"] = libraries_;
    return all;
  }
  bool all_agree() const { return contest_.all_agree(); }

 private:
  /// Model::compile of a long chain; reading the file is not in it.
  void add_compile() {
    const auto description = std::make_shared<const Description>(
        host_.registry().format_for("chain.urdf").read(chain_urdf(compile_bodies), "chain.urdf"));
    Row row;
    row.robot = chain_name(compile_bodies), row.bodies = row.nv = compile_bodies;
    row.work = "compile", row.library = "Espalier", row.algorithm = "Model::compile";
    contest_.add(row, [this, description] { host_.compile(*description); });
  }

  void add_latencies() {
    const auto add = [&](const auto& robot, Contestants all,
                         std::initializer_list<const char*> algorithms) {
      for (const auto& contestant : all) {
        if (std::find(algorithms.begin(), algorithms.end(), contestant->algorithm) ==
            algorithms.end()) {
          continue;
        }
        measured_.latencies.push_back(latency_of(robot.name, *contestant));
      }
    };
    for (const auto& robot : trees_) {
      if (robot->name != "humanoid" && robot->name != "ur5") continue;
      add(*robot, our_contestants(host_, *robot, Works::calls), {"aba", "rnea", "crba"});
    }
    for (const auto& robot : loops_) {
      if (robot->name != "mit_humanoid" && robot->name != "tello") continue;
      Refusals refused;
      add(*robot, our_loop_contestants(host_, *robot, refused), {"c-aba", "c-rnea"});
    }
  }

  void add_cold() {
    for (const auto& robot : trees_) {
      if (robot->name != "humanoid" && robot->name != "ur5") continue;
      Contestants all = our_contestants(host_, *robot, Works::calls);
      for (const Peer& peer : peers_) {
        try {
          for (auto& theirs : peer.contestants(*robot, Works::calls)) {
            all.push_back(std::move(theirs));
          }
        } catch (const std::exception&) {
          continue;  // it refuses the robot, which the rows say
        }
      }
      for (const auto& contestant : all) {
        if (contestant->work == Work::forward || contestant->work == Work::inverse ||
            contestant->algorithm == "crba") {
          measured_.cold.push_back(cold_of(robot->name, *contestant));
        }
      }
    }
  }

  void add_start_ups() {
    std::vector<std::string> names;
    for (const auto& library : libraries_) {
      if (library.contains("library")) names.push_back(library["name"]);
    }
    for (const auto& robot : trees_) {
      if (robot->name != "humanoid" && robot->name != "ur5") continue;
      const std::string file = ESPALIER_SOURCE_DIR "/robots/" + robot->name + ".urdf";
      for (StartUp& start : start_ups_of(file, *robot, names)) {
        measured_.start_ups.push_back(std::move(start));
      }
    }
  }

  std::string peer_names() const {
    std::string names;
    for (const std::string& peer : measured_.peers()) names += (names.empty() ? "" : ", ") + peer;
    return names.empty() ? "no peers" : names;
  }

  Host host_;
  std::vector<Peer> peers_;
  std::vector<std::unique_ptr<Robot>> trees_;  // contestants refer to robots
  std::vector<std::unique_ptr<LoopRobot>> loops_;
  Contest contest_;
  Measured measured_;
  nlohmann::json libraries_ = nlohmann::json::array();
};

void save_charts(const std::filesystem::path& folder, const Measured& measured) {
  const std::string ratios = ratio_chart(measured), growth = chain_chart(measured);
  if (!ratios.empty()) save(folder / "performance.svg", ratios);
  if (!growth.empty()) save(folder / "performance_chains.svg", growth);
}

int run(int count, char** words) {
  std::vector<char*> left = initialize(count, words);

  CLI::App app("Times Espalier beside the other libraries that are installed");
  std::string output = ESPALIER_RESULT_FOLDER, markdown;
  OwnRobots robots;
  app.add_option("--output", output,
                 "folder for results.json, performance.md, performance.svg and "
                 "performance_chains.svg")
      ->capture_default_str();
  app.add_option("--markdown", markdown,
                 "file in which the tables are written between <!-- suite:begin --> and "
                 "<!-- suite:end -->, the charts beside it");
  robots.add_to(app, "URDF files");
  if (const std::optional<int> code = parse(app, left)) return *code;

  Suite suite;
  for (const std::string& path : robots.floating) {
    suite.add(robot_of_file(suite.host(), path, true), Works::all);
  }
  for (const std::string& path : robots.fixed) {
    suite.add(robot_of_file(suite.host(), path, false), Works::all);
  }
  const bool everything = robots.none();
  if (everything) suite.add_all();
  suite.run(everything);
  if (everything) std::printf("\n%s", wanted_table(suite.measured()).c_str());

  const std::filesystem::path folder = output;
  std::filesystem::create_directories(folder);
  const std::string tables = page(suite.measured());
  save(folder / "results.json", suite.json().dump(2) + "\n");
  save(folder / "performance.md", tables);
  save_charts(folder, suite.measured());
  std::printf("\nwritten to %s\n", folder.c_str());
  if (!markdown.empty()) {
    replace_section(markdown, "suite", tables);
    save_charts(std::filesystem::path(markdown).parent_path(), suite.measured());
  }
  if (suite.all_agree()) return 0;
  std::fprintf(stderr, "espalier_bench: results differ, see above\n");
  return 1;
}

}  // namespace

}  // namespace espalier::bench

int main(int count, char** words) {
  return espalier::bench::run_guarded("espalier_bench", espalier::bench::run, count, words);
}
