#include <gtest/gtest.h>

#include "formats/mjcf/mjcf.hpp"
#include "formats/sdf/sdf.hpp"
#include "tests/formats/support.hpp"
#include "tests/support/simple_robot.hpp"

// Formats that resolve names while they write refuse robots that name what they have not, and names
// that are given twice.

namespace espalier::test::known_names_test {
namespace {

std::string refusal(const Format& format, const Description& robot, bool losses) {
  try {
    losses ? static_cast<void>(format.losses(robot)) : static_cast<void>(format.write(robot));
  } catch (const InvalidModel& error) {
    return error.what();
  }
  return "written";
}

void expect_refused(const Description& robot, const std::vector<std::string>& words) {
  const MjcfFormat mjcf;
  const SdfFormat sdf;
  for (const Format* format :
       {static_cast<const Format*>(&mjcf), static_cast<const Format*>(&sdf)}) {
    for (const bool losses : {false, true}) {
      const std::string text = refusal(*format, robot, losses);
      for (const std::string& word : words) EXPECT_NE(text.find(word), std::string::npos) << text;
    }
  }
}

Description arm() { return chain_of(std::vector<std::string>{"revolute", "revolute"}); }

TEST(KnownNamesTest, LinksThatAJointOrLoopNames) {
  Description robot = arm();
  robot.joints.back().child = "nobody";
  expect_refused(robot, {"joint 'joint2' (robot.test:201)", "link 'nobody'", "expected"});
  robot = arm();
  LoopDescription loop;
  loop.name = "closing", loop.type = "revolute", loop.predecessor = "link2", loop.successor = "?";
  robot.loops.push_back(loop);
  expect_refused(robot, {"loop 'closing': link '?' is unknown", "expected"});
}

TEST(KnownNamesTest, JointsThatAMimicOrLawNames) {
  Description robot = arm();
  robot.joints.back().mimic = Mimic{"nobody", 1.0, 0.0};
  expect_refused(robot, {"joint 'joint2'", "joint 'nobody' is unknown"});
  robot = arm();
  LawDescription law;
  law.name = "tie", law.type = "linear", law.joints = {"joint1", "nobody"};
  robot.laws.push_back(law);
  expect_refused(robot, {"law 'tie'", "joint 'nobody' is unknown"});
}

TEST(KnownNamesTest, JointsThatAStateOrActuatorNamesAndLinksOfPairs) {
  Description robot = arm();
  robot.states.push_back({"home", {{"nobody", {0.0}}}, {}, {}});
  expect_refused(robot, {"state 'home'", "joint 'nobody' is unknown", "expected"});
  robot = arm();
  robot.actuators.push_back({"motor", {{"nobody", {1.0}}}, {}, {}, {}});
  expect_refused(robot, {"actuator 'motor'", "joint 'nobody' is unknown", "expected"});
  robot = arm();
  robot.excluded_contacts.push_back({"link1", "nobody", {}});
  expect_refused(robot, {"excluded contact", "link 'nobody' is unknown", "expected"});
  robot = arm();
  robot.contact_pairs.push_back({"link1", "nobody", {}});
  expect_refused(robot, {"contact pair", "collision shape 'link1' is unknown", "expected"});
}

TEST(KnownNamesTest, TheGroundsNameIsTheRoots) {
  Description robot = arm();
  robot.links.back().name = robot.joints.back().child = "world";
  expect_refused(robot, {"link 'world'", "joint 'joint2'", "rename it"});
}

TEST(KnownNamesTest, TheFloatingRootIsKnownToStatesAndActuatorsOnly) {
  Description robot = arm();
  robot.floating = true;
  using Positions = std::map<std::string, std::vector<double>>;
  const Positions up{{"root", {0, 0, 0.4, 0, 0, 0, 1}}, {"joint1", {0.3}}};
  robot.states.push_back({"up", up, {}, {}});
  robot.actuators.push_back({"thruster", {{"root", {0, 0, 0, 0, 0, 1}}}, {}, {}, {}});
  robot.actuators.push_back({"both", {{"root", {0, 0, 0, 0, 0, 1}}, {"joint1", {1}}}, {}, {}, {}});
  EXPECT_EQ(refusal(SdfFormat(), robot, false), "written");
  EXPECT_EQ(refusal(MjcfFormat(), robot, false), "written");
  // In MJCF it hangs on a free joint, which no tendon takes, and whose motors push along the
  // world's axes: Espalier alone reads such inputs.
  std::string lost;
  for (const std::string& loss : MjcfFormat().losses(robot)) lost += loss + "\n";
  expect_in(lost, {"actuator 'thruster': pushes a free joint along axes that turn with it",
                   "actuator 'both': drives a free joint beside others"});
  const Description back = MjcfFormat().read(MjcfFormat().write(robot), "written");
  ASSERT_EQ(back.actuators.size(), 2u);
  for (const ActuatorDescription& actuator : back.actuators) {
    EXPECT_EQ(actuator.gear.contains("joint1"), actuator.name == "both");
    EXPECT_EQ(actuator.gear.at("root"), (std::vector<double>{0, 0, 0, 0, 0, 1}));
  }
  ASSERT_EQ(back.states.size(), 1u);
  EXPECT_EQ(back.states[0].positions, up);
  robot.joints.back().mimic = Mimic{"root", 1.0, 0.0};
  expect_refused(robot, {"joint 'joint2'", "joint 'root' is unknown"});
}

TEST(KnownNamesTest, NamesThatAreGivenTwice) {
  Description robot = arm();
  robot.links.push_back(robot.links.back());
  expect_refused(robot, {"link 'link2'", "name is given twice", "expected unique names"});
  robot = arm();
  robot.joints.push_back(robot.joints.back());
  expect_refused(robot, {"joint 'joint2' (robot.test:201)", "name is given twice"});
  robot = arm();
  LawDescription law;
  law.name = "tie", law.type = "linear", law.joints = {"joint1", "joint2"};
  robot.laws = {law, law};
  expect_refused(robot, {"constraint 'tie'", "name is given twice"});
}

}  // namespace
}  // namespace espalier::test::known_names_test
