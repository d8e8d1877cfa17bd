#include "tests/cli/run.hpp"

/// 'close', 'assemble', and warnings near dead points.

namespace espalier::test::close_test {
namespace {

const std::string six_bar = "'" ESPALIER_SOURCE_DIR "/tests/reference/robots/six_bar.urdf'";
const std::string parallelogram = data("parallelogram.urdf");

TEST(CloseTest, DependentJointsFollow) {
  const Answer a = run("close " + parallelogram + " --set joint1=1.2 --from - --json",
                       R"({"q": {"joint1": 0.8, "joint2": -0.8, "joint3": 0.8}})");
  ASSERT_EQ(a.code, 0) << a.out << a.err;
  const Json out = a.json();
  EXPECT_EQ(out["verdict"], "closed");
  // Opposite bars stay parallel; loops are closed to 1e-12.
  EXPECT_NEAR(out["q"]["joint1"].get<double>(), 1.2, 1e-15);
  EXPECT_NEAR(out["q"]["joint2"].get<double>(), -1.2, 1e-10);
  EXPECT_NEAR(out["q"]["joint3"].get<double>(), 1.2, 1e-10);
  EXPECT_EQ(out["reached"], 1.0);
}

TEST(CloseTest, OutputIsAStateThatReadsBack) {
  const TemporaryFile pose(".json");
  const Answer a = run("close " + six_bar + " --set crank=0.3 -o '" + pose.path() + "'");
  ASSERT_EQ(a.code, 0) << a.out << a.err;
  for (const char* word : {"closed", "independent", "written", "residual"}) {
    EXPECT_NE(a.out.find(word), std::string::npos) << a.out;
  }
  const Answer simulated = run("simulate " + six_bar + " --duration 0.01 --dt 0.001 --json " +
                               "--state '" + pose.path() + "'");
  EXPECT_EQ(simulated.code, 0) << simulated.err;
  const Answer again = run("close " + six_bar + " --from '" + pose.path() + "' --json");
  EXPECT_EQ(again.json()["q"]["crank"], Json::parse(contents(pose.path()))["q"]["crank"]);
}

TEST(CloseTest, DeadPointsInTheWayAreAVerdict) {
  // Through the flat pose.
  const Answer a = run("close " + parallelogram + " --set joint1=-1 --from - --json",
                       R"({"q": {"joint1": 0.8, "joint2": -0.8, "joint3": 0.8}})");
  EXPECT_EQ(a.code, 1);
  EXPECT_NE(a.json()["verdict"], "closed");
  EXPECT_LT(a.json()["reached"].get<double>(), 1.0);
}

TEST(CloseTest, ADependentJointThatIsSetBecomesIndependent) {
  const Answer a = run("close " + parallelogram + " --set joint3=1.1 --from - --json",
                       R"({"q": {"joint1": 0.8, "joint2": -0.8, "joint3": 0.8}})");
  ASSERT_EQ(a.code, 0) << a.out << a.err;
  EXPECT_NEAR(a.json()["q"]["joint1"].get<double>(), 1.1, 1e-10);
  EXPECT_EQ(a.json()["q"]["joint3"], 1.1);
}

TEST(CloseTest, AStateOfDependentPositionsAloneIsToldWhichJointIsIndependent) {
  expect_refused("eval " + parallelogram + " --state - --algorithm c-aba", 1,
                 {"loops that are closed", "'joint3' is dependent, 'joint1' is independent"},
                 R"({"q": {"joint3": 0.5}})");
}

TEST(CloseTest, WrongUsageIsRefused) {
  expect_refused("close " + parallelogram + " --set joint1=1 --set joint3=1 --from -", 2,
                 {"expected fewer"}, R"({"q": {"joint1": 0.8, "joint2": -0.8, "joint3": 0.8}})");
  expect_refused("close " + six_bar + " --set crank", 2, {"--set", "JOINT=NUMBER"});
  expect_refused("close " + six_bar + " --set crank=x", 2, {"--set", "JOINT=NUMBER"});
  expect_refused("close " + six_bar + " --set crnak=1", 2, {"crnak", "did you mean 'crank'"});
  expect_refused("close " + six_bar + " --set crank=1,2", 2, {"crank", "size"});
  expect_refused("close " + six_bar + " --from -", 1, {"residual", "assemble"},
                 R"({"q": {"crank": 9}})");
}

TEST(AssembleTest, ClosesFromAnyGuess) {
  const Answer a = run("assemble " + parallelogram + " --state - --json",
                       R"({"q": {"joint1": 0.9, "joint2": -0.7, "joint3": 0.8}})");
  ASSERT_EQ(a.code, 0) << a.out << a.err;
  EXPECT_EQ(a.json()["verdict"], "closed");
  EXPECT_LT(a.json()["residual"].get<double>(), 1e-11);
  EXPECT_NEAR(a.json()["q"]["joint1"].get<double>(), 0.85, 0.2) << "as little as it can";
}

TEST(AssembleTest, TreesAreClosedAlready) {
  const Answer a = run("assemble " + data("pendulum.urdf") + " --json");
  EXPECT_EQ(a.code, 0);
  EXPECT_EQ(a.json()["residual"], 0.0);
}

TEST(DeadPointWarningTest, AStartNearADeadPointIsTold) {
  // The parallelogram a little beside its flat pose: 1e-4 rad.
  const Answer a =
      run("simulate " + parallelogram + " --duration 0.001 --dt 0.001 --json --state -",
          R"({"q": {"joint1": 1e-4, "joint2": -1e-4, "joint3": 1e-4}})");
  ASSERT_EQ(a.code, 0) << a.err;
  ASSERT_TRUE(a.json().contains("warnings")) << a.out;
  std::string all = a.json()["warnings"].dump();
  EXPECT_NE(all.find("at the start its independent joints are near a dead point"),
            std::string::npos)
      << all;
  EXPECT_NE(all.find("itself is nearly singular"), std::string::npos) << all;
  const Answer far =
      run("simulate " + parallelogram + " --duration 0.001 --dt 0.001 --json --state -",
          R"({"q": {"joint1": 0.8, "joint2": -0.8, "joint3": 0.8}})");
  EXPECT_EQ(far.json().value("warnings", Json::array()).dump().find("at the start"),
            std::string::npos);
}

}  // namespace
}  // namespace espalier::test::close_test
