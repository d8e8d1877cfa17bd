#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <map>

#include "tests/support/host.hpp"
#include "tests/support/random_robot.hpp"
#include "tests/support/state.hpp"

// The same robot, written down in other ways.

namespace espalier::test::invariance_test {
namespace {

// Sums in another order and composed placements: rounding of accelerations of order 1e3.
constexpr double agreed = 1e-9;

/// Numbers of every joint by name.
using ByJoint = std::map<std::string, std::vector<double>>;

ByJoint by_joint(const Model& model, const std::vector<double>& values, bool positions) {
  ByJoint out;
  for (const Joint& joint : model.joints()) {
    const int start = positions ? joint.q : joint.v, size = positions ? joint.nq : joint.nv;
    out[joint.name].assign(values.begin() + start, values.begin() + start + size);
  }
  return out;
}
std::vector<double> of_model(const Model& model, const ByJoint& values, bool positions) {
  std::vector<double> out(positions ? model.nq() : model.nv());
  for (const Joint& joint : model.joints()) {
    const std::vector<double>& from = values.at(joint.name);
    std::copy(from.begin(), from.end(), out.begin() + (positions ? joint.q : joint.v));
  }
  return out;
}

/// Accelerations of `model` in the state s of `other`, which has the same joints; in the order of
/// `other`.
std::vector<double> vdot_as(const ModelPtr& model, ForwardDynamics<double>& algorithm,
                            const Model& other, const State& s) {
  const auto q = of_model(*model, by_joint(other, s.q, true), true);
  const auto v = of_model(*model, by_joint(other, s.v, false), false);
  const auto tau = of_model(*model, by_joint(other, s.tau, false), false);
  std::vector<double> vdot(model->nv());
  const Wrenches<double> wrenches = s.wrenches(model);
  algorithm.evaluate(q, v, tau, vdot, &wrenches);
  return of_model(other, by_joint(*model, vdot, false), false);
}

/// Every algorithm gives the same for both descriptions of one robot.
void expect_same_dynamics(const Description& first, const Description& second,
                          unsigned long long seed) {
  const ModelPtr a = host().compile(first), b = host().compile(second);
  ASSERT_EQ(a->joints().size(), b->joints().size());
  State s = random_state(*a, seed);
  std::erase_if(s.wrenches_on, [&](const auto& w) { return b->find_link(w.first) == nullptr; });
  for (const auto& [name, algorithm] : every<ForwardDynamics<double>>(a)) {
    const auto there = host().create<ForwardDynamics<double>>(name, b);
    EXPECT_LE(relative_difference(vdot_as(b, *there, *a, s), vdot_as(a, *algorithm, *a, s)), agreed)
        << name << " on " << first.name;
  }
}

Description robot_of(unsigned long long seed, double welded = 0.4) {
  RobotOptions options;
  options.bodies = 3 + static_cast<int>(seed % 10);
  options.seed = seed;
  options.welded = welded;
  return random_robot(host().registry(), options);
}

TEST(InvarianceTest, OrderOfLinksAndJointsInTheFileDoesNotMatter) {
  for (unsigned long long seed = 1; seed <= 20; ++seed) {
    const Description robot = robot_of(seed);
    Description shuffled = robot;
    Rng rng(seed);
    rng.shuffle(shuffled.links);
    rng.shuffle(shuffled.joints);
    expect_same_dynamics(robot, shuffled, seed);
  }
}

// --- fixed joints folded by hand ----------------------------------------------------------------

Eigen::Matrix3d rotation(const Vec3<double>& rpy) {
  return (Eigen::AngleAxisd(rpy.z, Eigen::Vector3d::UnitZ()) *
          Eigen::AngleAxisd(rpy.y, Eigen::Vector3d::UnitY()) *
          Eigen::AngleAxisd(rpy.x, Eigen::Vector3d::UnitX()))
      .toRotationMatrix();
}
Eigen::Vector3d vector(const Vec3<double>& v) { return {v.x, v.y, v.z}; }

/// Placement of a child frame in its parent frame, in Eigen's terms.
Eigen::Isometry3d placement(const Pose& pose) {
  Eigen::Isometry3d P = Eigen::Isometry3d::Identity();
  P.linear() = rotation(pose.rpy);
  P.translation() = vector(pose.xyz);
  return P;
}
Pose pose_of(const Eigen::Isometry3d& P) {
  const Eigen::Matrix3d E = P.linear().transpose();
  Transform<double> X;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) X.E(i, j) = E(i, j);
  X.r = {P.translation().x(), P.translation().y(), P.translation().z()};
  return Pose::from(X);
}

/// Mass, centre of mass and inertia about it, in link axes.
struct Solid {
  double mass = 0.0;
  Eigen::Vector3d com = Eigen::Vector3d::Zero();
  Eigen::Matrix3d I = Eigen::Matrix3d::Zero();
};
Solid solid(const LinkDescription& link) {
  if (!link.inertial) return {};
  const Inertial& in = *link.inertial;
  Eigen::Matrix3d I;
  I << in.I.xx, in.I.xy, in.I.xz, in.I.xy, in.I.yy, in.I.yz, in.I.xz, in.I.yz, in.I.zz;
  const Eigen::Matrix3d R = rotation(in.origin.rpy);
  return {in.mass, vector(in.origin.xyz), R * I * R.transpose()};
}
Solid joined(const Solid& a, const Solid& b) {
  const double mass = a.mass + b.mass;
  if (mass == 0.0) return {};
  const Eigen::Vector3d com = (a.mass * a.com + b.mass * b.com) / mass;
  const auto about = [&](const Solid& s) -> Eigen::Matrix3d {
    const Eigen::Vector3d d = s.com - com;
    return s.I + s.mass * (d.squaredNorm() * Eigen::Matrix3d::Identity() - d * d.transpose());
  };
  return {mass, com, about(a) + about(b)};
}

/// Takes one fixed joint out: its child's mass and joints move to its parent.
bool fold_one(Description& robot) {
  for (std::size_t j = 0; j < robot.joints.size(); ++j) {
    const JointDescription joint = robot.joints[j];
    if (joint.type != "fixed") continue;
    robot.joints.erase(robot.joints.begin() + static_cast<long>(j));
    const auto link = [&](const std::string& name) {
      return std::find_if(robot.links.begin(), robot.links.end(),
                          [&](const LinkDescription& l) { return l.name == name; });
    };
    const Eigen::Isometry3d P = placement(joint.origin);
    Solid child = solid(*link(joint.child));
    child.com = P * child.com;
    child.I = P.linear() * child.I * P.linear().transpose();
    const Solid all = joined(solid(*link(joint.parent)), child);
    if (all.mass > 0.0) {
      Inertial in;
      in.mass = all.mass;
      in.origin.xyz = {all.com.x(), all.com.y(), all.com.z()};
      in.I = {all.I(0, 0), all.I(0, 1), all.I(0, 2), all.I(1, 1), all.I(1, 2), all.I(2, 2)};
      link(joint.parent)->inertial = in;
    }
    robot.links.erase(link(joint.child));
    for (JointDescription& other : robot.joints) {
      if (other.parent != joint.child) continue;
      other.parent = joint.parent;
      other.origin = pose_of(P * placement(other.origin));
    }
    return true;
  }
  return false;
}

TEST(InvarianceTest, FixedJointsAreLikeOneSolidBody) {
  for (unsigned long long seed = 1; seed <= 30; ++seed) {
    const Description robot = robot_of(seed, 0.7);
    Description folded = robot;
    while (fold_one(folded)) {
    }
    expect_same_dynamics(folded, robot, seed);
  }
}

TEST(InvarianceTest, MovingALinksFrameByAFixedJointChangesNothing) {
  // All mass of each moving link goes to a link that is welded to it elsewhere.
  for (unsigned long long seed = 1; seed <= 20; ++seed) {
    const Description robot = robot_of(seed, 0.0);
    Description other = robot;
    Rng rng(seed);
    for (const LinkDescription& link : robot.links) {
      if (link.name == "base") continue;
      const Eigen::Isometry3d P = placement({rng.vec3(), rng.vec3(3.0)});
      LinkDescription shell = link;
      shell.name = link.name + "_shell";
      shell.inertial->origin = pose_of(P.inverse() * placement(link.inertial->origin));
      JointDescription weld;
      weld.name = link.name + "_weld";
      weld.type = "fixed";
      weld.parent = link.name;
      weld.child = shell.name;
      weld.origin = pose_of(P);
      for (LinkDescription& l : other.links) {
        if (l.name == link.name) l.inertial.reset();
      }
      for (JointDescription& joint : other.joints) {
        if (joint.parent != link.name || !rng.chance(0.5)) continue;
        joint.parent = shell.name;  // children may hang on either of the two
        joint.origin = pose_of(P.inverse() * placement(joint.origin));
      }
      other.links.push_back(shell);
      other.joints.push_back(weld);
    }
    expect_same_dynamics(robot, other, seed);
  }
}

TEST(InvarianceTest, ScrewAlongTheAxisMayStandLeftOrRightOfTheJoint) {
  // A turn about and a shift along the axis of a revolute or prismatic joint commute with it.
  for (const char* type : {"revolute", "prismatic", "continuous", "helical", "cylindrical"}) {
    for (unsigned long long seed = 1; seed <= 5; ++seed) {
      RobotOptions options;
      options.bodies = 3;
      options.seed = seed;
      options.welded = 0.0;
      options.types = {type};
      const Description robot = random_robot(host().registry(), options);
      Description left = robot, right = robot;
      const Vec3<double> axis = robot.joints[1].axis;
      Eigen::Isometry3d screw = Eigen::Isometry3d::Identity();
      screw.linear() = Eigen::AngleAxisd(0.7, vector(axis)).toRotationMatrix();
      screw.translation() = 0.4 * vector(axis);

      left.joints[1].origin = pose_of(placement(robot.joints[1].origin) * screw);

      // Right: the joint's child is a hub that carries the link.
      LinkDescription hub;
      hub.name = "hub";
      right.links.push_back(hub);
      JointDescription weld = robot.joints[1];
      weld.name = "weld";
      weld.type = "fixed";
      weld.parameters.clear();
      weld.armature = 0.0;
      weld.parent = "hub";
      weld.origin = pose_of(screw);
      right.joints[1].child = "hub";
      right.joints.push_back(weld);
      expect_same_dynamics(left, right, seed);
    }
  }
}

TEST(InvarianceTest, FloatingRootIsAFloatingJointFromTheWorld) {
  for (unsigned long long seed = 1; seed <= 10; ++seed) {
    Description robot = robot_of(seed);
    LinkDescription& base = robot.links.front();
    Rng rng(seed);
    base.inertial = random_inertial(rng, 0.3);
    Description explicit_root = robot;
    LinkDescription world;
    world.name = "world";
    explicit_root.links.push_back(world);
    JointDescription joint;
    joint.name = "root";
    joint.type = "floating";
    joint.parent = "world";
    joint.child = base.name;
    explicit_root.joints.push_back(joint);

    CompileOptions options;
    options.root = CompileOptions::Root::floating;
    const ModelPtr a = host().compile(robot, options), b = host().compile(explicit_root);
    const State s = random_state(*a, seed);
    for (const auto& [name, algorithm] : every<ForwardDynamics<double>>(a)) {
      const auto there = host().create<ForwardDynamics<double>>(name, b);
      EXPECT_LE(relative_difference(vdot_as(b, *there, *a, s), vdot_as(a, *algorithm, *a, s)),
                agreed)
          << name;
    }
  }
}

TEST(InvarianceTest, TurningTheWorldTurnsGravityAndNothingElse) {
  // The whole robot on a turned mount, and gravity turned with it.
  for (unsigned long long seed = 1; seed <= 10; ++seed) {
    const Description robot = robot_of(seed);
    Description turned = robot;
    Rng rng(seed);
    const Pose mount{rng.vec3(), rng.vec3(3.0)};
    LinkDescription world;
    world.name = "world";
    turned.links.push_back(world);
    JointDescription joint;
    joint.name = "mount";
    joint.type = "fixed";
    joint.parent = "world";
    joint.child = "base";
    joint.origin = mount;
    turned.joints.push_back(joint);
    const Eigen::Vector3d g = rotation(mount.rpy) * vector(robot.gravity);
    turned.gravity = {g.x(), g.y(), g.z()};
    expect_same_dynamics(robot, turned, seed);
  }
}

}  // namespace
}  // namespace espalier::test::invariance_test
