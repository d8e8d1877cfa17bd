#include "espalier/kernel/spatial/quad_frame.hpp"

#include <gtest/gtest.h>

#include "tests/support/random.hpp"

// Plücker transforms in registers against those in memory.

namespace espalier::test::quad_frame_test {
namespace {

constexpr double rounding = 1e-14;  // of sums of three products of numbers up to one

Transform<double> random_transform(Rng& rng) {
  const double quat[4] = {rng.uniform(), rng.uniform(), rng.uniform(), 1.0};
  return {quaternion_to_E(quat), {rng.uniform(), rng.uniform(), rng.uniform()}};
}
void expect_near(const Quad& x, const Vec3<double>& y) {
  for (int i = 0; i < 3; ++i) EXPECT_NEAR(x[i], y[i], rounding);
  EXPECT_EQ(x[3], 0.0);
}
void expect_near(const QuadFrame& x, const Transform<double>& y) {
  for (int i = 0; i < 3; ++i) expect_near(x.E[i], y.E.row[i]);
  expect_near(x.r, y.r);
}

TEST(QuadFrameTest, ProductsAreThoseOfTransforms) {
  Rng rng(3);
  for (int k = 0; k < 50; ++k) {
    const Transform<double> A = random_transform(rng), B = random_transform(rng);
    expect_near(A * QuadFrame::from(B), A * B);
    expect_near(A * QuadFrame::identity(), A);
    const RotationZ<double> R = RotationZ<double>::by(rng.uniform());
    expect_near(turned(R.s, R.c, QuadFrame::from(B)), R * B);
    expect_near(QuadFrame::from(turned(R.s, R.c, B)), R * B);
    const Vec3<double> a = A.r, b = B.r;
    expect_near(QuadFrame::from(B).transpose_times(a), transpose_times(B.E, a));
    expect_near(cross(QuadFrame::quad(a), QuadFrame::quad(b)), cross(a, b));
    const Mat3<double> transpose = B.E.transposed();
    const std::array<Quad, 3> columns = transposed(QuadFrame::from(B).E);
    for (int i = 0; i < 3; ++i) expect_near(columns[i], transpose.row[i]);
  }
}

TEST(QuadFrameTest, ThreeNumbersAreStoredAndNoMore) {
  const Quad x(1.0, 2.0, 3.0, 4.0);
  std::vector<double> to(5, 7.0);
  store_three(x, to.data() + 1);
  EXPECT_EQ(to, (std::vector<double>{7.0, 1.0, 2.0, 3.0, 7.0}));
}

TEST(QuadFrameTest, GoesToMemoryAndBack) {
  Rng rng(5);
  std::vector<Transform<double>> to(3, Transform<double>::identity());
  const Transform<double> X = random_transform(rng);
  store(QuadFrame::from(X), to[1]);
  expect_near(QuadFrame::from(to[1]), X);
  for (const int other : {0, 2}) expect_near(QuadFrame::identity(), to[other]);
}

}  // namespace
}  // namespace espalier::test::quad_frame_test
