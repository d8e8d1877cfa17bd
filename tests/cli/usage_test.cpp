#include <sstream>

#include "tests/cli/run.hpp"
#include "tests/support/temporary_folder.hpp"

/// Words that are wrong, help, exit codes.

namespace espalier::test::usage_test {
namespace {

const std::string pendulum = data("pendulum.urdf");
const std::vector<std::string> commands{"eval",  "compare", "bench", "info",     "list",    "check",
                                        "graph", "convert", "close", "assemble", "simulate"};

TEST(UsageTest, HelpNamesAllCommandsAndExitCodes) {
  const Answer a = run("--help");
  EXPECT_EQ(a.code, 0);
  for (const std::string& command : commands) {
    EXPECT_NE(a.out.find("\n  " + command), std::string::npos) << command << "\n" << a.out;
  }
  for (const char* word : {"--plugins", "--verbose", "--version", "Exit codes", "1 ", "2 ", "3 "}) {
    EXPECT_NE(a.out.find(word), std::string::npos) << word;
  }
}

TEST(UsageTest, EveryCommandHasHelpAndJson) {
  for (const std::string& command : commands) {
    const Answer a = run(command + " --help");
    EXPECT_EQ(a.code, 0) << command;
    EXPECT_NE(a.out.find("--json"), std::string::npos) << a.out;
  }
}

TEST(UsageTest, HelpOfAllCommandsFitsAHundredColumns) {
  std::istringstream lines(run("--help-all").out);
  int count = 0;
  for (std::string line; std::getline(lines, line); ++count) {
    EXPECT_LE(line.size(), 100U) << line;
  }
  EXPECT_GT(count, 100);
}

TEST(UsageTest, VersionIsPrinted) {
  const Answer a = run("--version");
  EXPECT_EQ(a.code, 0);
  EXPECT_TRUE(a.out.starts_with("espalier ")) << a.out;
  // Paths stand below the table, which fits a screen whatever folder plugins are in.
  const std::string table = a.out.substr(0, a.out.rfind("\nin "));
  ASSERT_LT(table.size(), a.out.size()) << a.out;
  std::istringstream lines(table);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 100u) << line;
}

TEST(UsageTest, UnknownWordsAreRefusedWithASuggestion) {
  expect_refused("evla", 2, {"'evla'", "did you mean 'eval'?"});
  expect_refused("", 2, {"subcommand", "--help"});
  expect_refused("info " + pendulum + " --rot fixed", 2, {"'--rot'", "did you mean '--root'?"});
  expect_refused("--verbos list", 2, {"'--verbos'", "did you mean '--verbose'?"});
  expect_refused("info " + pendulum + " too many", 2, {"info", "'too'"});
  expect_refused("info", 2, {"info", "MODEL"});
  expect_refused("info " + pendulum + " --root hanging", 2, {"--root", "hanging", "floating"});
  expect_refused("list algoritms", 2, {"algoritms", "algorithms"});
  expect_refused("graph " + pendulum + " --kind forest", 2, {"--kind", "forest", "tree"});
  expect_refused("bench " + pendulum + " --repeats 0", 2, {"--repeats"});
}

TEST(UsageTest, ComplaintsOfUsageComeAsJsonToo) {
  const Answer a = run("info --json");
  EXPECT_EQ(a.code, 2);
  EXPECT_EQ(a.json()["error"]["type"], "UsageError");
}

TEST(UsageTest, JsonMayStandBeforeTheCommand) {
  const Answer a = run("--json info " + pendulum), b = run("info --json " + pendulum);
  EXPECT_EQ(a.code, 0);
  EXPECT_EQ(a.out, b.out);
  EXPECT_FALSE(a.json().is_discarded());
}

TEST(UsageTest, UnusableModelFilesAreExitCodeOne) {
  expect_refused("info /no/such/robot.urdf", 1, {"/no/such/robot.urdf", "missing"});
  expect_refused("info /tmp", 1, {"/tmp", "folder"});
  const TemporaryFile garbage(".urdf", "this is no robot"), strange(".robot", "x");
  expect_refused("info '" + garbage.path() + "'", 1, {garbage.path()});
  expect_refused("info '" + strange.path() + "'", 1, {".robot", ".urdf"});
  expect_refused("eval " + data("massless_leaf.urdf") + " --algorithm aba", 1,
                 {"ghost", "massless_leaf.urdf:"});
}

TEST(UsageTest, UnknownJointTypesInAModelAreExitCodeOne) {
  const TemporaryFile robot(".urdf",
                            "<robot name='r'><link name='a'/><link name='b'><inertial>"
                            "<mass value='1'/><inertia ixx='1' iyy='1' izz='1' ixy='0' ixz='0' "
                            "iyz='0'/></inertial></link><joint name='j' type='revolut'>"
                            "<parent link='a'/><child link='b'/></joint></robot>");
  expect_refused("info '" + robot.path() + "'", 1, {"revolut", "revolute"});
}

TEST(UsageTest, GlobalOptionsMayFollowTheSubcommand) {
  const Answer a = run("info " + pendulum + " --verbose --json");
  EXPECT_EQ(a.code, 0);
  EXPECT_NE(a.err.find("compiled"), std::string::npos) << a.err;
  EXPECT_EQ(a.json()["model"], "pendulum");  // standard output is the result alone
}

TEST(UsageTest, MissingPluginFoldersAreRefused) {
  expect_refused("--plugins /no/such/folder list", 2, {"/no/such/folder"});
}

TEST(UsageTest, RefusedPluginsAreWarningsAndTheRestWorks) {
  const TemporaryFolder folder;
  folder.write("broken.so", "no library");
  const Answer a =
      run("--plugins '" + folder.path() + "' eval " + pendulum + " --algorithm aba --json");
  EXPECT_EQ(a.code, 0);
  EXPECT_NE(a.err.find("broken.so"), std::string::npos) << a.err;
  EXPECT_TRUE(a.json().contains("vdot"));
}

TEST(UsageTest, FullStandardOutputIsAnError) {
  if (!std::filesystem::exists("/dev/full")) GTEST_SKIP() << "no /dev/full on this machine";
  const Answer a = run("list > /dev/full");
  EXPECT_EQ(a.code, 3);
  EXPECT_NE(a.err.find("standard output"), std::string::npos) << a.err;
}

}  // namespace
}  // namespace espalier::test::usage_test
