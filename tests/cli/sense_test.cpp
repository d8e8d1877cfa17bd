#include <cmath>
#include <cstdio>

#include "tests/cli/run.hpp"

/// `espalier sense` on a pendulum whose answers are known by hand: 0.6 kg m²
/// about y, 2 kg half a metre below the joint, its tip a metre below (see
/// data/pendulum.urdf).

namespace espalier::test::sense_test {
namespace {

constexpr double exact = 1e-12;  // a few dozen roundings of numbers near ten
const std::string sense = "sense " + data("pendulum.urdf") + " --sensors - ";

std::string sensors(const std::string& list) { return R"({"sensors": [)" + list + "]}"; }

TEST(SenseTest, AccelerationGivesTorqueAndForceInTheJoint) {
  const Answer a = run(sense + "--json", sensors(R"({"kind": "acceleration", "joint": "swing",
    "value": 2})"));
  ASSERT_EQ(a.code, 0) << a.err;
  const Json out = a.json();
  EXPECT_EQ(out["verdict"]["kind"], "well-posed");
  EXPECT_EQ(out["algorithm"], "sparse-lu");
  EXPECT_NEAR(out["joint_torque"]["swing"].get<double>(), 0.6 * 2, exact);
  // Hanging at rest, it weighs 2 * 9.81 N; turning about y with 2 rad/s² takes
  // the centre of mass to -x with 1 m/s².
  const double wrench[] = {0, 0.6 * 2, 0, -2.0, 0, 2 * 9.81};  // axes of the link
  for (int i = 0; i < 6; ++i) {
    EXPECT_NEAR(out["joint_wrench"]["swing"][i].get<double>(), wrench[i], 1e-9) << i;
  }
}

TEST(SenseTest, PrintedJointWrenchesAreReadingsThatAgree) {
  // Half of these joints turn about x or y, so that their bodies' axes are not
  // their links'.
  const std::string arm = "sense '" ESPALIER_SOURCE_DIR "/robots/ur5.urdf' --json --sensors - ";
  const TemporaryFile state(".json",
                            R"({"q": {"shoulder_lift": -1.1, "elbow": 0.7,
    "wrist_1": 0.4}, "v": {"shoulder_pan": 0.8, "wrist_2": -1.3}})");
  std::string torques;
  for (const char* joint :
       {"shoulder_pan", "shoulder_lift", "elbow", "wrist_1", "wrist_2", "wrist_3"}) {
    torques += (torques.empty() ? "" : ", ") + std::string(R"({"kind": "torque", "joint": ")") +
               joint + R"(", "value": 1.5})";
  }
  const Answer first = run(arm + "--state " + state.path(), sensors(torques));
  ASSERT_EQ(first.code, 0) << first.err;
  const Json printed = first.json();
  std::string readings = torques;
  double largest = 0.0;
  for (const auto& [joint, wrench] : printed["joint_wrench"].items()) {
    readings += R"(, {"kind": "joint-wrench", "joint": ")" + joint + R"(", "value": )" +
                wrench.dump() + "}";
    for (const Json& x : wrench) largest = std::max(largest, std::abs(x.get<double>()));
  }
  EXPECT_GT(largest, 100.0);
  const Answer second = run(arm + "--state " + state.path(), sensors(readings));
  ASSERT_EQ(second.code, 0) << second.err;
  const Json read = second.json();
  // Numbers of a few hundred, printed with all their digits, through an
  // elimination of condition 1e4.
  for (const auto& [row, residual] : read["residual"].items()) {
    EXPECT_NEAR(residual.get<double>(), 0.0, 1e-8) << row;
  }
  for (const auto& [body, a] : printed["body_acceleration"].items()) {
    for (int i = 0; i < 6; ++i) {
      EXPECT_NEAR(a[i].get<double>(), read["body_acceleration"][body][i].get<double>(), 1e-8)
          << body;
    }
  }
}

TEST(SenseTest, AccelerometerOnTheTipTellsTheTorque) {
  const Answer a = run(sense + "--json", sensors(R"({"kind": "accelerometer", "link": "tip",
    "rows": ["ax"], "value": -3})"));
  ASSERT_EQ(a.code, 0) << a.err;
  EXPECT_NEAR(a.json()["vdot"]["swing"].get<double>(), 3.0, exact);
  EXPECT_NEAR(a.json()["joint_torque"]["swing"].get<double>(), 1.8, exact);
}

TEST(SenseTest, RedundantSensorsAreWeighedByTheirCovariance) {
  // 1.2 N·m of variance 1 and 2 rad/s² + 1 of variance 0.36: in torques both
  // count the same.
  const Answer a = run(sense + "--json --variances",
                       sensors(R"({"kind": "torque", "joint": "swing", "value": 1.2,
      "covariance": 0.36}, {"kind": "acceleration", "joint": "swing", "value": 3, "covariance": 1})"));
  ASSERT_EQ(a.code, 0) << a.err;
  const Json out = a.json();
  EXPECT_EQ(out["algorithm"], "map");
  EXPECT_NEAR(out["vdot"]["swing"].get<double>(), 2.5, 1e-9);
  EXPECT_NEAR(out["redundancy"].get<double>(), 1.0, exact);
  // Residuals 0.3 N·m of deviation 0.6 and 0.5 rad/s² of deviation 1.
  EXPECT_NEAR(out["chi_square"].get<double>(), 0.25 + 0.25, 1e-9);
  EXPECT_NEAR(out["variance"]["acceleration of swing"].get<double>(), 0.5, 1e-9);
}

