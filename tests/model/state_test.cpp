#include "espalier/kernel/model/state.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "tests/support/four_bar.hpp"
#include "tests/support/host.hpp"
#include "tests/support/simple_robot.hpp"

// A state speaks of joints by name and hands its vectors to algorithms.

namespace espalier::test::state_test {
namespace {

/// base - link1 (spherical) - link2 (revolute) - link3 (prismatic) - link4 (follows joint3).
ModelPtr robot() {
  Description d =
      chain_of(std::vector<std::string>{"spherical", "revolute", "prismatic", "prismatic"});
  d.joints[3].mimic = Mimic{"joint3", 2.0, 0.5};
  return host().compile(d);
}

TEST(StateTest, NewStateIsNeutralAndAtRest) {
  const espalier::State state(robot());
  const auto q = state.position("joint1");
  EXPECT_EQ(std::vector<double>(q.begin(), q.end()), (std::vector<double>{0, 0, 0, 1}));
  EXPECT_EQ(state.position("joint2")[0], 0.0);
  EXPECT_EQ(state.position("joint4")[0], 0.5);  // 2 * 0 + 0.5
  EXPECT_EQ(state.v(), std::vector<double>(5, 0.0));
}

TEST(StateTest, ValuesByNameStandWhereTheModelPutsThem) {
  espalier::State state(robot());
  state.set_position("joint2", 0.3);
  state.set_rate("joint2", -0.7);
  state.set_rate("joint1", std::vector<double>{1, 2, 3});
  const Joint& joint = state.model().joint("joint2");
  EXPECT_EQ(state.q()[joint.q], 0.3);
  EXPECT_EQ(state.v()[joint.independent], -0.7);
  EXPECT_EQ(state.rate("joint1")[2], 3.0);
}

TEST(StateTest, JointsThatFollowAreMovedAlong) {
  espalier::State state(robot());
  state.set_position("joint3", 0.1);
  EXPECT_DOUBLE_EQ(state.position("joint4")[0], 0.7);  // 2 * 0.1 + 0.5
}

TEST(StateTest, QuaternionsAreNormalised) {
  espalier::State state(robot());
  state.set_position("joint1", std::vector<double>{0, 0, 3, 4});
  EXPECT_DOUBLE_EQ(state.position("joint1")[2], 0.6);
  EXPECT_DOUBLE_EQ(state.position("joint1")[3], 0.8);
}

TEST(StateTest, AQuaternionWithoutDirectionIsRefused) {
  espalier::State state(robot());
  const std::vector<double> before = state.q();
  EXPECT_THROW(state.set_position("joint1", std::vector<double>{0, 0, 0, 0}), InvalidModel);
  EXPECT_THROW(state.set_raw("joint1", std::vector<double>{0, 0, 0, 0}), InvalidModel);
  EXPECT_EQ(state.q(), before);
}

TEST(StateTest, WrongNamesSizesAndDependentJointsAreRefusedByName) {
  espalier::State state(robot());
  const std::vector<double> before = state.q();
  EXPECT_THROW(state.set_position("elbow", 1.0), UnknownName);
  EXPECT_THROW(state.set_position("joint1", 1.0), SizeMismatch);
  EXPECT_THROW(state.set_rate("joint2", std::vector<double>{1, 2}), SizeMismatch);
  EXPECT_THROW(static_cast<void>(state.rate("joint4")), Unsupported);
  try {
    state.set_position("joint4", 1.0);
    FAIL() << "a joint that follows another was moved";
  } catch (const Unsupported& error) {
    EXPECT_NE(std::string(error.what()).find("joint4"), std::string::npos) << error.what();
  }
  EXPECT_EQ(state.q(), before);
}

TEST(StateTest, VectorsOfAnotherSizeAreRefused) {
  espalier::State state(robot());
  state.q().pop_back();
  EXPECT_THROW(static_cast<void>(state.position("joint1")), SizeMismatch);
  EXPECT_THROW(static_cast<void>(state.is_closed()), SizeMismatch);
  EXPECT_THROW(state.expect_closed("test"), SizeMismatch);
  EXPECT_THROW(state.close(), SizeMismatch);
  EXPECT_THROW(state.set_raw("joint2", 0.1), SizeMismatch);
  EXPECT_THROW(state["joint2"] = 0.1, SizeMismatch);
  state = espalier::State(robot());
  state.v().clear();
  EXPECT_THROW(static_cast<void>(state.rate("joint2")), SizeMismatch);
  EXPECT_THROW(state.set_rate("joint2", 1.0), SizeMismatch);
}

// --- loops
// ------------------------------------------------------------------------------------------

ModelPtr tello() { return host().load(ESPALIER_SOURCE_DIR "/robots/tello.yaml"); }

/// A joint of the loops of Tello that follows others, and an independent one of the same cluster.
std::pair<std::string, std::string> follower_and_leader(const Model& model) {
  for (const Cluster& c : model.clusters()) {
    if (c.constraint == nullptr) continue;
    std::string follower;
    for (int row = 0; row < c.rows(); ++row) {
      const Joint& joint = model.joint_of_rate(c.rate(row));
      if (joint.independent < 0) follower = joint.name;
    }
    return {follower, model.joint_of_rate(model.independent_rates()[c.v]).name};
  }
  return {};
}
template <class E, class F>
std::string message_of(F&& f) {
  try {
    f();
  } catch (const E& error) {
    return error.what();
  }
  return "nothing was thrown";
}

TEST(StateLoopTest, NewStatesAreClosed) {
  const espalier::State state(tello());
  EXPECT_TRUE(state.is_closed());
  EXPECT_NO_THROW(state.expect_closed("test"));
}

TEST(StateLoopTest, JointsThatFollowInLoopsAreRefusedUnlessRaw) {
  espalier::State state(tello());
  const std::string follower = follower_and_leader(state.model()).first;
  const std::string text = message_of<Unsupported>([&] { state.set_position(follower, 0.4); });
  EXPECT_NE(text.find("'" + follower + "'"), std::string::npos) << text;
  EXPECT_NE(text.find("whose position is wanted, is dependent"), std::string::npos) << text;
  EXPECT_NE(text.find("set_raw()"), std::string::npos) << text;
  EXPECT_TRUE(state.is_closed());
  state.set_raw(follower, 0.4);
  EXPECT_FALSE(state.is_closed());
}

TEST(StateLoopTest, IndependentJointsOpenTheLoopUntilItIsClosed) {
  espalier::State state(tello());
  const auto [follower, leader] = follower_and_leader(state.model());
  const double before = state.position(follower)[0];
  state.set_position(leader, state.position(leader)[0] + 0.2);
  EXPECT_FALSE(state.is_closed());
  const Closure closure = state.close();
  EXPECT_EQ(closure.verdict, Closure::Verdict::closed) << closure.text();
  EXPECT_TRUE(state.is_closed());
  EXPECT_GT(std::abs(state.position(follower)[0] - before), 0.01);
}

TEST(StateLoopTest, NumbersWrittenIntoItsVectorAreLookedAt) {
  espalier::State state(tello());
  std::vector<double>& q = state.q();
  const int at = state.model().joint(follower_and_leader(state.model()).first).q;
  const double closed = q[at];
  q[at] += 0.1;
  EXPECT_FALSE(state.is_closed());
  q[at] = closed;
  EXPECT_TRUE(state.is_closed());
  q[at] = std::nan("");
  const std::string text = message_of<SingularMechanism>([&] { state.expect_closed("test"); });
  EXPECT_NE(text.find("nan"), std::string::npos) << text;
}

TEST(StateLoopTest, AlgorithmsRefuseOpenStatesAndVectorsOnRequest) {
  const ModelPtr model = tello();
  espalier::State state(model);
  const auto dynamics = host().create<ForwardDynamics<double>>("c-aba", model);
  const auto inertia = any<MassMatrix<double>>(model);
  std::vector<double> tau(model->nv(), 0.0), vdot(model->nv()), again(model->nv());
  std::vector<double> M(model->nv() * model->nv());
  dynamics->evaluate(state, tau, vdot);
  dynamics->evaluate(state.q(), state.v(), tau, again);
  EXPECT_EQ(vdot, again);
  dynamics->evaluate(check_first, state.q(), state.v(), tau, again);
  EXPECT_EQ(vdot, again);
  inertia->evaluate(state, M);

  state.set_raw(follower_and_leader(*model).first, 0.4);
  const std::string text =
      message_of<SingularMechanism>([&] { dynamics->evaluate(state, tau, vdot); });
  for (const char* word : {"forward-dynamics", "residual", "cluster", "close()"}) {
    EXPECT_NE(text.find(word), std::string::npos) << text;
  }
  EXPECT_THROW(dynamics->evaluate(check_first, state.q(), state.v(), tau, vdot), SingularMechanism);
  EXPECT_THROW(inertia->evaluate(state, M), SingularMechanism);
}

TEST(StateTest, StateOfAnotherRobotIsTakenWhereItsJointsAreTheSame) {
  const ModelPtr model = robot(), twin = robot();
  const auto dynamics = host().create<ForwardDynamics<double>>("c-aba", model);
  std::vector<double> tau(5, 0.3), vdot(5), again(5);
  dynamics->evaluate(espalier::State(model), tau, vdot);
  dynamics->evaluate(espalier::State(twin), tau, again);
  EXPECT_EQ(vdot, again);
  // As many numbers, of other joints.
  Description other =
      chain_of(std::vector<std::string>{"revolute", "spherical", "prismatic", "prismatic"});
  other.joints[3].mimic = Mimic{"joint3", 2.0, 0.5};
  const espalier::State state(host().compile(other));
  const std::string text = message_of<Unsupported>([&] { dynamics->evaluate(state, tau, vdot); });
  for (const char* word : {"forward-dynamics", "state is of the robot", "'joint1'"}) {
    EXPECT_NE(text.find(word), std::string::npos) << text;
  }
}

TEST(StateTest, WithoutAModelThereIsNone) {
  EXPECT_NE(message_of<InvalidModel>([] { espalier::State state(nullptr); }).find("model is null"),
            std::string::npos);
}

TEST(StateLoopTest, CouplingsThatAreMissedAreOpenToo) {
  espalier::State state(robot());
  state.q()[state.model().joint("joint4").q] += 1e-3;
  EXPECT_FALSE(state.is_closed());
  state.close();
  EXPECT_TRUE(state.is_closed());
}

TEST(StateLoopTest, LengthsOfQuaternionsDoNotMatterToAnswers) {
  const ModelPtr model = robot();
  std::vector<double> q(model->nq()), longer, v(model->nv(), 0.3), zero(model->nv(), 0.0);
  model->random(1, q.data());
  longer = q;
  for (int k = 0; k < 4; ++k) longer[model->joint("joint1").q + k] *= 1.5;
  for (const auto& [name, algorithm] : every<ForwardDynamics<double>>(model)) {
    std::vector<double> a(model->nv()), b(model->nv());
    algorithm->evaluate(q, v, zero, a);
    algorithm->evaluate(longer, v, zero, b);
    // Products of 1.5 are rounded once more; M's condition is some hundred.
    for (int i = 0; i < model->nv(); ++i) EXPECT_NEAR(a[i], b[i], 1e-11) << name;
  }
}

TEST(StateTest, ReadsLikeNumbers) {
  espalier::State state(
      host().compile(chain_of(std::vector<std::string>{"revolute", "prismatic"})));
  state["joint1"] = 0.4;
  const double angle = state["joint1"];
  EXPECT_EQ(angle, 0.4);
  state["joint2"] = state["joint1"];
  EXPECT_EQ(state["joint2"] + 0.1, 0.5);
}

// A cylindrical joint in a planar loop: it slides freely, and its turn follows.
TEST(StateLoopTest, PartsOfAJointHaveNamesOfTheirOwn) {
  Description robot = four_bar();
  robot.joints[2].type = "cylindrical";  // the rocker
  robot.joints[2].independent.reset();
  robot.loops[0].type = "cylindrical";
  const ModelPtr model = host().compile(robot);
  std::string part;
  for (const Coordinate& c : model->coordinates()) {
    if (c.name != c.joint) part = c.name;
  }
  ASSERT_EQ(part, "rocker[1]");
  espalier::State state(model);
  state.set_rate(part, 0.25);
  EXPECT_EQ(state.rate(part)[0], 0.25);
  state.set_position(part, 0.125);
  EXPECT_EQ(state.position("rocker")[1], 0.125);
  const double slide = state[part];
  EXPECT_EQ(slide, 0.125);
  EXPECT_EQ(state.close().verdict, Closure::Verdict::closed);
  EXPECT_NEAR(state.position("rocker")[1], 0.125, 1e-12);
  espalier::Named tau(model);
  tau[part] = 3.0;
  EXPECT_EQ(tau[part], 3.0);
  EXPECT_EQ(tau.of(part)[0], 3.0);
  EXPECT_THROW(state.set_rate("rocker[0]", 1.0), UnknownName);
  EXPECT_THROW(state.set_rate(part, std::vector<double>{1.0, 2.0}), SizeMismatch);
}

// Rates of a planar joint are in the body's axes, its positions in those of what carries it.
TEST(StateLoopTest, PartsWithoutAPositionOfTheirOwnAreRefused) {
  Description robot = four_bar();
  robot.joints[2].type = "planar";
  robot.joints[2].independent.reset();
  const ModelPtr model = host().compile(robot);
  std::map<int, std::string> parts;  // by the rate
  for (const Coordinate& c : model->coordinates()) {
    if (c.name != c.joint) parts[c.component] = c.name;
  }
  ASSERT_FALSE(parts.empty());
  espalier::State state(model);
  for (const auto& [rate, name] : parts) {
    state.set_rate(name, 0.5);
    if (rate == 0) {  // the turn, which is the last of x, y, theta
      state.set_position(name, 0.25);
      EXPECT_EQ(state.position("rocker")[2], 0.25);
    } else {
      EXPECT_THROW(state.set_position(name, 0.25), Unsupported) << name;
    }
  }
}

}  // namespace
}  // namespace espalier::test::state_test
