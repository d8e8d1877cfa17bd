#include <gtest/gtest.h>

#include "espalier/kernel/problems/dynamics/joint_wrenches.hpp"
#include "espalier/sensing/sensor_dynamics.hpp"
#include "tests/support/sensor_robots.hpp"

// What sensors read, against motions and forces that are computed otherwise.

namespace espalier::test::sensor_readings_test {
namespace {

using Kind = Sensor::Kind;

/// A robot in motion under known torques, and what a further sensor measures of it.
class Bench {
 public:
  Bench(ModelPtr m, test::State s)
      : model(std::move(m)),
        state(std::move(s)),
        truth_(host().create<SensorDynamics<double>>(
            "sparse-lu", espalier::Setup{.model = model, .sensors = forward_sensors(*model)})) {
    vdot = truth_->evaluate(state.q, state.v, state.tau).vdot;
  }

  std::vector<double> read(const Sensor& sensor) const {
    SensorSystem system(*model, {sensor});
    return simulated_measurements(system, *truth_, state.q, state.v);
  }

  ModelPtr model;
  test::State state;
  std::vector<double> vdot;

 private:
  std::unique_ptr<SensorDynamics<double>> truth_;
};

/// Position and axes of a link's point at a time near the state, along its motion.
Transform<double> placed(const Bench& bench, const Sensor& sensor, double t) {
  const Model& m = *bench.model;
  std::vector<double> step(m.nv()), q(m.nq());
  for (int j = 0; j < m.nv(); ++j) step[j] = t * bench.state.v[j] + 0.5 * t * t * bench.vdot[j];
  m.integrate(bench.state.q.data(), step.data(), q.data());
  const auto kinematics = host().create<Kinematics<double>>("forward-kinematics", bench.model);
  const std::vector<double> rest(m.nv(), 0.0);
  kinematics->evaluate(q, rest, rest);
  return sensor.frame.transform() * kinematics->placement(m.link(sensor.link));
}

TEST(SensorReadingsTest, AccelerometersReadWhatAPointAcceleratesBesidesGravity) {
  for (unsigned long long seed = 1; seed <= 10; ++seed) {
    // Joints of one rate: along q + v t + vdot t²/2 their rates are v + vdot t.
    RobotOptions options;
    options.seed = seed;
    options.bodies = 5;
    options.types = {"revolute", "prismatic", "helical"};
    const ModelPtr model = host().compile(random_robot(host().registry(), options));
    Bench bench(model, random_state(*model, seed));
    Rng rng(seed);
    const Sensor sensor{
        .kind = Kind::accelerometer, .link = "link5", .frame = {rng.vec3(0.2), rng.vec3(3.0)}};
    const std::vector<double> got = bench.read(sensor);
    const double h = 1e-3;
    const auto at = [&](double t) { return placed(bench, sensor, t).r; };
    // Second difference of fourth order: truncation h^4/90 times a sixth derivative of order 1e3.
    const Vec3<double> a =
        scale(1.0 / (12.0 * h * h),
              scale(16.0, at(h) + at(-h)) - (at(2 * h) + at(-2 * h)) - scale(30.0, at(0)));
    const Vec3<double> expected = placed(bench, sensor, 0.0).E * (a - model->gravity());
    for (int i = 0; i < 3; ++i)
      EXPECT_NEAR(got[i], expected[i], 1e-6 * (1.0 + largest(got))) << seed;
  }
}

TEST(SensorReadingsTest, AngularAccelerationsAreThoseOfTheLinks) {
  for (unsigned long long seed = 1; seed <= 10; ++seed) {
    const ModelPtr model = random_tree(seed, 5);
    Bench bench(model, random_state(*model, seed));
    const std::vector<double> got =
        bench.read({.kind = Kind::angular_acceleration, .link = "link5"});
    const auto kinematics = host().create<Kinematics<double>>("forward-kinematics", model);
    kinematics->evaluate(bench.state.q, bench.state.v, bench.vdot);
    const Motion<double> a = kinematics->acceleration(model->link("link5"));
    for (int i = 0; i < 3; ++i) EXPECT_NEAR(got[i], a.w[i], 1e-9 * (1.0 + largest(got)));
  }
}

TEST(SensorReadingsTest, AccelerationsOfBodiesAreThoseOfTheLinks) {
  for (unsigned long long seed = 1; seed <= 10; ++seed) {
    const ModelPtr model = seed % 2 ? random_tree(seed, 5) : random_cluster_tree(seed, 2);
    if (model->nv() == 0) continue;
    const test::State s =
        seed % 2 ? random_state(*model, seed) : random_cluster_state(*model, seed);
    const espalier::Setup setup{.model = model, .sensors = forward_sensors(*model)};
    const auto sparse = host().create<SensorDynamics<double>>("sparse-lu", setup);
    const auto& answer = sparse->evaluate(s.q, s.v, s.tau);
    const auto kinematics = host().create<Kinematics<double>>("forward-kinematics", model);
    kinematics->evaluate(s.q, s.v, answer.vdot);
    for (const Link& link : model->links()) {
      if (link.body == 0) continue;
      const Motion<double> expected = kinematics->acceleration(link);
      if (link.name != model->body_names()[link.body]) continue;  // its own axes, not a body's
      const Motion<double>& got = answer.acceleration[link.body];
      for (int i = 0; i < 6; ++i)
        EXPECT_NEAR(got[i], expected[i], 1e-8 * (1.0 + std::abs(expected[i])));
    }
  }
}

TEST(SensorReadingsTest, JointWrenchesAreWhatTheJointsTransmit) {
  int loops = 0, closing = 0;
  for (unsigned long long seed = 1; seed <= 40; ++seed) {
    const ModelPtr model = seed % 2 ? random_tree(seed, 5) : random_cluster_tree(seed, 2);
    if (model->nv() == 0 || !model->bodies_with_equations().empty()) continue;
    const test::State s =
        seed % 2 ? random_state(*model, seed) : random_cluster_state(*model, seed);
    const espalier::Setup setup{.model = model, .sensors = forward_sensors(*model)};
    const auto sparse = host().create<SensorDynamics<double>>("sparse-lu", setup);
    const Wrenches<double> wrenches = s.wrenches(model);
    const auto& answer = sparse->evaluate(s.q, s.v, s.tau, &wrenches);
    const auto reactions = host().create<JointWrenches<double>>("joint-reactions", model);
    const auto& all = reactions->evaluate(s.q, s.v, answer.vdot, &wrenches);
    for (std::size_t j = 0; j < model->joints().size(); ++j) {
      // Where a loop has more constraints than it needs, both give one of many answers.
      if (!all[j].determined) continue;
      loops += model->clusters()[model->body(model->joints()[j].body).cluster].implicit;
      // Both in the axes of the child's link, about the joint's origin.
      const Force<double>& f = answer.joint_wrench[model->joints()[j].body];
      const Force<double>& g = all[j].wrench;
      const double size = std::sqrt(dot(g.n, g.n) + dot(g.f, g.f)) + 1.0;
      for (int i = 0; i < 6; ++i) EXPECT_NEAR(f[i], g[i], 1e-7 * size) << all[j].joint;
    }
    for (std::size_t l = 0; l < answer.loop_wrench.size(); ++l) {
      const auto& reaction = all[model->joints().size() + l];
      ASSERT_EQ(reaction.joint, sparse->system().loops()[l].name);
      if (!reaction.determined) continue;
      ++closing;
      const Force<double>&f = answer.loop_wrench[l], &g = reaction.wrench;
      const double size = std::sqrt(dot(g.n, g.n) + dot(g.f, g.f)) + 1.0;
      for (int i = 0; i < 6; ++i) EXPECT_NEAR(f[i], g[i], 1e-7 * size) << reaction.joint;
    }
  }
  EXPECT_GT(loops, 0) << "joints in loops are among them";
  EXPECT_GT(closing, 0) << "so are joints that close loops";
}

TEST(SensorReadingsTest, AForceTorqueSensorReadsTheSameOnEitherSideOfItsJoint) {
  for (unsigned long long seed = 1; seed <= 10; ++seed) {
    RobotOptions options;
    options.seed = seed;
    options.bodies = 4;
    options.shape = RobotOptions::Shape::chain;
    options.types = {"revolute"};
    options.welded = 0.0;
    const ModelPtr model = host().compile(random_robot(host().registry(), options));
    Bench bench(model, random_state(*model, seed));
    Sensor child{.kind = Kind::joint_wrench, .joint = "joint3", .link = "link3"};
    const std::vector<double> on_child = bench.read(child);
    // The same point and axes, seen from the other link.
    const auto kinematics = host().create<Kinematics<double>>("forward-kinematics", model);
    const std::vector<double> rest(model->nv(), 0.0);
    kinematics->evaluate(bench.state.q, rest, rest);
    Sensor parent = child;
    parent.link = "link2";
    parent.frame = Pose::from(kinematics->placement(model->link("link3")) *
                              kinematics->placement(model->link("link2")).inverse());
    const std::vector<double> on_parent = bench.read(parent);
    EXPECT_LT(relative_difference(on_parent, on_child), 1e-9);
    // About the joint's axis it transmits its torque.
    const Vec3<double> axis = model->link("link3").X.E.column(2);
    const Vec3<double> moment{on_child[0], on_child[1], on_child[2]};
    EXPECT_NEAR(std::abs(dot(axis, moment)),
                std::abs(bench.state.tau[2] -
                         [&] {
                           for (const auto& [rate, inertia] : model->armature()) {
                             if (rate == model->joint("joint3").v)
                               return inertia * bench.vdot[rate];
                           }
                           return 0.0;
                         }()),
                1e-9 * (1.0 + largest(on_child)));
  }
}

TEST(SensorReadingsTest, AGyroscopeReplacesTheAngularVelocityOfTheFloatingBase) {
  for (unsigned long long seed = 1; seed <= 10; ++seed) {
    RobotOptions options;
    options.seed = seed;
    options.bodies = 5;
    options.floating_base = true;
    options.types = {"revolute", "prismatic", "spherical"};
    const ModelPtr model = host().compile(random_robot(host().registry(), options));
    const test::State s = random_state(*model, seed);
    Rng rng(seed);
    const Sensor gyroscope{
        .kind = Kind::gyroscope, .link = "link5", .frame = {rng.vec3(0.2), rng.vec3(3.0)}};
    const auto kinematics = host().create<Kinematics<double>>("forward-kinematics", model);
    kinematics->evaluate(s.q, s.v, s.vdot);
    const Vec3<double> w =
        gyroscope.frame.transform().E * kinematics->velocity(model->link("link5")).w;
    const std::vector<double> shown = Bench(model, s).read(gyroscope);
    for (int i = 0; i < 3; ++i) EXPECT_NEAR(shown[i], w[i], 1e-12);

    espalier::Setup setup{.model = model, .sensors = forward_sensors(*model)};
    const auto plain = host().create<SensorDynamics<double>>("sparse-lu", setup);
    const std::vector<double> expected = plain->evaluate(s.q, s.v, s.tau).vdot;
    setup.sensors.push_back(gyroscope);
    const auto sparse = host().create<SensorDynamics<double>>("sparse-lu", setup);
    std::vector<double> y = s.tau, v = s.v;
    y.insert(y.end(), {w.x, w.y, w.z});
    const int base = model->joint("joint1").independent;
    for (int k = 0; k < 3; ++k) v[base + k] = 1e3;  // unknown to the state
    const auto& answer = sparse->evaluate(s.q, v, y);
    EXPECT_LT(relative_difference(answer.vdot, expected), 1e-9);
    for (int k = 0; k < 3; ++k) {
      EXPECT_NEAR(sparse->system().velocity()[base + k], s.v[base + k], 1e-12);
    }
  }
}

}  // namespace
}  // namespace espalier::test::sensor_readings_test
