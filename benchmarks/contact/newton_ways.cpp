#include "benchmarks/contact/newton_ways.hpp"

#include <random>

#include "benchmarks/contact/ours.hpp"
#include "benchmarks/contact/rollout.hpp"
#include "benchmarks/markdown.hpp"
#include "benchmarks/thread_time.hpp"

namespace espalier::bench {

namespace {

using namespace contact;

/// n x n points under each foot.
Standing on_soles(int n) {
  Standing humanoid{
      std::string(ESPALIER_SOURCE_DIR) + "/robots/humanoid.urdf", {}, 0.01, 800.0, 40.0};
  for (const char* foot : {"left_foot", "right_foot"}) {
    for (int i = 0; i < n; ++i) {
      for (int j = 0; j < n; ++j) {
        humanoid.feet.push_back(
            {foot, {0.12 - 0.18 * i / (n - 1), 0.04 - 0.08 * j / (n - 1), -0.06}});
      }
    }
  }
  return humanoid;
}

/// Microseconds of a step of one robot: the better of two rounds of steps after a kick.
double time_of_step(const Host& host, const StandingRobot& robot, const StepOptions& options,
                    int robots) {
  ContactBatch batch(host.registry(), robot.model, world_of(robot),
                     {.threads = 1, .step = options});
  const int rate = robot.model->nq() + robot.model->joint("root").independent + 3;
  constexpr int steps = 20;
  double best = 1e300;
  for (int round = 0; round < 2; ++round) {
    start_standing(batch, robot, robots);
    for (int k = 0; k < 20; ++k) batch.step(step_length);
    std::mt19937 random(1);
    std::uniform_real_distribution<double> speed(-0.3, 0.3);
    std::vector<double> saved(batch.saved_size());
    for (int r = 0; r < robots; ++r) {
      batch.save(r, saved);
      saved[rate] += speed(random), saved[rate + 1] += speed(random);
      batch.restore(r, saved);
    }
    const double begin = thread_time();
    for (int k = 0; k < steps; ++k) batch.step(step_length);
    best = std::min(best, 1e-3 * (thread_time() - begin) / (1.0 * steps * robots));
  }
  return best;
}

}  // namespace

std::string newton_ways(const Host& host, int robots) {
  Table table({"points", "joints with rows", "rows", "dense (µs a step)", "twist space", "tree",
               "rate space", "the plan takes"},
              0);
  for (const int n : {2, 3, 4, 5}) {
    const StandingRobot robot = stand(host, on_soles(n));
    for (const bool limits : {false, true}) {
      StepOptions options = options_of(robot);
      options.limits = limits;
      const auto plan = make_plan(host.registry(), robot.model, world_of(robot), options, {});
      std::vector<std::string> row = {std::to_string(plan->points()),
                                      std::to_string(plan->scalar_rows()),
                                      std::to_string(3 * plan->points() + plan->scalar_rows())};
      for (const NewtonWay way :
           {NewtonWay::dense, NewtonWay::twist_space, NewtonWay::tree, NewtonWay::rate_space}) {
        options.newton = way;
        row.push_back(format("%.1f", time_of_step(host, robot, options, robots)));
      }
      row.push_back(std::string(to_string(plan->newton_way())));
      table.add(row);
    }
  }
  return table.text();
}

}  // namespace espalier::bench
