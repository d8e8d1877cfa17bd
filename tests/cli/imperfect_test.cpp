#include <algorithm>
#include <map>

#include "tests/cli/run.hpp"

/// Files as they are: what leaves the equations well defined is computed and said once, what does
/// not is refused by name, and what a format cannot say is listed.

namespace espalier::test::imperfect_test {
namespace {

/// An arm with an antenna (line 7) whose inertia no body has, and a finger (line 11) that is
/// `finger`, tied to the arm's joint.
std::string robot(const std::string& antenna, const std::string& finger) {
  return R"(<robot name="r">
<link name="base"/>
<link name="arm">
<inertial><origin xyz="0 0 0.2"/><mass value="2"/>
<inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial>
</link>
<link name="antenna">
<inertial><mass value="0.01"/><inertia )" +
         antenna + R"(/></inertial>
</link>

<link name="finger">)" +
         finger + R"(</link>
<joint name="elbow" type="revolute"><parent link="base"/><child link="arm"/><axis xyz="0 1 0"/>
<limit lower="-1" upper="1" effort="1" velocity="1"/></joint>
<joint name="weld" type="fixed"><parent link="arm"/><child link="antenna"/></joint>
<joint name="grip" type="revolute"><parent link="arm"/><child link="finger"/><axis xyz="0 1 0"/>
<origin xyz="0 0 0.4"/><limit lower="-1" upper="1" effort="1" velocity="1"/>
<mimic joint="elbow" multiplier="2"/></joint>
</robot>)";
}

constexpr const char* good = R"(ixx="1e-6" iyy="1e-6" izz="1e-6" ixy="0" ixz="0" iyz="0")";
constexpr const char* negative = R"(ixx="1e-6" iyy="1e-6" izz="-4e-8" ixy="0" ixz="0" iyz="0")";
constexpr const char* slim = R"(ixx="1e-6" iyy="1e-6" izz="3e-6" ixy="0" ixz="0" iyz="0")";
constexpr const char* rounded = R"(ixx="0" iyy="0" izz="0" ixy="0" ixz="2.4e-35" iyz="0")";

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t n = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++n;
  return n;
}

TEST(ImperfectFileTest, InertiaThatNoBodyHasIsComputedAndSaidOnce) {
  const TemporaryFile file(".urdf", robot(negative, ""));
  const std::string eval = "eval " + file.path() + " --problem mass-matrix";
  const Answer plain = run(eval);
  EXPECT_EQ(plain.code, 0) << plain.err;
  EXPECT_EQ(count(plain.err, "warning: "), 1u) << plain.err;
  for (const std::string& part :
       {std::string("link 'antenna'"), file.path() + ":7", std::string("-4e-08 kg·m²"),
        std::string("expected a positive number"), std::string("check signs and units")}) {
    EXPECT_NE(plain.err.find(part), std::string::npos) << part << " in: " << plain.err;
  }
  const Answer json = run(eval + " --json");
  ASSERT_EQ(json.code, 0) << json.err;
  EXPECT_EQ(json.err, "");
  ASSERT_EQ(json.json()["warnings"].size(), 1u) << json.out;
  EXPECT_NE(json.json()["warnings"][0].get<std::string>().find("link 'antenna'"),
            std::string::npos);
}

TEST(ImperfectFileTest, StrictAndCheckRefuseIt) {
  const TemporaryFile file(".urdf", robot(negative, ""));
  for (const std::string& command : {"info " + file.path() + " --strict", "check " + file.path()}) {
    const Answer a = run(command);
    EXPECT_EQ(a.code, 1) << command;
    EXPECT_NE((a.out + a.err).find("link 'antenna'"), std::string::npos) << a.out << a.err;
  }
}

TEST(ImperfectFileTest, MomentsThatNoBodyHasAreSaidOnceByEveryCommand) {
  const TemporaryFile file(".urdf", robot(slim, ""));
  for (const char* command : {"info ", "eval --problem mass-matrix ", "graph ", "compare "}) {
    const Answer a = run(command + file.path());
    EXPECT_EQ(a.code, 0) << command << a.err;
    EXPECT_EQ(count(a.err, "warning: "), 1u) << command << a.err;
    for (const std::string& part :
         {std::string("link 'antenna'"), file.path() + ":7", std::string("1e-06, 1e-06 and 3e-06"),
          std::string("at least 2e-06"), std::string("check signs, units and axes")}) {
      EXPECT_NE(a.err.find(part), std::string::npos) << part << " in: " << a.err;
    }
  }
  for (const std::string& command : {"info " + file.path() + " --strict", "check " + file.path()}) {
    const Answer a = run(command);
    EXPECT_EQ(a.code, 1) << command;
    EXPECT_NE((a.out + a.err).find("link 'antenna'"), std::string::npos) << a.out << a.err;
  }
}

