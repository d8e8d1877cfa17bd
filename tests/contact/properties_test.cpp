#include <cmath>
#include <limits>

#include "cli/allocations.hpp"
#include "espalier/simulation/contact/contact_batch.hpp"
#include "tests/contact/robots.hpp"

/// Momentum, energy and cones of random motions, and batches against single robots.

namespace espalier::test::properties_test {
namespace {

using contact::ContactBatch;
using contact::ContactBatchOptions;
using contact::NewtonWay;
using contact::RobotStatus;

std::string robot_file(const std::string& name) {
  return std::string(ESPALIER_SOURCE_DIR) + "/robots/" + name;
}
ModelPtr floating(const std::string& name) {
  CompileOptions options;
  options.root = CompileOptions::Root::floating;
  return host().load(robot_file(name), options);
}

/// Solo12 on spherical feet of 16 mm, with a trunk that can touch by its corners.
World solo_world(double friction = 0.7) {
  World world;
  world.shapes = {World::ground({.friction = friction})};
  for (const char* leg : {"front_left", "front_right", "hind_left", "hind_right"}) {
    PlacedShape foot;
    foot.link = std::string(leg) + "_foot", foot.shape = Shape::sphere(0.016);
    foot.surface.friction = friction;
    world.shapes.push_back(foot);
  }
  PlacedShape trunk;
  trunk.link = "trunk", trunk.shape = Shape::box({0.2, 0.1, 0.05});
  trunk.surface.friction = friction;
  world.shapes.push_back(trunk);
  return world;
}

/// Rates after a step in the axes that the base had before it.
std::vector<double> before_turning(const std::vector<double>& q0, const ContactSimulation& s) {
  const Mat3<double> E0 = quaternion_to_E(q0.data() + 3), E1 = quaternion_to_E(s.q().data() + 3);
  std::vector<double> v = s.v();
  const Vec3<double> x = E0 * transpose_times(E1, Vec3<double>{v[3], v[4], v[5]});
  for (int k = 0; k < 3; ++k) v[3 + k] = x[k];
  return v;
}

double kinetic(const Model& model, const std::vector<double>& q, const std::vector<double>& v,
               MassMatrix<double>& inertia) {
  const int n = model.nv();
  std::vector<double> M(static_cast<std::size_t>(n) * n);
  inertia.evaluate(q, M);
  double sum = 0.0;
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) sum += 0.5 * v[i] * M[i * n + j] * v[j];
  }
  return sum;
}

// Contact without restitution takes energy away, and its forces are those that change momentum.
TEST(ContactPropertyTest, FallingQuadrupedLosesEnergyAndMomentumToItsContactsAlone) {
  const ModelPtr model = floating("solo12.urdf");
  const World world = solo_world();
  StepOptions options;
  options.tolerance = 1e-10;
  options.correction = 0.0;
  ContactSimulation s(host().registry(), model, world, options);
  ContactSimulation alone(host().registry(), model, {}, options);
  const auto inertia = any<MassMatrix<double>>(model);
  const auto center = any<CenterOfMass<double>>(model);
  const std::vector<double> rest(model->nv(), 0.0);
  Rng random(1);
  int touching = 0, unsolved = 0;
  for (int fall = 0; fall < 10; ++fall) {
    std::vector<double> q(model->nq()), v(model->nv());
    model->neutral(q.data());
    for (int k = 7; k < model->nq(); ++k) q[k] = random.uniform(-0.8, 0.8);
    q[2] = 0.45;
    model->normalize(q.data());
    for (double& x : v) x = random.uniform(-1.0, 1.0);
    s.start(q, v);
    for (int k = 0; k < 400; ++k) {
      const std::vector<double> q0 = s.q(), v0 = s.v();
      alone.start(q0, v0);
      (void)alone.step(h);
      (void)s.step(h);
      const double residual = s.contact_residual();
      ASSERT_TRUE(residual <= 1e-2) << residual;  // not NaN either
      unsolved += !(residual <= 1e-6);
      const std::vector<double> with = before_turning(q0, s), without = before_turning(q0, alone);
      const double energy = kinetic(*model, q0, without, *inertia);
      // What a row may be off, times its impulse, below 10 N s.
      EXPECT_LE(kinetic(*model, q0, with, *inertia), energy + 1e-9 + 10.0 * residual);
      const Vec3<double> impulse = scale(h, force_sum(s));
      touching += s.contacts().empty() ? 0 : 1;
      const auto momentum = [&](const std::vector<double>& rates) {
        return scale(model->mass(), center->evaluate(q0, rates, rest).velocity);
      };
      const Vec3<double> error = momentum(with) - momentum(without) - impulse;
      // Rounding of momenta of 10 kg m/s; the trunk's hundredfold smaller links lose two digits.
      EXPECT_LE(std::sqrt(dot(error, error)), 1e-10);
      for (const auto& c : s.contacts()) {
        const double n = dot(c.force, c.normal);
        const Vec3<double> t = c.force - scale(n, c.normal);
        EXPECT_GE(n, 0.0);
        EXPECT_LE(std::sqrt(dot(t, t)), 0.7 * n * (1.0 + 1e-12) + 1e-12);
      }
    }
  }
  EXPECT_GT(touching, 1000);
  // One in a thousand, of robots that fall limp onto trunk and feet.
  EXPECT_LE(unsolved, 4);
}

