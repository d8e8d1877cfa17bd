#include <algorithm>
#include <optional>

#include "formats/mjcf/mjcf.hpp"
#include "tests/mjcf/mujoco.hpp"
#include "tests/support/temporary_folder.hpp"

// Forces that MuJoCo clamps a motor's control to are the bounds of its input.

namespace espalier::test::mujoco_actuator_test {
namespace {

std::string pendulum(const std::string& compiler, const std::string& motors) {
  return "<mujoco><compiler " + compiler + "/><worldbody><body><joint name='h'/>" +
         "<geom size='0.1'/></body></worldbody><actuator>" + motors + "</actuator></mujoco>";
}

std::string motor(const std::string& attributes) {
  return "<motor joint='h' gear='5' " + attributes + "/>";
}

/// Expects the bounds that MuJoCo's forces show.
void expect_bounds(const std::string& compiler, const std::vector<std::string>& motors) {
  std::string all;
  for (const std::string& m : motors) all += motor(m);
  const std::string text = pendulum(compiler, all);
  const Description robot = MjcfFormat().read(text, "robot.xml");
  ASSERT_EQ(robot.actuators.size(), motors.size());

  const TemporaryFolder folder;
  Mujoco mujoco(folder.write("robot.xml", text));
  constexpr double huge = 1e6;
  const auto force = [&](std::size_t i, double control) {
    for (int k = 0; k < mujoco.model().nu; ++k) mujoco.data().ctrl[k] = control;
    mj_forward(&mujoco.model(), &mujoco.data());
    return mujoco.data().actuator_force[i];
  };
  for (std::size_t i = 0; i < motors.size(); ++i) {
    EXPECT_EQ(robot.actuators[i].lower.value_or(-huge), force(i, -huge)) << motors[i];
    EXPECT_EQ(robot.actuators[i].upper.value_or(huge), force(i, huge)) << motors[i];
    EXPECT_EQ(robot.actuators[i].gear.at("h"), std::vector<double>{5.0});
  }
}

TEST(MujocoActuatorTest, BoundsAreThoseOfControlAndForceWhereTheyHold) {
  expect_bounds("autolimits='true'",
                {"", "ctrlrange='-1 2'", "forcerange='-3 4'", "ctrlrange='-1 2' forcerange='-3 4'",
                 "ctrlrange='-5 2' forcerange='-3 4'", "ctrlrange='5 6' forcerange='-3 4'",
                 "ctrlrange='-1 2' ctrllimited='false'",
                 "ctrlrange='-1 2' ctrllimited='true' forcerange='-3 1' forcelimited='false'",
                 "ctrlrange='-1 2' ctrllimited='false' forcerange='-3 1' forcelimited='auto'"});
  expect_bounds("autolimits='false'",
                {"", "ctrlrange='-1 2' ctrllimited='true'", "ctrlrange='-1 2' ctrllimited='false'",
                 "forcerange='-1 2' forcelimited='true' ctrlrange='-3 1' ctrllimited='true'"});
}

TEST(MujocoActuatorTest, BoundsThatLeaveNoRoomAreRefusedByBoth) {
  const TemporaryFolder folder;
  for (const std::string attributes :
       {"ctrllimited='true'", "ctrlrange='1 -1' ctrllimited='true'", "forcelimited='true'"}) {
    const std::string text = pendulum("autolimits='true'", motor(attributes));
    EXPECT_THROW(MjcfFormat().read(text, "robot.xml"), Error) << attributes;
    EXPECT_THROW(Mujoco(folder.write("robot.xml", text)), std::runtime_error) << attributes;
  }
}

TEST(MujocoActuatorTest, BoundsThatMujocoRefusesAreNotWrittenAsItsOwn) {
  Description robot = MjcfFormat().read(pendulum("", motor("name='m'")), "robot.xml");
  robot.actuators[0].lower = robot.actuators[0].upper = 1.0;  // always pushes
  const std::string text = MjcfFormat().write(robot);
  const TemporaryFolder folder;
  EXPECT_EQ(Mujoco(folder.write("robot.xml", text)).model().nu, 1);
  EXPECT_EQ(MjcfFormat().read(text, "robot.xml").actuators[0].lower, 1.0);
  const std::vector<std::string> lost = MjcfFormat().losses(robot);
  EXPECT_TRUE(std::any_of(lost.begin(), lost.end(), [](const std::string& l) {
    return l.find("actuator 'm': bounds") != std::string::npos;
  }));
}

}  // namespace
}  // namespace espalier::test::mujoco_actuator_test
