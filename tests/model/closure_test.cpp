#include "espalier/kernel/model/closure.hpp"
#include "espalier/kernel/model/loops/constraint.hpp"

#include <gtest/gtest.h>

#include <numbers>

#include "tests/support/four_bar.hpp"
#include "tests/support/host.hpp"
#include "tests/support/state.hpp"

namespace espalier::test::closure_test {
namespace {

using Verdict = Closure::Verdict;
constexpr double pi = std::numbers::pi;
constexpr double closed = 1e-10;  // a hundred times the tolerance of close()

/// A four-bar with its positions by joint name, beside the closed form.
struct Bench {
  FourBar bar;
  ModelPtr model;

  explicit Bench(const FourBar& b) : bar(b), model(host().compile(four_bar(b))) {}

  double& at(std::vector<double>& q, const char* joint) const { return q[model->joint(joint).q]; }
  double at(const std::vector<double>& q, const char* joint) const {
    return q[model->joint(joint).q];
  }
  /// The assembly of the closed form.
  std::vector<double> assembled(double crank, double side) const {
    const FourBarAngles angles = solve(bar, crank, side);
    EXPECT_TRUE(angles.reachable);
    std::vector<double> q(3);
    at(q, "crank") = crank, at(q, "coupler") = angles.coupler, at(q, "rocker") = angles.rocker;
    return q;
  }
  /// Largest distance of coupler and rocker from the closed form, turns left aside.
  double distance(const std::vector<double>& q, double crank, double side) const {
    const std::vector<double> expected = assembled(crank, side);
    double largest = 0.0;
    for (int i = 0; i < 3; ++i) {
      largest = std::max(largest, std::abs(std::remainder(q[i] - expected[i], 2 * pi)));
    }
    return largest;
  }
  Closure close_to(const std::vector<double>& start, std::vector<double>& q, double crank) const {
    q = start;
    at(q, "crank") = crank;
    return close(*model, start.data(), q.data());
  }
};

std::string refusal(const Description& robot) {
  try {
    host().compile(robot);
  } catch (const InvalidModel& error) {
    return error.what();
  }
  return "not refused";
}
void expect_words(const std::string& text, const std::vector<std::string>& words) {
  for (const std::string& word : words) {
    EXPECT_NE(text.find(word), std::string::npos) << "no '" << word << "' in: " << text;
  }
}

TEST(ClosureTest, CrankRockerFollowsItsCrankThroughManyTurns) {
  const Bench bench{FourBar{}};
  for (const double side : {1.0, -1.0}) {
    const std::vector<double> start = bench.assembled(0.3, side);
    for (const double crank : {0.3 + 20 * pi, 0.3 - 20 * pi + 1.0, 0.3 + 300 * pi}) {
      std::vector<double> q;
      const Closure c = bench.close_to(start, q, crank);
      EXPECT_EQ(c.verdict, Verdict::closed) << c.text();
      EXPECT_EQ(bench.at(q, "crank"), crank) << "to the last bit";
      EXPECT_LT(bench.distance(q, crank, side), 1e-9) << "tolerance 1e-12 over margins of 0.1";
      EXPECT_LT(c.residual, closed);
      EXPECT_GT(c.margin, 0.05);
    }
  }
}

TEST(ClosureTest, BothBranchesAreKept) {
  const Bench bench{FourBar{}};
  for (const double side : {1.0, -1.0}) {
    std::vector<double> q;
    bench.close_to(bench.assembled(0.5, side), q, 2.5);
    EXPECT_LT(bench.distance(q, 2.5, side), 1e-9);
    EXPECT_GT(bench.distance(q, 2.5, -side), 0.1) << "the branches differ";
  }
}

TEST(ClosureTest, DoubleRockerStopsAtItsLimitAndSaysHowFarItCame) {
  const Bench bench{FourBar{0.5, 0.2, 0.5, 0.5}};
  // There the crank's end is coupler + rocker = 0.7 away from the rocker's pivot.
  const double limit = std::acos((0.25 + 0.25 - 0.49) / 0.5);
  std::vector<double> q;
  const Closure c = bench.close_to(bench.assembled(1.0, 1.0), q, 2.0);
  EXPECT_EQ(c.verdict, Verdict::out_of_reach) << c.text();
  EXPECT_NEAR(c.reached, limit - 1.0, 1e-4) << "of the way of 1 rad";
  EXPECT_NEAR(bench.at(q, "crank"), limit, 1e-4);
  EXPECT_LT(examine(*bench.model, q.data()).residual, closed) << "it stays where it could";
  EXPECT_LT(c.margin, 1e-2);
  expect_words(c.text(), {"crank+", "out of reach", "of the way was closed"});
}

TEST(ClosureTest, ParallelogramIsSingularAtItsFlatPose) {
  const Bench bench{FourBar{0.3, 0.5, 0.3, 0.5}};
  std::vector<double> start(3), q;
  bench.at(start, "crank") = 1.0, bench.at(start, "coupler") = -1.0;
  bench.at(start, "rocker") = 1.0;
  const Closure through = bench.close_to(start, q, 4.0);
  EXPECT_EQ(through.verdict, Verdict::singular) << through.text();
  EXPECT_NEAR(through.reached, (pi - 1.0) / 3.0, 1e-4);
  EXPECT_TRUE(through.better.empty()) << "K itself loses rank";
  expect_words(through.text(), {"singular", "no choice of independent joints"});

  const Closure before = bench.close_to(start, q, 3.0);
  EXPECT_EQ(before.verdict, Verdict::closed) << before.text();
  EXPECT_NEAR(bench.at(q, "rocker"), 3.0, 1e-9);

  const std::vector<double> flat(3, 0.0);
  EXPECT_EQ(examine(*bench.model, flat.data()).verdict, Verdict::singular);
  const Closure from = bench.close_to(flat, q, 0.5);
  EXPECT_EQ(from.verdict, Verdict::singular) << "it goes on with a branch, but says so";
  EXPECT_LT(examine(*bench.model, q.data()).residual, closed);
  EXPECT_EQ(bench.at(q, "crank"), 0.5);
}

// Sweeps of random four-bars: closed exactly where the whole way can be reached, always on the
// branch of the start, and never anywhere else.
TEST(ClosureTest, NeverJumps) {
  Rng rng(11);
  int reached = 0, stopped = 0;
  for (int k = 0; k < 300; ++k) {
    const FourBar bar{rng.uniform(0.1, 0.6), rng.uniform(0.1, 0.6), rng.uniform(0.1, 0.6),
                      rng.uniform(0.1, 0.6)};
    const double from = rng.uniform(-pi, pi), to = from + rng.uniform(-4.0, 4.0);
    const double side = rng.chance(0.5) ? 1.0 : -1.0;
    // How near the way comes to a limit: sign and size of 1 - |cos| of the closed form.
    double least = 1.0;
    for (int i = 0; i <= 2000; ++i) {
      const double crank = from + (to - from) * i / 2000.0;
      const double d =
          std::hypot(bar.base - bar.crank * std::cos(crank), bar.crank * std::sin(crank));
      const double cosine =
          (bar.coupler * bar.coupler + d * d - bar.rocker * bar.rocker) / (2 * bar.coupler * d);
      least = std::min(least, 1.0 - std::abs(cosine));
    }
    if (std::abs(least) < 1e-3 || !solve(bar, from, side).reachable) continue;
    ModelPtr model;
    try {
      model = host().compile(four_bar(bar));
    } catch (const InvalidModel&) {
      ADD_FAILURE() << "it can be assembled at " << from;
      continue;
    }
    const Bench bench(bar);
    std::vector<double> q;
    const Closure c = bench.close_to(bench.assembled(from, side), q, to);
    EXPECT_LT(c.residual, closed);
    if (least > 0.0) {
      ++reached;
      EXPECT_EQ(c.verdict, Verdict::closed) << c.text();
      EXPECT_LT(bench.distance(q, to, side), 1e-7) << "tolerance over margins down to 1e-4";
    } else {
      ++stopped;
      EXPECT_NE(c.verdict, Verdict::closed) << c.text();
      EXPECT_LT(bench.distance(q, bench.at(q, "crank"), side), 1e-3)
          << "it ends 1e-5 short of the limit, where the branches meet";
      EXPECT_GT(c.reached, 0.0);
      EXPECT_LT(c.reached, 1.0);
    }
  }
  EXPECT_GT(reached, 30);
  EXPECT_GT(stopped, 30);
}

/// Crank r, connecting rod l, slider on the x axis.
Description slider_crank(double r, double l, const std::string& independent) {
  Description robot = ground();
  robot.gravity = {0, -9.81, 0};
  add_rod(robot, "crank_link", r);
  add_rod(robot, "rod_link", l);
  add_solid(robot, "slider_link");
  add_joint(robot, "crank", "revolute", "base", "crank_link");
  add_joint(robot, "rod", "revolute", "crank_link", "rod_link", {0, 0, 1}, {{r, 0, 0}, {0, 0, 0}});
  add_joint(robot, "slider", "prismatic", "base", "slider_link", {1, 0, 0});
  for (JointDescription& joint : robot.joints) joint.independent = joint.name == independent;
  LoopDescription pin;
  pin.name = "pin", pin.type = "revolute", pin.axis = {0, 0, 1};
  pin.predecessor = "rod_link", pin.successor = "slider_link";
  pin.predecessor_origin.xyz = {l, 0, 0};
  robot.loops.push_back(pin);
  return robot;
}

TEST(ClosureTest, SliderCrankWithAShortRodTurnsAsFarAsItsRodAllows) {
  constexpr double r = 0.3, l = 0.2;
  const ModelPtr model = host().compile(slider_crank(r, l, "crank"));
  const int crank = model->joint("crank").q, rod = model->joint("rod").q,
            slider = model->joint("slider").q;
  const auto position = [&](double a) {
    std::vector<double> q(3);
    q[crank] = a;
    q[rod] = std::asin(-r * std::sin(a) / l) - a;
    q[slider] = r * std::cos(a) + std::sqrt(l * l - r * r * std::sin(a) * std::sin(a));
    return q;
  };
  const std::vector<double> start = position(-0.2);
  std::vector<double> q = start;
  q[crank] = 0.6;
  EXPECT_EQ(close(*model, start.data(), q.data()).verdict, Verdict::closed);
  EXPECT_LT(largest_difference(q, position(0.6)), 1e-9);

  const double limit = std::asin(l / r);
  q[crank] = 1.2;
  const Closure c = close(*model, start.data(), q.data());
  EXPECT_EQ(c.verdict, Verdict::out_of_reach) << c.text();
  EXPECT_NEAR(q[crank], limit, 1e-4);
  EXPECT_NEAR(c.reached, (limit + 0.2) / 1.4, 1e-4);
}

TEST(ClosureTest, SliderThatIsIndependentStopsAtTheDeadPoint) {
  const ModelPtr model = host().compile(slider_crank(0.1, 0.3, "slider"));
  std::vector<double> q(3), start;
  q[model->joint("crank").q] = 1.0;
  q[model->joint("rod").q] = std::asin(-0.1 * std::sin(1.0) / 0.3) - 1.0;
  q[model->joint("slider").q] =
      0.1 * std::cos(1.0) + std::sqrt(0.09 - 0.01 * std::pow(std::sin(1.0), 2));
  ASSERT_LT(examine(*model, q.data()).residual, closed);
  start = q;
  q[model->joint("slider").q] = 0.5;
  const Closure c = close(*model, start.data(), q.data());
  EXPECT_EQ(c.verdict, Verdict::out_of_reach) << c.text();
  EXPECT_NEAR(q[model->joint("slider").q], 0.4, 1e-6);
  const std::vector<std::string> better = better_independents(*model, q.data());
  ASSERT_EQ(better.size(), 1u);
  EXPECT_NE(better[0], "slider") << "crank and rod move on while the slider rests";
}

TEST(ClosureTest, RedundantRowsOfAPinInSpaceAreLeftOut) {
  const Bench bench{FourBar{}};
  const auto clusters = bench.model->clusters();
  ASSERT_EQ(clusters.size(), 1u);
  const ClusterConstraint& constraint = *clusters[0].constraint;
  EXPECT_EQ(constraint.loops[0].all_rows.size(), 6u) << "five and which way the axes face";
  EXPECT_EQ(constraint.rows(), 2);
  EXPECT_EQ(bench.model->nv(), 1);
}

TEST(ClosureTest, ImmobileLoopIsRefusedWithItsJoints) {
  Description robot = four_bar();
  // Without the coupler, the crank's end is pinned to the rocker's: a triangle.
  robot.joints.erase(robot.joints.begin() + 1);
  robot.links.erase(robot.links.begin() + 2);
  robot.loops[0].predecessor = "crank_link";
  robot.loops[0].predecessor_origin.xyz = {0.3, 0, 0};
  robot.joints[0].independent = robot.joints[1].independent = std::nullopt;
  expect_words(refusal(robot), {"crank", "rocker", "no motion", "robot.test:300"});
}

TEST(ClosureTest, LoopThatCannotBeAssembledIsRefusedWithItsJointsAndResidual) {
  Description robot = four_bar({0.2, 0.1, 0.2, 2.0});
  const std::string text = refusal(robot);
  expect_words(text, {"'pin'", "residual", "crank", "coupler", "rocker", "robot.test:300"});
  // Stretched flat, it is 2.0 - 0.5 apart; the residual is the larger of two components.
  const double residual = std::stod(text.substr(text.find("best residual found is ") + 23));
  EXPECT_GE(residual, 1.5 / std::sqrt(2.0) - 0.01) << text;
  EXPECT_LE(residual, 1.5 + 0.01) << text;

  robot = four_bar();  // the same pin once more, somewhere else
  robot.loops.push_back(robot.loops[0]);
  robot.loops[1].name = "pin2";
  robot.loops[1].predecessor_origin.xyz.y += 0.05;
  expect_words(refusal(robot), {"'pin", "residual"});
}

TEST(ClosureTest, SecondPinAtTheSamePlaceChangesNothing) {
  Description robot = four_bar();
  robot.loops.push_back(robot.loops[0]);
  robot.loops[1].name = "pin2";
  const ModelPtr model = host().compile(robot);
  EXPECT_EQ(model->nv(), 1);
  EXPECT_EQ(model->clusters()[0].constraint->rows(), 2);
}

TEST(ClosureTest, AssemblyClosesFromBadGuesses) {
  const Bench bench{FourBar{}};
  Rng rng(5);
  for (int k = 0; k < 200; ++k) {
    std::vector<double> q = rng.vector(3, pi);
    const Closure c = assemble(*bench.model, q.data());
    EXPECT_EQ(c.verdict, Verdict::closed) << c.text();
    EXPECT_LT(examine(*bench.model, q.data()).residual, closed);
  }
}

TEST(ClosureTest, AssemblyMovesNothingThatIsClosed) {
  const Bench bench{FourBar{}};
  const std::vector<double> start = bench.assembled(1.0, -1.0);
  std::vector<double> q = start;
  assemble(*bench.model, q.data());
  EXPECT_LT(largest_difference(q, start), 1e-12) << "tolerance";
}

TEST(ClosureTest, NumbersThatAreNotFiniteAreRefused) {
  const Bench bench{FourBar{}};
  const std::vector<double> start = bench.assembled(1.0, 1.0);
  for (const double bad : {std::nan(""), HUGE_VAL}) {
    std::vector<double> q = start;
    q[0] = bad;
    EXPECT_EQ(close(*bench.model, start.data(), q.data()).verdict, Verdict::out_of_reach);
    EXPECT_EQ(project(*bench.model, q.data()).verdict, Verdict::out_of_reach);
    EXPECT_EQ(assemble(*bench.model, q.data()).verdict, Verdict::out_of_reach);
    EXPECT_EQ(examine(*bench.model, q.data()).verdict, Verdict::out_of_reach);
    std::vector<double> other = start;
    EXPECT_EQ(close(*bench.model, q.data(), other.data()).verdict, Verdict::out_of_reach);
  }
}

TEST(ClosureTest, TheOpenClusterIsNamedBesideItsOwnResidualAndMargin) {
  // Two four-bars, one of them near its dead point and closed, the other open and regular.
  Description robot = test::ground();
  const auto add_bar = [&](const std::string& side, double rocker) {
    for (const char* name : {"crank", "rocker", "coupler"}) test::add_solid(robot, side + name);
    test::add_joint(robot, side + "a", "revolute", "base", side + "crank").independent = true;
    test::add_joint(robot, side + "b", "revolute", "base", side + "rocker", {0, 0, 1},
                    {{1, 0, 0}, {0, 0, 0}});
    test::add_joint(robot, side + "c", "revolute", side + "crank", side + "coupler", {0, 0, 1},
                    {{0.3, 0, 0}, {0, 0, 0.8}});
    LoopDescription pin;
    pin.name = side + "pin", pin.type = "revolute", pin.axis = {0, 0, 1};
    pin.predecessor = side + "coupler", pin.successor = side + "rocker";
    pin.predecessor_origin.xyz = {1, 0, 0}, pin.successor_origin.xyz = {rocker, 0, 0};
    robot.loops.push_back(pin);
  };
  add_bar("left_", 0.5), add_bar("right_", 0.6);
  const ModelPtr model = host().compile(robot);
  std::vector<double> q(model->nq());
  model->neutral(q.data());
  for (const char* open : {"left_", "right_"}) {
    std::vector<double> other = q;
    other[model->joint(std::string(open) + "c").q] += 1e-2;
    const Closure closure = examine(*model, other.data());
    EXPECT_EQ(closure.verdict, Verdict::out_of_reach);
    EXPECT_EQ(closure.cluster.rfind(open, 0), 0u) << closure.text();
    EXPECT_GT(closure.residual, 1e-3);
  }
}

TEST(ClosureTest, ProjectionMovesDependentPositionsOnly) {
  const Bench bench{FourBar{}};
  const std::vector<double> start = bench.assembled(0.7, 1.0);
  std::vector<double> q = start;
  bench.at(q, "coupler") += 1e-3, bench.at(q, "rocker") -= 2e-3;
  EXPECT_EQ(project(*bench.model, q.data()).verdict, Verdict::closed);
  EXPECT_LT(largest_difference(q, start), 1e-10);
  EXPECT_EQ(bench.at(q, "crank"), 0.7);
}

TEST(ClosureTest, ProjectionOntoNothingSaysSo) {
  const Bench bench{FourBar{0.5, 0.2, 0.5, 0.5}};
  std::vector<double> q = bench.assembled(1.5, 1.0);
  bench.at(q, "crank") = 1.7;  // beyond the limit of 1.55
  const Closure c = project(*bench.model, q.data());
  EXPECT_NE(c.verdict, Verdict::closed) << c.text();
  EXPECT_GT(c.residual, 1e-3);
}

TEST(ClosureTest, DeclaredIndependentsAreHonoured) {
  for (const char* name : {"crank", "coupler", "rocker"}) {
    FourBar bar;
    bar.independent = name;
    const ModelPtr model = host().compile(four_bar(bar));
    ASSERT_EQ(model->coordinates().size(), 1u);
    EXPECT_EQ(model->coordinates()[0].name, name);
  }
  FourBar silent;
  silent.independent = "";
  EXPECT_EQ(host().compile(four_bar(silent))->nv(), 1);
}

TEST(ClosureTest, ContradictoryDeclarationsAreRefused) {
  Description robot = four_bar();
  for (JointDescription& joint : robot.joints) joint.independent = joint.name != "coupler";
  expect_words(refusal(robot), {"crank", "rocker", "independent", "at most 1"});
  for (JointDescription& joint : robot.joints) joint.independent = false;
  expect_words(refusal(robot), {"declared dependent"});
}

TEST(ClosureTest, BetterIndependentsAreOfferedAtDeadPoints) {
  // Where crank and coupler are in line, the rocker turns back: it determines nothing there.
  FourBar bar;
  bar.independent = "rocker";
  const Bench bench(bar);
  const double d = bar.crank + bar.coupler;
  const double crank =
      std::acos((d * d + bar.base * bar.base - bar.rocker * bar.rocker) / (2 * d * bar.base));
  std::vector<double> q(3);
  bench.at(q, "crank") = crank;
  bench.at(q, "rocker") = std::atan2(d * std::sin(crank), d * std::cos(crank) - bar.base);
  const Closure c = examine(*bench.model, q.data());
  ASSERT_LT(c.residual, closed);
  EXPECT_EQ(c.verdict, Verdict::singular);
  ASSERT_EQ(c.better.size(), 1u);
  EXPECT_NE(c.better[0], "rocker");
  expect_words(c.text(), {"singular", "'" + c.better[0] + "'"});
  EXPECT_EQ(better_independents(*bench.model, q.data()), c.better);

  bar.independent = c.better[0];
  const Bench again(bar);
  EXPECT_GT(examine(*again.model, q.data()).margin, 0.1);
  EXPECT_EQ(better_independents(*again.model, q.data()), c.better) << "the present one is good";
}

TEST(ClosureTest, TreesAndCouplingsAreAlwaysClosed) {
  const ModelPtr model =
      host().compile(chain_of(std::vector<std::string>{"revolute", "spherical"}));
  std::vector<double> q(model->nq());
  model->neutral(q.data());
  EXPECT_EQ(examine(*model, q.data()).verdict, Verdict::closed);
  EXPECT_EQ(project(*model, q.data()).margin, 1.0);
  EXPECT_TRUE(better_independents(*model, q.data()).empty());
}

// What a law gives has no branches, and no way to it is too long.
TEST(ClosureTest, ExplicitLawsAreEvaluatedHoweverFarTheyGo) {
  Description robot = chain_of(std::vector<std::string>{"revolute", "revolute"});
  LawDescription law;
  law.name = "gear", law.type = "geared_joint";
  law.joints = {robot.joints[0].name, robot.joints[1].name};
  law.parameters = {{"ratio", {1000.0}}};
  robot.laws.push_back(law);
  const ModelPtr model = host().compile(robot);
  const std::vector<double> start = neutral_position(*model);
  const int link = model->joint(law.joints[0]).q, rotor = model->joint(law.joints[1]).q;
  for (const double x : {0.1, 3.0, -100.0}) {
    std::vector<double> q = start;
    q[link] = x;
    const Closure closure = close(*model, start, q);
    EXPECT_EQ(closure.verdict, Verdict::closed) << closure.text();
    EXPECT_EQ(q[link], x);
    EXPECT_NEAR(q[rotor], 1000.0 * x, 1e-10);
  }
}

// Units of a law are its author's: one whose slope is small has to be met as well as others.
TEST(ClosureTest, LawsInSmallUnitsAreClosedAsOthersAre) {
  Description robot = chain_of(std::vector<std::string>{"revolute", "revolute"});
  LawDescription law;
  law.name = "gear", law.type = "weighted_sum_2";
  law.joints = {robot.joints[0].name, robot.joints[1].name};
  law.parameters = {{"weights", {3e-7, -6e-7}}};
  robot.laws.push_back(law);
  robot.joints[0].independent = true, robot.joints[1].independent = false;
  const ModelPtr model = host().compile(robot);
  std::vector<double> q = neutral_position(*model);
  const std::vector<double> start = q;
  const int motor = model->joint(law.joints[0]).q, follower = model->joint(law.joints[1]).q;
  q[motor] = 0.5;
  EXPECT_GT(examine(*model, q).residual, 1e-3);
  q[motor] = 3e-6;
  EXPECT_EQ(close(*model, start, q).verdict, Verdict::closed);
  EXPECT_NEAR(q[follower], 1.5e-6, 1e-9);  // 1e-12 times the slope of a lever of a centimetre
}

}  // namespace
}  // namespace espalier::test::closure_test
