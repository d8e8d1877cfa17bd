#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <numbers>

#include "espalier/kernel/errors.hpp"
#include "espalier/simulation/contact/meshes/hull.hpp"
#include "espalier/simulation/contact/meshes/mesh_shape.hpp"
#include "espalier/simulation/contact/world.hpp"
#include "tests/contact/robots.hpp"
#include "tests/support/temporary_folder.hpp"

/// Meshes that touch: as convex hulls.

namespace espalier::test::mesh_hull_test {
namespace {

using contact::Collision;
using contact::ConvexHull;
using contact::MeshHull;

using Points = std::vector<Vec3<double>>;

double length(const Vec3<double>& x) { return std::sqrt(dot(x, x)); }
/// Without calls or iterators: tens of millions of points, in code that is not optimised.
double support(const Points& points, const Vec3<double>& n) {
  double most = -1e300;
  const Vec3<double>* const end = points.data() + points.size();
  for (const Vec3<double>* x = points.data(); x != end; ++x) {
    const double along = n.x * x->x + n.y * x->y + n.z * x->z;
    if (along > most) most = along;
  }
  return most;
}
Points chosen(const Points& points, const ConvexHull& hull) {
  Points out;
  for (const int i : hull.corners) out.push_back(points[i]);
  return out;
}

/// Corners of a box and grids on its faces.
Points box_points(const Vec3<double>& half, int cells) {
  Points points;
  for (int i = 0; i <= cells; ++i) {
    for (int j = 0; j <= cells; ++j) {
      const double s = -1.0 + 2.0 * i / cells, t = -1.0 + 2.0 * j / cells;
      for (const double side : {-1.0, 1.0}) {
        points.push_back({half.x * s, half.y * t, half.z * side});
        points.push_back({half.x * s, half.y * side, half.z * t});
        points.push_back({half.x * side, half.y * s, half.z * t});
      }
    }
  }
  return points;
}

/// A sphere of rings and segments: 2 segments (rings - 1) triangles.
struct Triangles {
  Points points;
  std::vector<std::array<int, 3>> faces;
};
Triangles sphere(double r, int rings, int segments) {
  Triangles t;
  t.points = {{0, 0, r}, {0, 0, -r}};
  for (int i = 1; i < rings; ++i) {
    const double theta = std::numbers::pi * i / rings;
    for (int j = 0; j < segments; ++j) {
      const double phi = 2.0 * std::numbers::pi * j / segments;
      t.points.push_back({r * std::sin(theta) * std::cos(phi), r * std::sin(theta) * std::sin(phi),
                          r * std::cos(theta)});
    }
  }
  const auto at = [&](int ring, int j) { return 2 + (ring - 1) * segments + j % segments; };
  for (int j = 0; j < segments; ++j) {
    t.faces.push_back({0, at(1, j), at(1, j + 1)});
    t.faces.push_back({1, at(rings - 1, j + 1), at(rings - 1, j)});
    for (int i = 1; i + 1 < rings; ++i) {
      t.faces.push_back({at(i, j), at(i + 1, j), at(i + 1, j + 1)});
      t.faces.push_back({at(i, j), at(i + 1, j + 1), at(i, j + 1)});
    }
  }
  return t;
}

/// A Wavefront file in a folder that goes with it.
class MeshFile {
 public:
  MeshFile(const Points& points, const std::vector<std::array<int, 3>>& faces) {
    std::ofstream out(path());
    out.precision(17);
    for (const auto& x : points) out << "v " << x.x << ' ' << x.y << ' ' << x.z << '\n';
    for (const auto& f : faces) {
      out << "f " << f[0] + 1 << ' ' << f[1] + 1 << ' ' << f[2] + 1 << '\n';
    }
  }
  std::string path() const { return folder_ / "mesh.obj"; }

