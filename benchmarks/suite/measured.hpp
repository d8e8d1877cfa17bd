#pragma once

#include <limits>
#include <string>
#include <vector>

#include "benchmarks/report.hpp"
#include "benchmarks/statistics.hpp"
#include "benchmarks/suite/cold.hpp"
#include "benchmarks/suite/footprint.hpp"
#include "benchmarks/suite/latency.hpp"
#include "benchmarks/suite/robots.hpp"
#include "benchmarks/suite/start_up.hpp"

namespace espalier::bench {

/// All that a run of the suite has measured.
struct Measured {
  std::vector<Row> rows;
  std::vector<Footprint> footprints;
  std::vector<Latency> latencies;
  std::vector<Cold> cold;
  std::vector<StartUp> start_ups;
  Absent absent;
  std::string where;  ///< machine, compilers and date, a sentence or two

  /// The row of what was timed, or null. @param library  how its name begins
  const Row* find(const std::string& robot, const std::string& work, const std::string& library,
                  const std::string& algorithm) const;
  /// Best time [ns a state] of an algorithm of Espalier's; NaN if it was not timed.
  double ours(const std::string& robot, const std::string& work,
              const std::string& algorithm) const;
  /// Best time [ns a state] of a library, by its fastest algorithm for the work whose results
  /// differ by no more than `difference`, relative; NaN likewise.
  double theirs(const std::string& robot, const std::string& work, const std::string& library,
                double difference = std::numeric_limits<double>::infinity()) const;
  /// Names of the robots for which a work was timed, in their order.
  std::vector<std::string> robots(const std::string& work) const;
  /// Libraries besides Espalier that were timed, in their order.
  std::vector<std::string> peers() const;
  /// Time of an algorithm of Espalier's against the number of bodies; `deviation` is NaN if some
  /// chain was not timed.
  LineFit growth(const std::string& work, const std::string& algorithm) const;
};

}  // namespace espalier::bench
