#pragma once

#include <benchmark/benchmark.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "benchmarks/contestant.hpp"

namespace espalier::bench {

/// One line of the table.
struct Row {
  std::string robot;
  int bodies = 0, nv = 0;
  bool floating = false;
  std::string work, library, algorithm;
  bool reference = false;   ///< ours, which peers are divided by
  double difference = 0.0;  ///< from the reference's results, relative
  std::string why_not;      ///< why it is not timed, or ""
  std::string benchmark;    ///< name under which it is timed
  int states = 1;           ///< of a call
  bool threaded = false;    ///< several threads: time by the clock on the wall
  std::vector<double> ns;   ///< per state, one for each repetition

  double best() const;
  double median() const;
};

/// The row of a robot, to be filled. @param robot  Robot or LoopRobot
template <class R>
Row row_of(const R& robot) {
  Row row;
  row.robot = robot.name;
  row.bodies = robot.model->body_count();
  row.nv = robot.model->nv();
  row.floating = robot.floating;
  return row;
}
/// Compares a contestant with the reference for its work, and registers its benchmark if it agrees
/// and is one that is timed. @returns  whether it agrees
bool enter(Row& row, Contestant& reference, Contestant& contestant);

/// Google Benchmark's words with the suites' defaults, those of the user being later and winning.
/// @returns  the words that are left for the program
std::vector<char*> initialize(int count, char** words);

/// Keeps the times of all repetitions; prints nothing.
class Collector : public benchmark::BenchmarkReporter {
 public:
  explicit Collector(std::vector<Row>& rows) : rows_(rows) {}
  bool ReportContext(const Context&) override { return true; }
  void ReportRuns(const std::vector<Run>& runs) override;

 private:
  std::vector<Row>& rows_;
};

/// A table for each robot: times, and peer / ours for each work.
void print(const std::vector<Row>& rows);
nlohmann::json to_json(const std::vector<Row>& rows);

}  // namespace espalier::bench