TEST(ContactPropertyTest, RestitutionWithFrictionNeverCreatesEnergy) {
  const Boxed b = box_on_plane({0.1, 0.15, 0.2}, 1.0, {.friction = 0.8, .restitution = 0.9});
  const auto inertia = any<MassMatrix<double>>(b.model);
  StepOptions options;
  options.tolerance = 1e-10;
  auto s = simulate(b, options);
  Rng random(2);
  int impacts = 0;
  for (int trial = 0; trial < 3000; ++trial) {
    std::vector<double> q = at({0, 0, 0}), v(6);
    for (int k = 3; k < 7; ++k) q[k] = random.uniform();
    b.model->normalize(q.data());
    // The lowest corner on the ground.
    const Mat3<double> E = quaternion_to_E(q.data() + 3);
    q[2] = 0.1 * std::abs(E(0, 2)) + 0.15 * std::abs(E(1, 2)) + 0.2 * std::abs(E(2, 2));
    for (double& x : v) x = random.uniform(-3.0, 3.0);
    s.set_gravity({0, 0, 0});
    s.start(q, v);
    const double before = kinetic(*b.model, q, v, *inertia);
    (void)s.step(1e-6);
    const double after = kinetic(*b.model, q, before_turning(q, s), *inertia);
    impacts += force_sum(s).z > 0.0;
    // 1e-4: gyroscopic moments act explicitly for a microsecond.
    EXPECT_LE(after, before * (1.0 + 1e-4));
  }
  EXPECT_GT(impacts, 1000);
}

TEST(ContactPropertyTest, LoopsStayClosedOnTheGround) {
  const ModelPtr model = floating("tello.yaml");
  World world;
  world.shapes = {World::ground()};
  for (const Link& link : model->links()) {
    if (link.name.find("foot") == std::string::npos) continue;
    for (const double x : {-0.06, 0.06}) {
      PlacedShape ball;
      ball.link = link.name, ball.shape = Shape::sphere(0.01);
      ball.pose.xyz = {x, 0, -0.04};
      ball.name = link.name + (x > 0 ? " toe" : " heel");
      world.shapes.push_back(ball);
    }
  }
  ASSERT_EQ(world.shapes.size(), 5u);
  StepOptions options;  // joints are held near where they are
  std::vector<double> q(model->nq()), v(model->nv(), 0.0);
  model->neutral(q.data());
  for (const Joint& joint : model->joints()) {
    if (joint.nv == 1 && joint.independent >= 0) {
      options.drives.push_back({.joint = joint.name, .kp = 100.0, .kd = 5.0});
    }
  }
  ContactSimulation s(host().registry(), model, world, options);
  for (std::size_t k = 0; k < options.drives.size(); ++k) {
    s.set_target(static_cast<int>(k), q[model->joint(options.drives[k].joint).q]);
  }
  q[2] = 1.0;
  s.start(q, v);
  int touching = 0;
  for (int k = 0; k < 600; ++k) {
    EXPECT_EQ(s.step(h), StepStatus::ok);
    EXPECT_LE(s.sample().residual, 1e-10);
    for (const auto& c : s.contacts()) touching += dot(c.force, c.force) > 0.0;
  }
  EXPECT_GT(touching, 50);
}

