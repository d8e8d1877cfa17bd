#include "espalier/plugins/loader.hpp"
#include "espalier/kernel/model/joint.hpp"

#include <atomic>
#include <thread>

#include "espalier/plugins/processor/instruction_set.hpp"
#include "tests/plugins/helpers.hpp"

namespace espalier::loader_test {
namespace {

using namespace test;
namespace fs = std::filesystem;
using detail::InstructionSet;

constexpr InstructionSet instruction_sets[] = {InstructionSet::baseline, InstructionSet::v3,
                                               InstructionSet::v4};

class LoaderTest : public ::testing::Test {
 protected:
  /// What good/variant.cpp says that it was compiled for.
  std::string variant() const { return registry_.find(Kind::format, "test-variant").about.summary; }

  EnvironmentVariable no_cap_{"ESPALIER_INSTRUCTION_SET", std::nullopt};
  Registry registry_;
  Loader loader_{registry_};
  TemporaryFolder folder_;
};

TEST_F(LoaderTest, GoodPluginRegistersItsEntriesUnderItsFile) {
  loader_.load(plugin_file("good_joint"));
  EXPECT_EQ(registry_.joint_type("test-slider").nv(), 1);
  EXPECT_EQ(registry_.find(Kind::joint, "test-slider").origin, plugin_file("good_joint"));
  ASSERT_EQ(loader_.loaded().size(), 1u);
  EXPECT_EQ(loader_.loaded()[0].name, "test-joint");
  EXPECT_EQ(loader_.loaded()[0].version, "1.0");
  EXPECT_EQ(loader_.loaded()[0].file, plugin_file("good_joint"));
  EXPECT_EQ(loader_.loaded()[0].instruction_set, "baseline");
}

TEST_F(LoaderTest, SameLibraryByAnyPathIsNoError) {
  const std::string file = folder_.copy(plugin_file("good_joint"), "joint.so");
  fs::create_directory(folder_ / "sub");
  fs::create_symlink(file, folder_ / "sub/symbolic.so");
  fs::create_hard_link(file, folder_ / "sub/hard.so");
  loader_.load(file);
  loader_.load(file);
  loader_.load(folder_ / "sub/../joint.so");
  loader_.load(fs::relative(file).string());
  loader_.load(folder_ / "sub/symbolic.so");
  loader_.load(folder_ / "sub/hard.so");
  EXPECT_EQ(loader_.loaded().size(), 1u);
}

TEST_F(LoaderTest, CopyUnderAnotherNameIsADuplicateOfTheFirst) {
  const std::string first = folder_.copy(plugin_file("good_joint"), "first.so");
  const std::string second = folder_.copy(plugin_file("good_joint"), "second.so");
  loader_.load(first);
  EXPECT_EQ(error_of<DuplicateName>([&] { loader_.load(second); }),
            second + ": joint 'test-slider' is registered by " + first +
                " already, expected a name of its own");
}

TEST_F(LoaderTest, RegistriesOfOneProcessShareALibrary) {
  Registry other;
  loader_.load(plugin_file("good_joint"));
  Loader(other).load(plugin_file("good_joint"));
  EXPECT_EQ(inventory(other), inventory(registry_));
}

TEST_F(LoaderTest, EntriesOutliveTheirLoader) {
  { Loader(registry_).load(plugin_file("good_joint")); }
  EXPECT_EQ(registry_.joint_type("test-slider").nq(), 1);
}

TEST_F(LoaderTest, WidestVariantThatTheProcessorHasIsTaken) {
  loader_.load(plugin_file("good_variant"));
  EXPECT_EQ(variant(), to_string(detail::processor_instruction_set()));
  EXPECT_EQ(loader_.loaded()[0].instruction_set, variant());
}

TEST_F(LoaderTest, InstructionSetVariableCapsTheVariant) {
  for (const InstructionSet set : instruction_sets) {
    if (set > detail::processor_instruction_set()) continue;
    const EnvironmentVariable cap("ESPALIER_INSTRUCTION_SET", std::string(to_string(set)));
    Registry registry;
    Loader(registry).load(plugin_file("good_variant"));
    EXPECT_EQ(registry.find(Kind::format, "test-variant").about.summary, to_string(set));
  }
}

TEST_F(LoaderTest, TypesLieAlikeInTheMemoryOfAllVariants) {
  std::string plain;
  for (const InstructionSet set : instruction_sets) {
    if (set > detail::processor_instruction_set()) {
      GTEST_SKIP() << "this processor has no " << to_string(set);
    }
    const EnvironmentVariable cap("ESPALIER_INSTRUCTION_SET", std::string(to_string(set)));
    Registry registry;
    Loader(registry).load(plugin_file("good_variant"));
    const About about = registry.find(Kind::format, "test-variant").about;
    EXPECT_EQ(about.summary, to_string(set));
    if (set == InstructionSet::baseline) plain = about.source;
    EXPECT_EQ(about.source, plain) << to_string(set);
  }
  expect_contains(plain, "Pack 64/64 ");
}

TEST_F(LoaderTest, CapAboveTheProcessorIsNoPromise) {
  const EnvironmentVariable cap("ESPALIER_INSTRUCTION_SET", "x86-64-v4");
  EXPECT_EQ(detail::usable_instruction_set(), detail::processor_instruction_set());
}

TEST_F(LoaderTest, UnknownInstructionSetIsRefused) {
  const EnvironmentVariable cap("ESPALIER_INSTRUCTION_SET", "avx2");
  EXPECT_EQ(error_of<PluginError>([&] { loader_.load(plugin_file("good_variant")); }),
            "environment: ESPALIER_INSTRUCTION_SET is 'avx2', expected baseline, x86-64-v3 or "
            "x86-64-v4");
}

TEST_F(LoaderTest, VariantsOfOnePluginAreTheSameLibrary) {
  if (detail::processor_instruction_set() < detail::InstructionSet::v3) {
    GTEST_SKIP() << "this processor has no x86-64-v3";
  }
  // Whichever comes first stays.
  for (const std::string first : {"good_variant", "good_variant.v3"}) {
    Registry registry;
    Loader loader(registry);
    loader.load(plugin_file(first));
    const std::string taken = registry.find(Kind::format, "test-variant").about.summary;
    loader.load(plugin_file("good_variant.v3"));
    loader.load(plugin_file("good_variant"));
    const EnvironmentVariable cap("ESPALIER_INSTRUCTION_SET", "baseline");
    loader.load(plugin_file("good_variant"));
    EXPECT_EQ(loader.loaded().size(), 1u);
    EXPECT_EQ(registry.find(Kind::format, "test-variant").about.summary, taken);
  }
}

TEST_F(LoaderTest, VariantThatTheProcessorLacksIsRefusedBeforeItRuns) {
  if (detail::processor_instruction_set() >= detail::InstructionSet::v4) {
    GTEST_SKIP() << "this processor has everything up to x86-64-v4";
  }
  const std::string file = folder_.copy(plugin_file("good_joint"), "joint.v4.so");
  expect_contains(error_of<PluginError>([&] { loader_.load(file); }),
                  file + ": instruction set is x86-64-v4, expected at most ");
}

TEST_F(LoaderTest, FolderLoadsOneVariantOfAPlugin) {
  for (const char* variant : {".v3", ".v4", ""}) {
    folder_.copy(plugin_file(std::string("good_variant") + variant),
                 std::string("variant") + variant + ".so");
  }
  folder_.write("notes.txt", "not looked at");
  EXPECT_TRUE(loader_.load_folder(folder_.path()).empty());
  ASSERT_EQ(loader_.loaded().size(), 1u);
  EXPECT_EQ(variant(), to_string(detail::processor_instruction_set()));
}

TEST_F(LoaderTest, FolderLoadsAVariantWithoutAPlainFile) {
  if (detail::processor_instruction_set() < InstructionSet::v3) {
    GTEST_SKIP() << "this processor has no x86-64-v3";
  }
  const std::string v3 = folder_.copy(plugin_file("good_variant.v3"), "variant.v3.so");
  folder_.copy(plugin_file("good_variant.v4"), "variant.v4.so");
  const EnvironmentVariable cap("ESPALIER_INSTRUCTION_SET", "x86-64-v3");
  loader_.load_folder(folder_.path());
  ASSERT_EQ(loader_.loaded().size(), 1u);
  EXPECT_EQ(loader_.loaded()[0].file, v3);
  // It shadows its plain file in a later folder.
  const TemporaryFolder later;
  later.copy(plugin_file("good_variant"), "variant.so");
  EXPECT_TRUE(loader_.load_folder(later.path(), true).empty());
  EXPECT_EQ(loader_.loaded().size(), 1u);
}

TEST_F(LoaderTest, FolderRefusesAPluginForWiderInstructionSetsAlone) {
  const std::string v3 = folder_.copy(plugin_file("good_variant.v3"), "variant.v3.so");
  folder_.copy(plugin_file("good_variant.v4"), "variant.v4.so");
  const EnvironmentVariable cap("ESPALIER_INSTRUCTION_SET", "baseline");
  const std::vector<std::string> refused = loader_.load_folder(folder_.path(), true);
  ASSERT_EQ(refused.size(), 1u);
  expect_contains(refused[0], v3 + ": instruction set is x86-64-v3, expected one for baseline");
}

TEST_F(LoaderTest, MissingFolderHasNoPlugins) {
  EXPECT_TRUE(loader_.load_folder(folder_ / "nowhere").empty());
  EXPECT_TRUE(loader_.loaded().empty());
}

TEST_F(LoaderTest, FileInPlaceOfAFolderIsRefused) {
  const std::string file = folder_.write("file", "");
  expect_contains(error_of<PluginError>([&] { loader_.load_folder(file); }),
                  file + ": plugin folder is unreadable (Not a directory)");
}

TEST_F(LoaderTest, FolderGoesOnAfterARefusalWhereItMay) {
  folder_.write("a.so", "no library");
  folder_.copy(plugin_file("good_joint"), "b.so");
  const std::vector<std::string> refused = loader_.load_folder(folder_.path(), true);
  ASSERT_EQ(refused.size(), 1u);
  expect_contains(refused[0], folder_ / "a.so");
  EXPECT_EQ(loader_.loaded().size(), 1u);
}

TEST_F(LoaderTest, FolderStopsAtARefusalWhereItMustNotGoOn) {
  folder_.write("a.so", "no library");
  folder_.copy(plugin_file("good_joint"), "b.so");
  error_of<PluginError>([&] { loader_.load_folder(folder_.path()); });
  EXPECT_TRUE(loader_.loaded().empty());
}

TEST_F(LoaderTest, EarlierFolderShadowsFilesOfTheSameNameInLaterOnes) {
  const TemporaryFolder later;
  folder_.copy(plugin_file("good_joint"), "joint.so");
  later.copy(plugin_file("good_joint"), "joint.so");
  loader_.load_folder(folder_.path());
  EXPECT_TRUE(loader_.load_folder(later.path(), true).empty());
  ASSERT_EQ(loader_.loaded().size(), 1u);
  EXPECT_EQ(loader_.loaded()[0].file, folder_ / "joint.so");
}

TEST_F(LoaderTest, RefusedFileShadowsNothing) {
  const TemporaryFolder later;
  folder_.write("joint.so", "no library");
  later.copy(plugin_file("good_joint"), "joint.so");
  EXPECT_EQ(loader_.load_folder(folder_.path(), true).size(), 1u);
  loader_.load_folder(later.path());
  ASSERT_EQ(loader_.loaded().size(), 1u);
  EXPECT_EQ(loader_.loaded()[0].file, later / "joint.so");
}

TEST_F(LoaderTest, SearchPathIsCommandLineThenEnvironmentThenBesideTheLibrary) {
  const EnvironmentVariable variable(
      "ESPALIER_PLUGIN_PATH", (folder_ / "b") + "::" + (folder_ / "c/") + ":" + (folder_ / "a"));
  const std::vector<std::string> path = Loader::search_path({folder_ / "a"});
  EXPECT_EQ(path, (std::vector<std::string>{folder_ / "a", folder_ / "b", folder_ / "c",
                                            fs::canonical(ESPALIER_PLUGIN_DIR).string()}));
}

TEST_F(LoaderTest, RelativeFoldersOfTheSearchPathBecomeAbsolute) {
  const EnvironmentVariable variable("ESPALIER_PLUGIN_PATH", std::nullopt);
  const std::vector<std::string> path = Loader::search_path({"some/folder"});
  EXPECT_EQ(path.front(), (fs::current_path() / "some/folder").string());
}

TEST_F(LoaderTest, ThreadsMayLoadTheSameAndDifferentPluginsWhileOthersRead) {
  const std::vector<std::string> files{plugin_file("good_joint"), plugin_file("good_algorithm"),
                                       plugin_file("good_variant"), plugin_file("bad_throws_int")};
  Registry other;
  Loader other_loader(other);
  std::atomic<int> refused = 0;
  std::vector<std::thread> threads;
  constexpr int thread_count = 8;
  for (int t = 0; t < thread_count; ++t) {
    threads.emplace_back([&, t] {
      Loader& loader = t % 2 == 0 ? loader_ : other_loader;
      const Registry& registry = t % 2 == 0 ? registry_ : other;
      for (std::size_t k = 0; k < files.size(); ++k) {
        try {
          loader.load(files[(k + t) % files.size()]);
        } catch (const PluginError&) {
          ++refused;
        }
        for (const Entry* e : registry.entries(Kind::joint)) {
          EXPECT_EQ(registry.joint_type(e->about.name).nv(), 1);
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(refused, thread_count);
  EXPECT_EQ(loader_.loaded().size(), 3u);
  EXPECT_EQ(inventory(registry_).size(), 4u);
  EXPECT_EQ(inventory(other), inventory(registry_));
}

}  // namespace
}  // namespace espalier::loader_test
