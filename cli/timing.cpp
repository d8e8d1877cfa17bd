#include "cli/timing.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <ctime>
#include <span>

#include "cli/allocations.hpp"

namespace espalier::cli {

namespace {

/// Seconds that the calling thread has computed: what others do on the machine does not count.
double thread_seconds() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}
double wall_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Times call() by a clock, and counts allocations of `counted` calls.
template <class F>
Timing timed(F&& call, double (*clock)(), long counted, const TimingOptions& options) {
  const auto seconds_of = [&](long calls) {
    const double start = clock();
    for (long k = 0; k < calls; ++k) call();
    return clock() - start;
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
  // A run is at least 50 µs long: a hundred times what asking the clock takes.
  const double run_seconds = std::max(options.seconds / options.repeats, 50e-6);
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

/// Arrays of N states, the given ones in turn, and of all results.
struct BatchArrays {
  BatchArrays(const Batch& batch, int N, const std::vector<State>& states)
      : q(gathered(N, states, &Inputs::q)),
        v(gathered(N, states, &Inputs::v)),
        tau(gathered(N, states, &Inputs::tau)),
        vdot(gathered(N, states, &Inputs::vdot)),
        status(N) {
    memory.reserve(batch.results().size());
    for (const Result& r : batch.results()) {
      const std::size_t size = static_cast<std::size_t>(r.row_count) * r.column_count * N;
      std::vector<Line>& lines = memory.emplace_back((size + line - 1) / line);
      values.emplace_back(reinterpret_cast<double*>(lines.data()), size);
      out.push_back({r.name, Out<double>(values.back().data(), static_cast<long>(size))});
    }
  }
  BatchInputs in() const { return {.q = q, .v = v, .tau = tau, .vdot = vdot}; }

  std::vector<double> q, v, tau, vdot;
  std::vector<std::span<double>> values;  ///< of each result
  std::vector<BatchOutput> out;
  std::vector<BatchStatus> status;

 private:
  /// Rows that begin with a line of the cache are written the fastest (docs/batches.md).
  static constexpr std::size_t line = 64 / sizeof(double);
  struct alignas(64) Line {
    double numbers[line];
  };
  std::vector<std::vector<Line>> memory;  ///< of the values

  static std::vector<double> gathered(int N, const std::vector<State>& states,
                                      std::vector<double> Inputs::*member) {
    std::vector<double> all((states.front().inputs.*member).size() * N);
    for (std::size_t i = 0; i < all.size(); ++i) {
      all[i] = (states[i % N % states.size()].inputs.*member)[i / N];
    }
    return all;
  }
};

void evaluate(Batch& batch, BatchArrays& arrays) {
  batch.evaluate(static_cast<int>(arrays.status.size()), arrays.in(),
                 std::span<const BatchOutput>(arrays.out), arrays.status);
}

}  // namespace

Timing time_calls(Algorithm& algorithm, const std::vector<State>& states,
                  const TimingOptions& options) {
  std::vector<Inputs> inputs;
  for (const State& state : states) {
    inputs.push_back(state.inputs);
    inputs.back().wrenches = nullptr;
  }
  const std::vector<InputViews> views(inputs.begin(), inputs.end());
  Results results;
  std::size_t next = 0;
  const auto call = [&] {
    algorithm.solve(views[next], results);
    if (++next == views.size()) next = 0;
  };
  return timed(call, thread_seconds, static_cast<long>(inputs.size()), options);
}

Timing time_batch(Batch& batch, int N, const std::vector<State>& states,
                  const TimingOptions& options) {
  BatchArrays arrays(batch, N, states);
  const auto clock = batch.threads() == 1 ? thread_seconds : wall_seconds;
  Timing timing = timed([&] { evaluate(batch, arrays); }, clock, 4, options);
  for (double* t : {&timing.median_ns, &timing.best_ns, &timing.spread_ns}) *t /= N;
  return timing;
}

BatchError error_of(Batch& batch, Batch& exact, const std::vector<State>& states) {
  const std::size_t N = states.size();
  BatchArrays got(batch, static_cast<int>(N), states), wanted(exact, static_cast<int>(N), states);
  evaluate(batch, got);
  evaluate(exact, wanted);
  std::vector<double> errors(N, 0.0);
  for (std::size_t r = 0; r < wanted.values.size(); ++r) {
    for (std::size_t k = 0; k < N; ++k) {
      double off = 0.0, length = 0.0;
      for (std::size_t i = k; i < wanted.values[r].size(); i += N) {
        const double x = wanted.values[r][i], dx = got.values[r][i] - x;
        off += dx * dx, length += x * x;
      }
      if (off == 0.0) continue;
      const double error = std::sqrt(off / length);
      errors[k] = std::isfinite(error) ? std::max(errors[k], error) : HUGE_VAL;
    }
  }
  std::sort(errors.begin(), errors.end());
  return {errors[N / 2], errors.back()};
}

}  // namespace espalier::cli
