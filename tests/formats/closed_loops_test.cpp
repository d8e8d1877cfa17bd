#include <gtest/gtest.h>

#include <Eigen/Dense>

#include "formats/urdf/urdf.hpp"
#include "tests/formats/support.hpp"
#include "tests/support/host.hpp"
#include "tests/support/temporary_folder.hpp"

// Loops in the dialects of URDF that others use: Gepetto's YAML beside it, urdfdom's <constraint>.

namespace espalier::test::closed_loops_test {
namespace {

/// A four-bar in the x-z plane without its last pin, and frames to close it: the rocker's tip turns
/// on the rocker, so that the coupler's end can be welded to it.
const char* const open_four_bar = R"(<robot name="four_bar"> <espalier gravity="4 0 -9"/>
  <link name="base"/>
  <link name="crank"><inertial><origin xyz="0 0 0.05"/><mass value="0.3"/>
    <inertia ixx="1e-3" iyy="1e-3" izz="1e-4"/></inertial></link>
  <link name="coupler"><inertial><origin xyz="0.15 0 0"/><mass value="0.5"/>
    <inertia ixx="1e-4" iyy="4e-3" izz="4e-3"/></inertial></link>
  <link name="rocker"><inertial><origin xyz="0 0 0.07"/><mass value="0.4"/>
    <inertia ixx="2e-3" iyy="2e-3" izz="1e-4"/></inertial></link>
  <joint name="motor" type="revolute"><parent link="base"/><child link="crank"/><axis xyz="0 1 0"/>
    <limit lower="-1" upper="1" effort="1" velocity="1"/></joint>
  <joint name="elbow" type="continuous"><origin xyz="0 0 0.1"/><parent link="crank"/>
    <child link="coupler"/><axis xyz="0 1 0"/></joint>
  <joint name="pivot" type="continuous"><origin xyz="0.3 0 0"/><parent link="base"/>
    <child link="rocker"/><axis xyz="0 1 0"/></joint>
)";
const char* const tips = R"(
  <link name="coupler_tip"/> <link name="rocker_tip"/>
  <joint name="end" type="fixed"><origin xyz="0.3 0 0.05"/><parent link="coupler"/>
    <child link="coupler_tip"/></joint>
  <joint name="top" type="continuous"><origin xyz="0 0 0.15"/><parent link="rocker"/>
    <child link="rocker_tip"/><axis xyz="0 1 0"/></joint>
)";

std::string with_tips(const std::string& inside = "") {
  return std::string(open_four_bar) + tips + inside + "</robot>";
}

/// Accelerations of the motor at rest, at the angles that close the loop.
double acceleration(const std::string& file) {
  const ModelPtr robot = host().load(file);
  EXPECT_EQ(robot->nv(), 1) << file;
  std::vector<double> q(robot->nq()), v(1, 0.0), tau(1, 0.0), vdot(1);
  robot->neutral(q.data());
  EXPECT_LT(examine(*robot, q.data()).residual, 1e-11) << file;  // assembled to 1e-12 an equation
  any<ForwardDynamics<double>>(robot)->evaluate(q, v, tau, vdot);
  return vdot[0];
}

constexpr const char* pin =
    "<loop name='pin' type='revolute'><predecessor link='coupler'><origin xyz='0.3 0 0.05'/>"
    "</predecessor><successor link='rocker'><origin xyz='0 0 0.15'/></successor>"
    "<axis xyz='0 1 0'/></loop>";

/// The same mechanism by URDF+'s own loop.
double by_a_pin(const TemporaryFolder& folder) {
  return acceleration(folder.write("pin.urdf", std::string(open_four_bar) + pin + "</robot>"));
}

TEST(GepettoYamlTest, WeldsAndBallsBesideAUrdfAreTheMechanismThatAPinMakes) {
  const TemporaryFolder folder;
  const double wanted = by_a_pin(folder);
  EXPECT_GT(std::abs(wanted), 1.0);  // gravity moves it
  const std::string urdf = folder.write("robot.urdf", with_tips());
  // Named by links, or by the joints that carry them; in either case of letters.
  for (const char* loops :
       {"closed_loop: [['coupler_tip', 'rocker_tip']]\ntype: ['6d']\n",
        "closed_loop: [[end, top]]\ntype: [6D]\n", "closed_loop: [[end, rocker_tip]]\n"}) {
    folder.write("robot.yaml", loops);
    // The same mechanism, solved through another set of equations: rounding of their condition.
    EXPECT_NEAR(acceleration(urdf), wanted, 1e-9 * std::abs(wanted)) << loops;
  }
  folder.write("robot.yaml",
               "closed_loop: [[end, top]]\ntype: [3d]\njoint_name: [top]\njoint_type: [FIXED]\n");
  EXPECT_NEAR(acceleration(urdf), wanted, 1e-9 * std::abs(wanted));
}

TEST(GepettoYamlTest, MotorsAreInputsAndTypesOfJointsAreReplaced) {
  const TemporaryFolder folder;
  const std::string urdf = folder.write("robot.urdf", with_tips());
  folder.write("robot.yaml",
               "closed_loop: [[end, top]]\ntype: ['6d']\nname_mot: [motor]\n"
               "joint_name: [elbow, pivot, top]\njoint_type: [SPHERICAL, UJOINT_ZY, FIXED]\n");
  const Description robot = host().read(urdf);
  ASSERT_EQ(robot.actuators.size(), 1u);
  EXPECT_EQ(robot.actuators[0].name, "motor");
  EXPECT_EQ(robot.actuators[0].gear.at("motor"), std::vector<double>{1.0});
  EXPECT_EQ(robot.joints[1].type, "spherical");
  EXPECT_EQ(robot.joints[2].type, "universal");
  EXPECT_EQ(robot.joints[2].axis.z, 1.0);
  EXPECT_EQ(robot.joints[2].parameters.at("axis2"), (std::vector<double>{0, 1, 0}));
  EXPECT_EQ(robot.joints[4].type, "fixed");
  ASSERT_EQ(robot.loops.size(), 1u);
  EXPECT_EQ(robot.loops[0].type, "fixed");
  EXPECT_EQ(robot.loops[0].predecessor, "coupler_tip");
  EXPECT_EQ(robot.loops[0].where.line, 1);
}

