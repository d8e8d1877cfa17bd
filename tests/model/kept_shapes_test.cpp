#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "espalier/kernel/model/layout.hpp"
#include "tests/support/host.hpp"
#include "tests/support/simple_robot.hpp"

// Shapes that a Model gives are those of its Description.

namespace espalier::test::kept_shapes_test {
namespace {

std::vector<Shape> one_of_each_kind() {
  return {Box{{1, 2, 3}},
          Sphere{0.5},
          Cylinder{0.25, 2},
          Capsule{0.125, 4},
          Ellipsoid{{3, 2, 1}},
          Plane{5, 6},
          Mesh{"hand.stl", {0.1, 0.2, 0.3}},
          HeightField{"", {7, 8, 9}, 0.5, 2, 3, {0, 0.1, 0.2, 0.3, 0.4, 1}}};
}

/// Shapes of every kind, of which every second one says all that may be left out.
Description robot_with_shapes() {
  Description robot = ground();
  add_solid(robot, "arm");
  add_joint(robot, "hinge", "revolute", "base", "arm", {0, 1, 0}, {{0, 0, 1}, {0.5, 0, 0}});
  int number = 0;
  for (const Shape& kind : one_of_each_kind()) {
    ShapeDescription shape;
    shape.shape = kind;
    shape.origin = {{0.1 * number, 0.2, 0.3}, {0.1, 0.2, 0.1 * number}};
    if (number % 2 == 1) {
      shape.name = "shape " + std::to_string(number);
      shape.color = Color{0.1, 0.2, 0.3, 0.1 * number};
      shape.material = "steel";
      shape.friction = 0.4, shape.torsional_friction = 0.01, shape.rolling_friction = 0.001;
      shape.where = {"robot.test", 10 + number};
    }
    LinkDescription& link = robot.links[number % 3 == 0 ? 0 : 1];
    (number % 4 < 2 ? link.visuals : link.collisions).push_back(shape);
    ++number;
  }
  return robot;
}

void expect_equal(const ShapeDescription& a, const ShapeDescription& b) {
  EXPECT_EQ(a.name, b.name);
  EXPECT_TRUE(a.shape == b.shape) << shape_kind(a.shape) << " " << shape_kind(b.shape);
  EXPECT_TRUE(a.origin == b.origin);
  EXPECT_EQ(a.color, b.color);
  EXPECT_EQ(a.material, b.material);
  EXPECT_EQ(a.friction, b.friction);
  EXPECT_EQ(a.torsional_friction, b.torsional_friction);
  EXPECT_EQ(a.rolling_friction, b.rolling_friction);
  EXPECT_EQ(a.where.text(), b.where.text());
}

TEST(KeptShapesTest, EveryKindComesBackWithAllThatWasSaidOfIt) {
  const Description robot = robot_with_shapes();
  const ModelPtr model = host().compile(robot);
  std::size_t next = 0;
  for (std::size_t l = 0; l < robot.links.size(); ++l) {
    const LinkDescription& link = robot.links[l];
    for (const auto* shapes : {&link.visuals, &link.collisions}) {
      for (const ShapeDescription& wanted : *shapes) {
        ASSERT_LT(next, model->shapes().size());
        const PlacedShape& placed = model->shapes()[next++];
        using Role = PlacedShape::Role;
        EXPECT_EQ(placed.role, shapes == &link.visuals ? Role::visual : Role::collision);
        EXPECT_EQ(placed.link, static_cast<int>(l));
        EXPECT_EQ(placed.body, model->links()[l].body);
        expect_equal(placed.shape, wanted);
      }
    }
  }
  EXPECT_EQ(next, one_of_each_kind().size());
  EXPECT_EQ(model->shapes().size(), next);
}

TEST(KeptShapesTest, ManyDifferentTextsComeBack) {
  Description robot = ground();
  for (int k = 0; k < 200; ++k) {
    ShapeDescription shape;
    shape.name = "shape " + std::to_string(k % 70);
    shape.where = {"robot.test", k};
    robot.links[0].visuals.push_back(shape);
  }
  add_solid(robot, "arm");
  add_joint(robot, "hinge", "revolute", "base", "arm");
  const ModelPtr model = host().compile(robot);
  ASSERT_EQ(model->shapes().size(), 200u);
  for (std::size_t k = 0; k < 200; ++k) {
    expect_equal(model->shapes()[k].shape, robot.links[0].visuals[k]);
  }
}

TEST(KeptShapesTest, AreMadeOnceForAllThreads) {
  const ModelPtr model = host().compile(robot_with_shapes());
  std::vector<const PlacedShape*> seen(4);
  std::vector<std::thread> threads;
  for (const PlacedShape*& mine : seen) {
    threads.emplace_back([&] { mine = model->shapes().data(); });
  }
  for (std::thread& thread : threads) thread.join();
  for (const PlacedShape* mine : seen) EXPECT_EQ(mine, model->shapes().data());
}

}  // namespace
}  // namespace espalier::test::kept_shapes_test
