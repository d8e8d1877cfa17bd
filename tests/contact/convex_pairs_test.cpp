#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "espalier/simulation/contact/contact_batch.hpp"
#include "tests/contact/robots.hpp"

/// Pairs of convex solids that have no closed form.

namespace espalier::test::convex_pairs_test {
namespace {

using contact::Collision;

double length(const Vec3<double>& x) { return std::sqrt(dot(x, x)); }

template <class T = double>
const Collision<T>& collider() {
  static const auto it = host().create<Collision<T>>("bullet", flying_body());
  return *it;
}
/// Points that are there.
std::vector<Touch<double>> touches(const Shape& a, const Transform<double>& A, const Shape& b,
                                   const Transform<double>& B) {
  std::vector<Touch<double>> t(collider().points(a, b));
  collider().collide(a, A, b, B, t.data());
  std::erase_if(t, [](const auto& x) { return x.gap >= Collision<double>::absent; });
  return t;
}

Shape octahedron(double r) {
  return Shape::hull({{r, 0, 0}, {-r, 0, 0}, {0, r, 0}, {0, -r, 0}, {0, 0, r}, {0, 0, -r}});
}

/// How far a solid reaches in a direction, from its definition.
double reach(const Shape& s, const Transform<double>& X, const Vec3<double>& n) {
  const Vec3<double> d = X.E * n;
  const double centre = dot(n, X.r);
  switch (s.kind) {
    case Shape::Kind::sphere:
      return centre + s.radius;
    case Shape::Kind::capsule:
      return centre + s.radius + s.half_length * std::abs(d.z);
    case Shape::Kind::box:
      return centre + s.half.x * std::abs(d.x) + s.half.y * std::abs(d.y) +
             s.half.z * std::abs(d.z);
    case Shape::Kind::cylinder:
      return centre + s.radius * std::hypot(d.x, d.y) + s.half_length * std::abs(d.z);
    default: {
      double most = -1e300;
      for (const auto& x : s.vertices) most = std::max(most, dot(d, x));
      return centre + most;
    }
  }
}
/// The gap between the planes that bound both in a direction.
double gap_along(const Shape& a, const Transform<double>& A, const Shape& b,
                 const Transform<double>& B, const Vec3<double>& n) {
  return -reach(a, A, -n) - reach(b, B, n);
}

struct Pair {
  Shape a, b;
};
std::vector<Pair> pairs() {
  const Shape box = Shape::box({0.1, 0.15, 0.05}), cylinder = Shape::cylinder(0.08, 0.12);
  const Shape hull = octahedron(0.12), ball = Shape::sphere(0.07);
  const Shape capsule = Shape::capsule(0.05, 0.1);
  return {{box, box},   {box, cylinder},  {hull, box},     {cylinder, cylinder},
          {hull, hull}, {ball, cylinder}, {hull, capsule}, {capsule, cylinder}};
}

/// Whether all its faces are flat.
bool flat(const Shape& s) { return s.kind == Shape::Kind::box || s.kind == Shape::Kind::hull; }

// The distance of convex solids is the largest gap between two parallel planes that bound them: no
// direction has a larger one, and the normal's is the gap itself.
TEST(ConvexPairsTest, GapIsTheLargestBetweenBoundingPlanes) {
  Rng random(7);
  int apart = 0, deep = 0;
  for (const Pair& pair : pairs()) {
    // GJK and EPA stop when a step changes little, which on curved faces is early.
    const bool flat_faces = flat(pair.a) && flat(pair.b);
    for (int trial = 0; trial < 60; ++trial) {
      const Transform<double> A = random_pose(random, 0.22), B = random_pose(random, 0.1);
      const auto t = touches(pair.a, A, pair.b, B);
      ASSERT_FALSE(t.empty());
      double least = 1e300;
      for (const auto& x : t) least = std::min(least, x.gap);
      const double bound = flat_faces ? 1e-6 : 2e-4;
      const Vec3<double> n = t[0].normal;
      EXPECT_NEAR(length(n), 1.0, 1e-9);
      EXPECT_NEAR(least, gap_along(pair.a, A, pair.b, B, n), bound);
      for (int k = 0; k < 300; ++k) {
        const Vec3<double> d = random.vec3(1.0);
        const double here = gap_along(pair.a, A, pair.b, B, scale(1.0 / length(d), d));
        EXPECT_LE(here, least + bound) << "another direction parts them more";
      }
      (least > 0 ? apart : deep) += 1;
    }
  }
  EXPECT_GT(apart, 100);
  EXPECT_GT(deep, 100);
}

TEST(ConvexPairsTest, BoxesThatLieOnEachOtherTouchAtTheCornersOfTheirPatch) {
  const Shape small = Shape::box({0.1, 0.1, 0.1}), large = Shape::box({0.3, 0.3, 0.05});
  for (const double gap : {-1e-5, 1e-4, 5e-3}) {
    Pose pose;
    pose.xyz = {0.05, -0.02, 0.15 + gap};
    pose.rpy = {0, 0, 0.3};
    const auto t = touches(small, pose.transform(), large, Pose{}.transform());
    ASSERT_EQ(t.size(), 4u) << gap;
    for (const auto& x : t) {
      EXPECT_NEAR(x.gap, gap, 1e-9);
      EXPECT_NEAR(x.normal.z, 1.0, 1e-9);
      EXPECT_NEAR(x.point.z, 0.05 + 0.5 * gap, 1e-9);
      const Vec3<double> in_small = pose.transform().E * (x.point - pose.xyz);
      EXPECT_NEAR(std::abs(in_small.x), 0.1, 1e-6);
      EXPECT_NEAR(std::abs(in_small.y), 0.1, 1e-6);
    }
  }
}

TEST(ConvexPairsTest, CylinderOnItsSideTouchesWithBothEnds) {
  Pose pose;
  pose.xyz = {0, 0, 0.05 + 0.08};
  pose.rpy = {1.5707963267948966, 0, 0};
  const auto t = touches(Shape::cylinder(0.08, 0.12), pose.transform(),
                         Shape::box({0.3, 0.3, 0.05}), Pose{}.transform());
  ASSERT_EQ(t.size(), 2u);
  for (const auto& x : t)
    EXPECT_NEAR(std::abs(x.point.y), 0.12, 3e-3);  // along the line GJK stops early
  EXPECT_LT(t[0].point.y * t[1].point.y, 0.0);
}

TEST(ConvexPairsTest, LanesHaveTheBitsOfSingleOnes) {
  Rng random(9);
  const Shape a = octahedron(0.1), b = Shape::box({0.1, 0.1, 0.1});
  std::vector<Transform<double>> at(Pack::size);
  for (auto& X : at) X = random_pose(random, 0.15);
  const Transform<double> B = random_pose(random, 0.05);
  std::vector<Touch<Pack>> packed(collider<Pack>().points(a, b));
  collider<Pack>().collide(a, in_lanes([&](int k) { return at[k]; }), b, Transform<Pack>::from(B),
                           packed.data());
  std::vector<Touch<double>> single(packed.size());
  for (int k = 0; k < Pack::size; ++k) {
    collider().collide(a, at[k], b, B, single.data());
    for (std::size_t i = 0; i < single.size(); ++i) {
      EXPECT_EQ(packed[i].gap[k], single[i].gap);
      for (int c = 0; c < 3; ++c) EXPECT_EQ(packed[i].point[c][k], single[i].point[c]);
    }
  }
}

TEST(ConvexPairsTest, TerrainStaysWithClosedForms) {
  EXPECT_EQ(collider().points(Shape::box({1, 1, 1}), Shape::plane()), 8);
  EXPECT_EQ(collider().points(Shape::plane(), Shape::plane()), 0);
  const Shape ball = Shape::sphere(0.1);
  EXPECT_EQ(collider().points(ball, ball), 1);
}

// Closed forms have 32 corners of a mesh, this collider all of them.
TEST(ConvexPairsTest, HullsOfManyCornersAreExactOnPlanesAndSolids) {
  Rng random(21);
  Shape ball;
  ball.kind = Shape::Kind::hull;
  for (int i = 0; i < 400; ++i) {
    const Vec3<double> d = random.vec3(1.0);
    ball.whole.push_back(scale(0.1 / length(d), d));
  }
  ball.vertices.assign(ball.whole.begin(), ball.whole.begin() + 32);
  const Shape box = Shape::box({0.2, 0.2, 0.05});
  for (int trial = 0; trial < 100; ++trial) {
    const Transform<double> A = random_pose(random, 0.1);
    double exact = 1e300;
    for (const auto& x : ball.whole) exact = std::min(exact, (A.r + transpose_times(A.E, x)).z);
    double least = 1e300;
    for (const auto& x : touches(ball, A, Shape::plane(), Pose{}.transform())) {
      least = std::min(least, x.gap);
    }
    EXPECT_NEAR(least, exact, 1e-15);
    Pose below;
    below.xyz = {A.r.x, A.r.y, exact - 0.05 - 0.01};  // a flat face a centimetre below the lowest
    double on_box = 1e300;
    for (const auto& x : touches(ball, A, box, below.transform())) {
      on_box = std::min(on_box, x.gap);
    }
    EXPECT_NEAR(on_box, 0.01, 1e-6);
  }
}

TEST(ConvexPairsTest, NumbersThatAreNoneAreTold) {
  Transform<double> A = Pose{}.transform();
  A.r.x = NAN;
  const Shape box = Shape::box({0.1, 0.1, 0.1});
  const auto t = touches(box, A, box, Pose{}.transform());
  ASSERT_FALSE(t.empty());
  EXPECT_TRUE(std::isnan(t[0].gap));
}

/// Boxes of 20 cm, one on the other, on a plane.
Boxed stack(int count) {
  Description robot = ground();
  const Vec3<double> half{0.1, 0.1, 0.1};
  Boxed out;
  out.world.shapes = {World::ground({})};
  for (int k = 0; k < count; ++k) {
    const std::string name = "box" + std::to_string(k);
    add_flying(robot, name, 1.0, box_inertia(1.0, half));
    PlacedShape shape;
    shape.link = name, shape.shape = Shape::box(half);
    out.world.shapes.push_back(shape);
  }
  out.model = host().compile(robot);
  out.world.self_collision = true;
  return out;
}
std::vector<double> stacked(int count, double aside) {
  std::vector<double> q;
  for (int k = 0; k < count; ++k) {
    const auto one = at({aside * k, 0.0, 0.1 + 0.2 * k});
    q.insert(q.end(), one.begin(), one.end());
  }
  return q;
}

TEST(ConvexPairsTest, AStackOfBoxesStands) {
  ContactSimulation s = simulate(stack(3));
  EXPECT_EQ(s.plan().collision(), "bullet");
  s.start(stacked(3, 0.02), std::vector<double>(18, 0.0));
  for (int k = 0; k < 1000; ++k) ASSERT_EQ(s.step(h), StepStatus::ok) << k;
  for (int k = 0; k < 3; ++k) {
    EXPECT_NEAR(s.q()[7 * k], 0.02 * k, 1e-4);
    // Each pair keeps the depth that is not cured, and what GJK rounds.
    EXPECT_NEAR(s.q()[7 * k + 2], 0.1 + 0.2 * k, 5e-5 * (k + 1));
  }
}

TEST(ConvexPairsTest, ABoxBeyondTheEdgeFalls) {
  ContactSimulation s = simulate(stack(2));
  s.start(stacked(2, 0.11), std::vector<double>(12, 0.0));
  for (int k = 0; k < 800; ++k) s.step(h);
  EXPECT_LT(s.q()[7 + 2], 0.2);
}

}  // namespace
}  // namespace espalier::test::convex_pairs_test
