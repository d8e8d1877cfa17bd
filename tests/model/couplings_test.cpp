#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <functional>

#include "espalier/kernel/model/loops/constraint.hpp"
#include "tests/support/host.hpp"
#include "tests/support/simple_robot.hpp"

// Mimics and couplings: q = G y + offset of every cluster.

namespace espalier::test::couplings_test {
namespace {

using Types = std::vector<std::string>;

/// Five arms side by side on the ground, joints joint1 to joint5.
Description arms(int count = 5) {
  Description robot = ground();
  for (int i = 1; i <= count; ++i) {
    const std::string number = std::to_string(i);
    add_solid(robot, "link" + number);
    add_joint(robot, "joint" + number, "revolute", "base", "link" + number);
  }
  return robot;
}
JointDescription& joint(Description& robot, const std::string& name) {
  for (JointDescription& j : robot.joints)
    if (j.name == name) return j;
  throw UnknownName(name);
}
void couple(Description& robot, const std::string& name, const std::string& predecessor,
            const std::string& successor, double ratio) {
  robot.couplings.push_back({name, predecessor, successor, ratio, {"robot.test", 300}});
}

/// d q(dependent) / d q(independent), from the cluster's G.
double gain(const Model& model, const std::string& dependent, const std::string& independent) {
  const Joint &d = model.joint(dependent), &i = model.joint(independent);
  const Cluster& c = model.clusters()[model.body(d.body).cluster];
  if (model.body(i.body).cluster != model.body(d.body).cluster) return 0.0;
  EXPECT_GE(i.independent, 0) << independent;
  return c.G.at((d.v - c.spanning_v) * c.nv + i.independent - c.v);
}
double offset(const Model& model, const std::string& dependent) {
  const Joint& d = model.joint(dependent);
  const Cluster& c = model.clusters()[model.body(d.body).cluster];
  return c.offset.at(d.v - c.spanning_v);
}

/// The message with which compile() refuses; "" if it does not.
std::string refusal(const Description& robot) {
  try {
    host().compile(robot);
  } catch (const InvalidModel& error) {
    return error.what();
  }
  return "";
}
void expect_refused(const Description& robot, const std::vector<std::string>& parts) {
  const std::string text = refusal(robot);
  for (const std::string& part : parts) {
    EXPECT_NE(text.find(part), std::string::npos) << "'" << text << "' lacks '" << part << "'";
  }
}

TEST(MimicTest, FollowsItsJointWithMultiplierAndOffset) {
  Description robot = arms();
  joint(robot, "joint2").mimic = Mimic{"joint4", -2.0, 0.5};
  const ModelPtr model = host().compile(robot);
  EXPECT_EQ(model->nv(), 4);
  EXPECT_EQ(model->joint("joint2").independent, -1);
  EXPECT_EQ(gain(*model, "joint2", "joint4"), -2.0);
  EXPECT_EQ(offset(*model, "joint2"), 0.5);
  EXPECT_EQ(offset(*model, "joint4"), 0.0);
  EXPECT_FALSE(model->is_tree());
  EXPECT_EQ(model->first_constrained()->constraints, Types{"mimic of joint2"});
}

TEST(MimicTest, IsFreeWhenIgnored) {
  Description robot = arms();
  joint(robot, "joint2").mimic = Mimic{"joint4", -2.0, 0.5};
  CompileOptions options;
  options.mimic = CompileOptions::MimicRule::ignore;
  const ModelPtr model = host().compile(robot, options);
  EXPECT_EQ(model->nv(), 5);
  EXPECT_TRUE(model->is_tree());
}

TEST(MimicTest, SeveralMayFollowOneJoint) {
  Description robot = arms();
  joint(robot, "joint1").mimic = Mimic{"joint3", 2.0, 0.0};
  joint(robot, "joint5").mimic = Mimic{"joint3", 3.0, 1.0};
  const ModelPtr model = host().compile(robot);
  EXPECT_EQ(model->nv(), 3);
  EXPECT_EQ(gain(*model, "joint1", "joint3"), 2.0);
  EXPECT_EQ(gain(*model, "joint5", "joint3"), 3.0);
  EXPECT_EQ(offset(*model, "joint5"), 1.0);
}

TEST(MimicTest, OfAMimicIsRefusedNamingTheOneToMimic) {
  Description robot = arms();
  joint(robot, "joint1").mimic = Mimic{"joint2"};
  joint(robot, "joint2").mimic = Mimic{"joint3"};
  expect_refused(robot, {"joint 'joint1'", "'joint2'", "'joint3'", "robot.test:"});
}

TEST(MimicTest, OfItselfIsRefused) {
  Description robot = arms();
  joint(robot, "joint1").mimic = Mimic{"joint1"};
  expect_refused(robot, {"joint 'joint1'", "mimics itself"});
}

TEST(MimicTest, OfAnUnknownJointListsTheKnownOnes) {
  Description robot = arms(2);
  joint(robot, "joint1").mimic = Mimic{"elbow"};
  expect_refused(robot, {"joint 'joint1'", "'elbow'", "unknown", "'joint1', 'joint2'"});
}

TEST(MimicTest, MultiplierMustBeANumberOtherThanZero) {
  for (const double bad : {0.0, std::nan("")}) {
    Description robot = arms();
    joint(robot, "joint1").mimic = Mimic{"joint2", bad, 0.0};
    expect_refused(robot, {"joint 'joint1'", "multiplier"});
  }
}

TEST(MimicTest, OffsetMustBeFinite) {
  Description robot = arms();
  joint(robot, "joint1").mimic = Mimic{"joint2", 1.0, std::nan("")};
  expect_refused(robot, {"joint 'joint1'", "offset is"});
}

TEST(MimicTest, OfAJointThatDoesNotMoveIsRefused) {
  Description robot = arms();
  joint(robot, "joint2").type = "fixed";
  joint(robot, "joint1").mimic = Mimic{"joint2", 1.0, 0.3};
  expect_refused(robot, {"joint 'joint1'", "'joint2'", "fixed"});
}

TEST(MimicTest, OnAFixedJointMeansNothing) {
  Description robot = arms();
  joint(robot, "joint1").type = "fixed";
  joint(robot, "joint1").mimic = Mimic{"joint2", 1.0, 0.3};
  EXPECT_EQ(host().compile(robot)->nv(), 4);
}

TEST(MimicTest, OfAJointOfSeveralRatesIsRefusedNamingIt) {
  Description robot = arms();
  joint(robot, "joint2").type = "spherical";
  joint(robot, "joint1").mimic = Mimic{"joint2"};
  expect_refused(robot, {"'joint2'", "'spherical'", "one rate"});
}

TEST(CouplingTest, GearTiesTheSuccessorToRatioTimesThePredecessor) {
  Description robot = arms();
  couple(robot, "gear", "link1", "link2", 6.0);
  const ModelPtr model = host().compile(robot);
  EXPECT_EQ(model->nv(), 4);
  EXPECT_EQ(gain(*model, "joint2", "joint1"), 6.0);
  EXPECT_EQ(offset(*model, "joint2"), 0.0);
}

TEST(CouplingTest, DeclaredIndependentJointsAreKept) {
  Description robot = arms();
  couple(robot, "gear", "link1", "link2", 4.0);
  joint(robot, "joint2").independent = true;
  joint(robot, "joint1").independent = false;
  const ModelPtr model = host().compile(robot);
  EXPECT_EQ(model->joint("joint1").independent, -1);
  EXPECT_EQ(gain(*model, "joint1", "joint2"), 0.25);
}

/// hip - thigh - shin - foot, and a rotor on the hip.
Description leg() {
  Description robot = ground();
  for (const char* name : {"hip", "thigh", "shin", "foot", "rotor"}) add_solid(robot, name);
  add_joint(robot, "hip_joint", "revolute", "base", "hip");
  add_joint(robot, "thigh_joint", "revolute", "hip", "thigh");
  add_joint(robot, "knee", "revolute", "thigh", "shin");
  add_joint(robot, "ankle", "revolute", "shin", "foot");
  add_joint(robot, "rotor_joint", "revolute", "thigh", "rotor");
  return robot;
}

TEST(CouplingTest, SumsRunFromTheNearestCommonAncestor) {
  // 12 (knee + ankle) = rotor: the joints above the thigh are no part of it.
  Description robot = leg();
  couple(robot, "belt", "foot", "rotor", 12.0);
  const ModelPtr model = host().compile(robot);
  EXPECT_EQ(model->nv(), 4);
  EXPECT_EQ(gain(*model, "rotor_joint", "knee"), 12.0);
  EXPECT_EQ(gain(*model, "rotor_joint", "ankle"), 12.0);
  EXPECT_EQ(gain(*model, "rotor_joint", "hip_joint"), 0.0);
}

TEST(CouplingTest, PairsOfBeltsAreSolvedTogether) {
  // 6 knee = rotor and 12 (knee + ankle) = second rotor, rotors independent:
  // knee = r1 / 6, ankle = r2 / 12 - r1 / 6.
  Description robot = leg();
  add_solid(robot, "rotor2");
  add_joint(robot, "rotor2_joint", "revolute", "thigh", "rotor2");
  couple(robot, "knee_belt", "shin", "rotor", 6.0);
  couple(robot, "ankle_belt", "foot", "rotor2", 12.0);
  for (const char* name : {"knee", "ankle"}) joint(robot, name).independent = false;
  for (const char* name : {"rotor_joint", "rotor2_joint"}) joint(robot, name).independent = true;
  const ModelPtr model = host().compile(robot);
  EXPECT_EQ(model->nv(), 4);
  constexpr double rounding = 1e-16;  // one division
  EXPECT_NEAR(gain(*model, "knee", "rotor_joint"), 1 / 6.0, rounding);
  EXPECT_NEAR(gain(*model, "knee", "rotor2_joint"), 0.0, rounding);
  EXPECT_NEAR(gain(*model, "ankle", "rotor_joint"), -1 / 6.0, rounding);
  EXPECT_NEAR(gain(*model, "ankle", "rotor2_joint"), 1 / 12.0, rounding);
}

TEST(CouplingTest, ChainsOfGearsMultiply) {
  Description robot = arms();
  for (int i = 1; i < 5; ++i) {
    couple(robot, "gear" + std::to_string(i), "link" + std::to_string(i),
           "link" + std::to_string(i + 1), i + 1.0);
  }
  const ModelPtr model = host().compile(robot);
  EXPECT_EQ(model->nv(), 1);
  EXPECT_EQ(model->coordinates()[0].joint, "joint1");
  EXPECT_EQ(gain(*model, "joint5", "joint1"), 120.0);  // small whole numbers: exact
}

TEST(CouplingTest, OffsetsOfMimicsRunThroughGears) {
  Description robot = arms();
  joint(robot, "joint2").mimic = Mimic{"joint1", 2.0, 0.5};
  couple(robot, "gear", "link2", "link3", 3.0);
  const ModelPtr model = host().compile(robot);
  EXPECT_EQ(gain(*model, "joint3", "joint1"), 6.0);
  EXPECT_EQ(offset(*model, "joint3"), 1.5);
}

TEST(CouplingTest, PathFromTheAncestorItselfStopsTheSum) {
  // The predecessor is the ancestor: 0 = knee + ankle.
  Description robot = leg();
  couple(robot, "parallel", "thigh", "foot", 1.0);
  const ModelPtr model = host().compile(robot);
  EXPECT_EQ(gain(*model, "knee", "ankle"), -1.0);
}

TEST(CouplingTest, RedundantOnesAreTaken) {
  Description robot = arms();
  couple(robot, "a", "link1", "link2", 3.0);
  couple(robot, "b", "link2", "link3", 1.0 / 3.0);
  couple(robot, "c", "link1", "link3", 1.0);
  const ModelPtr model = host().compile(robot);
  EXPECT_EQ(model->nv(), 3);
  EXPECT_NEAR(gain(*model, "joint3", "joint1"), 1.0, 1e-15);
}

TEST(CouplingTest, ContradictingOffsetsAreRefusedNamingTheCoupling) {
  Description robot = arms();
  couple(robot, "same", "link1", "link2", 1.0);
  joint(robot, "joint2").mimic = Mimic{"joint1", 1.0, 0.5};
  expect_refused(robot, {"'same'", "contradicts"});
}

TEST(CouplingTest, ThatLeavesNoFreedomIsRefusedNamingIt) {
  Description robot = arms();
  couple(robot, "a", "link1", "link2", 2.0);
  couple(robot, "b", "link1", "link2", 3.0);
  expect_refused(robot, {"'a'", "no freedom"});
}

TEST(CouplingTest, AllJointsDeclaredIndependentAreRefusedByName) {
  Description robot = arms();
  couple(robot, "gear", "link1", "link2", 2.0);
  joint(robot, "joint1").independent = true;
  joint(robot, "joint2").independent = true;
  expect_refused(robot, {"'gear'", "'joint1'", "'joint2'", "independent"});
}

TEST(CouplingTest, MoreDependentJointsThanEquationsAreRefusedByName) {
  Description robot = arms();
  couple(robot, "gear", "link1", "link2", 2.0);
  joint(robot, "joint1").independent = false;
  joint(robot, "joint2").independent = false;
  expect_refused(robot, {"joint 'joint1'", "dependent", "no coupling determines it"});
}

TEST(CouplingTest, RatioMustBeANumberOtherThanZero) {
  for (const double bad : {0.0, std::nan(""), HUGE_VAL}) {
    Description robot = arms();
    couple(robot, "gear", "link1", "link2", bad);
    expect_refused(robot, {"coupling 'gear'", "ratio", "robot.test:300"});
  }
}

TEST(CouplingTest, UnknownLinksListTheKnownOnes) {
  Description robot = arms(1);
  couple(robot, "gear", "link1", "hand", 2.0);
  expect_refused(robot, {"coupling 'gear'", "successor link 'hand'", "'base', 'link1'"});
}

TEST(CouplingTest, OfALinkWithItselfIsRefused) {
  Description robot = arms();
  couple(robot, "gear", "link1", "link1", 2.0);
  expect_refused(robot, {"coupling 'gear'", "no joint lies between"});
}

TEST(CouplingTest, OfJointsOfSeveralRatesIsRefusedNamingTheJoint) {
  Description robot = arms();
  joint(robot, "joint2").type = "cylindrical";
  couple(robot, "gear", "link1", "link2", 2.0);
  expect_refused(robot, {"coupling 'gear'", "joint 'joint2'", "'cylindrical'"});
}

TEST(CouplingTest, NamedLikeAnotherConstraintIsRefused) {
  Description robot = arms();
  couple(robot, "gear", "link1", "link2", 2.0);
  couple(robot, "gear", "link3", "link4", 2.0);
  expect_refused(robot, {"'gear'", "given twice"});
}

TEST(CouplingTest, BodiesOfAClusterAreNeighbours) {
  Description robot = arms(9);
  couple(robot, "outer", "link1", "link9", 2.0);
  couple(robot, "inner", "link3", "link6", 3.0);
  const ModelPtr model = host().compile(robot);
  int next = 1, constrained = 0;
  for (const Cluster& c : model->clusters()) {
    EXPECT_EQ(c.first, next);
    for (int i = c.first; i < c.first + c.count; ++i) {
      EXPECT_EQ(&model->clusters()[model->body(i).cluster], &c);
    }
    next += c.count;
    constrained += c.constrained;
    if (c.constrained) {
      EXPECT_EQ(c.G.size(), 2u);
    }
  }
  EXPECT_EQ(constrained, 2);
}

TEST(CouplingTest, ApplyCouplingsSetsDependentPositions) {
  Description robot = arms();
  joint(robot, "joint2").mimic = Mimic{"joint1", 2.0, 0.5};
  couple(robot, "gear", "link3", "link5", -3.0);
  const ModelPtr model = host().compile(robot);
  std::vector<double> q(model->nq(), 0.0);
  const auto at = [&](const char* name) -> double& { return q[model->joint(name).q]; };
  at("joint1") = 0.1, at("joint3") = 0.2, at("joint4") = 0.7;
  model->apply_couplings(q.data());
  EXPECT_DOUBLE_EQ(at("joint2"), 0.7);
  EXPECT_DOUBLE_EQ(at("joint5"), -0.6);
  EXPECT_EQ(at("joint1"), 0.1);
  EXPECT_EQ(at("joint4"), 0.7);
  model->neutral(q.data());
  EXPECT_EQ(at("joint2"), 0.5);
}

// --- many of them
// -----------------------------------------------------------------------------------

/// Processor time of compiling [s], the least of three.
double seconds(const Description& robot) {
  double least = 1e9;
  for (int k = 0; k < 3; ++k) {
    const std::clock_t start = std::clock();
    host().compile(robot);
    least = std::min(least, static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);
  }
  return least;
}

/// Expects four times as many to take about four times as long: squares would take sixteen times,
/// cubes sixty-four; memory that no longer fits a cache may double it.
void expect_linear(const std::function<Description(int)>& robot, int count) {
  const double small = seconds(robot(count)), large = seconds(robot(4 * count));
  EXPECT_LT(large, 10.0 * small) << small << " s and " << large << " s";
}

TEST(ManyCouplingsTest, MimicsOfOneJointAreCompiledInLinearTime) {
  expect_linear(
      [](int n) {
        Description robot = arms(n);
        for (int i = 1; i < n; ++i) robot.joints[i].mimic = Mimic{"joint1", 1.0 + i, 0.1};
        return robot;
      },
      400);
}

TEST(ManyCouplingsTest, ChainsAreCompiledInLinearTimeInEitherOrder) {
  for (const bool backwards : {false, true}) {
    expect_linear(
        [&](int n) {
          Description robot = arms(n);
          for (int k = 1; k < n; ++k) {
            const int i = backwards ? n - k : k;
            couple(robot, "gear" + std::to_string(i), "link" + std::to_string(i),
                   "link" + std::to_string(i + 1), 1.0);
          }
          return robot;
        },
        400);
  }
}

TEST(ManyCouplingsTest, ChainsMultiplyTheirRatios) {
  Description robot = arms(6);
  for (int i = 5; i >= 1; --i) {  // each is solved before what it follows
    couple(robot, "gear" + std::to_string(i), "link" + std::to_string(i),
           "link" + std::to_string(i + 1), i + 1.0);
  }
  const ModelPtr model = host().compile(robot);
  EXPECT_EQ(model->nv(), 1);
  EXPECT_DOUBLE_EQ(gain(*model, "joint6", "joint1"), 720.0);
}

TEST(ManyCouplingsTest, RatiosOfABillionAreRatios) {
  Description robot = arms(2);
  couple(robot, "gear", "link1", "link2", 1e9);
  joint(robot, "joint2").independent = false;
  const ModelPtr model = host().compile(robot);
  EXPECT_DOUBLE_EQ(gain(*model, "joint2", "joint1"), 1e9);
}

TEST(ManyCouplingsTest, LoopsThatSayOneThingAThousandTimesAreOne) {
  const auto robot = [](int n) {
    Description r = ground();
    for (const char* name : {"crank", "rocker", "coupler"}) add_solid(r, name);
    add_joint(r, "a", "revolute", "base", "crank").independent = true;
    add_joint(r, "b", "revolute", "base", "rocker", {0, 0, 1}, {{1, 0, 0}, {0, 0, 0}});
    add_joint(r, "c", "revolute", "crank", "coupler", {0, 0, 1}, {{0.3, 0, 0}, {0, 0, 1}});
    for (int k = 0; k < n; ++k) {
      LoopDescription pin;
      pin.name = "pin" + std::to_string(k), pin.type = "revolute", pin.axis = {0, 0, 1};
      pin.predecessor = "coupler", pin.successor = "rocker";
      pin.predecessor_origin.xyz = {0.9, 0, 0}, pin.successor_origin.xyz = {0.6, 0, 0};
      r.loops.push_back(pin);
    }
    return r;
  };
  const ModelPtr model = host().compile(robot(1000));
  EXPECT_EQ(model->nv(), 1);
  EXPECT_EQ(model->clusters()[0].constraint->rows(), 2);
  expect_linear(robot, 200);
}

}  // namespace
}  // namespace espalier::test::couplings_test
