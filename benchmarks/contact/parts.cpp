#include "benchmarks/contact/parts.hpp"

#include <algorithm>
#include <chrono>
#include <random>

#include "benchmarks/contact/ours.hpp"
#include "benchmarks/contact/rollout.hpp"
#include "benchmarks/markdown.hpp"
#include "espalier/simulation/contact/contact_simulation.hpp"

namespace espalier::bench {

namespace {

using namespace contact;

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

constexpr int steps_between_kicks = 50, kicks = 10;

/// Seconds of each part over all steps. Rounds are alike to the bit: what counts of each step is
/// the round that nobody disturbed.
struct Parts {
  double prepare = 0.0, solve = 0.0, respond = 0.0;
  double rounds = 0.0;  ///< of Newton's method, mean over robots and steps
};

Parts time_parts(const Host& host, const StandingRobot& robot) {
  const StepOptions options = options_of(robot);
  const auto plan = make_plan(host.registry(), robot.model, world_of(robot), options, {});
  const auto step = make_step<Pack>(host.registry(), plan, {});
  StepState<Pack> s;
  const int root = robot.model->joint("root").independent, steps = kicks * steps_between_kicks;
  std::vector<Parts> best(steps, {1e9, 1e9, 1e9, 0.0});
  for (int round = 0; round < 30; ++round) {
    step->resize(s);
    for (std::size_t i = 0; i < s.q.size(); ++i) s.q[i] = Pack(robot.q[i]);
    for (std::size_t d = 0; d < robot.drives.size(); ++d) {
      s.target[3 * d] = Pack(robot.q[robot.model->joint(robot.drives[d]).q]);
    }
    std::mt19937 random(1);
    std::uniform_real_distribution<double> speed(-0.3, 0.3);
    for (int k = 0; k < steps; ++k) {
      for (int i = 3; i < 6 && k % steps_between_kicks == 0; ++i) {
        for (int l = 0; l < Pack::size; ++l) {
          s.v[root + i].set(l, s.v[root + i][l] + speed(random));
        }
      }
      const double begin = now();
      step->prepare(s, step_length);
      const double prepared = now();
      step->solve_impulses(s, {.tolerance = options.tolerance});
      const double solved = now();
      step->respond(s, step_length);
      const double end = now();
      best[k].prepare = std::min(best[k].prepare, prepared - begin);
      best[k].solve = std::min(best[k].solve, solved - prepared);
      best[k].respond = std::min(best[k].respond, end - solved);
      best[k].rounds = 0.0;
      for (int l = 0; l < Pack::size; ++l) best[k].rounds += s.report.rounds[l] / Pack::size;
    }
  }
  Parts sum;
  for (const Parts& p : best) {
    sum.prepare += p.prepare, sum.solve += p.solve, sum.respond += p.respond;
    sum.rounds += p.rounds / steps;
  }
  return sum;
}

/// Seconds of a step of all robots by so many threads: of the best of many steps.
double time_of_step(ContactBatch& batch, const StandingRobot& robot, int robots) {
  start_standing(batch, robot, robots);
  double best = 1e9;
  for (int k = 0; k < 200; ++k) {
    const double begin = now();
    batch.step(step_length);
    best = std::min(best, now() - begin);
  }
  return best;
}

}  // namespace

std::string parts_of_steps(const Host& host,
                           const std::vector<std::pair<std::string, StandingRobot>>& all,
                           int robots) {
  Table table({"case", "µs a robot", "rates and rows (%)", "impulses (%)", "motion (%)",
               "Newton rounds", "two threads are faster by"},
              1);
  for (const auto& [name, robot] : all) {
    const Parts p = time_parts(host, robot);
    const double whole = p.prepare + p.solve + p.respond;
    const StepOptions options = options_of(robot);
    double time[2];
    for (int threads : {1, 2}) {
      ContactBatch batch(host.registry(), robot.model, world_of(robot),
                         {.threads = threads, .step = options});
      time[threads - 1] = time_of_step(batch, robot, robots);
    }
    table.add({name, format("%.2f", 1e6 * whole / (kicks * steps_between_kicks * Pack::size)),
               format("%.0f", 100.0 * p.prepare / whole), format("%.0f", 100.0 * p.solve / whole),
               format("%.0f", 100.0 * p.respond / whole), format("%.2f", p.rounds),
               format("%.2f", time[0] / time[1])});
  }
  return table.text();
}

}  // namespace espalier::bench