/// Standing and kicked robots with drives.
struct Herd {
  ModelPtr model;
  ContactBatchOptions options;
  std::vector<double> q, v;
  int N;
};
Herd herd(int N, int threads) {
  Herd b;
  b.N = N;
  b.model = floating("solo12.urdf");
  b.options.threads = threads;
  for (const Joint& joint : b.model->joints()) {
    if (joint.nv == 1) b.options.step.drives.push_back({.joint = joint.name, .kp = 3.0, .kd = 0.2});
  }
  b.q.resize(static_cast<std::size_t>(b.model->nq()) * N);
  b.v.resize(static_cast<std::size_t>(b.model->nv()) * N);
  for (int k = 0; k < N; ++k) {
    Rng random(100 + static_cast<unsigned long long>(k));
    std::vector<double> q(b.model->nq());
    b.model->neutral(q.data());
    q[2] = 0.35 + random.uniform(0.0, 0.1);
    for (int i = 7; i < b.model->nq(); ++i) q[i] = random.uniform(-0.4, 0.4);
    for (int i = 0; i < b.model->nq(); ++i) b.q[static_cast<std::size_t>(i) * N + k] = q[i];
    for (int i = 0; i < b.model->nv(); ++i) {
      b.v[static_cast<std::size_t>(i) * N + k] = random.uniform(-0.5, 0.5);
    }
  }
  return b;
}
std::unique_ptr<ContactBatch> started(const Herd& b) {
  auto batch = std::make_unique<ContactBatch>(host().registry(), b.model, solo_world(), b.options);
  batch->start(b.N, b.q, b.v);
  return batch;
}

TEST(ContactBatchTest, LanesAgreeWithSingleRobots) {
  const Herd b = herd(9, 1);
  Herd exact = b;
  exact.options.step.tolerance = 1e-12;
  const auto batch = started(exact);
  for (int k = 0; k < 30; ++k) batch->step(h);
  for (int robot = 0; robot < b.N; ++robot) {
    ContactSimulation one(host().registry(), b.model, solo_world(), exact.options.step);
    std::vector<double> q(b.model->nq()), v(b.model->nv());
    for (int i = 0; i < b.model->nq(); ++i) q[i] = b.q[static_cast<std::size_t>(i) * b.N + robot];
    for (int i = 0; i < b.model->nv(); ++i) v[i] = b.v[static_cast<std::size_t>(i) * b.N + robot];
    one.start(q, v);
    for (int k = 0; k < 30; ++k) (void)one.step(h);
    const auto now = batch->sample();
    for (int i = 0; i < b.model->nv(); ++i) {
      // Tolerance of the impulses over thirty steps, times light links.
      EXPECT_NEAR(now.v[static_cast<std::size_t>(i) * b.N + robot], one.v()[i], 1e-8);
    }
  }
}

TEST(ContactBatchTest, BitsDependNeitherOnNumberNorNeighboursNorThreads) {
  const int steps = 150;  // falls, lands and slides
  const Herd all = herd(70, 1);
  const auto reference = started(all);
  for (int k = 0; k < steps; ++k) reference->step(2e-3);
  const auto q = reference->sample().q;
  const auto compare = [&](const Herd& b, int robots_of_it) {
    const auto batch = started(b);
    for (int k = 0; k < steps; ++k) batch->step(2e-3);
    const auto now = batch->sample();
    for (int robot = 0; robot < robots_of_it; ++robot) {
      for (int i = 0; i < b.model->nq(); ++i) {
        EXPECT_EQ(now.q[static_cast<std::size_t>(i) * b.N + robot],
                  q[static_cast<std::size_t>(i) * all.N + robot])
            << b.N << " robots, robot " << robot << ", position " << i;
      }
    }
  };
  for (const int N : {1, 7, 8, 9}) compare(herd(N, 1), N);
  compare(herd(70, 2), 70);
  // A neighbour that is no number, and one that lies on its back.
  Herd disturbed = herd(9, 1);
  for (int i = 0; i < disturbed.model->nq(); ++i) {
    disturbed.q[static_cast<std::size_t>(i) * 9 + 8] = std::numeric_limits<double>::quiet_NaN();
  }
  compare(disturbed, 8);
  Herd fallen = herd(9, 1);
  const double on_its_back[4] = {1, 0, 0, 0};
  for (int i = 0; i < 4; ++i) fallen.q[static_cast<std::size_t>(3 + i) * 9 + 8] = on_its_back[i];
  compare(fallen, 8);
}

