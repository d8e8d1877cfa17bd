#include <algorithm>
#include <cmath>

#include "tests/contact/support.hpp"

namespace espalier::test::collision_test {
namespace {

using contact::Collision;

Vec3<double> to_world(const Transform<double>& X, const Vec3<double>& x) {
  return X.r + transpose_times(X.E, x);
}
double length(const Vec3<double>& x) { return std::sqrt(dot(x, x)); }

std::vector<Touch<double>> touches(const Shape& a, const Transform<double>& A, const Shape& b,
                                   const Transform<double>& B) {
  static const auto collision = host().create<Collision<double>>("closed-form", flying_body());
  std::vector<Touch<double>> t(collision->points(a, b));
  if (!t.empty()) collision->collide(a, A, b, B, t.data());
  return t;
}
double least_gap(const std::vector<Touch<double>>& t) {
  double least = 1e300;
  for (const auto& touch : t) least = std::min(least, touch.gap);
  return least;
}

/// Distance of a point from a box, negative inside.
double from_box(const Vec3<double>& half, const Vec3<double>& y) {
  double outside = 0.0, inside = -1e300;
  for (int k = 0; k < 3; ++k) {
    const double d = std::abs(y[k]) - half[k];
    outside += std::pow(std::max(d, 0.0), 2);
    inside = std::max(inside, d);
  }
  return outside > 0.0 ? std::sqrt(outside) : inside;
}

TEST(CollisionTest, CornersOfABoxAreItsPointsOnAPlane) {
  Rng random(1);
  for (int trial = 0; trial < 200; ++trial) {
    const Shape box = Shape::box({0.1, 0.2, 0.3});
    const Transform<double> A = random_pose(random, 1.0), B = random_pose(random, 1.0);
    const auto t = touches(box, A, Shape::plane(), B);
    ASSERT_EQ(t.size(), 8u);
    const Vec3<double> n = B.E.row[2];
    std::vector<double> gaps, expected;
    for (const auto& touch : t) {
      gaps.push_back(touch.gap);
      EXPECT_NEAR(length(touch.normal - n), 0.0, 1e-15);
    }
    for (const double x : {-0.1, 0.1}) {
      for (const double y : {-0.2, 0.2}) {
        for (const double z : {-0.3, 0.3}) {
          expected.push_back(dot(n, to_world(A, {x, y, z}) - B.r));
        }
      }
    }
    std::sort(gaps.begin(), gaps.end());
    std::sort(expected.begin(), expected.end());
    for (int k = 0; k < 8; ++k) EXPECT_NEAR(gaps[k], expected[k], 1e-14);  // rounding of metres
  }
}

// The deepest point of a solid is its support in the direction of the normal.
TEST(CollisionTest, DeepestPointOnAPlaneIsTheSupportOfTheSolid) {
  Rng random(2);
  const std::vector<Vec3<double>> corners{
      {0.1, 0, 0}, {-0.1, 0.05, 0}, {0, -0.2, 0.1}, {0, 0, -0.3}};
  for (int trial = 0; trial < 200; ++trial) {
    const Transform<double> A = random_pose(random, 1.0), B = random_pose(random, 1.0);
    const Vec3<double> n = B.E.row[2];
    const double height = dot(n, A.r - B.r), axial = std::abs(dot(n, A.E.row[2]));
    const double across = std::sqrt(std::max(0.0, 1.0 - axial * axial));
    const auto gap = [&](const Shape& s) { return least_gap(touches(s, A, Shape::plane(), B)); };
    // 1e-8: the lowest point of a rim has the sine of the tilt in it, whose square is rounded.
    EXPECT_NEAR(gap(Shape::sphere(0.1)), height - 0.1, 1e-14);
    EXPECT_NEAR(gap(Shape::capsule(0.1, 0.3)), height - 0.3 * axial - 0.1, 1e-14);
    EXPECT_NEAR(gap(Shape::cylinder(0.1, 0.3)), height - 0.3 * axial - 0.1 * across, 1e-8);
    double least = 1e300;
    for (const auto& x : corners) least = std::min(least, dot(n, to_world(A, x) - B.r));
    EXPECT_NEAR(gap(Shape::hull(corners)), least, 1e-14);
  }
}

TEST(CollisionTest, UprightCylinderStandsOnFourPoints) {
  Pose pose;
  pose.xyz = {0, 0, 0.3};
  const auto t = touches(Shape::cylinder(0.1, 0.3), pose.transform(), Shape::plane(),
                         Transform<double>::identity());
  int touching = 0;
  Vec3<double> sum{0, 0, 0};
  for (const auto& touch : t) {
    if (std::abs(touch.gap) > 1e-12) continue;
    ++touching;
    sum += touch.point;
    EXPECT_NEAR(std::hypot(touch.point.x, touch.point.y), 0.1, 1e-15);
  }
  EXPECT_EQ(touching, 4);
  EXPECT_NEAR(length(sum), 0.0, 1e-15);
}

TEST(CollisionTest, HeightFieldThatIsAPlaneIsAPlane) {
  // z = 0.3 x - 0.2 y + 0.1 on cells of 0.25 m.
  std::vector<double> heights;
  for (int j = 0; j < 9; ++j) {
    for (int i = 0; i < 9; ++i) heights.push_back(0.3 * 0.25 * i - 0.2 * 0.25 * j + 0.1);
  }
  const Shape field = Shape::height_field(9, 9, 0.25, heights);
  const double norm = std::sqrt(1.0 + 0.3 * 0.3 + 0.2 * 0.2);
  const Vec3<double> n{-0.3 / norm, 0.2 / norm, 1.0 / norm};
  Rng random(3);
  for (int trial = 0; trial < 200; ++trial) {
    Transform<double> A = random_pose(random, 0.8);
    A.r += Vec3<double>{1.0, 1.0, 0.5};
    const Transform<double> B = Transform<double>::identity();
    for (const auto& touch : touches(Shape::capsule(0.05, 0.2), A, field, B)) {
      EXPECT_NEAR(length(touch.normal - n), 0.0, 1e-14);
      EXPECT_NEAR(dot(n, touch.point - Vec3<double>{0, 0, 0.1}), 0.5 * touch.gap, 1e-14);
    }
  }
}

TEST(CollisionTest, HeightFieldHasTheSlopeOfTheTriangleBelow) {
  // One cell with its corner (1, 1) lifted: the diagonal parts two slopes.
  const Shape field = Shape::height_field(2, 2, 1.0, {0, 0, 0, 1});
  const Transform<double> B = Transform<double>::identity();
  const auto at = [&](double x, double y) {
    Pose pose;
    pose.xyz = {x, y, 2.0};
    return touches(Shape::sphere(0.1), pose.transform(), field, B).front();
  };
  const double s = std::sqrt(0.5);
  EXPECT_NEAR(length(at(0.75, 0.25).normal - Vec3<double>{0, -s, s}), 0.0, 1e-15);
  EXPECT_NEAR(length(at(0.25, 0.75).normal - Vec3<double>{-s, 0, s}), 0.0, 1e-15);
  EXPECT_NEAR(at(0.75, 0.25).gap, s * (2.0 - 0.25) - 0.1, 1e-14);
}

// Against sampling: distances between convex solids that do not overlap.
TEST(CollisionTest, RoundedSolidsAreAsFarApartAsTheirAxes) {
  Rng random(4);
  constexpr int samples = 60;
  for (int trial = 0; trial < 60; ++trial) {
    const Shape a = Shape::capsule(0.05, 0.3), b = Shape::capsule(0.08, 0.4);
    const Transform<double> A = random_pose(random, 0.6), B = random_pose(random, 0.6);
    double sampled = 1e300;
    for (int i = -samples; i <= samples; ++i) {
      for (int j = -samples; j <= samples; ++j) {
        const Vec3<double> p = to_world(A, {0, 0, 0.3 * i / samples});
        sampled = std::min(sampled, length(p - to_world(B, {0, 0, 0.4 * j / samples})));
      }
    }
    const double gap = touches(a, A, b, B).front().gap + 0.13;
    EXPECT_LE(gap, sampled + 1e-12);
    EXPECT_GE(gap, sampled - 0.01);  // samples are up to 5 and 7 mm apart
  }
}

TEST(CollisionTest, NearestPointOfACapsuleToABoxIsFoundExactly) {
  Rng random(5);
  constexpr int samples = 2000;
  for (int trial = 0; trial < 300; ++trial) {
    const Shape a = Shape::capsule(0.05, 0.4), b = Shape::box({0.1, 0.2, 0.3});
    const Transform<double> A = random_pose(random, 0.7), B = random_pose(random, 0.2);
    double sampled = 1e300;
    for (int i = -samples; i <= samples; ++i) {
      const Vec3<double> p = to_world(A, {0, 0, 0.4 * i / samples});
      sampled = std::min(sampled, from_box({0.1, 0.2, 0.3}, B.E * (p - B.r)));
    }
    const double gap = least_gap(touches(a, A, b, B)) + 0.05;
    if (sampled <= 0.0) {
      EXPECT_LE(gap,
                1e-15);  // rounding; the axis is inside: the depth is that of some point inside
      continue;
    }
    EXPECT_LE(gap, sampled + 1e-12);
    EXPECT_GE(gap, sampled - 2e-4);  // samples are 0.2 mm apart
  }
}

TEST(CollisionTest, SphereInABoxLeavesByTheNearestFace) {
  Pose pose;
  pose.xyz = {0.05, 0.0, -0.28};
  const auto t = touches(Shape::sphere(0.01), pose.transform(), Shape::box({0.1, 0.2, 0.3}),
                         Transform<double>::identity());
  EXPECT_NEAR(t.front().gap, -0.03, 1e-15);
  EXPECT_NEAR(length(t.front().normal - Vec3<double>{0, 0, -1}), 0.0, 1e-15);
}

const std::vector<Shape>& solids() {
  static const std::vector<Shape> all{
      Shape::sphere(0.1),
      Shape::capsule(0.1, 0.2),
      Shape::cylinder(0.1, 0.2),
      Shape::box({0.1, 0.15, 0.2}),
      Shape::plane(),
      Shape::hull({{0.1, 0, 0}, {0, 0.2, 0}, {-0.1, 0, 0.3}}),
      Shape::height_field(3, 3, 0.5, {0, 0.1, 0, 0.2, 0.3, 0.1, 0, 0.05, 0.1})};
  return all;
}

TEST(CollisionTest, ChangedPlacesTurnTheNormalAlone) {
  Rng random(6);
  int pairs = 0;
  for (const Shape& a : solids()) {
    for (const Shape& b : solids()) {
      const Transform<double> A = random_pose(random, 0.5), B = random_pose(random, 0.5);
      const auto forward = touches(a, A, b, B), back = touches(b, B, a, A);
      ASSERT_EQ(forward.size(), back.size());
      pairs += !forward.empty();
      for (std::size_t k = 0; k < forward.size(); ++k) {
        EXPECT_NEAR(forward[k].gap, back[k].gap, 1e-14);
        EXPECT_NEAR(length(forward[k].normal + back[k].normal), 0.0, 1e-13);
        EXPECT_NEAR(length(forward[k].point - back[k].point), 0.0, 1e-13);
      }
    }
  }
  EXPECT_EQ(pairs, 2 * 5 * 2 + 4 + 2 * 2);  // terrain, rounded among themselves, with boxes
}

TEST(CollisionTest, LanesAgreeWithSingleRobots) {
  Rng random(7);
  const auto packs = host().create<Collision<Pack>>("closed-form", flying_body());
  for (const Shape& a : solids()) {
    for (const Shape& b : solids()) {
      const int n = packs->points(a, b);
      if (n == 0) continue;
      std::vector<Transform<double>> A, B;
      for (int k = 0; k < Pack::size; ++k) {
        A.push_back(random_pose(random, 0.5));
        B.push_back(random_pose(random, 0.5));
      }
      std::vector<Touch<Pack>> lanes(n);
      packs->collide(a, in_lanes([&](int k) { return A[k]; }), b,
                     in_lanes([&](int k) { return B[k]; }), lanes.data());
      for (int k = 0; k < Pack::size; ++k) {
        const auto one = touches(a, A[k], b, B[k]);
        for (int i = 0; i < n; ++i) {
          // Rounding differs by fused products; 1e-7 where a cylinder is nearly upright.
          const double tolerance = 1e-12 * std::max(1.0, std::abs(one[i].gap));
          EXPECT_NEAR(lanes[i].gap[k], one[i].gap, tolerance);
          EXPECT_NEAR(lanes[i].normal.z[k], one[i].normal.z, 1e-12);
        }
      }
    }
  }
}

TEST(CollisionTest, UnusableShapesAreRefused) {
  const auto refused = [](const Shape& shape, const std::string& part) {
    try {
      shape.validate("test");
      ADD_FAILURE() << "accepted, expected a refusal with " << part;
    } catch (const InvalidModel& e) {
      EXPECT_NE(std::string(e.what()).find(part), std::string::npos) << e.what();
    }
  };
  refused(Shape::sphere(0.0), "radius is 0");
  refused(Shape::capsule(0.1, -1.0), "half length is -1");
  refused(Shape::box({0.1, NAN, 0.1}), "half edge");
  refused(Shape::hull({}), "number of vertices of the hull is 0");
  refused(Shape::hull(std::vector<Vec3<double>>(33, {0, 0, 0})), "is 33");
  refused(Shape::height_field(2, 2, 1.0, {0, 0, 0}), "3 heights");
  contact::Surface surface;
  surface.restitution = 1.5;
  EXPECT_THROW(surface.validate("test"), InvalidModel);
}

}  // namespace
}  // namespace espalier::test::collision_test
