#include <cmath>
#include <limits>

#include "espalier/simulation/contact/contact_batch.hpp"
#include "tests/contact/robots.hpp"

/// Batches whose rows are factors instead of a matrix: what is done to one robot no other one sees.

namespace espalier::test::factored_batch_test {
namespace {

using contact::ContactBatch;
using contact::ContactBatchOptions;
using contact::NewtonWay;
using contact::RobotStatus;

/// Solo12 with dry friction in its joints, and what its feet touch.
ModelPtr rubbing_quadruped() {
  Description robot = host().read(std::string(ESPALIER_SOURCE_DIR) + "/robots/solo12.urdf");
  for (JointDescription& joint : robot.joints) joint.passive.friction = 0.05;
  CompileOptions options;
  options.root = CompileOptions::Root::floating;
  return host().compile(robot, options);
}
/// Every foot by a ball, or by four at one place: 48 rows of rank 12.
World feet(const Model& model, int balls, bool self_collision) {
  World world;
  world.shapes = {World::ground({.friction = 0.7})};
  world.self_collision = self_collision;
  for (const Link& link : model.links()) {
    if (link.name.find("foot") == std::string::npos) continue;
    for (int k = 0; k < balls; ++k) {
      PlacedShape ball;
      ball.link = link.name, ball.shape = Shape::sphere(0.016);
      ball.name = link.name + std::to_string(k);
      world.shapes.push_back(ball);
    }
  }
  return world;
}

struct Rolled {
  std::vector<double> q, v;  ///< by robots
  std::vector<RobotStatus> status;
};
constexpr int smooth = 1, rough = 2, poisoned = 3;

/// Robots that are thrown onto the ground, each in its own way; one on ice, one on glue.
Rolled roll(const ModelPtr& model, const World& world, NewtonWay way, int N, bool poison) {
  ContactBatchOptions options;
  options.threads = 1, options.step.newton = way, options.step.limits = false;
  for (const Joint& joint : model->joints()) {
    if (joint.nv == 1) options.step.drives.push_back({.joint = joint.name, .kp = 10.0, .kd = 0.3});
  }
  ContactBatch batch(host().registry(), model, world, options);
  std::vector<double> one(model->nq()), q(one.size() * N), v(model->nv() * std::size_t(N), 0.0);
  model->neutral(one.data());
  one[2] = 0.34;
  for (int k = 0; k < N; ++k) {
    for (std::size_t i = 0; i < one.size(); ++i) q[i * N + k] = one[i];
    for (int i = 0; i < 6; ++i) v[std::size_t(i) * N + k] = 0.5 * std::sin(1.0 + k + 2.0 * i);
  }
  if (poison && N > poisoned) q[2 * N + poisoned] = std::numeric_limits<double>::quiet_NaN();
  batch.start(N, q, v);
  std::vector<double> friction(N, 1.0);
  if (N > rough) friction[smooth] = 0.0, friction[rough] = 1e6;
  batch.set_friction(friction);
  for (int k = 0; k < 40; ++k) batch.step(2e-3);
  Rolled out;
  const auto now = batch.sample();
  for (int k = 0; k < N; ++k) {
    for (std::size_t i = 0; i < one.size(); ++i) out.q.push_back(now.q[i * N + k]);
    for (int i = 0; i < model->nv(); ++i) out.v.push_back(now.v[std::size_t(i) * N + k]);
  }
  out.status.assign(batch.status().begin(), batch.status().end());
  return out;
}

void expect_apart(const ModelPtr& model, const World& world, NewtonWay way, int N) {
  const Rolled sound = roll(model, world, way, N, false), ill = roll(model, world, way, N, true),
               alone = roll(model, world, way, 1, false);
  const int nq = model->nq(), nv = model->nv();
  for (int k = 0; k < N; ++k) {
    EXPECT_EQ(sound.status[k], RobotStatus::ok) << k;
    EXPECT_EQ(ill.status[k], k == poisoned ? RobotStatus::not_finite : RobotStatus::ok) << k;
    for (int i = 0; i < nq && k != poisoned; ++i) {
      EXPECT_EQ(sound.q[nq * k + i], ill.q[nq * k + i]) << k << " " << i;
    }
    for (int i = 0; i < nv && k != poisoned; ++i) {
      EXPECT_EQ(sound.v[nv * k + i], ill.v[nv * k + i]) << k << " " << i;
    }
  }
  for (int i = 0; i < nq; ++i) EXPECT_EQ(sound.q[i], alone.q[i]) << i;
}

TEST(FactoredBatchTest, NothingPassesBetween513Robots) {
  const ModelPtr model = rubbing_quadruped();
  expect_apart(model, feet(*model, 1, false), NewtonWay::rate_space, 513);
}

TEST(FactoredBatchTest, NothingPassesByAnyWayWithRedundantPoints) {
  const ModelPtr model = rubbing_quadruped();
  for (const NewtonWay way : {NewtonWay::rate_space, NewtonWay::twist_space, NewtonWay::tree}) {
    expect_apart(model, feet(*model, 4, false), way, 13);
  }
}

TEST(FactoredBatchTest, NothingPassesWhereLinksTouchEachOther) {
  const ModelPtr model = rubbing_quadruped();
  const World world = feet(*model, 1, true);
  for (const NewtonWay way : {NewtonWay::rate_space, NewtonWay::twist_space}) {
    expect_apart(model, world, way, 13);
  }
}

}  // namespace
}  // namespace espalier::test::factored_batch_test
