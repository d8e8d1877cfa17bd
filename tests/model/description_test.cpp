#include "espalier/kernel/model/description.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <random>

namespace espalier::description_test {
namespace {

constexpr double pi = std::numbers::pi;

double difference(const Transform<double>& a, const Transform<double>& b) {
  double largest = 0.0;
  for (int i = 0; i < 3; ++i) {
    largest = std::max(largest, std::abs(a.r[i] - b.r[i]));
    for (int j = 0; j < 3; ++j) largest = std::max(largest, std::abs(a.E(i, j) - b.E(i, j)));
  }
  return largest;
}

TEST(SourceLocationTest, TextNamesWhatIsKnown) {
  EXPECT_EQ((SourceLocation{"a.urdf", 12}).text(), "a.urdf:12");
  EXPECT_EQ((SourceLocation{"a.urdf", 0}).text(), "a.urdf");
  EXPECT_EQ(SourceLocation{}.text(), "");
}

TEST(PoseTest, YawTurnsTheChildsXAxisToTheParentsY) {
  const Pose pose{{1, 2, 3}, {0, 0, pi / 2}};
  const Vec3<double> x = transpose_times(pose.transform().E, Vec3<double>{1, 0, 0});
  // cos(pi/2) in doubles is 6e-17.
  EXPECT_NEAR(x.x, 0.0, 1e-16);
  EXPECT_EQ(x.y, 1.0);
  EXPECT_EQ(pose.transform().r.z, 3.0);
}

TEST(PoseTest, RollIsAppliedBeforePitchBeforeYaw) {
  // About fixed axes: roll takes y to z, pitch takes z to x, yaw takes x to y.
  const Pose pose{{0, 0, 0}, {pi / 2, pi / 2, pi / 2}};
  const Vec3<double> y = transpose_times(pose.transform().E, Vec3<double>{0, 1, 0});
  EXPECT_NEAR(y.y, 1.0, 1e-15);  // three roundings of cos(pi/2)
}

TEST(PoseTest, FromTransformGivesTheSameTransform) {
  std::mt19937 random(7);
  std::uniform_real_distribution<double> angle(-pi, pi);
  for (int i = 0; i < 1000; ++i) {
    const Pose pose{{angle(random), angle(random), angle(random)},
                    {angle(random), angle(random), angle(random)}};
    const Transform<double> X = pose.transform();
    // A handful of roundings of numbers of size 1.
    EXPECT_LT(difference(Pose::from(X).transform(), X), 2e-15);
  }
}

TEST(PoseTest, FromTransformIsExactToRoundingAtVerticalPitch) {
  for (const double pitch : {pi / 2, -pi / 2, pi / 2 - 1e-9, -pi / 2 + 1e-12, pi / 2 - 1e-15}) {
    for (const double roll : {0.0, 0.3, -2.0}) {
      for (const double yaw : {0.0, 1.0, -2.5}) {
        const Transform<double> X = Pose{{0, 0, 0}, {roll, pitch, yaw}}.transform();
        EXPECT_LT(difference(Pose::from(X).transform(), X), 2e-15) << roll << pitch << yaw;
      }
    }
  }
}

TEST(PoseTest, PrincipalAnglesComeBackFromTheTransform) {
  const Pose pose{{0, 0, 0}, {0.3, -1.2, 2.9}};
  const Pose back = Pose::from(pose.transform());
  for (int i = 0; i < 3; ++i) EXPECT_NEAR(back.rpy[i], pose.rpy[i], 1e-14);  // few roundings
}

TEST(PoseTest, EqualityComparesEveryNumber) {
  const Pose pose{{1, 2, 3}, {4, 5, 6}};
  EXPECT_EQ(pose, pose);
  for (int i = 0; i < 3; ++i) {
    Pose other = pose;
    other.xyz[i] += 1.0;
    EXPECT_FALSE(other == pose);
    other = pose;
    other.rpy[i] += 1.0;
    EXPECT_FALSE(other == pose);
  }
}

TEST(InertialTest, AboutLinkAddsTheSteinerTerm) {
  const Inertial inertial{{{0, 0, 2}, {0, 0, 0}}, 3.0, {1, 0, 0, 2, 0, 5}};
  const RigidInertia<double> I = inertial.about_link();
  EXPECT_EQ(I.m, 3.0);
  EXPECT_EQ(I.h.z, 6.0);
  EXPECT_EQ(I.I.xx, 1.0 + 12.0);
  EXPECT_EQ(I.I.yy, 2.0 + 12.0);
  EXPECT_EQ(I.I.zz, 5.0);
}

TEST(InertialTest, AboutLinkTurnsTheInertiaIntoLinkAxes) {
  // The inertia's x axis lies along the link's y axis, so that Ixx becomes Iyy.
  const Inertial inertial{{{0, 0, 0}, {0, 0, pi / 2}}, 1.0, {1, 0.1, 0, 2, 0, 5}};
  const RigidInertia<double> I = inertial.about_link();
  // Roundings of cos(pi/2) times inertias of size 5.
  EXPECT_NEAR(I.I.xx, 2.0, 1e-15);
  EXPECT_NEAR(I.I.yy, 1.0, 1e-15);
  EXPECT_NEAR(I.I.xy, -0.1, 1e-15);
  EXPECT_NEAR(I.I.zz, 5.0, 1e-15);
}

}  // namespace
}  // namespace espalier::description_test
