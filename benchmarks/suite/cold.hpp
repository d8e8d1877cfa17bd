#pragma once

#include <string>

#include "benchmarks/contestant.hpp"

namespace espalier::bench {

/// Calls that are timed for each row.
inline constexpr int cold_calls = 100;

/// How long a call takes whose numbers and code are far away. Medians, the clock's own time
/// included.
struct Cold {
  std::string robot, library, algorithm;
  double ns = 0.0;       ///< nothing of it is in any of the processor's caches
  double near_ns = 0.0;  ///< it is in the last cache only
};

/// Times calls, before each of which more memory is written than the caches, or the core's own
/// caches, hold.
Cold cold_of(const std::string& robot, Contestant& contestant);

}  // namespace espalier::bench