TEST(ContactBatchTest, StatusSaysWhatBecameOfEachRobot) {
  Herd b = herd(9, 1);
  b.v[3] = std::numeric_limits<double>::quiet_NaN();  // the third robot's first rate
  b.q[2 * 9 + 5] = -1.0;                              // far below the ground
  const auto batch = started(b);
  batch->step(h);
  EXPECT_EQ(batch->status()[3], RobotStatus::not_finite);
  EXPECT_EQ(batch->status()[5], RobotStatus::too_deep);
  EXPECT_EQ(batch->status()[0], RobotStatus::ok);
  // Reset gives the robot a new life.
  std::vector<double> q(b.model->nq()), v(b.model->nv(), 0.0);
  b.model->neutral(q.data());
  q[2] = 0.5;
  batch->reset(3, q, v);
  batch->reset(5, q, v);
  batch->step(h);
  for (const RobotStatus status : batch->status()) EXPECT_EQ(status, RobotStatus::ok);
}

TEST(ContactBatchTest, StandingRobotsAreCarriedByTheirFeet) {
  Herd b = herd(16, 2);
  for (auto& drive : b.options.step.drives) drive.kp = 20.0, drive.kd = 1.0;
  for (double& x : b.v) x = 0.0;
  const auto batch = started(b);
  for (int k = 0; k < 1500; ++k) batch->step(2e-3);
  const auto forces = batch->forces();
  for (int robot = 0; robot < b.N; ++robot) {
    double up = 0.0;
    for (std::size_t shape = 1; shape < 6; ++shape) up += forces[(3 * shape + 2) * 16 + robot];
    EXPECT_NEAR(up, b.model->mass() * g, 0.05 * b.model->mass() * g);  // still swaying a little
    EXPECT_NEAR(forces[2 * 16 + robot], -up, 1e-9);                    // on the ground
  }
}

TEST(ContactBatchTest, SavedRobotsRepeatTheirMotion) {
  const Herd b = herd(3, 1);
  const auto batch = started(b);
  for (int k = 0; k < 200; ++k) batch->step(2e-3);
  std::vector<double> saved(batch->saved_size());
  batch->save(1, saved);
  for (int k = 0; k < 50; ++k) batch->step(2e-3);
  const std::vector<double> first(batch->sample().q.begin(), batch->sample().q.end());
  batch->restore(1, saved);
  for (int k = 0; k < 50; ++k) batch->step(2e-3);
  for (int i = 0; i < b.model->nq(); ++i) {
    EXPECT_EQ(batch->sample().q[static_cast<std::size_t>(i) * 3 + 1],
              first[static_cast<std::size_t>(i) * 3 + 1]);
  }
}

TEST(ContactBatchTest, RowsOfAllRobotsAreThoseOfTheStateAsItIs) {
  const Herd b = herd(70, 2);
  const auto batch = started(b);
  const int nq = b.model->nq(), nv = b.model->nv();
  const auto expect_rows = [&] {
    const auto now = batch->sample();
    std::vector<double> saved(batch->saved_size());
    for (int robot = 0; robot < b.N; ++robot) {
      batch->save(robot, saved);
      for (int i = 0; i < nq; ++i) ASSERT_EQ(now.q[i * b.N + robot], saved[i]);
      for (int i = 0; i < nv; ++i) ASSERT_EQ(now.v[i * b.N + robot], saved[nq + i]);
    }
  };
  expect_rows();
  for (int k = 0; k < 150; ++k) batch->step(2e-3);
  expect_rows();
  const auto load = [&](int robot) { return batch->forces()[2 * b.N + robot]; };  // on the ground
  std::vector<double> saved(batch->saved_size()), q(nq), v(nv, 0.0);
  int carried = 0;
  while (carried < b.N && load(carried) == 0.0) ++carried;
  ASSERT_LT(carried, b.N);
  const double before = load(carried);
  batch->save(carried, saved);
  b.model->neutral(q.data());
  batch->reset(carried, q, v);
  EXPECT_EQ(load(carried), 0.0);
  expect_rows();
  batch->restore(carried, saved);
  EXPECT_EQ(load(carried), before);
  expect_rows();
}

