#include <cmath>

#include "tests/cli/run.hpp"

namespace espalier::test::ground_test {
namespace {

/// A ball of 2 kg and 0.1 m.
const char* const ball = R"(<robot name="ball"><link name="ball">
  <inertial><mass value="2"/>
    <inertia ixx="0.008" ixy="0" ixz="0" iyy="0.008" iyz="0" izz="0.008"/></inertial>
  <collision><geometry><sphere radius="0.1"/></geometry></collision></link></robot>)";
/// The same without a shape.
const char* const ghost = R"(<robot name="ghost"><link name="ball">
  <inertial><mass value="2"/>
    <inertia ixx="0.008" ixy="0" ixz="0" iyy="0.008" iyz="0" izz="0.008"/></inertial></link></robot>)";
const char* const above = R"({"q": {"root": [0, 0, 0.3, 0, 0, 0, 1]}})";

std::string command(const std::string& model, const std::string& state, const std::string& more) {
  return "simulate '" + model + "' --root floating --duration 1 --dt 0.002 --state '" + state +
         "' " + more;
}

TEST(GroundTest, BallOfTheFileComesToRestOnThePlane) {
  const TemporaryFile model(".urdf", ball), state(".json", above), csv(".csv");
  const Answer a = run(
      command(model.path(), state.path(), "--ground plane --json --output '" + csv.path() + "'"));
  ASSERT_EQ(a.code, 0) << a.err;
  const Json out = a.json();
  EXPECT_NEAR(out["final"]["q"]["root"][2].get<double>(), 0.1, 1e-6);
  EXPECT_EQ(out["contact"]["unsolved_steps"], 0);
  EXPECT_EQ(out["contact"]["points"], 1);
  std::istringstream text(contents(csv.path()));
  std::string header, line, last;
  std::getline(text, header);
  while (std::getline(text, line)) last = line;
  const std::string ending =
      ",contact.ball.fx,contact.ball.fy,contact.ball.fz,contacts,contact_residual";
  ASSERT_GE(header.size(), ending.size());
  EXPECT_EQ(header.substr(header.size() - ending.size()), ending);
  // The last two cells but one: what carries 2 kg, and one point that bears it.
  std::vector<std::string> cells;
  std::istringstream row(last);
  for (std::string cell; std::getline(row, cell, ',');) cells.push_back(cell);
  ASSERT_GE(cells.size(), 5u);
  EXPECT_NEAR(std::stod(cells[cells.size() - 3]), 2.0 * 9.81, 1e-2);  // 1e-6 m/s of 2 kg in 2 ms
  EXPECT_EQ(std::stod(cells[cells.size() - 2]), 1.0);
}

TEST(GroundTest, GroundFileBringsShapesHeightsAndBounce) {
  const TemporaryFile model(".urdf", ghost), state(".json", above);
  const TemporaryFile flat(".json", R"({"plane": {"height": 0.05}, "restitution": 0.9,
      "shapes": [{"link": "ball", "sphere": 0.2}]})");
  const Answer a =
      run(command(model.path(), state.path(), "--ground '" + flat.path() + "' --json"));
  ASSERT_EQ(a.code, 0) << a.err;
  EXPECT_GE(a.json()["final"]["q"]["root"][2].get<double>(), 0.25 - 1e-6);
  const TemporaryFile field(".json", R"({"height_field": {"columns": 2, "rows": 2, "spacing": 10,
      "heights": [0.1, 0.1, 0.1, 0.1], "xyz": [-5, -5, 0]}, "friction": 1,
      "shapes": [{"link": "ball", "box": [0.1, 0.1, 0.1]}]})");
  const Answer b =
      run(command(model.path(), state.path(), "--ground '" + field.path() + "' --json"));
  ASSERT_EQ(b.code, 0) << b.err;
  EXPECT_NEAR(b.json()["final"]["q"]["root"][2].get<double>(), 0.2, 1e-6);
}

TEST(GroundTest, ShapesThatTouchNothingAreNamed) {
  const std::string two = std::string(ball).substr(0, std::string(ball).find("</link>")) +
                          R"(<collision><geometry><mesh filename="horn.stl"/></geometry></collision>
  </link></robot>)";
  const TemporaryFile model(".urdf", two), state(".json", above);
  const Answer a = run(command(model.path(), state.path(), "--ground plane"));
  ASSERT_EQ(a.code, 0) << a.err;
  EXPECT_NE(a.err.find("collision shapes that touch nothing are ball (mesh, file missing)"),
            std::string::npos)
      << a.err << a.out;
}

TEST(GroundTest, MeshTouchesAsItsHullAndTheSummarySaysSo) {
  const TemporaryFile model(".urdf", ghost), state(".json", above);
  // A tetrahedron whose base lies 0.1 m below the link's origin.
  const TemporaryFile mesh(".obj",
                           "v 0.2 0 -0.1\nv -0.1 0.2 -0.1\nv -0.1 -0.2 -0.1\nv 0 0 0.1\n"
                           "f 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n");
  const TemporaryFile file(".json",
                           R"({"shapes": [{"link": "ball", "mesh": ")" + mesh.path() + R"("}]})");
  const Answer a =
      run(command(model.path(), state.path(), "--ground '" + file.path() + "' --json"));
  ASSERT_EQ(a.code, 0) << a.err;
  EXPECT_NEAR(a.json()["final"]["q"]["root"][2].get<double>(), 0.1, 2e-5);  // slop, and floats
  const Json hulls = a.json()["contact"]["hulls"];
  ASSERT_EQ(hulls.size(), 1u);
  EXPECT_EQ(hulls[0]["corners"], 4);
  EXPECT_EQ(hulls[0]["shape"], "ball");
  EXPECT_EQ(a.err.find("concave"), std::string::npos) << a.err;
}

TEST(GroundTest, UnusableGroundsAreRefusedByName) {
  const TemporaryFile model(".urdf", ghost), state(".json", above);
  const auto refused = [&](const std::string& ground, const std::string& part) {
    const Answer a = run(command(model.path(), state.path(), "--ground '" + ground + "'"));
    EXPECT_NE(a.code, 0);
    EXPECT_NE(a.err.find(part), std::string::npos) << a.err;
  };
  refused("plane", "number of shapes on links of ghost that move is 0");
  refused("nowhere.json", "nowhere.json");
  const TemporaryFile key(".json", R"({"fricton": 1})");
  refused(key.path(), "'friction'");
  const TemporaryFile link(".json", R"({"shapes": [{"link": "bal", "sphere": 1}]})");
  refused(link.path(), "link 'bal'");
  const TemporaryFile two(".json",
                          R"({"shapes": [{"link": "ball", "sphere": 1, "box": [1, 1, 1]}]})");
  refused(two.path(), "is 2, expected one of sphere");
  const TemporaryFile negative(".json", R"({"shapes": [{"link": "ball", "sphere": -1}]})");
  refused(negative.path(), "radius is -1");
  const TemporaryFile gone(".json", R"({"shapes": [{"link": "ball", "mesh": "gone.stl"}]})");
  refused(gone.path(), "gone.stl");
}

}  // namespace
}  // namespace espalier::test::ground_test
