#include "cli/timing.hpp"

#include <algorithm>
#include <chrono>

#include "cli/allocations.hpp"

namespace espalier::cli {

Timing time_calls(Algorithm& algorithm, const std::vector<State>& states,
                  const TimingOptions& options) {
  std::vector<Inputs> inputs;
  for (const State& state : states) {
    inputs.push_back(state.inputs);
    inputs.back().wrenches = nullptr;
  }
  Results results;
  std::size_t next = 0;
  const auto seconds_of = [&](long calls) {
    const auto start = std::chrono::steady_clock::now();
    for (long k = 0; k < calls; ++k) {
      algorithm.solve(inputs[next], results);
      if (++next == inputs.size()) next = 0;
    }
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };

  // Warm up with batches that double until they say how long a call takes.
  const double warm_up = 0.25 * options.seconds;
  long calls = 1;
  double spent = 0.0, last = 0.0;
  for (;; calls *= 2) {
    last = seconds_of(calls);
    spent += last;
    if (spent >= warm_up) break;
  }
  const double call = last / static_cast<double>(calls);
  // A batch is at least 20 µs long: a thousand times the clock's resolution.
  const double batch_seconds = std::max(options.seconds / options.repeats, 20e-6);
  const long batch = std::max(1L, static_cast<long>(batch_seconds / call));

  std::vector<double> per_call(options.repeats);
  for (double& t : per_call) t = 1e9 * seconds_of(batch) / static_cast<double>(batch);
  std::sort(per_call.begin(), per_call.end());

  Timing timing;
  timing.best_ns = per_call.front();
  timing.median_ns = per_call[per_call.size() / 2];
  const std::optional<long> before = allocation_count();
  const long counted = static_cast<long>(inputs.size());
  seconds_of(counted);
  const std::optional<long> after = allocation_count();
  if (before && after) {
    timing.allocations = static_cast<double>(*after - *before) / static_cast<double>(counted);
  }
  return timing;
}

}  // namespace espalier::cli
