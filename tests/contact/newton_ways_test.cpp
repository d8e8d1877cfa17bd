#include <Eigen/Dense>
#include <cmath>

#include "espalier/kernel/model/placements.hpp"
#include "espalier/simulation/contact/contact_batch.hpp"
#include "simulation/contact/solvers/row_products.hpp"
#include "tests/contact/robots.hpp"
#include "tests/support/dense_algebra.hpp"

namespace espalier::test::newton_ways_test {
namespace {

using contact::ContactBatch;
using contact::ContactBatchOptions;
using contact::ContactStep;
using contact::make_plan;
using contact::make_step;
using contact::NewtonWay;
using contact::Plan;
using contact::StepNames;
using contact::StepState;

/// But dense, which is elimination.
constexpr NewtonWay others[] = {NewtonWay::twist_space, NewtonWay::tree, NewtonWay::rate_space};

ModelPtr floating_robot(const std::string& file) {
  CompileOptions options;
  options.root = CompileOptions::Root::floating;
  return host().load(std::string(ESPALIER_SOURCE_DIR) + "/robots/" + file, options);
}

/// A grid of n x n points under both feet of the humanoid, on a plane.
World soles(int n) {
  World world;
  world.shapes = {World::ground({.friction = 0.7})};
  for (const char* foot : {"left_foot", "right_foot"}) {
    for (int i = 0; i < n; ++i) {
      for (int j = 0; j < n; ++j) {
        PlacedShape ball;
        ball.link = foot, ball.shape = Shape::sphere(0.01);
        ball.pose.xyz = {0.12 - 0.18 * i / (n - 1), 0.04 - 0.08 * j / (n - 1), -0.06};
        ball.surface = {.friction = 0.7};
        ball.name = foot + std::to_string(n * i + j);
        world.shapes.push_back(ball);
      }
    }
  }
  return world;
}
/// One ball at the end of every link of that name, on a plane.
World balls(const Model& model, const std::string& links, const Vec3<double>& center) {
  World world;
  world.shapes = {World::ground({.friction = 0.8})};
  for (const Link& link : model.links()) {
    if (link.name.find(links) == std::string::npos) continue;
    PlacedShape ball;
    ball.link = link.name, ball.shape = Shape::sphere(0.02), ball.pose.xyz = center;
    ball.name = link.name;
    world.shapes.push_back(ball);
  }
  return world;
}
/// Three cubes on each other: links touch each other.
std::pair<ModelPtr, World> stack() {
  Description robot = ground();
  World world;
  world.shapes = {World::ground({.friction = 0.6})};
  for (const char* name : {"low", "middle", "high"}) {
    add_flying(robot, name, 1.0, box_inertia(1.0, {0.1, 0.1, 0.1}));
    PlacedShape cube;
    cube.link = name, cube.shape = Shape::sphere(0.1), cube.surface = {.friction = 0.6};
    cube.name = name;
    world.shapes.push_back(cube);
  }
  world.self_collision = true;
  return {host().compile(robot), world};
}

/// Random modes as Newton's rounds have them. @return Q and D, and both as matrices
struct Modes {
  std::vector<double> Q, D;
  Eigen::MatrixXd Q_all, D_all;
};
Modes random_modes(Rng& random, const contact::ImpulseProblem<double>& p) {
  const double eps = 1e-6;
  const int m = p.size();
  std::vector<double> d(p.contacts + p.scalars);
  row_scales(p, d.data());
  Modes modes{std::vector<double>(9 * p.contacts + p.scalars, 0.0),
              {},
              Eigen::MatrixXd::Zero(m, m),
              Eigen::MatrixXd::Zero(m, m)};
  modes.D = modes.Q;
  for (int c = 0; c < p.contacts; ++c) {
    Eigen::Matrix3d Q = Eigen::Matrix3d::Zero(), D = Eigen::Matrix3d::Zero();
    const int mode = static_cast<int>(random.uniform(0.0, 3.0));
    if (mode == 0) {
      D = Eigen::Matrix3d::Identity();
    } else if (mode == 1) {
      Q = Eigen::Matrix3d::Identity(), D = eps * Eigen::Matrix3d::Identity();
    } else {
      const double angle = random.uniform(0.0, 6.0), k = random.uniform(0.1, 0.9);
      const Eigen::Vector2d e(std::cos(angle), std::sin(angle));
      const Eigen::Matrix2d P = k * (Eigen::Matrix2d::Identity() - e * e.transpose());
      Q(0, 0) = 1.0, D(0, 0) = eps;
      Q.block<2, 1>(1, 0) = p.mu[c] * e, Q.block<2, 2>(1, 1) = P;
      D.block<2, 1>(1, 0) = -p.mu[c] * e;
      D.block<2, 2>(1, 1) = (1.0 + eps) * Eigen::Matrix2d::Identity() - P;
    }
    D *= d[c];
    for (int i = 0; i < 3; ++i) {
      for (int j = 0; j < 3; ++j) {
        modes.Q[9 * c + 3 * i + j] = modes.Q_all(3 * c + i, 3 * c + j) = Q(i, j);
        modes.D[9 * c + 3 * i + j] = modes.D_all(3 * c + i, 3 * c + j) = D(i, j);
      }
    }
  }
  for (int k = 0; k < p.scalars; ++k) {
    const int i = 3 * p.contacts + k;
    // A row that is far from its limit is at its bound of no impulse.
    const bool bound = p.g[i] == 1.0 || random.chance(0.5);
    modes.Q[9 * p.contacts + k] = modes.Q_all(i, i) = bound ? 0.0 : 1.0;
    modes.D[9 * p.contacts + k] = modes.D_all(i, i) = d[p.contacts + k] * (bound ? 1.0 : eps);
  }
  return modes;
}

/// A step's system by one of the ways and by elimination with pivots.
void expect_elimination(const ModelPtr& model, const World& world, StepOptions options,
                        NewtonWay way, const std::vector<double>& q, int points) {
  options.newton = way;
  const StepNames names;
  const auto plan = make_plan(host().registry(), model, world, options, names);
  ASSERT_EQ(plan->newton_way(), way);
  const auto step = make_step<double>(host().registry(), plan, names);
  StepState<double> s;
  step->resize(s);
  Rng random(4);
  s.q = q;
  for (double& v : s.v) v = random.uniform(-0.5, 0.5);
  step->prepare(s, 2e-3);
  contact::complete(s.problem);
  ASSERT_EQ(s.problem.contacts, points);
  const int m = s.problem.size();
  const Eigen::Map<const Eigen::Matrix<double, -1, -1, Eigen::RowMajor>> G(s.problem.G.data(), m,
                                                                           m);
  for (int trial = 0; trial < 20; ++trial) {
    const Modes modes = random_modes(random, s.problem);
    const Eigen::MatrixXd A = product(modes.Q_all, G) + modes.D_all;
    // Right sides as F has them: no rate is wanted that the robot does not have.
    Eigen::VectorXd x0(m);
    for (double& x : x0) x = random.uniform();
    const Eigen::VectorXd b = A * x0;
    contact::NewtonSystem<double>* system = step->newton_system(s.links);
    ASSERT_NE(system, nullptr);
    Eigen::VectorXd x = b;
    system->solve(modes.Q.data(), modes.D.data(), x.data());
    // Rows that stick weigh 1e6, one over the proximal term, among inertias of links of 0.1 kg and
    // with straight legs: ten of sixteen digits are used up in twist space, nine by the others.
    const bool tree = way != NewtonWay::twist_space;
    EXPECT_LE((b - A * x).cwiseAbs().maxCoeff(), (tree ? 1e-6 : 1e-5) * b.cwiseAbs().maxCoeff())
        << trial;
    // A second solve, with what is left of b, gives them back; the motion has those of A.
    Eigen::VectorXd left = b - A * x;
    system->solve(modes.Q.data(), modes.D.data(), left.data());
    x += left;
    EXPECT_LE((b - A * x).cwiseAbs().maxCoeff(), 1e-10 * b.cwiseAbs().maxCoeff()) << trial;
    const Eigen::VectorXd dense = solved(A, b);
    EXPECT_LE((G * (x - dense)).cwiseAbs().maxCoeff(),
              (tree ? 1e-10 : 1e-8) * (G * dense).cwiseAbs().maxCoeff())
        << trial;
  }
}

std::vector<double> neutral_at(const Model& model, double height) {
  std::vector<double> q(model.nq());
  model.neutral(q.data());
  q[2] = height;
  return q;
}

TEST(NewtonWaysTest, QuadrupedAsEliminationHasIt) {
  const ModelPtr model = floating_robot("solo12.urdf");
  World world = balls(*model, "foot", {0, 0, 0});
  world.margin = 1.0;
  for (const NewtonWay way : others) {
    expect_elimination(model, world, {}, way, neutral_at(*model, 0.35), 4);
  }
}

TEST(NewtonWaysTest, SolesOfSixteenPointsAsEliminationHasThem) {
  const ModelPtr model = floating_robot("humanoid.urdf");
  World world = soles(4);
  world.margin = 1.0;
  for (const NewtonWay way : others) {
    expect_elimination(model, world, {}, way, neutral_at(*model, 0.9), 32);
  }
}

TEST(NewtonWaysTest, RotorsLoopsLimitsFrictionAndYieldingGroundAreInTheRecursion) {
  const ModelPtr geared = floating_robot("mini_cheetah_geared.yaml");
  World on_knees = balls(*geared, "knee.link", {0, 0, -0.195});
  on_knees.margin = 1.0;
  StepOptions options;
  for (const Joint& joint : geared->joints()) {
    if (joint.nv == 1) options.drives.push_back({.joint = joint.name, .kp = 40.0, .kd = 1.0});
  }
  const ModelPtr tello = floating_robot("tello.yaml");
  World on_feet = balls(*tello, "foot", {0, 0, -0.04});
  on_feet.margin = 1.0;
  for (auto& shape : on_feet.shapes) shape.surface.stiffness = 1e5, shape.surface.damping = 1e3;
  StepOptions near_limits;
  near_limits.limit_margin = 10.0;
  for (const NewtonWay way : others) {
    expect_elimination(geared, on_knees, options, way, neutral_at(*geared, 0.35), 4);
    expect_elimination(tello, on_feet, near_limits, way, neutral_at(*tello, 1.0),
                       static_cast<int>(on_feet.shapes.size()) - 1);
  }
}

TEST(NewtonWaysTest, LinksThatTouchEachOtherShareBlocksOfTwistSpaceAndRates) {
  const auto [model, world] = stack();
  std::vector<double> q(model->nq());
  model->neutral(q.data());
  for (int k = 0; k < 3; ++k) q[7 * k + 2] = 0.1 + 0.2 * k;
  expect_elimination(model, world, {}, NewtonWay::twist_space, q, 3);
  expect_elimination(model, world, {}, NewtonWay::rate_space, q, 3);
  StepOptions options;
  options.newton = NewtonWay::tree;
  try {
    (void)make_plan(host().registry(), model, world, options, {});
    FAIL() << "the recursion takes links that touch each other";
  } catch (const Unsupported& e) {
    EXPECT_NE(std::string(e.what()).find("two moving links may touch each other"),
              std::string::npos)
        << e.what();
  }
}

TEST(NewtonWaysTest, ThePlanTakesTheCheapestWay) {
  const auto way = [](const ModelPtr& model, const World& world, const StepOptions& options) {
    return make_plan(host().registry(), model, world, options, {})->newton_way();
  };
  const ModelPtr solo = floating_robot("solo12.urdf"), humanoid = floating_robot("humanoid.urdf");
  StepOptions free;
  free.limits = false;
  EXPECT_EQ(way(solo, balls(*solo, "foot", {0, 0, 0}), free), NewtonWay::dense);
  Description rubs = host().read(std::string(ESPALIER_SOURCE_DIR) + "/robots/solo12.urdf");
  for (JointDescription& joint : rubs.joints) joint.passive.friction = 0.05;
  CompileOptions floats;
  floats.root = CompileOptions::Root::floating;
  EXPECT_EQ(way(host().compile(rubs, floats), balls(*solo, "foot", {0, 0, 0}), {}),
            NewtonWay::rate_space);
  EXPECT_EQ(way(humanoid, soles(4), free), NewtonWay::twist_space);
  // With the limits of all joints as rows.
  EXPECT_EQ(way(humanoid, soles(4), {}), NewtonWay::tree);
}

/// The humanoid on soles of 16 points, held by drives and moving.
ContactBatchOptions held_humanoid(const Model& model, NewtonWay way) {
  ContactBatchOptions options;
  options.threads = 1;
  options.step.newton = way;
  for (const Joint& joint : model.joints()) {
    if (joint.nv == 1) {
      options.step.drives.push_back({.joint = joint.name, .kp = 800.0, .kd = 40.0});
    }
  }
  return options;
}

TEST(NewtonWaysTest, AWalkerFallsTheSameWayByAllWaysForAnyNumberOfRobots) {
  const ModelPtr model = floating_robot("humanoid.urdf");
  const auto roll = [&](NewtonWay way, int N) {
    ContactBatch batch(host().registry(), model, soles(4), held_humanoid(*model, way));
    std::vector<double> q(static_cast<std::size_t>(model->nq()) * N);
    std::vector<double> v(static_cast<std::size_t>(model->nv()) * N, 0.0);
    std::vector<double> one = neutral_at(*model, 0.0);
    Placements placements(model);
    placements.update(one.data());
    for (std::size_t i = 0; i < model->links().size(); ++i) {
      if (model->links()[i].name != "left_foot") continue;
      one[2] = 0.07 - placements.link(static_cast<int>(i)).r.z;  // the lowest points touch
    }
    for (int k = 0; k < N; ++k) {
      for (int i = 0; i < model->nq(); ++i) q[static_cast<std::size_t>(i) * N + k] = one[i];
      for (int i = 0; i < 3; ++i) {
        v[static_cast<std::size_t>(3 + i) * N + k] = 0.3 * std::sin(1.0 + k + 2.0 * i);
      }
    }
    batch.start(N, q, v);
    double unsolved = 0.0;
    for (int k = 0; k < 60; ++k) {
      batch.step(2e-3);
      for (const double r : batch.residuals()) unsolved += !(r <= 1e-6);
    }
    EXPECT_EQ(unsolved, 0.0);
    const auto now = batch.sample();
    return std::vector<double>(now.q.begin(), now.q.end());
  };
  for (const NewtonWay way : others) {
    const std::vector<double> many = roll(way, 9), few = roll(way, 2),
                              dense = roll(NewtonWay::dense, 9);
    for (int i = 0; i < model->nq(); ++i) {
      for (int k = 0; k < 2; ++k) EXPECT_EQ(many[9 * i + k], few[2 * i + k]) << i << " " << k;
      // Residuals of 1e-6 m/s over 0.12 s, and limbs that turn faster than their feet.
      for (int k = 0; k < 9; ++k) EXPECT_NEAR(many[9 * i + k], dense[9 * i + k], 2e-5) << i;
    }
  }
}

}  // namespace
}  // namespace espalier::test::newton_ways_test
