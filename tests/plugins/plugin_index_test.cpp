#include "espalier/plugins/plugin_index.hpp"
#include "espalier/kernel/format.hpp"
#include "espalier/kernel/model/joint.hpp"

#include <sys/stat.h>
#include <atomic>
#include <fstream>
#include <thread>

#include "espalier/plugins/loader.hpp"
#include "tests/plugins/helpers.hpp"

/// Plugins that are opened when something of them is asked for.

namespace espalier::plugin_index_test {
namespace {

using namespace test;
namespace fs = std::filesystem;

/// Whether this process has a library in its memory.
bool is_open(const std::string& library) {
  std::ifstream maps("/proc/self/maps");
  const std::string text(std::istreambuf_iterator<char>(maps), {});
  return text.find(library) != std::string::npos;
}

class PluginIndexTest : public ::testing::Test {
 protected:
  /// A copy of a plugin with its index. Every test has a copy of its own: what is open stays open.
  std::string indexed(const std::string& plugin, const std::string& name) {
    const std::string file = folder_.copy(plugin_file(plugin), name);
    // In a process of its own, so that it is not open in this one.
    const std::string command = ESPALIER_INDEX " '" + file + "'";
    EXPECT_EQ(std::system(command.c_str()), 0);
    EXPECT_TRUE(fs::exists(file + ".index"));
    return fs::canonical(file).string();
  }

