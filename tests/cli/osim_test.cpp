#include <cmath>

#include "tests/cli/run.hpp"

/// End-effectors on the command line, on a pendulum whose answers are known by hand: 0.6 kg m²
/// about y, its tip a metre below (see data/pendulum.urdf).

namespace espalier::test::osim_test {
namespace {

constexpr double exact = 1e-13;  // a dozen roundings of numbers near ten
const std::string pendulum = data("pendulum.urdf");
const std::string gripper = data("gripper.urdf");

Json eval(const std::string& arguments, const std::string& state = "") {
  const Answer a =
      run("eval " + pendulum + " " + arguments + " --json" + (state.empty() ? "" : " --state -"),
          state);
  EXPECT_EQ(a.code, 0) << a.err;
  return a.code == 0 ? a.json() : Json();
}
/// J M^-1 J^T of end-effectors with the pendulum at 0.3.
Json inverse_osim(const std::string& end_effectors, const std::string& algorithm = "dense") {
  return eval("--problem inverse-osim --algorithm " + algorithm,
              R"({"q": {"swing": 0.3}, "end_effectors": )" + end_effectors + "}")["inverse_osim"];
}

/// Expects column times column over 0.6.
void expect_is(const Json& got, const std::vector<double>& column) {
  ASSERT_EQ(got.size(), column.size()) << got.dump();
  for (std::size_t i = 0; i < column.size(); ++i) {
    ASSERT_EQ(got[i].size(), column.size());
    for (std::size_t j = 0; j < column.size(); ++j) {
      EXPECT_NEAR(got[i][j].get<double>(), column[i] * column[j] / 0.6, exact) << got.dump();
    }
  }
}

const std::vector<double> in_link{0, 1, 0, -1, 0, 0};
const std::vector<double> in_world{-std::cos(0.3), 0, std::sin(0.3)};

TEST(EndEffectorStateTest, SixRowsAreInLinkAxesAndThreeInWorldAxes) {
  for (const char* algorithm : {"dense", "efpa", "c-efpa"}) {
    expect_is(inverse_osim(R"([{"link": "tip", "rows": "6d"}])", algorithm), in_link);
    expect_is(inverse_osim(R"([{"link": "tip", "rows": "3d"}])", algorithm), in_world);
  }
}

TEST(EndEffectorStateTest, AxesMayBeChosen) {
  expect_is(inverse_osim(R"([{"link": "tip", "rows": "3d", "axes": "link"}])"), {-1, 0, 0});
  expect_is(inverse_osim(R"([{"link": "tip", "rows": "6d", "axes": "world"}])"),
            {0, 1, 0, in_world[0], 0, in_world[2]});
}

TEST(EndEffectorStateTest, OffsetsAreInLinkAxes) {
  expect_is(inverse_osim(R"([{"link": "bob", "rows": "6d", "offset": [0, 0, -1]}])"), in_link);
  expect_is(inverse_osim(R"([{"link": "bob", "rows": "3d", "offset": [0, 0, -1]}])"), in_world);
}

TEST(EndEffectorStateTest, RowsMayBeAnyNumbers) {
  expect_is(inverse_osim(R"([{"link": "tip", "rows": [[0, 2, 0, 1, 5, 5], [0, 0, 0, 0, 0, 1]]}])"),
            {1, 0});
  expect_is(inverse_osim(R"([{"link": "tip", "rows": [[0, 0, 0, 1, 0, 0]], "axes": "world"}])"),
            {in_world[0]});
}

TEST(EndEffectorStateTest, RowsStandInTheOrderOfTheFile) {
  std::vector<double> both = in_world;
  both.insert(both.end(), in_link.begin(), in_link.end());
  both.push_back(0.0);
  expect_is(inverse_osim(R"([{"link": "tip", "rows": "3d"}, {"link": "tip", "rows": "6d"},
                             {"link": "base", "rows": [[0, 1, 0, 0, 0, 0]]}])"),
            both);
}

TEST(EndEffectorStateTest, AccelerationIsWhatConstrainedDynamicsHold) {
  const auto swing = [](const std::string& acceleration) {
    return eval("--algorithm dense --problem constrained-dynamics",
                R"({"q": {"swing": 0.3}, "tau": {"swing": 5}, "end_effectors":
                   [{"link": "tip", "rows": [[0, 1, 0, 0, 0, 0]])" +
                    acceleration + "}]}");
  };
  const double weight = 9.81 * std::sin(0.3);
  const Json held = swing("");
  EXPECT_NEAR(held["vdot"]["swing"].get<double>(), 0.0, exact);
  EXPECT_NEAR(held["constraint_force"][0].get<double>(), weight - 5, exact);
  EXPECT_EQ(held["constraint_rank"], 1.0);
  EXPECT_NEAR(held["constraint_conflict"].get<double>(), 0.0, exact);
  const Json moved = swing(R"(, "acceleration": [2])");
  EXPECT_NEAR(moved["vdot"]["swing"].get<double>(), 2.0, exact);
  EXPECT_NEAR(moved["constraint_force"][0].get<double>(), 0.6 * 2 + weight - 5, exact);
}

TEST(EndEffectorStateTest, OperationalSpaceComesAsPlainLists) {
  const Json out = eval("--algorithm dense --problem operational-space",
                        R"({"end_effectors": [{"link": "tip", "rows": [[0, 1, 0, 0, 0, 0]]}]})");
  EXPECT_NEAR(out["task_jacobian"][0][0].get<double>(), 1.0, exact);
  EXPECT_NEAR(out["osim"][0][0].get<double>(), 0.6, exact);
  EXPECT_NEAR(out["task_input"][0][0].get<double>(), 1 / 0.6, exact);
  EXPECT_EQ(out["task_bias"].size(), 1u);
  EXPECT_EQ(out["task_rank"], 1.0);
}

TEST(EndEffectorStateTest, ProblemsThatNeedNoneTakeNoHarm) {
  const Json out = eval("--algorithm aba", R"({"tau": {"swing": 0.6},
                                                "end_effectors": [{"link": "tip", "rows": "6d"}]})");
  EXPECT_NEAR(out["vdot"]["swing"].get<double>(), 1.0, exact);
}

TEST(EndEffectorStateTest, WithoutThemAlgorithmsSolveTheProblemsThatNeedNone) {
  const Json without = eval("--algorithm dense", R"({"tau": {"swing": 0.6}})");
  EXPECT_NEAR(without["vdot"]["swing"].get<double>(), 1.0, exact);
  EXPECT_EQ(without["problem"], "forward-dynamics");
  EXPECT_FALSE(without.contains("inverse_osim"));
  // With them all problems are solved, and names that two of them use are told apart.
  const Json with = eval("--algorithm dense", R"({"tau": {"swing": 0.6},
                                                   "end_effectors": [{"link": "tip", "rows": "6d"}]})");
  EXPECT_NEAR(with["vdot"]["swing"].get<double>(), 1.0, exact);
  EXPECT_NEAR(with["constrained-dynamics:vdot"]["swing"].get<double>(), 0.0, exact);
  EXPECT_TRUE(with.contains("inverse_osim"));
  EXPECT_TRUE(with.contains("null_projector"));
}

