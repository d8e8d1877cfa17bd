// A task for learning: robots with legs on rigid ground, driven by actions at 50 Hz and pushed
// about, each with a trunk of its own mass on ground of its own friction and height; those that
// fall begin anew. Where the actions come from random numbers here, a learner puts its own.
//
//   11_learning_task ROBOT [ROBOTS [SECONDS [THREADS]]]

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <espalier/espalier.hpp>
#include <espalier/kernel/model/placements.hpp>
#include <espalier/simulation/contact/contact_batch.hpp>
#include <random>
#include <string>

using namespace espalier::contact;

namespace {

constexpr double h = 2e-3;  // [s]
constexpr int steps_per_action = 10;

constexpr double radius = 0.016;  // of a foot [m]

/// Where a robot of the folder robots stands, and how stiff its motors are.
struct Legs {
  std::string robot;
  std::string foot;                        // links that end so have balls at
  std::vector<espalier::Vec3<double>> at;  // [m]
  double kp, kd;                           // of joints [N·m/rad, N·m·s/rad]
  double rotor_kp, rotor_kd;               // of rotors, where these are the independent ones
};
const Legs known[] = {
    {"solo12", "foot", {{0, 0, 0}}, 3.0, 0.2, 0.0, 0.0},
    {"mini_cheetah_geared", "knee.link", {{0, 0, -0.195}}, 40.0, 1.0, 0.0, 0.0},
    {"tello", "foot", {{0.1, 0, -0.025}, {-0.05, 0, -0.025}}, 150.0, 3.0, 4.0, 0.08},
};

World world_of_feet(const espalier::Model& robot, const Legs& legs) {
  World world;
  world.shapes = {World::ground()};
  for (const espalier::Link& link : robot.links()) {
    if (!link.name.ends_with(legs.foot)) continue;
    for (const espalier::Vec3<double>& at : legs.at) {
      PlacedShape ball;
      ball.link = link.name, ball.shape = Shape::sphere(radius), ball.pose.xyz = at;
      world.shapes.push_back(ball);
    }
  }
  return world;
}

/// Neutral, with the lowest foot a little above the ground.
std::vector<double> stance_of(const espalier::ModelPtr& robot, const World& world) {
  std::vector<double> q(robot->nq());
  robot->neutral(q.data());
  espalier::Placements placements(robot);
  placements.update(q.data());
  double lowest = 1.0;
  for (const PlacedShape& shape : world.shapes) {
    if (shape.link.empty()) continue;
    const espalier::Link& link = robot->link(shape.link);
    const auto X = link.X * placements.body(link.body);
    lowest = std::min(lowest, (X.r + transpose_times(X.E, shape.pose.xyz)).z - radius);
  }
  q[robot->joint("root").q + 2] += 0.005 - lowest;
  return q;
}

/// PD on all independent joints, rotors behind gears among them.
std::vector<JointDrive> drives_of(const espalier::Model& robot, const Legs& legs) {
  std::vector<JointDrive> drives;
  for (const espalier::Joint& joint : robot.joints()) {
    if (joint.nv != 1 || joint.independent < 0) continue;
    const bool rotor = joint.name.find("rotor") != std::string::npos;
    const double kp = rotor ? legs.rotor_kp : legs.kp, kd = rotor ? legs.rotor_kd : legs.kd;
    drives.push_back({.joint = joint.name, .kp = kp, .kd = kd, .most = kp});
  }
  return drives;
}

/// The link that floats, or the first one.
std::string trunk_of(const espalier::Model& robot) {
  const int body = robot.joint("root").body;
  for (const espalier::Link& link : robot.links()) {
    if (link.body == body) return link.name;
  }
  return robot.links().front().name;
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

  const auto legs = std::find_if(std::begin(known), std::end(known),
                                 [&](const Legs& l) { return l.robot == robot->name(); });
  if (legs == std::end(known)) {
    std::fprintf(stderr, "robot is '%s', expected one of", robot->name().c_str());
    for (const Legs& l : known) std::fprintf(stderr, " %s", l.robot.c_str());
    return std::fputc('\n', stderr), 2;
  }
  const World world = world_of_feet(*robot, *legs);
  const std::vector<double> stance = stance_of(robot, world);
  ContactBatchOptions options;
  options.threads = count > 4 ? std::atoi(words[4]) : 0;
  options.step.drives = drives_of(*robot, *legs);
  ContactBatch batch(host.registry(), robot, world, options);
  const int nq = robot->nq(), nv = robot->nv();
  const int drives = static_cast<int>(options.step.drives.size());
  std::printf("%d robots '%s' on %d points with %d drives\n", N, robot->name().c_str(),
              static_cast<int>(world.shapes.size()) - 1, drives);

  // Everybody stands a little above the ground. Structures of arrays: [i * N + robot].
  std::mt19937 random(1);
  std::uniform_real_distribution<double> noise(-1.0, 1.0);
  std::vector<double> rest(nv, 0.0), q(static_cast<std::size_t>(nq) * N),
      v(static_cast<std::size_t>(nv) * N, 0.0), friction(N), mass(N), ground(N),
      action(static_cast<std::size_t>(drives) * N);
  for (int i = 0; i < nq; ++i) std::fill_n(q.begin() + static_cast<long>(i) * N, N, stance[i]);
  batch.start(N, q, v);
  // Domain randomisation. What is set stays with a robot when it begins anew.
  for (double& factor : friction) factor = 0.9 + 0.5 * noise(random);
  for (double& factor : mass) factor = 1.0 + 0.2 * noise(random);
  for (double& height : ground) height = -0.01 + 0.01 * noise(random);
  batch.set_friction(friction);
  batch.set_masses(std::vector<std::string>{trunk_of(*robot)}, mass);
  batch.set_ground(ground);

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
      const bool fell = one_q[2] - ground[r] < 0.6 * stance[2] || up < 0.5 || !std::isfinite(up);
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
  // Each unsolved state is told, none passes silently; a robot without feet falls at every action.
  return 1000 * unsolved <= states && fallen <= 2.0 * N * std::max(1.0, seconds) ? 0 : 1;
}