/// Of robots that are thrown anew again and again, and land on feet, trunk and corners: in packs
/// and gathered, by every solver.
long allocations_of_falls(int N, NewtonWay way) {
  Herd b = herd(N, 1);
  b.options.step.newton = way;
  const auto batch = started(b);
  batch->set_masses(std::vector<std::string>{"trunk"}, std::vector<double>(N, 1.2));
  std::vector<double> saved(batch->saved_size()), friction(N), heights(N);
  for (int k = 0; k < N; ++k) friction[k] = 0.2 + 0.02 * k, heights[k] = -1e-3 * k;
  batch->set_ground(heights);
  Rng random(3);
  double rounds = 0.0;
  const long before = *cli::allocation_count();
  for (int step = 0; step < 4000 / std::max(1, N / 4); ++step) {
    if (step % 100 == 0) {
      batch->set_friction(friction);
      batch->set_ground(heights);
      for (int robot = 0; robot < N; ++robot) {
        batch->save(robot, saved);
        saved[2] = 0.3;
        for (int i = 3; i < 6; ++i) saved[i] = random.uniform(-1.0, 1.0);
        for (int i = 0; i < b.model->nv(); ++i) {
          saved[b.model->nq() + i] = random.uniform(-2.0, 2.0);
        }
        batch->restore(robot, saved);
      }
    }
    batch->step(2e-3);
    rounds += batch->rounds();
  }
  const long after = *cli::allocation_count();
  EXPECT_GT(rounds, 100.0);  // some states needed more than sweeps
  return after - before;
}

TEST(ContactBatchTest, NothingIsAllocatedOnceRobotsHaveStarted) {
  const auto count = cli::allocation_count();
  if (!count) GTEST_SKIP() << "the C library does not count";
  for (const int N : {1, 8, 64}) {
    for (const NewtonWay way :
         {NewtonWay::dense, NewtonWay::twist_space, NewtonWay::tree, NewtonWay::rate_space}) {
      EXPECT_EQ(allocations_of_falls(N, way), 0) << N << " robots, " << to_string(way);
    }
  }
}

TEST(ContactBatchTest, WrongSizesAreRefused) {
  const Herd b = herd(2, 1);
  ContactBatch batch(host().registry(), b.model, solo_world(), b.options);
  EXPECT_THROW(batch.start(3, b.q, b.v), SizeMismatch);
  batch.start(2, b.q, b.v);
  EXPECT_THROW(batch.set_friction(std::vector<double>(3, 1.0)), SizeMismatch);
  EXPECT_THROW(batch.set_friction(std::vector<double>{1.0, -1.0}), InvalidModel);
  EXPECT_THROW(batch.reset(2, std::vector<double>(19), std::vector<double>(18)), SizeMismatch);
  std::vector<double> saved(batch.saved_size());
  EXPECT_THROW(batch.save(2, saved), SizeMismatch);
  EXPECT_THROW(batch.restore(-1, saved), SizeMismatch);
  EXPECT_THROW(batch.step(0.0), InvalidModel);
}

TEST(ContactBatchTest, SlipperyRobotsSlideFurther) {
  Herd b = herd(2, 1);
  const auto batch = started(b);
  std::vector<double> q(b.model->nq()), v(b.model->nv(), 0.0);
  b.model->neutral(q.data());
  q[2] = 0.34;
  v[3] = 1.0;
  for (int robot = 0; robot < 2; ++robot) batch->reset(robot, q, v);
  batch->set_friction(std::vector<double>{1.0, 0.01});
  for (int k = 0; k < 150; ++k) batch->step(2e-3);
  EXPECT_GT(batch->sample().q[1], batch->sample().q[0] + 0.02);
}

}  // namespace
}  // namespace espalier::test::properties_test
