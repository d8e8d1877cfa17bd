#include <cstdlib>
#include <filesystem>

#include "tests/joints/joint_bench.hpp"

/// Joints worked by hand: how the child link moves in the joint's frame. The child link's frame is
/// the body's, turned back by the alignment.

namespace espalier::joint_motion_test {
namespace {

using namespace test;
using Eigen::AngleAxisd;
using Eigen::Matrix3d;
using Eigen::Vector3d;

constexpr double pi = std::numbers::pi;
/// Numbers of order one after a dozen operations.
constexpr double rounding = 1e-14;

JointSpec spec(const Vec3<double>& axis, const Parameters& parameters = {}) {
  JointSpec s;
  s.name = "knee";
  s.axis = axis;
  s.parameters = parameters;
  s.where = "leg.urdf:12";
  return s;
}

/// Orientation (link to joint frame) and position of the child link.
struct Pose3 {
  Matrix3d R;
  Vector3d p;
};
Pose3 link_pose(const char* type_name, const JointSpec& s, const std::vector<double>& q) {
  const JointType& type = registry().joint_type(type_name);
  const Transform<double> X = JointBench::at_origin(type, s).X(q)[0];
  const Transform<double> back{type.alignment(s).transposed(), {0, 0, 0}};
  const Transform<double> link = back * X;
  return {matrix(link.E).transpose(), vector(link.r)};
}
void expect_pose(const Pose3& pose, const Matrix3d& R, const Vector3d& p) {
  EXPECT_LT((pose.R - R).norm(), rounding) << pose.R << "\nexpected\n" << R;
  EXPECT_LT((pose.p - p).norm(), rounding) << pose.p << "\nexpected\n" << p;
}

/// Coordinate axes, directions near them, and others.
std::vector<Vec3<double>> axes() {
  std::vector<Vec3<double>> all{{1, 0, 0},  {0, 1, 0},  {0, 0, 1},     {-1, 0, 0},
                                {0, -1, 0}, {0, 0, -1}, {0.6, 0, 0.8}, {0, -0.6, 0.8}};
  // So near that the long component rounds to 1.
  for (const double near : {1e-9, -1e-12, 1e-15}) {
    all.push_back({near, 0, 1});
    all.push_back({0, near, -1});
    all.push_back({1, near, 0});
    all.push_back({near, -1, near});
  }
  Random random(3);
  for (int i = 0; i < 20; ++i) all.push_back(random.direction());
  return all;
}

TEST(JointMotionTest, RevoluteAndContinuousTurnTheLinkAboutTheAxis) {
  for (const Vec3<double>& a : axes()) {
    for (const char* type : {"revolute", "continuous"}) {
      expect_pose(link_pose(type, spec(a), {0.7}), AngleAxisd(0.7, vector(a)).toRotationMatrix(),
                  Vector3d::Zero());
    }
  }
}

TEST(JointMotionTest, PrismaticMovesTheLinkAlongTheAxis) {
  for (const Vec3<double>& a : axes()) {
    expect_pose(link_pose("prismatic", spec(a), {0.7}), Matrix3d::Identity(), 0.7 * vector(a));
  }
}

TEST(JointMotionTest, HelicalAdvancesByPitchTimesAngle) {
  for (const Vec3<double>& a : axes()) {
    expect_pose(link_pose("helical", spec(a, {{"pitch", {-0.2}}}), {3.0}),
                AngleAxisd(3.0, vector(a)).toRotationMatrix(), -0.6 * vector(a));
  }
}

TEST(JointMotionTest, CylindricalTurnsByTheFirstAndMovesByTheSecondCoordinate) {
  for (const Vec3<double>& a : axes()) {
    expect_pose(link_pose("cylindrical", spec(a), {0.7, 0.3}),
                AngleAxisd(0.7, vector(a)).toRotationMatrix(), 0.3 * vector(a));
  }
}

TEST(JointMotionTest, UniversalTurnsAboutTheFixedAxisAfterTheCarriedOne) {
  Random random(5);
  for (const Vec3<double>& a : axes()) {
    for (int i = 0; i < 5; ++i) {
      const Vec3<double> b = random.direction();
      expect_pose(
          link_pose("universal", spec(a, {{"axis2", {2 * b.x, 2 * b.y, 2 * b.z}}}), {0.7, -1.9}),
          (AngleAxisd(0.7, vector(a)) * AngleAxisd(-1.9, vector(b))).toRotationMatrix(),
          Vector3d::Zero());
    }
  }
}

TEST(JointMotionTest, UniversalTakesAPerpendicularSecondAxisByDefault) {
  const Vector3d x = Vector3d::UnitX(), y = Vector3d::UnitY(), z = Vector3d::UnitZ();
  const auto expect_second = [](const Vector3d& first, const Vector3d& second) {
    expect_pose(link_pose("universal", spec({first.x(), first.y(), first.z()}), {0.0, 0.5}),
                AngleAxisd(0.5, second).toRotationMatrix(), Vector3d::Zero());
  };
  expect_second(x, y);
  expect_second(y, z);
  expect_second(z, x);
  for (const Vec3<double>& a : axes()) {
    const AngleAxisd turn(link_pose("universal", spec(a), {0.0, 0.5}).R);
    EXPECT_NEAR(turn.axis().dot(vector(a)), 0.0, rounding);
    EXPECT_NEAR(turn.angle(), 0.5, rounding);
  }
}

TEST(JointMotionTest, UniversalWorksWithAxesNearlyParallel) {
  // 0.001 rad apart; the frame across both is found by subtracting nearly equal vectors: 1e-16 of
  // rounding becomes 1e-13 relative to 0.001, and each body rotation sees it twice.
  const Vector3d a = Vector3d::UnitZ(), b = AngleAxisd(1e-3, Vector3d::UnitX()) * a;
  const Pose3 pose =
      link_pose("universal", spec({0, 0, 1}, {{"axis2", {b.x(), b.y(), b.z()}}}), {0.7, -1.9});
  const Matrix3d expected = (AngleAxisd(0.7, a) * AngleAxisd(-1.9, b)).toRotationMatrix();
  EXPECT_LT((pose.R - expected).norm(), 1e-12);
}

TEST(JointMotionTest, UniversalWithCrossedAxesHasTheBookSubspace) {
  // Axes x then y at q2 = 90°: the first axis, seen from the body, has turned about -y onto z.
  const JointType& type = registry().joint_type("universal");
  const JointSpec s = spec({1, 0, 0}, {{"axis2", {0, 1, 0}}});
  const JointBench joint = JointBench::at_origin(type, s);
  const auto k = joint.kinematics<double>({0.3, pi / 2}, {2.0, 5.0});
  const Matrix3d back = matrix(type.alignment(s)).transpose();  // body to link
  EXPECT_LT((back * vector(k.S[0].w) - Vector3d::UnitZ()).norm(), rounding);
  EXPECT_LT((back * vector(k.S[1].w) - Vector3d::UnitY()).norm(), rounding);
  // d/dt S1 = -(qd2 y) × z = -qd2 x, times qd1.
  EXPECT_LT((back * vector(k.bias[0].w) - Vector3d(-10.0, 0, 0)).norm(), 10 * rounding);
  EXPECT_EQ(vector(k.bias[0].v), Vector3d::Zero());
}

TEST(JointMotionTest, PlanarMovesAcrossTheAxisAndTurnsAboutIt) {
  expect_pose(link_pose("planar", spec({0, 0, 1}), {0.3, -0.2, 0.5}),
              AngleAxisd(0.5, Vector3d::UnitZ()).toRotationMatrix(), Vector3d(0.3, -0.2, 0));
  expect_pose(link_pose("planar", spec({1, 0, 0}), {0.3, -0.2, 0.5}),
              AngleAxisd(0.5, Vector3d::UnitX()).toRotationMatrix(), Vector3d(0, 0.3, -0.2));
  expect_pose(link_pose("planar", spec({0, 1, 0}), {0.3, -0.2, 0.5}),
              AngleAxisd(0.5, Vector3d::UnitY()).toRotationMatrix(), Vector3d(-0.2, 0, 0.3));
  for (const Vec3<double>& a : axes()) {
    const Pose3 pose = link_pose("planar", spec(a), {0.3, -0.4, 0.5});
    expect_pose({pose.R, pose.p - pose.p.dot(vector(a)) * vector(a)},
                AngleAxisd(0.5, vector(a)).toRotationMatrix(), pose.p);
    EXPECT_NEAR(pose.p.norm(), 0.5, rounding);
  }
}

TEST(JointMotionTest, PlanarBodyDrivesAlongAnArc) {
  const JointBench joint = JointBench::at_origin(registry().joint_type("planar"), spec({0, 0, 1}));
  // Forward at pi/2 m/s while turning left by pi/2 rad/s: a quarter of the circle of radius 1. It
  // starts at (2, 3) heading along y.
  const auto q = joint.integrate<double>({2, 3, pi / 2}, {pi / 2, pi / 2, 0});
  EXPECT_LT(largest_difference(q, {1, 4, pi}), rounding);
  // A full turn leads back, and the angle counts it.
  EXPECT_LT(largest_difference(joint.integrate<double>({2, 3, 0}, {2 * pi, 5, 1}), {2, 3, 2 * pi}),
            rounding);
}

TEST(JointMotionTest, PlanarDifferenceTakesTheShortestTurn) {
  const JointBench joint = JointBench::at_origin(registry().joint_type("planar"), spec({0, 0, 1}));
  const auto v = joint.difference<double>({0, 0, 0.1}, {0, 0, 0.1 + 4 * pi + 0.2});
  EXPECT_LT(largest_difference(v, {0.2, 0, 0}), rounding);
  EXPECT_LT(largest_difference(joint.difference<double>({1, 2, 0}, {4, 2, 2 * pi}), {0, 3, 0}),
            rounding);
}

TEST(JointMotionTest, SphericalQuaternionTakesBodyToParentCoordinates) {
  const double h = std::sqrt(0.5);
  // A quarter turn about z: the body's x axis points along the parent's y axis.
  const Pose3 pose = link_pose("spherical", spec({0.6, 0, 0.8}), {0, 0, h, h});
  EXPECT_LT((pose.R * Vector3d::UnitX() - Vector3d::UnitY()).norm(), rounding);
  EXPECT_EQ(pose.p, Vector3d::Zero());
}

TEST(JointMotionTest, SphericalVelocityIsInTheBodyFrame) {
  const double h = std::sqrt(0.5);
  const JointBench joint =
      JointBench::at_origin(registry().joint_type("spherical"), spec({0, 0, 1}));
  // After a quarter turn about z, turning about the body's x is turning about the parent's y.
  const auto q = joint.integrate<double>({0, 0, h, h}, {pi / 2, 0, 0});
  const Matrix3d R = matrix(joint.X(q)[0].E).transpose();
  const Matrix3d expected =
      (AngleAxisd(pi / 2, Vector3d::UnitY()) * AngleAxisd(pi / 2, Vector3d::UnitZ()))
          .toRotationMatrix();
  EXPECT_LT((R - expected).norm(), rounding);
}

TEST(JointMotionTest, OppositeQuaternionsAreOneOrientation) {
  const JointBench joint =
      JointBench::at_origin(registry().joint_type("spherical"), spec({0, 0, 1}));
  Random random(9);
  for (int i = 0; i < 20; ++i) {
    const auto q0 = joint.random_position(random), q1 = joint.random_position(random);
    EXPECT_LT(largest(joint.difference(q0, scaled(-1.0, q0))), rounding);
    EXPECT_LT(largest_difference(joint.difference(q0, scaled(-1.0, q1)), joint.difference(q0, q1)),
              10 * rounding);
    const auto v = joint.difference(q0, q1);
    EXPECT_LE(std::hypot(v[0], v[1], v[2]), pi + rounding);
  }
}

TEST(JointMotionTest, ZeroQuaternionIsNormalizedToTheIdentity) {
  const JointBench ball =
      JointBench::at_origin(registry().joint_type("spherical"), spec({0, 0, 1}));
  EXPECT_EQ(ball.normalized<double>({0, 0, 0, 0}), (std::vector<double>{0, 0, 0, 1}));
  EXPECT_EQ(ball.normalized<double>({0, 0, -3e-200, 0}), (std::vector<double>{0, 0, -1, 0}));
  const JointBench base = JointBench::at_origin(registry().joint_type("floating"), spec({0, 0, 1}));
  EXPECT_EQ(base.normalized<double>({1, 2, 3, 0, 0, 0, 0}),
            (std::vector<double>{1, 2, 3, 0, 0, 0, 1}));
}

TEST(JointMotionTest, NormalizingWhatIsNoNumberDoesNotHideIt) {
  const JointBench ball =
      JointBench::at_origin(registry().joint_type("spherical"), spec({0, 0, 1}));
  for (int i = 0; i < 4; ++i) {
    std::vector<double> q{0.5, 0.5, 0.5, 0.5};
    q[i] = std::nan("");
    for (const double x : ball.normalized(q)) EXPECT_TRUE(std::isnan(x));
  }
}

TEST(JointMotionTest, DifferenceOfZeroQuaternionsIsZero) {
  const JointBench ball =
      JointBench::at_origin(registry().joint_type("spherical"), spec({0, 0, 1}));
  EXPECT_EQ(ball.difference<double>({0, 0, 0, 0}, {0, 0, 0, 1}), (std::vector<double>{0, 0, 0}));
}

TEST(JointMotionTest, FloatingPositionIsInTheParentAndVelocityInTheBody) {
  const double h = std::sqrt(0.5);
  expect_pose(link_pose("floating", spec({1, 0, 0}), {1, 2, 3, 0, 0, h, h}),
              AngleAxisd(pi / 2, Vector3d::UnitZ()).toRotationMatrix(), Vector3d(1, 2, 3));
  const JointBench joint =
      JointBench::at_origin(registry().joint_type("floating"), spec({1, 0, 0}));
  // Heading along the parent's y, moving ahead.
  EXPECT_LT(largest_difference(joint.integrate<double>({1, 2, 3, 0, 0, h, h}, {0, 0, 0, 5, 0, 0}),
                               {1, 7, 3, 0, 0, h, h}),
            rounding);
}

TEST(JointMotionTest, FloatingBodyFliesAlongAHelix) {
  const JointBench joint =
      JointBench::at_origin(registry().joint_type("floating"), spec({1, 0, 0}));
  // Half of a circle of radius 1 about z while rising by 2; from heading x at the origin.
  const auto q = joint.integrate<double>({0, 0, 0, 0, 0, 0, 1}, {0, 0, pi, pi, 0, 2});
  EXPECT_LT(largest_difference(q, {0, 2, 2, 0, 0, 1, 0}), rounding);
}

TEST(JointMotionTest, ContinuousAnglesCountTurns) {
  const JointBench joint =
      JointBench::at_origin(registry().joint_type("continuous"), spec({0, 0, 1}));
  EXPECT_EQ(joint.difference<double>({-10.0}, {10.0}), std::vector<double>{20.0});
  EXPECT_EQ(joint.normalized<double>({-10.0}), std::vector<double>{-10.0});
}

TEST(JointMotionTest, FixedDoesNotMove) {
  expect_pose(link_pose("fixed", spec({0, 0, 0}), {}), Matrix3d::Identity(), Vector3d::Zero());
  EXPECT_EQ(registry().joint_type("fixed").nq(), 0);
  EXPECT_EQ(registry().joint_type("fixed").nv(), 0);
}

TEST(JointMotionTest, CoordinateAxesAreAlignedBySignedPermutations) {
  for (int i = 0; i < 6; ++i) {
    const Vec3<double> a = axes()[i];
    for (const char* type : {"revolute", "prismatic", "universal"}) {
      const Matrix3d A = matrix(registry().joint_type(type).alignment(spec(a)));
      EXPECT_EQ(A.cwiseAbs(), A.cwiseAbs().array().round().matrix()) << type << A;
    }
  }
}

TEST(JointMotionTest, PlainAndWideInstructionSetsAgree) {
  if (!std::filesystem::exists(ESPALIER_PLUGIN_DIR "/espalier_joints.so")) {
    GTEST_SKIP() << "this build has one instruction set (ESPALIER_ONE_VARIANT)";
  }
  const char* const variable = "ESPALIER_INSTRUCTION_SET";
  const std::string before = std::getenv(variable) == nullptr ? "" : std::getenv(variable);
  ::setenv(variable, "baseline", 1);
  const Host plain(Host::Options{{ESPALIER_PLUGIN_DIR}, false});
  before.empty() ? ::unsetenv(variable) : ::setenv(variable, before.c_str(), 1);
  for (const Entry* e : plain.registry().entries(Kind::joint)) {
    const JointType& wide = registry().joint_type(e->about.name);
    Random random(2), again(2);
    const JointBench a = JointBench::random(*e->joint, 5, random);
    const JointBench b = JointBench::random(wide, 5, again);
    const auto q = a.random_position(random);
    for (int k = 0; k < a.count(); ++k) {
      // Fused multiplications round once instead of twice.
      EXPECT_LT(largest_difference(a.X(q)[k], b.X(q)[k]), rounding) << e->about.name;
    }
  }
}

}  // namespace
}  // namespace espalier::joint_motion_test
