#include <algorithm>

#include "tests/cli/run.hpp"

/// `espalier compare` and `espalier bench`.

namespace espalier::test::compare_bench_test {
namespace {

const std::string pendulum = data("pendulum.urdf");
const std::string gripper = data("gripper.urdf");

const Json* find(const Json& results, const std::string& algorithm) {
  for (const Json& item : results) {
    if (item["algorithm"] == algorithm) return &item;
  }
  return nullptr;
}

TEST(CompareTest, AllForwardDynamicsAgreeOnATree) {
  const Answer a = run("compare " + pendulum + " --root floating --samples 5 --json");
  ASSERT_EQ(a.code, 0) << a.err;
  const Json out = a.json();
  EXPECT_EQ(out["problem"], "forward-dynamics");
  EXPECT_EQ(out["reference"], "dense");
  EXPECT_EQ(out["samples"], 5);
  EXPECT_EQ(out["agree"], true);
  for (const char* name : {"aba", "crba-ltl", "dense"}) {
    const Json* item = find(out["results"], name);
    ASSERT_NE(item, nullptr) << name;
    EXPECT_LT((*item)["max_relative_difference"].get<double>(), 1e-9);  // the default tolerance
    EXPECT_GT((*item)["ns_per_call_median"].get<double>(), 0.0);
  }
  EXPECT_EQ((*find(out["results"], "dense"))["max_relative_difference"], 0.0);
}

TEST(CompareTest, AlgorithmsThatCannotAreListedWithTheObstacle) {
  const Answer a = run("compare " + gripper + " --samples 2 --json");
  ASSERT_EQ(a.code, 0) << a.err;
  const Json out = a.json();
  EXPECT_EQ(find(out["results"], "aba"), nullptr);
  const Json* refused = find(out["refused"], "aba");
  ASSERT_NE(refused, nullptr);
  EXPECT_NE((*refused)["obstacle"].get<std::string>().find("coupling"), std::string::npos);
}

TEST(CompareTest, AllProblemsWithSeveralAlgorithms) {
  const Answer a = run("compare " + pendulum + " --problem all --samples 2 --json");
  ASSERT_EQ(a.code, 0) << a.err;
  const Json out = a.json();
  std::vector<std::string> problems;
  for (const Json& one : out["problems"]) {
    problems.push_back(one["problem"]);
    EXPECT_GE(one["results"].size() + one["refused"].size(), 2u);
    EXPECT_EQ(one["agree"], true) << one.dump();
  }
  for (const char* p : {"forward-dynamics", "inverse-dynamics", "mass-matrix", "bias-force"}) {
    EXPECT_NE(std::find(problems.begin(), problems.end(), p), problems.end()) << p;
  }
  for (const Json& item : out["results"]) EXPECT_TRUE(item.contains("problem"));
}

TEST(CompareTest, DisagreementIsExitCodeOneAndTheTableSaysWho) {
  // No two ways of computing agree to 1e-300 on a robot with ten states.
  const std::string command =
      "compare " + pendulum + " --root floating --samples 10 --tolerance 1e-300";
  const Answer a = run(command);
  EXPECT_EQ(a.code, 1);
  EXPECT_NE(a.out.find("DIFFERS"), std::string::npos) << a.out;
  EXPECT_EQ(run(command + " --json").json()["agree"], false);
}

TEST(CompareTest, NearlyDependentEndEffectorsAreNoDisagreement) {
  // The hand of an arm of six joints, among 100 poses some that are almost singular: forces that
  // hold it are then known to a few digits less.
  const Answer a = run("compare '" ESPALIER_SOURCE_DIR
                       "/robots/ur5.urdf' --problem constrained-dynamics --samples 100 --json");
  EXPECT_EQ(a.code, 0) << a.err << a.out;
  EXPECT_EQ(a.json()["agree"], true);
}

TEST(CompareTest, UnknownProblemsAreRefused) {
  expect_refused("compare " + pendulum + " --problem forward", 2,
                 {"'forward'", "forward-dynamics"});
}

TEST(BenchTest, ReportsTimesAndAllocationsOfNamedAlgorithms) {
  const Answer a = run("bench " + pendulum +
                       " --root floating --algorithm rnea --algorithm aba --algorithm dense"
                       " --time 0.02 --repeats 5 --json");
  ASSERT_EQ(a.code, 0) << a.err;
  const Json results = a.json()["results"];
  ASSERT_EQ(results.size(), 3u);  // one for each name, in the order given
  EXPECT_GE(a.json()["noise"].get<double>(), 1.0);
  const char* names[] = {"rnea", "aba", "dense"};
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(results[i]["algorithm"], names[i]);
    const double best = results[i]["ns_per_call_best"], median = results[i]["ns_per_call_median"];
    EXPECT_GT(best, 0.0);
    EXPECT_LE(best, median);
  }
  EXPECT_EQ(results[0]["allocations_per_call"], 0.0);
  EXPECT_EQ(results[1]["allocations_per_call"], 0.0);
  // The oracle allocates: the counter sees into plugins.
  EXPECT_GE(results[2]["allocations_per_call"].get<double>(), 1.0);
}

TEST(BenchTest, DefaultIsEveryAlgorithmThatCan) {
  const Answer a = run("bench " + gripper + " --time 0.002 --repeats 2 --json");
  ASSERT_EQ(a.code, 0) << a.err;
  const Json results = a.json()["results"];
  EXPECT_NE(find(results, "dense"), nullptr);
  EXPECT_EQ(find(results, "aba"), nullptr);
}

TEST(BenchTest, AlgorithmsThatCannotAreRefusedWhenNamed) {
  expect_refused("bench " + gripper + " --algorithm aba", 1, {"coupling", "'dense'"});
  expect_refused("bench " + gripper + " --algorithm abba", 2, {"did you mean 'aba'?"});
}

TEST(BenchTest, BatchesAreTimedByStateWithAllAlgorithmsThatHavePacks) {
  const Answer a =
      run("bench " + pendulum + " --batch 50 --threads 2 --time 0.002 --repeats 4 --json");
  ASSERT_EQ(a.code, 0) << a.err;
  EXPECT_EQ(a.json()["batch"], 50);
  EXPECT_EQ(a.json()["threads"], 2);
  const Json results = a.json()["results"];
  EXPECT_NE(find(results, "rnea"), nullptr);
  EXPECT_EQ(find(results, "dense"), nullptr);  // has none
  for (const Json& item : results) {
    const double best = item["ns_per_state_best"], median = item["ns_per_state_median"];
    EXPECT_GT(best, 0.0);
    EXPECT_LE(best, median);
    EXPECT_GE(item["ns_per_state_spread"].get<double>(), 0.0);
  }
}

TEST(BenchTest, BatchesOfOneThreadAllocateNothing) {
  const Answer a =
      run("bench " + pendulum + " --batch 50 --threads 1 --time 0.002 --repeats 4 --json");
  ASSERT_EQ(a.code, 0) << a.err;
  const Json json = a.json();
  for (const Json& item : json["results"]) EXPECT_EQ(item["allocations_per_call"], 0.0);
}

TEST(BenchTest, BatchesSayHowManyStatesAndThreads) {
  const Answer a =
      run("bench " + pendulum + " --algorithm aba --batch 9 --threads 1 --time 0.002 --repeats 3");
  ASSERT_EQ(a.code, 0) << a.err;
  for (const char* word : {"9 states at a time on 1 thread", "median ns/state", "spread"}) {
    EXPECT_NE(a.out.find(word), std::string::npos) << word;
  }
}

TEST(BenchTest, BatchesOfFloatsStateTheirError) {
  const std::string words =
      "bench " + pendulum + " --batch 50 --threads 1 --time 0.002 --repeats 3";
  const Answer a = run(words + " --precision float --states 50 --json");
  ASSERT_EQ(a.code, 0) << a.err;
  EXPECT_EQ(a.json()["precision"], "float");
  const Json results = a.json()["results"];
  EXPECT_NE(find(results, "aba"), nullptr);
  EXPECT_EQ(find(results, "dense"), nullptr);
  for (const Json& item : results) {
    const double median = item["relative_error_median"], worst = item["relative_error_worst"];
    EXPECT_LE(median, worst);
    // A body's Jacobians in its own axes are zeros and ones here, which floats have exactly.
    if (item["algorithm"] != "body-jacobians") EXPECT_GT(worst, 1e-10) << item["algorithm"];
    EXPECT_LT(worst, 1e-3) << item["algorithm"];  // two joints: roundings of 6e-8 and some
    EXPECT_EQ(item["allocations_per_call"], 0.0);
  }
  const Answer table = run(words + " --precision float --algorithm aba");
  for (const char* word : {"floats", "error", "worst"}) {
    EXPECT_NE(table.out.find(word), std::string::npos) << word;
  }
  const Answer doubles = run(words + " --precision double --algorithm aba --json");
  EXPECT_EQ(doubles.json()["precision"], "double");
  EXPECT_FALSE(doubles.json()["results"][0].contains("relative_error_median"));
}

TEST(BenchTest, BatchesThatCannotBeAreRefused) {
  expect_refused("bench " + pendulum + " --algorithm dense --batch 8 --precision float", 1,
                 {"scalar float-pack", "'aba'"});
  expect_refused("bench " + pendulum + " --algorithm aba --precision float", 2, {"--batch"});
  expect_refused("bench " + pendulum + " --algorithm aba --batch 8 --precision half", 2,
                 {"--precision"});
  expect_refused("bench " + pendulum + " --algorithm dense --batch 8", 1, {"scalar pack", "'aba'"});
  expect_refused("bench " + pendulum + " --algorithm aba --threads 2", 2, {"--batch"});
  expect_refused("bench " + pendulum + " --algorithm aba --batch 0", 2, {"--batch"});
}

}  // namespace
}  // namespace espalier::test::compare_bench_test
