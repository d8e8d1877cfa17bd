// Robots whose loops make no sense: one clear error each, and nothing half built.

#include <gtest/gtest.h>

#include "tests/formats/support.hpp"
#include "tests/support/host.hpp"

namespace espalier::bad_loops_test {
namespace {

using test::expect_in;
using test::host;

Description read(const std::string& text) {
  return host()
      .registry()
      .format_for("bad.yaml")
      .read("espalier: 1\n" + text, "bad.yaml", host().registry());
}

/// Three links on hinges side by side; `more` begins at line 8.
Description three(const std::string& more) {
  return read(R"(name: r
links:
  base: {}
  a: {mass: 1, inertia: [1, 1, 1, 0, 0, 0]}
  b: {mass: 1, inertia: [1, 1, 1, 0, 0, 0]}
  c: {mass: 1, inertia: [1, 1, 1, 0, 0, 0]}
)" + more + R"(
joints:
  ja: {type: revolute, parent: base, child: a, axis: [0, 0, 1]}
  jb: {type: revolute, parent: base, child: b, axis: [0, 0, 1]}
  jc: {type: revolute, parent: base, child: c, axis: [0, 0, 1]}
)");
}

/// The errors that the doctor finds; compile() refuses with the first of them.
std::string error_of(const Description& robot) {
  std::string errors;
  for (const Finding& f : diagnose(robot, host().registry())) {
    if (f.severity == Finding::Severity::error) errors += f.where + ": " + f.text + "\n";
  }
  ModelPtr model;
  const std::string thrown = test::message_of([&] { model = host().compile(robot); });
  EXPECT_EQ(model, nullptr);
  EXPECT_FALSE(errors.empty());
  const std::string first = errors.substr(0, errors.find('\n'));
  EXPECT_NE(thrown.find(first.substr(first.find(": ") + 2)), std::string::npos) << thrown;
  return errors;
}

TEST(BadLoopsTest, ALoopJointToAnUnknownLinkNamesTheKnownOnes) {
  expect_in(error_of(three("loops: {pin: {type: revolute, predecessor: a, successor: d}}")),
            {"bad.yaml:8", "loop 'pin'", "successor link 'd' is unknown", "'base'"});
  expect_in(error_of(three("loops: {pin: {type: rod, predecessor: x, successor: a, "
                           "parameters: {length: 1}}}")),
            {"loop 'pin'", "predecessor link 'x' is unknown"});
}

TEST(BadLoopsTest, TwoRootsAreNamed) {
  Description robot = three("");
  robot.links.push_back({"lonely", std::nullopt, {"bad.yaml", 20}});
  expect_in(error_of(robot), {"'base'", "'lonely'", "expected one root"});
}

TEST(BadLoopsTest, AMimicOfAMimicNamesTheJointToFollow) {
  Description robot = three("");
  robot.joints[1].mimic = Mimic{"ja", 2.0, 0.0};
  robot.joints[2].mimic = Mimic{"jb", 3.0, 0.0};
  expect_in(error_of(robot), {"joint 'jc'", "mimics 'jb'", "which mimics 'ja'", "name 'ja' here"});
}

TEST(BadLoopsTest, RatiosOfZeroAreRefused) {
  expect_in(error_of(three("couplings: {gear: {predecessor: a, successor: b, ratio: 0}}")),
            {"bad.yaml:8", "coupling 'gear'", "ratio is 0", "other than zero"});
  expect_in(error_of(three("laws: {gear: {type: geared_joint, joints: [ja, jb], "
                           "parameters: {ratio: 0}}}")),
            {"law 'gear'", "bad.yaml:8", "'ratio' is 0", "other than zero"});
}

TEST(BadLoopsTest, ContradictoryCouplingsNameEachOther) {
  expect_in(error_of(three("couplings:\n  one: {predecessor: a, successor: b, ratio: 2}\n"
                           "  two: {predecessor: a, successor: b, ratio: 3}")),
            {"couplings 'one', 'two'", "'ja', 'jb'", "no freedom", "contradict"});
  Description offset = three("couplings: {gear: {predecessor: a, successor: b, ratio: 2}}");
  offset.joints[1].mimic = Mimic{"ja", 2.0, 0.1};
  expect_in(error_of(offset), {"coupling 'gear'", "contradicts", "offset"});
}

TEST(BadLoopsTest, CyclesOfCouplingsHaveToClose) {
  const std::string cycle =
      "couplings:\n  one: {predecessor: a, successor: b, ratio: 2}\n"
      "  two: {predecessor: b, successor: c, ratio: 3}\n"
      "  three: {predecessor: a, successor: c, ratio: ";
  EXPECT_EQ(host().compile(three(cycle + "6}"))->nv(), 1);
  expect_in(error_of(three(cycle + "5}")),
            {"couplings 'one', 'two', 'three'", "'ja', 'jb', 'jc'", "no freedom"});
}

TEST(BadLoopsTest, LawsThatContradictLeaveNoMotion) {
  const std::string laws =
      "laws:\n  one: {type: geared_joint, joints: [ja, jb], parameters: "
      "{ratio: 2}}\n  two: {type: geared_joint, joints: [ja, jb], "
      "parameters: {ratio: ";
  EXPECT_EQ(host().compile(three(laws + "2}}"))->nv(), 2);
  expect_in(error_of(three(laws + "3}}")), {"'ja', 'jb'", "no motion"});
}

TEST(BadLoopsTest, UnknownLawTypesAreSuggested) {
  expect_in(
      error_of(three("laws: {gear: {type: gered_joint, joints: [ja, jb]}}")),
      {"bad.yaml:8", "law 'gear'", "'gered_joint' is unknown", "did you mean 'geared_joint'?"});
}

TEST(BadLoopsTest, LawsNameAsManyKnownJointsAsTheyTie) {
  const auto law = [](const std::string& joints) {
    return error_of(three("laws: {gear: {type: geared_joint, joints: " + joints +
                          ", parameters: {ratio: 2}}}"));
  };
  expect_in(law("[ja, jb, jc]"), {"law 'gear'", "names 3 joints", "expected 2"});
  expect_in(law("[ja]"), {"law 'gear'", "names 1 joints", "expected 2"});
  expect_in(law("[ja, jx]"), {"law 'gear'", "joint 'jx' is unknown", "'jb'"});
  expect_in(law("[ja, ja]"), {"law 'gear'", "joint 'ja' is named twice"});
}

TEST(BadLoopsTest, UnknownParametersOfLawsAndRodsAreNamed) {
  expect_in(error_of(three("laws: {gear: {type: geared_joint, joints: [ja, jb], parameters: "
                           "{ratio: 2, ration: 3}}}")),
            {"law 'gear'", "'ration' is unknown", "'ratio'"});
  const std::string rod =
      "loops: {strut: {type: rod, predecessor: {link: a, xyz: [1, 0, 0]}, "
      "successor: {link: b, xyz: [0, 1, 0]}";
  expect_in(error_of(three(rod + "}}")), {"loop 'strut'", "bad.yaml:8", "'length' is missing"});
  expect_in(error_of(three(rod + ", parameters: {lenght: 1}}}")),
            {"loop 'strut'", "'lenght' is unknown", "'length'"});
  expect_in(error_of(three(rod + ", parameters: {length: 5}}}")),
            {"'strut'", "cannot be met", "'ja', 'jb'"});
}

TEST(BadLoopsTest, SubMechanismsRefuseTheirParametersByFileAndLine) {
  const auto error = [](const std::string& parameters) {
    return test::message_of([&] {
      read(
          "links: {base: {}}\nsubsystems:\n  knee: {type: geared_joint, connect: {base: base}, "
          "parameters: " +
          parameters + "}");
    });
  };
  expect_in(error("{ratio: 0}"), {"'knee'", "bad.yaml:4", "'ratio' is 0", "other than zero"});
  expect_in(error("{}"), {"'knee'", "bad.yaml:4", "'ratio' is missing"});
  expect_in(error("{ratio: 6, link_mass: 1, link_com: [1, 2]}"),
            {"'knee'", "bad.yaml:4", "link_com"});
  expect_in(error("{ratio: 6, link_mas: 1}"), {"'knee'", "did you mean 'link_mass'?"});
}

}  // namespace
}  // namespace espalier::bad_loops_test
