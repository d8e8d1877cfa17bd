#include "tests/cli/run.hpp"

namespace espalier::test::simulate_test {
namespace {

/// Cells of a CSV, header first.
std::vector<std::vector<std::string>> rows_of(const std::string& path) {
  std::vector<std::vector<std::string>> rows;
  std::istringstream text(contents(path));
  for (std::string line; std::getline(text, line);) {
    rows.emplace_back();
    std::istringstream cells(line);
    for (std::string cell; std::getline(cells, cell, ',');) rows.back().push_back(cell);
  }
  return rows;
}

const std::string pendulum = data("pendulum.urdf");
const std::string short_run = " --duration 0.1 --dt 0.01 --algorithm aba";

TEST(SimulateTest, WritesTimePositionsRatesEnergiesAndResidual) {
  const TemporaryFile csv(".csv");
  const Answer a = run("simulate " + pendulum + short_run + " --output '" + csv.path() + "'");
  ASSERT_EQ(a.code, 0) << a.err;
  EXPECT_EQ(a.err, "");
  const auto rows = rows_of(csv.path());
  ASSERT_EQ(rows.size(), 12u) << "a header, the start and ten steps";
  EXPECT_EQ(rows[0].front(), "time");
  EXPECT_EQ(std::vector<std::string>(rows[0].end() - 5, rows[0].end()),
            (std::vector<std::string>{"kinetic", "gravity", "springs", "energy", "loop_residual"}));
  for (const auto& row : rows) EXPECT_EQ(row.size(), rows[0].size());
  EXPECT_EQ(rows[1][0], "0");
  EXPECT_EQ(std::stod(rows[11][0]), 0.1);
  for (const char* word : {"energy:", "real time", "rows"}) {
    EXPECT_NE(a.out.find(word), std::string::npos) << a.out;
  }
  const Answer tenth =
      run("simulate " + pendulum + short_run + " --every 4 --output '" + csv.path() + "'");
  EXPECT_EQ(tenth.code, 0);
  EXPECT_EQ(rows_of(csv.path()).size(), 5u) << "header, 0, 4, 8 and the end";
}

TEST(SimulateTest, EnergiesOfRowsAreThoseOfTheReportAndOfARunWithoutRows) {
  const TemporaryFile csv(".csv");
  const std::string swing = "simulate '" ESPALIER_SOURCE_DIR
                            "/robots/tello.yaml' --root floating --duration 0.2 --dt 1e-3 --json";
  const Answer a = run(swing + " --output '" + csv.path() + "'"), bare = run(swing);
  ASSERT_EQ(a.code, 0) << a.err;
  const auto rows = rows_of(csv.path());
  ASSERT_EQ(rows.size(), 202u);
  const std::size_t kinetic = rows[0].size() - 5;
  double drift = 0.0, most = 0.0;
  const double first = std::stod(rows[1][kinetic + 3]);
  for (std::size_t k = 1; k < rows.size(); ++k) {
    const double sum = std::stod(rows[k][kinetic + 3]);
    double parts = 0.0;
    for (std::size_t i = 0; i < 3; ++i) parts += std::stod(rows[k][kinetic + i]);
    EXPECT_EQ(sum, parts);
    drift = std::max(drift, std::abs(sum - first));
    most = std::max(most, std::stod(rows[k][kinetic]));
  }
  const Json energy = a.json()["energy"], plain = bare.json()["energy"];
  EXPECT_EQ(energy["first"], first);
  EXPECT_EQ(energy["last"], std::stod(rows.back()[kinetic + 3]));
  EXPECT_EQ(energy["largest_change"], drift);
  // Sines of packs are others in the last digit.
  for (const char* key : {"first", "last"}) {
    EXPECT_NEAR(energy[key], plain[key], 1e-13 * (std::abs(first) + most)) << key;
  }
  EXPECT_NEAR(energy["relative_to_largest_kinetic"], drift / most, 1e-15);
}

TEST(SimulateTest, JsonHoldsTheSummaryAndTheEnd) {
  const Answer a = run("simulate " + pendulum + short_run + " --json");
  ASSERT_EQ(a.code, 0) << a.err;
  const Json out = a.json();
  EXPECT_EQ(out["duration"], 0.1);
  for (const char* key : {"energy", "largest_loop_residual", "real_time_factor", "final"}) {
    EXPECT_TRUE(out.contains(key)) << key;
  }
  EXPECT_FALSE(out["final"]["q"].empty());
}

/// A slider without gravity's help: q'' = force / mass.
const char* const slider = R"(<robot name="slider"><link name="base"/>
  <link name="block"><inertial><mass value="2"/>
    <inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>
  <joint name="rail" type="prismatic"><parent link="base"/><child link="block"/><axis xyz="1 0 0"/>
    <limit effort="100" velocity="100" lower="-100" upper="100"/></joint></robot>)";

/// Where the slider is after a second under a controller.
double slid(const std::string& controller, const std::string& more = "") {
  const TemporaryFile robot(".urdf", slider), file(".json", controller);
  const Answer a = run("simulate '" + robot.path() +
                       "' --algorithm aba --duration 1 --dt 0.01 --json --controller '" +
                       file.path() + "' " + more);
  EXPECT_EQ(a.code, 0) << a.err;
  return a.code == 0 ? a.json()["final"]["q"]["rail"].get<double>() : 0.0;
}

TEST(SimulateTest, ControllersAct) {
  // 4 N on 2 kg: 2 m/s² / 2.
  EXPECT_NEAR(slid(R"({"type": "constant", "tau": {"rail": 4}})"), 1.0, 1e-12);
  EXPECT_NEAR(slid(R"({"controllers": [{"type": "constant", "tau": {"rail": 4}},
                                       {"type": "constant", "tau": {"rail": [-4]}}]})"),
              0.0, 1e-12);
  EXPECT_NEAR(slid(R"({"type": "pd", "joints": {"rail": {"kp": 2000, "kd": 120, "target": 0.3}}})"),
              0.3, 1e-6);
  // A force that grows from 0 to 12 N in one second: 12 t / 2, twice integrated 6 / 6.
  EXPECT_NEAR(slid(R"({"type": "table", "time": [0, 1], "tau": {"rail": [0, 12]}})"), 1.0, 1e-12);
  const TemporaryFile csv(".csv", "time,rail\n0,0\n1,12\n");
  EXPECT_NEAR(slid(R"({"type": "table", "file": ")" + csv.path() + "\"}"), 1.0, 1e-12);
}

