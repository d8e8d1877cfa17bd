#include <gtest/gtest.h>

#include "formats/mjcf/mjcf.hpp"
#include "formats/sdf/sdf.hpp"
#include "tests/formats/support.hpp"
#include "tests/support/simple_robot.hpp"

// Formats that resolve names while they write refuse robots that name what they have not.

namespace espalier::test {
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

}  // namespace
}  // namespace espalier::test
