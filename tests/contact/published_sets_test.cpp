#include <cmath>

#include "espalier/kernel/model/placements.hpp"
#include "espalier/kernel/problems/kinematics/centroidal_dynamics.hpp"
#include "espalier/simulation/contact/contact_batch.hpp"
#include "tests/contact/robots.hpp"
#include "tests/support/four_bar.hpp"

/// What theory/contact 11 takes from published sets of problems, and the examples with robots;
/// steps of 1 ms.

namespace espalier::test::published_sets_test {
namespace {

using contact::ContactBatch;
using contact::ContactBatchOptions;

/// Five rods between two pivots of the ground: three rates are independent.
Description six_bar() {
  Description robot = ground();
  robot.name = "six_bar";
  robot.gravity = {0, 0, 0};
  const double length[] = {0.3, 0.35, 0.3, 0.25, 0.3};
  for (int k = 0; k < 5; ++k) add_rod(robot, "rod" + std::to_string(k), length[k]);
  const auto pin = [&](const std::string& name, const std::string& parent, const std::string& child,
                       double at) {
    add_joint(robot, name, "revolute", parent, child, {0, 0, 1}, {{at, 0, 0}, {0, 0, 0}});
  };
  pin("a", "base", "rod0", 0.0), pin("b", "rod0", "rod1", length[0]);
  pin("c", "rod1", "rod2", length[1]);
  pin("e", "base", "rod3", 0.6), pin("d", "rod3", "rod4", length[3]);
  LoopDescription closing;
  closing.name = "pin", closing.type = "revolute";
  closing.predecessor = "rod2", closing.successor = "rod4";
  closing.predecessor_origin.xyz = {length[2], 0, 0};
  closing.successor_origin.xyz = {length[4], 0, 0};
  closing.axis = {0, 0, 1}, closing.where = {"robot.test", 1};
  robot.loops.push_back(closing);
  return robot;
}

// Example 9: a row of a dependent joint has three entries.
TEST(PublishedSetsTest, CoulombFrictionOfAnyJointHoldsASixBar) {
  int dependent = 0;
  for (const std::string joint : {"a", "b", "c", "d", "e"}) {
    Description robot = six_bar();
    for (JointDescription& j : robot.joints) {
      if (j.name == joint) j.passive.friction = 1.3;
    }
    const ModelPtr model = host().compile(robot);
    ASSERT_EQ(model->nv(), 3);
    std::vector<double> q(model->nq()), neutral(model->nq());
    model->neutral(neutral.data());
    q = neutral;
    for (const int rate : model->independent_rates()) q[rate] += 0.1;
    ASSERT_EQ(close(*model, neutral.data(), q.data()).verdict, Closure::Verdict::closed);
    const Joint& rubs = model->joint(joint);
    dependent += rubs.independent < 0;
    SpanningMotion<double> motion(*model);
    std::vector<double> G(3), M(9), rates(model->spanning_nv());
    motion.update(q.data(), nullptr);
    for (int k = 0; k < 3; ++k) {
      const double unit[3] = {1.0 * (k == 0), 1.0 * (k == 1), 1.0 * (k == 2)};
      motion.expand(unit, rates.data());
      G[k] = rates[rubs.v];
    }
    host().create<MassMatrix<double>>("dense", model)->evaluate(q, M);
    StepOptions options;
    options.tolerance = 1e-15;
    ContactSimulation s(host().registry(), model, {}, options);
    const std::vector<double> rest(3, 0.0);
    const auto step_with = [&](double part) {
      std::vector<double> tau;
      for (const double x : G) tau.push_back(part * 1.3 * x);
      s.set_forces(tau);
      s.start(q, rest);
      (void)s.step(h);
      return s.v();
    };
    for (const double v : step_with(0.999)) EXPECT_NEAR(v, 0.0, 1e-14) << joint;
    EXPECT_LT(std::abs(s.friction_impulse(joint)), h * 1.3);
    const std::vector<double> v = step_with(1.001);
    EXPECT_NEAR(std::abs(s.friction_impulse(joint)), h * 1.3, 1e-15) << joint;
    for (int i = 0; i < 3; ++i) {  // M v = h (tau - G^T f)
      double momentum = 0.0;
      for (int k = 0; k < 3; ++k) momentum += M[3 * i + k] * v[k];
      EXPECT_NEAR(momentum, h * 0.001 * 1.3 * G[i], 1e-15) << joint;
    }
  }
  EXPECT_EQ(dependent, 2);
}

ModelPtr robot_file(const std::string& name, CompileOptions::Root root) {
  CompileOptions options;
  options.root = root;
  return host().load(std::string(ESPALIER_SOURCE_DIR) + "/robots/" + name, options);
}
PlacedShape solid(const std::string& link, const Shape& shape, const Vec3<double>& at = {0, 0, 0}) {
  PlacedShape out;
  out.link = link, out.shape = shape, out.pose.xyz = at;
  return out;
}
World quadruped_world() {
  World world;
  world.shapes = {World::ground(), solid("trunk", Shape::box({0.2, 0.1, 0.05}))};
  for (const char* leg : {"front_left", "front_right", "hind_left", "hind_right"}) {
    world.shapes.push_back(solid(std::string(leg) + "_foot", Shape::sphere(0.016)));
  }
  return world;
}

/// What a fall of a quadruped on its held legs showed, with a robot in lanes beside it.
struct Fall {
  double deepest = 0.0, beyond = 0.0, apart = 0.0;  ///< [m], [N s], rates
  int pressed = 0;
};
Fall fall(double step, int steps) {
  const ModelPtr model = robot_file("solo12.urdf", CompileOptions::Root::floating);
  ContactBatchOptions many;
  many.threads = 1, many.step.tolerance = 1e-12;
  for (const Joint& joint : model->joints()) {
    if (joint.nv == 1) many.step.drives.push_back({.joint = joint.name, .kp = 20.0, .kd = 0.5});
  }
  ContactBatch batch(host().registry(), model, quadruped_world(), many);
  ContactSimulation s(host().registry(), model, quadruped_world(), many.step);
  std::vector<double> q(model->nq());
  model->neutral(q.data());
  q[2] = 0.36;
  for (int k = 7; k < model->nq(); ++k) q[k] = 0.3 * std::sin(1.0 * k);
  const std::vector<double> rest(model->nv(), 0.0);
  s.start(q, rest);
  batch.start(1, q, rest);
  std::vector<double> targets;
  for (std::size_t k = 0; k < many.step.drives.size(); ++k) {
    targets.push_back(q[model->joint(many.step.drives[k].joint).q]);
    s.set_target(static_cast<int>(k), targets.back());
  }
  batch.set_targets(targets, {nullptr, 0}, {nullptr, 0});
  Fall out;
  for (int k = 0; k < steps; ++k) {
    EXPECT_NE(s.step(step), StepStatus::too_deep);
    EXPECT_LE(s.contact_residual(), 1e-9);  // 1e-12 is asked for, and is rounding
    batch.step(step);
    for (const auto& c : s.contacts()) {
      const double n = dot(c.force, c.normal);
      const Vec3<double> t = c.force - scale(n, c.normal);
      out.pressed += n > 0.0;
      out.deepest = std::max(out.deepest, -c.gap);
      out.beyond = std::max(out.beyond, step * (std::sqrt(dot(t, t)) - 0.7 * n));
    }
    if (out.pressed > 4) continue;  // later the motion amplifies roundings
    for (int i = 0; i < model->nv(); ++i) {
      out.apart = std::max(out.apart, std::abs(batch.sample().v[i] - s.v()[i]));
    }
  }
  return out;
}

// Example 11. That contact takes energy away ContactPropertyTest shows: outside of it explicit
// gyroscopic forces change energy by O(h^2) a step.
TEST(PublishedSetsTest, FallingQuadrupedKeepsToItsConesAndAboveTheGround) {
  const Fall coarse = fall(h, 400), fine = fall(0.1 * h, 4000);
  for (const Fall& f : {coarse, fine}) {
    EXPECT_GT(f.pressed, 500);
    EXPECT_LE(f.beyond, 1e-15);
    EXPECT_LE(f.apart, 1e-12);
  }
  // A point's way is straight within a step, where its link turns: O(h^2).
  EXPECT_LE(coarse.deepest, 1e-6);
  EXPECT_LE(fine.deepest, 0.02 * coarse.deepest);
  std::printf("quadruped    deepest %.1e and %.1e m, beyond its cones %.1e N s, lane apart %.1e\n",
              coarse.deepest, fine.deepest, coarse.beyond, coarse.apart);
}

// Example 12, UR5: an arm that leans on the ground with its tool. What its drives, weight and the
// ground do is in balance.
TEST(PublishedSetsTest, ArmLeansOnTheGround) {
  const ModelPtr model = robot_file("ur5.urdf", CompileOptions::Root::fixed);
  const int n = model->nv();
  const std::string tool = model->links().back().name;
  World world;
  world.shapes = {World::ground({}, 0.1), solid(tool, Shape::sphere(0.03))};
  StepOptions options;
  options.limits = false;
  options.tolerance = 1e-10;
  for (const Joint& joint : model->joints()) {
    options.drives.push_back({.joint = joint.name, .kp = 400.0, .kd = 60.0});
  }
  ContactSimulation s(host().registry(), model, world, options);
  const std::vector<double> target{0.2, -0.5, 1.4, -0.9, -1.57, 0.0};  // the tool below the ground
  for (int k = 0; k < n; ++k) s.set_target(k, target[k]);
  std::vector<double> q = target;
  q[1] -= 0.9;  // lifted
  s.start(q, std::vector<double>(n, 0.0));
  for (int k = 0; k < 6000; ++k) ASSERT_EQ(s.step(h), StepStatus::ok);
  for (const double v : s.v()) ASSERT_NEAR(v, 0.0, 1e-6);
  const Vec3<double> force = force_sum(s);
  EXPECT_GT(force.z, 5.0);
  EXPECT_LE(std::hypot(force.x, force.y), 0.7 * force.z * (1.0 + 1e-9));
  std::vector<double> weight(n);
  const std::vector<double> still(n, 0.0);
  host().create<BiasForce<double>>("dense", model)->evaluate(s.q(), still, weight);
  const Link& link = model->link(tool);
  const auto lowest = [&](const std::vector<double>& at) {  // the point that touches
    Placements placements(model);
    placements.update(at.data());
    return (link.X * placements.body(link.body)).r;
  };
  const Vec3<double> center = lowest(s.q());
  for (int k = 0; k < n; ++k) {
    // Along the joint's circle the point moves as the tool does: the ball's centre, and its turn.
    std::vector<double> up = s.q(), down = s.q();
    const double step = 1e-6;
    up[k] += step, down[k] -= step;
    const Vec3<double> slope = scale(0.5 / step, lowest(up) - lowest(down));
    Placements a(model), b(model);
    a.update(up.data()), b.update(down.data());
    const Mat3<double> turn = a.body(link.body).E.transposed() * b.body(link.body).E;
    const double size = -0.5 / (2.0 * step);  // of a skew part
    const Vec3<double> w{size * (turn(1, 2) - turn(2, 1)), size * (turn(2, 0) - turn(0, 2)),
                         size * (turn(0, 1) - turn(1, 0))};
    const Vec3<double> at_point = slope + cross(w, Vec3<double>{0, 0, 0.1 - center.z});
    const double drive = 400.0 * (target[k] - s.q()[k]);
    // Differences of 1e-6 rad to 1e-9, of 100 N; rates of 1e-6 rad/s.
    EXPECT_NEAR(drive + dot(at_point, force), weight[k], 1e-4) << k;
  }
}

// Example 12, hand: three fingers press a ball, which hangs by friction alone.
struct Grasp {
  double height = 0.0, speed = 0.0;  ///< of the ball, at the end [m], [m/s]
  Vec3<double> force{0, 0, 0};       ///< on it [N]
  double beyond = 0.0;               ///< out of a cone [N]
};
Grasp hold_a_ball(double friction, double seconds) {
  const double radius = 0.05, tip = 0.012, knuckle = 0.08, length = 0.07, mass = 0.2;
  Description robot = ground();
  World world;
  world.self_collision = true;
  StepOptions options;
  options.tolerance = 1e-10;
  add_flying(robot, "ball", mass, {2e-4, 2e-4, 2e-4});
  world.shapes = {solid("ball", Shape::sphere(radius))};
  for (int k = 0; k < 3; ++k) {
    const std::string finger = "finger" + std::to_string(k), end = finger + ".tip";
    const double angle = 2.0 * M_PI / 3.0 * k, out = radius + tip;
    add_link(robot, finger, 0.03, {0, 0, 0.5 * knuckle}, {2e-5, 0, 0, 2e-5, 0, 2e-6});
    add_link(robot, end, 0.02, {0, 0, 0.5 * length}, {1e-5, 0, 0, 1e-5, 0, 1e-6});
    Pose palm;
    palm.xyz = {out * std::cos(angle), out * std::sin(angle), 0}, palm.rpy = {0, 0, angle};
    add_joint(robot, finger + ".knuckle", "revolute", "base", finger, {0, 1, 0}, palm);
    add_joint(robot, finger + ".joint", "revolute", finger, end, {0, 1, 0}, {{0, 0, knuckle}, {}});
    world.shapes.push_back(solid(end, Shape::sphere(tip), {0, 0, length}));
    // Ten newtons inwards at each tip.
    options.drives.push_back({.joint = finger + ".knuckle", .kp = 5.0, .kd = 0.1});
    options.drives.push_back({.joint = finger + ".joint", .kp = 5.0, .kd = 0.1});
  }
  for (PlacedShape& shape : world.shapes) shape.surface.friction = friction;
  const ModelPtr model = host().compile(robot);
  ContactSimulation s(host().registry(), model, world, options);
  for (int k = 0; k < 3; ++k) {
    s.set_target(2 * k, -10.0 * (knuckle + length) / 5.0),
        s.set_target(2 * k + 1, -10.0 * length / 5.0);
  }
  std::vector<double> q(model->nq());
  model->neutral(q.data());
  const int ball = model->joint("ball").q, rate = model->joint("ball").v;
  q[ball + 2] = knuckle + length;
  s.start(q, std::vector<double>(model->nv(), 0.0));
  for (int k = 0; k < seconds / h; ++k) EXPECT_EQ(s.step(h), StepStatus::ok) << k;
  Grasp out;
  out.height = s.q()[ball + 2] - knuckle - length;
  for (int i = 0; i < 6; ++i) out.speed = std::max(out.speed, std::abs(s.v()[rate + i]));
  const auto solids = s.plan().solids();
  for (std::size_t k = 0; k < solids.size(); ++k) {
    if (solids[k].placed.link == "ball") out.force = s.shape_forces()[k];
  }
  for (const auto& c : s.contacts()) {
    const double n = dot(c.force, c.normal);
    const Vec3<double> t = c.force - scale(n, c.normal);
    out.beyond = std::max(out.beyond, std::sqrt(dot(t, t)) - friction * n);
  }
  return out;
}
TEST(PublishedSetsTest, HandHoldsABallByFriction) {
  const Grasp held = hold_a_ball(0.8, 2.0);
  EXPECT_LT(held.speed, 1e-8);
  EXPECT_NEAR(held.force.z, 0.2 * g, 1e-6);
  EXPECT_NEAR(std::hypot(held.force.x, held.force.y), 0.0, 1e-6);
  EXPECT_LE(held.beyond, 1e-9);
  EXPECT_GT(held.height, -0.02);  // fingers yield
  // Thirty newtons carry 0.6 of the ball's 2 N.
  EXPECT_LT(hold_a_ball(0.02, 0.3).height, -0.05);
}

// Example 12, energy: where nothing pulls, a ball that does not rub hits a quadruped at rest and
// bounces off. What a step of length h makes of energy and momentum is O(h): limbs move within it.
struct Blow {
  double energy = 0.0, momentum = 0.0;  ///< largest errors, over what was there
  double back = 0.0;                    ///< rate of the ball at the end [m/s]
  int hits = 0;
};
Blow elastic_blow(double step) {
  Description robot = host().read(std::string(ESPALIER_SOURCE_DIR) + "/robots/solo12.urdf");
  robot.gravity = {0, 0, 0};
  add_link(robot, "base");
  add_joint(robot, "root", "floating", "base", "trunk");
  add_flying(robot, "ball", 0.8, {1e-3, 1e-3, 1e-3});
  World world;
  world.self_collision = true;
  world.shapes = {solid("trunk", Shape::box({0.2, 0.1, 0.05})), solid("ball", Shape::sphere(0.05))};
  for (PlacedShape& shape : world.shapes) {
    shape.surface.friction = 0.0, shape.surface.restitution = 1.0;
  }
  StepOptions options;
  options.tolerance = 1e-10;
  options.passive = options.limits = false;
  const ModelPtr model = host().compile(robot);
  const auto dynamics = host().create<CentroidalDynamics<double>>("composite-centroidal", model);
  ContactSimulation s(host().registry(), model, world, options);
  std::vector<double> q(model->nq()), v(model->nv()), still(model->nv());
  model->neutral(q.data());
  const Joint& ball = model->joint("ball");
  q[ball.q] = 0.12, q[ball.q + 1] = 0.07, q[ball.q + 2] = 0.4;  // off the centre
  v[ball.v + 5] = -2.0;
  s.start(q, v);
  const double energy = s.sample().kinetic;
  const std::vector<double> before = dynamics->evaluate(q, v, still).momentum;
  Blow out;
  while (s.time() < 0.25) {
    EXPECT_EQ(s.step(step), StepStatus::ok) << s.time();
    out.energy = std::max(out.energy, std::abs(s.sample().kinetic / energy - 1.0));
    const std::vector<double> now = dynamics->evaluate(s.q(), s.v(), still).momentum;
    for (int i = 0; i < 6; ++i) {
      out.momentum = std::max(out.momentum, std::abs((now[i] - before[i]) / before[5]));
    }
    out.hits += dot(force_sum(s), force_sum(s)) > 0.0;
  }
  out.back = s.v()[ball.v + 5];
  return out;
}
TEST(PublishedSetsTest, ElasticBlowKeepsEnergyAndMomentum) {
  const Blow coarse = elastic_blow(h), fine = elastic_blow(0.1 * h);
  for (const Blow& blow : {coarse, fine}) {
    EXPECT_EQ(blow.hits, 1);
    EXPECT_GT(blow.back, -0.5);
  }
  std::printf("elastic blow energy by %.1e and %.1e, momentum by %.1e and %.1e\n", coarse.energy,
              fine.energy, coarse.momentum, fine.momentum);
  EXPECT_LE(coarse.energy, 1e-2);
  EXPECT_LE(coarse.momentum, 1e-2);
  EXPECT_LE(fine.energy, 0.15 * coarse.energy);
  EXPECT_LE(fine.momentum, 0.15 * coarse.momentum);
}

// Example 12, balls: twenty-seven fall into a heap on a dish of ground. The set has 666; as bodies
// of one robot their mass matrix is dense, and so few do.
TEST(PublishedSetsTest, HeapOfBallsIsCarriedByTheGround) {
  Description robot = ground();
  World world;
  world.self_collision = true;
  std::vector<double> dish;
  for (int y = 0; y < 21; ++y) {
    for (int x = 0; x < 21; ++x) {
      dish.push_back(0.1 * (std::pow(0.1 * (x - 10), 2) + std::pow(0.1 * (y - 10), 2)));
    }
  }
  PlacedShape field = solid("", Shape::height_field(21, 21, 0.1, dish), {-1.0, -1.0, 0.0});
  field.surface.friction = 0.5;
  world.shapes = {field};
  std::vector<double> q;
  Rng random(4);
  for (int k = 0; k < 27; ++k) {
    const std::string name = "ball" + std::to_string(k);
    add_flying(robot, name, 1.0, {0.001, 0.001, 0.001});
    world.shapes.push_back(solid(name, Shape::sphere(0.05)));
    const Vec3<double> place{0.105 * (k % 3 - 1) + random.uniform(0.0, 2e-3),
                             0.105 * (k / 3 % 3 - 1) + random.uniform(0.0, 2e-3),
                             0.07 + 0.105 * (k / 9)};
    for (const double x : at(place)) q.push_back(x);
  }
  const ModelPtr model = host().compile(robot);
  ContactSimulation s(host().registry(), model, world);
  s.start(q, std::vector<double>(model->nv(), 0.0));
  double energy = s.sample().energy();
  int unsolved = 0;
  double carried = 0.0, deepest = 0.0;
  for (int k = 0; k < 500; ++k) {
    unsolved += s.step(2 * h) != StepStatus::ok;
    const double now = s.sample().energy();
    EXPECT_LE(now, energy + 1e-3);  // 27 kg, unsolved steps and depths that are cured
    energy = now;
    for (const auto& c : s.contacts()) deepest = std::max(deepest, -c.gap);
    if (k >= 400) carried += -s.shape_forces()[0].z / 100.0;
  }
  EXPECT_LE(deepest, 2e-3);
  EXPECT_NEAR(carried / (27.0 * g), 1.0, 0.05);  // some still roll
  EXPECT_LE(unsolved, 5);
  std::printf("balls        %d of 500 steps unsolved, deepest %.1e m, carried %.3f of the weight\n",
              unsolved, deepest, carried / (27.0 * g));
}

}  // namespace
}  // namespace espalier::test::published_sets_test
