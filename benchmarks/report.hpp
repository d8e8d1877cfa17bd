#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "benchmarks/contestant.hpp"

namespace espalier::bench {

/// One line of the table.
struct Row {
  std::string robot;
  int bodies = 0, nv = 0;
  bool floating = false;
  std::string work, library, algorithm;
  double difference = 0.0;  ///< from the reference's results, relative
  std::string why_not;      ///< why it is not timed, or ""
  std::string benchmark;    ///< name under which it is timed
  int states = 1;           ///< of a call
  bool threaded = false;    ///< several threads: time by the clock on the wall
  std::vector<double> ns;   ///< per state, one for each repetition

  double best() const;
  double median() const;
};

/// Who cannot run on a robot, and why.
using Refusals = std::vector<std::pair<std::string, std::string>>;  // library or algorithm, why

/// What takes part, on all robots: rows are filled as contestants come, and timed together.
class Contest {
 public:
  /// Compares all with the first of Espalier's for each work, and enters those that agree.
  /// @param robot  Robot or LoopRobot; contestants may refer to it
  template <class R>
  void add(const R& robot, Contestants all, const Refusals& refused) {
    Row row;
    row.robot = robot.name;
    row.bodies = robot.model->body_count();
    row.nv = robot.model->nv();
    row.floating = robot.floating;
    add(row, std::move(all), refused);
  }
  /// Enters a call that is timed without being compared.
  void add(Row row, const std::function<void()>& call);
  /// Times all rows, in shuffled repetitions.
  void run();

  const std::vector<Row>& rows() const { return rows_; }
  bool all_agree() const { return all_agree_; }

 private:
  void add(const Row& robot, Contestants all, const Refusals& refused);
  void enter(Row row, Contestant& reference, Contestant& contestant);

  Contestants contestants_;
  std::vector<Row> rows_;
  bool all_agree_ = true;
};

/// The row whose time others of the robot and work are divided by: the first of Espalier's that was
/// timed, or null.
const Row* reference_of(const std::vector<Row>& rows, const Row& row);

/// Google Benchmark's words with the suites' defaults, those of the user being later and winning.
/// @returns  the words that are left for the program
std::vector<char*> initialize(int count, char** words);

/// A table for each robot: times, and peer / ours for each work.
void print(const std::vector<Row>& rows);
nlohmann::json to_json(const std::vector<Row>& rows);

}  // namespace espalier::bench
