#include "espalier/kernel/model/state.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/host.hpp"
#include "tests/support/simple_robot.hpp"

// A state speaks of joints by name and hands its vectors to algorithms.

namespace espalier::test {
namespace {

/// base - link1 (spherical) - link2 (revolute) - link3 (prismatic) - link4 (follows joint3).
ModelPtr robot() {
  Description d = chain_of(std::vector<std::string>{"spherical", "revolute", "prismatic", "prismatic"});
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

}  // namespace
}  // namespace espalier::test
