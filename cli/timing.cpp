#include "cli/timing.hpp"

#include <algorithm>
#include <chrono>

#include "cli/allocations.hpp"

namespace espalier::cli {

namespace {

/// Times call(), and counts allocations of `counted` calls.
template <class F>
Timing timed(F&& call, long counted, const TimingOptions& options) {
  const auto seconds_of = [&](long calls) {
    const auto start = std::chrono::steady_clock::now();
    for (long k = 0; k < calls; ++k) call();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };

  // Warm up with runs that double until they say how long a call takes.
  const double warm_up = 0.25 * options.seconds;
  long calls = 1;
  double spent = 0.0, last = 0.0;
  for (;; calls *= 2) {
    last = seconds_of(calls);
    spent += last;
    if (spent >= warm_up) break;
  }
  const double one = last / static_cast<double>(calls);
  // A run is at least 20 µs long: a thousand times the clock's resolution.
  const double run_seconds = std::max(options.seconds / options.repeats, 20e-6);
  const long run = std::max(1L, static_cast<long>(run_seconds / one));

  std::vector<double> per_call(options.repeats);
  for (double& t : per_call) t = 1e9 * seconds_of(run) / static_cast<double>(run);
  std::sort(per_call.begin(), per_call.end());

  Timing timing;
  const std::size_t n = per_call.size();
  timing.best_ns = per_call.front();
  timing.median_ns = per_call[n / 2];
  timing.spread_ns = per_call[3 * n / 4] - per_call[n / 4];
  const std::optional<long> before = allocation_count();
  seconds_of(counted);
  const std::optional<long> after = allocation_count();
  if (before && after) {
    timing.allocations = static_cast<double>(*after - *before) / static_cast<double>(counted);
  }
  return timing;
}

}  // namespace

Timing time_calls(Algorithm& algorithm, const std::vector<State>& states,
                  const TimingOptions& options) {
  std::vector<Inputs> inputs;
  for (const State& state : states) {
    inputs.push_back(state.inputs);
    inputs.back().wrenches = nullptr;
  }
  Results results;
  std::size_t next = 0;
  const auto call = [&] {
    algorithm.solve(inputs[next], results);
    if (++next == inputs.size()) next = 0;
  };
  return timed(call, static_cast<long>(inputs.size()), options);
}

Timing time_batch(Batch& batch, int N, const std::vector<State>& states,
                  const TimingOptions& options) {
  const auto gathered = [&](std::vector<double> Inputs::*member) {
    std::vector<double> all((states.front().inputs.*member).size() * N);
    for (std::size_t i = 0; i < all.size(); ++i) {
      all[i] = (states[i % N % states.size()].inputs.*member)[i / N];
    }
    return all;
  };
  const std::vector<double> q = gathered(&Inputs::q), v = gathered(&Inputs::v),
                            tau = gathered(&Inputs::tau), vdot = gathered(&Inputs::vdot);
  std::vector<std::vector<double>> values;
  for (const Result& r : batch.results()) {
    values.emplace_back(static_cast<std::size_t>(r.row_count) * r.column_count * N);
  }
  std::vector<BatchOutput> out;
  for (std::size_t k = 0; k < values.size(); ++k) {
    out.push_back({batch.results()[k].name, values[k]});
  }
  std::vector<BatchStatus> status(N);
  const BatchInputs in{.q = q, .v = v, .tau = tau, .vdot = vdot};
  Timing timing = timed(
      [&] { batch.evaluate(N, in, std::span<const BatchOutput>(out), status); }, 4, options);
  for (double* t : {&timing.median_ns, &timing.best_ns, &timing.spread_ns}) *t /= N;
  return timing;
}

}  // namespace espalier::cli
