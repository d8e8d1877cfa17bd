#include "tests/cli/run.hpp"

// Families of robots for design-variation: what --design may say.

namespace espalier::test::design_test {
namespace {

const std::string eval = "eval '" ESPALIER_CLI_DATA "/pendulum.urdf' --problem design-variation ";

TEST(DesignTest, NumbersAtTheEndOfTheirRangeHaveADerivative) {
  // tau = (I + armature) vdot + ..., of an armature that is 0 in the file.
  const TemporaryFile state(".json", R"({"q": {"swing": 0.3}, "vdot": {"swing": 2.5}})");
  const Answer a = run(eval + "--json --design joints.swing.armature --state " + state.path());
  ASSERT_EQ(a.code, 0) << a.err;
  EXPECT_NE(a.out.find("design_gradient"), std::string::npos) << a.out;
  const Answer plain = run(eval + "--design joints.swing.armature --state " + state.path());
  EXPECT_NE(plain.out.find("2.5"), std::string::npos) << plain.out;
}

TEST(DesignTest, TargetsStandOnceAndFamiliesHaveNames) {
  const std::string mass = "links.bob.mass";
  expect_refused(eval + "--random 1 --design " + mass + "," + mass, 2, {mass, "given twice"});
  expect_refused(eval + "--random 1 --design =" + mass, 2, {"[NAME=]TARGET"});
  expect_refused(eval + "--random 1 --design joints.swing.mass", 2, {"'joints.swing.mass'"});
}

TEST(DesignTest, NamesInTheFileMayHoldCommas) {
  std::string text = contents(ESPALIER_CLI_DATA "/pendulum.urdf");
  for (std::size_t at = 0; (at = text.find("\"bob\"", at)) != std::string::npos;) {
    text.replace(at, 5, "\"b,ob\"");
  }
  const TemporaryFile robot(".urdf", text);
  const Answer a = run("eval " + robot.path() + " --problem design-variation --random 1");
  EXPECT_EQ(a.code, 0) << a.err;
  EXPECT_NE(a.out.find("links.b,ob.mass"), std::string::npos) << a.out;
}

}  // namespace
}  // namespace espalier::test::design_test
