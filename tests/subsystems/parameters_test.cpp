#include "tests/subsystems/bench.hpp"

/// Bad parameters are refused by name.

namespace espalier::parameters_test {
namespace {

using namespace test;

/// The error that a sub-mechanism's sample gives with some parameters changed.
std::string error_of(const std::string& type, const Parameters& changes) {
  try {
    mechanism(type).assemble(spec_of("knee", changed(type, changes)));
  } catch (const InvalidModel& error) {
    return error.what();
  }
  return "none";
}

void expect(const std::string& text, const std::vector<std::string>& pieces) {
  for (const std::string& piece : pieces) {
    EXPECT_NE(text.find(piece), std::string::npos) << "'" << piece << "' is not in: " << text;
  }
}

TEST(ParametersTest, RatioZeroIsRefused) {
  for (const char* type :
       {"geared_joint", "elastic_joint", "bevel_differential", "tello_hip", "tello_knee_ankle"}) {
    expect(error_of(type, {{"ratio", {0}}}),
           {"sub-mechanism 'knee'", "'ratio' is 0, expected a number other than zero"});
  }
  expect(error_of("gear_train", {{"ratios", {5, 0, 1}}}), {"'ratios' is 0"});
  expect(error_of("belt_pair", {{"gear_ratios", {0, 2}}}), {"'gear_ratios' is 0"});
  expect(error_of("belt_pair", {{"belt_products", {1, 0, 2}}}), {"'belt_products' is 0"});
}

TEST(ParametersTest, LengthsMustBePositive) {
  for (const auto& [type, length] : {std::pair{"four_bar", "rocker"},
                                     {"four_bar", "crank"},
                                     {"slider_crank", "rod"},
                                     {"cam", "radius"},
                                     {"trammel", "length"}}) {
    const std::string error = error_of(type, {{length, {-0.2}}});
    expect(error, {"'" + std::string(length) + "' is -0.2, expected a number greater than zero"});
  }
}

TEST(ParametersTest, FourBarWhoseBarsCannotMeetIsRefused) {
  expect(error_of("four_bar", {{"coupler", {0.9}}}),
         {"'coupler' is 0.9", "m long, expected less than the other three bars together"});
  expect(error_of("four_bar", {{"pivot", {3, 4}}}), {"'pivot' is 5"});
  expect(error_of("four_bar", {{"pivot", {0, 0}}}), {"'pivot' is at the crank's own"});
  // Non-Grashof: the crank cannot point away from the rocker.
  expect(error_of("four_bar", {{"crank", {0.3}}, {"coupler", {0.1}}, {"angle", {3.1}}}),
         {"'angle' is 3.1, expected a direction of the crank in which the loop closes"});
}

TEST(ParametersTest, BranchesAndZerosMustMakeSense) {
  expect(error_of("four_bar", {{"branch", {2}}}), {"'branch' is 2", "from 0 to 1"});
  expect(error_of("four_bar", {{"zeros", {0, 0, 0}}}), {"'zeros' is given beside 'angle'"});
  Parameters p = changed("four_bar", {{"branch", {1}}});
  p.erase("angle");
  EXPECT_THROW(mechanism("four_bar").assemble(spec_of("knee", p)), InvalidModel);
}

TEST(ParametersTest, OthersOutOfRangeAreRefused) {
  expect(error_of("slider_crank", {{"offset", {0.5}}}), {"'offset' is 0.5", "cannot reach"});
  expect(error_of("cam", {{"eccentricity", {0.2}}}), {"'radius' is 0.04", "eccentricity"});
  expect(error_of("trammel", {{"x", {0.6}}}), {"'x' is 0.6"});
  expect(error_of("planetary_stage", {{"ring_teeth", {20}}}), {"'ring_teeth' is 20", "sun"});
  expect(error_of("planetary_stage", {{"planets", {2.5}}}), {"'planets' is 2.5", "whole number"});
  expect(error_of("planetary_stage", {{"fixed", {4}}}), {"'fixed' is 4", "from 0 to 3"});
  expect(error_of("gear_train", {{"carriers", {0, 0, 2}}}), {"'carriers' is 2"});
  expect(error_of("elastic_joint", {{"stiffness", {0}}}), {"'stiffness' is 0"});
}

TEST(ParametersTest, ListsHaveTheirSizes) {
  expect(error_of("gear_train", {{"wheel_mass", {1, 2}}}),
         {"'wheel_mass' has 2 values, expected 3 finite numbers"});
  expect(error_of("belt_triple", {{"belt_products", {1, 2, 3}}}), {"has 3 values, expected 6"});
  expect(error_of("geared_joint", {{"link_inertia", {1, 2, 3}}}),
         {"'link_inertia' has 3 values, expected 6"});
}

TEST(ParametersTest, BodiesNeedAMassThatIsNotNegative) {
  expect(error_of("geared_joint", {{"link_mass", {-1}}}), {"'link_mass' is -1"});
  Parameters p = mechanism("geared_joint").sample();
  p.erase("link_mass");
  try {
    mechanism("geared_joint").assemble(spec_of("knee", p));
    FAIL() << "a centre of mass without a mass was accepted";
  } catch (const InvalidModel& error) {
    expect(error.what(), {"'link_mass' is missing", "mass of the body"});
  }
}

TEST(ParametersTest, RodsHaveALength) {
  const LoopJoint& rod = registry().loop_joint("rod");
  JointSpec spec;
  spec.what = "loop", spec.name = "push";
  for (const double length : {0.0, -0.1}) {
    spec.parameters = {{"length", {length}}};
    EXPECT_THROW(rod.loop_rows(spec), InvalidModel);
  }
  spec.parameters = {{"length", {0.3}}};
  const std::vector<LoopRow> rows = rod.loop_rows(spec);
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].kind, LoopRow::Kind::distance);
  EXPECT_EQ(rows[0].value, 0.3);
  // Ends of a rod that meet at zero position leave it no length.
  expect(error_of("rod_ankle", {{"foot1", {-0.05, 0.05, 0.2}}}), {"'foot1' is at the crank's tip"});
}

TEST(ParametersTest, UnknownNamesInALawAreRefused) {
  Description robot = on_base(mechanism("four_bar"), mechanism("four_bar").sample());
  robot.laws[0].parameters["lenght"] = {1.0};
  try {
    Model::compile(robot, registry());
    FAIL() << "an unknown parameter was accepted";
  } catch (const InvalidModel& error) {
    expect(error.what(), {"law 'four_bar'", "'lenght' is unknown", "'coupler'"});
  }
}

}  // namespace
}  // namespace espalier::parameters_test
