#include "algorithms/segments/articulated/world_body.hpp"

#include "tests/spatial/dense.hpp"

namespace espalier::world_body_test {
namespace {

using namespace test;

Moments<double> moments(Random& random) { return Moments<double>::from(random.rigid()); }
Matrix6d dense(const Moments<double>& b) { return test::dense(b.articulated()); }
/// The motion transform from a point to another one at r, same axes.
Matrix6d shift(const Vec3<double>& r) {
  return test::dense(Transform<double>{Mat3<double>::identity(), r});
}

TEST(MomentsTest, AsA6x6InertiaTheyAreThoseOfTheBody) {
  Random random;
  const RigidInertia<double> I = random.rigid();
  expect_near(dense(Moments<double>::from(I)), test::dense(I));
}

TEST(MomentsTest, ShiftIsTheDenseCongruence) {
  Random random;
  for (int i = 0; i < 10; ++i) {
    const Moments<double> b = moments(random);
    const Vec3<double> r = random.vec();
    expect_near(dense(shifted(b, r)), shift(r).transpose() * dense(b) * shift(r));
  }
}

/// Bodies that hang on a body one after the other, rigid or articulated.
class BodyInertiaTest : public testing::TestWithParam<const char*> {
 protected:
  BodyInertiaTest() {
    const Moments<double> own = moments(random_);
    inertia_.start(own);
    expected_ = dense(own);
    for (const char* kind = GetParam(); *kind != '\0'; ++kind) {
      if (*kind == 'r') {
        const Moments<double> b = moments(random_);
        inertia_.add(b);
        expected_ += dense(b);
      } else {
        const ArticulatedInertia<double> b = random_.articulated();
        inertia_.add(b);
        expected_ += test::dense(b);
      }
    }
  }

  Random random_;
  BodyInertia<double> inertia_;
  Matrix6d expected_;
};

TEST_P(BodyInertiaTest, IsTheSumOfAll) {
  expect_near(test::dense(inertia_.articulated()), expected_);
  expect_near(test::dense(inertia_.open()), expected_);
  expect_near(test::dense(inertia_.articulated()), expected_);
}

TEST_P(BodyInertiaTest, ActsOnATurnAsTheDenseMatrix) {
  const Vec3<double> z = random_.vec();
  const Motion<double> turn{z, Vec3<double>::zero()};
  expect_near(test::dense(inertia_.about(z)), expected_ * test::dense(turn));
}

TEST_P(BodyInertiaTest, IsSeenFromElsewhereAsByTheDenseCongruence) {
  const Vec3<double> r = random_.vec();
  const Matrix6d seen = shift(r).transpose() * expected_ * shift(r);
  expect_near(test::dense(inertia_.shifted_by(r)), seen);
  const Moments<double> other_own = moments(random_);
  const ArticulatedInertia<double> more = random_.articulated();
  BodyInertia<double> rigid, articulated;
  rigid.start(other_own);
  inertia_.propagate_to(rigid, r);
  expect_near(test::dense(rigid.articulated()), dense(other_own) + seen);
  articulated.start(other_own);
  articulated.add(more);
  inertia_.propagate_to(articulated, r);
  expect_near(test::dense(articulated.articulated()), dense(other_own) + test::dense(more) + seen);
}

TEST_P(BodyInertiaTest, StartsAnew) {
  const Moments<double> own = moments(random_);
  inertia_.start(own);
  expect_near(test::dense(inertia_.articulated()), dense(own));
}

INSTANTIATE_TEST_SUITE_P(Hanging, BodyInertiaTest,
                         testing::Values("", "r", "rr", "a", "aa", "ra", "ar", "rara"),
                         [](const auto& info) {
                           return *info.param == '\0' ? std::string("nothing")
                                                      : std::string(info.param);
                         });

TEST(WorldBodyTest, IsPlacedByItsJointAndPlacement) {
  Random random;
  for (const bool coaxial : {false, true}) {
    for (const bool aligned : {false, true}) {
      const double angle = random.number();
      WorldBody<double> parent, body;
      parent.aligned = aligned;
      parent.E = aligned ? Mat3<double>::identity() : random.rotation();
      Transform<double> placement = random.transform();
      if (coaxial) placement.E = Mat3<double>::identity();
      body.coaxial = coaxial;
      body.place(parent, placement, std::sin(angle), std::cos(angle));
      const Transform<double> X = RotationZ<double>::by(angle) * placement;
      expect_near(test::dense(body.E), test::dense(X.E) * test::dense(parent.E));
      expect_near(test::dense(body.r), test::dense(parent.E).transpose() * test::dense(X.r));
    }
  }
}

}  // namespace
}  // namespace espalier::world_body_test
