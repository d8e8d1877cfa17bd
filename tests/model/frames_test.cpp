#include <gtest/gtest.h>

#include <Eigen/Geometry>
#include <map>

#include "espalier/kernel/model/joint.hpp"
#include "tests/support/host.hpp"
#include "tests/support/random_robot.hpp"
#include "tests/support/simple_robot.hpp"
#include "tests/support/state.hpp"

// Where the compiler puts frames: against a naive product of the file's placements.

namespace espalier::test::frames_test {
namespace {

constexpr double rounding = 1e-13;  // a few dozen products of rotations

using Types = std::vector<std::string>;

Eigen::Isometry3d isometry(const Transform<double>& X) {
  Eigen::Isometry3d P = Eigen::Isometry3d::Identity();
  for (int i = 0; i < 3; ++i) {
    P.translation()[i] = X.r[i];
    for (int j = 0; j < 3; ++j) P.linear()(j, i) = X.E(i, j);
  }
  return P;
}
double apart(const Eigen::Isometry3d& a, const Eigen::Isometry3d& b) {
  return (a.matrix() - b.matrix()).cwiseAbs().maxCoeff();
}

/// As URDF defines it: fixed-axis roll, pitch, yaw.
Eigen::Isometry3d placement(const Pose& pose) {
  Eigen::Isometry3d P = Eigen::Isometry3d::Identity();
  P.translate(Eigen::Vector3d(pose.xyz.x, pose.xyz.y, pose.xyz.z));
  P.rotate(Eigen::AngleAxisd(pose.rpy.z, Eigen::Vector3d::UnitZ()));
  P.rotate(Eigen::AngleAxisd(pose.rpy.y, Eigen::Vector3d::UnitY()));
  P.rotate(Eigen::AngleAxisd(pose.rpy.x, Eigen::Vector3d::UnitX()));
  return P;
}

/// Motion of URDF's joint types, and of a quaternion.
Eigen::Isometry3d motion(const JointDescription& joint, const double* q) {
  const Eigen::Vector3d axis =
      Eigen::Vector3d(joint.axis.x, joint.axis.y, joint.axis.z).normalized();
  Eigen::Isometry3d P = Eigen::Isometry3d::Identity();
  if (joint.type == "revolute" || joint.type == "continuous") {
    P.rotate(Eigen::AngleAxisd(q[0], axis));
  } else if (joint.type == "prismatic") {
    P.translate(q[0] * axis);
  } else if (joint.type == "spherical") {
    P.rotate(Eigen::Quaterniond(q[3], q[0], q[1], q[2]));
  } else if (joint.type == "floating") {
    P.translate(Eigen::Vector3d(q[0], q[1], q[2]));
    P.rotate(Eigen::Quaterniond(q[6], q[3], q[4], q[5]));
  }
  return P;
}

/// Placement of every link in the world, by the file's own tree.
std::map<std::string, Eigen::Isometry3d> naive(const Description& robot, const Model& model,
                                               const std::vector<double>& q) {
  std::map<std::string, Eigen::Isometry3d> world{
      {robot.links.front().name, Eigen::Isometry3d::Identity()}};
  while (world.size() < robot.links.size()) {
    for (const JointDescription& joint : robot.joints) {
      if (!world.contains(joint.parent) || world.contains(joint.child)) continue;
      const Joint* moving = model.find_joint(joint.name);
      world[joint.child] = world[joint.parent] * placement(joint.origin) *
                           motion(joint, moving == nullptr ? nullptr : q.data() + moving->q);
    }
  }
  return world;
}

TEST(FramesTest, EveryLinkIsWhereTheFileSays) {
  for (unsigned long long seed = 1; seed <= 30; ++seed) {
    RobotOptions options;
    options.bodies = 1 + static_cast<int>(seed);
    options.seed = seed;
    options.types = {"revolute", "continuous", "prismatic", "spherical", "floating"};
    options.welded = 0.5;
    const Description robot = random_robot(host().registry(), options);
    const ModelPtr model = host().compile(robot);
    const State s = random_state(*model, seed);
    const auto wanted = naive(robot, *model, s.q);
    const auto kinematics = any<Kinematics<double>>(model);
    kinematics->evaluate(s.q, s.v, s.vdot);
    for (const Link& link : model->links()) {
      EXPECT_LE(apart(isometry(kinematics->placement(link)), wanted.at(link.name)), rounding)
          << link.name << " of " << robot.name;
    }
  }
}

TEST(FramesTest, NeutralPutsLinksOfAllJointTypesOnTheirJointFrames) {
  for (unsigned long long seed = 1; seed <= 10; ++seed) {
    RobotOptions options;
    options.seed = seed;
    const Description robot = random_robot(host().registry(), options);
    const ModelPtr model = host().compile(robot);
    State s = random_state(*model, seed);
    model->neutral(s.q.data());
    Description still = robot;
    for (JointDescription& joint : still.joints) joint.type = "fixed";
    const auto wanted = naive(still, *model, s.q);
    const auto kinematics = any<Kinematics<double>>(model);
    kinematics->evaluate(s.q, s.v, s.vdot);
    for (const Link& link : model->links()) {
      EXPECT_LE(apart(isometry(kinematics->placement(link)), wanted.at(link.name)), rounding)
          << link.name;
    }
  }
}

TEST(FramesTest, OriginsAlongCoordinateAxesKeepTheirZerosAndOnes) {
  // Right angles in the file, coordinate axes: no rounding is left in any placement.
  constexpr double quarter = 1.5707963267948966;
  for (const Vec3<double>& axis :
       {Vec3<double>{1, 0, 0}, Vec3<double>{-1, 0, 0}, Vec3<double>{0, 1, 0},
        Vec3<double>{0, -1, 0}, Vec3<double>{0, 0, 1}, Vec3<double>{0, 0, -1}}) {
    Description robot = ground();
    add_solid(robot, "a");
    add_solid(robot, "b");
    add_joint(robot, "first", "revolute", "base", "a", axis, {{1, 2, 3}, {quarter, 0, -quarter}});
    add_joint(robot, "second", "prismatic", "a", "b", axis, {{1, 2, 3}, {0, quarter, 2 * quarter}});
    const ModelPtr model = host().compile(robot);
    for (int i = 1; i <= 2; ++i) {
      for (int r = 0; r < 3; ++r) {
        for (int c = 0; c < 3; ++c) {
          const double e = model->body(i).placement.E(r, c);
          EXPECT_TRUE(e == 0.0 || e == 1.0 || e == -1.0) << e;
        }
      }
    }
    // The body's z axis is the joint's axis, in link coordinates.
    const Vec3<double> z = model->link("a").X.E.column(2);
    for (int k = 0; k < 3; ++k) EXPECT_EQ(z[k], axis[k]);
  }
}

TEST(FramesTest, TurningOntoZIsAProperRotationForEveryAxis) {
  Rng rng(1);
  for (int sample = 0; sample < 1000; ++sample) {
    Vec3<double> axis = rng.direction();
    if (sample % 3 == 0) {  // nearly along a coordinate axis
      axis = {1e-9, -1e-9, 0};
      axis[sample % 2] = sample % 4 == 0 ? 1.0 : -1.0;
      axis = scale(1.0 / std::sqrt(dot(axis, axis)), axis);
    }
    const Mat3<double> E = turn_onto_z(axis);
    const Vec3<double> z = E * axis;
    EXPECT_NEAR(z.x, 0.0, 1e-15);
    EXPECT_NEAR(z.y, 0.0, 1e-15);
    EXPECT_NEAR(z.z, 1.0, 1e-15);
    const Vec3<double> right = cross(E.row[0], E.row[1]);
    for (int k = 0; k < 3; ++k) EXPECT_NEAR(right[k], E.row[2][k], 1e-15);
  }
}

// --- fixed joints -------------------------------------------------------------------------------

TEST(FixedJointTest, ChainsOfWeldsBecomeOneBodyWithTheSumOfMasses) {
  const Description robot =
      chain_of(Types{"fixed", "revolute", "fixed", "fixed", "revolute", "fixed"});
  const ModelPtr model = host().compile(robot);
  EXPECT_EQ(model->body_count(), 2);
  EXPECT_EQ(model->nv(), 2);
  EXPECT_EQ(model->link("base").body, 0);
  EXPECT_EQ(model->link("link1").body, 0);  // welded to the ground
  for (const char* name : {"link2", "link3", "link4"}) EXPECT_EQ(model->link(name).body, 1) << name;
  for (const char* name : {"link5", "link6"}) EXPECT_EQ(model->link(name).body, 2) << name;
  EXPECT_EQ(model->body(0).inertia.m, 1.0);
  EXPECT_EQ(model->body(1).inertia.m, 3.0);
  EXPECT_EQ(model->body(2).inertia.m, 2.0);
  EXPECT_EQ(model->mass(), 5.0);  // the ground does not move
  EXPECT_EQ(model->link("link3").mass, 1.0);
}

TEST(FixedJointTest, AreNoJointsOfTheModel) {
  const ModelPtr model = host().compile(chain_of(Types{"fixed", "revolute"}));
  EXPECT_EQ(model->find_joint("joint1"), nullptr);
  ASSERT_NE(model->find_joint("joint2"), nullptr);
}

TEST(FixedJointTest, InertiaIsTheSumAboutTheBodysOrigin) {
  // Two unit masses 2 m apart on the joint's z axis: 1 * 0² + 1 * 2² about x and y.
  Description robot = ground();
  add_link(robot, "a", 1.0, {0, 0, 0}, {0.1, 0, 0, 0.1, 0, 0.1});
  add_link(robot, "b", 1.0, {0, 0, 0}, {0.2, 0, 0, 0.2, 0, 0.2});
  add_joint(robot, "turn", "revolute", "base", "a");
  add_joint(robot, "weld", "fixed", "a", "b", {0, 0, 1}, {{0, 0, 2}, {0, 0, 0.7}});
  const ModelPtr model = host().compile(robot);
  const RigidInertia<double>& I = model->body(1).inertia;
  EXPECT_EQ(I.m, 2.0);
  EXPECT_EQ(I.h.z, 2.0);
  EXPECT_NEAR(I.I.xx, 4.3, rounding);
  EXPECT_NEAR(I.I.yy, 4.3, rounding);
  EXPECT_NEAR(I.I.zz, 0.3, rounding);
}

TEST(FixedJointTest, LoopsOfWeldsThatMeetAreFolded) {
  Description robot = chain_of(Types{"revolute", "fixed"});
  add_solid(robot, "extra");
  add_joint(robot, "to_extra", "fixed", "link1", "extra", {0, 0, 1}, {{1, 0, 0}, {0, 0, 0.5}});
  // The way back is the product of the two placements.
  const Transform<double> there = robot.joints[1].origin.transform();
  const Transform<double> extra = robot.joints[2].origin.transform();
  add_joint(robot, "back", "fixed", "link2", "extra", {0, 0, 1},
            Pose::from(extra * there.inverse()));
  const ModelPtr model = host().compile(robot);
  EXPECT_EQ(model->body_count(), 1);
  EXPECT_EQ(model->body(1).inertia.m, 3.0);
}

TEST(FixedJointTest, LoopsOfWeldsThatDoNotMeetAreRefusedOnce) {
  Description robot = chain_of(Types{"revolute", "fixed"});
  add_solid(robot, "extra");
  add_joint(robot, "to_extra", "fixed", "link1", "extra");
  add_joint(robot, "back", "fixed", "link2", "extra");
  const auto findings = diagnose(robot, host().registry());
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_NE(findings[0].text.find("do not meet"), std::string::npos) << findings[0].text;
  EXPECT_THROW(host().compile(robot), InvalidModel);
}

TEST(FixedJointTest, MovingJointBetweenWeldedLinksIsRefused) {
  Description robot = chain_of(Types{"revolute", "fixed"});
  add_joint(robot, "inside", "revolute", "link2", "link1");
  try {
    host().compile(robot);
    FAIL() << "expected InvalidModel";
  } catch (const InvalidModel& error) {
    for (const char* part : {"joint 'inside'", "'link2'", "'link1'", "welded together"}) {
      EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
    }
  }
}

TEST(FixedJointTest, WeldBetweenTwoMovingLinksClosesALoop) {
  Description robot = ground();
  add_solid(robot, "a");
  add_solid(robot, "b");
  add_joint(robot, "to_a", "prismatic", "base", "a", {0, 0, 1}, {{1, 0, 0}, {0, 0, 0}});
  add_joint(robot, "to_b", "prismatic", "base", "b", {0, 0, 1}, {{-1, 0, 0}, {0, 0, 0}});
  add_joint(robot, "weld", "fixed", "a", "b", {0, 0, 1}, {{-2, 0, 0}, {0, 0, 0}});
  const ModelPtr model = host().compile(robot);
  EXPECT_EQ(model->body_count(), 1);
  ASSERT_EQ(model->clusters().size(), 1u);
  EXPECT_TRUE(model->clusters()[0].implicit);
  // Whichever joint the body hangs on, both links are where the file puts them.
  const Joint& joint = model->joints()[0];
  const Transform<double> X = model->body(1).placement;
  for (const char* name : {"a", "b"}) {
    const Transform<double> world = model->link(name).X * X;
    EXPECT_NEAR(world.r.x, name[0] == 'a' ? 1.0 : -1.0, rounding) << name << " on " << joint.name;
    EXPECT_NEAR(world.E(0, 0), 1.0, rounding);
  }
}

// --- lookup and layout --------------------------------------------------------------------------

TEST(ModelTest, BodiesAreInRegularNumbering) {
  RobotOptions options;
  options.bodies = 60;
  Description robot = random_robot(host().registry(), options);
  Rng rng(3);
  rng.shuffle(robot.joints);
  rng.shuffle(robot.links);
  const ModelPtr model = host().compile(robot);
  int q = 0, v = 0;
  for (int i = 1; i <= model->body_count(); ++i) {
    const Body& body = model->body(i);
    EXPECT_LT(body.parent, i);
    EXPECT_EQ(body.q, q);
    EXPECT_EQ(body.v, v);
    EXPECT_EQ(model->joints()[body.joint].body, i);
    const BodyRun& run = model->runs()[body.run];
    EXPECT_GE(i, run.first);
    EXPECT_LT(i, run.first + run.count);
    EXPECT_EQ(run.q + (i - run.first) * run.nq, q);
    q += body.nq, v += body.nv;
  }
  EXPECT_EQ(model->nq(), q);
  EXPECT_EQ(model->spanning_nv(), v);
}

TEST(ModelTest, CoordinatesCoverAllRatesInOrder) {
  RobotOptions options;
  options.bodies = 30;
  const ModelPtr model = host().compile(random_robot(host().registry(), options));
  int next = 0;
  for (const Coordinate& c : model->coordinates()) {
    EXPECT_EQ(c.start, next);
    EXPECT_EQ(c.size, model->joint(c.joint).nv);
    EXPECT_EQ(model->joint(c.joint).independent, c.start);
    next += c.size;
  }
  EXPECT_EQ(next, model->nv());
}

TEST(ModelTest, ExpandedParentsChainTheRatesOfAJoint) {
  const ModelPtr model = host().compile(chain_of(Types{"floating", "universal", "revolute"}));
  const std::vector<int> parents(model->rate_parents().begin(), model->rate_parents().end());
  EXPECT_EQ(parents, (std::vector<int>{-1, 0, 1, 2, 3, 4, 5, 6, 7}));
}

TEST(ModelTest, LooksUpByName) {
  const ModelPtr model = host().compile(chain_of(Types{"revolute", "fixed", "prismatic"}));
  EXPECT_EQ(model->joint("joint3").type, "prismatic");
  EXPECT_EQ(model->link("link3").name, "link3");
  EXPECT_EQ(model->find_link("nothing"), nullptr);
  EXPECT_EQ(model->find_joint(""), nullptr);
}

TEST(ModelTest, UnknownNamesListTheKnownOnes) {
  const ModelPtr model = host().compile(chain_of(Types{"revolute", "prismatic"}));
  const auto message = [](auto&& f) -> std::string {
    try {
      f();
    } catch (const UnknownName& error) {
      return error.what();
    }
    return "nothing thrown";
  };
  EXPECT_EQ(message([&] { model->joint("elbow"); }),
            "robot 'tested': joint 'elbow' is unknown, expected one of 'joint1', 'joint2'");
  EXPECT_EQ(message([&] { model->link("hand"); }),
            "robot 'tested': link 'hand' is unknown, expected one of 'base', 'link1', 'link2'");
}

TEST(ModelTest, KeepsGravityLimitsFrictionAndArmature) {
  Description robot = chain_of(Types{"revolute", "universal"});
  robot.gravity = {1, 2, 3};
  robot.joints[0].limits = {-0.5, 0.75, 2.0, 10.0};
  robot.joints[0].passive = {0.1, 0.2, 0.3, 0.4};
  robot.joints[1].armature = 0.25;
  const ModelPtr model = host().compile(robot);
  EXPECT_EQ(model->gravity().y, 2.0);
  const Joint& joint = model->joint("joint1");
  EXPECT_EQ(joint.limits.lower, -0.5);
  EXPECT_EQ(joint.limits.upper, 0.75);
  EXPECT_EQ(joint.limits.velocity, 2.0);
  EXPECT_EQ(joint.limits.effort, 10.0);
  EXPECT_EQ(joint.passive.damping, 0.1);
  EXPECT_EQ(joint.passive.friction, 0.2);
  EXPECT_EQ(joint.passive.stiffness, 0.3);
  EXPECT_EQ(joint.passive.rest, 0.4);
  using Armature = std::vector<std::pair<int, double>>;
  EXPECT_EQ(Armature(model->armature().begin(), model->armature().end()),
            (Armature{{1, 0.25}, {2, 0.25}}));
}

TEST(ModelTest, FloatingRootIsAJointNamedRoot) {
  CompileOptions options;
  options.root = CompileOptions::Root::floating;
  Description robot = chain_of(Types{"revolute"});
  robot.links[0].inertial = Inertial{{}, 2.0, {1, 0, 0, 1, 0, 1}};
  const ModelPtr model = host().compile(robot, options);
  EXPECT_EQ(model->nq(), 8);
  EXPECT_EQ(model->nv(), 7);
  EXPECT_EQ(model->joint("root").v, 0);
  EXPECT_EQ(model->joint("root").type, "floating");
  EXPECT_EQ(model->link("base").body, 1);
  EXPECT_EQ(model->body_names()[0], "world");
  EXPECT_EQ(model->mass(), 3.0);
}

}  // namespace
}  // namespace espalier::test::frames_test
