#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/host.hpp"
#include "viewer/server/client.hpp"
#include "viewer/server/scene/export.hpp"

namespace espalier::test::run_test {
namespace {

using viewer::Client;
using viewer::Json;
using viewer::Stage;

constexpr double closed = 1e-10;

Stage stage_of(const std::string& path) {
  return {host(), ESPALIER_SOURCE_DIR "/" + path, {.root = CompileOptions::Root::fixed}};
}
Stage four_bar() { return stage_of("tests/viewer/data/four_bar.yaml"); }
Json ask(Client& client, const Json& message) {
  return Json::parse(client.receive(message.dump()));
}
/// Frames of a simulation, each seen.
Json play(Client& client, Json message, int frames) {
  message["do"] = "play";
  Json last = ask(client, message);
  for (int k = 0; k < frames; ++k) {
    const auto text = client.tick(0.01);
    if (!text) break;
    last = Json::parse(*text);
    client.receive(Json{{"do", "seen"}, {"frame", last["frame"]}}.dump());
  }
  return last;
}
double largest_difference(const Json& a, const Json& b) {
  double largest = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    largest = std::max(largest, std::abs(a[i].get<double>() - b[i].get<double>()));
  }
  return largest;
}

TEST(ViewerCoordinatesTest, DependentJointTakesThePlaceOfTheIndependentOne) {
  const Stage stage = four_bar();
  Client client(stage);
  const Json before = ask(client, {{"do", "set"}, {"slider", 0}, {"value", -0.5}});
  const Json now = ask(client, {{"do", "coordinates"}, {"cluster", 0}, {"joint", "bar.rocker"}});
  ASSERT_TRUE(now.contains("scene")) << now.value("error", "");
  EXPECT_EQ(now["scene"]["sliders"].size(), 1u);
  EXPECT_EQ(now["scene"]["sliders"][0]["name"], "bar.rocker");
  EXPECT_LT(largest_difference(before["pose"]["q"], now["pose"]["q"]), 1e-9) << "nothing moves";
  const double value = now["pose"]["values"][0].get<double>() + 0.1;
  const Json moved = ask(client, {{"do", "set"}, {"slider", 0}, {"value", value}});
  EXPECT_EQ(moved["pose"]["verdict"], "closed");
  EXPECT_LT(moved["pose"]["residual"].get<double>(), closed);
  EXPECT_NEAR(moved["pose"]["values"][0].get<double>(), value, 1e-15);
  EXPECT_GT(largest_difference(moved["pose"]["q"], now["pose"]["q"]), 0.05);
  // Another client keeps its own.
  Client other(stage);
  EXPECT_EQ(ask(other, {{"do", "hello"}})["scene"]["sliders"][0]["name"], "bar.crank");
}

TEST(ViewerCoordinatesTest, NearADeadPointOtherCoordinatesLeadAcross) {
  const Stage stage = four_bar();
  Client client(stage);
  const Json stuck = ask(client, {{"do", "set"}, {"slider", 0}, {"value", 1.0}});
  ASSERT_NE(stuck["pose"]["verdict"], "closed");
  const Json now = ask(client, {{"do", "coordinates"}, {"cluster", 0}});
  ASSERT_TRUE(now.contains("scene")) << now.value("error", "");
  EXPECT_NE(now["scene"]["sliders"][0]["name"], "bar.crank");
  EXPECT_GT(now["pose"]["margin"].get<double>(), 2.0 * stuck["pose"]["margin"].get<double>());
  const double here = now["pose"]["values"][0].get<double>();
  // One of the two ways leads over the dead point; both close.
  for (const double step : {0.4, -0.4}) {
    const Json moved = ask(client, {{"do", "set"}, {"slider", 0}, {"value", here + step}});
    EXPECT_EQ(moved["pose"]["verdict"], "closed") << step;
    EXPECT_LT(moved["pose"]["residual"].get<double>(), closed);
  }
}

TEST(ViewerCoordinatesTest, ClusterOfTwoKeepsTwoAndOthersAreRefusedByName) {
  const Stage stage = stage_of("robots/tello.yaml");
  Client client(stage);
  const Json scene = stage.scene;
  int cluster = -1;
  std::string dependent;
  for (const Json& joint : scene["joints"]) {
    const int c = scene["bodies"][joint["body"].get<int>()]["cluster"];
    if (joint["independent"] || joint["nq"] != 1 || scene["clusters"][c]["freedoms"] != 2) continue;
    if (!scene["clusters"][c]["variable"]) continue;
    cluster = c, dependent = joint["name"];
    break;
  }
  ASSERT_GE(cluster, 0);
  const Json before = ask(client, {{"do", "random"}, {"seed", 2}});
  const Json now = ask(client, {{"do", "coordinates"}, {"cluster", cluster}, {"joint", dependent}});
  ASSERT_TRUE(now.contains("scene")) << now.value("error", "");
  EXPECT_EQ(now["scene"]["freedoms"], scene["freedoms"]);
  EXPECT_LT(largest_difference(before["pose"]["q"], now["pose"]["q"]), 1e-8);
  const Json wrong = ask(client, {{"do", "coordinates"}, {"cluster", cluster}, {"joint", "elbow"}});
  EXPECT_NE(wrong["error"].get<std::string>().find("'elbow', expected a dependent one"),
            std::string::npos);
  EXPECT_TRUE(ask(client, {{"do", "coordinates"}, {"cluster", 99}}).contains("error"));
}

TEST(ViewerRunTest, HeldRobotStaysAndItsMotorsBearItsWeight) {
  for (const char* path : {"robots/tello.yaml", "robots/ur5.urdf"}) {
    const Stage stage = stage_of(path);
    for (const char* controller : {"hold", "gravity"}) {
      Client client(stage);
      const Json before = ask(client, {{"do", "random"}, {"seed", 1}});
      const Json after = play(client, {{"controller", controller}, {"dt", 1e-3}}, 5);
      ASSERT_TRUE(after.contains("sample")) << after.value("error", "");
      // Torques balance weight up to rounding; errors grow with the exponential of a fall's rate.
      EXPECT_LT(largest_difference(before["pose"]["q"], after["pose"]["q"]), 1e-6) << path;
      double torque = 0.0;
      for (const Json& tau : after["sample"]["tau"]) torque += std::abs(tau.get<double>());
      EXPECT_GT(torque, 0.01) << path;
    }
    Client client(stage);
    const Json before = ask(client, {{"do", "random"}, {"seed", 1}});
    const Json after = play(client, {{"controller", "none"}, {"dt", 1e-3}}, 5);
    EXPECT_GT(largest_difference(before["pose"]["q"], after["pose"]["q"]), 1e-5) << "it falls";
    for (const Json& tau : after["sample"]["tau"]) EXPECT_EQ(tau.get<double>(), 0.0);
  }
}

TEST(ViewerRunTest, ControllersAreListedAndUnknownOnesRefused) {
  const Stage stage = four_bar();
  Client client(stage);
  EXPECT_EQ(stage.scene["controllers"], Json({"none", "gravity", "hold"}));
  const Json answer = ask(client, {{"do", "play"}, {"controller", "lqr"}});
  EXPECT_NE(answer["error"].get<std::string>().find("'lqr', expected none, gravity, hold"),
            std::string::npos);
  EXPECT_FALSE(client.playing());
}

TEST(ViewerRunTest, HeldFourBarReturnsToItsPlaceWhenItIsMadeToHoldThere) {
  const Stage stage = four_bar();
  Client client(stage);
  const Json falling = play(client, {{"controller", "none"}, {"dt", 1e-3}}, 10);
  const double rate = std::abs(falling["sample"]["v"][0].get<double>());
  ASSERT_GT(rate, 0.1);
  // Critically damped at 10 rad/s: of the rate less than 1e-3 is left after 1.5 s.
  Json held;
  for (int k = 0; k < 15; ++k) held = play(client, {{"controller", "hold"}, {"dt", 5e-3}}, 10);
  if (held["sample"]["t"].get<double>() > 1.5) {
    EXPECT_LT(std::abs(held["sample"]["v"][0].get<double>()), 1e-2 * rate);
  }
}

TEST(ViewerCompareTest, TwoAlgorithmsMoveOneRobotAlike) {
  const Stage reference = [] {
    Stage s = four_bar();
    s.names.simulation.algorithm = "c-aba-reference";
    s.keeps_algorithm = true;
    return s;
  }();
  Stage stage = four_bar();
  stage.other = &reference;
  Client client(stage);
  const Json hello = ask(client, {{"do", "hello"}});
  EXPECT_TRUE(hello["scene"]["compared"]);
  EXPECT_EQ(hello["other"]["scene"]["name"], "four_bar");
  const Json moved = ask(client, {{"do", "set"}, {"slider", 0}, {"value", -0.4}});
  EXPECT_NEAR(moved["other"]["pose"]["values"][0].get<double>(), -0.4, 1e-15);
  const Json last = play(client, {{"algorithm", "c-aba"}, {"dt", 1e-3}}, 10);
  ASSERT_TRUE(last.contains("other")) << last.value("error", "");
  EXPECT_EQ(last["sample"]["t"], last["other"]["sample"]["t"]);
  EXPECT_GT(last["sample"]["kinetic"].get<double>(), 0.0);
  // Two exact algorithms differ by rounding, which the motion of a tenth of a second hardly grows.
  EXPECT_LT(last["difference"].get<double>(), 1e-10);
  EXPECT_FALSE(ask(client, {{"do", "pause"}})["playing"].get<bool>());
}

TEST(ViewerCompareTest, AnotherRobotFollowsByNames) {
  const Stage other = stage_of("robots/tello_with_arms.yaml");
  Stage stage = stage_of("robots/tello.yaml");
  stage.other = &other;
  Client client(stage);
  const Json before = ask(client, {{"do", "hello"}});
  const Json moved = ask(client, {{"do", "set"}, {"slider", 0}, {"value", 0.2}});
  ASSERT_FALSE(moved.contains("error"));
  EXPECT_TRUE(moved["other"].contains("pose"));
  EXPECT_TRUE(std::isfinite(moved["difference"].get<double>()));
  for (const char* what : {"neutral", "random", "rest", "pause"}) {
    const Json answer = ask(client, {{"do", what}, {"seed", 5}});
    EXPECT_FALSE(answer.contains("error")) << what;
    EXPECT_LT(answer["other"]["pose"]["residual"].get<double>(), 1e-9) << what;
  }
}

TEST(ViewerSceneTest, SubsystemsShareOutTheBodies) {
  for (const char* path : {"robots/tello.yaml", "robots/ur5.urdf", "robots/rod_ankle.yaml"}) {
    const Stage stage = stage_of(path);
    const Json& nodes = stage.scene["subsystems"]["nodes"];
    std::vector<int> owners(stage.scene["bodies"].size(), 0);
    for (const Json& node : nodes) {
      for (const Json& body : node["bodies"]) ++owners[body.get<int>()];
    }
    for (const int count : owners) EXPECT_EQ(count, 1) << path;
    EXPECT_GE(nodes.size(), 2u) << path;
    EXPECT_EQ(stage.scene["subsystems"]["edges"].size(), nodes.size() - 1) << path << ": a tree";
  }
}

TEST(ViewerSceneTest, RandomPositionsStayInsideTheLimits) {
  const Stage stage = stage_of("robots/tello.yaml");
  Client client(stage);
  int inside = 0;
  for (int seed = 0; seed < 20; ++seed) {
    const Json pose = ask(client, {{"do", "random"}, {"seed", 100 * seed}})["pose"];
    EXPECT_LT(pose["residual"].get<double>(), closed);
    inside += pose["over"].empty();
  }
  EXPECT_EQ(inside, 20);
}

TEST(ViewerExportTest, SweepHoldsOneCoordinateFinely) {
  const Stage stage = four_bar();
  const Json data = viewer::exported(stage, nullptr, "bar.crank");
  EXPECT_EQ(data["sweep"], "bar.crank");
  ASSERT_EQ(data["sweeps"].size(), 1u);
  EXPECT_EQ(data["sweeps"][0]["rows"].size(), 241u);
  int there = 0;
  for (std::size_t i = 0; i < 241; ++i) {
    if (data["sweeps"][0]["rows"][i].is_null()) continue;
    ++there;
    EXPECT_LT(data["sweeps"][0]["residuals"][i].get<double>(), closed);
  }
  // Twice 1.445 rad of 2 pi: 110 of 240 steps.
  EXPECT_NEAR(there, 110, 3);
  EXPECT_THROW(viewer::exported(stage, nullptr, "bar.rocker"), UnknownName);
}

}  // namespace
}  // namespace espalier::test::run_test
