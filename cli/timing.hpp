#pragma once

#include <optional>
#include <vector>

#include "cli/state.hpp"

/// Time and allocations of single calls.

namespace espalier::cli {

struct TimingOptions {
  int repeats = 21;      ///< batches, each giving one number
  double seconds = 0.2;  ///< for all batches together
};

struct Timing {
  double median_ns = 0.0, best_ns = 0.0;  ///< per call, over the batches
  std::optional<double> allocations;      ///< per call
};

/// Times Algorithm::solve() on states in turn, so that neither branches nor caches learn one of
/// them by heart. Calls run in batches long enough for the clock's resolution; a quarter of the
/// time more goes into warming up. External wrenches are left out.
Timing time_calls(Algorithm& algorithm, const std::vector<State>& states,
                  const TimingOptions& options);

}  // namespace espalier::cli
