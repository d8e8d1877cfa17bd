#include "espalier/simulation/contact/contact_batch.hpp"
#include "espalier/simulation/contact/problems/margin_trend.hpp"
#include "tests/contact/robots.hpp"

/// Dead points of the coordinates that a step goes over: rates act through the couplings of its
/// start, so that the loop would be thrown back instead of going through.

namespace espalier::test::dead_point_test {
namespace {

using contact::ContactBatch;
using contact::RobotStatus;

/// Tello in the air, driven so that its left hip passes a dead point of its rotors at 0.18 s.
struct Driven {
  ModelPtr model = host().load(ESPALIER_SOURCE_DIR "/robots/tello.yaml");
  World world{{World::ground({}), foot()}};
  std::vector<double> q, v, tau;

  Driven() : q(model->nq()), v(model->nv(), 0.0), tau(model->nv(), 0.0) {
    model->neutral(q.data());
    world.shapes[0].pose.xyz.z = -100.0;
    const double push[] = {2, 4, 6, 24, 35, 46};
    std::copy_n(push, 6, tau.begin());
    tau[model->joint("left.hip.rotor1").independent] = 0.3;
  }
  static PlacedShape foot() {
    PlacedShape ball;
    ball.link = "torso", ball.shape = contact::Shape::sphere(0.01);
    return ball;
  }
};

TEST(ContactDeadPointTest, StepsThatGoOverOneAreRefused) {
  const Driven robot;
  for (const double length : {1e-4, 5e-5}) {
    SCOPED_TRACE(length);
    ContactSimulation one(host().registry(), robot.model, robot.world);
    one.start(robot.q, robot.v);
    one.set_forces(robot.tau);
    std::string said;
    try {
      for (int k = 0; k * length < 0.2; ++k) one.step(length);
    } catch (const SingularMechanism& error) {
      said = error.what();
    }
    EXPECT_NE(said.find("'left.hip.rotor1+left.hip.rotor2"), std::string::npos) << said;
    EXPECT_NE(said.find("branch lost"), std::string::npos) << said;
    EXPECT_NEAR(one.sample().t, 0.183, 1e-3);
  }
}

TEST(ContactDeadPointTest, RobotsOfABatchStandStillThere) {
  const Driven robot;
  constexpr int N = 9, driven = 4;
  const auto columns = [&](const std::vector<double>& x) {
    std::vector<double> all;
    for (const double number : x) all.insert(all.end(), N, number);
    return all;
  };
  ContactBatch batch(host().registry(), robot.model, robot.world, {.threads = 1});
  batch.start(N, columns(robot.q), columns(robot.v));
  std::vector<double> tau(robot.tau.size() * N, 0.0);
  for (std::size_t i = 0; i < robot.tau.size(); ++i) tau[i * N + driven] = robot.tau[i];
  batch.set_forces(tau);
  for (int k = 0; k < 1900; ++k) batch.step(1e-4);
  for (int k = 0; k < N; ++k) {
    EXPECT_EQ(batch.status()[k], k == driven ? RobotStatus::loop_open : RobotStatus::ok) << k;
  }
  std::vector<double> saved(batch.saved_size());
  batch.save(driven, saved);
  batch.restore(0, saved);
  batch.step(1e-4);
  EXPECT_EQ(batch.status()[0], RobotStatus::loop_open);
}

TEST(ContactDeadPointTest, MarginsThatFallByHalfAreAboutToPassZero) {
  EXPECT_GE(contact::margin_ahead(0.0, 0.3), 0.0) << "nothing is known of the step before";
  EXPECT_GE(contact::margin_ahead(0.4, 0.3), 0.0);
  EXPECT_LT(contact::margin_ahead(0.4, 0.1), 0.0);
}

}  // namespace
}  // namespace espalier::test::dead_point_test
