#include <elf.h>
#include <sys/stat.h>
#include <unistd.h>

#include "espalier/plugins/loader.hpp"
#include "espalier/plugins/plugin.hpp"
#include "tests/plugins/doubling.hpp"
#include "tests/plugins/helpers.hpp"

namespace espalier::bad_plugins_test {
namespace {

using namespace test;

/// A host with good plugins, to which bad ones are offered.
class BadPluginTest : public ::testing::Test {
 protected:
  void SetUp() override {
    host_.loader().load(plugin_file("good_joint"));
    host_.loader().load(plugin_file("good_algorithm"));
  }

  /// Loads a file that is refused; checks that nothing else happened and gives the message.
  template <class E = PluginError>
  std::string refusal(const std::string& file) {
    const std::vector<std::string> before = inventory(host_.registry());
    const std::size_t plugins = host_.loader().loaded().size();
    std::string text = error_of<E>([&] { host_.loader().load(file); });
    expect_contains(text, file);
    expect_contains(text, ", expected ");
    EXPECT_EQ(inventory(host_.registry()), before);
    EXPECT_EQ(host_.loader().loaded().size(), plugins);
    compute();
    return text;
  }

  /// A good joint makes a model and a good algorithm runs on it.
  void compute() const {
    const ModelPtr model = host_.compile(chain(2, "test-slider"));
    ASSERT_EQ(model->nv(), 2);
    const auto doubling = host_.create<Doubling<double>>("test-add", model);
    const std::vector<double> x{1.5, -2.0};
    std::vector<double> twice(2);
    doubling->evaluate(x, twice);
    EXPECT_EQ(twice, (std::vector<double>{3.0, -4.0}));
  }

  /// Makes an algorithm of bad/failing_factories.cpp, in vain.
  template <class E>
  std::string factory_error(const std::string& name) {
    host_.loader().load(plugin_file("bad_failing_factories"));
    const ModelPtr model = host_.compile(chain(2, "test-slider"));
    const std::string text =
        error_of<E>([&] { (void)host_.create<Doubling<double>>(name, model); });
    compute();
    return text;
  }

