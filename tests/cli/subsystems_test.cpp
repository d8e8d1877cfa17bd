#include <cmath>

#include "tests/cli/run.hpp"

/// Bremer's subsystems on the command line.

namespace espalier::test::subsystems_test {
namespace {

const std::string robots = ESPALIER_SOURCE_DIR "/robots/";
const std::string ur5 = robots + "ur5.urdf", tello = robots + "tello.yaml";

Json eval(const std::string& arguments, const std::string& state) {
  const Answer a = run("eval " + arguments + " --json --state -", state);
  EXPECT_EQ(a.code, 0) << a.err;
  return a.code == 0 ? a.json() : Json();
}

const std::string arm = R"("groups": {"arm": ["shoulder_lift", "elbow"]})";

TEST(SubsystemCliTest, EvalPrintsTheMatricesOfEverySubsystem) {
  const Json answer = eval(ur5 + " --algorithm bremer", "{" + arm + "}");
  const Json& all = answer["subsystems"];
  ASSERT_EQ(all.size(), 5u) << all.dump(1);
  EXPECT_FALSE(answer.contains("M of arm"));
  const Json& one = all["arm"];
  EXPECT_EQ(one["parent"], "shoulder_pan");
  EXPECT_EQ(one["outputs"], Json({"shoulder"}));
  EXPECT_EQ(one["rates"], Json({"shoulder_lift", "elbow"}));
  EXPECT_EQ(one["inputs"], one["rates"]);
  EXPECT_EQ(one["y"].size(), 8u);
  EXPECT_EQ(one["M"].size(), 8u);
  EXPECT_EQ(one["M"][7].size(), 8u);
  EXPECT_EQ(one["T"].size(), 8u);
  EXPECT_EQ(one["T"][0].size(), 7u);
  EXPECT_EQ(one["F"][6], Json({1.0, 0.0}));
  EXPECT_EQ(one["c"].size(), 8u);
  EXPECT_EQ(all["shoulder_pan"]["parent"], "ground");
}

TEST(SubsystemCliTest, TextNamesSubsystemsAndTheirMatrices) {
  const Answer a = run("eval " + ur5 + " --algorithm bremer --state -", "{" + arm + "}");
  ASSERT_EQ(a.code, 0) << a.err;
  for (const char* words :
       {"subsystem", "shoulder_lift, elbow", "\nM of arm\n", "\nh of arm: ", "\nT of wrist_1\n"}) {
    EXPECT_NE(a.out.find(words), std::string::npos) << words << "\n" << a.out;
  }
}

TEST(SubsystemCliTest, GroupsDoNotChangeAccelerations) {
  const std::string state = R"("v": {"elbow": 0.7, "wrist_1": -1}, )";
  const Json wanted = eval(ur5 + " --algorithm aba", "{" + state + R"("q": {}})")["vdot"];
  for (const char* algorithm : {"bremer-on", "minimal-form"}) {
    const Json got = eval(ur5 + " --algorithm " + algorithm, "{" + state + arm + "}")["vdot"];
    ASSERT_EQ(got.size(), wanted.size());
    for (const auto& [joint, x] : wanted.items()) {
      // Accelerations of light wrists are near 100; rounding.
      EXPECT_NEAR(got[joint].get<double>(), x.get<double>(), 1e-9) << joint;
    }
  }
}

TEST(SubsystemCliTest, CountIsThatOfTheGroups) {
  const std::string command = "count " + ur5 + " --algorithm bremer-on --json --state -";
  const Answer single = run(command, "{}"), grouped = run(command, "{" + arm + "}");
  ASSERT_EQ(single.code, 0) << single.err;
  ASSERT_EQ(grouped.code, 0) << grouped.err;
  EXPECT_NE(single.out, grouped.out);
}

TEST(SubsystemCliTest, ComposedRobotsAreGroupedByName) {
  const Answer a = run("eval " + tello +
                       " --root floating --algorithm bremer --group-by-name --json --random 1");
  ASSERT_EQ(a.code, 0) << a.err;
  const Json answer = a.json();
  std::vector<std::string> names;
  for (const auto& [name, subsystem] : answer["subsystems"].items()) names.push_back(name);
  EXPECT_EQ(names, (std::vector<std::string>{"root", "left", "right"}));
  // The state that is printed holds the groups.
  EXPECT_EQ(answer["state"]["groups"].size(), 2u);
  const Json again = eval(tello + " --root floating --algorithm bremer", answer["state"].dump());
  EXPECT_EQ(again["subsystems"], answer["subsystems"]);
}

TEST(SubsystemCliTest, WrongGroupsAreRefused) {
  const std::string command = "eval " + ur5 + " --algorithm bremer-on --state -";
  expect_refused(command, 2, {"'groups'", "expected an object"}, R"({"groups": []})");
  expect_refused(command, 2, {"group 'arm'", "a list of joints"}, R"({"groups": {"arm": 1}})");
  expect_refused(command, 2, {"a joint of group 'arm'", "a name"}, R"({"groups": {"arm": [1]}})");
  expect_refused(command, 2, {"subsystem 'arm'", "did you mean 'elbow'?"},
                 R"({"groups": {"arm": ["elbwo"]}})");
  expect_refused(command, 1, {"subsystem 'arm'", "do not hang together"},
                 R"({"groups": {"arm": ["elbow", "wrist_2"]}})");
}

}  // namespace
}  // namespace espalier::test::subsystems_test
