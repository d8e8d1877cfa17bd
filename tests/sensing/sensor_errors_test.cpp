#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "espalier/kernel/problems/dynamics/hybrid_dynamics.hpp"
#include "espalier/sensing/sensor_dynamics.hpp"
#include "espalier/sensing/sensor_verdict.hpp"
#include "tests/support/sensor_robots.hpp"

// Sensors that cannot be what they say they are.

namespace espalier::test::sensor_errors_test {
namespace {

#ifdef ESPALIER_UMFPACK
constexpr const char* fresh = "umfpack";  // pivots anew for every matrix
#else
constexpr const char* fresh = "eigen-sparse-lu";
#endif

using Kind = Sensor::Kind;
using Dynamics = SensorDynamics<double>;

const ModelPtr& arm() {
  static const ModelPtr model =
      host().compile(chain_of(std::vector<std::string>{"revolute", "spherical", "prismatic"}));
  return model;
}

/// The message of the error E that a list of sensors causes; "" if it causes none.
template <class E>
std::string refusal(const std::vector<Sensor>& sensors, const char* algorithm = "sparse-lu",
                    const ModelPtr& model = arm()) {
  try {
    host().create<Dynamics>(algorithm, espalier::Setup{.model = model, .sensors = sensors});
  } catch (const E& error) {
    return error.what();
  }
  return "";
}
void expect_words(const std::string& message, const std::vector<std::string>& words) {
  for (const std::string& w : words) {
    EXPECT_NE(message.find(w), std::string::npos) << "'" << w << "' is missing in: " << message;
  }
}

TEST(SensorErrorsTest, EmptySets) {
  expect_words(refusal<SizeMismatch>({}), {"number of sensors is 0", "expected at least one"});
}

TEST(SensorErrorsTest, UnknownNames) {
  expect_words(refusal<UnknownName>({{.kind = Kind::torque, .joint = "elbow"}}),
               {"'torque of elbow'", "'elbow'", "joint1", "fixed joints are no joints"});
  expect_words(refusal<UnknownName>({{.kind = Kind::wrench, .link = "hand"}}),
               {"'wrench on hand'", "'hand'", "link1"});
  expect_words(refusal<InvalidModel>({{.kind = Kind::torque, .joint = "joint2[3]"}}),
               {"component of joint 'joint2' is [3]", "from [0] to [2]"});
  expect_words(refusal<InvalidModel>({{.kind = Kind::accelerometer}}), {"link is empty"});
  EXPECT_THROW(Sensor::kind_of("thermometer"), UnknownName);
  EXPECT_THROW(Sensor::row_of("fw"), UnknownName);
  for (const Kind kind : sensor_kinds()) EXPECT_EQ(Sensor::kind_of(to_string(kind)), kind);
  EXPECT_EQ(Sensor::row_of("fz"), (Sensor::Row{0, 0, 0, 0, 0, 1}));
}

TEST(SensorErrorsTest, WrongFrames) {
  expect_words(
      refusal<InvalidModel>({{.kind = Kind::joint_wrench, .joint = "joint1", .link = "link3"}}),
      {"link is 'link3'", "on either side of joint 'joint1'", "'base'", "'link1'"});
  Sensor s{.kind = Kind::accelerometer, .link = "link1"};
  s.frame.rpy.x = std::nan("");
  expect_words(refusal<InvalidModel>({s}), {"frame holds a number that is not finite"});
  s.frame = {.xyz = {1e9, 0, 0}};
  expect_words(refusal<InvalidModel>({s}), {"length beyond 1e8", "metres"});
  expect_words(refusal<InvalidModel>({{.kind = Kind::contact, .link = "base"}}),
               {"'base' is welded to the ground"});
  expect_words(refusal<InvalidModel>({{.kind = Kind::accelerometer, .link = "base"}}),
               {"'base' is welded to the ground"});
  expect_words(refusal<InvalidModel>({{.kind = Kind::torque, .joint = "joint1", .link = "link1"}}),
               {"has a link, rows or a frame, expected none of them"});
  s = {.kind = Kind::torque, .joint = "joint1"};
  s.frame.rpy = {0, 0, 0.1};
  expect_words(refusal<InvalidModel>({s}), {"a frame, expected none of them"});
  expect_words(refusal<InvalidModel>({{.kind = Kind::wrench, .joint = "joint1", .link = "link1"}}),
               {"joint is 'joint1', expected none"});
}

TEST(SensorErrorsTest, WrongRowsAndCovariances) {
  Sensor s{.kind = Kind::accelerometer, .link = "link1", .rows = {Sensor::row_of("wx")}};
  expect_words(refusal<InvalidModel>({s}), {"row holds 1 in place 0", "places 3 to 5"});
  s.rows = {{0, 0, 0, 0, 0, 0}};
  expect_words(refusal<InvalidModel>({s}), {"a row is zero"});
  s.rows = {{0, 0, 0, std::numeric_limits<double>::infinity(), 0, 0}};
  expect_words(refusal<InvalidModel>({s}), {"row holds inf"});
  s.rows.clear();
  s.covariance = {1.0, 1.0};
  expect_words(refusal<SizeMismatch>({s}), {"size of covariance is 2, expected 1, 3 or 9"});
  s.covariance = {-1.0};
  expect_words(refusal<InvalidModel>({s}), {"covariance holds -1 at (0, 0)"});
  s.covariance = {1, 0.5, 0, 0.4, 1, 0, 0, 0, 1};
  expect_words(refusal<InvalidModel>({s}), {"covariance holds 0.4 at (1, 0)", "symmetric"});
  expect_words(
      refusal<InvalidModel>({{.kind = Kind::motor, .joint = "joint1", .covariance = {1.0}}}),
      {"measures nothing"});
  // Covariances that no noise can have: indefinite, a sum without any, an exact row that varies.
  for (const std::vector<double>& R :
       std::vector<std::vector<double>>{{1, 2, 0, 2, 1, 0, 0, 0, 1},
                                        {1, 1, 0, 1, 1, 0, 0, 0, 1},
                                        {1, 0, 1, 0, 1, 0, 1, 0, 0},
                                        {0, 0, 1, 0, 1, 0, 1, 0, 1},
                                        {1, 0.1, 0.9, 0.1, 1, -0.9, 0.9, -0.9, 1}}) {
    s.covariance = R;
    for (const char* algorithm : {"map", "dense"}) {
      std::vector<Sensor> sensors = forward_sensors(*arm());
      sensors.push_back(s);
      expect_words(refusal<InvalidModel>(sensors, algorithm), {"not positive definite"});
    }
  }
}

TEST(SensorErrorsTest, TwoOfOneName) {
  expect_words(refusal<DuplicateName>({{.kind = Kind::torque, .joint = "joint1"},
                                       {.kind = Kind::torque, .joint = "joint1"}}),
               {"'torque of joint1'", "give one of them a name"});
}

TEST(SensorErrorsTest, Gyroscopes) {
  expect_words(refusal<Unsupported>({{.kind = Kind::gyroscope, .link = "link3"}}),
               {"does not hang on a floating base", "velocity belongs to the state"});
  const ModelPtr model = biped({{0, 1, 0}});
  std::vector<Sensor> sensors = forward_sensors(*model);
  sensors.push_back({.kind = Kind::gyroscope, .name = "first", .link = "pelvis"});
  sensors.push_back({.kind = Kind::gyroscope, .name = "second", .link = "left_foot"});
  expect_words(refusal<Unsupported>(sensors, "sparse-lu", model), {"'second'", "second gyroscope"});
  sensors.pop_back();
  sensors.back().rows = {Sensor::row_of("wx")};
  expect_words(refusal<Unsupported>(sensors, "sparse-lu", model), {"rows of its own"});
  sensors.back().rows.clear();
  sensors.back().covariance = {0.1};
  expect_words(refusal<Unsupported>(sensors, "sparse-lu", model), {"it has a covariance"});
}

TEST(SensorErrorsTest, TooLittleAndTooMuch) {
  for (const char* name : {"sparse-lu", fresh, "eigen-sparse-lu", "dense", "map"}) {
    expect_words(refusal<SingularMechanism>({{.kind = Kind::torque, .joint = "joint1"}}, name),
                 {"singular everywhere", "torque of joint3", "expected sensors that determine"});
  }
  std::vector<Sensor> sensors = forward_sensors(*arm());
  sensors.push_back({.kind = Kind::acceleration, .joint = "joint1"});
  for (const char* name : {"sparse-lu", fresh, "eigen-sparse-lu"}) {
    expect_words(refusal<Unsupported>(sensors, name), {"equations is", "algorithm map"});
  }
}

TEST(SensorErrorsTest, ExactMeasurementsThatContradictOneAnother) {
  std::vector<Sensor> sensors = forward_sensors(*arm());
  for (Sensor& s : sensors) s.covariance = {0.0};
  sensors.push_back({.kind = Kind::acceleration, .joint = "joint1", .covariance = {0.0}});
  expect_words(refusal<SingularMechanism>(sensors, "map"),
               {"without error", "covariances above 0"});
}

TEST(SensorErrorsTest, SingularPositionsAreRefused) {
  // The accelerometer sees the joint only as far as it is off its axis: at right angles the second
  // joint's acceleration is seen, stretched it is not.
  Description robot = ground();
  add_solid(robot, "link1");
  add_solid(robot, "link2");
  add_joint(robot, "joint1", "revolute", "base", "link1", {0, 0, 1});
  add_joint(robot, "joint2", "revolute", "link1", "link2", {0, 0, 1}, {{0.5, 0, 0}, {0, 0, 0}});
  const ModelPtr model = host().compile(robot);
  // At link2's origin: 0.5 m from joint1, along the axis that joint2 turns.
  const std::vector<Sensor> sensors{
      {.kind = Kind::accelerometer, .link = "link2", .rows = {Sensor::row_of("ax")}},
      {.kind = Kind::acceleration, .joint = "joint2"}};
  const SensorVerdict verdict = judge(*model, sensors);
  EXPECT_EQ(verdict.kind, SensorVerdict::Kind::singular_somewhere) << verdict.text();
  const std::vector<double> regular{0.3, 1.5707963267948966}, stretched{0.3, 0.0}, v{0, 0}, y{1, 2};
  for (const char* name : {"sparse-lu", fresh, "eigen-sparse-lu", "dense", "map"}) {
    const auto algorithm =
        host().create<Dynamics>(name, espalier::Setup{.model = model, .sensors = sensors});
    // ax = 0.5 qdd1 + g_y: gravity has no part in it here.
    EXPECT_NEAR(algorithm->evaluate(regular, v, y).qdd[0], 2.0, 1e-9) << name;
    EXPECT_THROW(algorithm->evaluate(stretched, v, y), SingularMechanism) << name;
    EXPECT_NEAR(algorithm->evaluate(regular, v, y).qdd[0], 2.0, 1e-9) << name << ", afterwards";
  }
}

TEST(SensorErrorsTest, SizesAndNumbersThatAreNone) {
  const espalier::Setup setup{.model = arm(), .sensors = forward_sensors(*arm())};
  test::State s = random_state(*arm(), 1);
  for (const auto& [name, algorithm] : every<Dynamics>(setup)) {
    const std::vector<double> short_y(s.tau.size() - 1);
    EXPECT_THROW(algorithm->evaluate(s.q, s.v, short_y), SizeMismatch) << name;
    EXPECT_THROW(algorithm->evaluate(s.v, s.v, s.tau), SizeMismatch) << name;
    EXPECT_THROW(algorithm->value("torque of elbow"), UnknownName) << name;
    std::vector<double> tau = s.tau;
    tau[0] = std::nan("");
    const auto& answer = algorithm->evaluate(s.q, s.v, tau);
    EXPECT_TRUE(std::isnan(answer.vdot[0])) << name;
    const auto& afterwards = algorithm->evaluate(s.q, s.v, s.tau);
    EXPECT_FALSE(std::isnan(afterwards.vdot[0])) << name;
    EXPECT_FALSE(std::isnan(afterwards.chi_square)) << name;
    for (const double r : afterwards.residual) EXPECT_FALSE(std::isnan(r)) << name;
  }
  const auto sparse = host().create<Dynamics>("sparse-lu", setup);
  EXPECT_THROW(sparse->variance("torque of joint1"), Unsupported);
  EXPECT_THROW(sparse->set_variances(true), Unsupported);
  EXPECT_NO_THROW(sparse->set_variances(false));
}

TEST(SensorErrorsTest, HybridDynamicsOfUnknownJoints) {
  EXPECT_THROW(hybrid_sensors(*arm(), {"elbow"}), UnknownName);
}

}  // namespace
}  // namespace espalier::test::sensor_errors_test