TEST(SenseTest, CovarianceMayBeAListOfRows) {
  const auto answer = [](const std::string& covariance) {
    return run(
        sense + "--json --variances", sensors(R"({"kind": "torque", "joint": "swing", "value": 1.2},
      {"kind": "accelerometer", "link": "tip", "rows": ["ax", "az"], "value": [-3, 9.81],
       "covariance": )" + covariance + "}"));
  };
  const Answer list = answer("[2, 0.5, 0.5, 1]");
  EXPECT_EQ(list.code, 0) << list.err;
  EXPECT_EQ(answer("[[2, 0.5], [0.5, 1]]").out, list.out);
  EXPECT_NE(answer("[[2, 0.5]]").err.find("square matrix"), std::string::npos);
  EXPECT_NE(answer("[[2, 0.5], [0.5, \"x\"]]").err.find("row of covariance"), std::string::npos);
}

TEST(SenseTest, VerdictNamesWhatNobodySeesAndWhatWouldCureIt) {
  const Answer a = run(sense + "--json", sensors(R"({"kind": "contact", "link": "tip"},
    {"kind": "acceleration", "joint": "swing", "value": 1})"));
  EXPECT_EQ(a.code, 1);
  const Json out = a.json();
  EXPECT_EQ(out["verdict"]["kind"], "singular everywhere");
  EXPECT_FALSE(out["verdict"]["unseen"].empty());
  EXPECT_FALSE(out.contains("vdot"));
}

TEST(SenseTest, RandomMotionIsFoundAgain) {
  const Answer a = run("sense " + data("pendulum.urdf") + " --random 3 --json --sensors -",
                       sensors(R"({"kind": "accelerometer", "link": "tip", "rows": ["ax"]})"));
  ASSERT_EQ(a.code, 0) << a.err;
  EXPECT_LT(a.json()["difference_from_truth"].get<double>(), 1e-9);
}

TEST(SenseTest, SymbolicResultsAreSavedAndReadBack) {
  const TemporaryFile saved(".txt");
  const std::string& file = saved.path();
  const std::string list = sensors(R"({"kind": "torque", "joint": "swing", "value": 1.2})");
  const Answer a = run(sense + "--json --save " + file, list);
  ASSERT_EQ(a.code, 0) << a.err;
  const Answer b = run(sense + "--json --symbolic " + file, list);
  ASSERT_EQ(b.code, 0) << b.err;
  EXPECT_EQ(a.json()["vdot"], b.json()["vdot"]);
  // Of other sensors it is refused.
  expect_refused(sense + "--symbolic " + file, 1, {"symbolic"},
                 sensors(R"({"kind": "acceleration", "joint": "swing", "value": 1})"));
}

TEST(SenseTest, BadInputIsRefusedByName) {
  const auto refused = [](const std::string& list, int code,
                          const std::vector<std::string>& words) {
    expect_refused(sense, code, words, sensors(list));
  };
  refused(R"({"kind": "torqe", "joint": "swing"})", 2, {"torqe", "torque"});
  refused(R"({"joint": "swing"})", 2, {"kind", "sensors[0]", "accelerometer"});
  refused(R"({"kind": "torque", "joint": "swnig"})", 2, {"'swnig'", "'swing'"});
  refused(R"({"kind": "wrench", "link": "tpi"})", 2, {"'tpi'", "'tip'"});
  refused(R"({"kind": "wrench", "link": "tip", "rows": ["fw"]})", 2, {"fw"});
  refused(R"({"kind": "wrench", "link": "tip", "rows": [[1, 2]]})", 2, {"sensors[0]", "6"});
  refused(R"({"kind": "torque", "joint": "swing", "valeu": 2})", 2, {"'valeu'", "'value'"});
  refused(R"({"kind": "torque", "joint": "swing", "value": [1, 2]})", 2,
          {"sensors[0]", "2", "expected 1"});
  refused(
      R"({"kind": "torque", "joint": "swing"}, {"kind": "acceleration", "joint": "swing",
    "value": 1})",
      2, {"sensors[0]", "0", "expected 1"});
  expect_refused(sense, 2, {"sensors"}, "{}");
  expect_refused(sense, 2, {"JSON"}, "{");
  // Sensors without values tell a verdict alone, and the state has to be one nevertheless.
  expect_refused(sense + " --state /no/such/state.json", 2, {"/no/such/state.json"},
                 sensors(R"({"kind": "torque", "joint": "swing"})"));
}

}  // namespace
}  // namespace espalier::test::sense_test