  Host host_{Host::Options{{}, false}};
  TemporaryFolder folder_;
};

TEST_F(BadPluginTest, MissingFile) {
  expect_contains(refusal(folder_ / "nowhere.so"), "plugin file is missing");
}

TEST_F(BadPluginTest, DanglingLink) {
  std::filesystem::create_symlink(folder_ / "nowhere.so", folder_ / "link.so");
  expect_contains(refusal(folder_ / "link.so"), "plugin file is missing");
}

TEST_F(BadPluginTest, Folder) {
  std::filesystem::create_directory(folder_ / "folder.so");
  expect_contains(refusal(folder_ / "folder.so"), "plugin file is a folder");
}

TEST_F(BadPluginTest, NamedPipeIsRefusedWithoutWaitingForAWriter) {
  ASSERT_EQ(::mkfifo((folder_ / "pipe.so").c_str(), 0600), 0);
  expect_contains(refusal(folder_ / "pipe.so"), "plugin file is not a regular file");
}

TEST_F(BadPluginTest, UnreadableFile) {
  if (::geteuid() == 0) GTEST_SKIP() << "root reads files whatever their permissions";
  const std::string file = folder_.copy(plugin_file("good_variant"), "unreadable.so");
  std::filesystem::permissions(file, std::filesystem::perms::none);
  expect_contains(refusal(file), "plugin file is unreadable (Permission denied)");
}

TEST_F(BadPluginTest, PathThroughAFileIsUnreadable) {
  const std::string file = folder_.write("file", "");
  expect_contains(refusal(file + "/plugin.so"), "plugin file is unreadable (Not a directory)");
}

TEST_F(BadPluginTest, EmptyFile) {
  expect_contains(refusal(folder_.write("empty.so", "")), "plugin file is empty");
}

TEST_F(BadPluginTest, NotALibrary) {
  const std::string file = folder_.write("text.so", "INPUT(/lib/x86_64-linux-gnu/libm.so.6)\n");
  expect_contains(refusal(file), "plugin file is no library (not an ELF file)");
}

TEST_F(BadPluginTest, FileCutShortAnywhereIsRefusedBeforeItIsMapped) {
  const std::string whole = contents(plugin_file("good_variant"));
  ASSERT_GT(whole.size(), 4096u);
  for (const std::size_t size : {std::size_t{4}, std::size_t{20}, sizeof(Elf64_Ehdr),
                                 std::size_t{4096}, whole.size() / 2, whole.size() - 1}) {
    const std::string name = "cut_at_" + std::to_string(size) + ".so";
    expect_contains(refusal(folder_.write(name, whole.substr(0, size))),
                    "plugin file is truncated (" + std::to_string(size) + " bytes;");
  }
}

TEST_F(BadPluginTest, OtherArchitecture) {
  std::string library = contents(plugin_file("good_variant"));
  reinterpret_cast<Elf64_Ehdr*>(library.data())->e_machine = EM_RISCV;
  expect_contains(refusal(folder_.write("riscv.so", library)),
                  "plugin file is built for RISC-V, expected a shared library for ");
}

TEST_F(BadPluginTest, ThirtyTwoBits) {
  std::string library = contents(plugin_file("good_variant"));
  library[EI_CLASS] = ELFCLASS32;
  expect_contains(refusal(folder_.write("small.so", library)), "not 64-bit little-endian");
}

TEST_F(BadPluginTest, ObjectFileIsNoSharedLibrary) {
  std::string library = contents(plugin_file("good_variant"));
  reinterpret_cast<Elf64_Ehdr*>(library.data())->e_type = ET_REL;
  expect_contains(refusal(folder_.write("object.so", library)), "ELF file of type 1");
}

TEST_F(BadPluginTest, TheProgramItselfIsNoPlugin) {
  refusal(std::filesystem::canonical("/proc/self/exe").string());
}

TEST_F(BadPluginTest, UndefinedSymbolIsAnErrorAtLoadingAndNotACrashLater) {
  expect_contains(refusal(plugin_file("bad_undefined_symbol")),
                  "espalier_test_function_that_nobody_defines");
}

TEST_F(BadPluginTest, MissingDependency) {
  expect_contains(refusal(plugin_file("bad_missing_dependency")), "libtest_absent_library.so");
}

TEST_F(BadPluginTest, NoEntryPoint) {
  expect_contains(refusal(plugin_file("bad_no_entry_point")),
                  "entry point is missing, expected the symbol 'espalier_plugin'");
}

TEST_F(BadPluginTest, ThrowingEntryPoint) {
  expect_contains(refusal(plugin_file("bad_throwing_entry_point")),
                  "entry point threw 'no header today'");
}

TEST_F(BadPluginTest, NullHeader) {
  expect_contains(refusal(plugin_file("bad_null_header")), "plugin header is null");
}

TEST_F(BadPluginTest, WrongStructSize) {
  expect_contains(refusal(plugin_file("bad_wrong_struct_size")),
                  "size of the plugin header is 32, expected 40");
}

TEST_F(BadPluginTest, OlderApi) {
  expect_contains(refusal(plugin_file("bad_older_api")),
                  "plugin API version is " + std::to_string(plugin_api_version - 1) +
                      " (older), expected " + std::to_string(plugin_api_version));
}

TEST_F(BadPluginTest, NewerApi) {
  expect_contains(refusal(plugin_file("bad_newer_api")),
                  "plugin API version is " + std::to_string(plugin_api_version + 1) +
                      " (newer), expected " + std::to_string(plugin_api_version));
}

TEST_F(BadPluginTest, NoFingerprint) {
  expect_contains(refusal(plugin_file("bad_no_fingerprint")), "fingerprint is null");
}

TEST_F(BadPluginTest, FingerprintWithoutAllKeys) {
  expect_contains(refusal(plugin_file("bad_partial_fingerprint")),
                  "fingerprint key 'eigen' is missing, expected '");
}

TEST_F(BadPluginTest, OtherAlignment) {
  expect_contains(
      refusal(plugin_file("bad_other_alignment")),
      "fingerprint key 'eigen_max_align' is '128', expected '64' (link the CMake target "
      "espalier::plugin");
}

TEST_F(BadPluginTest, OtherScalars) {
  expect_contains(refusal(plugin_file("bad_other_scalars")),
                  "fingerprint key 'scalars' is 'double,float', expected 'double,");
}

TEST_F(BadPluginTest, OtherSanitizer) {
  expect_contains(refusal(plugin_file("bad_other_sanitizer")),
                  "fingerprint key 'sanitizer' is 'memory', expected '");
}

TEST_F(BadPluginTest, Nameless) {
  expect_contains(refusal(plugin_file("bad_nameless")), "plugin name is empty");
}

TEST_F(BadPluginTest, NullRegisterFunction) {
  expect_contains(refusal(plugin_file("bad_null_register")), "register function is null");
}

TEST_F(BadPluginTest, ThrowsAnExceptionOfItsOwnTypeWhileRegistering) {
  expect_contains(refusal(plugin_file("bad_throws_exception")),
                  "registering plugin 'throws-exception' threw 'the table of gears is empty'");
}

TEST_F(BadPluginTest, ThrowsAnIntWhileRegistering) {
  expect_contains(refusal(plugin_file("bad_throws_int")),
                  "registering plugin 'throws-int' threw int");
}

TEST_F(BadPluginTest, DuplicateNamesBothOrigins) {
  const std::string text = refusal<DuplicateName>(plugin_file("bad_duplicate"));
  expect_contains(text, "algorithm 'test-add' for test-doubling is registered by");
  expect_contains(text, plugin_file("good_algorithm"));
}

TEST_F(BadPluginTest, DuplicateInsideThePlugin) {
  expect_contains(refusal<DuplicateName>(plugin_file("bad_duplicate_inside")),
                  "format 'twin' is registered by this plugin twice");
}

TEST_F(BadPluginTest, NamelessEntry) {
  expect_contains(refusal(plugin_file("bad_nameless_entry")),
                  "the name of a registered format is empty");
}

TEST_F(BadPluginTest, AlgorithmWithoutFactory) {
  expect_contains(refusal(plugin_file("bad_no_factory")),
                  "algorithm 'never' for test-doubling has no factory");
}

TEST_F(BadPluginTest, RefusedPluginIsRefusedAgain) {
  const std::string first = refusal(plugin_file("bad_throws_int"));
  EXPECT_EQ(refusal(plugin_file("bad_throws_int")), first);
}

TEST_F(BadPluginTest, PluginRefusedForADuplicateLoadsWhereThereIsNone) {
  refusal<DuplicateName>(plugin_file("bad_duplicate"));
  Registry other;
  Loader(other).load(plugin_file("bad_duplicate"));
  EXPECT_EQ(inventory(other).size(), 6u);
}

TEST_F(BadPluginTest, FactoryThatReturnsNullNamesAlgorithmAndFile) {
  const std::string text = factory_error<PluginError>("returns-null");
  expect_contains(text, plugin_file("bad_failing_factories"));
  expect_contains(text, "factory of algorithm 'returns-null' for test-doubling returned null");
  expect_contains(text, "expected an algorithm bound to model 'chain'");
}

TEST_F(BadPluginTest, FactoryThatThrowsNamesAlgorithmFileAndWhat) {
  const std::string text = factory_error<PluginError>("throws");
  expect_contains(text, plugin_file("bad_failing_factories"));
  expect_contains(text, "factory of algorithm 'throws' for test-doubling threw 'out of gears'");
}

TEST_F(BadPluginTest, FactoryThatThrowsAnIntNamesItsType) {
  expect_contains(factory_error<PluginError>("throws-int"), "threw int");
}

TEST_F(BadPluginTest, ErrorsOfEspalierPassThroughAFactory) {
  EXPECT_EQ(factory_error<InvalidModel>("refuses"),
            "refuses: number of wheels is 0, expected at least 3");
}

TEST_F(BadPluginTest, AlgorithmOfAnotherTypeThanItsProblemIsRefused) {
  const std::string text = factory_error<PluginError>("impostor");
  expect_contains(text, plugin_file("bad_failing_factories"));
  expect_contains(text, "algorithm 'impostor' for test-doubling is of another C++ type");
}

}  // namespace
}  // namespace espalier::bad_plugins_test
