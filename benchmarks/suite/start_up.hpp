#pragma once

#include <string>
#include <vector>

#include "benchmarks/contestant.hpp"

namespace espalier::bench {

/// Each robot's program is started so many times.
inline constexpr int start_ups = 60;

/// From a process's start to the first acceleration, the robot's file read and the process ended.
struct StartUp {
  std::string robot, library;
  double ms = 0.0, median_ms = 0.0;  ///< of the processor, the system's work for it included
  double megabytes = 0.0;            ///< most that the process has had
};

/// Starts `espalier_bench_start` and, for each peer, `espalier_bench_start_peer`, in turns, on a
/// robot of robots/. Libraries and files are in the system's cache. What fails is left out.
std::vector<StartUp> start_ups_of(const std::string& file, const Robot& robot,
                                  const std::vector<std::string>& peers);

}  // namespace espalier::bench
