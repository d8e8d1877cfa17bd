#include <gtest/gtest.h>

#include <numbers>

#include "espalier/kernel/model/placements.hpp"
#include "tests/support/host.hpp"
#include "tests/support/simple_robot.hpp"

// Geometry rides on bodies, through folding, and changes nothing that is computed.

namespace espalier::test::geometry_test {
namespace {

constexpr double pi = std::numbers::pi;
constexpr double rounding = 1e-14;  // a handful of products of rotations, lengths below 10 m

void expect_at(const Vec3<double>& v, double x, double y, double z) {
  EXPECT_NEAR(v.x, x, rounding);
  EXPECT_NEAR(v.y, y, rounding);
  EXPECT_NEAR(v.z, z, rounding);
}

ShapeDescription ball(const std::string& name, const Pose& origin) {
  ShapeDescription shape;
  shape.name = name, shape.shape = Sphere{0.1}, shape.origin = origin;
  return shape;
}

/// base -hinge(y)-> arm (1 m up) =fixed, turned by 90 degrees about z= hand, each with a ball.
Description arm() {
  Description robot = ground();
  robot.links[0].collisions.push_back(ball("floor", {{0, 0, -1}, {0, 0, 0}}));
  add_solid(robot, "arm");
  add_solid(robot, "hand");
  add_joint(robot, "hinge", "revolute", "base", "arm", {0, 1, 0}, {{0, 0, 1}, {0, 0, 0}});
  add_joint(robot, "weld", "fixed", "arm", "hand", {0, 0, 1}, {{0.5, 0, 0}, {0, 0, pi / 2}});
  robot.links[1].visuals.push_back(ball("elbow", {{0.25, 0, 0}, {0, 0, 0}}));
  robot.links[2].visuals.push_back(ball("finger", {{0.1, 0, 0}, {0, 0, 0}}));
  robot.links[2].frames.push_back({"tip", {{0.2, 0, 0}, {0, 0, 0}}, {}});
  return robot;
}

TEST(GeometryTest, ShapesOfWeldedLinksRideOnTheBodyThatMovesThem) {
  const ModelPtr model = host().compile(arm());
  ASSERT_EQ(model->body_count(), 1);
  ASSERT_EQ(model->shapes().size(), 3u);
  const PlacedShape &floor = model->shapes()[0], &elbow = model->shapes()[1],
                    &finger = model->shapes()[2];
  EXPECT_EQ(floor.shape.name, "floor");
  EXPECT_EQ(floor.role, PlacedShape::Role::collision);
  EXPECT_EQ(floor.body, 0);
  EXPECT_EQ(elbow.role, PlacedShape::Role::visual);
  EXPECT_EQ(elbow.body, 1);
  EXPECT_EQ(finger.body, 1);
  EXPECT_EQ(model->links()[finger.link].name, "hand");

  Placements at(model);
  double q = 0.0;
  at.update(&q);
  expect_at(at.shape(0).r, 0, 0, -1);
  expect_at(at.shape(1).r, 0.25, 0, 1);
  expect_at(at.shape(2).r, 0.5, 0.1, 1);  // the hand's x axis is the arm's y axis
  expect_at(at.frame(0).r, 0.5, 0.2, 1);
  q = pi / 2;  // about y: the arm points down
  at.update(&q);
  expect_at(at.shape(0).r, 0, 0, -1);
  expect_at(at.shape(1).r, 0, 0, 0.75);
  expect_at(at.shape(2).r, 0, 0.1, 0.5);
  expect_at(at.link(model->shapes()[2].link).r, 0, 0, 0.5);
  expect_at(at.frame(0).r, 0, 0.2, 0.5);
  EXPECT_EQ(model->frame("tip").body, 1);
  EXPECT_THROW(model->frame("toe"), UnknownName);
}

TEST(GeometryTest, ShapesOfFoldedRotorsTurnWithTheRotor) {
  Description robot = ground();
  add_solid(robot, "link");
  add_link(robot, "rotor", 0.1, {0, 0, 0}, {1e-3, 0, 0, 1e-3, 0, 2e-3});
  add_joint(robot, "joint", "continuous", "base", "link");
  add_joint(robot, "motor", "continuous", "base", "rotor");
  robot.couplings.push_back({"gear", "link", "rotor", 6.0, {}});
  robot.links[2].visuals.push_back(ball("mark", {{1, 0, 0}, {0, 0, 0}}));
  const ModelPtr model = host().compile(robot);
  ASSERT_EQ(model->rotors().size(), 1u);
  std::vector<double> q(model->nq());
  q[model->joint("joint").q] = pi / 12;
  q[model->joint("motor").q] = pi / 2;
  Placements at(model);
  at.update(q.data());
  expect_at(at.shape(0).r, 0, 1, 0);
}

TEST(GeometryTest, FloatingRootCarriesItsShapes) {
  CompileOptions options;
  options.root = CompileOptions::Root::floating;
  Description robot = arm();
  for (LinkDescription& link : robot.links) {
    if (link.name == "base") link.inertial = {{}, 1.0, {0.1, 0, 0, 0.1, 0, 0.1}};
  }
  const ModelPtr model = host().compile(robot, options);
  EXPECT_EQ(model->shapes()[0].body, model->link("base").body);
  EXPECT_GT(model->shapes()[0].body, 0);
}

TEST(GeometryTest, ShapesDoNotChangeTheModel) {
  const Description drawn = arm();
  Description bare = drawn;
  for (LinkDescription& link : bare.links) {
    link.visuals.clear(), link.collisions.clear(), link.frames.clear();
  }
  const ModelPtr a = host().compile(drawn), b = host().compile(bare);
  ASSERT_EQ(a->body_count(), b->body_count());
  EXPECT_EQ(a->body(1).inertia.m, b->body(1).inertia.m);
  EXPECT_EQ(a->body(1).inertia.I.xy, b->body(1).inertia.I.xy);
  EXPECT_EQ(a->mass(), b->mass());
  EXPECT_TRUE(b->shapes().empty());
}

TEST(GeometryTest, ShapesAreEqualIfKindAndNumbersAre) {
  EXPECT_TRUE(Shape(Box{{1, 2, 3}}) == Shape(Box{{1, 2, 3}}));
  EXPECT_FALSE(Shape(Box{{1, 2, 3}}) == Shape(Box{{1, 2, 4}}));
  EXPECT_FALSE(Shape(Cylinder{1, 2}) == Shape(Capsule{1, 2}));
  EXPECT_FALSE(Shape(Mesh{"a.stl"}) == Shape(Mesh{"b.stl"}));
  EXPECT_EQ(shape_kind(HeightField{}), "height_field");
}

}  // namespace
}  // namespace espalier::test::geometry_test
