#include "espalier/kernel/errors.hpp"
#include "formats/mjcf/mjcf.hpp"
#include "tests/formats/support.hpp"

// A geom's friction: sliding, torsional, rolling. `condim` says how many of them count.

namespace espalier::test::friction_test {
namespace {

constexpr double usual_torsional = 0.005, usual_rolling = 0.0001;  // of MuJoCo

/// A body with one geom.
std::string file(const std::string& geom, const std::string& usual = "") {
  return "<mujoco><default><geom " + usual +
         "/></default><worldbody>\n<body name='a'><freejoint/><geom size='0.1' " + geom +
         "/></body></worldbody></mujoco>";
}
ShapeDescription shape_in(const std::string& text) {
  for (const LinkDescription& link : MjcfFormat().read(text, "robot.xml").links) {
    if (!link.collisions.empty()) return link.collisions.front();
  }
  throw InvalidModel("no shape");
}

TEST(MjcfFrictionTest, CondimSaysWhichLengthsCount) {
  const std::string triple = "friction='0.8 0.02 0.003' ";
  for (const char* condim : {"", "condim='1'", "condim='3'"}) {
    const ShapeDescription slides = shape_in(file(triple + condim));
    EXPECT_EQ(slides.friction, 0.8);
    EXPECT_FALSE(slides.torsional_friction) << condim;
    EXPECT_FALSE(slides.rolling_friction) << condim;
  }
  const ShapeDescription twists = shape_in(file(triple + "condim='4'"));
  EXPECT_EQ(twists.friction, 0.8);
  EXPECT_EQ(twists.torsional_friction, 0.02);
  EXPECT_FALSE(twists.rolling_friction);
  const ShapeDescription rolls = shape_in(file(triple + "condim='6'"));
  EXPECT_EQ(rolls.friction, 0.8);
  EXPECT_EQ(rolls.torsional_friction, 0.02);
  EXPECT_EQ(rolls.rolling_friction, 0.003);
}

TEST(MjcfFrictionTest, LengthsThatAreNotSaidAreThoseOfMuJoCo) {
  const ShapeDescription none = shape_in(file("condim='6'"));
  EXPECT_EQ(none.friction, 1.0);
  EXPECT_EQ(none.torsional_friction, usual_torsional);
  EXPECT_EQ(none.rolling_friction, usual_rolling);
  const ShapeDescription two = shape_in(file("friction='0.6 0.02'", "condim='6'"));
  EXPECT_EQ(two.friction, 0.6);
  EXPECT_EQ(two.torsional_friction, 0.02);
  EXPECT_EQ(two.rolling_friction, usual_rolling);
}

TEST(MjcfFrictionTest, OtherDimensionsAreRefused) {
  expect_in(message_of([] { shape_in(file("condim='5'")); }),
            {"geom", "robot.xml:2", "'condim' is '5'"});
}

TEST(MjcfFrictionTest, LengthsAreWrittenAsTheyWereRead) {
  for (const char* geom : {"friction='0.8 0.02 0.003' condim='6'", "friction='0.8 0.02' condim='4'",
                           "friction='0.8'", "condim='6'", "condim='4'", ""}) {
    SCOPED_TRACE(geom);
    const Description robot = MjcfFormat().read(file(geom), "robot.xml");
    EXPECT_TRUE(MjcfFormat().losses(robot).empty());
    const ShapeDescription before = shape_in(file(geom));
    const ShapeDescription after = shape_in(MjcfFormat().write(robot));
    EXPECT_EQ(after.friction, before.friction);
    EXPECT_EQ(after.torsional_friction, before.torsional_friction);
    EXPECT_EQ(after.rolling_friction, before.rolling_friction);
  }
}

TEST(MjcfFrictionTest, LengthsWithoutACoefficientTakeMuJoCosWhichIsListed) {
  Description robot = MjcfFormat().read(file("name='tip' condim='4'"), "robot.xml");
  for (LinkDescription& link : robot.links) {
    for (auto* shapes : {&link.visuals, &link.collisions}) {
      for (ShapeDescription& shape : *shapes) {
        shape.friction.reset(), shape.torsional_friction.reset();
        shape.rolling_friction = 0.003;
      }
    }
  }
  const std::vector<std::string> losses = MjcfFormat().losses(robot);
  ASSERT_EQ(losses.size(), 1u);
  expect_in(losses[0], {"shape 'tip'", "friction becomes 1"});
  const ShapeDescription back = shape_in(MjcfFormat().write(robot));
  EXPECT_EQ(back.friction, 1.0);
  EXPECT_EQ(back.torsional_friction, 0.0);  // one that rolls alone does not twist
  EXPECT_EQ(back.rolling_friction, 0.003);
}

}  // namespace
}  // namespace espalier::test::friction_test