TEST(EndEffectorStateTest, RandomStatesHaveTheTipsAndReadBack) {
  for (const char* algorithm : {"dense", "dense --root floating"}) {
    const Json first = eval(std::string("--algorithm ") + algorithm + " --random 7");
    const Json& list = first["state"]["end_effectors"];
    ASSERT_EQ(list.size(), 1u) << list.dump();
    EXPECT_EQ(list[0]["link"], "bob");
    EXPECT_EQ(list[0]["rows"], "6d");
    EXPECT_EQ(list[0]["acceleration"].size(), 6u);
    const Json again = eval(std::string("--algorithm ") + algorithm, first["state"].dump());
    for (const char* key : {"inverse_osim", "osim", "constraint_force", "task_bias"}) {
      EXPECT_EQ(first[key], again[key]) << key;  // bit for bit: numbers survive the file
    }
  }
}

TEST(EndEffectorStateTest, AnyRowsReadBack) {
  const std::string task = R"({"q": {"swing": 0.3}, "end_effectors": [{"link": "tip",
      "rows": [[0.1, 0.2, 0, 0, 0, 1]], "axes": "world", "offset": [1, 2, 3]},
      {"link": "base", "rows": "3d"}]})";
  // A random state's list, with rows of every form.
  const Json first = eval(
      "--algorithm dense --problem inverse-osim --random 3"
      " --end-effector tip:3d --end-effector bob");
  const Json& list = first["state"]["end_effectors"];
  ASSERT_EQ(list.size(), 2u);
  EXPECT_EQ(list[0]["rows"], "3d");
  EXPECT_EQ(list[0]["axes"], "world");
  EXPECT_EQ(list[1]["rows"], "6d");
  EXPECT_EQ(list[1]["axes"], "link");
  EXPECT_EQ(first["inverse_osim"].size(), 9u);
  EXPECT_EQ(eval("--algorithm dense --problem inverse-osim", first["state"].dump())["inverse_osim"],
            first["inverse_osim"]);
  EXPECT_EQ(eval("--algorithm dense --problem inverse-osim", task)["inverse_osim"].size(), 4u);
}

