
#include "formats/mjcf/mjcf.hpp"
#include "formats/mjcf/pair_friction.hpp"
#include "formats/xml/node.hpp"
#include "tests/mjcf/mujoco.hpp"
#include "tests/support/host.hpp"
#include "tests/support/temporary_folder.hpp"

// MuJoCo reads the friction that is written: condim, and a coefficient with two lengths.

namespace espalier::test::mujoco_friction_test {
namespace {

/// Robot of two balls, of which the second has the friction.
Description ball_with(const ShapeDescription& friction) {
  Description robot;
  robot.name = "ball";
  robot.links = {{"world", std::nullopt, {}}, {"ball", Inertial{{}, 1.0, {1, 0, 0, 1, 0, 1}}, {}}};
  JointDescription joint;
  joint.name = "slide", joint.type = "prismatic", joint.parent = "world", joint.child = "ball";
  robot.joints = {joint};
  ShapeDescription plain;
  plain.shape = Sphere{0.1};
  robot.links[1].collisions = {plain, friction};
  return robot;
}

TEST(MujocoFrictionTest, LengthsAndDimensionsAreThoseOfTheDescription) {
  const TemporaryFolder folder;
  ShapeDescription shape;
  shape.shape = Sphere{0.2}, shape.friction = 0.8;
  const auto expect = [&](int dimensions, double torsional, double rolling) {
    Mujoco mujoco(folder.write("ball.xml", MjcfFormat().write(ball_with(shape))));
    const mjModel& m = mujoco.model();
    ASSERT_EQ(m.ngeom, 2);
    EXPECT_EQ(m.geom_condim[0], 3);
    EXPECT_EQ(m.geom_condim[1], dimensions);
    EXPECT_EQ(m.geom_friction[3], 0.8);
    EXPECT_EQ(m.geom_friction[4], torsional);
    EXPECT_EQ(m.geom_friction[5], rolling);
    EXPECT_EQ(m.geom_friction[1], 0.005);  // MuJoCo's own, where nothing is said
    EXPECT_EQ(m.geom_friction[2], 0.0001);
  };
  expect(3, 0.005, 0.0001);
  shape.torsional_friction = 0.02;
  expect(4, 0.02, 0.0001);
  shape.rolling_friction = 0.003;
  expect(6, 0.02, 0.003);
  shape.torsional_friction.reset();
  expect(6, 0.0, 0.003);
}

/// Friction of the only contact of a file; numbers that its dimension leaves out are zero.
mjcf::Friction of_contact(const std::string& text) {
  const TemporaryFolder folder;
  Mujoco mujoco(folder.write("contact.xml", text));
  mujoco.model().opt.disableflags &= ~mjDSBL_CONTACT;
  mj_forward(&mujoco.model(), &mujoco.data());
  EXPECT_EQ(mujoco.data().ncon, 1);
  const mjContact& c = mujoco.data().contact[0];
  return {c.dim >= 3 ? c.friction[0] : 0.0, c.dim >= 4 ? c.friction[2] : 0.0,
          c.dim >= 6 ? c.friction[3] : 0.0};
}
std::string ball_on_floor(const std::string& floor, const std::string& ball,
                          const std::string& pair) {
  return "<mujoco><worldbody><geom name='floor' type='plane' size='1 1 1' " + floor +
         "/><body pos='0 0 0.09'><freejoint/><geom name='ball' size='0.1' " + ball +
         "/></body></worldbody><contact>" + pair + "</contact></mujoco>";
}

TEST(MujocoFrictionTest, TwoGeomsHaveWhatTheReaderComparesWith) {
  for (const int a : {1, 3, 4, 6}) {
    for (const int b : {1, 3, 4, 6}) {
      for (const int priority : {-1, 0, 1}) {
        const auto said = [](int condim, int rank) {
          return " condim='" + std::to_string(condim) + "' priority='" + std::to_string(rank) + "'";
        };
        mjcf::TouchingGeom floor, ball;
        floor.condim = a, floor.priority = priority, floor.friction = {0.5, 0.02, 0.001};
        ball.condim = b, ball.friction = {0.7, 0.01, 0.003};
        EXPECT_EQ(dynamic_friction(floor, ball),
                  of_contact(ball_on_floor("friction='0.5 0.02 0.001'" + said(a, priority),
                                           "friction='0.7 0.01 0.003'" + said(b, 0), "")))
            << a << " " << b << " " << priority;
      }
    }
  }
}

TEST(MujocoFrictionTest, APairHasItsOwn) {
  for (const char* own :
       {"", "condim='1'", "condim='4'", "condim='6'",
        "condim='6' friction='0.4 0.4 0.03 0.002 0.002'", "condim='6' friction='0.4 0.4'"}) {
    const std::string pair = "<pair geom1='floor' geom2='ball' " + std::string(own) + "/>";
    const formats::XmlNode node = formats::parse_xml(pair, "mjcf", "robot.xml");
    const mjcf::CompilerOptions options;
    EXPECT_EQ(explicit_friction(mjcf::Element(node, "pair", options, nullptr)),
              of_contact(ball_on_floor("friction='0.5 0.02 0.001'", "condim='4'", pair)))
        << own;
  }
}

}  // namespace
}  // namespace espalier::test::mujoco_friction_test