TEST(SimulateTest, StateFileGivesStartGravityAndForces) {
  const TemporaryFile robot(".urdf", slider);
  const TemporaryFile state(".json",
                            R"({"q": {"rail": 1}, "v": {"rail": 2}, "tau": {"rail": 4},
                                "gravity": [-2, 0, 0]})");
  const Answer a = run("simulate '" + robot.path() + "' --algorithm aba --duration 1 --dt 0.01 " +
                       "--json --state '" + state.path() + "'");
  ASSERT_EQ(a.code, 0) << a.err;
  EXPECT_NEAR(a.json()["final"]["q"]["rail"].get<double>(), 3.0, 1e-12) << "forces in balance";
}

TEST(SimulateTest, EveryIntegratorRuns) {
  const Answer listed = run("list integrators --json");
  const Json integrators = listed.json()["integrators"];
  ASSERT_EQ(integrators.size(), 3u);
  for (const Json& item : integrators) {
    const Answer a = run("simulate " + pendulum + short_run + " --integrator " +
                         item["name"].get<std::string>());
    EXPECT_EQ(a.code, 0) << a.err;
  }
  EXPECT_EQ(run("simulate " + pendulum + short_run +
                " --integrator dormand-prince --option relative_tolerance=1e-6")
                .code,
            0);
}

