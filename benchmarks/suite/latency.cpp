#include "benchmarks/suite/latency.hpp"

#include <sched.h>

#include <chrono>

#include "benchmarks/statistics.hpp"

namespace espalier::bench {

namespace {

/// Keeps the thread on the core where it is, as long as the object lives.
class Pinned {
 public:
  Pinned() {
    sched_getaffinity(0, sizeof before_, &before_);
    cpu_set_t here;
    CPU_ZERO(&here);
    CPU_SET(static_cast<unsigned>(sched_getcpu()), &here);
    sched_setaffinity(0, sizeof here, &here);  // refused: calls may move, which only looks worse
  }
  ~Pinned() { sched_setaffinity(0, sizeof before_, &before_); }
  Pinned(const Pinned&) = delete;
  Pinned& operator=(const Pinned&) = delete;

 private:
  cpu_set_t before_;
};

}  // namespace

Latency latency_of(const std::string& robot, Contestant& contestant) {
  using Clock = std::chrono::steady_clock;
  const Pinned pinned;
  Latency quietest;
  std::vector<double> ns(latency_calls);
  for (int k = 0; k < 100 * state_count; ++k) contestant.call(k % state_count);  // warms up
  for (int run = 0; run < latency_runs; ++run) {
    int state = 0;
    for (double& time : ns) {
      const Clock::time_point start = Clock::now();
      contestant.call(state);
      time = std::chrono::duration<double, std::nano>(Clock::now() - start).count();
      state = (state + 1) % state_count;
    }
    const Latency now{robot, contestant.algorithm, quantile(ns, 0.5), quantile(ns, 0.99),
                      quantile(ns, 0.999)};
    if (run == 0 || now.p999 < quietest.p999) quietest = now;
  }
  return quietest;
}

}  // namespace espalier::bench
