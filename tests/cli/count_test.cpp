#include "espalier/kernel/problems/operational_space/inverse_osim.hpp"
#include "tests/cli/run.hpp"
#include "tests/support/host.hpp"

/// `espalier count`.

namespace espalier::test::count_test {
namespace {

const std::string pendulum = data("pendulum.urdf");
const std::string gripper = data("gripper.urdf");
const char* const kinds[] = {"additions", "multiplications", "divisions", "square_roots",
                             "trigonometry"};

Json count(const std::string& arguments, const std::string& state = "") {
  const Answer a =
      run("count " + arguments + " --json" + (state.empty() ? "" : " --state -"), state);
  EXPECT_EQ(a.code, 0) << a.err;
  return a.code == 0 ? a.json() : Json();
}

TEST(CountCommandTest, CountsWithAndWithoutFoldingOfConstants) {
  const Json out = count(pendulum + " --algorithm aba");
  EXPECT_EQ(out["model"], "pendulum");
  EXPECT_EQ(out["bodies"], 1);
  EXPECT_EQ(out["nv"], 1);
  ASSERT_EQ(out["results"].size(), 1u);
  const Json& result = out["results"][0];
  EXPECT_EQ(result["algorithm"], "aba");
  EXPECT_EQ(result["problem"], "forward-dynamics");
  for (const char* way : {"folded", "all"}) {
    std::int64_t sum = 0;
    for (const char* kind : kinds) sum += result[way][kind].get<std::int64_t>();
    EXPECT_EQ(result[way]["total"], sum);
    EXPECT_EQ(result[way]["trigonometry"], 2);  // sine and cosine of the one joint
    EXPECT_EQ(result[way]["divisions"], 1);
    EXPECT_EQ(result[way]["square_roots"], 0);
  }
  EXPECT_LT(result["folded"]["multiplications"], result["all"]["multiplications"]);
  EXPECT_LT(result["folded"]["additions"], result["all"]["additions"]);
}

TEST(CountCommandTest, IsWhatTheLibraryCounts) {
  const ModelPtr model = host().load(ESPALIER_CLI_DATA "/pendulum.urdf");
  const espalier::Setup setup{model, {EndEffector::contact("tip")}};
  for (const char* name : {"efpa", "pv-osimr", "kjr"}) {
    const Json result =
        count(pendulum + " --end-effector tip:3d --algorithm " + name)["results"][0];
    const auto algorithm = host().create<InverseOsim<Count>>(name, setup);
    const std::vector<Count> q{Count::variable(0.3)};
    std::vector<Count> A(9);
    operation_counts() = {};
    algorithm->evaluate(q, A);
    EXPECT_EQ(result["all"]["additions"], operation_counts().additions) << name;
    EXPECT_EQ(result["all"]["multiplications"], operation_counts().multiplications) << name;
    EXPECT_EQ(result["all"]["divisions"], operation_counts().divisions) << name;
  }
}

TEST(CountCommandTest, DoesNotDependOnTheState) {
  for (const std::string& robot : {pendulum + " --root floating", gripper}) {
    const std::string command = robot + " --algorithm c-aba --algorithm c-efpa";
    const Json one = count(command + " --random 1");
    EXPECT_EQ(one["results"], count(command + " --random 2")["results"]);
    EXPECT_EQ(one["results"], count(command)["results"]);
    EXPECT_EQ(one["results"], count(command, R"({"gravity": [0, 0, 9]})")["results"]);
  }
}

TEST(CountCommandTest, SeveralAlgorithmsStandInTheirOrderAndWithAllTheirProblems) {
  const Json results = count(pendulum + " --algorithm rnea --algorithm aba")["results"];
  ASSERT_EQ(results.size(), 3u);
  EXPECT_EQ(results[0]["problem"], "inverse-dynamics");
  EXPECT_EQ(results[1]["problem"], "bias-force");
  EXPECT_EQ(results[2]["algorithm"], "aba");
  const Json one = count(pendulum + " --algorithm rnea --problem bias-force")["results"];
  ASSERT_EQ(one.size(), 1u);
  EXPECT_EQ(one[0], results[1]);
}

TEST(CountCommandTest, MoreEndEffectorsAreMoreWork) {
  const std::string efpa = pendulum + " --root floating --algorithm efpa";
  const auto total = [&](const std::string& end_effectors, const std::string& state = "") {
    return count(efpa + end_effectors, state)["results"][0]["all"]["total"].get<std::int64_t>();
  };
  EXPECT_LT(total(" --end-effector tip:3d"), total(" --end-effector tip"));
  EXPECT_LT(total(" --end-effector tip"), total(" --end-effector tip --end-effector base"));
  // In a state file they are as good; without any, it is the tips.
  EXPECT_EQ(total(" --end-effector tip"),
            total("", R"({"end_effectors": [{"link": "tip", "rows": "6d"}]})"));
  EXPECT_EQ(total(" --end-effector bob"), total(""));
  EXPECT_EQ(total(" --end-effector bob"), total("", "{}"));
  EXPECT_EQ(count(efpa)["end_effectors"][0]["link"], "bob");
}

TEST(CountCommandTest, TableHasALineForEachWayOfCounting) {
  const Answer a = run("count " + pendulum + " --algorithm aba");
  ASSERT_EQ(a.code, 0) << a.err;
  for (const char* word :
       {"pendulum: 1 body, 1 degree of freedom", "additions", "multiplications", "divisions",
        "square roots", "trigonometry", "total", "folded", "all", "aba"}) {
    EXPECT_NE(a.out.find(word), std::string::npos) << word << "\n" << a.out;
  }
}

TEST(CountCommandTest, WhatCannotBeCountedIsRefused) {
  const std::string command = "count " + pendulum;
  expect_refused(command, 2, {"--algorithm"});
  expect_refused(command + " --algorithm abba", 2, {"did you mean 'aba'?"});
  expect_refused(command + " --algorithm aba --problem inverse-osim", 2, {"aba", "inverse-osim"});
  expect_refused(command + " --algorithm dense --problem inverse-osim", 1,
                 {"dense: scalar is count, expected double"});
  expect_refused("count " + gripper + " --algorithm efpa", 1, {"efpa", "right_slide", "'c-efpa'"});
  expect_refused(command + " --algorithm aba --random 1 --state x", 2, {"--random"});
  expect_refused("count /no/such.urdf --algorithm aba", 1, {"/no/such.urdf"});
}

}  // namespace
}  // namespace espalier::test::count_test
