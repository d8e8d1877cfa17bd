#include "benchmarks/report.hpp"

#include <algorithm>
#include <cstdio>

#include "benchmarks/markdown.hpp"

namespace espalier::bench {

namespace {

/// The reference of a row: the same robot and work.
const Row* reference_of(const std::vector<Row>& rows, const Row& row) {
  for (const Row& r : rows) {
    if (r.reference && r.robot == row.robot && r.work == row.work && !r.ns.empty()) return &r;
  }
  return nullptr;
}

}  // namespace

double Row::best() const { return *std::min_element(ns.begin(), ns.end()); }

double Row::median() const {
  std::vector<double> sorted = ns;
  std::sort(sorted.begin(), sorted.end());
  return sorted[sorted.size() / 2];
}

bool enter(Row& row, Contestant& reference, Contestant& contestant) {
  row.work = to_string(contestant.work);
  row.library = contestant.library;
  row.algorithm = contestant.algorithm;
  row.states = contestant.states();
  row.threaded = contestant.threaded();
  row.reference = &reference == &contestant;
  row.difference = row.reference ? 0.0 : largest_difference(reference, contestant);
  row.benchmark = row.robot + "/" + row.work + "/" + row.library + "/" + row.algorithm;
  if (row.difference > contestant.agreement) {
    row.why_not = format("its results differ from the reference's by %.1e, expected at most %.0e",
                         row.difference, contestant.agreement);
    return false;
  }
  row.why_not = contestant.not_timed();
  if (!row.why_not.empty()) return true;
  Contestant* called = &contestant;
  auto* registered =
      benchmark::RegisterBenchmark(row.benchmark.c_str(), [called](benchmark::State& state) {
        int k = 0;
        for (auto _ : state) {
          called->call(k);
          benchmark::ClobberMemory();
          k = (k + 1) % state_count;
        }
      });
  if (row.threaded) registered->UseRealTime();
  return true;
}

std::vector<char*> initialize(int count, char** words) {
  std::vector<char*> all{words[0]};
  static char defaults[][64] = {"--benchmark_enable_random_interleaving=true",
                                "--benchmark_repetitions=15", "--benchmark_min_time=0.02"};
  for (char* word : defaults) all.push_back(word);
  all.insert(all.end(), words + 1, words + count);
  int size = static_cast<int>(all.size());
  benchmark::Initialize(&size, all.data());
  all.resize(size);
  return all;
}

void Collector::ReportRuns(const std::vector<Run>& runs) {
  for (const Run& run : runs) {
    if (run.run_type != Run::RT_Iteration || run.error_occurred) continue;
    const auto row = std::find_if(rows_.begin(), rows_.end(), [&](const Row& r) {
      return r.benchmark == run.run_name.function_name;
    });
    if (row == rows_.end()) continue;
    const double seconds = row->threaded ? run.real_accumulated_time : run.cpu_accumulated_time;
    row->ns.push_back(1e9 * seconds / static_cast<double>(run.iterations * row->states));
  }
}

void print(const std::vector<Row>& rows) {
  const Row* last = nullptr;
  for (const Row& row : rows) {
    if (row.ns.empty() && row.why_not.empty()) continue;  // left out by --benchmark_filter
    if (last == nullptr || last->robot != row.robot) {
      std::printf("\n%s: %d bodies, %d degrees of freedom, %s root\n", row.robot.c_str(),
                  row.bodies, row.nv, row.floating ? "floating" : "fixed");
      std::printf("  %-17s %-17s %-28s %10s %10s %9s %10s\n", "work", "library", "call", "best ns",
                  "median ns", "ns/body", "peer/ours");
    }
    const bool repeats = last != nullptr && last->robot == row.robot && last->work == row.work;
    std::printf("  %-17s %-17s %-28s ", repeats ? "" : row.work.c_str(), row.library.c_str(),
                row.algorithm.c_str());
    last = &row;
    if (!row.why_not.empty()) {
      std::printf("not timed: %s\n", row.why_not.c_str());
      continue;
    }
    std::printf("%10.0f %10.0f %9.1f", row.best(), row.median(), row.best() / row.bodies);
    const Row* ours = reference_of(rows, row);
    if (ours != nullptr && ours != &row) std::printf(" %10.2f", row.best() / ours->best());
    std::printf("\n");
  }
}

nlohmann::json to_json(const std::vector<Row>& rows) {
  nlohmann::json list = nlohmann::json::array();
  for (const Row& row : rows) {
    if (row.ns.empty() && row.why_not.empty()) continue;
    nlohmann::json item{{"robot", row.robot},
                        {"bodies", row.bodies},
                        {"nv", row.nv},
                        {"root", row.floating ? "floating" : "fixed"},
                        {"work", row.work},
                        {"library", row.library},
                        {"algorithm", row.algorithm}};
    if (!row.why_not.empty()) {
      item["not_timed"] = row.why_not;
    } else {
      item["ns_per_call_best"] = row.best();
      item["ns_per_call_median"] = row.median();
      item["ns_per_body"] = row.best() / row.bodies;
      item["max_relative_difference"] = row.difference;
      const Row* ours = reference_of(rows, row);
      if (ours != nullptr && ours != &row) item["ratio_to_ours"] = row.best() / ours->best();
    }
    list.push_back(std::move(item));
  }
  return list;
}

}  // namespace espalier::bench
