#include "formats/mjcf/mjcf.hpp"
#include "tests/formats/support.hpp"

// Friction that MuJoCo has of two geoms together: by the larger condim of both, by priority, or of
// an explicit <pair>. Where shapes cannot say it each for itself, the reader warns by name.

namespace espalier::test::pair_friction_test {
namespace {

/// A floor and two bodies on it, which do not touch each other unless they are told.
std::string file(const std::string& floor, const std::string& foot, const std::string& hand = "",
                 const std::string& contact = "") {
  const std::string apart = hand.empty() ? "contype='2' conaffinity='1' " : "";
  return "<mujoco><worldbody><geom name='floor' type='plane' size='1 1 1' " + floor +
         "/>\n<body name='a'><freejoint/><geom name='foot' size='0.1' " + foot +
         "/></body>\n<body name='b'><freejoint/><geom name='hand' size='0.1' " + apart + hand +
         "/></body></worldbody>\n<contact>" + contact + "</contact></mujoco>";
}
std::vector<std::string> warnings(const std::string& text) {
  std::vector<std::string> out;
  for (const Finding& finding : MjcfFormat().read(text, "robot.xml").findings) {
    EXPECT_EQ(finding.severity, Finding::Severity::warning);
    out.push_back(finding.text);
  }
  return out;
}
void expect_one(const std::string& text, const std::vector<std::string>& parts) {
  const std::vector<std::string> found = warnings(text);
  ASSERT_EQ(found.size(), 1u);
  expect_in(found[0], parts);
}

TEST(MjcfPairFrictionTest, LengthsThatTheSmallerCondimWouldLendAreTold) {
  expect_one(file("friction='1 0.02 0.003'", "condim='4' friction='1 0.01 0.003'"),
             {"geom 'floor' on geom 'foot'", "robot.xml:1", "torsional 0.02 m and rolling 0 m",
              "larger condim", "here it is coefficient 1, torsional 0.01 m"});
  expect_one(
      file("condim='4' friction='1 0.01 0.2'", "condim='6' friction='1 0.01 0.1'", "condim='6'"),
      {"torsional 0.01 m and rolling 0.2 m", "rolling 0.1 m", "besides that differ: 1"});
}

TEST(MjcfPairFrictionTest, WhereTheLargerCondimHasTheLargerLengthsNothingIsToTell) {
  EXPECT_TRUE(warnings(file("", "")).empty());
  EXPECT_TRUE(warnings(file("friction='1'", "condim='6' friction='1 0.01 0.001'")).empty());
  EXPECT_TRUE(warnings(file("condim='1'", "condim='3'", "condim='4'")).empty());
}

TEST(MjcfPairFrictionTest, OtherCoefficientsAreTold) {
  const std::string same = "friction='0.6'";
  EXPECT_TRUE(warnings(file(same, same, same)).empty());
  expect_one(file("", "friction='0.25'"),
             {"geom 'floor' on geom 'foot'", "in MuJoCo is coefficient 1,", "and numbers of both",
              "here it is coefficient 0.5,", "geometric mean"});
}

TEST(MjcfPairFrictionTest, TwoWithoutFrictionAreTold) {
  expect_one(file("condim='1'", "condim='1'"),
             {"geom 'floor' on geom 'foot'", "friction in MuJoCo is none"});
}

TEST(MjcfPairFrictionTest, TheHigherPriorityIsTold) {
  expect_one(file("priority='1'", "condim='4'"), {"higher priority", "torsional 0 m"});
}

TEST(MjcfPairFrictionTest, GeomsThatNeverTouchAreLeftOut) {
  const std::string large = "friction='1 0.5 0.5'", small = "condim='4'";
  EXPECT_EQ(warnings(file("condim='6'", large, small)).size(), 1u);
  EXPECT_TRUE(warnings(file("condim='6' friction='1 0.5 0.5'", large, small,
                            "<exclude body1='a' body2='b'/>"))
                  .empty());
  // Of one body, of its child, and by their types.
  const auto of = [&](const std::string& inner) {
    return warnings("<mujoco><worldbody><body name='a'><freejoint/><geom size='0.1' " + large +
                    "/>" + inner + "</body></worldbody></mujoco>")
        .size();
  };
  EXPECT_EQ(of("<geom size='0.1' " + small + "/>"), 0u);
  EXPECT_EQ(of("<body><geom size='0.1' " + small + "/></body>"), 0u);
  EXPECT_EQ(of("<body><joint/><geom size='0.1' " + small + "/></body>"), 0u);
  EXPECT_EQ(of("<body><joint/><geom size='0.1' mass='1' " + large +
               "/><body><joint/><geom size='0.1' " + small + "/></body></body>"),
            1u);
  EXPECT_EQ(of("<body><joint/><inertial mass='1' pos='0 0 0' diaginertia='1 1 1'/><body><joint/>"
               "<geom size='0.1' contype='2' conaffinity='2' " +
               small + "/></body></body>"),
            0u);
}

TEST(MjcfPairFrictionTest, AnExplicitPairHasItsOwn) {
  const auto pair = [](const std::string& said) {
    return file("", "", "", "<pair geom1='foot' geom2='floor' " + said + "/>");
  };
  EXPECT_TRUE(warnings(pair("")).empty());
  expect_one(pair("condim='6'"), {"pair of geom 'foot' and geom 'floor'", "robot.xml:4",
                                  "coefficient 1, torsional 0.005 m and rolling 0.0001 m",
                                  "the pair's own", "here it is coefficient 1, torsional 0 m"});
  expect_one(pair("condim='1'"), {"friction in MuJoCo is none"});
  expect_one(pair("condim='6' friction='0.5 0.5 0.1 0.2 0.3'"),
             {"coefficient 0.5, torsional 0.1 m and rolling 0.2 m"});
  // What both would have without the pair is not told besides.
  expect_one(file("friction='1 0.02 0.003'", "condim='4' friction='1 0.01 0.003'", "",
                  "<pair geom1='floor' geom2='foot'/>"),
             {"pair of geom 'floor' and geom 'foot'"});
}

}  // namespace
}  // namespace espalier::test::pair_friction_test