TEST(EndEffectorOptionTest, ReplacesThoseOfTheState) {
  const std::string state = R"({"q": {"swing": 0.3}, "end_effectors":
      [{"link": "base", "rows": "6d", "acceleration": [1, 1, 1, 1, 1, 1]}]})";
  expect_is(
      eval("--algorithm dense --problem inverse-osim --end-effector tip:3d", state)["inverse_osim"],
      in_world);
  const Json held =
      eval("--algorithm dense --problem constrained-dynamics --end-effector tip:3d", state);
  EXPECT_EQ(held["constraint_force"].size(), 3u);
  EXPECT_NEAR(held["vdot"]["swing"].get<double>(), 0.0, exact);
  // Without any state, the robot is in its neutral position.
  expect_is(eval("--algorithm dense --problem inverse-osim --end-effector tip")["inverse_osim"],
            in_link);
}

TEST(EndEffectorOptionTest, IsForCompareAndBenchToo) {
  const Answer compared = run("compare " + pendulum +
                              " --problem inverse-osim --samples 3 --end-effector tip:3d"
                              " --end-effector bob --json");
  ASSERT_EQ(compared.code, 0) << compared.err;
  EXPECT_EQ(compared.json()["agree"], true);
  EXPECT_GE(compared.json()["results"].size(), 10u);
  const Answer timed = run("bench " + gripper +
                           " --algorithm c-efpa --end-effector left:3d --time 0.002 --repeats 2"
                           " --json");
  ASSERT_EQ(timed.code, 0) << timed.err;
  EXPECT_EQ(timed.json()["results"][0]["problem"], "inverse-osim");
  EXPECT_EQ(timed.json()["results"][0]["allocations_per_call"], 0.0);
}

TEST(EndEffectorOptionTest, DefaultsAreTheTipsAndAGroundWhereNothingMoves) {
  for (const char* problem : {"inverse-osim", "operational-space", "constrained-dynamics"}) {
    const Answer a = run("compare " + gripper + " --samples 3 --json --problem " + problem);
    EXPECT_EQ(a.code, 0) << a.err;
    EXPECT_EQ(a.json()["agree"], true);
  }
  const TemporaryFile block(".urdf", "<robot name='block'><link name='a'/></robot>");
  const Answer a = run("compare '" + block.path() + "' --samples 1 --problem all --json");
  EXPECT_EQ(a.code, 0) << a.err << a.out;
}

TEST(EndEffectorOptionTest, BadOnesAreRefused) {
  const std::string command = "eval " + pendulum + " --algorithm dense --end-effector ";
  expect_refused(command + "tap", 2, {"--end-effector", "'tap'", "did you mean 'tip'?"});
  expect_refused(command + "tap:3d", 2, {"'tap'", "did you mean 'tip'?"});
  expect_refused(command + "tip:7d", 2, {"'7d'", "'6d' or '3d'"});
  expect_refused(command + "''", 2, {"--end-effector"});
  for (const std::string other : {"compare", "bench", "count"}) {
    const std::string algorithm = other == "compare" ? "" : " --algorithm efpa";
    expect_refused(other + " " + pendulum + algorithm + " --end-effector tap", 2, {"'tap'"});
  }
}

