#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "tests/support/host.hpp"

// Real robots, written elsewhere.

namespace espalier::test::robots_test {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> robots(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code missing;
  for (const auto& entry : fs::directory_iterator(folder, missing)) {
    if (entry.path().extension() == ".urdf") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}
const fs::path own = fs::path(ESPALIER_SOURCE_DIR) / "robots";
const fs::path mechanisms = fs::path(ESPALIER_SOURCE_DIR) / "tests/reference/robots";

void expect_all_compile(const fs::path& folder) {
  const std::vector<fs::path> files = robots(folder);
  ASSERT_FALSE(files.empty()) << "no robots in " << folder;
  using Root = CompileOptions::Root;
  using Mimics = CompileOptions::MimicRule;
  for (const fs::path& file : files) {
    SCOPED_TRACE(file);
    const Description robot = host().read(file);
    // A root without mass cannot float: turning about the next joint's axis, it moves nothing.
    const bool massive = host().compile(robot)->body(0).inertia.m > 0.0;
    for (const Root root : {Root::fixed, Root::floating}) {
      for (const Mimics mimics : {Mimics::honour, Mimics::ignore}) {
        if (root == Root::floating && !massive) continue;
        const CompileOptions options{root, mimics};
        for (const Finding& f : diagnose(robot, host().registry(), options)) {
          EXPECT_NE(f.severity, Finding::Severity::error) << f.text << " " << f.where;
        }
        const ModelPtr model = host().compile(robot, options);
        EXPECT_GT(model->nv(), 0);
        EXPECT_GT(model->mass(), 0.0);
        EXPECT_EQ(model->links().size(), robot.links.size());
      }
    }
  }
}

TEST(RobotsTest, OfTheRepositoryCompile) { expect_all_compile(own); }
TEST(RobotsTest, MechanismsOfTheTestsCompile) { expect_all_compile(mechanisms); }
#ifdef ESPALIER_SHARED_DIR
TEST(RobotsTest, SharedOnesCompile) { expect_all_compile(ESPALIER_SHARED_DIR "/robots"); }
#endif

TEST(RobotsTest, LoopsAreImplicitClusters) {
  for (const char* name : {"four_bar.urdf", "six_bar.urdf"}) {
    const ModelPtr model = host().load(mechanisms / name);
    ASSERT_NE(model->first_constrained(), nullptr) << name;
    EXPECT_TRUE(model->first_constrained()->implicit) << name;
  }
}

TEST(RobotsTest, RotorsOfTheMiniCheetahAreGearedToTheirJoints) {
  const ModelPtr model = host().load(own / "mini_cheetah_geared.yaml");
  int geared = 0;
  for (const Cluster& c : model->clusters()) {
    EXPECT_FALSE(c.implicit) << c.name;
    if (!c.constrained) continue;
    ++geared;
    EXPECT_EQ(c.nv, 1) << c.name;
    EXPECT_EQ(c.spanning_nv, 1) << c.name;
    EXPECT_EQ(c.rotors, 1) << c.name;
  }
  EXPECT_EQ(geared, 12);
}

}  // namespace
}  // namespace espalier::test::robots_test
