#include <algorithm>
#include <cmath>

#include "benchmarks/contact/ours.hpp"
#include "benchmarks/contact/rollout.hpp"
#include "espalier/kernel/model/closure.hpp"

namespace espalier::bench {

using namespace contact;

World world_of(const StandingRobot& robot) {
  if (robot.own) return *robot.own;
  World world;
  world.shapes = robot.feet;
  if (!robot.feet.empty()) world.shapes.push_back(World::ground({.friction = friction_on_ground}));
  return world;
}

StepOptions options_of(const StandingRobot& robot) {
  StepOptions options;
  options.limits = robot.own.has_value();
  if (robot.implicit_friction) options.friction = StepOptions::Friction::implicit;
  for (const std::string& joint : robot.drives) {
    options.drives.push_back({.joint = joint, .kp = robot.kp, .kd = robot.kd});
  }
  return options;
}

void start_standing(ContactBatch& batch, const StandingRobot& robot, int robots) {
  std::vector<double> q, v(static_cast<std::size_t>(robot.model->nv()) * robots, 0.0), targets;
  for (const double x : robot.q) q.insert(q.end(), robots, x);
  for (const std::string& joint : robot.drives) {
    targets.insert(targets.end(), robots, robot.q[robot.model->joint(joint).q]);
  }
  batch.start(robots, q, v);
  batch.set_targets(targets, {nullptr, 0}, {nullptr, 0});
}

namespace {

/// The linear rate of the root in body axes, for a change in world axes.
void add_to_root(const Model& model, const double* q, const Vec3<double>& change, double* v) {
  const Joint& root = model.joint("root");
  const Vec3<double> u = quaternion_to_E(q + root.q + 3) * change;
  for (int i = 0; i < 3; ++i) v[root.independent + 3 + i] += u[i];
}

double weight(const StandingRobot& robot) { return 9.81 * robot.mass; }

class Batch final : public Rollout {
 public:
  Batch(const Host& host, const StandingRobot& robot, int robots)
      : robot_(robot),
        batch_(host.registry(), robot.model, world_of(robot),
               {.threads = 1, .step = options_of(robot)}),
        robots_(robots) {}

  std::string name() const override { return "batch of " + std::to_string(robots_); }
  bool exact() const override { return true; }
  int robots() const override { return robots_; }

  void start() override { start_standing(batch_, robot_, robots_); }
  void step() override {
    batch_.step(step_length);
    for (const RobotStatus s : batch_.status()) unsolved_ += s != RobotStatus::ok;
    steps_ += robots_;
  }
  void kick(const Vec3<double>& change) override {
    std::vector<double> saved(batch_.saved_size());
    for (int r = 0; r < robots_; ++r) {
      batch_.save(r, saved);
      add_to_root(*robot_.model, saved.data(), change, saved.data() + robot_.model->nq());
      batch_.restore(r, saved);
    }
  }
  Rest rest() override {
    const Model& model = *robot_.model;
    std::vector<double> q(model.nq());
    for (int i = 0; i < model.nq(); ++i) {
      q[i] = batch_.sample().q[static_cast<std::size_t>(i) * robots_];
    }
    Rest rest;
    rest.height = q[model.joint("root").q + 2];
    const auto& solids = batch_.plan().solids();
    for (std::size_t s = 0; s < solids.size(); ++s) {
      if (solids[s].body != 0) continue;
      rest.normal_force -= batch_.forces()[(3 * s + 2) * robots_] / weight(robot_);
    }
    rest.opening = examine(model, q.data()).residual;
    return rest;
  }
  double unsolved() const override { return steps_ > 0 ? unsolved_ / steps_ : 0.0; }

 private:
  const StandingRobot& robot_;
  ContactBatch batch_;
  int robots_;
  double unsolved_ = 0.0, steps_ = 0.0;
};

class Single final : public Rollout {
 public:
  Single(const Host& host, const StandingRobot& robot)
      : robot_(robot),
        simulation_(host.registry(), robot.model, world_of(robot), options_of(robot)) {}

  std::string name() const override { return "one robot"; }
  bool exact() const override { return true; }
  int robots() const override { return 1; }
  void start() override {
    simulation_.start(robot_.q, std::vector<double>(robot_.model->nv(), 0.0));
    for (std::size_t d = 0; d < robot_.drives.size(); ++d) {
      simulation_.set_target(static_cast<int>(d),
                             robot_.q[robot_.model->joint(robot_.drives[d]).q]);
    }
  }
  void step() override { simulation_.step(step_length), ++steps_; }
  void kick(const Vec3<double>& change) override {
    const std::vector<double> q = simulation_.q();
    std::vector<double> v = simulation_.v();
    add_to_root(*robot_.model, q.data(), change, v.data());
    simulation_.start(q, v, simulation_.time());
  }
  Rest rest() override {
    Rest rest;
    rest.height = simulation_.q()[robot_.model->joint("root").q + 2];
    const auto& solids = simulation_.plan().solids();
    for (std::size_t s = 0; s < solids.size(); ++s) {
      if (solids[s].body == 0)
        rest.normal_force -= simulation_.shape_forces()[s].z / weight(robot_);
    }
    rest.opening = examine(*robot_.model, simulation_.q().data()).residual;
    return rest;
  }
  double unsolved() const override {
    return steps_ > 0 ? static_cast<double>(simulation_.unsolved_steps()) / steps_ : 0.0;
  }

 private:
  const StandingRobot& robot_;
  ContactSimulation simulation_;
  double steps_ = 0.0;
};

}  // namespace

std::unique_ptr<Rollout> our_rollout(const Host& host, const StandingRobot& robot, int robots) {
  if (robots == 1) return std::make_unique<Single>(host, robot);
  return std::make_unique<Batch>(host, robot, robots);
}

}  // namespace espalier::bench
