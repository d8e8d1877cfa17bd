#include "benchmarks/report.hpp"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdio>
#include <map>

#include "benchmarks/markdown.hpp"
#include "benchmarks/statistics.hpp"

namespace espalier::bench {

namespace {

/// Keeps the times of all repetitions; prints nothing.
class Collector : public benchmark::BenchmarkReporter {
 public:
  explicit Collector(std::vector<Row>& rows) {
    for (Row& row : rows) by_name_.emplace(row.benchmark, &row);
  }
  bool ReportContext(const Context&) override { return true; }
  void ReportRuns(const std::vector<Run>& runs) override {
    for (const Run& run : runs) {
      if (run.run_type != Run::RT_Iteration || run.error_occurred) continue;
      Row& row = *by_name_.at(run.run_name.function_name);
      const double seconds = row.threaded ? run.real_accumulated_time : run.cpu_accumulated_time;
      row.ns.push_back(1e9 * seconds / static_cast<double>(run.iterations * row.states));
    }
  }

 private:
  std::map<std::string, Row*> by_name_;
};

std::string work_of(const Contestant& contestant) {
  return to_string(contestant.work) + std::string(contestant.states() > 1 ? ", batch" : "");
}

/// @param call  is timed
template <class F>
void register_as(Row& row, F call) {
  row.benchmark = row.robot + "/" + row.work + "/" + row.library + "/" + row.algorithm;
  auto* registered =
      benchmark::RegisterBenchmark(row.benchmark.c_str(), [call](benchmark::State& state) mutable {
        for (auto _ : state) {
          call();
          benchmark::ClobberMemory();
        }
      });
  if (row.threaded) registered->UseRealTime();
}

}  // namespace

double Row::best() const { return *std::min_element(ns.begin(), ns.end()); }
double Row::median() const { return quantile(ns, 0.5); }

void Contest::add(const Row& robot, Contestants all, const Refusals& refused) {
  std::map<Work, Contestant*> reference;
  for (const auto& contestant : all) reference.try_emplace(contestant->work, contestant.get());
  std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) {
    return std::pair(a->work, a->states() > 1) < std::pair(b->work, b->states() > 1);
  });
  for (auto& contestant : all) {
    enter(robot, *reference[contestant->work], *contestant);
    contestants_.push_back(std::move(contestant));
  }
  for (const auto& [who, why] : refused) {
    Row row = robot;
    row.work = "all", row.library = who, row.why_not = why;
    std::replace(row.why_not.begin(), row.why_not.end(), '\n', ' ');
    rows_.push_back(std::move(row));
  }
}

void Contest::enter(Row row, Contestant& reference, Contestant& contestant) {
  row.work = work_of(contestant);
  row.library = contestant.library;
  row.algorithm = contestant.algorithm;
  row.states = contestant.states();
  row.threaded = contestant.threaded();
  row.difference = &reference == &contestant ? 0.0 : largest_difference(reference, contestant);
  row.why_not = contestant.not_timed();
  if (row.difference > contestant.agreement) {
    row.why_not = format("its results differ from the reference's by %.1e, expected at most %.0e",
                         row.difference, contestant.agreement);
    all_agree_ = false;
  }
  if (!row.why_not.empty()) {
    rows_.push_back(std::move(row));
    return;
  }
  Contestant* called = &contestant;
  register_as(row, [called, k = 0]() mutable {
    called->call(k);
    k = (k + 1) % state_count;
  });
  rows_.push_back(std::move(row));
}

void Contest::add(Row row, const std::function<void()>& call) {
  register_as(row, call);
  rows_.push_back(std::move(row));
}

void Contest::run() {
  Collector collector(rows_);
  benchmark::RunSpecifiedBenchmarks(&collector);
}

const Row* reference_of(const std::vector<Row>& rows, const Row& row) {
  for (const Row& r : rows) {
    if (r.library == "Espalier" && r.robot == row.robot && r.work == row.work && !r.ns.empty()) {
      return &r;
    }
  }
  return nullptr;
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
      item["states_per_call"] = row.states;
      item["threads"] = row.threaded ? "several" : "one";
      item["ns_per_state_best"] = row.best();
      item["ns_per_state_median"] = row.median();
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