TEST(GepettoYamlTest, MistakesAreNamedWithFileAndLine) {
  const TemporaryFolder folder;
  const std::string urdf = folder.write("robot.urdf", with_tips());
  const auto refused = [&](const std::string& yaml) {
    folder.write("robot.yaml", yaml);
    return message_of([&] { host().read(urdf); });
  };
  expect_in(refused("# loops\nclosed_loop: [[end, tip]]\n"), {"robot.yaml:2", "'tip'", "neither"});
  expect_in(refused("closed_loop: [[end]]\n"), {"robot.yaml:1", "pair"});
  expect_in(refused("closed_loop: [[end, top]]\ntype: ['5d']\n"), {"'5d'", "'6d'"});
  expect_in(refused("closed_loop: [[end, top]]\nname_mot: [engine]\n"), {"'engine'", "motor"});
  expect_in(refused("closed_loop: [[end, top]]\njoint_name: [top]\njoint_type: [UJOINT_XQ]\n"),
            {"'UJOINT_XQ'", "UJOINT_XY"});
  // What the file says of joints that the URDF has not is left out, and said.
  folder.write("robot.yaml",
               "closed_loop: [[end, top]]\njoint_name: [tip]\njoint_type: [SPHERICAL]\n");
  const Description robot = host().read(urdf);
  ASSERT_EQ(robot.findings.size(), 1u);
  EXPECT_EQ(robot.findings[0].severity, Finding::Severity::warning);
  expect_in(robot.findings[0].text, {"robot.yaml:2", "'tip'", "left out"});
}

TEST(GepettoYamlTest, OtherYamlBesideAUrdfIsNotTouched) {
  const TemporaryFolder folder;
  const std::string urdf = folder.write("robot.urdf", with_tips());
  folder.write("robot.yaml", "espalier: 1\nlinks: {a: {}}\n");
  EXPECT_TRUE(host().read(urdf).loops.empty());
}

std::string constraint(const std::string& type, const std::string& axes = "") {
  return "<constraint name='c' type='" + type +
         "'><parent link='coupler'/><parent_origin xyz='0.3 0 0.05' rpy='0 0 0'/>"
         "<child link='rocker'/><child_origin xyz='0 0 0.15'/>" +
         axes + "</constraint>";
}

TEST(UrdfConstraintTest, ClosesALoopAsAJointDoes) {
  const TemporaryFolder folder;
  const double wanted = by_a_pin(folder);
  const auto with = [&](const std::string& element) {
    return acceleration(
        folder.write("robot.urdf", std::string(open_four_bar) + element + "</robot>"));
  };
  const std::string y = "<parent_axis xyz='0 1 0'/>";
  EXPECT_NEAR(with(constraint("revolute_joint", y)), wanted, 1e-12 * std::abs(wanted));
  EXPECT_NEAR(with(constraint("revolute_joint", y + "<child_axis xyz='0 1 0'/>")), wanted,
              1e-12 * std::abs(wanted));  // the same equations
  EXPECT_NEAR(with(constraint("spherical_joint")), wanted, 1e-9 * std::abs(wanted));
  // A link that is cut: its ends are welded.
  const std::string cut =
      std::string(tips) +
      "<constraint name='c' type='link'><parent link='coupler_tip'/><child link='rocker_tip'/>"
      "</constraint>";
  EXPECT_NEAR(with(cut), wanted, 1e-9 * std::abs(wanted));
}

TEST(UrdfConstraintTest, AxesThatDifferTurnTheFramesOntoEachOther) {
  const auto loop = [](const std::string& type, const std::string& axes) {
    return UrdfFormat()
        .read(std::string(open_four_bar) + constraint(type, axes) + "</robot>", "robot.urdf")
        .loops.at(0);
  };
  const LoopDescription turned =
      loop("revolute_joint", "<parent_axis xyz='0 0 2'/><child_axis xyz='0.6 0 -0.8'/>");
  // The axis in the child's link, by the successor's frame, is the one that is given.
  const Vec3<double> there = transpose_times(turned.successor_origin.transform().E, turned.axis);
  constexpr double rounding = 1e-14;  // through roll, pitch, yaw and back
  EXPECT_NEAR(there.x, 1.2, rounding);
  EXPECT_NEAR(there.z, -1.6, rounding);
  const LoopDescription back =
      loop("revolute_joint", "<parent_axis xyz='0 0 1'/><child_axis xyz='0 0 -1'/>");
  EXPECT_NEAR(transpose_times(back.successor_origin.transform().E, back.axis).z, -1.0, rounding);
  const LoopDescription cross =
      loop("universal_joint", "<parent_axis xyz='1 0 0'/><child_axis xyz='0 1 0'/>");
  EXPECT_EQ(cross.type, "universal");
  EXPECT_EQ(cross.parameters.at("axis2"), (std::vector<double>{0, 1, 0}));
}

TEST(UrdfConstraintTest, UnknownTypesAreRefusedByName) {
  expect_in(message_of([] {
              UrdfFormat().read("<robot name='r'>\n" + constraint("glue") + "</robot>",
                                "robot.urdf");
            }),
            {"constraint 'c'", "robot.urdf:2", "'glue'", "revolute_joint"});
}

}  // namespace
}  // namespace espalier::test::closed_loops_test
