#include <cmath>

#include "tests/cli/run.hpp"

/// Inputs in state files, on a pendulum whose answers are known by hand: 0.6 kg m² about y, its tip
/// a metre below (see data/pendulum.urdf).

namespace espalier::test::inputs_test {
namespace {

constexpr double exact = 1e-13;  // a dozen roundings of numbers near ten
const std::string pendulum = data("pendulum.urdf");
const std::string gripper = data("gripper.urdf");

Json eval(const std::string& algorithm, const std::string& inputs, const std::string& more = "") {
  const Answer a = run("eval " + pendulum + " --algorithm " + algorithm + " --json --state -",
                       R"({"q": {"swing": 0.3}, "inputs": )" + inputs + more + "}");
  EXPECT_EQ(a.code, 0) << a.err;
  return a.code == 0 ? a.json() : Json();
}
void expect_refusal(const std::string& inputs, int code, const std::vector<std::string>& words) {
  expect_refused("eval " + pendulum + " --algorithm iim --state -", code, words,
                 R"({"inputs": )" + inputs + "}");
}

TEST(InputStateTest, MotorsAndContactsAreNamedColumns) {
  const std::string inputs = R"([{"joint": "swing"}, {"link": "tip", "rows": "3d"},
    {"link": "tip", "rows": "3d", "axes": "link", "name": "push"},
    {"link": "bob", "rows": [[0, 1, 0, 0, 0, 0]], "offset": [0, 0, -1]}])";
  const std::vector<std::string> names{"swing",   "tip[0]",  "tip[1]",  "tip[2]",
                                       "push[0]", "push[1]", "push[2]", "bob[0]"};
  const std::vector<double> B{1, -std::cos(0.3), 0, std::sin(0.3), -1, 0, 0, 1};
  for (const char* algorithm : {"iim", "iim-closed-form", "eufm", "dense --problem input-matrix"}) {
    const Json out = eval(algorithm, inputs);
    EXPECT_EQ(out["inputs"], names) << algorithm;
    ASSERT_EQ(out["input_matrix"].size(), 1u);
    for (std::size_t k = 0; k < B.size(); ++k) {
      EXPECT_NEAR(out["input_matrix"][0][k].get<double>(), B[k] / 0.6, exact) << names[k];
    }
    EXPECT_FALSE(out.contains("task_input_matrix"));
  }
}

TEST(InputStateTest, FreeAccelerationIsThatOfForwardDynamics) {
  const std::string more = R"(, "v": {"swing": 0.7}, "tau": {"swing": 2},
    "external_wrenches": {"tip": [0, 0, 0, 3, 0, 0]})";
  const Answer a = run("eval " + pendulum + " --algorithm aba --json --state -",
                       R"({"q": {"swing": 0.3})" + more + "}");
  const double wanted = a.json()["vdot"]["swing"];
  const Json out = eval("iim", R"([{"joint": "swing"}])", more);
  EXPECT_NEAR(out["free_acceleration"]["swing"].get<double>(), wanted, exact);
}

TEST(InputStateTest, EndEffectorsGiveTheTaskItsMatrix) {
  const Json out = eval("iim", R"([{"joint": "swing"}])",
                        R"(, "end_effectors": [{"link": "tip", "rows": "6d"}])");
  const std::vector<double> row{0, 1, 0, -1, 0, 0};
  ASSERT_EQ(out["task_input_matrix"].size(), 6u);
  for (int i = 0; i < 6; ++i) {
    EXPECT_NEAR(out["task_input_matrix"][i][0].get<double>(), row[i] / 0.6, exact);
  }
  EXPECT_EQ(out["task_free_acceleration"].size(), 6u);
}

TEST(InputStateTest, DependentJointsMayBeDriven) {
  // The second finger follows at half the speed: 0.2 kg + 0.5² 0.4 kg at the first.
  const Answer a = run("eval " + gripper + " --algorithm iim --json --state -",
                       R"({"inputs": [{"joint": "left_slide"}, {"joint": "right_slide"}]})");
  ASSERT_EQ(a.code, 0) << a.err;
  EXPECT_NEAR(a.json()["input_matrix"][0][0].get<double>(), 1.0 / 0.3, exact);
  EXPECT_NEAR(a.json()["input_matrix"][0][1].get<double>(), 0.5 / 0.3, exact);
}