 private:
  TemporaryFolder folder_;
};

const std::vector<std::array<int, 3>> cube_faces = {{0, 2, 1}, {1, 2, 3}, {4, 5, 6}, {5, 7, 6},
                                                    {0, 1, 4}, {1, 5, 4}, {2, 6, 3}, {3, 6, 7},
                                                    {0, 4, 2}, {2, 4, 6}, {1, 3, 5}, {3, 7, 5}};
Points cube(const Vec3<double>& half) {
  Points points;
  for (int k = 0; k < 8; ++k) {
    points.push_back({(k & 1) != 0 ? half.x : -half.x, (k & 2) != 0 ? half.y : -half.y,
                      (k & 4) != 0 ? half.z : -half.z});
  }
  return points;
}

TEST(ConvexHullTest, PointsOnFacesAndEdgesOfABoxAreNoCorners) {
  Rng random(3);
  for (int trial = 0; trial < 20; ++trial) {
    const Transform<double> X = random_pose(random, 1.0);
    Points points = box_points({0.3, 0.2, 0.1}, 6);
    for (auto& x : points) {
      x = X.r + transpose_times(X.E, x);
      for (int k = 0; k < 3; ++k) x[k] = static_cast<float>(x[k]);  // as an STL file rounds
    }
    const ConvexHull hull = contact::convex_hull(points);
    EXPECT_EQ(hull.corners.size(), 8u);
    EXPECT_EQ(hull.faces.size(), 3u * 12u);
    for (const auto& x : chosen(points, hull)) {
      const Vec3<double> inside = X.E * (x - X.r);
      EXPECT_NEAR(std::abs(inside.x), 0.3, 1e-6);  // float
      EXPECT_NEAR(std::abs(inside.y), 0.2, 1e-6);
      EXPECT_NEAR(std::abs(inside.z), 0.1, 1e-6);
    }
    EXPECT_LE(contact::hull_gap(points, hull), 2e-7);  // 1e-7 of a cloud that reaches 2 m
  }
}

TEST(ConvexHullTest, SupportsInAllDirectionsAreThoseOfThePoints) {
  Rng random(5);
  for (const int count : {4, 10, 100, 3000}) {
    Points points;
    for (int i = 0; i < count; ++i) points.push_back(random.vec3(1.0));
    const ConvexHull hull = contact::convex_hull(points);
    const Points corners = chosen(points, hull);
    for (int k = 0; k < 500; ++k) {
      const Vec3<double> d = random.vec3(1.0), n = scale(1.0 / length(d), d);
      // Points that lie out by less than 1e-7 are left.
      EXPECT_NEAR(support(corners, n), support(points, n), 2e-7);
    }
    // Euler: a closed surface of triangles.
    EXPECT_EQ(hull.faces.size() / 3, 2 * hull.corners.size() - 4);
    for (const auto& x : points) EXPECT_GE(contact::hull_depth(points, hull, x), -2e-7);
  }
}

TEST(ConvexHullTest, FewCornersLoseNoMoreThanTheGapInAnyDirection) {
  Rng random(7);
  Points points;
  for (int i = 0; i < 2000; ++i) {
    const Vec3<double> d = random.vec3(1.0);
    points.push_back(scale(1.0 / length(d), d));
    points.back().z *= 0.4;
  }
  double before = 1e300;
  for (const int most : {8, 16, 32, 64}) {
    const ConvexHull few = contact::convex_hull(points, most);
    EXPECT_EQ(static_cast<int>(few.corners.size()), most);
    const double gap = contact::hull_gap(points, few);
    EXPECT_LT(gap, before);
    before = gap;
    const Points corners = chosen(points, few);
    double largest = 0.0;
    for (int k = 0; k < 20000; ++k) {
      const Vec3<double> d = random.vec3(1.0), n = scale(1.0 / length(d), d);
      const double lost = support(points, n) - support(corners, n);
      EXPECT_LE(lost, gap + 1e-12);
      largest = std::max(largest, lost);
    }
    EXPECT_GT(largest, 0.9 * gap);  // random directions nearly meet the worst
  }
}

TEST(ConvexHullTest, FlatStraightAndSinglePointsHaveHulls) {
  Points flat;
  for (const auto& x : box_points({0.3, 0.2, 0.0}, 4)) flat.push_back({x.x, x.z + x.y, x.y});
  const ConvexHull polygon = contact::convex_hull(flat);
  EXPECT_EQ(polygon.corners.size(), 4u);
  EXPECT_LE(contact::hull_gap(flat, polygon), 1e-7);
  EXPECT_NEAR(contact::hull_depth(flat, polygon, {0, 0, 0}), 0.0, 1e-15);
  // Without the corner at (0.3, 0.2) of the rectangle 0.6 by 0.4: as far as its diagonal is.
  const ConvexHull triangle = contact::convex_hull(flat, 3);
  EXPECT_EQ(triangle.corners.size(), 3u);
  EXPECT_NEAR(contact::hull_gap(flat, triangle), 0.6 * std::sqrt(0.32) / std::sqrt(0.36 + 0.32),
              1e-7);
  const Points line = {{0, 0, 0}, {1, 2, 3}, {2, 4, 6}, {0.5, 1, 1.5}};
  EXPECT_EQ(contact::convex_hull(line).corners.size(), 2u);
  EXPECT_LE(contact::hull_gap(line, contact::convex_hull(line)), 1e-7);
  const Points place(5, Vec3<double>{1, 2, 3});
  EXPECT_EQ(contact::convex_hull(place).corners.size(), 1u);
  EXPECT_TRUE(contact::convex_hull({}).corners.empty());
}

/// Gap of a shape over a plane, by a collider.
double gap_on_plane(const std::string& collider, const Shape& shape, const Transform<double>& X) {
  const auto c = host().create<Collision<double>>(collider, flying_body());
  std::vector<Touch<double>> touch(c->points(shape, Shape::plane()));
  c->collide(shape, X, Shape::plane(), Pose{}.transform(), touch.data());
  double least = 1e300;
  for (const auto& t : touch) least = std::min(least, t.gap);
  return least;
}

TEST(MeshShapeTest, CubeIsTheBoxToRounding) {
  const Vec3<double> half{0.3, 0.2, 0.1}, offset{1.0, -2.0, 0.5};
  Points points = cube(half);
  for (auto& x : points) x += offset;
  const MeshFile file(points, cube_faces);
  Vec3<double> middle;
  MeshHull summary;
  const Shape shape = contact::mesh_shape(file.path(), {1, 1, 1}, middle, summary);
  EXPECT_EQ(summary.corners, 8);
  EXPECT_EQ(summary.of, 8);
  EXPECT_LE(summary.gap, 1e-7);  // assimp reads floats
  EXPECT_EQ(summary.hollow, 0.0);
  EXPECT_LE(length(middle - offset), 1e-6);
  Rng random(11);
  for (int k = 0; k < 50; ++k) {
    const Transform<double> X = random_pose(random, 0.5);
    EXPECT_NEAR(gap_on_plane("closed-form", shape, X),
                gap_on_plane("closed-form", Shape::box(half), X),
                5e-7);  // floats of 2 m
  }
}

TEST(MeshShapeTest, SphereOfAThousandTrianglesKeepsItsStatedGap) {
  const double r = 0.1;
  const Triangles t = sphere(r, 21, 25);
  ASSERT_EQ(t.faces.size(), 1000u);
  const MeshFile file(t.points, t.faces);
  Vec3<double> middle;
  MeshHull summary;
  const Shape shape = contact::mesh_shape(file.path(), {1, 1, 1}, middle, summary);
  EXPECT_EQ(summary.corners, 32);
  EXPECT_EQ(summary.of, static_cast<int>(t.points.size()));
  EXPECT_EQ(summary.hollow, 0.0);
  // The best 32 points on a sphere leave 1 - cos 22.7° = 0.077 r; one after the other, and on the
  // mesh's rings, leave up to two thirds more.
  EXPECT_LT(summary.gap, 0.13 * r);
  Rng random(13);
  double largest = 0.0;
  for (int k = 0; k < 1000; ++k) {
    Transform<double> X = random_pose(random, 0.0);
    X.r = Vec3<double>{0, 0, r} + transpose_times(X.E, middle);  // the sphere's centre at z = r
    const double gap = gap_on_plane("closed-form", shape, X);
    EXPECT_GE(gap, -1e-7);
    EXPECT_LE(gap, summary.gap + 2e-3 * r + 1e-7);  // and the facets of the mesh itself
    largest = std::max(largest, gap);
  }
  EXPECT_GT(largest, 0.5 * summary.gap);
}

TEST(MeshShapeTest, ConcaveMeshesAreTold) {
  // A box whose upper face is pushed in to half its height.
  Points points = cube({0.2, 0.2, 0.1});
  points.push_back({0, 0, 0});
  std::vector<std::array<int, 3>> faces(cube_faces);
  std::erase_if(faces, [](const auto& f) { return f[0] >= 4 && f[1] >= 4 && f[2] >= 4; });
  for (const auto& [a, b] : {std::pair{4, 5}, {5, 7}, {7, 6}, {6, 4}}) faces.push_back({a, b, 8});
  const MeshFile file(points, faces);
  Vec3<double> middle;
  MeshHull summary;
  const Shape shape = contact::mesh_shape(file.path(), {1, 1, 1}, middle, summary);
  EXPECT_EQ(shape.vertices.size(), 8u);
  EXPECT_NEAR(summary.hollow, 0.1, 1e-6);
}

TEST(MeshShapeTest, UnusableMeshesAreRefusedByFile) {
  Vec3<double> middle;
  MeshHull summary;
  const MeshFile cloud({{0, 0, 0}, {1, 0, 0}, {0, 1, 0}}, {});
  const auto refused = [&](const std::string& path) {
    try {
      (void)contact::mesh_shape(path, {1, 1, 1}, middle, summary);
      ADD_FAILURE() << path;
    } catch (const InvalidModel& error) {
      EXPECT_NE(std::string(error.what()).find(path), std::string::npos) << error.what();
    }
  };
  refused(cloud.path());
  refused("/nowhere/at/all.stl");
}

/// A body that flies with one collision mesh.
Description with_mesh(const std::string& path) {
  Description robot = ground();
  add_flying(robot, "body", 2.0, {0.01, 0.01, 0.01});
  ShapeDescription shape;
  shape.shape = Mesh{path, {0.5, 0.5, 0.5}};
  shape.origin.xyz = {0.0, 0.0, 0.1};
  robot.links.back().collisions.push_back(shape);
  robot.where.file = path;
  for (auto& link : robot.links) {
    for (auto& s : link.collisions) s.where.file = path;
  }
  return robot;
}

TEST(MeshShapeTest, BodyComesToRestOnItsMesh) {
  const MeshFile file(cube({0.2, 0.2, 0.2}), cube_faces);  // scaled by a half, raised by 0.1
  const ModelPtr model = host().compile(with_mesh(file.path()));
  contact::WorldReport report;
  World world = contact::world_of(*model, {}, &report);
  ASSERT_EQ(world.shapes.size(), 1u);
  ASSERT_EQ(report.meshes.size(), 1u);
  EXPECT_EQ(report.meshes[0].shape, "body");
  world.shapes.push_back(World::ground());
  ContactSimulation s(host().registry(), model, world);
  s.start(at({0, 0, 0.3}), std::vector<double>(6, 0.0));
  for (int k = 0; k < 1000; ++k) ASSERT_EQ(s.step(h), StepStatus::ok);
  EXPECT_NEAR(s.q()[2], 0.0, 2e-5);  // the mesh reaches down to the body's origin; slop 1e-5
  EXPECT_NEAR(force_sum(s).z, 2.0 * g, 1e-3);
}

TEST(MeshShapeTest, MeshesWithoutAFileAreLeftOutByName) {
  const ModelPtr model = host().compile(with_mesh("/nowhere/horn.stl"));
  contact::WorldReport report;
  EXPECT_TRUE(contact::world_of(*model, {}, &report).shapes.empty());
  ASSERT_EQ(report.left_out.size(), 1u);
  EXPECT_EQ(report.left_out[0], "body (mesh, file missing)");
}

}  // namespace
}  // namespace espalier::test::mesh_hull_test