  TemporaryFolder folder_;
  Registry registry_;
  Loader loader_{registry_};
};

TEST_F(PluginIndexTest, PluginIsOpenedWhenOneOfItsNamesIsAskedFor) {
  const std::string file = indexed("good_joint", "joint.so");
  EXPECT_TRUE(loader_.load_folder(folder_ / "").empty());
  EXPECT_FALSE(is_open(file));
  ASSERT_EQ(loader_.loaded().size(), 1u);
  EXPECT_EQ(loader_.loaded()[0].name, "test-joint");
  EXPECT_EQ(loader_.loaded()[0].file, file);
  EXPECT_THROW(registry_.find(Kind::integrator, "test-slider"), UnknownName);
  EXPECT_FALSE(is_open(file)) << "it has no integrators";
  EXPECT_EQ(registry_.joint_type("test-slider").nv(), 1);
  EXPECT_TRUE(is_open(file));
  EXPECT_EQ(registry_.find(Kind::joint, "test-slider").origin, file);
  EXPECT_EQ(loader_.loaded().size(), 1u);
}

TEST_F(PluginIndexTest, ListsOfAKindOpenWhatHasSome) {
  const std::string file = indexed("good_joint", "joint.so");
  loader_.load_folder(folder_ / "");
  const auto joints = registry_.entries(Kind::joint);
  EXPECT_TRUE(std::any_of(joints.begin(), joints.end(),
                          [](const Entry* e) { return e->about.name == "test-slider"; }));
}

TEST_F(PluginIndexTest, ALibraryThatChangedIsOpenedAtOnce) {
  const std::string file = indexed("good_joint", "joint.so");
  const auto then = fs::last_write_time(file) + std::chrono::seconds(5);
  fs::last_write_time(file, then);
  loader_.load_folder(folder_ / "");
  EXPECT_TRUE(is_open(file));
}

TEST_F(PluginIndexTest, AnIndexThatIsNoneIsPassedOver) {
  const std::string file = indexed("good_joint", "joint.so");
  std::string text;
  {
    std::ifstream in(file + ".index", std::ios::binary);
    text.assign(std::istreambuf_iterator<char>(in), {});
  }
  // Cut anywhere it promises nothing, and neither does rubbish.
  for (std::size_t length = 0; length < text.size() - 1; length += 7) {
    std::ofstream(file + ".index", std::ios::binary) << text.substr(0, length);
    EXPECT_FALSE(detail::read_plugin_index(file)) << length;
  }
  std::ofstream(file + ".index", std::ios::binary) << text << "algorithm\n";
  EXPECT_FALSE(detail::read_plugin_index(file));
  std::ofstream(file + ".index", std::ios::binary) << text;
  EXPECT_TRUE(detail::read_plugin_index(file));
}

// The folder's own file is read in place of the plugins' ones: it alone knows these names.
TEST_F(PluginIndexTest, OneFileHoldsTheIndicesOfAFolder) {
  const std::string file = indexed("good_joint", "joint.so");
  std::ofstream(file + ".index", std::ios::binary) << "nothing";
  EXPECT_TRUE(loader_.load_folder(folder_ / "").empty());
  EXPECT_FALSE(is_open(file));
  ASSERT_EQ(loader_.loaded().size(), 1u);
  EXPECT_EQ(loader_.loaded()[0].name, "test-joint");
  EXPECT_EQ(registry_.joint_type("test-slider").nv(), 1);
  EXPECT_TRUE(is_open(file));
}

TEST_F(PluginIndexTest, AFoldersIndexKnowsItsLibrariesBySizeAndTime) {
  const std::string file = indexed("good_joint", "joint.so");
  const detail::FolderIndex index(folder_ / "");
  EXPECT_TRUE(index.of("joint.so", detail::FileIdentity(file)));
  EXPECT_FALSE(index.of("other.so", detail::FileIdentity(file)));
  detail::FileIdentity longer(file), later(file);
  ++longer.size, ++later.time;
  EXPECT_FALSE(index.of("joint.so", longer));
  EXPECT_FALSE(index.of("joint.so", later));
  EXPECT_FALSE(index.of("joint.so", detail::FileIdentity(file + ".gone")));
  const std::string path = folder_ / "plugins.index";
  std::string text;
  {
    std::ifstream in(path, std::ios::binary);
    text.assign(std::istreambuf_iterator<char>(in), {});
  }
  for (std::size_t length = 0; length < text.size(); length += 7) {  // cut anywhere
    std::ofstream(path, std::ios::binary) << text.substr(0, length);
    EXPECT_FALSE(detail::FolderIndex(folder_ / "").of("joint.so", detail::FileIdentity(file)));
  }
}

// Its plugins are opened as before when its file is old: by their own indices, or at once.
TEST_F(PluginIndexTest, WhatAFoldersIndexDoesNotKnowIsLookedAtItself) {
  const std::string file = indexed("good_joint", "joint.so");
  std::ofstream(folder_ / "plugins.index", std::ios::binary) << "espalier plugin indices 1\n";
  EXPECT_TRUE(loader_.load_folder(folder_ / "").empty());
  EXPECT_FALSE(is_open(file));
  const std::string other = indexed("good_joint", "other.so");
  fs::remove(other + ".index");
  EXPECT_EQ(loader_.load_folder(folder_ / "", true).size(), 1u) << "its name is taken";
  EXPECT_TRUE(is_open(other));
}

TEST_F(PluginIndexTest, NamesThatAreTakenOpenThePluginThatSaysSo) {
  const std::string first = indexed("good_joint", "a.so"), second = indexed("good_joint", "b.so");
  const std::vector<std::string> refused = loader_.load_folder(folder_ / "", true);
  ASSERT_EQ(refused.size(), 1u);
  EXPECT_NE(refused[0].find(second + ": joint 'test-slider' is registered by " + first),
            std::string::npos)
      << refused[0];
  EXPECT_EQ(registry_.find(Kind::joint, "test-slider").origin, first);
}

TEST_F(PluginIndexTest, OnASearchPathThePluginsOfLaterFoldersKeepTheirNames) {
  fs::create_directories(folder_ / "own");
  fs::create_directories(folder_ / "shipped");
  const std::string own = indexed("good_joint", "own/mine.so");
  const std::string shipped = indexed("good_joint", "shipped/joints.so");
  const std::vector<std::string> refused =
      loader_.load_path({folder_ / "own", folder_ / "shipped"}, true);
  ASSERT_EQ(refused.size(), 1u);
  EXPECT_NE(refused[0].find(own + ": joint 'test-slider' is registered by " + shipped),
            std::string::npos)
      << refused[0];
  EXPECT_EQ(registry_.find(Kind::joint, "test-slider").origin, shipped);
}

TEST_F(PluginIndexTest, OnASearchPathAFileOfTheFirstFolderStandsForThoseOfItsName) {
  fs::create_directories(folder_ / "own");
  fs::create_directories(folder_ / "shipped");
  const std::string own = indexed("good_joint", "own/joints.so");
  indexed("good_joint", "shipped/joints.so");
  EXPECT_TRUE(loader_.load_path({folder_ / "own", folder_ / "shipped"}, true).empty());
  EXPECT_EQ(registry_.find(Kind::joint, "test-slider").origin, own);
}

TEST_F(PluginIndexTest, OnASearchPathARefusedFileShadowsNone) {
  fs::create_directories(folder_ / "own");
  fs::create_directories(folder_ / "shipped");
  std::ofstream(folder_ / "own/joints.so") << "no library";
  const std::string shipped = indexed("good_joint", "shipped/joints.so");
  EXPECT_EQ(loader_.load_path({folder_ / "own", folder_ / "shipped"}, true).size(), 1u);
  EXPECT_EQ(registry_.find(Kind::joint, "test-slider").origin, shipped);
}

TEST_F(PluginIndexTest, FormatIsOpenedWhenAFileEndsAsItsOwn) {
  std::vector<std::string> files;
  for (const std::string plugin : {ESPALIER_FORMATS, ESPALIER_YAML}) {
    const std::string file = folder_.copy(plugin, fs::path(plugin).filename());
    ASSERT_EQ(std::system((ESPALIER_INDEX " '" + file + "'").c_str()), 0);
    files.push_back(fs::canonical(file).string());
  }
  EXPECT_TRUE(loader_.load_folder(folder_ / "").empty());
  EXPECT_THROW(registry_.find(Kind::joint, "revolute"), UnknownName);
  EXPECT_FALSE(is_open(files[0]));
  registry_.format_for("Robot.URDF");
  EXPECT_TRUE(is_open(files[0]));
  EXPECT_FALSE(is_open(files[1]));
  registry_.format_for("robot.yml");
  EXPECT_TRUE(is_open(files[1]));
  // An ending that nobody has is told beside all that there are.
  EXPECT_NE(error_of<UnknownName>([&] { registry_.format_for("robot.step"); }).find(".urdf, .yaml"),
            std::string::npos);
}

TEST_F(PluginIndexTest, FormatsAreFoundByNameToo) {
  const std::string file = folder_.copy(ESPALIER_YAML, "yaml.so");
  ASSERT_EQ(std::system((ESPALIER_INDEX " '" + file + "'").c_str()), 0);
  loader_.load_folder(folder_ / "");
  EXPECT_FALSE(is_open(file));
  EXPECT_FALSE(registry_.find(Kind::format, "yaml").format->extensions().empty());
  EXPECT_TRUE(is_open(file));
}

// The plugin for URDF asks that for YAML.
TEST_F(PluginIndexTest, LoopsBesideAUrdfAreReadByThePluginForYaml) {
  folder_.write("robot.yaml", "closed_loop: [[b, c]]\ntype: ['3d']\n");
  const std::string file = folder_.write(
      "robot.urdf",
      "<robot name='r'><link name='a'/><link name='b'/><link name='c'/>"
      "<joint name='j' type='revolute'><parent link='a'/><child link='b'/></joint>"
      "<joint name='k' type='revolute'><parent link='a'/><child link='c'/></joint></robot>");
  EXPECT_EQ(Host().read(file).loops.size(), 1u);
}

TEST_F(PluginIndexTest, ThreadsThatAskAtOnceOpenItOnce) {
  indexed("good_joint", "joint.so");
  loader_.load_folder(folder_ / "");
  std::atomic<int> found = 0;
  std::vector<std::thread> threads;
  for (int k = 0; k < 8; ++k) {
    threads.emplace_back([&] { found += registry_.joint_type("test-slider").nv(); });
  }
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(found, 8);
  EXPECT_EQ(loader_.loaded().size(), 1u);
}

TEST_F(PluginIndexTest, PluginThatIsRefusedLaterIsUnknown) {
  const std::string file = indexed("good_joint", "joint.so");
  struct stat before {};
  ASSERT_EQ(::stat(file.c_str(), &before), 0);
  loader_.load_folder(folder_ / "");
  {  // as long as it was, and no library any more
    std::ofstream spoilt(file, std::ios::binary);
    spoilt << std::string(static_cast<std::size_t>(before.st_size), 'x');
  }
  EXPECT_THROW(registry_.joint_type("test-slider"), UnknownName);
  EXPECT_TRUE(loader_.loaded().empty());
  EXPECT_THROW(loader_.load(file), PluginError);
}

TEST_F(PluginIndexTest, PluginsThatCannotBeOpenedHaveNone) {
  const std::string file = folder_.copy(plugin_file("bad_null_header"), "bad.so");
  std::ofstream(file + ".index") << "old";
  EXPECT_FALSE(detail::write_plugin_index(file));
  EXPECT_FALSE(fs::exists(file + ".index"));
}

}  // namespace
}  // namespace espalier::plugin_index_test
