#include "tests/cli/run.hpp"

namespace espalier::test::sweep_test {
namespace {

/// Rows of cells; no cell of these sweeps has a comma.
std::vector<std::vector<std::string>> rows_of(const std::string& table) {
  std::vector<std::vector<std::string>> rows;
  std::istringstream text(table);
  for (std::string line; std::getline(text, line);) {
    rows.emplace_back();
    std::istringstream cells(line);
    for (std::string cell; std::getline(cells, cell, ',');) rows.back().push_back(cell);
  }
  return rows;
}

/// A slider of one mass: force = mass * acceleration.
const char* const slider = R"(
espalier: 1
name: slider
links: {base: {}, block: {mass: 2}}
joints: {rail: {type: prismatic, parent: base, child: block, axis: [0, 0, 1]}}
)";

/// A sweep file beside the robot that it names.
struct Files {
  explicit Files(const std::string& sweep)
      : robot(".yaml", slider),
        plan(".yaml",
             "robot: " + robot.path() + "\nproblem: inverse-dynamics\nalgorithm: rnea\n" + sweep) {}
  Answer run(const std::string& options = "") const {
    return espalier::test::run("sweep '" + plan.path() + "' " + options);
  }
  TemporaryFile robot, plan;
};

const std::string record = "record: {force: {result: tau, row: rail}}\n";

TEST(SweepTest, GridHasARowForEachDesignAndTheForceIsTheWeight) {
  const Files files("parameters: {mass: {set: links.block.mass, range: [1, 3], count: 3}}\n" +
                    record);
  const Answer a = files.run();
  ASSERT_EQ(a.code, 0) << a.err;
  const auto rows = rows_of(a.out);
  ASSERT_EQ(rows.size(), 4u);
  EXPECT_EQ(rows[0], (std::vector<std::string>{"design", "state", "mass", "force", "error"}));
  for (int k = 1; k <= 3; ++k) {
    EXPECT_EQ(std::stod(rows[k][2]), k);
    EXPECT_DOUBLE_EQ(std::stod(rows[k][3]), 9.81 * k);
  }
}

TEST(SweepTest, BitsDoNotDependOnThreads) {
  const Files files(
      "parameters:\n"
      "  mass: {scale: links.block.mass, uniform: [0.5, 2]}\n"
      "  lift: {set: 'joints.rail.xyz[2]', normal: [1, 0.1]}\n"
      "  arm: {set: joints.rail.armature, list: [0, 0.1]}\n"
      "samples: 20\nstates: {random: 3}\n" +
      record);
  const Answer one = files.run("--threads 1"), four = files.run("--threads 4");
  ASSERT_EQ(one.code, 0) << one.err;
  EXPECT_EQ(one.out, four.out);
  EXPECT_EQ(rows_of(one.out).size(), 1u + 2 * 20 * 3);
}

#ifdef ESPALIER_MPIEXEC
/// The command line by several processes. The libraries of MPI leak; what a sweep itself leaks is
/// seen where one process runs it.
Answer run_by_processes(int count, const std::string& arguments) {
  const std::string mpirun =
      "OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 "
      "OMPI_MCA_rmaps_base_oversubscribe=1 ASAN_OPTIONS=detect_leaks=0 '" ESPALIER_MPIEXEC "' -n " +
      std::to_string(count) + " '" ESPALIER_CLI "' " + arguments;
  const TemporaryFile err(".err");
  Answer answer;
  answer.code = std::system((mpirun + " >/dev/null 2>'" + err.path() + "'").c_str());
  answer.err = contents(err.path());
  return answer;
}

TEST(SweepTest, BitsDoNotDependOnProcesses) {
  const Files files(
      "parameters: {mass: {scale: links.block.mass, uniform: [0.5, 2]}}\n"
      "samples: 11\nstates: {random: 2}\n" +
      record);
  const Answer alone = files.run();
  ASSERT_EQ(alone.code, 0) << alone.err;
  for (const int count : {2, 3}) {
    const TemporaryFile table(".csv");
    const Answer several = run_by_processes(
        count, "sweep '" + files.plan.path() + "' --output '" + table.path() + "'");
    EXPECT_EQ(several.code, 0) << several.err;
    EXPECT_EQ(contents(table.path()), alone.out);
  }
}

TEST(SweepTest, OneOfTheProcessesSaysWhatIsWrong) {
  const Answer answer = run_by_processes(2, "sweep no_such_file.yaml");
  EXPECT_NE(answer.code, 0);
  const std::string message = "no_such_file.yaml: sweep file is missing";
  const std::size_t first = answer.err.find(message);
  EXPECT_NE(first, std::string::npos) << answer.err;
  EXPECT_EQ(answer.err.find(message, first + 1), std::string::npos) << answer.err;
}
#endif

TEST(SweepTest, DistributionsHaveTheirMoments) {
  const Files files(
      "parameters:\n"
      "  a: {set: links.block.mass, uniform: [1, 3]}\n"
      "  b: {set: 'joints.rail.xyz[0]', normal: [5, 2]}\n"
      "samples: 4000\n" +
      record);
  const Answer answer = files.run();
  ASSERT_EQ(answer.code, 0) << answer.err;
  const auto rows = rows_of(answer.out);
  double mean_a = 0, mean_b = 0, square_b = 0;
  for (std::size_t k = 1; k < rows.size(); ++k) {
    const double a = std::stod(rows[k][2]), b = std::stod(rows[k][3]);
    EXPECT_GE(a, 1);
    EXPECT_LT(a, 3);
    mean_a += a / 4000, mean_b += b / 4000, square_b += (b - 5) * (b - 5) / 4000;
  }
  // Five standard errors of 4000 numbers.
  EXPECT_NEAR(mean_a, 2, 5 * 0.58 / 63);
  EXPECT_NEAR(mean_b, 5, 5 * 2.0 / 63);
  EXPECT_NEAR(square_b, 4, 5 * 5.7 / 63);
}

TEST(SweepTest, DesignThatIsNoRobotIsReportedAndTheRestKept) {
  const Files files("parameters: {mass: {set: links.block.mass, list: [1, -1, 2]}}\n" + record);
  const Answer a = files.run();
  EXPECT_EQ(a.code, 1);
  const auto rows = rows_of(a.out);
  ASSERT_EQ(rows.size(), 4u);
  EXPECT_EQ(rows[2][3], "");
  EXPECT_NE(a.out.find("block"), std::string::npos);
  EXPECT_DOUBLE_EQ(std::stod(rows[3][3]), 2 * 9.81);
}

TEST(SweepTest, FoldersAndDevicesAreNoSweeps) {
  expect_refused("sweep /", 2, {"/: sweep file is a folder", "expected a YAML file"});
  expect_refused("sweep /dev/zero", 2, {"not a regular file", "expected a YAML file"});
}

TEST(SweepTest, BadFilesNameTheKey) {
  const auto refused = [](const std::string& sweep, const std::string& word) {
    const Answer a = Files(sweep).run();
    EXPECT_NE(a.code, 0) << sweep;
    EXPECT_NE(a.err.find(word), std::string::npos) << a.err;
  };
  refused(record + "parametres: {}\n", "parameters");
  refused("", "record");
  refused("record: {}\n", "record is empty, expected numbers to record");
  refused("parameters: {m: {set: links.blok.mass, list: [1]}}\n" + record, "block");
  refused("parameters: {m: {set: links.block.mas, list: [1]}}\n" + record, "mass");
  refused("parameters: {m: {set: links.block.mass}}\n" + record, "uniform");
  refused("parameters: {m: {set: links.block.mass, list: [.nan]}}\n" + record, "finite");
  refused("record: {force: {result: tauu}}\n", "tau");
  refused("record: {force: {result: tau, row: rial}}\n", "rail");
  refused("record: {force: {result: tau, reduce: max}}\n", "max_abs");
}

void expect_refused_sweep(const std::string& sweep, const std::string& words,
                          const std::string& options = "") {
  const Answer a = Files(sweep).run(options);
  EXPECT_EQ(a.code, 2) << sweep;
  EXPECT_NE(a.err.find(words), std::string::npos) << sweep << a.err;
  EXPECT_EQ(a.out, "");
}

TEST(SweepTest, EveryParameterActs) {
  const std::string mass = "{set: links.block.mass, list: [1, 2]}";
  expect_refused_sweep("parameters: {a: " + mass + ", b: " + mass + "}\n" + record,
                       "parameter 'b': target 'links.block.mass' is driven by parameter 'a', too");
  expect_refused_sweep(
      "parameters: {a: {scale: links.block.mass, list: [2]}, b: " + mass + "}\n" + record,
      "parameter 'b': target 'links.block.mass' is driven by parameter 'a', too");
  expect_refused_sweep(
      "parameters: {a: {scale: [links.block.mass, links.block.mass], list: [2]}}\n" + record,
      "target 'links.block.mass' is driven twice by it, expected once");
  expect_refused_sweep("parameters: {a: {scale: [], list: [2]}}\n" + record,
                       "parameter 'a' has no target in 'scale', expected one");
  expect_refused_sweep("parameters: 3\n" + record, "parameters is no mapping");
}

TEST(SweepTest, FactorsMultiplyWhatIsSetBefore) {
  const Files files(
      "parameters:\n"
      "  mass: {set: links.block.mass, list: [3]}\n"
      "  factor: {scale: links.block.mass, list: [2]}\n"
      "  other: {scale: [links.block.mass, joints.rail.armature], list: [5]}\n" +
      record);
  const Answer a = files.run();
  ASSERT_EQ(a.code, 0) << a.err;
  EXPECT_DOUBLE_EQ(std::stod(rows_of(a.out)[1][5]), 9.81 * 3 * 2 * 5);
}

TEST(SweepTest, ARowIsNotReduced) {
  expect_refused_sweep("record: {e: {result: tau, row: rail, reduce: norm}}\n",
                       "record 'e' has row 'rail' and reduce 'norm', expected one of them");
  const Answer a = Files("record: {e: {result: tau, row: rail, reduce: entry}}\n").run();
  EXPECT_EQ(a.code, 0) << a.err;
}

TEST(SweepTest, ColumnsHaveNamesThatDiffer) {
  const auto twice = [](const std::string& name) {
    return "has two columns of the name '" + name + "', expected parameters and records of names";
  };
  const std::string values = ": {set: links.block.mass, list: [1]}}\n";
  expect_refused_sweep("parameters: {force" + values + record, twice("force"));
  for (const std::string name : {"design", "state", "error"}) {
    expect_refused_sweep("parameters: {" + name + values + record, twice(name));
    expect_refused_sweep("record: {" + name + ": {result: tau}}\n", twice(name));
  }
  expect_refused_sweep("record: {a: {result: tau}, a: {result: tau}}\n",
                       "key 'a' is given twice, expected once");
  expect_refused_sweep("seed: 1\nseed: 2\n" + record, "key 'seed' is given twice");
}

TEST(SweepTest, WrongNumbersAreToldWithWhatIsWanted) {
  const auto range = [](const std::string& more) {
    return "parameters: {m: {set: links.block.mass, " + more + "}}\n" + record;
  };
  expect_refused_sweep(range("range: [1, 2], count: 2.5"),
                       "'count' is 2.5, expected a whole number");
  expect_refused_sweep(range("range: [1, 2], count: 1000000000000"), "up to 2147483647");
  expect_refused_sweep(range("range: [1, 2], count: 0"), "count 0, expected at least 1");
  expect_refused_sweep(range("range: [1, nan], count: 2"), "expected a list of finite numbers");
  expect_refused_sweep(range("list: 3"), "'list' is 3, expected a list of finite numbers");
  expect_refused_sweep("seed: -1\n" + record, "'seed' is -1, expected a whole number from 0");
}

TEST(SweepTest, ARangeMayHaveOnePoint) {
  const Answer a =
      Files("parameters: {m: {set: links.block.mass, range: [3, 5], count: 1}}\n" + record).run();
  ASSERT_EQ(a.code, 0) << a.err;
  const auto rows = rows_of(a.out);
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[1][2], "3");
}

