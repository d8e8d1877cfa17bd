#include <gtest/gtest.h>

#include "formats/urdf/urdf.hpp"
#include "tests/formats/support.hpp"

namespace espalier::urdf_errors_test {
namespace {

/// The error of reading a file; `text` begins at line 1.
std::string error(const std::string& text) {
  return test::message_of([&] { UrdfFormat().read(text, "file.urdf"); });
}
/// The error of reading a robot; `text` begins at line 2.
std::string error_in_robot(const std::string& text) {
  return error("<robot name='r'>\n" + text + "\n</robot>");
}
std::string error_in_joint(const std::string& text) {
  return error_in_robot("<joint name='x' type='revolute'>\n" + text +
                        "<parent link='a'/><child link='b'/></joint>");
}

TEST(UrdfErrorTest, WhatIsNotXmlIsRefusedWithItsLine) {
  test::expect_in(error(""), {"file.urdf", "not readable XML"});
  test::expect_in(error("<!-- robot -->"), {"file.urdf", "no element"});
  test::expect_in(error("garbage"), {"file.urdf", "not readable XML"});
  test::expect_in(error("<robot>\n<link name='a'>\n</robot>"), {"file.urdf:2", "MISMATCHED"});
  test::expect_in(error("<robot name='r'"), {"file.urdf:1"});
  test::expect_in(error("<robot>\n<link name='a'>\n</robot>"), {"<link> of line 2 is open"});
  test::expect_in(error("<robot>\n<!-- <a> --><link name='a>'/>\n<joint name='b'></joint>\n"),
                  {"<robot> of line 1 is open"});
  test::expect_in(error("<robot name='r'/>\n<robot name='s'/>"), {"file.urdf:2", "<robot>"});
  test::expect_in(error(std::string("<robot/>\n\0<", 11)), {"file.urdf:2", "zero byte"});
}

TEST(UrdfErrorTest, OtherRootElementsAreNamed) {
  test::expect_in(error("<!-- c -->\n<sdf version='1.6'/>"), {"file.urdf:2", "<sdf>", "<robot>"});
}

TEST(UrdfErrorTest, DeepNestingIsRefused) {
  std::string text = "<robot>";
  for (int i = 0; i < 100'000; ++i) text += "<a>";
  test::expect_in(error(text), {"file.urdf", "nested deeper than"});
}

TEST(UrdfErrorTest, HugeAttributesAreShortenedInMessages) {
  const std::string message = error_in_joint("<origin xyz='" + std::string(1'000'000, 'x') + "'/>");
  EXPECT_LT(message.size(), 300u);
  test::expect_in(message, {"joint 'x'", "three finite numbers"});
}

TEST(UrdfErrorTest, VectorsHaveExactlyThreeFiniteNumbers) {
  for (const char* text :
       {"1 2", "1 2 3 4", "", "1 2 z", "1,2,3", "nan 0 0", "0 inf 0", "1e999 0 0"}) {
    test::expect_in(error_in_joint("\n<origin xyz='" + std::string(text) + "'/>"),
                    {"joint 'x' (file.urdf:4)", "'xyz' of <origin>", "'" + std::string(text) + "'",
                     "expected three finite numbers"});
  }
  test::expect_in(error_in_joint("<axis xyz='1 0'/>"), {"joint 'x' (file.urdf:3)", "<axis>"});
  test::expect_in(error_in_joint("<origin quat_xyzw='0 0 0 0'/>"), {"'quat_xyzw'", "four numbers"});
  test::expect_in(error_in_joint("<origin rpy='0 0 0' quat_xyzw='0 0 0 1'/>"), {"no 'rpy'"});
}

TEST(UrdfErrorTest, LawsNameTypeAndJoints) {
  test::expect_in(error_in_robot("<law type='t'><joint name='a'/></law>"),
                  {"law (file.urdf:2)", "'name' of <law> is missing"});
  test::expect_in(error_in_robot("<law name='cam'><joint name='a'/></law>"),
                  {"law 'cam' (file.urdf:2)", "'type' of <law> is missing"});
  test::expect_in(error_in_robot("<law name='cam' type='t'/>"),
                  {"law 'cam' (file.urdf:2)", "<joint> in <law> is missing"});
  test::expect_in(error_in_robot("<law name='cam' type='t'>\n<joint/></law>"),
                  {"law 'cam' (file.urdf:3)", "'name' of <joint> is missing"});
  test::expect_in(error_in_robot("<law name='cam' type='t'><joint name='a'/>\n"
                                 "<parameter name='p' value='x'/></law>"),
                  {"law 'cam' (file.urdf:3)", "parameter 'p' is 'x'"});
}

TEST(UrdfErrorTest, BadNumbersNameElementAndAttribute) {
  test::expect_in(error_in_joint("<limit lower='low'/>"),
                  {"joint 'x' (file.urdf:3)", "'lower' of <limit> is 'low'", "finite number"});
  test::expect_in(error_in_joint("<dynamics damping='1,5'/>"),
                  {"'damping'", "'1,5'", "(1.5 has a point, not a comma)"});
  test::expect_in(error_in_joint("<origin xyz='1,2,3'/>"), {"white space stands between numbers"});
  test::expect_in(error_in_joint("<mimic joint='k' multiplier=''/>"), {"'multiplier'"});
  test::expect_in(
      error_in_robot("<link name='l'><inertial>\n<mass value='inf'/></inertial></link>"),
      {"link 'l' (file.urdf:3)", "'value' of <mass> is 'inf'"});
}

TEST(UrdfErrorTest, MissingPartsAreNamed) {
  test::expect_in(error_in_robot("<link/>"), {"link (file.urdf:2)", "'name'", "missing"});
  test::expect_in(error_in_robot("<link name=''/>"), {"link (file.urdf:2)", "''"});
  test::expect_in(error_in_robot("<joint name='x'/>"), {"joint 'x' (file.urdf:2)", "'type'"});
  test::expect_in(error_in_robot("<joint name='x' type='fixed'/>"), {"joint 'x'", "<parent>"});
  test::expect_in(error_in_robot("<joint name='x' type='fixed'><parent link='a'/></joint>"),
                  {"joint 'x'", "<child>"});
  test::expect_in(error_in_robot("<joint name='x' type='fixed'><parent/></joint>"),
                  {"'link' of <parent>", "missing"});
  test::expect_in(error_in_robot("<link name='l'><inertial/></link>"), {"link 'l'", "<mass>"});
  test::expect_in(error_in_robot("<link name='l'><inertial><mass value='1'/></inertial></link>"),
                  {"link 'l'", "<inertia>"});
  test::expect_in(error_in_robot("<coupling name='c'><predecessor link='a'/>"
                                 "<successor link='b'/></coupling>"),
                  {"coupling 'c'", "<ratio>"});
  test::expect_in(error_in_robot("<loop name='o' type='fixed'><predecessor link='a'/></loop>"),
                  {"loop 'o'", "<successor>"});
}

TEST(UrdfErrorTest, PartsGivenTwiceAreRefusedWithBothLines) {
  test::expect_in(error_in_joint("<axis xyz='1 0 0'/>\n<axis xyz='0 1 0'/>"),
                  {"joint 'x' (file.urdf:4)", "<axis>", "line 3"});
  test::expect_in(error_in_joint("<espalier><parameter name='p' value='1'/>\n"
                                 "<parameter name='p' value='2'/></espalier>"),
                  {"joint 'x' (file.urdf:4)", "'p'", "twice"});
}

TEST(UrdfErrorTest, ParametersAreNumbers) {
  test::expect_in(error_in_joint("<espalier><parameter name='p' value='x'/></espalier>"),
                  {"joint 'x' (file.urdf:3)", "parameter 'p' is 'x'"});
  test::expect_in(error_in_joint("<espalier><parameter name='p'/></espalier>"), {"parameter 'p'"});
}

TEST(UrdfErrorTest, IndependentIsTrueOrFalse) {
  test::expect_in(error_in_robot("<joint name='x' type='fixed' independent='maybe'>"
                                 "<parent link='a'/><child link='b'/></joint>"),
                  {"joint 'x' (file.urdf:2)", "'maybe'", "true or false"});
}

TEST(UrdfErrorTest, ControlCharactersInNamesAreRefused) {
  test::expect_in(error_in_robot("<link name='a&#10;b'/>"), {"link (file.urdf:2)", "'a b'"});
  test::expect_in(error("<robot name='a&#1;b'/>"), {"robot (file.urdf:1)", "control"});
}

TEST(UrdfErrorTest, MacrosThatWereNotExpandedAreRefused) {
  test::expect_in(error_in_robot("<xacro:leg side='left'/>"),
                  {"robot 'r' (file.urdf:2)", "<xacro:leg>", "run xacro"});
  test::expect_in(error_in_joint("<dynamics damping='${d}'/>"), {"'${d}'", "run xacro"});
}

/// The findings of a robot whose text begins at line 2.
std::vector<Finding> findings(const std::string& text) {
  return UrdfFormat().read("<robot name='r'>\n" + text + "\n</robot>", "file.urdf").findings;
}

TEST(UrdfSpellingTest, UnknownWordsBesideKnownOnesAreDoubtful) {
  const std::string joint = "<joint name='x' type='revolute'><parent link='a'/><child link='b'/>";
  for (const auto& [text, words] : std::vector<std::pair<std::string, std::vector<std::string>>>{
           {"<couplin name='g'/>", {"robot 'r'", "element <couplin>", "expected <coupling>"}},
           {"<Lop name='g'/>", {"element <Lop>", "expected <loop>"}},
           {joint + "<dynamic damping='1'/></joint>",
            {"joint 'x'", "element <dynamic>", "expected <dynamics>"}},
           {joint + "<limit lowr='1'/></joint>",
            {"joint 'x'", "attribute 'lowr' of <limit>", "expected 'lower'"}},
           {joint + "<espalier armatrue='1'/></joint>", {"'armatrue'", "expected 'armature'"}},
           {"<joint name='x' type='revolute' independant='true'><parent link='a'/>"
            "<child link='b'/></joint>",
            {"joint 'x'", "attribute 'independant' of <joint>", "expected 'independent'"}},
           {"<link name='l'><inertail/></link>", {"link 'l'", "expected <inertial>"}},
           {"<law name='w' type='t'><joint name='a'/><paramter name='p' value='1'/></law>",
            {"law 'w'", "expected <parameter>"}}}) {
    const std::vector<Finding> found = findings(text);
    ASSERT_EQ(found.size(), 1u) << text;
    EXPECT_EQ(found[0].severity, Finding::Severity::warning);
    EXPECT_TRUE(found[0].negotiable) << "a strict reading refuses it";
    EXPECT_EQ(found[0].where, "file.urdf:2");
    test::expect_in(found[0].text, words);
    test::expect_in(found[0].text, {"(file.urdf:2)", "it is left out"});
  }
}

TEST(UrdfSpellingTest, WordsOfOtherProgramsPass) {
  EXPECT_TRUE(findings("<gazebo reference='l'><mu1>0.2</mu1><materail/></gazebo>"
                       "<ros2_control name='c'/><drake:joint nam='x'/><capability/>"
                       "<link name='l' xmlns:d='u'><contact/><selfcollide/></link>"
                       "<joint name='x' type='fixed'><parent link='a'/><child link='b'/>"
                       "<sensor_offset/><calibration rising='0'/></joint>")
                  .empty());
}

TEST(UrdfSpellingTest, GearsOfTransmissionsAreSaidToBeLeftOut) {
  const auto transmission = [](const std::string& ratio) {
    return "<joint name='x' type='revolute'><parent link='a'/><child link='b'/></joint>"
           "<transmission name='t'><joint name='x'/>\n<actuator name='m'>"
           "<mechanicalReduction>" +
           ratio + "</mechanicalReduction></actuator></transmission>";
  };
  EXPECT_TRUE(findings(transmission("1")).empty());
  const std::vector<Finding> found = findings(transmission("9.1"));
  ASSERT_EQ(found.size(), 1u);
  EXPECT_FALSE(found[0].negotiable);
  test::expect_in(found[0].text, {"transmission 't' (file.urdf:3)", "'9.1'", "<coupling>"});
}

}  // namespace
}  // namespace espalier::urdf_errors_test