TEST(EndEffectorTextTest, TablesNameRowsByLink) {
  const Answer a = run("eval " + pendulum +
                       " --algorithm dense --problem operational-space --end-effector tip:3d"
                       " --end-effector bob:3d --end-effector tip");
  ASSERT_EQ(a.code, 0) << a.err;
  for (const char* word : {"tip[0]", "tip[2]", "bob[1]", "tip(2)[5]", "null_projector", "task_bias",
                           "task_rank: 1", "swing"}) {
    EXPECT_NE(a.out.find(word), std::string::npos) << word << "\n" << a.out;
  }
}

TEST(EndEffectorStateTest, BadOnesAreRefusedByName) {
  struct Bad {
    const char* list;
    std::vector<std::string> words;
  };
  const Bad cases[] = {
      {R"([])", {"number of end-effectors is 0", "expected at least one"}},
      {R"({"link": "tip"})", {"'end_effectors' is of type object", "list"}},
      {R"(["tip"])", {"end_effectors[0] is of type string", "object"}},
      {R"([{"rows": "6d"}])", {"'link' of end_effectors[0] is missing"}},
      {R"([{"link": "tip"}])", {"'rows' of end_effectors[0] is missing"}},
      {R"([{"link": 3, "rows": "6d"}])", {"link of end_effectors[0]", "number", "a name"}},
      {R"([{"link": "tap", "rows": "6d"}])", {"link 'tap'", "did you mean 'tip'?"}},
      {R"([{"link": "tip", "rows": "6d"}, {"link": "tip", "rows": []}])",
       {"number of rows of end_effectors[1] is 0", "at least one"}},
      {R"([{"link": "tip", "rows": "5d"}])",
       {"rows of end_effectors[0] is '5d'", "\"6d\"", "\"3d\""}},
      {R"([{"link": "tip", "rows": 6}])", {"rows of end_effectors[0]", "number", "\"6d\""}},
      {R"([{"link": "tip", "rows": [0, 0, 0, 0, 0, 1]}])",
       {"row 0 of end_effectors[0] is 1, expected 6"}},
      {R"([{"link": "tip", "rows": [[0, 0, 0, 0, 0, 1], [1, 2]]}])",
       {"row 1 of end_effectors[0] is 2, expected 6"}},
      {R"([{"link": "tip", "rows": [[0, 0, 0, 0, 0, "1"]]}])",
       {"row 0 of end_effectors[0]", "string", "6 numbers"}},
      {R"([{"link": "tip", "rows": "6d", "offset": [1, 2]}])",
       {"offset of end_effectors[0] is 2, expected 3"}},
      {R"([{"link": "tip", "rows": "6d", "axes": "body"}])",
       {"axes of end_effectors[0] is \"body\"", "\"link\" or \"world\""}},
      {R"([{"link": "tip", "rows": "6d", "axes": null}])", {"axes of end_effectors[0] is null"}},
      {R"([{"link": "tip", "rows": "3d", "acceleration": [1, 2, 3, 4]}])",
       {"acceleration of end_effectors[0] is 4, expected 3"}},
      {R"([{"link": "tip", "rows": "3d", "ofset": [1, 2, 3]}])",
       {"key 'ofset' of end_effectors[0]", "did you mean 'offset'?"}},
      {R"([{"link": "tip", "rows": [[1e999, 0, 0, 0, 0, 0]]}])", {"overflow"}},
  };
  for (const Bad& c : cases) {
    expect_refused("eval " + pendulum + " --algorithm dense --problem inverse-osim --state -", 2,
                   c.words, R"({"end_effectors": )" + std::string(c.list) + "}");
  }
  expect_refused("eval " + pendulum + " --algorithm efpa", 2,
                 {"number of end-effectors is 0", "\"end_effectors\""});
}

}  // namespace
}  // namespace espalier::test::osim_test
