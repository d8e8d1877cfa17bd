#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/session.hpp"
#include "espalier/kernel/uniform.hpp"

/// What `espalier sweep` is told to do: designs of a robot, states of each, numbers to record.

namespace espalier::cli {

/// A parameter of a robot that a sweep varies.
struct SweepParameter {
  enum class Values { list, uniform, normal };
  std::string name;  ///< of its column
  std::vector<std::string>
      targets;          ///< what it sets: "links.shank.mass", "joints.knee.xyz[2]", ...
  bool scales = false;  ///< whether it multiplies what is there
  Values kind = Values::list;
  std::vector<double> values;  ///< the list; or bounds; or mean and standard deviation
};

/// A number that is recorded.
struct SweepRecord {
  enum class Reduction { entry, max_abs, norm };
  std::string name;    ///< of its column
  std::string result;  ///< as the problem calls it
  std::string row;     ///< of a result over rates or links; or its index
  Reduction reduction = Reduction::max_abs;
};

/// A sweep file (YAML).
struct SweepPlan {
  std::string file, robot;
  CompileOptions options;
  std::string problem, algorithm;
  unsigned long long seed = 1;
  std::vector<SweepParameter> parameters;
  int samples = 1;        ///< of distributions, at each point of the grid of lists
  int random_states = 0;  ///< of each design; 0: the neutral state
  std::vector<SweepRecord> records;

  /// @throws Failure naming file, line and key
  static SweepPlan read(const std::string& file);

  /// Names of the table's columns, in order; no two are the same.
  std::vector<std::string> columns() const;
  /// @throws Failure for a target that does not exist, or whose value is lost to another parameter
  void expect_effect(Description& description) const;
  long designs() const;
  /// Values of the parameters of design k: lists by the digits of k, distributions by a generator
  /// of its own, so that no design depends on another.
  std::vector<double> values(long design) const;
};

/// Sets numbers of a robot as it was read. @throws Failure naming the target and what is known
void set_parameter(Description& robot, const std::string& target, double value, bool scales);

}  // namespace espalier::cli
