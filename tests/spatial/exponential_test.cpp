#include "espalier/kernel/spatial/exponential.hpp"

#include <numbers>
#include <unsupported/Eigen/MatrixFunctions>

#include "tests/spatial/dense.hpp"

namespace espalier::exponential_test {
namespace {

using namespace test;
using Eigen::AngleAxisd;
using Eigen::Matrix4d;

constexpr double pi = std::numbers::pi;

/// Angles around every seam between series and closed form, and large ones.
std::vector<double> angles() {
  std::vector<double> all{0.0, 1e-300, 1e-160, 1e-12, 1e-8, 1e-5, 1.0, 2.0, 3.0, pi - 1e-9, pi};
  for (const double seam : {1e-3, 2e-3, 0.1, 0.2}) {
    for (const double near : {0.5, 1 - 1e-12, 1.0, 1 + 1e-12, 2.0}) all.push_back(seam * near);
  }
  return all;
}

Vec3<double> unit(Random& random) {
  const Vec3<double> a = random.vec();
  return scale(1.0 / std::sqrt(dot(a, a)), a);
}

TEST(ExponentialTest, RotationIsTheAxisAngleOne) {
  Random random;
  auto all = angles();
  all.insert(all.end(), {4.0, 2 * pi, 7.0, 100.0});
  for (const double angle : all) {
    const Vec3<double> a = unit(random);
    const Quaternion<double> q = exp_rotation(scale(angle, a));
    const Eigen::Quaterniond expected(AngleAxisd(angle, dense(a)));
    // Angles of up to 100 are known to 1e-14.
    const double tolerance = angle > 10 ? 1e-13 : rounding;
    expect_near(dense(q.v), expected.vec(), tolerance);
    EXPECT_NEAR(q.w, expected.w(), tolerance);
  }
}

TEST(ExponentialTest, SmallRotationsHaveFullRelativeAccuracy) {
  Random random;
  for (const double angle : angles()) {
    const Vec3<double> phi = scale(angle, unit(random));
    const Vec3<double> back = log_rotation(exp_rotation(phi));
    // Relative: a few units in the last place, even of tiny angles.
    for (int i = 0; i < 3; ++i) EXPECT_LE(std::abs(back[i] - phi[i]), 2e-15 * angle) << angle;
  }
}

TEST(ExponentialTest, LogarithmIsTheShorterWayForBothQuaternions) {
  Random random;
  for (const double angle : angles()) {
    const Vec3<double> phi = scale(angle, unit(random));
    const Quaternion<double> q = exp_rotation(phi);
    const Vec3<double> other = log_rotation(Quaternion<double>{-q.v, -q.w});
    // At half a turn both ways are equally long.
    const double sign = dot(other, phi) < 0 ? -1.0 : 1.0;
    EXPECT_TRUE(sign > 0 || std::abs(angle - pi) < 1e-12) << angle;
    expect_near(sign * dense(other), dense(phi));
    // The length of the quaternion does not matter.
    expect_near(dense(log_rotation(Quaternion<double>{scale(3.0, q.v), 3.0 * q.w})),
                dense(log_rotation(q)));
  }
  const Vec3<double> beyond = scale(pi + 0.5, unit(random));
  const Vec3<double> back = log_rotation(exp_rotation(beyond));
  EXPECT_NEAR(std::sqrt(dot(back, back)), pi - 0.5, rounding);
}

TEST(ExponentialTest, TranslationIsThatOfTheMatrixExponential) {
  Random random;
  for (const double angle : angles()) {
    const Vec3<double> phi = scale(angle, unit(random)), v = random.vec();
    Matrix4d twist = Matrix4d::Zero();
    twist.topLeftCorner<3, 3>() = skew(dense(phi));
    twist.topRightCorner<3, 1>() = dense(v);
    const Matrix4d moved = twist.exp();
    expect_near(dense(exp_translation(phi, v)), moved.topRightCorner<3, 1>());
    expect_near(dense(log_translation(phi, exp_translation(phi, v))), dense(v));
  }
}

TEST(ExponentialTest, TranslationIsContinuousWhereSeriesMeetClosedForms) {
  // Coefficients themselves, not times the squared angle that hides their error. The closed forms
  // subtract numbers of 0.1 and divide the rounding of 1e-17 by 1e-3: 1e-14, with some to spare. A
  // series of one term less is off by more (for one_minus_x_cot by 2e-13).
  const double seam = detail::long_series_below<double>;
  const double below = seam * (1 - 1e-14), above = seam * (1 + 1e-14);
  EXPECT_NEAR(detail::x_minus_sin(below), detail::x_minus_sin(above), 5e-14);
  EXPECT_NEAR(detail::one_minus_x_cot(below), detail::one_minus_x_cot(above), 5e-14);
  double sinc[2], cos[2];
  detail::sinc_cos(detail::series_below * (1 - 1e-14), sinc[0], cos[0]);
  detail::sinc_cos(detail::series_below * (1 + 1e-14), sinc[1], cos[1]);
  EXPECT_NEAR(sinc[0], sinc[1], 3e-16);  // one unit in the last place and a half
  EXPECT_NEAR(cos[0], cos[1], 3e-16);
}

TEST(QuaternionTest, ProductIsThatOfRotations) {
  Random random;
  const auto a = normalized(Quaternion<double>{random.vec(), random.number()});
  const auto b = normalized(Quaternion<double>{random.vec(), random.number()});
  double ab[4], pa[4], pb[4], back[4];
  (a * b).store(ab);
  a.store(pa);
  b.store(pb);
  expect_near(dense(quaternion_to_E(ab)), dense(quaternion_to_E(pb) * quaternion_to_E(pa)));
  a.conjugate().store(back);
  expect_near(dense(quaternion_to_E(back)), dense(quaternion_to_E(pa)).transpose());
  EXPECT_EQ(Quaternion<double>::load(pa).v.y, a.v.y);
}

TEST(QuaternionTest, NormalizingWorksAtEverySize) {
  Random random;
  for (const double size : {1e-299, 1e-200, 1e-150, 1.0, 1e150, 1e300}) {
    const Quaternion<double> q{random.vec(), random.number()};
    const double length = std::sqrt(dot(q.v, q.v) + q.w * q.w);
    const auto u = normalized(Quaternion<double>{scale(size, q.v), size * q.w});
    expect_near(dense(u.v), dense(q.v) / length);
    EXPECT_NEAR(u.w, q.w / length, rounding);
  }
  const auto identity = normalized(Quaternion<double>{{0, 0, 0}, 0});
  EXPECT_EQ(dense(identity.v), Vector3d(0, 0, 0));
  EXPECT_EQ(identity.w, 1.0);
}

}  // namespace
}  // namespace espalier::exponential_test
