#include <array>

#include "formats/mjcf/mjcf.hpp"
#include "tests/formats/support.hpp"
#include "tests/support/host.hpp"
#include "tests/support/temporary_folder.hpp"

// Masses by density of meshes: closed ones, and those that files of robots have.

namespace espalier::test::mesh_mass_test {
namespace {

using Face = std::array<int, 3>;

/// A tetrahedron of 1 m³ / 6 with a corner at a place, as a Wavefront file.
std::string tetrahedron(const Vec3<double>& at, const std::vector<Face>& faces) {
  std::ostringstream out;
  for (const Vec3<double>& p : {Vec3<double>{0, 0, 0}, Vec3<double>{1, 0, 0}, Vec3<double>{0, 1, 0},
                                Vec3<double>{0, 0, 1}}) {
    out << "v " << p.x + at.x << ' ' << p.y + at.y << ' ' << p.z + at.z << '\n';
  }
  for (const Face& f : faces) out << "f " << f[0] << ' ' << f[1] << ' ' << f[2] << '\n';
  return out.str();
}
const std::vector<Face> closed{{1, 3, 2}, {1, 2, 4}, {1, 4, 3}, {2, 3, 4}};
const std::vector<Face> with_a_hole{{1, 2, 4}, {1, 4, 3}, {2, 3, 4}};
const std::vector<Face> doubled{{1, 3, 2}, {1, 2, 4}, {1, 4, 3}, {2, 3, 4},
                                {3, 2, 1}, {2, 4, 1}, {1, 4, 3}, {2, 3, 4}};
const std::vector<Face> with_a_turned_face{{1, 2, 3}, {1, 2, 4}, {1, 4, 3}, {2, 3, 4}};

class MeshMassTest : public testing::Test {
 protected:
  /// A body with a mesh of density 600.
  Description read(const std::string& mesh) {
    folder_.write("solid.obj", mesh);
    return MjcfFormat().read(
        "<mujoco><asset><mesh name='m' file='solid.obj'/></asset><worldbody><body name='b'><joint/>"
        "<geom name='g' type='mesh' mesh='m' density='600'/></body></worldbody></mujoco>",
        folder_ / "robot.xml", host().registry());
  }
  TemporaryFolder folder_;
};

TEST_F(MeshMassTest, OfAClosedSurfaceIsThatOfTheSolid) {
  for (const Vec3<double>& at : {Vec3<double>{0, 0, 0}, Vec3<double>{1, 2, 3}}) {
    for (const bool inside_out : {false, true}) {
      std::vector<Face> faces = closed;
      for (Face& f : faces) {
        if (inside_out) std::swap(f[0], f[1]);
      }
      const Description robot = read(tetrahedron(at, faces));
      const Inertial& I = *robot.links.back().inertial;
      // Vertices are read in single precision.
      EXPECT_NEAR(I.mass, 100.0, 1e-4);
      EXPECT_NEAR(I.origin.xyz.x, at.x + 0.25, 1e-6);
      EXPECT_NEAR(I.origin.xyz.y, at.y + 0.25, 1e-6);
      EXPECT_NEAR(I.origin.xyz.z, at.z + 0.25, 1e-6);
      EXPECT_NEAR(I.I.xx, 100.0 * 2.0 * 3.0 / 80.0, 1e-4);  // m a² 3/80 about each axis
      EXPECT_NEAR(I.I.xy, 100.0 / 80.0, 1e-4);
      EXPECT_TRUE(robot.findings.empty());
    }
  }
}

TEST_F(MeshMassTest, OfOthersDoesNotDependOnTheOriginAndIsTold) {
  for (const auto& faces : {with_a_hole, with_a_turned_face}) {
    const double there = read(tetrahedron({0, 0, 0}, faces)).links.back().inertial->mass;
    EXPECT_GT(there, 10.0);
    for (const Vec3<double>& at : {Vec3<double>{1, 2, 3}, Vec3<double>{0, 0, 10}}) {
      const Description robot = read(tetrahedron(at, faces));
      EXPECT_NEAR(robot.links.back().inertial->mass, there, 1e-4);
      ASSERT_EQ(robot.findings.size(), 1u);
      EXPECT_EQ(robot.findings[0].severity, Finding::Severity::warning);
      expect_in(robot.findings[0].text,
                {"geom 'g'", "solid.obj", "holes, or triangles that are turned", "<inertial>"});
    }
  }
}

TEST_F(MeshMassTest, OfTubesAndOfTrianglesGivenTwiceIsTold) {
  // A prism without its ends, whose areas have no sum.
  const std::string tube =
      "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 2\nv 1 0 2\nv 0 1 2\n"
      "f 1 2 5\nf 1 5 4\nf 2 3 6\nf 2 6 5\nf 3 1 4\nf 3 4 6\n";
  for (const std::string& mesh : {tube, tetrahedron({0, 0, 0}, doubled)}) {
    const Description robot = read(mesh);
    ASSERT_EQ(robot.findings.size(), 1u);
    expect_in(robot.findings[0].text, {"solid.obj", "holes"});
  }
}

TEST_F(MeshMassTest, WhatEnclosesNothingIsRefused) {
  const auto refusal = [&](const std::string& mesh) { return message_of([&] { read(mesh); }); };
  expect_in(refusal(tetrahedron({0, 0, 0}, {{1, 2, 3}, {1, 3, 2}})), {"solid.obj", "nothing"});
  expect_in(refusal(tetrahedron({0, 0, 0}, {{1, 2, 3}})), {"solid.obj", "nothing"});
  expect_in(refusal(tetrahedron({std::nan(""), 0, 0}, closed)), {"solid.obj", "expected"});
}

}  // namespace
}  // namespace espalier::test::mesh_mass_test
