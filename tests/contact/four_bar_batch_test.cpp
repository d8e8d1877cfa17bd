#include <cmath>
#include <numbers>

#include "cli/allocations.hpp"
#include "espalier/kernel/model/closure.hpp"
#include "espalier/simulation/contact/contact_batch.hpp"
#include "espalier/simulation/contact/problems/step.hpp"
#include "tests/contact/robots.hpp"

/// Batches of a quadruped with a parallelogram in each leg, whose loops are closed in lanes.

namespace espalier::test::four_bar_batch_test {
namespace {

using contact::ContactBatch;
using contact::RobotStatus;
using contact::Shape;

/// The benchmark's quadruped on spheres at the ends of its shins.
struct Quadruped {
  ModelPtr model = host().load(ESPALIER_SOURCE_DIR "/benchmarks/contact/four_bar_quadruped.yaml");
  World world;
  std::vector<double> q, v;  ///< stands on its feet, or a little above

  Quadruped() {
    world.shapes = {World::ground({.friction = 0.7})};
    for (const Link& link : model->links()) {
      if (link.name.find("shin") == std::string::npos) continue;
      PlacedShape foot;
      foot.link = link.name, foot.shape = Shape::sphere(0.02), foot.pose.xyz = {0, 0, -0.22};
      world.shapes.push_back(foot);
    }
    q.resize(model->nq()), v.assign(model->nv(), 0.0);
    model->neutral(q.data());
    for (const char* leg : legs) bend(leg, 0.4, -0.4);
    q[model->joint("root").q + 2] = 0.43;
  }
  /// A parallelogram's knee turns as its crank does against the thigh, and its pin back again.
  void bend(const std::string& leg, double thigh, double crank) {
    const auto at = [&](const char* joint) -> double& {
      return q[model->joint(leg + "." + joint).q];
    };
    at("thigh") = thigh, at("crank") = crank;
    at("knee") = crank - thigh, at("pin") = thigh - crank;
  }
  double& rate(const std::string& joint) { return v[model->joint(joint).independent]; }
  /// A leg that is about to fold until its crank lies along its thigh.
  void fold(const std::string& leg) {
    bend(leg, 0.45, 0.45 - (std::numbers::pi / 2 - 1e-3));
    rate(leg + ".thigh") = 1.0, rate(leg + ".crank") = -3.0;
  }