TEST(ImperfectFileTest, RoundingAndMasslessLinksThatACouplingMovesAreNoFindings) {
  for (const char* antenna : {good, rounded}) {
    const TemporaryFile file(".urdf", robot(antenna, ""));
    const Answer a = run("info " + file.path() + " --strict");
    EXPECT_EQ(a.code, 0) << a.err;
    EXPECT_EQ(a.err, "");
    EXPECT_EQ(run("check " + file.path()).code, 0);
  }
}

TEST(ImperfectFileTest, SingularMassMatricesAreRefusedByNameBeforeAnythingIsComputed) {
  std::string free = robot(good, "");
  free.erase(free.find("<mimic"), free.find("/></joint>\n</robot>") + 2 - free.find("<mimic"));
  const TemporaryFile file(".urdf", free);
  for (const char* command : {"info ", "eval --problem forward-dynamics "}) {
    const Answer a = run(command + file.path());
    EXPECT_EQ(a.code, 1) << command;
    EXPECT_EQ(a.out, "") << command;
    EXPECT_NE(a.err.find("joint 'grip'"), std::string::npos) << a.err;
    EXPECT_NE(a.err.find("'finger'"), std::string::npos) << a.err;
  }
}

TEST(ImperfectFileTest, CheckNamesFileAndLineInEveryFormat) {
  const std::vector<std::pair<const char*, const char*>> files{
      {".urdf", R"(<robot name="r"><link name="base"/>
<joint name="j" type="revolute"><parent link="base"/><child link="arm"/><axis xyz="0 0 1"/>
<limit lower="-1" upper="1" effort="1" velocity="1"/></joint>
<link name="arm"><inertial><mass value="1"/>
<inertia ixx="1" iyy="1" izz="-1" ixy="0" ixz="0" iyz="0"/></inertial></link></robot>)"},
      {".yaml", R"(espalier: 1
joints: {j: {type: revolute, parent: base, child: arm, axis: [0, 0, 1]}}
links:
  base: {}
  arm: {mass: 1, inertia: [1, 1, -1, 0, 0, 0]}
)"},
      {".xml", R"(<mujoco><worldbody>

<body name="arm">
<joint name="j"/>
<inertial pos="0 0 0" mass="1" diaginertia="1 1 -1"/></body></worldbody></mujoco>)"},
      {".sdf", R"(<sdf version="1.9"><model name="m">
<joint name="j" type="revolute"><parent>world</parent><child>arm</child>
<axis><xyz>0 0 1</xyz></axis></joint>
<link name="arm">
<inertial><inertia><izz>-1</izz></inertia></inertial></link></model></sdf>)"}};
  const std::map<std::string, std::string> lines{
      {".urdf", ":4"}, {".yaml", ":5"}, {".xml", ":3"}, {".sdf", ":4"}};
  for (const auto& [ending, text] : files) {
    const TemporaryFile file(ending, text);
    const Answer a = run("check " + file.path());
    EXPECT_EQ(a.code, 1) << ending << a.out;
    for (const std::string& part : {file.path() + lines.at(ending), std::string("link 'arm'")}) {
      EXPECT_NE(a.out.find(part), std::string::npos) << part << " in: " << a.out;
    }
  }
}

TEST(ConvertLossTest, TheOutputIsTheSecondFileOrThatOfAnOption) {
  const TemporaryFile source(".urdf", robot(good, "")), target(".xml");
  for (const char* option : {" ", " -o ", " --output "}) {
    std::filesystem::remove(target.path());
    const Answer a = run("convert " + source.path() + option + target.path());
    EXPECT_EQ(a.code, 0) << option << a.err;
    EXPECT_TRUE(std::filesystem::exists(target.path())) << option;
  }
}

TEST(ConvertLossTest, WhatTheTargetCannotSayIsListedAndStrictWritesNothing) {
  const TemporaryFile source(".yaml", R"(espalier: 1
name: r
links: {base: {}, bob: {mass: 1, com: [0, 0, -0.5], inertia: [0.1, 0.1, 0.1, 0, 0, 0]}}
joints: {swing: {type: revolute, parent: base, child: bob, axis: [0, 1, 0]}}
states: {hanging: {positions: {swing: 0.5}}}
)");
  const TemporaryFile target(".sdf");
  const Answer listed = run("convert " + source.path() + " -o " + target.path());
  EXPECT_EQ(listed.code, 0) << listed.err;
  EXPECT_NE((listed.out + listed.err).find("'hanging'"), std::string::npos) << listed.out;
  EXPECT_TRUE(std::filesystem::exists(target.path()));
  std::filesystem::remove(target.path());
  const Answer refused = run("convert " + source.path() + " -o " + target.path() + " --strict");
  EXPECT_EQ(refused.code, 1) << refused.err;
  EXPECT_NE(refused.err.find("'hanging'"), std::string::npos) << refused.err;
  EXPECT_FALSE(std::filesystem::exists(target.path()));
}

}  // namespace
}  // namespace espalier::test::imperfect_test
