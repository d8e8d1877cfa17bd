#include "benchmarks/suite/cold.hpp"

#include <atomic>
#include <chrono>
#include <vector>

#include "benchmarks/statistics.hpp"

namespace espalier::bench {

namespace {

/// Larger than the last cache of the processors that this runs on. What is not in the last cache
/// is in none below it either, instructions included, where caches are inclusive; else the walk
/// itself takes the nearer ones.
constexpr std::size_t evicting_bytes = std::size_t{96} << 20;
/// Larger than the caches of one core, which hold 1 to 2 MB, and a part of the last one.
constexpr std::size_t near_evicting_bytes = std::size_t{4} << 20;

/// Median of calls after a walk through so much memory [ns].
double time_after_walk(Contestant& contestant, std::size_t bytes) {
  using Clock = std::chrono::steady_clock;
  static std::vector<unsigned char> memory(evicting_bytes);
  std::vector<double> ns(cold_calls);
  for (int k = 0; k < state_count; ++k) contestant.call(k);
  for (int k = 0; k < cold_calls; ++k) {
    for (std::size_t at = 0; at < bytes; at += 64) ++memory[at];
    std::atomic_signal_fence(std::memory_order_seq_cst);
    Clock::time_point start = Clock::now();  // brings the clock's own code back
    start = Clock::now();
    contestant.call(k % state_count);
    ns[static_cast<std::size_t>(k)] =
        std::chrono::duration<double, std::nano>(Clock::now() - start).count();
  }
  return quantile(ns, 0.5);
}

}  // namespace

Cold cold_of(const std::string& robot, Contestant& contestant) {
  return {robot, contestant.library, contestant.algorithm,
          time_after_walk(contestant, evicting_bytes),
          time_after_walk(contestant, near_evicting_bytes)};
}

}  // namespace espalier::bench
