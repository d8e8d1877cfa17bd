#include <gtest/gtest.h>

#include "espalier/kernel/model/closure.hpp"
#include "espalier/kernel/model/loops/loop_projector.hpp"
#include "tests/support/four_bar.hpp"
#include "tests/support/host.hpp"
#include "tests/support/random_robot.hpp"
#include "tests/support/state.hpp"

// Spatial loops: chains of hinges whose tip is closed onto the ground by every type of joint.

namespace espalier::test::loop_joints_test {
namespace {

using Verdict = Closure::Verdict;

struct Closer {
  const char* type;
  int rows;               ///< degrees of freedom that it takes away
  bool point, direction;  ///< whether the origins meet, whether the axes stay parallel
};

/// Where the tip is at the positions of a chain.
Transform<double> tip_of(const ModelPtr& model, const std::vector<double>& q) {
  const auto kinematics = any<Kinematics<double>>(model);
  const std::vector<double> zero(model->nv(), 0.0);
  kinematics->evaluate(q, zero, zero);
  return kinematics->placement(model->links().back());
}

/// A chain of hinges about random axes, closed where it is at small angles.
struct ClosedChain {
  Description open, closed;
  Pose anchor;
  LoopDescription loop;

  ClosedChain(const std::string& type, int hinges, unsigned long long seed,
              Parameters parameters = {}) {
    Rng rng(seed);
    open = chain_of(std::vector<std::string>(hinges, "revolute"));
    for (JointDescription& joint : open.joints) {
      joint.axis = rng.direction();
      joint.origin = {rng.vec3(0.4), rng.vec3(0.5)};
    }
    const ModelPtr model = host().compile(open);
    anchor = Pose::from(tip_of(model, rng.vector(model->nq(), 0.3)));
    loop.name = "closer", loop.type = type, loop.axis = {0, 0, 1};
    loop.predecessor = "base", loop.successor = open.links.back().name;
    loop.predecessor_origin = anchor;
    loop.parameters = std::move(parameters);
    closed = open;
    closed.loops.push_back(loop);
  }
};

TEST(LoopJointsTest, EveryTypeClosesSpatialLoops) {
  for (const Closer& closer :
       {Closer{"revolute", 5, true, true}, Closer{"prismatic", 5, false, true},
        Closer{"cylindrical", 4, false, true}, Closer{"universal", 4, true, false},
        Closer{"spherical", 3, true, false}, Closer{"planar", 3, false, true},
        Closer{"fixed", 6, true, true}}) {
    for (const unsigned long long seed : {1, 2, 3}) {
      SCOPED_TRACE(std::string(closer.type) + " " + std::to_string(seed));
      Parameters parameters;
      if (std::string(closer.type) == "universal") parameters["axis2"] = {1, 0, 0};
      const ClosedChain chain(closer.type, 8, seed, parameters);
      const ModelPtr model = host().compile(chain.closed);
      EXPECT_EQ(model->nv(), 8 - closer.rows);
      // Along a random way of the independent joints, the tip is where the joint lets it be.
      std::vector<double> start(model->nq()), q;
      model->neutral(start.data());
      EXPECT_LT(examine(*model, start.data()).residual, 1e-10);
      Rng rng(seed + 100);
      q = start;
      for (const int rate : model->independent_rates()) {
        q[model->joint_of_rate(rate).q] += rng.uniform(-0.1, 0.1);
      }
      const std::vector<double> wanted = q;
      const Closure c = close(*model, start.data(), q.data());
      ASSERT_EQ(c.verdict, Verdict::closed) << c.text();
      for (const int rate : model->independent_rates()) {
        const int i = model->joint_of_rate(rate).q;
        EXPECT_EQ(q[i], wanted[i]);
      }
      const Transform<double> p = chain.anchor.transform(), s = tip_of(model, q);
      const double apart = std::sqrt(dot(s.r - p.r, s.r - p.r));
      const auto axis = [](const Transform<double>& X) {
        return transpose_times(X.E, Vec3<double>{0, 0, 1});
      };
      // Residuals of close() are below 1e-10 and speak of metres and sines.
      if (closer.point) {
        EXPECT_LT(apart, 1e-9);
      }
      if (closer.direction) {
        EXPECT_NEAR(dot(axis(p), axis(s)), 1.0, 1e-9);
      }
    }
  }
}

TEST(LoopJointsTest, RodKeepsItsLength) {
  const ClosedChain chain("rod", 6, 4, {{"length", {0.35}}});
  const ModelPtr model = host().compile(chain.closed);
  EXPECT_EQ(model->nv(), 5);
  for (const unsigned long long seed : {1, 2, 3, 4}) {
    std::vector<double> q(model->nq());
    model->random(seed, q.data());
    const Vec3<double> r = tip_of(model, q).r - chain.anchor.transform().r;
    EXPECT_NEAR(std::sqrt(dot(r, r)), 0.35, 1e-10);
  }
}

TEST(LoopJointsTest, TypesThatCannotCloseALoopAreRefused) {
  ClosedChain chain("revolute", 8, 1);
  chain.closed.loops[0].type = "floating";
  try {
    host().compile(chain.closed);
    FAIL() << "not refused";
  } catch (const InvalidModel& error) {
    EXPECT_NE(std::string(error.what()).find("expected a joint that can close a loop"),
              std::string::npos)
        << error.what();
  }
}

/// A four-bar whose coupler's end hangs on the rocker and, welded, on the coupler: one of the two
/// is cut.
Description two_parents(bool pin_first) {
  Description robot = four_bar();
  robot.loops.clear();
  add_link(robot, "end", 0.3, {0, 0.02, 0}, {1e-3, 0, 0, 1e-3, 0, 2e-3});
  JointDescription weld, pin;
  Description scratch = ground();
  weld = add_joint(scratch, "weld", "fixed", "coupler_link", "end", {0, 0, 1},
                   {{0.5, 0, 0}, {0, 0, 0}});
  pin = add_joint(scratch, "pin", "revolute", "rocker_link", "end", {0, 0, 1},
                  {{0.4, 0, 0}, {0, 0, 0}});
  pin.independent = false;
  robot.joints.push_back(pin_first ? pin : weld);
  robot.joints.push_back(pin_first ? weld : pin);
  return robot;
}

TEST(LoopJointsTest, LinkWithTwoParentsIsTheSameWhicheverIsListedFirst) {
  const FourBar bar;
  std::vector<double> answers[2];
  for (const bool pin_first : {false, true}) {
    const ModelPtr model = host().compile(two_parents(pin_first));
    ASSERT_EQ(model->nv(), 1);
    ASSERT_EQ(model->coordinates()[0].name, "crank");
    for (const double crank : {0.5, 1.5, -2.0}) {
      const FourBarAngles angles = solve(bar, crank, 1.0);
      std::vector<double> q(model->nq());
      q[model->joint("crank").q] = crank;
      q[model->joint("rocker").q] = angles.rocker;
      for (const char* name : {"coupler", "pin"}) {  // whichever of them is in the tree
        if (const Joint* joint = model->find_joint(name)) {
          q[joint->q] = std::string(name) == "coupler" ? angles.coupler
                                                       : crank + angles.coupler - angles.rocker;
        }
      }
      ASSERT_LT(examine(*model, q.data()).residual, 1e-10);
      std::vector<double> vdot(1);
      const std::vector<double> v{1.7}, tau{0.4};
      host().create<ForwardDynamics<double>>("dense", model)->evaluate(q, v, tau, vdot);
      answers[pin_first].push_back(vdot[0]);
    }
  }
  EXPECT_LT(relative_difference(answers[0], answers[1]), 1e-11) << "rounding of the closed form";
}

TEST(LoopProjectorTest, AgreesWithProject) {
  const ClosedChain chain("revolute", 8, 2);
  const ModelPtr model = host().compile(chain.closed);
  LoopProjector projector(model);
  Rng rng(3);
  for (int k = 0; k < 20; ++k) {
    std::vector<double> q(model->nq());
    model->random(k + 1, q.data());
    for (const Joint& joint : model->joints()) {
      if (joint.independent < 0) q[joint.q] += rng.uniform(-1e-3, 1e-3);
    }
    std::vector<double> other = q;
    projector.restart();
    const Closure a = projector.project(q.data()), b = project(*model, other.data());
    EXPECT_EQ(a.verdict, Verdict::closed) << a.text();
    EXPECT_EQ(b.verdict, Verdict::closed) << b.text();
    EXPECT_LT(largest_difference(q, other), 1e-9) << "tolerance 1e-12 over margins of 1e-2";
    EXPECT_LE(a.margin, b.margin * (1.0 + 1e-9)) << "a lower bound";
    EXPECT_GE(a.margin, b.margin / 8.0) << "by no more than the number of joints";
  }
}

TEST(LoopProjectorTest, SeesADeadPointThatWasPassedBetweenTwoCalls) {
  const FourBar bar{0.3, 0.5, 0.3, 0.5};
  const ModelPtr model = host().compile(four_bar(bar));
  LoopProjector projector(model);
  const auto at = [&](double crank) {  // of the parallelogram, through its flat pose at pi
    std::vector<double> q(3);
    q[model->joint("crank").q] = crank, q[model->joint("coupler").q] = -crank;
    q[model->joint("rocker").q] = crank;
    return q;
  };
  std::vector<double> before = at(3.1), after = at(3.2);
  EXPECT_EQ(projector.project(before.data()).verdict, Verdict::closed);
  const Closure c = projector.project(after.data());
  EXPECT_EQ(c.verdict, Verdict::branch_lost) << c.text();
  EXPECT_FALSE(c.cluster.empty());
  projector.restart();
  EXPECT_EQ(projector.project(after.data()).verdict, Verdict::closed) << "nothing to compare with";
  std::vector<double> flat = at(0.0);
  projector.restart();
  EXPECT_EQ(projector.project(flat.data()).verdict, Verdict::singular);
}

TEST(LoopProjectorTest, RefusesWhatDoesNotConverge) {
  const ModelPtr model = host().compile(four_bar({0.5, 0.2, 0.5, 0.5}));
  LoopProjector projector(model);
  std::vector<double> q(3);
  const FourBarAngles angles = solve({0.5, 0.2, 0.5, 0.5}, 1.5, 1.0);
  q[model->joint("crank").q] = 1.7;  // beyond the limit of 1.55
  q[model->joint("coupler").q] = angles.coupler, q[model->joint("rocker").q] = angles.rocker;
  EXPECT_EQ(projector.project(q.data()).verdict, Verdict::out_of_reach);
  q[0] = std::nan("");
  EXPECT_EQ(projector.project(q.data()).verdict, Verdict::out_of_reach);
}

}  // namespace
}  // namespace espalier::test::loop_joints_test
