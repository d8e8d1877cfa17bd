// Times algorithms on mechanisms that are one large cluster, beside Pinocchio's lcaba and its
// solver of constraints, after comparing all results. See docs/large-clusters.md.
//
//   espalier_bench_clusters [--markdown FILE] [--json FILE] [--only KIND]... [--small]
//                           [--benchmark_...]

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "benchmarks/clusters/contestants.hpp"
#include "benchmarks/clusters/tables.hpp"
#include "benchmarks/loops/contestants.hpp"
#include "benchmarks/machine.hpp"
#include "benchmarks/markdown.hpp"
#include "benchmarks/program.hpp"

namespace espalier::bench {

namespace {

int run(int count, char** words) {
  std::vector<char*> left = initialize(count, words);

  CLI::App app("Times Espalier's algorithms on large clusters");
  std::string markdown, json;
  std::vector<std::string> only;
  bool small = false;
  app.add_option("--markdown", markdown,
                 "file in which the tables are written between <!-- clusters:begin --> and "
                 "<!-- clusters:end -->");
  app.add_option("--json", json, "file for the results");
  app.add_option("--only", only, "kinds of mechanisms: ladder, net, Stewart platform, ...");
  app.add_flag("--small", small, "small ones of each kind alone");
  if (const std::optional<int> code = parse(app, left)) return *code;

  const Host host;
  std::vector<Mechanism> all = mechanisms(small);
  if (!only.empty()) {
    std::erase_if(all, [&](const Mechanism& m) {
      return std::find(only.begin(), only.end(), m.kind) == only.end();
    });
  }
  std::vector<std::unique_ptr<LoopRobot>> robots;  // contestants refer to them
  Contest contest;
  for (const Mechanism& mechanism : all) {
    std::printf("comparing on %s...\n", mechanism.description.name.c_str());
    std::fflush(stdout);
    const LoopRobot& robot =
        *robots.emplace_back(std::make_unique<LoopRobot>(robot_of(host, mechanism)));
    Contestants contestants = cluster_contestants(host, robot);
    Refusals refused;
    add_loop_peers(robot, contestants, refused);
    std::erase_if(contestants, [](const auto& c) { return c->work == Work::forward_derivatives; });
    contest.add(robot, std::move(contestants), refused);
    add_calls_for_positions(host, mechanism, robot, contest);
  }
  std::printf("timing...\n");
  std::fflush(stdout);
  contest.run();
  print(contest.rows());

  const std::string tables = "Measured on " + processor() + ", plugins loaded as " +
                             instruction_set(host, "forward-dynamics", "c-aba") + ", compiled by " +
                             __VERSION__ + " (" + ESPALIER_BUILD_TYPE + ").\n\n" +
                             cluster_tables(all, contest.rows());
  std::printf("\n%s", tables.c_str());
  if (!markdown.empty()) replace_section(markdown, "clusters", tables);
  if (!json.empty()) {
    const nlohmann::json results{{"processor", processor()},
                                 {"compiler", __VERSION__},
                                 {"build_type", ESPALIER_BUILD_TYPE},
                                 {"results", to_json(contest.rows())}};
    save(json, results.dump(2) + "\n");
  }
  // A peer that differs is told; it is no reason to fail.
  const bool differ = std::any_of(contest.rows().begin(), contest.rows().end(), [](const Row& row) {
    return row.library == "Espalier" && row.why_not.starts_with("its results differ");
  });
  if (differ) std::fprintf(stderr, "espalier_bench_clusters: results differ, see above\n");
  return differ ? 1 : 0;
}

}  // namespace

}  // namespace espalier::bench

int main(int count, char** words) {
  return espalier::bench::run_guarded("espalier_bench_clusters", espalier::bench::run, count,
                                      words);
}
