#pragma once

#include <string>
#include <vector>

#include "benchmarks/contestant.hpp"

namespace espalier::bench {

/// Each of so many runs times so many calls, one by one.
inline constexpr int latency_runs = 20, latency_calls = 20000;

/// How long single calls take.
struct Latency {
  std::string robot, algorithm;
  double p50 = 0.0, p99 = 0.0, p999 = 0.0;  ///< quantiles [ns], the clock's own time included
};

/// Times calls, the states in turn, on the core where the thread is, and gives the run whose 99.9th
/// percentile is the least: the one that other programs have disturbed least.
Latency latency_of(const std::string& robot, Contestant& contestant);

}  // namespace espalier::bench
