#include <sys/stat.h>
#include <unistd.h>

#include "espalier/plugins/loader.hpp"
#include "tests/plugins/helpers.hpp"

namespace espalier::host_test {
namespace {

using namespace test;

/// Where plugins come from: one folder and no other.
class HostTest : public ::testing::Test {
 protected:
  HostTest() { folder_.copy(plugin_file("good_variant"), "variant.so"); }

  TemporaryFolder folder_;
};

TEST_F(HostTest, RefusedPluginsAreLoggedToStderrAndTheRestIsLoaded) {
  folder_.write("broken.so", "no library");
  ::testing::internal::CaptureStderr();
  const Host host({{folder_.path(), folder_ / "nowhere"}, false});
  const std::string log = ::testing::internal::GetCapturedStderr();
  expect_contains(log,
                  "plugin refused: " + (folder_ / "broken.so") + ": plugin file is no library");
  expect_contains(log, (folder_ / "nowhere") + ": plugin folder is missing");
  EXPECT_EQ(host.loader().loaded().size(), 1u);
}

TEST_F(HostTest, EnvironmentNamesFoldersOfPlugins) {
  const EnvironmentVariable variable("ESPALIER_PLUGIN_PATH", folder_.path());
  const Host searching;
  EXPECT_EQ(searching.registry().find(Kind::format, "test-variant").origin, folder_ / "variant.so");
  const Host not_searching(Host::Options{{}, false});
  EXPECT_TRUE(not_searching.registry().entries(Kind::format).empty());
}

TEST_F(HostTest, FileIsReadByTheFormatOfItsEnding) {
  const Host host({{folder_.path()}, false});
  const std::string file = folder_.write("robot.empty", "");
  EXPECT_EQ(host.read(file).name, file);
  const std::string other = folder_.write("robot.full", "");
  expect_contains(error_of<UnknownName>([&] { host.read(other); }), other);
}

TEST_F(HostTest, FileThatCannotBeReadIsNamed) {
  const Host host({{folder_.path()}, false});
  const auto message = [&](const std::string& file) {
    return error_of<InvalidModel>([&] { host.read(file); });
  };
  const std::string missing = folder_ / "nowhere.empty";
  EXPECT_EQ(message(missing), missing + ": model file is missing, expected a robot file");

  EXPECT_EQ(message(folder_.path()), folder_.path() +
                                         ": model file is a folder, expected a robot "
                                         "file");
  const std::string pipe = folder_ / "pipe.empty";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_EQ(message(pipe), pipe + ": model file is not a regular file, expected a robot file");

  // A file with a hole: of any size, and of no weight.
  const std::string large = folder_.write("large.empty", "");
  std::filesystem::resize_file(large, (256u << 20) + 1);
  EXPECT_EQ(message(large),
            large + ": model file is of 268435457 bytes, expected at most 268435456 (256 MB)");
}

TEST_F(HostTest, FileWithoutPermissionIsNamed) {
  if (::geteuid() == 0) GTEST_SKIP() << "root reads files whatever their permissions";
  const Host host({{folder_.path()}, false});
  const std::string file = folder_.write("secret.empty", "");
  std::filesystem::permissions(file, std::filesystem::perms::none);
  expect_contains(error_of<InvalidModel>([&] { host.read(file); }),
                  file + ": model file is unreadable (Permission denied)");
}

}  // namespace
}  // namespace espalier::host_test
