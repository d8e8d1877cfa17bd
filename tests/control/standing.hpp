#pragma once

#include "espalier/control/task_control.hpp"

#include <string>
#include <vector>

#include "espalier/kernel/model/motion/spanning_motion.hpp"
#include "tests/support/simple_robot.hpp"
#include "tests/support/task_robots.hpp"

// A robot on its feet whose tasks tests of task control share.

namespace espalier::test {

/// Least squares, which need none, and every registered solver of quadratic programs.
inline std::vector<std::string> all_solvers() {
  std::vector<std::string> names{""};
  for (const Entry* e : host().registry().entries(Kind::qp_solver)) names.push_back(e->about.name);
  return names;
}

inline std::vector<ControlMotor> all_motors(const Model& model, double limit) {
  std::vector<ControlMotor> all;
  for (const Input& motor : motors(model)) {
    all.push_back({.joint = motor.joint, .lower = -limit, .upper = limit});
  }
  return all;
}

/// Four legs on the ground, each with a point contact; trunk, centre of mass, posture.
struct Standing {
  ModelPtr robot = host().load(ESPALIER_SOURCE_DIR "/robots/mini_cheetah_geared.yaml",
                               {.root = CompileOptions::Root::floating});
  TaskControlSetup setup;
  State state;

  explicit Standing(unsigned long long seed, double torque = 18.0) {
    setup.motors = all_motors(*robot, torque);
    EndEffector trunk =
        EndEffector::weld(robot->links()[0].name, {0, 0, 0}, EndEffector::Axes::world);
    for (const EndEffector& tip : tips(*robot)) {
      if (tip.link.find("rotor") != std::string::npos) continue;
      setup.contacts.push_back({.name = tip.link + " force",
                                .link = tip.link,
                                .offset = {0, 0, -0.2},
                                .friction = 0.6,
                                .weight = 1e-3});
      setup.tasks.push_back(
          {.name = tip.link, .rows = EndEffector::contact(tip.link, {0, 0, -0.2})});
    }
    setup.tasks.push_back({.name = "balance", .rows = CenterOfMassRows{}, .priority = 1});
    setup.tasks.push_back({.name = "trunk", .rows = trunk, .priority = 2, .weight = 3.0});
    setup.tasks.push_back({.name = "posture", .rows = JointRows{}, .priority = 5});
    state = random_state(*robot, seed);
    Rng rng(seed);
    robot->neutral(state.q.data());
    state.v = rng.vector(robot->nv(), 0.3);
    std::fill(state.tau.begin(), state.tau.end(), 0.0);
    std::vector<double> bent = rng.vector(robot->spanning_nv(), 0.0);
    for (const Coordinate& c : robot->coordinates()) {
      if (c.size == 1) state.q[robot->joint(c.joint).q] = rng.uniform(-0.7, 0.7);
    }
    robot->apply_couplings(state.q.data());
  }

  std::unique_ptr<TaskControl> control(const std::string& solver, unsigned long long seed,
                                       double size) const {
    auto made = make_task_control(host(), robot, setup, {.solver = solver});
    Rng rng(seed);
    for (const ControlTask& task : setup.tasks) {
      made->want(task.name, rng.vector(made->rows(task.name), task.priority == 0 ? 0.0 : size));
    }
    return made;
  }
};

/// By how much forward dynamics under an answer's inputs differ from the answer.
inline double missed(const Standing& s, const TaskControl& control,
                     const TaskControl::Answer& answer, const Wrenches<double>* others = nullptr) {
  const ModelPtr& robot = s.robot;
  Wrenches<double> wrenches(robot);
  if (others != nullptr) wrenches = *others;
  const auto kinematics = any<Kinematics<double>>(robot);
  kinematics->evaluate(s.state.q, s.state.v, s.state.v);
  std::size_t column = answer.inputs.size() - 3 * s.setup.contacts.size();
  for (const ControlContact& contact : s.setup.contacts) {
    const double* f = &answer.inputs[column];
    const Vec3<double> force =
        kinematics->placement(robot->link(contact.link)).E * Vec3<double>{f[0], f[1], f[2]};
    wrenches.add(contact.link, {cross(contact.offset, force), force});
    column += 3;
  }
  std::vector<double> forces(robot->spanning_nv(), 0.0), tau(robot->nv()), vdot(robot->nv());
  control.drive(forces.data());
  SpanningMotion<double> motion(*robot);
  motion.update(s.state.q.data(), s.state.v.data());
  motion.reduce(forces.data(), tau.data());
  host()
      .create<ForwardDynamics<double>>("c-aba", robot)
      ->evaluate(s.state.q, s.state.v, tau, vdot, &wrenches);
  return relative_difference(answer.vdot, vdot);
}

/// A pendulum with the effort 3 N·m in its limits.
inline ModelPtr pendulum() {
  Description robot = ground();
  add_solid(robot, "arm");
  add_joint(robot, "hinge", "revolute", "base", "arm", {0, 1, 0}).limits.effort = 3.0;
  return host().compile(robot);
}

}  // namespace espalier::test