  static constexpr const char* legs[] = {"front_right", "front_left", "hind_right", "hind_left"};
};

/// Numbers of robots side by side.
std::vector<double> side_by_side(const std::vector<const std::vector<double>*>& robots) {
  std::vector<double> out;
  for (std::size_t i = 0; i < robots.front()->size(); ++i) {
    for (const auto* robot : robots) out.push_back((*robot)[i]);
  }
  return out;
}

TEST(FourBarBatchTest, StepsAllocateNothingFromTheFirstOneOn) {
  const Quadruped one;
  for (const int N : {1, 8, 33}) {
    const std::vector<const std::vector<double>*> q(N, &one.q), v(N, &one.v);
    contact::ContactBatchOptions options{.threads = 1};
    std::vector<double> targets;
    for (const Joint& joint : one.model->joints()) {
      if (joint.nv != 1 || joint.independent < 0) continue;
      options.step.drives.push_back({.joint = joint.name, .kp = 80.0, .kd = 2.0});
      targets.insert(targets.end(), N, one.q[joint.q]);
    }
    ContactBatch batch(host().registry(), one.model, one.world, options);
    batch.start(N, side_by_side(q), side_by_side(v));
    batch.set_targets(targets, {nullptr, 0}, {nullptr, 0});
    const auto before = cli::allocation_count();
    for (int k = 0; k < 100; ++k) batch.step(2e-3);
    EXPECT_EQ(cli::allocation_count(), before) << N << " robots";
    EXPECT_NEAR(batch.forces()[2 * N], -11.6 * 9.81, 20.0);  // they have landed
  }
}

/// States may be prepared one after the other and respond later: rates are expanded by the
/// couplings at a state's own position.
TEST(FourBarBatchTest, StatesRespondAtTheirOwnPositions) {
  const ModelPtr model = host().load(ESPALIER_SOURCE_DIR "/robots/tello.yaml");
  ASSERT_TRUE(model->has_variable_constraints());
  const auto plan = contact::make_plan(host().registry(), model, {}, {}, {});
  const auto step = contact::make_step<Pack>(host().registry(), plan, {});
  const auto prepare = [&](double bend) {
    std::vector<double> neutral(model->nq());
    model->neutral(neutral.data());
    std::vector<double> q = neutral;
    for (const int rate : model->independent_rates()) {
      const Joint& joint = model->joint_of_rate(rate);
      if (joint.nq == 1) q[joint.q] += bend;
    }
    EXPECT_EQ(close(*model, neutral.data(), q.data()).verdict, Closure::Verdict::closed);
    contact::StepState<Pack> s;
    step->resize(s);
    std::copy(q.begin(), q.end(), s.q.begin());
    for (int i = 0; i < model->nv(); ++i) s.v[i] = Pack(std::sin(1.0 + i));
    step->prepare(s, 1e-3);
    return s;
  };
  contact::StepState<Pack> alone = prepare(0.1);
  step->respond(alone, 1e-3);
  contact::StepState<Pack> first = prepare(0.1), second = prepare(0.2);
  step->respond(first, 1e-3);
  for (int i = 0; i < model->nq(); ++i) EXPECT_EQ(first.q[i][3], alone.q[i][3]) << i;
  for (int i = 0; i < model->nv(); ++i) EXPECT_EQ(first.v[i][3], alone.v[i][3]) << i;
}

/// Each robot of four packs, thrown down in its own way, moves as it does in a pack alone: of
/// packs that are prepared one after the other, each has its own couplings.
TEST(FourBarBatchTest, BitsDependOnNoPackBeside) {
  const Quadruped one;
  const int most = 32;
  std::vector<std::vector<double>> q(most, one.q), v(most, one.v);
  for (int k = 0; k < most; ++k) {
    Quadruped robot;
    for (const char* leg : Quadruped::legs) robot.bend(leg, 0.4 + 0.01 * k, -0.4 + 0.005 * k);
    q[k] = robot.q;
    for (int i = 0; i < one.model->nv(); ++i) v[k][i] = 2.0 * std::sin(7.0 * k + i);
  }
  const auto thrown = [&](int first, int N) {
    std::vector<const std::vector<double>*> starts, rates;
    for (int k = first; k < first + N; ++k) starts.push_back(&q[k]), rates.push_back(&v[k]);
    ContactBatch batch(host().registry(), one.model, one.world, {.threads = 1});
    batch.start(N, side_by_side(starts), side_by_side(rates));
    for (int k = 0; k < 200; ++k) batch.step(2e-3);
    return std::vector<double>(batch.sample().q.data(),
                               batch.sample().q.data() + one.model->nq() * N);
  };
  const std::vector<double> all = thrown(0, most);
  for (int first = 0; first < most; first += 8) {
    const std::vector<double> pack = thrown(first, 8);
    for (int i = 0; i < one.model->nq(); ++i) {
      for (int k = 0; k < 8; ++k) {
        EXPECT_EQ(pack[8 * i + k], all[most * i + first + k]) << "robot " << first + k;
      }
    }
  }
}

TEST(FourBarBatchTest, RobotWhoseLegFoldsPastADeadPointStandsStillAlone) {
  Quadruped standing, folding;
  folding.fold("hind_right");
  const Model& model = *standing.model;
  ContactBatch batch(host().registry(), standing.model, standing.world, {.threads = 1});
  batch.start(2, side_by_side({&standing.q, &folding.q}), side_by_side({&standing.v, &folding.v}));
  const auto before = cli::allocation_count();
  batch.step(2e-3);
  EXPECT_EQ(cli::allocation_count(), before);
  for (int k = 0; k < 20; ++k) {
    EXPECT_EQ(batch.status()[0], RobotStatus::ok);
    EXPECT_EQ(batch.status()[1], RobotStatus::loop_open);
    for (int i = 0; i < model.nq(); ++i) EXPECT_EQ(batch.sample().q[2 * i + 1], folding.q[i]) << i;
    for (int i = 0; i < model.nv(); ++i) EXPECT_EQ(batch.sample().v[2 * i + 1], 0.0) << i;
    batch.step(2e-3);
  }
  batch.reset(1, standing.q, standing.v);
  batch.step(2e-3);
  EXPECT_EQ(batch.status()[1], RobotStatus::ok);
}

TEST(FourBarBatchTest, SingleRobotNamesTheLegThatFoldsPastADeadPoint) {
  Quadruped folding;
  folding.fold("hind_right");
  ContactSimulation simulation(host().registry(), folding.model, folding.world);
  simulation.start(folding.q, folding.v);
  try {
    simulation.step(2e-3);
    ADD_FAILURE() << "closed";
  } catch (const SingularMechanism& error) {
    const std::string text = error.what();
    for (const char* word : {"hind_right.thigh", "branch lost", "singular positions"}) {
      EXPECT_NE(text.find(word), std::string::npos) << word << " in: " << text;
    }
  }
}

}  // namespace
}  // namespace espalier::test::four_bar_batch_test
