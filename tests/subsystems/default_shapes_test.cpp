#include <gtest/gtest.h>

#include "espalier/kernel/sub_mechanism.hpp"

// Parts of sub-mechanisms draw themselves: as the solid that has their inertia.

namespace espalier::default_shapes_test {
namespace {

constexpr double rounding = 1e-12;  // of square roots of sums of a few products

TEST(DefaultShapesTest, AWheelIsACylinderOfItsRadiusAndWidth) {
  const double m = 0.3, r = 0.04, l = 0.01, across = m * (3 * r * r + l * l) / 12;
  Assembly a;
  a.body("wheel", "continuous", "base",
         Inertial{{{0.1, 0, 0}, {0, 0, 0}}, m, {across, 0, 0, across, 0, m * r * r / 2}});
  ASSERT_EQ(a.parts.links.at(0).visuals.size(), 1u);
  const ShapeDescription& shape = a.parts.links[0].visuals[0];
  ASSERT_TRUE(std::holds_alternative<Cylinder>(shape.shape));
  EXPECT_NEAR(std::get<Cylinder>(shape.shape).radius, r, rounding);
  EXPECT_NEAR(std::get<Cylinder>(shape.shape).length, l, rounding);
  EXPECT_EQ(shape.origin, (Pose{{0.1, 0, 0}, {0, 0, 0}}));
}

TEST(DefaultShapesTest, ALinkIsABoxOfItsEdges) {
  const double m = 2, x = 0.5, y = 0.2, z = 0.1;
  Assembly a;
  a.body("link", "revolute", "base",
         Inertial{{},
                  m,
                  {m * (y * y + z * z) / 12, 0, 0, m * (x * x + z * z) / 12, 0,
                   m * (x * x + y * y) / 12}});
  const ShapeDescription& shape = a.parts.links.at(0).visuals.at(0);
  ASSERT_TRUE(std::holds_alternative<Box>(shape.shape));
  const Vec3<double>& size = std::get<Box>(shape.shape).size;
  EXPECT_NEAR(size.x, x, rounding);
  EXPECT_NEAR(size.y, y, rounding);
  EXPECT_NEAR(size.z, z, rounding);
}

TEST(DefaultShapesTest, PointMassesAndImpossibleInertiasHaveNoShape) {
  Assembly a;
  a.body("point", "revolute", "base", Inertial{{}, 1.0, {0, 0, 0, 0, 0, 0}});
  a.body("impossible", "revolute", "base", Inertial{{}, 1.0, {1, 0, 0, 2, 0, 9}});
  EXPECT_TRUE(a.parts.links.at(0).visuals.empty());
  EXPECT_TRUE(a.parts.links.at(1).visuals.empty());
}

}  // namespace
}  // namespace espalier::default_shapes_test
