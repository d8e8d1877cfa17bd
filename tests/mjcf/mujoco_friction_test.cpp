#include <filesystem>
#include <fstream>

#include "formats/mjcf/mjcf.hpp"
#include "tests/mjcf/mujoco.hpp"
#include "tests/support/host.hpp"

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
  const auto file = std::filesystem::temp_directory_path() / "espalier_mujoco_friction_test.xml";
  ShapeDescription shape;
  shape.shape = Sphere{0.2}, shape.friction = 0.8;
  const auto expect = [&](int dimensions, double torsional, double rolling) {
    std::ofstream(file) << MjcfFormat().write(ball_with(shape));
    Mujoco mujoco(file.string());
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
  std::filesystem::remove(file);
}

}  // namespace
}  // namespace espalier::test::mujoco_friction_test
