#include "formats/shapes.hpp"

#include <algorithm>

#include "formats/mjcf/mjcf.hpp"
#include "formats/sdf/sdf.hpp"
#include "formats/urdf/urdf.hpp"
#include "formats/yaml/yaml.hpp"
#include "tests/formats/support.hpp"
#include "tests/support/simple_robot.hpp"

// Sizes of shapes: what no shape has is left out and said (YAML, which only we write, refuses it),
// and what a format cannot say of sizes is listed.

namespace espalier::shapes_test {
namespace {

TEST(ShapeSizesTest, NegativeSizesAreNamed) {
  for (const auto& [shape, what] : std::vector<std::pair<Shape, std::string>>{
           {Box{{1, -2, 1}}, "edge y of box is -2"},
           {Sphere{-0.5}, "radius of sphere is -0.5"},
           {Cylinder{1, -1}, "length of cylinder is -1"},
           {Capsule{-1, 1}, "radius of capsule is -1"},
           {Ellipsoid{{1, 1, -3}}, "radius z of ellipsoid is -3"},
           {Plane{-1, 0}, "edge x of plane is -1"},
           {HeightField{"", {1, 1, -1}}, "height of height_field is -1"}}) {
    const auto wrong = formats::wrong_size(shape);
    ASSERT_TRUE(wrong) << what;
    test::expect_in(*wrong, {what, "expected a number that is not negative"});
  }
  EXPECT_FALSE(formats::wrong_size(Box{{0, 1, 1}}));
  EXPECT_FALSE(formats::wrong_size(Mesh{"m.stl", {1, -1, 1}}));  // mirrored
}

TEST(ShapeSizesTest, UrdfAndSdfLeaveThemOutWithAWarning) {
  const Description urdf = UrdfFormat().read(
      "<robot name='r'><link name='a'>\n<visual><geometry><sphere radius='-1'/></geometry></visual>"
      "\n<collision><geometry><box size='1 0 1'/></geometry></collision></link></robot>",
      "robot.urdf");
  const Description sdf = SdfFormat().read(
      "<sdf version='1.9'><model name='m'><link name='a'>\n<visual name='v'><geometry><sphere>"
      "<radius>-1</radius></sphere></geometry></visual>\n<collision name='c'><geometry><box>"
      "<size>1 0 1</size></box></geometry></collision></link></model></sdf>",
      "robot.sdf");
  for (const Description* d : {&urdf, &sdf}) {
    EXPECT_TRUE(d->links.at(0).visuals.empty());
    EXPECT_EQ(d->links.at(0).collisions.size(), 1u);  // flat, but a shape
    ASSERT_EQ(d->findings.size(), 1u);
    EXPECT_EQ(d->findings[0].severity, Finding::Severity::warning);
    EXPECT_TRUE(d->findings[0].negotiable);
    test::expect_in(d->findings[0].text,
                    {"link 'a'", ":2", "radius of sphere is -1", "(left out)"});
  }
}

TEST(ShapeSizesTest, MjcfRefusesThem) {
  test::expect_in(test::message_of([] {
                    MjcfFormat().read(
                        "<mujoco><worldbody>\n<geom type='plane' size='-1 1 0.1'/>"
                        "</worldbody></mujoco>",
                        "robot.xml");
                  }),
                  {"geom", "robot.xml:2", "edge x of plane is -2", "not negative"});
}

TEST(ShapeSizesTest, YamlRefusesThem) {
  test::expect_in(test::message_of([] {
                    YamlFormat().read(
                        "espalier: 1\nlinks:\n  a:\n    visual:\n      - {sphere: -1}\n", "r.yaml");
                  }),
                  {"link 'a'", "r.yaml:5", "radius of sphere is -1", "expected"});
}

TEST(ShapeSizesTest, MjcfListsFlatShapesAsLost) {
  Description robot = test::chain_of(std::vector<std::string>{"revolute"});
  ShapeDescription flat;
  flat.name = "sheet", flat.shape = Box{{1, 1, 0}};
  robot.links.back().visuals.push_back(flat);
  const std::vector<std::string> losses = MjcfFormat().losses(robot);
  ASSERT_FALSE(losses.empty());
  test::expect_in(losses[0], {"box 'sheet'", "zero"});
  const Description back = MjcfFormat().read(MjcfFormat().write(robot), "robot.xml");
  EXPECT_TRUE(back.links.back().visuals.empty());
}

TEST(ShapeFrictionTest, SdfKeepsTheCoefficientAndListsLengthsAsLost) {
  Description robot = test::chain_of(std::vector<std::string>{"revolute"});
  ShapeDescription foot;
  foot.shape = Sphere{0.1}, foot.friction = 0.8;
  robot.links.back().collisions = {foot};
  const std::size_t before = SdfFormat().losses(robot).size();
  robot.links.back().collisions[0].rolling_friction = 0.001;
  const std::vector<std::string> losses = SdfFormat().losses(robot);
  ASSERT_EQ(losses.size(), before + 1);
  EXPECT_TRUE(std::any_of(losses.begin(), losses.end(), [](const std::string& loss) {
    return loss.find("torsional and rolling friction") != std::string::npos;
  }));
  const Description back = SdfFormat().read(SdfFormat().write(robot), "robot.sdf");
  ASSERT_EQ(back.links.back().collisions.size(), 1u);
  EXPECT_EQ(back.links.back().collisions[0].friction, 0.8);
  EXPECT_FALSE(back.links.back().collisions[0].rolling_friction);
}

}  // namespace
}  // namespace espalier::shapes_test