TEST(SimulateTest, WrongUsageIsRefused) {
  const std::string start = "simulate " + pendulum + " --algorithm aba ";
  expect_refused(start + "--duration 1 --dt 0", 2, {"--dt", "positive"});
  expect_refused(start + "--duration 1 --dt nan", 2, {"--dt"});
  expect_refused(start + "--duration -1 --dt 0.1", 2, {"--duration"});
  expect_refused(start + "--duration inf --dt 0.1", 2, {"--duration"});
  expect_refused(start + "--dt 0.1", 2, {"--duration"});
  expect_refused(start + "--duration 1e12 --dt 1e-12", 2, {"--duration over --dt", "1e+24"});
  expect_refused(start + "--duration 1 --dt 0.1 --damping much", 2, {"--damping", "much"});
  expect_refused(start + "--duration 1 --dt 0.1 --integrator rk5", 2,
                 {"rk5", "did you mean 'rk4'"});
  expect_refused("simulate " + pendulum + " --duration 1 --dt 0.1 --algorithm abba", 2,
                 {"abba", "aba"});
  expect_refused(start + "--duration 1 --dt 0.1 --option order", 2, {"NAME=NUMBER"});
  expect_refused(start + "--duration 1 --dt 0.1 --option order=3", 2, {"order", "expected none"});
  expect_refused(start + "--duration 1 --dt 0.1 --friction-rate 0", 2, {"--friction-rate"});
  expect_refused(start + "--duration 1 --dt 0.1 --loop-error=-1", 2, {"--loop-error is -1"});
  expect_refused(start + "--duration 1 --dt 0.1 --output /no/such/folder/a.csv", 1,
                 {"/no/such/folder/a.csv", "not writable"});
  expect_refused(start + "--duration 1 --dt 0.1 --output -", 1, {"'-'", "/dev/stdout"});
}

TEST(SimulateTest, WrongControllersAreRefused) {
  const auto refused = [](const std::string& text, int code,
                          const std::vector<std::string>& words) {
    const TemporaryFile file(".json", text), robot(".urdf", slider);
    expect_refused("simulate '" + robot.path() +
                       "' --algorithm aba --duration 1 --dt 0.1 --controller '" + file.path() + "'",
                   code, words);
  };
  refused("{", 2, {"JSON"});
  refused(R"({"tau": {}})", 2, {"'type'", "missing"});
  refused(R"({"type": "pdd"})", 2, {"pdd", "did you mean 'pd'"});
  refused(R"({"type": "constant", "tau": {"rial": 1}})", 2, {"rial", "did you mean 'rail'"});
  refused(R"({"type": "constant", "tau": {"rail": [1, 2]}})", 2, {"rail", "size"});
  refused(R"({"type": "constant", "tau": {"rail": "much"}})", 2, {"rail", "a number"});
  refused(R"({"type": "constant", "torque": {}})", 2, {"torque"});
  refused(R"({"type": "pd", "joints": {"rail": {"kp": -1}}})", 1, {"kp", "rail", "-1"});
  refused(R"({"type": "pd", "joints": {"rail": {"ki": 1}}})", 2, {"ki", "did you mean 'k"});
  refused(R"({"type": "table", "time": [0, 0], "tau": {"rail": [1, 2]}})", 1, {"time", "increase"});
  refused(R"({"type": "table", "time": [0, 1], "tau": {"rail": [1]}})", 2, {"rail", "size"});
  refused(R"({"type": "constant", "tau": {"rail": 1, "rail": 2}})", 2, {"'rail'", "given twice"});
  refused(R"({"controllers": [], "controllers": []})", 2, {"'controllers'", "given twice"});
  refused(R"({"type": "table", "file": "/no/such.csv"})", 2, {"/no/such.csv", "missing"});
  expect_refused("simulate " + pendulum + short_run + " --controller /no/such.json", 2,
                 {"/no/such.json"});
}

TEST(SimulateTest, StepsThatAreLongerThanTheRunAreTold) {
  const Answer a = run("simulate " + pendulum + " --algorithm aba --duration 0.1 --dt 1e12 --json");
  ASSERT_EQ(a.code, 0) << a.err;
  EXPECT_NE(a.json()["warnings"].dump().find("longer than --duration"), std::string::npos);
}