#ifdef ESPALIER_HDF5
TEST(SweepTest, Hdf5IsWrittenWholeOrNotAtAll) {
  const std::string grid =
      "parameters: {m: {set: links.block.mass, range: [1, 2], count: 2000}}\n" + record;
  const Files files(grid);
  const TemporaryFolder folder;
  const std::string table = folder.write("table.h5", "old");
  const std::string sweep = "sweep '" + files.plan.path() + "' --output '" + table + "'";
  // A file of 8 KB at most, and no signal beyond, as where the disk is full.
  const TemporaryFile err(".err");
  const std::string limited = "trap '' XFSZ; ulimit -f 8; '" ESPALIER_CLI "' " + sweep;
  const int code =
      std::system(("bash -c \"" + limited + "\" >/dev/null 2>'" + err.path() + "'").c_str());
  EXPECT_EQ(WEXITSTATUS(code), 1) << contents(err.path());
  EXPECT_NE(contents(err.path()).find("table.h5: output file is not writable"), std::string::npos)
      << contents(err.path());
  EXPECT_EQ(contents(table), "old");
  EXPECT_EQ(folder.names(), std::vector<std::string>{"table.h5"});  // and nothing beside it

  const Answer whole = espalier::test::run(sweep);
  EXPECT_EQ(whole.code, 0) << whole.err;
  EXPECT_EQ(contents(table).substr(1, 3), "HDF");
}

TEST(SweepTest, ColumnsThatWouldBeOneDataSetAreRefusedBeforeTheSweep) {
  const TemporaryFolder folder;
  const std::string table = folder.write("table.h5", "old");
  expect_refused_sweep(
      "record: {a/b: {result: tau}, a_b: {result: tau}}\n",
      "column 'a_b' is data set 'a_b' of HDF5, as is column 'a/b', expected names that differ",
      "--output '" + table + "'");
  expect_refused_sweep("record: {.: {result: tau}}\n", "column '.' names no data set of HDF5",
                       "--output '" + table + "'");
  EXPECT_EQ(contents(table), "old");
}
#endif

}  // namespace
}  // namespace espalier::test::sweep_test
