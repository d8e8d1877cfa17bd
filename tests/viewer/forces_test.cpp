#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/host.hpp"
#include "viewer/server/client.hpp"

namespace espalier::test::forces_test {
namespace {

using viewer::Client;
using viewer::Json;
using viewer::Stage;

Stage stage_of(const std::string& path) { return {host(), ESPALIER_SOURCE_DIR "/" + path, {}}; }
Stage four_bar() { return stage_of("tests/viewer/data/four_bar.yaml"); }
Json ask(Client& client, const Json& message) {
  return Json::parse(client.receive(message.dump()));
}
Vec3<double> vec(const Json& x) {
  return {x[0].get<double>(), x[1].get<double>(), x[2].get<double>()};
}

/// A point of a body, or a direction on it, in the world, from the placements that were sent.
Vec3<double> world(const Stage& stage, const Json& pose, int body, Vec3<double> p, bool direction) {
  for (int i = body; i > 0; i = stage.scene["bodies"][i]["parent"].get<int>()) {
    const auto n = [&](int k) { return pose["bodies"][7 * i + k].get<double>(); };
    const Vec3<double> u{n(3), n(4), n(5)}, t = scale(2.0, cross(u, p));
    p = p + scale(n(6), t) + cross(u, t);
    if (!direction) p = p + Vec3<double>{n(0), n(1), n(2)};
  }
  return p;
}
const Json& reaction(const Json& pose, const std::string& name) {
  for (const Json& r : pose.at("reactions").at("joints")) {
    if (r["name"] == name) return r;
  }
  throw std::runtime_error("no reaction of " + name);
}
Vec3<double> force(const Stage& stage, const Json& pose, const std::string& name) {
  const Json& r = reaction(pose, name);
  return world(stage, pose, r["body"], vec(r["force"]), true);
}

// Placements are sent with eight decimals: forces of 10 N turn by 1e-7 N.
constexpr double rounded = 1e-6;

TEST(ViewerForcesTest, BearingsOfAFourBarAtRestCarryItsWeight) {
  const Stage stage = four_bar();
  Client client(stage);
  ask(client, {{"do", "show"}, {"reactions", true}});
  for (const double angle : {0.0, -0.6, -1.4}) {
    const Json pose = ask(client, {{"do", "set"}, {"slider", 0}, {"value", angle}})["pose"];
    ASSERT_TRUE(pose.contains("reactions")) << pose.value("forces_problem", "");
    const Vec3<double> sum = force(stage, pose, "bar.crank") + force(stage, pose, "bar.rocker");
    EXPECT_NEAR(sum.x, 0.0, rounded);
    EXPECT_NEAR(sum.y, 0.0, rounded);
    EXPECT_NEAR(sum.z, (0.5 + 0.4 + 0.5) * 9.81, rounded);
  }
}

TEST(ViewerForcesTest, PinHoldsTheRockerUp) {
  // Moments about the rocker's own bearing: that of the pin's force balances that of its weight.
  const Stage stage = four_bar();
  Client client(stage);
  const Json pose = ask(client, {{"do", "show"}, {"reactions", true}})["pose"];
  const int rocker = stage.model->link("bar.rocker").body;
  const Vec3<double> bearing = world(stage, pose, rocker, {0, 0, 0}, false);
  const Vec3<double> pin = world(stage, pose, rocker, {0.3, 0, 0}, false) - bearing;
  const Vec3<double> com = world(stage, pose, rocker, {0.15, 0, 0}, false) - bearing;
  const Vec3<double> on_rocker = scale(-1.0, force(stage, pose, "bar.four_bar"));
  const Vec3<double> moment = cross(pin, on_rocker) + cross(com, Vec3<double>{0, 0, -0.5 * 9.81});
  EXPECT_NEAR(moment.y, 0.0, rounded) << "about the axis";
  EXPECT_GT(std::sqrt(dot(on_rocker, on_rocker)), 0.5);
}

TEST(ViewerForcesTest, TensionIsTheForceAlongTheBar) {
  const Stage stage = four_bar();
  Client client(stage);
  const Json pose = ask(client, {{"do", "show"}, {"reactions", true}})["pose"];
  const Json& rods = pose["reactions"]["rods"];
  ASSERT_EQ(rods.size(), 3u) << "crank, rocker, coupler";
  for (const Json& rod : rods) {
    const int body = rod["body"];
    const Json& joint = reaction(pose, stage.model->joints()[stage.model->body(body).joint].name);
    const Vec3<double> to = vec(rod["to"]), f = vec(joint["force"]);
    EXPECT_NEAR(rod["tension"].get<double>(), -dot(f, to) / std::sqrt(dot(to, to)), 1e-12);
  }
}

TEST(ViewerForcesTest, RodsOfAnAnkleAreInTheListAndDeadPointsAreTold) {
  const Stage ankle = stage_of("robots/rod_ankle.yaml");
  Client client(ankle);
  const Json pose = ask(client, {{"do", "show"}, {"reactions", true}})["pose"];
  ASSERT_TRUE(pose.contains("reactions")) << pose.value("forces_problem", "");
  int rods = 0;
  for (const Json& rod : pose["reactions"]["rods"]) {
    if (rod["body"] == 0) {
      ++rods;
    } else {
      const std::string name = ankle.model->body_names()[rod["body"].get<int>()];
      rods += name.starts_with("ankle.rod");
    }
    EXPECT_TRUE(std::isfinite(rod["tension"].get<double>()));
  }
  EXPECT_EQ(rods, 2);
}

TEST(ViewerForcesTest, OneMotorGivesAForceOfTorqueOverLever) {
  // The coupler hangs on the crank's tip, 0.3 m from the motor, of which no limit is known: 1 N·m.
  const Stage stage = four_bar();
  Client client(stage);
  const int link =
      static_cast<int>(&stage.model->link("bar.coupler") - stage.model->links().data());
  const Json strength = ask(client, {{"do", "show"}, {"strength", link}})["pose"]["strength"];
  EXPECT_EQ(strength["rank"], 1);
  ASSERT_EQ(strength["points"].size(), 2u);
  for (const Json& point : strength["points"]) {
    EXPECT_NEAR(std::sqrt(dot(vec(point), vec(point))), 1.0 / 0.3, 1e-6);
  }
  EXPECT_NE(strength["words"].get<std::string>().find("1 N·m"), std::string::npos);
  // The crank's own origin does not move.
  const int crank = static_cast<int>(&stage.model->link("bar.crank") - stage.model->links().data());
  EXPECT_EQ(ask(client, {{"do", "show"}, {"strength", crank}})["pose"]["strength"]["rank"], 0);
  EXPECT_FALSE(ask(client, {{"do", "show"}, {"strength", -1}})["pose"].contains("strength"));
}

TEST(ViewerForcesTest, VerticesOfAnArmsPolytopeAreWhereThreeMotorsAreAtTheirLimits) {
  const Stage stage = stage_of("robots/ur5.urdf");
  Client client(stage);
  const Json q = ask(client, {{"do", "random"}, {"seed", 4}})["pose"]["q"];
  const Link& tool = stage.model->links().back();
  const int link = static_cast<int>(stage.model->links().size()) - 1;
  const Json pose = ask(client, {{"do", "show"}, {"strength", link}})["pose"];
  const Json& strength = pose["strength"];
  EXPECT_EQ(strength["rank"], 3);
  EXPECT_GE(strength["points"].size(), 8u);
  auto jacobians = any<BodyJacobians<double>>(stage.model);
  const int n = stage.model->nv();
  std::vector<double> J(6 * static_cast<std::size_t>(n));
  jacobians->evaluate(q.get<std::vector<double>>());
  jacobians->jacobian(tool, J);
  for (const Json& point : strength["points"]) {
    int at_limit = 0;
    for (int k = 0; k < n; ++k) {
      const Vec3<double> column{J[3 * n + k], J[4 * n + k], J[5 * n + k]};
      const Vec3<double> on_body = transpose_times(tool.X.E, column);
      const double tau = std::abs(dot(world(stage, pose, tool.body, on_body, true), vec(point)));
      const double limit = *stage.model->joints()[k].limits.effort;
      EXPECT_LT(tau, limit * (1 + 1e-5)) << "placements have eight decimals";
      at_limit += tau > limit * (1 - 1e-5);
    }
    EXPECT_GE(at_limit, 3);
  }
}

}  // namespace
}  // namespace espalier::test::forces_test
