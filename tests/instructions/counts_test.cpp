#include "tests/instructions/counts.hpp"

#include <gtest/gtest.h>

namespace espalier::test::counts_test {
namespace {

const Counts recorded{{{"compiler", "clang"}, {"build", "Release"}},
                      {{"aba, arm", 10000}, {"rnea, arm", 2000}}};

Counts measured(long aba, long rnea) {
  return {recorded.conditions, {{"aba, arm", aba}, {"rnea, arm", rnea}}};
}

TEST(InstructionsTest, FixedCallsTakeWhatIsRecorded) {
  const Counts record = read_record();
  const std::string differs = difference(record.conditions, conditions_here());
  if (!differs.empty()) GTEST_SKIP() << "counts compare only under equal conditions: " << differs;
  for (const std::string& line : compare(record, count_instructions())) {
    ADD_FAILURE() << line << "; where that is meant, record it: ./espalier record-instructions";
  }
}

TEST(InstructionsTest, CountsWithinThreePercentPass) {
  EXPECT_TRUE(compare(recorded, measured(10299, 1941)).empty());
}

TEST(InstructionsTest, SlowerAndFasterCallsAreNamedWithBothCounts) {
  using Lines = std::vector<std::string>;
  EXPECT_EQ(compare(recorded, measured(10310, 2000)),
            Lines{"aba, arm: instructions per call are 10310, expected 10000 within 3 % "
                  "(+3.1 %, slower)"});
  EXPECT_EQ(compare(recorded, measured(10000, 1000)),
            Lines{"rnea, arm: instructions per call are 1000, expected 2000 within 3 % "
                  "(-50.0 %, faster)"});
}

TEST(InstructionsTest, CallsThatOnlyOneSideKnowsAreNamed) {
  const Counts other{recorded.conditions, {{"aba, arm", 10000}, {"crba, arm", 3000}}};
  const std::vector<std::string> lines = compare(recorded, other);
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[0], "crba, arm: instructions per call are 3000, expected a recorded number");
  EXPECT_EQ(lines[1], "rnea, arm: recorded call is missing, expected one of 2000 instructions");
}

TEST(InstructionsTest, ConditionsThatDifferAreNamed) {
  EXPECT_EQ(difference(recorded.conditions, recorded.conditions), "");
  EXPECT_EQ(difference(recorded.conditions, {{"compiler", "g++"}}),
            "compiler is 'g++', recorded with 'clang'; build is 'none', recorded with 'Release'");
}

TEST(InstructionsTest, RecordSurvivesWritingAndReading) {
  const Counts again = from_json(nlohmann::ordered_json::parse(to_json(recorded).dump()));
  EXPECT_EQ(again.conditions, recorded.conditions);
  EXPECT_EQ(again.per_call, recorded.per_call);
}

TEST(InstructionsTest, DumpsOfCallgrindAreReadByName) {
  // Two dumps as callgrind 3.19 writes them, without their lists of functions; the last one, at the
  // end of the program, belongs to no call.
  const std::string text =
      "part: 1\ndesc: Timerange: Basic block 0 - 84\n"
      "desc: Trigger: Client Request: aba, arm\nevents: Ir\nsummary: 0\n\nfn=(1) f\n0 80\ntotals: "
      "80\n"
      "part: 2\ndesc: Trigger: Client Request: rnea, arm\nevents: Ir\nsummary: 0\n\ntotals: 41\n"
      "part: 3\ndesc: Trigger: Program termination\nevents: Ir\nsummary: 0\n\ntotals: 0\n";
  using Pair = std::pair<std::string, long>;
  EXPECT_EQ(read_dumps(text, 8), (std::vector<Pair>{{"aba, arm", 10}, {"rnea, arm", 5}}));
  EXPECT_THROW(read_dumps(text.substr(0, text.find("totals")), 8), std::runtime_error);
  EXPECT_THROW(read_dumps("", 8), std::runtime_error);
}

}  // namespace
}  // namespace espalier::test::counts_test
