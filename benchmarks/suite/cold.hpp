#pragma once

#include <string>

#include "benchmarks/contestant.hpp"

namespace espalier::bench {

/// Calls that are timed for each row.
inline constexpr int cold_calls = 100;

/// How long a call takes that finds nothing in the processor's caches, neither numbers nor code.
struct Cold {
  std::string robot, library, algorithm;
  double ns = 0.0;  ///< median, the clock's own time included
};

/// Times calls, before each of which more memory is written than the caches hold.
Cold cold_of(const std::string& robot, Contestant& contestant);

}  // namespace espalier::bench
