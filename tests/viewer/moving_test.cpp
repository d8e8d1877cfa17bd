#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/viewer/conversation.hpp"

namespace espalier::test::moving_test {
namespace {

TEST(ViewerMovingTest, DraggingGoesPastADeadPointOfTheCrank) {
  const Stage stage = four_bar();
  Client client(stage);
  const int rocker = stage.model->joint("bar.rocker").body;
  Json end;
  for (const Json& e : stage.scene["loops"][0]["ends"]) {
    if (e["body"] == rocker) end = e["point"];
  }
  ASSERT_EQ(end.size(), 3u);
  int link = 0;
  while (stage.model->links()[link].body != rocker) ++link;
  // Both assemblies at a crank that is 0.05 rad before its dead point.
  const Json set{{"do", "set"}, {"slider", 0}, {"value", 0.2}};
  const Json first = ask(client, set);
  const Json other = ask(client, {{"do", "branch"}, {"cluster", 0}});
  const Vec3<double> pivot = place(stage, first["pose"], rocker, {0, 0, 0});
  const Vec3<double> from = place(stage, first["pose"], rocker, end) - pivot;
  const Vec3<double> to = place(stage, other["pose"], rocker, end) - pivot;
  const double radius = std::sqrt(dot(from, from));
  const double turn = std::acos(dot(from, to) / (radius * radius));
  ASSERT_GT(turn, 0.2);
  ask(client, {{"do", "neutral"}});
  Json now = ask(client, set);
  double most = 0.2;
  constexpr int steps = 40;
  for (int k = 1; k <= steps; ++k) {
    const double t = static_cast<double>(k) / steps;
    const Vec3<double> target = pivot + scale(std::sin((1 - t) * turn) / std::sin(turn), from) +
                                scale(std::sin(t * turn) / std::sin(turn), to);
    now = ask(client, {{"do", "drag"},
                       {"link", link},
                       {"point", end},
                       {"target", {target.x, target.y, target.z}}});
    EXPECT_EQ(now["pose"]["verdict"], "closed") << k;
    EXPECT_LT(number(now, "residual"), closed) << k;
    most = std::max(most, now["pose"]["values"][0].get<double>());
  }
  // acos(0.125) - 1.2, see four_bar.yaml: the crank went there and came back, the rocker went on.
  EXPECT_NEAR(most, std::acos(0.125) - 1.2, 1e-3);
  const Vec3<double> left = place(stage, now["pose"], rocker, end) - pivot - to;
  EXPECT_LT(std::sqrt(dot(left, left)), 1e-4) << "drag() ends 1e-5 m from the target";
  EXPECT_NEAR(now["pose"]["values"][0].get<double>(), 0.2, 1e-2);
}

TEST(ViewerMovingTest, FloatingRootHasSlidersThatTurnAndMove) {
  const Stage stage(host(), ESPALIER_SOURCE_DIR "/robots/tello.yaml", {.root = Root::floating});
  Client client(stage);
  const std::vector<std::string> labels{"root turn x", "root turn y", "root turn z",
                                        "root move x", "root move y", "root move z"};
  const int root = stage.model->joint("root").body;
  const Vec3<double> before =
      place(stage, ask(client, {{"do", "neutral"}})["pose"], root, {0, 0, 0});
  for (int i = 0; i < 6; ++i) {
    const Json& slider = stage.scene["sliders"][i];
    EXPECT_EQ(slider["label"], labels[i]);
    EXPECT_EQ(slider["unit"], i < 3 ? "rad" : "m");
    ask(client, {{"do", "neutral"}});
    const Json moved = ask(client, {{"do", "set"}, {"slider", i}, {"value", 0.1}});
    const Vec3<double> way = place(stage, moved["pose"], root, {0, 0, 0}) - before;
    for (int k = 0; k < 3; ++k) EXPECT_NEAR(way[k], i == k + 3 ? 0.1 : 0.0, 1e-7) << labels[i];
  }
}

TEST(ViewerMovingTest, RandomPositionsAreClosedFarFromNeutralAndTheSameForASeed) {
  for (const char* name : {"tello.yaml", "four_bar_leg.yaml", "rod_ankle.yaml", "ur5.urdf"}) {
    const Stage stage = robot(name);
    Client client(stage);
    const Json neutral = ask(client, {{"do", "neutral"}})["pose"]["q"];
    for (int seed = 1; seed <= 5; ++seed) {
      const Json pose = ask(client, {{"do", "random"}, {"seed", seed}})["pose"];
      EXPECT_LT(pose["residual"].get<double>(), closed) << name;
      EXPECT_TRUE(pose["over"].empty()) << name << " " << pose["over"];
      EXPECT_EQ(pose["words"].get<std::string>().find("dead point"), std::string::npos) << name;
      double away = 0.0;
      for (std::size_t i = 0; i < neutral.size(); ++i) {
        away = std::max(away, std::abs(pose["q"][i].get<double>() - neutral[i].get<double>()));
      }
      EXPECT_GT(away, 0.1) << name << ", seed " << seed;
      EXPECT_EQ(pose["q"], ask(client, {{"do", "random"}, {"seed", seed}})["pose"]["q"]);
    }
  }
}

TEST(ViewerMovingTest, DeadPointsAreToldByWhatIsUsualForALoop) {
  // Behind its gear the margin is 0.001 wherever the leg stands.
  const Stage leg = robot("four_bar_leg.yaml");
  Client upright(leg);
  const Json neutral = ask(upright, {{"do", "neutral"}});
  EXPECT_LT(number(neutral, "margin"), 0.01);
  EXPECT_GT(number(neutral, "ease"), 0.3);
  EXPECT_EQ(neutral["pose"]["words"], "Closed.");
  const Stage bar = four_bar();
  Client client(bar);
  // 1e-5 rad before the dead point; margins fall with the square root of the way to it.
  const double value = std::acos(0.125) - 1.2 - 1e-5;
  const Json near = ask(client, {{"do", "set"}, {"slider", 0}, {"value", value}});
  EXPECT_LT(number(near, "ease"), 0.05);
  EXPECT_NE(near["pose"]["words"].get<std::string>().find("dead point"), std::string::npos);
}

}  // namespace
}  // namespace espalier::test::moving_test
