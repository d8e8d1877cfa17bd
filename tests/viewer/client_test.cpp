#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <random>

#include "tests/viewer/conversation.hpp"
#include "viewer/server/scene/export.hpp"

namespace espalier::test::client_test {
namespace {

TEST(ViewerClientTest, HelloGivesTheSceneOfTheRobot) {
  const Stage stage = four_bar();
  Client client(stage);
  const Json answer = ask(client, {{"do", "hello"}, {"id", 7}});
  EXPECT_EQ(answer.at("id"), 7);
  const Json& scene = answer.at("scene");
  EXPECT_EQ(scene.at("name"), "four_bar");
  EXPECT_EQ(scene.at("bodies").size(), 4u) << "ground, crank, rocker, coupler";
  EXPECT_EQ(scene.at("sliders").size(), 1u);
  EXPECT_EQ(scene.at("clusters").size(), 1u);
  EXPECT_TRUE(scene.at("clusters")[0].at("variable").get<bool>());
  ASSERT_EQ(scene.at("loops").size(), 1u);
  EXPECT_EQ(scene.at("loops")[0].at("ends").size(), 2u) << "tips of rocker and coupler";
}

TEST(ViewerClientTest, DrawnPinsOfAFourBarCoincideWhereverTheSliderGoes) {
  const Stage stage = four_bar();
  Client client(stage);
  const Json ends = stage.scene["loops"][0]["ends"];
  Vec3<double> first{};
  for (const double value : {0.0, 0.2, -0.5, -1.5}) {
    const Json answer = ask(client, {{"do", "set"}, {"slider", 0}, {"value", value}});
    EXPECT_EQ(answer["pose"]["verdict"], "closed");
    EXPECT_NEAR(answer["pose"]["values"][0].get<double>(), value, 1e-15);
    EXPECT_LT(number(answer, "residual"), closed);
    const Vec3<double> a = place(stage, answer["pose"], ends[0]["body"], ends[0]["point"]);
    const Vec3<double> b = place(stage, answer["pose"], ends[1]["body"], ends[1]["point"]);
    const Vec3<double> apart = a - b;
    EXPECT_LT(std::sqrt(dot(apart, apart)), 1e-7) << "numbers are sent with eight decimals";
    if (value == 0.0) {
      first = a;
    } else {
      const Vec3<double> moved = a - first;
      EXPECT_GT(std::sqrt(dot(moved, moved)), 0.01);
    }
  }
}

TEST(ViewerClientTest, EndOfReachIsToldAndTheMechanismStaysClosed) {
  const Stage stage = four_bar();
  Client client(stage);
  const Json answer = ask(client, {{"do", "set"}, {"slider", 0}, {"value", 1.0}});
  EXPECT_NE(answer["pose"]["verdict"], "closed");
  EXPECT_LT(number(answer, "residual"), 1e-9);
  // acos(0.125) - 1.2, see four_bar.yaml; the last sub-steps before a dead point stop short of it.
  EXPECT_NEAR(answer["pose"]["values"][0].get<double>(), std::acos(0.125) - 1.2, 0.02);
  EXPECT_LT(number(answer, "margin"), 0.1);
  EXPECT_NE(answer["pose"]["words"].get<std::string>().find("bar"), std::string::npos);
  const Json back = ask(client, {{"do", "set"}, {"slider", 0}, {"value", 0.0}});
  EXPECT_LT(number(back, "residual"), closed);
}

TEST(ViewerClientTest, OtherBranchKeepsTheCrankAndComesBack) {
  const Stage stage = four_bar();
  Client client(stage);
  const Json first = ask(client, {{"do", "neutral"}});
  const Json other = ask(client, {{"do", "branch"}, {"cluster", 0}});
  EXPECT_FALSE(other.contains("notice"));
  EXPECT_EQ(other["pose"]["values"], first["pose"]["values"]);
  EXPECT_LT(number(other, "residual"), closed);
  const int rocker = stage.model->joint("bar.rocker").q;
  EXPECT_GT(
      std::abs(other["pose"]["q"][rocker].get<double>() - first["pose"]["q"][rocker].get<double>()),
      0.1);
  const Json again = ask(client, {{"do", "branch"}, {"cluster", 0}});
  EXPECT_NEAR(std::remainder(again["pose"]["q"][rocker].get<double>() -
                                 first["pose"]["q"][rocker].get<double>(),
                             2 * 3.14159265358979),
              0.0, 1e-9);
}

TEST(ViewerClientTest, DraggingBringsThePointToItsTargetAndKeepsLoopsClosed) {
  for (const char* name : {"tello.yaml", "rod_ankle.yaml", "four_bar_leg.yaml"}) {
    const Stage stage = robot(name);
    Client client(stage);
    const int link = static_cast<int>(stage.model->links().size()) - 1;
    const int body = stage.model->links()[link].body;
    const Json before = ask(client, {{"do", "neutral"}});
    // A position that it can reach: that of the same point at slightly other coordinates.
    Json moved = before;
    for (std::size_t i = 0; i < stage.scene["sliders"].size(); ++i) {
      const double value = before["pose"]["values"][i].get<double>();
      moved = ask(client, {{"do", "set"}, {"slider", i}, {"value", value - 0.05}});
    }
    const Json origin = {0, 0, 0};
    const Transform<double>& X = stage.model->links()[link].X;
    const Json at_body = {X.r.x, X.r.y, X.r.z};
    const Vec3<double> target = place(stage, moved["pose"], body, at_body);
    Json now = ask(client, {{"do", "neutral"}});
    const auto distance = [&](const Json& answer) {
      const Vec3<double> e = place(stage, answer["pose"], body, at_body) - target;
      return std::sqrt(dot(e, e));
    };
    const double far = distance(now);
    ASSERT_GT(far, 1e-4) << name;
    for (int k = 0; k < 30; ++k) {
      now = ask(client, {{"do", "drag"},
                         {"link", link},
                         {"point", origin},
                         {"target", {target.x, target.y, target.z}}});
      ASSERT_LT(number(now, "residual"), closed) << name;
    }
    EXPECT_LT(distance(now), 0.1 * far) << name << ": damping slows the weakest direction";
  }
}

TEST(ViewerClientTest, DraggingStopsAtTheLimitsOfIndependentJoints) {
  const Stage stage = robot("panda.urdf");
  Client client(stage);
  const int link = static_cast<int>(stage.model->links().size()) - 1;
  Json now;
  for (int k = 0; k < 20; ++k) {
    now = ask(client,
              {{"do", "drag"}, {"link", link}, {"point", {0, 0, 0}}, {"target", {-2, 3, -2}}});
  }
  int limited = 0;
  for (std::size_t i = 0; i < stage.scene["sliders"].size(); ++i) {
    const Json& s = stage.scene["sliders"][i];
    if (!s["limited"].get<bool>()) continue;
    ++limited;
    EXPECT_GE(now["pose"]["values"][i].get<double>(), s["lower"].get<double>() - 1e-12);
    EXPECT_LE(now["pose"]["values"][i].get<double>(), s["upper"].get<double>() + 1e-12);
  }
  EXPECT_GE(limited, 7);
}

TEST(ViewerClientTest, SimulationAdvancesByTheClockAndKeepsEnergy) {
  const Stage stage = four_bar();
  Client client(stage);
  EXPECT_FALSE(client.tick(0.03).has_value());
  const Json begun = ask(client, {{"do", "play"}, {"dt", 1e-3}});
  ASSERT_TRUE(client.playing());
  const double energy = begun["sample"]["energy"].get<double>();
  Json frame;
  for (int k = 0; k < 10; ++k) {
    frame = Json::parse(*client.tick(0.01));
    EXPECT_EQ(client.receive(Json{{"do", "seen"}, {"frame", frame["frame"]}}.dump()), "");
  }
  // A loaded machine may cut frames short; they never run ahead of the clock.
  EXPECT_LE(frame["sample"]["t"].get<double>(), 0.1 + 1e-9);
  EXPECT_GT(frame["sample"]["t"].get<double>(), 0.005);
  EXPECT_GT(frame["sample"]["kinetic"].get<double>(), 0.0);
  EXPECT_NEAR(frame["sample"]["energy"].get<double>(), energy, 1e-6) << "rk4 at 1 ms";
  EXPECT_LT(number(frame, "residual"), closed);
  EXPECT_FALSE(ask(client, {{"do", "pause"}})["playing"].get<bool>());
  const double t = ask(client, {{"do", "pause"}})["sample"]["t"].get<double>();
  const Json stepped = ask(client, {{"do", "step"}, {"dt", 2e-3}});
  EXPECT_NEAR(stepped["sample"]["t"].get<double>(), t + 2e-3, 1e-12);
  EXPECT_FALSE(ask(client, {{"do", "rest"}}).contains("sample"));
}

TEST(ViewerClientTest, SimulationWaitsForAPageThatDrawsSlower) {
  const Stage stage = four_bar();
  Client client(stage);
  ask(client, {{"do", "play"}, {"dt", 1e-3}});
  Json last;
  int frames = 0;
  for (int k = 0; k < 10; ++k) {
    const auto frame = client.tick(0.005);
    if (!frame) continue;
    last = Json::parse(*frame);
    ++frames;
  }
  EXPECT_EQ(frames, 2);
  // Of ten frames of 5 ms the time of two passes, or less on a loaded machine.
  EXPECT_LE(last["sample"]["t"].get<double>(), 0.01 + 1e-9);
  client.receive(Json{{"do", "seen"}, {"frame", last["frame"]}}.dump());
  EXPECT_TRUE(client.tick(0.005).has_value());
  // Of frames that were not sent nothing is seen.
  client.receive(R"({"do": "seen", "frame": 1000})");
  EXPECT_TRUE(client.tick(0.005) && client.tick(0.005) && !client.tick(0.005));
}

TEST(ViewerClientTest, TwoClientsHaveRobotsOfTheirOwn) {
  const Stage stage = four_bar();
  Client one(stage), two(stage);
  ask(one, {{"do", "set"}, {"slider", 0}, {"value", 0.2}});
  EXPECT_EQ(ask(two, {{"do", "pause"}})["pose"]["values"][0].get<double>(), 0.0);
}

TEST(ViewerClientTest, PositionSurvivesItsServer) {
  const Stage stage = robot("tello.yaml");
  Client one(stage), two(stage);
  const Json before = ask(one, {{"do", "random"}, {"seed", 3}});
  const Json after = ask(two, {{"do", "place"}, {"q", before["pose"]["q"]}});
  for (int i = 0; i < stage.model->nq(); ++i) {
    EXPECT_NEAR(before["pose"]["q"][i].get<double>(), after["pose"]["q"][i].get<double>(), 1e-9);
  }
}

TEST(ViewerClientTest, WrongMessagesAreAnsweredByWhatWasExpected) {
  const Stage stage = four_bar();
  Client client(stage);
  const auto error = [&](const std::string& text) {
    const Json answer = Json::parse(client.receive(text));
    return answer.value("error", std::string("no error"));
  };
  for (const auto& [text, word] : std::vector<std::pair<std::string, std::string>>{
           {"", "no JSON object"},
           {"[1]", "no JSON object"},
           {"{", "no JSON object"},
           {"{}", "expected hello"},
           {R"({"do": 3})", "expected a text"},
           {R"({"do": "fly"})", "'fly'"},
           {R"({"do": "set", "slider": 0})", "'value' is missing"},
           {R"({"do": "set", "slider": 1, "value": 0})", "expected one below 1"},
           {R"({"do": "set", "slider": -1, "value": 0})", "whole number"},
           {R"({"do": "set", "slider": 0.5, "value": 0})", "whole number"},
           {R"({"do": "set", "slider": 0, "value": 1e300})", "below 1e6"},
           {R"({"do": "set", "slider": 0, "value": null})", "expected a number"},
           {R"({"do": "drag", "link": 1, "point": [0, 0], "target": [0, 0, 0]})", "three numbers"},
           {R"({"do": "drag", "link": 99, "point": [0, 0, 0], "target": [0, 0, 0]})",
            "expected one below"},
           {R"({"do": "branch", "cluster": 9})", "expected one below 1"},
           {R"({"do": "place", "q": [1]})", "size of q is 1, expected 3"},
           {R"({"do": "place", "q": [1, 0, 0]})", "does not close"},
           {R"({"do": "play", "dt": 0})", "expected a number from"},
           {R"({"do": "play", "algorithm": "abba"})", "abba"}}) {
    EXPECT_NE(error(text).find(word), std::string::npos) << text << ": " << error(text);
  }
  EXPECT_LT(number(ask(client, {{"do", "hello"}}), "residual"), closed);
}

TEST(ViewerClientTest, RubbishNeitherThrowsNorHangs) {
  const Stage stage = robot("rod_ankle.yaml");
  Client client(stage);
  const std::vector<std::string> words{"hello", "set",   "neutral", "random", "branch", "drag",
                                       "play",  "pause", "step",    "rest",   "place"};
  std::mt19937 random(1);
  const auto dice = [&](int n) { return static_cast<int>(random() % n); };
  const auto value = [&]() -> Json {
    switch (dice(9)) {
      case 0:
        return dice(5);
      case 1:
        return 1e300;
      case 2:
        return -1;
      case 3:
        return nullptr;
      case 4:
        return "x";
      case 5:
        return Json::array({dice(3) - 1, 0.3, dice(2)});
      case 6:
        return Json::object({{"do", "set"}});
      case 7:
        return Json::array({1e308, -1e308, 0});
      default:
        return (dice(2000) - 1000) * 0.003;
    }
  };
  const auto begin = std::chrono::steady_clock::now();
  int answers = 0;
  for (int k = 0; k < 1500; ++k) {
    Json message{{"do", words[dice(11)]}};
    for (const char* key : {"slider", "value", "link", "point", "target", "cluster", "seed", "dt",
                            "speed", "algorithm", "q", "id"}) {
      if (dice(2)) message[key] = value();
    }
    std::string text = message.dump();
    for (int flips = dice(3) == 0 ? 1 + dice(4) : 0; flips > 0; --flips) {
      text[dice(static_cast<int>(text.size()))] = static_cast<char>(dice(256));
    }
    answers += Json::accept(client.receive(text));
    if (client.playing()) client.tick(0.002);
  }
  EXPECT_EQ(answers, 1500);
  // Nested as deep as the largest message allows.
  EXPECT_TRUE(Json::accept(client.receive(std::string(60000, '['))));
  EXPECT_TRUE(Json::accept(
      client.receive(R"({"do":)" + std::string(30000, '[') + std::string(30000, ']') + "}")));
  const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - begin;
  EXPECT_LT(spent.count(), 120.0);
  EXPECT_LT(number(ask(client, {{"do", "neutral"}}), "residual"), closed);
}

TEST(ViewerExportTest, SweepsHoldClosedPosesAndLeaveOutWhatDoesNotClose) {
  const Stage stage = four_bar();
  const Json data = viewer::exported(stage, nullptr);
  const Json& sweep = data.at("sweeps").at(0);
  ASSERT_EQ(sweep["rows"].size(), 61u);
  int there = 0;
  for (std::size_t i = 0; i < 61; ++i) {
    // Reach is 1.445 rad to either side of the base line, the zero position at 1.2 rad.
    const double angle = -3.14159265358979 + i * 3.14159265358979 / 30 + 1.2;
    const double inside = std::acos(0.125) - std::abs(angle);
    if (sweep["rows"][i].is_null()) {
      EXPECT_LT(inside, 0.0) << angle;
      continue;
    }
    ++there;
    EXPECT_GT(inside, 0.0) << angle;
    EXPECT_LT(sweep["residuals"][i].get<double>(), closed);
  }
  EXPECT_GT(there, 20);
}

TEST(ViewerExportTest, FileIsSelfContainedSmallAndSafeAgainstNames) {
  const std::string page = "<script id=\"data\" type=\"application/json\"></script>";
  const std::string text = viewer::self_contained(page, {{"name", "</script><script>alert(1)"}});
  EXPECT_EQ(text.find("</script><script>"), std::string::npos);
  EXPECT_THROW(viewer::self_contained("<html>", {}), InvalidModel);
  for (const char* name : {"tello.yaml", "mit_humanoid.yaml", "jvrc1_geared.yaml"}) {
    EXPECT_LT(viewer::to_text(viewer::exported(robot(name), nullptr)).size(), 1200000u)
        << name << ": with the page of 0.8 MB below 2 MB";
  }
}

TEST(ViewerExportTest, WrongTrajectoriesNameFileLineAndColumn) {
  const Stage stage = four_bar();
  const auto error = [&](const std::string& text) -> std::string {
    try {
      viewer::read_trajectory(*stage.model, text, "run.csv");
    } catch (const Error& e) {
      return e.what();
    }
    return "";
  };
  const std::string header = "time,q.bar.crank,q.bar.rocker,q.bar.coupler,energy\n";
  EXPECT_EQ(error(header + "0,0,0,0,1\n1,0,0,0,1\n"), "");
  EXPECT_NE(error("").find("'q.bar.crank' is missing"), std::string::npos);
  EXPECT_NE(error(header).find("no rows"), std::string::npos);
  EXPECT_NE(error(header + "0,0,0\n").find(":2: number of fields is 3"), std::string::npos);
  EXPECT_NE(error(header + "0,0,x,0,1\n").find("column 'q.bar.rocker' is 'x'"), std::string::npos);
  EXPECT_NE(error(header + "1,0,0,0,1\n0,0,0,0,1\n").find("time is 0"), std::string::npos);
  EXPECT_NE(error(header + std::string("0,0\0,0,0,1\n", 11)).find("'q.bar.crank'"),
            std::string::npos);
  EXPECT_NE(error(header + "0,\"0,5\",0,0,1\n").find("'0,5'"), std::string::npos);
  EXPECT_NE(error("time,q.bar.crank,q.bar.crank\n").find("given twice"), std::string::npos);
  EXPECT_NE(error("time,time\n").find("given twice"), std::string::npos);
  EXPECT_NE(error("time,q.knee\n0,0\n").find("'q.knee'"), std::string::npos);
  EXPECT_NE(error("time,q.bar.crank\n0,0\n").find("missing"), std::string::npos);
}

TEST(ViewerExportTest, TrajectoriesWithOpenLoopsAreTold) {
  const Stage stage = four_bar();
  const auto doubts = [&](const std::vector<double>& q) {
    return viewer::doubts_of(stage.model, {{0.0, 0.5}, {stage.start, q}, {}, {}});
  };
  std::vector<double> q = stage.start;
  EXPECT_EQ(doubts(q), "");
  q[0] += 0.3;
  EXPECT_NE(doubts(q).find("open by"), std::string::npos);
  EXPECT_NE(doubts(q).find("at 0.5 s"), std::string::npos);
}

TEST(ViewerExportTest, TrajectoriesHaveQuaternionsWithADirection) {
  const Stage stage{host(), ESPALIER_SOURCE_DIR "/robots/tello.yaml", {}};
  std::string header = "time", row = "0";
  for (const Joint& joint : stage.model->joints()) {
    for (int k = 0; k < joint.nq; ++k) {
      header += ",q." + joint.name + (joint.nq > 1 ? "[" + std::to_string(k) + "]" : "");
      row += ",0";
    }
  }
  EXPECT_THROW(viewer::read_trajectory(*stage.model, header + "\n" + row + "\n", "run.csv"),
               InvalidModel);
}

}  // namespace
}  // namespace espalier::test::client_test
