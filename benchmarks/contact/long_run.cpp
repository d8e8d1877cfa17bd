#include "benchmarks/contact/long_run.hpp"

#include <algorithm>
#include <random>

#include "benchmarks/contact/ours.hpp"
#include "benchmarks/contact/rollout.hpp"
#include "cli/allocations.hpp"

namespace espalier::bench {

namespace {

using namespace contact;

constexpr int steps_between_kicks = 50;

/// Robots of one kind, each kicked in its own way and on a ground of its own friction.
class Kicked {
 public:
  Kicked(const Host& host, const StandingRobot& robot, int robots)
      : robot_(robot),
        batch_(host.registry(), robot.model, world_of(robot), {.step = options_of(robot)}),
        N_(robots),
        root_(robot.model->joint("root")) {
    start_standing(batch_, robot, N_);
    std::vector<double> friction;
    friction.reserve(N_);
    std::uniform_real_distribution<double> factor(0.3, 1.5);
    for (int r = 0; r < N_; ++r) friction.push_back(factor(random_));
    batch_.set_friction(friction);
    saved_.resize(batch_.saved_size());
    still_.assign(robot.model->nv(), 0.0);
  }

  /// One step of all, counted.
  void step(LongRun& run) {
    const long before = cli::allocation_count().value_or(0);
    batch_.step(step_length);
    run.allocations += cli::allocation_count().value_or(0) - before;
    const auto status = batch_.status();
    const auto residuals = batch_.residuals();
    for (int r = 0; r < N_; ++r) {
      ++run.states;
      if (status[r] == RobotStatus::ok) continue;
      if (status[r] == RobotStatus::contact_unsolved) {
        ++run.unsolved;
        run.worst = std::max(run.worst, residuals[r]);
      } else {
        ++run.others;
      }
    }
  }

  /// Pushes every robot; one that has fallen or was told not to be ok stands up again.
  void kick(double speed, LongRun& run) {
    std::uniform_real_distribution<double> change(-speed, speed);
    const auto q = batch_.sample().q;
    const std::vector<RobotStatus> status(batch_.status().begin(), batch_.status().end());
    for (int r = 0; r < N_; ++r) {
      const double height = q[static_cast<std::size_t>(root_.q + 2) * N_ + r];
      if (height < 0.5 * robot_.q[root_.q + 2] || status[r] > RobotStatus::contact_unsolved) {
        ++run.falls;
        batch_.reset(r, robot_.q, still_);
        continue;
      }
      batch_.save(r, saved_);
      for (int i = 0; i < 3; ++i)
        saved_[robot_.model->nq() + root_.independent + 3 + i] += change(random_);
      batch_.restore(r, saved_);
    }
  }

 private:
  const StandingRobot& robot_;
  ContactBatch batch_;
  int N_;
  const Joint& root_;
  std::mt19937 random_{1};
  std::vector<double> saved_, still_;
};

}  // namespace

LongRun run_long(const Host& host, const StandingRobot& robot, double states, double speed,
                 int robots) {
  Kicked all(host, robot, robots);
  LongRun run;
  for (int k = 0; run.states < states; ++k) {
    if (k % steps_between_kicks == 0) all.kick(speed, run);
    all.step(run);
  }
  return run;
}

}  // namespace espalier::bench
