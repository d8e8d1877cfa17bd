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
  const TemporaryFolder folder;
  folder.write("mesh.obj",
               "v 0.2 0 -0.1\nv -0.1 0.2 -0.1\nv -0.1 -0.2 -0.1\nv 0 0 0.1\n"
               "f 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n");
  const std::string ground =
      folder.write("ground.json", R"({"shapes": [{"link": "ball", "mesh": "mesh.obj"}]})");
  const Answer a = run(command(model.path(), state.path(), "--ground '" + ground + "' --json"));
  ASSERT_EQ(a.code, 0) << a.err;
  EXPECT_NEAR(a.json()["final"]["q"]["root"][2].get<double>(), 0.1, 2e-5);  // slop, and floats
  const Json hulls = a.json()["contact"]["hulls"];
  ASSERT_EQ(hulls.size(), 1u);
  EXPECT_EQ(hulls[0]["corners"], 4);
  EXPECT_EQ(hulls[0]["shape"], "ball");
  EXPECT_EQ(a.err.find("concave"), std::string::npos) << a.err;
}

TEST(GroundTest, AStartInsideOfTheGroundIsTold) {
  const TemporaryFile model(".urdf", ball), low(".json", R"({"q": {"root": [0,0,-0.5,0,0,0,1]}})");
  const TemporaryFile high(".json", above);
  const Answer a = run(command(model.path(), low.path(), "--ground plane"));
  EXPECT_NE(a.err.find("overlap by 0.6 m at the start"), std::string::npos) << a.err;
  EXPECT_NE(a.err.find("'ball'"), std::string::npos) << a.err;
  const Answer b = run(command(model.path(), high.path(), "--ground plane"));
  EXPECT_EQ(b.err, "");
}

TEST(GroundTest, OptionsOfTheOtherKindOfRunAreTold) {
  const TemporaryFile model(".urdf", ball), state(".json", above);
  const Answer a = run(
      command(model.path(), state.path(), "--ground plane --integrator rk4 --damping implicit"));
  EXPECT_EQ(a.code, 0);
  for (const char* word : {"--integrator is given", "--damping is given", "no effect"}) {
    EXPECT_NE(a.err.find(word), std::string::npos) << a.err;
  }
  const Answer b = run(command(model.path(), state.path(), "--solver newton"));
  EXPECT_NE(b.err.find("--solver is given, expected it with --ground"), std::string::npos) << b.err;
}

TEST(GroundTest, AFloorOfTheFileIsNotDoubled) {
  const TemporaryFile model(".xml", R"(<mujoco model="ball"><worldbody>
<geom type="plane" size="1 1 0.1"/>
<body name="a" pos="0 0 0.3"><freejoint name="root"/><geom size="0.1"/></body></worldbody></mujoco>)");
  const Answer a =
      run("simulate '" + model.path() + "' --duration 1 --dt 0.002 --ground plane --json");
  ASSERT_EQ(a.code, 0) << a.err;
  EXPECT_EQ(a.json()["contact"]["points"], 1);
  EXPECT_NEAR(a.json()["final"]["q"]["root"][2].get<double>(), 0.1, 2e-5);  // slop
}

/// A parallelogram whose bars come to lie on each other, where it may go on as another four-bar.
const char* const parallelogram = R"(<robot name="bars"><link name="base"/>
<link name="a"><inertial><origin xyz="0 0 0.1"/><mass value="1"/><inertia ixx="0.01" iyy="0.01"
  izz="0.01"/></inertial></link>
<link name="b"><inertial><origin xyz="0.1 0 0"/><mass value="1"/><inertia ixx="0.01" iyy="0.01"
  izz="0.01"/></inertial><collision><geometry><sphere radius="0.05"/></geometry></collision></link>
<link name="c"><inertial><origin xyz="0 0 0.1"/><mass value="1"/><inertia ixx="0.01" iyy="0.01"
  izz="0.01"/></inertial></link>
<joint name="crank" type="continuous" independent="true"><parent link="base"/><child link="a"/>
  <axis xyz="0 1 0"/></joint>
<joint name="elbow" type="continuous"><parent link="a"/><child link="b"/><origin xyz="0 0 0.2"/>
  <axis xyz="0 1 0"/></joint>
<joint name="rocker" type="continuous"><parent link="base"/><child link="c"/>
  <origin xyz="0.5 0 0"/><axis xyz="0 1 0"/></joint>
<loop name="pin" type="revolute"><predecessor link="b"><origin xyz="0.5 0 0"/></predecessor>
  <successor link="c"><origin xyz="0 0 0.2"/></successor><axis xyz="0 1 0"/></loop></robot>)";

TEST(GroundTest, AtASingularMechanismShorterStepsAreNoAdvice) {
  const TemporaryFile model(".urdf", parallelogram), state(".json", R"({"v": {"crank": 8}})");
  const TemporaryFile low(".json", R"({"plane": {"height": -2}})");
  const Answer a = run("simulate '" + model.path() + "' --duration 1 --dt 0.002 --state '" +
                       state.path() + "' --ground '" + low.path() + "'");
  EXPECT_EQ(a.code, 1);
  EXPECT_NE(a.err.find("keep it off them with limits or a controller"), std::string::npos) << a.err;
  EXPECT_EQ(a.err.find("shorter steps"), std::string::npos) << a.err;
}

TEST(GroundTest, EnergyOfARobotAtRestIsNoRatio) {
  const TemporaryFile model(".urdf", ball), state(".json", above);
  const TemporaryFile afloat(".json", R"({"gravity": [0, 0, 0]})");
  const Answer a = run(command(model.path(), afloat.path(), ""));
  ASSERT_EQ(a.code, 0) << a.err;
  EXPECT_EQ(a.out.find("of the largest kinetic"), std::string::npos) << a.out;
  const Answer falls = run(command(model.path(), state.path(), ""));
  EXPECT_NE(falls.out.find("of the largest kinetic"), std::string::npos) << falls.out;
}

TEST(GroundTest, UnusableGroundsAreRefusedByName) {
  const TemporaryFile model(".urdf", ghost), state(".json", above);
  const auto refused = [&](const std::string& ground, const std::string& part) {
    const Answer a = run(command(model.path(), state.path(), "--ground '" + ground + "'"));
    EXPECT_NE(a.code, 0);
    EXPECT_NE(a.err.find(part), std::string::npos) << a.err;
  };
  refused("plane", "number of shapes on links that move is 0");
  refused("nowhere.json", "nowhere.json");
  refused("plain", "did you mean 'plane'?");
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
