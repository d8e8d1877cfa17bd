// A task for learning: quadrupeds on rigid ground, driven by actions at 50 Hz, pushed about, on
// ground of random friction; those that fall begin anew. Where the actions come from random numbers
// here, a learner puts its own.
//
//   11_learning_task ROBOT [ROBOTS [SECONDS [THREADS]]]

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <espalier/espalier.hpp>
#include <espalier/simulation/contact/contact_batch.hpp>
#include <random>
#include <string>

using namespace espalier::contact;

namespace {

constexpr double h = 2e-3;           // [s]
constexpr int steps_per_action = 10;

/// Balls on the feet of a robot whose legs end where links are called foot.
World world_of_feet(const espalier::Model& robot) {
  World world;
  world.shapes = {World::ground()};
  for (const espalier::Link& link : robot.links()) {
    if (link.name.find("foot") == std::string::npos) continue;
    PlacedShape foot;
    foot.link = link.name;
    foot.shape = Shape::sphere(0.016);
    world.shapes.push_back(foot);
  }
  return world;
}

void show(double done, double rate) {
  const int width = 40, full = static_cast<int>(done * width);
  std::fprintf(stderr, "\r[%s%s] %3.0f %%  %8.0f states/s", std::string(full, '#').c_str(),
               std::string(width - full, '.').c_str(), 100.0 * done, rate);
}

}  // namespace

int main(int count, char** words) {
  if (count < 2) {
    return std::fputs("usage: 11_learning_task ROBOT [ROBOTS [SECONDS [THREADS]]]\n", stderr), 2;
  }
  const int N = count > 2 ? std::atoi(words[2]) : 4096;
  const double seconds = count > 3 ? std::atof(words[3]) : 1.0;
  const espalier::Host host;
  espalier::CompileOptions floating;
  floating.root = espalier::CompileOptions::Root::floating;
  const auto robot = host.load(words[1], floating);

  ContactBatchOptions options;
  options.threads = count > 4 ? std::atoi(words[4]) : 0;
  for (const espalier::Joint& joint : robot->joints()) {
    if (joint.nv != 1 || joint.independent < 0) continue;
    options.step.drives.push_back({.joint = joint.name, .kp = 3.0, .kd = 0.2, .most = 2.5});
  }
  const World world = world_of_feet(*robot);
  ContactBatch batch(host.registry(), robot, world, options);
  const int nq = robot->nq(), nv = robot->nv();
  const int drives = static_cast<int>(options.step.drives.size());
  std::printf("%d robots '%s' with %d feet and %d drives\n", N, robot->name().c_str(),
              static_cast<int>(world.shapes.size()) - 1, drives);

  // Everybody stands a little above the ground. Structures of arrays: [i * N + robot].
  std::mt19937 random(1);
  std::uniform_real_distribution<double> noise(-1.0, 1.0);
  std::vector<double> stance(nq), rest(nv, 0.0), q(static_cast<std::size_t>(nq) * N),
      v(static_cast<std::size_t>(nv) * N, 0.0), friction(N),
      action(static_cast<std::size_t>(drives) * N);
  robot->neutral(stance.data());
  stance[2] = 0.34;
  for (int i = 0; i < nq; ++i) std::fill_n(q.begin() + static_cast<long>(i) * N, N, stance[i]);
  batch.start(N, q, v);
  for (double& factor : friction) factor = 0.9 + 0.5 * noise(random);
  batch.set_friction(friction);

  const int actions = std::max(1, static_cast<int>(seconds / (h * steps_per_action)));
  long fallen = 0, unsolved = 0, states = 0;
  double reward = 0.0, stepping = 0.0;
  for (int k = 0; k < actions; ++k) {
    for (int d = 0; d < drives; ++d) {
      const int at = robot->joint(options.step.drives[d].joint).q;
      for (int r = 0; r < N; ++r) {
        action[static_cast<std::size_t>(d) * N + r] = stance[at] + 0.15 * noise(random);
      }
    }
    batch.set_targets(action, {nullptr, 0}, {nullptr, 0});
    const auto begin = std::chrono::steady_clock::now();
    for (int step = 0; step < steps_per_action; ++step) {
      batch.step(h);
      for (const RobotStatus s : batch.status()) unsolved += s == RobotStatus::contact_unsolved;
    }
    stepping += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    states += static_cast<long>(N) * steps_per_action;

    // Reward: upright. Pushes: half a metre per second every half second.
    const ContactBatchSample now = batch.sample();
    std::vector<double> one_q(nq), one_v(nv);
    for (int r = 0; r < N; ++r) {
      for (int i = 0; i < nq; ++i) one_q[i] = now.q[static_cast<std::size_t>(i) * N + r];
      const double up = 1.0 - 2.0 * (one_q[3] * one_q[3] + one_q[4] * one_q[4]);
      reward += up;
      const bool fell = one_q[2] < 0.15 || up < 0.5 || !std::isfinite(up);
      const bool pushed = (k + r) % 25 == 24;
      if (fell) {
        ++fallen;
        batch.reset(r, stance, rest);
      } else if (pushed) {
        for (int i = 0; i < nv; ++i) one_v[i] = now.v[static_cast<std::size_t>(i) * N + r];
        one_v[3] += 0.5 * noise(random), one_v[4] += 0.5 * noise(random);
        batch.reset(r, one_q, one_v);
      }
    }
    show((k + 1.0) / actions, static_cast<double>(states) / stepping);
  }
  std::fputc('\n', stderr);
  std::printf("%.0f states/s; mean reward %.3f, %ld falls, %ld of %ld states unsolved\n",
              static_cast<double>(states) / stepping, reward / (static_cast<double>(actions) * N),
              fallen, unsolved, states);
  return 1000 * unsolved <= states ? 0 : 1;  // each is told, none passes silently
}
