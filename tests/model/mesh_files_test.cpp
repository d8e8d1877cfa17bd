#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "espalier/kernel/format.hpp"
#include "espalier/kernel/model/description.hpp"
#include "espalier/kernel/model/mesh_files.hpp"
#include "tests/support/temporary_folder.hpp"

// Where meshes are looked for, and that no name leads out of the folders that may be read.

namespace espalier::test::mesh_files_test {
namespace {

namespace fs = std::filesystem;

class MeshFilesTest : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* file : {"secret.stl", "ws/secret.stl", "ws/arm/meshes/a.stl",
                             "ws/arm/urdf/own.stl", "ws/hand/package.xml", "ws/hand/b.stl",
                             "ws/plain/c.stl", "lib/d.stl", "lib/tool/e.stl"}) {
      folder_.write(file, "x");
    }
    unsetenv("ROS_PACKAGE_PATH");
  }
  void TearDown() override { unsetenv("ROS_PACKAGE_PATH"); }

  /// The file found for a name in ws/arm/urdf/arm.urdf, relative to the root.
  std::string found(const std::string& uri, const ReadOptions& options = {}) const {
    const auto file = find_mesh(uri, folder_ / "ws/arm/urdf/arm.urdf", options);
    return file ? fs::path(*file).lexically_relative(folder_.path()).string() : "none";
  }

  TemporaryFolder folder_;
};

TEST_F(MeshFilesTest, PathsAreRelativeToTheRobotsFile) {
  EXPECT_EQ(found("own.stl"), "ws/arm/urdf/own.stl");
  EXPECT_EQ(found("file://own.stl"), "ws/arm/urdf/own.stl");
  EXPECT_EQ(found(folder_ / "ws/arm/urdf/own.stl"), "ws/arm/urdf/own.stl");
  EXPECT_EQ(found("absent.stl"), "none");
  EXPECT_EQ(found(""), "none");
}

TEST_F(MeshFilesTest, PackagesAreThoseAboveTheRobotAndBesideIt) {
  EXPECT_EQ(found("package://arm/meshes/a.stl"), "ws/arm/meshes/a.stl");
  EXPECT_EQ(found("package:///arm/meshes/a.stl"), "ws/arm/meshes/a.stl");
  EXPECT_EQ(found("package://hand/b.stl"), "ws/hand/b.stl");
  EXPECT_EQ(found("package://plain/c.stl"), "none") << "a folder without package.xml";
  EXPECT_EQ(found("package://"), "none");
}

TEST_F(MeshFilesTest, SearchPathsAndRosPackagePathHoldMore) {
  ReadOptions lib;
  lib.search_paths = {folder_ / "lib"};
  EXPECT_EQ(found("d.stl", lib), "lib/d.stl");
  EXPECT_EQ(found("package://tool/e.stl", lib), "lib/tool/e.stl");
  EXPECT_EQ(found("package://tool/e.stl"), "none");
  for (const char* folder : {"lib", "lib/tool", "lib/tool/"}) {  // of packages, or the package
    setenv("ROS_PACKAGE_PATH", (folder_ / folder).c_str(), 1);
    EXPECT_EQ(found("package://tool/e.stl"), "lib/tool/e.stl") << folder;
    EXPECT_EQ(found("package://tool/../../secret.stl"), "none") << folder;
  }
}

TEST_F(MeshFilesTest, NoNameLeadsOutOfTheFoldersUnlessAsked) {
  for (const std::string name :
       {"../meshes/a.stl", "../../secret.stl", "package://../secret.stl",
        "package://arm/../secret.stl", "package://arm/../../secret.stl",
        "package://ws/../secret.stl", "package://./../secret.stl", "model://../../secret.stl",
        "package://hand/../secret.stl", "package://secret.stl"}) {
    EXPECT_EQ(found(name), "none") << name;
  }
  // Of a robot anywhere, the names of folders at the root are no packages.
  EXPECT_EQ(found("package://etc/passwd"), "none");
  EXPECT_EQ(found("package://../../../../../etc/passwd"), "none");
  EXPECT_EQ(found("/etc/passwd"), "none");
  ReadOptions outside;
  outside.outside = true;
  EXPECT_EQ(found("../meshes/a.stl", outside), "ws/arm/meshes/a.stl");
  EXPECT_EQ(found("../../secret.stl", outside), "ws/secret.stl");
}

TEST_F(MeshFilesTest, EachMissingMeshOfALineIsSaidOnce) {
  Description robot;
  robot.links.resize(1);
  robot.links[0].name = "hand";
  ShapeDescription shape;
  shape.where = {"hand.yaml", 7};
  for (const char* file : {"a.stl", "a.stl", "b.stl"}) {
    shape.shape = Mesh{file};
    robot.links[0].visuals.push_back(shape);
  }
  const std::vector<Finding> findings = missing_meshes(robot, {});
  ASSERT_EQ(findings.size(), 2u);
  for (const char* part : {"'hand'", "hand.yaml:7", "'a.stl'", "--search"}) {
    EXPECT_NE(findings[0].text.find(part), std::string::npos) << findings[0].text;
  }
}

}  // namespace
}  // namespace espalier::test::mesh_files_test
