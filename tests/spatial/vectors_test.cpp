#include "tests/spatial/dense.hpp"

namespace espalier::vectors_test {
namespace {

using namespace test;

TEST(Vec3Test, ArithmeticIsThatOfVectors) {
  Random random;
  const Vec3<double> a = random.vec(), b = random.vec();
  expect_near(dense(a + b), dense(a) + dense(b));
  expect_near(dense(a - b), dense(a) - dense(b));
  expect_near(dense(-a), -dense(a));
  expect_near(dense(scale(2.5, a)), 2.5 * dense(a));
  expect_near(dense(cross(a, b)), dense(a).cross(dense(b)));
  EXPECT_NEAR(dot(a, b), dense(a).dot(dense(b)), rounding);
  Vec3<double> c = a;
  c += b;
  c += b;
  c -= a;
  expect_near(dense(c), 2 * dense(b));
  for (int i = 0; i < 3; ++i) EXPECT_EQ(a[i], dense(a)[i]);
  c[1] = 7.0;
  EXPECT_EQ(c.y, 7.0);
}

TEST(Mat3Test, ArithmeticIsThatOfMatrices) {
  Random random;
  const Mat3<double> m = random.mat(), n = random.mat();
  const Vec3<double> a = random.vec();
  expect_near(dense(m * a), dense(m) * dense(a));
  expect_near(dense(transpose_times(m, a)), dense(m).transpose() * dense(a));
  expect_near(dense(m * n), dense(m) * dense(n));
  expect_near(dense(m + n), dense(m) + dense(n));
  expect_near(dense(m - n), dense(m) - dense(n));
  expect_near(dense(m.transposed()), dense(m).transpose());
  expect_near(dense(cross_matrix(a)), skew(dense(a)));
  expect_near(dense(Mat3<double>::identity()), Matrix3d::Identity());
  expect_near(dense(Mat3<double>::zero()), Matrix3d::Zero());
  for (int j = 0; j < 3; ++j) {
    expect_near(dense(m.column(j)), dense(m).col(j));
    for (int i = 0; i < 3; ++i) EXPECT_EQ(m(i, j), dense(m)(i, j));
  }
}

TEST(Sym3Test, ArithmeticIsThatOfSymmetricMatrices) {
  Random random;
  const Sym3<double> s = random.sym(), t = random.sym();
  const Vec3<double> a = random.vec();
  const Mat3<double> m = random.mat();
  expect_near(dense(s * a), dense(s) * dense(a));
  expect_near(dense(s + t), dense(s) + dense(t));
  expect_near(dense(s.full()), dense(s));
  expect_near(dense(upper(s.full())), dense(s));
  // Not only for rotations.
  expect_near(dense(congruence(m, s)), dense(m).transpose() * dense(s) * dense(m));
  Sym3<double> u = s;
  u += t;
  expect_near(dense(u), dense(s) + dense(t));
  u -= s;
  expect_near(dense(u), dense(t));
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) EXPECT_EQ(s(i, j), dense(s)(i, j));
}

TEST(SpatialTest, ArithmeticIsThatOfSixVectors) {
  Random random;
  const Motion<double> a = random.motion(), b = random.motion();
  const Force<double> f = random.force(), g = random.force();
  expect_near(dense(a + b), dense(a) + dense(b));
  expect_near(dense(a - b), dense(a) - dense(b));
  expect_near(dense(-a), -dense(a));
  expect_near(dense(scale(3.0, a)), 3 * dense(a));
  expect_near(dense(f + g), dense(f) + dense(g));
  expect_near(dense(f - g), dense(f) - dense(g));
  expect_near(dense(-f), -dense(f));
  expect_near(dense(scale(3.0, f)), 3 * dense(f));
  EXPECT_NEAR(dot(a, f), dense(a).dot(dense(f)), rounding);
  Motion<double> c = a;
  c += b;
  expect_near(dense(c), dense(a) + dense(b));
  Force<double> h = f;
  h += g;
  expect_near(dense(h), dense(f) + dense(g));
  h -= f;
  expect_near(dense(h), dense(g));
  for (int i = 0; i < 6; ++i) {
    EXPECT_EQ(a[i], dense(a)[i]);
    EXPECT_EQ(f[i], dense(f)[i]);
    c[i] = h[i] = i;
    EXPECT_EQ(dense(c)[i], i);
    EXPECT_EQ(dense(h)[i], i);
  }
}

TEST(SpatialTest, CrossProductsAreThoseOfTheBook) {
  Random random;
  for (int i = 0; i < 20; ++i) {
    const Motion<double> v = random.motion(), m = random.motion();
    const Force<double> f = random.force();
    expect_near(dense(cross(v, m)), crm(dense(v)) * dense(m));
    expect_near(dense(cross_star(v, f)), -crm(dense(v)).transpose() * dense(f));
    expect_near(dense(cross(v, v)), Vector6d::Zero());
  }
}

}  // namespace
}  // namespace espalier::vectors_test
