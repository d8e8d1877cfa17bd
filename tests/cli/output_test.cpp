#include <fcntl.h>
#include <signal.h>

#include <thread>

#include "tests/cli/run.hpp"
#include "tests/support/temporary_folder.hpp"

/// Files that the command line writes: whole or not at all, and never over an input.

namespace espalier::test::output_test {
namespace {

namespace fs = std::filesystem;

std::string pendulum() { return contents(ESPALIER_CLI_DATA "/pendulum.urdf"); }

TEST(OutputTest, NoOutputReplacesAnInput) {
  const TemporaryFolder folder;
  const std::string robot = folder.write("robot.urdf", pendulum());
  fs::create_symlink(robot, folder / "link.urdf");
  for (const std::string& output : {robot, folder / "link.urdf", folder / "./robot.urdf"}) {
    expect_refused("convert " + robot + " -o " + output, 1,
                   {output + ": output file is the input '" + robot + "'", "--overwrite"});
    expect_refused("simulate " + robot + " --duration 0.01 --dt 0.001 --output " + output, 1,
                   {output + ": output file is the input"});
    EXPECT_EQ(contents(robot), pendulum());
  }
  const Answer told = run("convert " + robot + " -o " + folder / "link.urdf" + " --overwrite");
  EXPECT_EQ(told.code, 0) << told.err;
  EXPECT_NE(contents(robot), pendulum()) << "the file that the link names is written anew";
  EXPECT_TRUE(fs::is_symlink(folder / "link.urdf"));
  EXPECT_EQ(run("check " + robot).code, 0);
}

TEST(OutputTest, NoOutputReplacesAFileThatARobotIncludes) {
  const TemporaryFolder folder;
  const std::string part = folder.write("part.yaml", R"(espalier: 1
definitions:
  leg:
    ports: {inputs: [base]}
    links: {foot: {mass: 1, com: [0, 0, -0.1], inertia: [0.1, 0.1, 0.1, 0, 0, 0]}}
    joints: {hip: {type: revolute, parent: base, child: foot, axis: [0, 1, 0]}}
)");
  const std::string before = contents(part);
  const std::string robot = folder.write("robot.yaml", R"(espalier: 1
name: two
include: [part.yaml]
links: {body: {}}
subsystems:
  left: {type: leg, connect: {base: {to: body}}}
  right: {type: leg, connect: {base: {to: body, xyz: [0, 1, 0]}}}
)");
  expect_refused("convert " + robot + " -o " + part, 1, {"output file is the input"});
  EXPECT_EQ(contents(part), before);
}

TEST(OutputTest, ConvertSaysThatItFlattensWhatAFileComposes) {
  const TemporaryFolder folder;
  const std::string robot = "'" ESPALIER_SOURCE_DIR "/robots/tello.yaml'";
  const Answer a = run("convert " + robot + " -o " + folder / "flat.yaml");
  EXPECT_EQ(a.code, 0) << a.err;
  EXPECT_NE(a.out.find("flattened: "), std::string::npos) << a.out;
  EXPECT_EQ(run("convert " + robot + " --json -o " + folder / "flat.yaml").json()["flattened"],
            true);
  const Answer again = run("convert " + folder / "flat.yaml" + " -o " + folder / "again.yaml");
  EXPECT_EQ(again.out.find("flattened: "), std::string::npos) << again.out;
}

TEST(OutputTest, AFullDiskLeavesWhatStoodThere) {
  const TemporaryFolder folder;
  const std::string robot = folder.write("robot.urdf", pendulum());
  const std::string out = folder.write("out.yaml", "precious\n");
  // A limit of the size of files tells what a full disk tells, at the same place.
  const auto limited = [](const std::string& words) {
    return run("list formats >/dev/null; ( ulimit -f 0; trap '' XFSZ; '" ESPALIER_CLI "' " + words +
               " )");
  };
  const Answer a = limited("convert " + robot + " -o " + out);
  EXPECT_EQ(a.code, 1) << a.out;
  const Answer b = limited("simulate " + robot + " --duration 1 --dt 0.001 --output " + out);
  EXPECT_EQ(b.code, 1);
  const std::string arrays = folder.write("out.npz", "precious\n");
  const Answer c = limited("simulate " + robot + " --duration 50 --dt 0.001 --output " + arrays);
  EXPECT_EQ(c.code, 1);
  for (const std::string& file : {out, arrays}) EXPECT_EQ(contents(file), "precious\n");
  EXPECT_EQ(folder.names(), (std::vector<std::string>{"out.npz", "out.yaml", "robot.urdf"}))
      << "nothing is left beside";
  // A device that is full is written directly.
  expect_refused("simulate " + robot + " --duration 1 --dt 0.001 --output /dev/full", 1,
                 {"/dev/full: output file is not writable (No space left on device)"});
  fs::create_symlink("/dev/full", folder / "full.npz");
  expect_refused("simulate " + robot + " --duration 1 --dt 0.001 --output " + folder / "full.npz",
                 1, {"full.npz: output file is not writable (No space left on device)"});
}

TEST(OutputTest, ModesOfFilesAreKept) {
  const TemporaryFolder folder;
  const std::string robot = folder.write("robot.urdf", pendulum());
  const std::string out = folder.write("out.yaml", "secret\n");
  fs::permissions(out, fs::perms::owner_read | fs::perms::owner_write);
  ASSERT_EQ(run("convert " + robot + " -o " + out).code, 0);
  EXPECT_EQ(fs::status(out).permissions(), fs::perms::owner_read | fs::perms::owner_write);
}

/// Starts a simulation that nobody waits for the end of, and sends it a signal after some rows.
int interrupt(const std::string& robot, const std::string& out, const std::string& err, int with) {
  const pid_t child = fork();
  if (child == 0) {
    const int file = ::open(err.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    ::dup2(file, 2), ::dup2(file, 1);
    ::execl(ESPALIER_CLI, "espalier", "simulate", robot.c_str(), "--duration", "1e6", "--dt",
            "0.001", "--output", out.c_str(), nullptr);
    _exit(99);
  }
  // Until it runs and has written: its rows stand beside the file that it will be.
  const fs::path folder = fs::path(out).parent_path();
  const std::string beside = fs::path(out).filename().string() + ".";
  bool writes = false;
  for (int i = 0; i < 2000 && !writes; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    for (const auto& entry : fs::directory_iterator(folder)) {
      const std::string name = entry.path().filename();
      std::error_code gone;
      writes = writes || (name.starts_with(beside) && fs::file_size(entry.path(), gone) > 0);
    }
  }
  EXPECT_TRUE(writes) << contents(err);
  ::kill(child, with);
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/// Lines of a file, and that all of them have as many cells as the first.
long whole_rows(const std::string& text) {
  EXPECT_TRUE(text.ends_with('\n'));
  std::stringstream stream(text);
  std::string line;
  long rows = 0, cells = 0;
  while (std::getline(stream, line)) {
    const long commas = std::count(line.begin(), line.end(), ',');
    if (rows++ == 0) cells = commas;
    EXPECT_EQ(commas, cells) << line;
  }
  return rows;
}

TEST(OutputTest, CtrlCClosesTheFileAndSaysHowFarItCame) {
  const TemporaryFolder folder;
  const std::string robot = folder.write("robot.urdf", pendulum());
  const std::string out = folder / "out.csv";
  EXPECT_EQ(interrupt(robot, out, folder / "err", SIGINT), 130) << contents(folder / "err");
  const long rows = whole_rows(contents(out));
  const std::string told = contents(folder / "err");
  EXPECT_NE(told.find("simulate: interrupted at "), std::string::npos) << told;
  EXPECT_NE(told.find("holds " + std::to_string(rows - 1) + " rows"), std::string::npos) << told;
  EXPECT_EQ(folder.names(), (std::vector<std::string>{"err", "out.csv", "robot.urdf"}));
}

// Room was made for a thousand million rows.
TEST(OutputTest, CtrlCLeavesTheArraysOfTheRowsThatItCameTo) {
  const TemporaryFolder folder;
  const std::string robot = folder.write("robot.urdf", pendulum());
  const std::string out = folder / "out.npz";
  EXPECT_EQ(interrupt(robot, out, folder / "err", SIGINT), 130) << contents(folder / "err");
  const std::string told = contents(folder / "err"), before = "out.npz holds ";
  const std::size_t at = told.find(before);
  ASSERT_NE(at, std::string::npos) << told;
  const long rows = std::stol(told.substr(at + before.size()));
  const std::string text = contents(out);
  long columns = 0;
  const std::string shape = "'shape': (" + std::to_string(rows) + ",), }";
  for (std::size_t k = text.find(shape); k != std::string::npos; k = text.find(shape, k + 1)) {
    ++columns;
  }
  EXPECT_EQ(columns, 8);
  EXPECT_GT(static_cast<long>(text.size()), 8 * 8 * rows);
  EXPECT_LT(static_cast<long>(text.size()), 8 * (8 * rows + 4500));
}

/// The rows but for the last, where that was cut off.
std::string up_to_the_last_end(const std::string& text) {
  return text.substr(0, text.rfind('\n') + 1);
}

TEST(OutputTest, AKilledRunLeavesTheOldFileAndItsRowsBeside) {
  const TemporaryFolder folder;
  const std::string robot = folder.write("robot.urdf", pendulum());
  const std::string out = folder.write("out.csv", "old\n");
  EXPECT_EQ(interrupt(robot, out, folder / "err", SIGKILL), 128 + SIGKILL);
  EXPECT_EQ(contents(out), "old\n");
  for (const std::string& name : folder.names()) {
    if (!name.starts_with("out.csv.")) continue;
    EXPECT_GT(whole_rows(up_to_the_last_end(contents(folder / name))), 1);
  }
}

}  // namespace
}  // namespace espalier::test::output_test
