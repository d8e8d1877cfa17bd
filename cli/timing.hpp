#pragma once

#include <optional>
#include <vector>

#include "cli/files/state.hpp"
#include "espalier/host/batch.hpp"

/// Time and allocations of single calls and of batches.

namespace espalier::cli {

struct TimingOptions {
  int repeats = 21;      ///< runs of calls, each giving one number
  double seconds = 0.2;  ///< for all runs together
};

struct Timing {
  double median_ns = 0.0, best_ns = 0.0;  ///< per call or state, over the runs
  double spread_ns = 0.0;                 ///< between the quartiles of the runs
  std::optional<double> allocations;      ///< per call, of the calling thread
};

/// Times Algorithm::solve() on states in turn, so that neither branches nor caches learn one of
/// them by heart, by the thread's processor time. Calls come in runs long enough for the clock; a
/// quarter of the time more goes into warming up. External wrenches are left out.
Timing time_calls(Algorithm& algorithm, const std::vector<State>& states,
                  const TimingOptions& options);

/// Times Batch::evaluate() on N states, the given ones in turn, with all results and status; times
/// are per state; on several threads, which share the work, by the clock on the wall, else by the
/// thread's processor time.
Timing time_batch(Batch& batch, int N, const std::vector<State>& states,
                  const TimingOptions& options);

/// How far a batch is from one at another precision: of each state the distance of a result's
/// numbers over their length, the largest of all results.
struct BatchError {
  double median = 0.0, worst = 0.0;  ///< over the states
};
BatchError error_of(Batch& batch, Batch& exact, const std::vector<State>& states);

}  // namespace espalier::cli