TEST(SimulateTest, JointsBeyondTheirLimitsAreWarnedOf) {
  std::string text = slider;
  text.replace(text.find("upper=\"100\""), 11, "upper=\"0.5\"");
  const TemporaryFile robot(".urdf", text);
  const std::string start =
      "simulate '" + robot.path() + "' --algorithm aba --duration 1 --dt 0.01 ";
  const std::string push = R"({"v": {"rail": 1}, "gravity": [0, 0, 0]})";
  const Answer a = run(start + "--state -", push);
  EXPECT_EQ(a.code, 0);
  EXPECT_NE(a.err.find("warning: joint 'rail': position is 0.51 at t = 0.51 s"), std::string::npos)
      << a.err;
  EXPECT_NE(a.err.find("upper limit 0.5"), std::string::npos) << a.err;
  const Answer json = run(start + "--json --state -", push);
  EXPECT_EQ(json.json()["events"][0]["kind"], "limit");
}

TEST(SimulateTest, StiffDampersAreToldAndBlowingUpIsPutDownToThem) {
  std::string text = slider;
  text.replace(text.find("<axis"), 5, "<dynamics damping=\"20000\"/><axis");
  const TemporaryFile robot(".urdf", text);
  const std::string start =
      "simulate '" + robot.path() + "' --algorithm aba --duration 1 --dt 0.001 --state - ";
  const std::string push = R"({"v": {"rail": 1}, "gravity": [9.81, 0, 0]})";
  const Answer a = run(start + "--json", push);
  ASSERT_EQ(a.code, 0) << a.err;
  EXPECT_NE(a.json()["warnings"].dump().find("damping is stiff"), std::string::npos);
  // 20000 / 2 1/s: it creeps with m g / d = 0.981 mm/s, and has slid on by 1 m/s over 10000 1/s.
  EXPECT_NEAR(a.json()["final"]["v"]["rail"].get<double>(), 9.81e-4, 1e-12);
  EXPECT_NEAR(a.json()["final"]["q"]["rail"].get<double>(), 9.81e-4 + 1e-4, 1e-4);
  const Answer stages = run(start + "--damping in-stages", push);
  EXPECT_EQ(stages.code, 1);
  for (const char* word : {"damping is stiff", "shorter than", "dormand-prince"}) {
    EXPECT_NE(stages.err.find(word), std::string::npos) << stages.err;
  }
}

TEST(SimulateTest, StopsWhereALoopCannotBeClosedAndKeepsTheRowsBefore) {
  // A parallelogram that swings through its flat pose, where it is told to stop.
  const std::string robot = "'" ESPALIER_SOURCE_DIR "/tests/cli/data/parallelogram.urdf'";
  const TemporaryFile csv(".csv");
  const TemporaryFile state(".json", R"({"q": {"joint1": 0.8, "joint2": -0.8, "joint3": 0.8},
                                         "v": {"joint1": -2}, "gravity": [0, -9.81, 0]})");
  expect_refused("simulate " + robot + " --duration 2 --dt 0.001 --stop-at-dead-points --state '" +
                     state.path() + "' --output '" + csv.path() + "'",
                 1, {"at t = 0.2", "joint1+joint2+joint3", "margin"});
  EXPECT_GT(rows_of(csv.path()).size(), 200u);
  const Answer on =
      run("simulate " + robot + " --duration 2 --dt 0.001 --json --state '" + state.path() + "'");
  EXPECT_EQ(on.code, 0) << on.err;
  EXPECT_NE(on.json()["warnings"].dump().find("the mechanism is singular at t = 0.2"),
            std::string::npos)
      << on.out;
}

TEST(SimulateTest, DependentPositionsOfALoopFollowWhereTheyAreLeftOut) {
  const std::string six_bar = "'" ESPALIER_SOURCE_DIR "/tests/reference/robots/six_bar.urdf'";
  const TemporaryFile state(".json", R"({"v": {"crank": 0.5}})");
  const Answer a = run("simulate " + six_bar + " --duration 0.2 --dt 0.001 --json --state '" +
                       state.path() + "'");
  ASSERT_EQ(a.code, 0) << a.err;
  EXPECT_LT(a.json()["largest_loop_residual"].get<double>(), 1e-10);
  const TemporaryFile open(".json", R"({"q": {"bar1": 9}})");
  expect_refused("simulate " + six_bar + " --duration 0.2 --dt 0.001 --state '" + open.path() + "'",
                 1, {"q:", "residual"});
}

}  // namespace
}  // namespace espalier::test::simulate_test