TEST(InputStateTest, TablesShowTheNames) {
  const Answer a = run("eval " + pendulum + " --algorithm iim --state -",
                       R"({"inputs": [{"joint": "swing", "name": "motor"},
                                      {"link": "tip", "rows": "3d", "name": "hand"}]})");
  ASSERT_EQ(a.code, 0) << a.err;
  for (const char* word :
       {"input_matrix", "motor", "hand[0]", "hand[2]", "swing", "free_acceleration"}) {
    EXPECT_NE(a.out.find(word), std::string::npos) << word << "\n" << a.out;
  }
}

TEST(InputStateTest, RandomStatesHaveMotorsAndContactsAndReadBack) {
  const Answer first = run("eval " + gripper + " --algorithm iim --random 3 --json");
  ASSERT_EQ(first.code, 0) << first.err;
  Json state = first.json()["state"];
  ASSERT_TRUE(state.contains("inputs"));
  const Answer second = run("eval " + gripper + " --algorithm iim --json --state -", state.dump());
  ASSERT_EQ(second.code, 0) << second.err;
  for (const char* key : {"inputs", "input_matrix", "free_acceleration", "task_input_matrix"}) {
    EXPECT_EQ(first.json()[key], second.json()[key]) << key;
  }
}

TEST(InputStateTest, WithoutInputsAnAlgorithmSolvesItsOtherProblems) {
  const Answer a = run("eval " + pendulum + " --algorithm dense --json");
  ASSERT_EQ(a.code, 0) << a.err;
  EXPECT_FALSE(a.json().contains("input_matrix"));
  EXPECT_FALSE(a.json().contains("inputs"));
  EXPECT_TRUE(a.json().contains("vdot"));
}

TEST(InputStateTest, CompareBenchAndCountTakeUsualInputs) {
  for (const char* command :
       {"compare --problem input-matrix --samples 3 ", "bench --problem input-matrix --time 0.01 ",
        "count --algorithm iim "}) {
    const Answer a = run(command + gripper + " --json");
    EXPECT_EQ(a.code, 0) << command << a.err;
    EXPECT_NE(a.out.find("\"iim\""), std::string::npos) << a.out;
  }
}

TEST(InputStateTest, BadInputsAreRefused) {
  expect_refusal("[]", 2, {"number of inputs is 0", "at least one"});
  expect_refusal("{}", 2, {"'inputs' is of type object", "a list of objects"});
  expect_refusal("[{}]", 2, {"'joint' or 'link' of inputs[0] is missing"});
  expect_refusal(R"([{"joint": "swign"}])", 2,
                 {"joint 'swign' in 'inputs'", "did you mean 'swing'?"});
  expect_refusal(R"([{"joint": 3}])", 2, {"joint of inputs[0] is of type number", "a name"});
  expect_refusal(R"([{"link": "tpi", "rows": "3d"}])", 2,
                 {"link 'tpi' in 'inputs'", "did you mean 'tip'?"});
  expect_refusal(R"([{"link": "tip"}])", 2, {"'rows' of inputs[0] is missing"});
  expect_refusal(R"([{"link": "tip", "rows": []}])", 2, {"number of rows of inputs[0] is 0"});
  expect_refusal(R"([{"link": "tip", "rows": [[1, 2]]}])", 2,
                 {"size of row 0 of inputs[0] is 2, expected 6"});
  expect_refusal(R"([{"link": "tip", "rows": "4d"}])", 2, {"rows of inputs[0] is '4d'"});
  expect_refusal(R"([{"link": "tip", "rows": "3d", "axes": "body"}])", 2,
                 {"axes of inputs[0] is \"body\""});
  expect_refusal(R"([{"link": "tip", "rows": "3d", "offset": [1, 2]}])", 2,
                 {"size of offset of inputs[0] is 2, expected 3"});
  expect_refusal(R"([{"joint": "swing", "rows": "3d"}])", 2,
                 {"key 'rows' of inputs[0], which is on a joint, is unknown"});
  expect_refusal(R"([{"joint": "swing", "link": "tip"}])", 2, {"key 'link' of inputs[0]"});
  expect_refusal(R"([{"joint": "swing", "name": ""}])", 2, {"name of inputs[0]"});
  expect_refusal(R"([{"joint": "swing"}, {"joint": "swing"}])", 1,
                 {"column 'swing'", "inputs[0] on joint 'swing'", "\"name\""});
}

}  // namespace
}  // namespace espalier::test::inputs_test
