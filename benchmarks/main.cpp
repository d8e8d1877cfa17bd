// Times single calls of Espalier's algorithms beside whichever other libraries are installed, in
// one process, after checking that all give the same results. See docs/performance.md.
//
//   espalier_bench [--json FILE] [--robot URDF]... [--floating URDF]... [--benchmark_...]

#include <benchmark/benchmark.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>

#include "benchmarks/chain.hpp"
#include "benchmarks/contestant.hpp"
#include "benchmarks/machine.hpp"
#include "benchmarks/program.hpp"
#include "benchmarks/report.hpp"

namespace espalier::bench {

namespace {

constexpr int compile_bodies = 500;

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

  /// Checks all libraries on a robot and registers those that agree.
  void add(Robot&& moved) {
    const Robot& robot = *robots_.emplace_back(std::make_unique<Robot>(std::move(moved)));
    Contestants all = our_contestants(host_, robot);
    std::map<Work, Contestant*> reference;
    std::vector<std::pair<std::string, std::string>> refused;  // library, why
    for (const auto& ours : all) reference.try_emplace(ours->work, ours.get());
    for (const Peer& peer : peers_) {
      try {
        for (auto& theirs : peer.contestants(robot)) all.push_back(std::move(theirs));
      } catch (const std::exception& error) {
        refused.emplace_back(peer.table().library, error.what());
      }
    }
    std::stable_sort(all.begin(), all.end(),
                     [](const auto& a, const auto& b) { return a->work < b->work; });
    for (auto& contestant : all) {
      add(robot, *reference[contestant->work], *contestant);
      contestants_.push_back(std::move(contestant));
    }
    for (const auto& [library, why] : refused) refuse(robot, library, why);
  }

  /// Model::compile of a long chain; reading the file is not in it.
  void add_compile() {
    const std::string name = "chain_" + std::to_string(compile_bodies);
    const auto description = std::make_shared<const Description>(
        host_.registry().format_for("chain.urdf").read(chain_urdf(compile_bodies), "chain.urdf"));
    Row row;
    row.robot = name, row.bodies = row.nv = compile_bodies;
    row.work = "compile", row.library = "Espalier", row.algorithm = "Model::compile";
    row.benchmark = "compile/" + name;
    rows_.push_back(row);
    benchmark::RegisterBenchmark(row.benchmark.c_str(), [this,
                                                         description](benchmark::State& state) {
      for (auto _ : state) benchmark::DoNotOptimize(host_.compile(*description));
    })->Unit(benchmark::kMillisecond);
  }

  void run() {
    Collector collector(rows_);
    std::printf("\ntiming...\n");
    std::fflush(stdout);
    benchmark::RunSpecifiedBenchmarks(&collector);
    print(rows_);
  }

  nlohmann::json json() const {
    return {{"compiler", __VERSION__},
            {"build_type", ESPALIER_BUILD_TYPE},
            {"processor", processor()},
            {"instruction_set", instruction_set(host_, "forward-dynamics", "aba")},
            {"libraries", libraries_},
            {"results", to_json(rows_)}};
  }
  bool all_agree() const { return all_agree_; }
  const Host& host() const { return host_; }

 private:
  void add(const Robot& robot, Contestant& reference, Contestant& contestant) {
    Row row = row_of(robot);
    all_agree_ = enter(row, reference, contestant) && all_agree_;
    rows_.push_back(std::move(row));
  }
  void refuse(const Robot& robot, const std::string& library, std::string why) {
    std::replace(why.begin(), why.end(), '\n', ' ');
    Row row = row_of(robot);
    row.work = "all", row.library = library, row.why_not = "it refuses the robot: " + why;
    rows_.push_back(std::move(row));
  }

  Host host_;
  std::vector<Peer> peers_;
  std::vector<std::unique_ptr<Robot>> robots_;  // contestants refer to them
  Contestants contestants_;
  std::vector<Row> rows_;
  nlohmann::json libraries_ = nlohmann::json::array();
  bool all_agree_ = true;
};

int run(int count, char** words) {
  std::vector<char*> left = initialize(count, words);

  CLI::App app("Times Espalier beside the other libraries that are installed");
  std::string json;
  std::vector<std::string> fixed, floating;
  app.add_option("--json", json, "file for the results");
  app.add_option("--robot", fixed, "URDF files with a fixed root, instead of the usual robots");
  app.add_option("--floating", floating, "URDF files with a floating root, likewise");
  app.footer("Options of Google Benchmark (--benchmark_filter=...) are understood, too.");
  try {
    app.parse(static_cast<int>(left.size()), left.data());
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }

  Suite suite;
  for (const std::string& path : floating) suite.add(robot_of_file(suite.host(), path, true));
  for (const std::string& path : fixed) suite.add(robot_of_file(suite.host(), path, false));
  if (fixed.empty() && floating.empty()) {
    for (Robot& robot : default_robots(suite.host())) suite.add(std::move(robot));
    suite.add_compile();
  }
  suite.run();
  if (!json.empty()) save(json, suite.json().dump(2) + "\n");
  if (suite.all_agree()) return 0;
  std::fprintf(stderr, "espalier_bench: results differ, see above\n");
  return 1;
}

}  // namespace

}  // namespace espalier::bench

int main(int count, char** words) {
  return espalier::bench::run_guarded("espalier_bench", espalier::bench::run, count, words);
}
