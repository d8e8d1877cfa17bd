#include <numbers>

#include "tests/spatial/dense.hpp"
#include "tests/support/dense_algebra.hpp"

namespace espalier::transform_test {
namespace {

using namespace test;
using Eigen::AngleAxisd;

TEST(TransformTest, ActsOnMotionsAndForcesAsTheDenseMatrices) {
  Random random;
  for (const Transform<double>& X : transforms(random)) {
    const Matrix6d D = dense(X);
    const Motion<double> m = random.motion();
    const Force<double> f = random.force();
    expect_near(dense(X * m), D * dense(m));
    expect_near(dense(X.inverse_times(m)), inverse(D) * dense(m));
    expect_near(dense(X.transpose_times_force(f)), D.transpose() * dense(f));
    expect_near(dense(X.force_to(f)), inverse(D.transpose()) * dense(f));
  }
}

TEST(TransformTest, ComposesAndInvertsAsTheDenseMatrices) {
  Random random;
  for (const Transform<double>& X : transforms(random)) {
    expect_near(dense(X.inverse()), inverse(dense(X)));
    for (const Transform<double>& Y : transforms(random)) {
      expect_near(dense(Y * X), dense(Y) * dense(X));
    }
  }
}

TEST(TransformTest, PowerDoesNotDependOnTheFrame) {
  Random random;
  for (const Transform<double>& X : transforms(random)) {
    const Motion<double> m = random.motion();
    const Force<double> f = random.force();
    EXPECT_NEAR(dot(X * m, X.force_to(f)), dot(m, f), rounding);
  }
}

TEST(TransformTest, TurnsAndSlidesOfJointsComposeLikeAnyOther) {
  Random random;
  const double angle = 0.7, d = -0.4, s = std::sin(angle), c = std::cos(angle);
  const Mat3<double> turn = rotation_z(s, c), any = random.rotation();
  // From parent to child coordinates: the inverse of the rotation that the child undergoes.
  expect_near(dense(turn), AngleAxisd(-angle, Vector3d::UnitZ()).toRotationMatrix());
  const Vec3<double> none = Vec3<double>::zero(), along{0, 0, d};
  for (const Transform<double>& P : transforms(random)) {
    const auto R = RotationZ<double>::by(angle) * P;
    expect_near(dense(R), dense(Transform<double>{turn, none}) * dense(P));
    const auto T = TranslationZ<double>{d} * P;
    expect_near(dense(T), dense(Transform<double>{Mat3<double>::identity(), along}) * dense(P));
    const auto S = ScrewZ<double>{s, c, d} * P;
    expect_near(dense(S), dense(Transform<double>{turn, along}) * dense(P));
    const auto G = Rotation<double>{any} * P;
    expect_near(dense(G), dense(Transform<double>{any, none}) * dense(P));
  }
}

TEST(RotationTest, RollPitchYawTurnAboutFixedAxesInThisOrder) {
  Random random;
  for (int i = 0; i < 20; ++i) {
    const Vec3<double> a = scale(4.0, random.vec());
    const Matrix3d R = (AngleAxisd(a.z, Vector3d::UnitZ()) * AngleAxisd(a.y, Vector3d::UnitY()) *
                        AngleAxisd(a.x, Vector3d::UnitX()))
                           .toRotationMatrix();
    expect_near(dense(rpy_to_E(a)), R.transpose());
  }
  // By hand: after a yaw of 90° the child's x axis is the parent's y axis.
  const double right = std::numbers::pi / 2;
  expect_near(dense(rpy_to_E({0, 0, right}) * Vec3<double>{0, 1, 0}), Vector3d(1, 0, 0));
}

TEST(RotationTest, QuaternionTakesBodyToParentCoordinates) {
  Random random;
  for (int i = 0; i < 20; ++i) {
    Eigen::Quaterniond q(random.number(), random.number(), random.number(), random.number());
    q.normalize();
    const double xyzw[4] = {q.x(), q.y(), q.z(), q.w()};
    expect_near(dense(quaternion_to_E(xyzw)), q.toRotationMatrix().transpose());
  }
}

}  // namespace
}  // namespace espalier::transform_test
