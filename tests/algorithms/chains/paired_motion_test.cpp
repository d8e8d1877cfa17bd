#include "algorithms/chains/units/paired_motion.hpp"
#include "tests/algorithms/chains/chain_kernels.hpp"
#include "tests/support/dense_algebra.hpp"

// chains/units/paired_motion.hpp at double, the one scalar that it is for.

namespace espalier::test::paired_motion_test {
namespace {

class PairedMotionTest : public testing::Test {
 protected:
  BodyMotion<double> motion() {
    BodyMotion<double> m;
    m.omega = random_.vec<double>(), m.alpha = random_.vec<double>(), m.a = random_.vec<double>();
    m.Om = acceleration_matrix(m.omega, m.alpha);
    return m;
  }
  /// Calls f.operator()<kind>(P, t, E) for all classes of placements.
  template <class F>
  void for_turns(F&& f) {
    for_kernels([&]<ChainKind kind>(Placement which, bool offset) {
      const PairedPlacement P = random_paired_placement(random_, which, offset);
      const Turn<double> t = random_.turn<double>();
      f.template operator()<kind>(P, PairedTurn::of(t.c, t.s),
                                  transform_of<double, double>(P, t, 0));
    });
  }
  template <class A, class B>
  static void expect_close(const A& a, const B& b) {
    expect_near(a, b, tolerance<double>);
  }

  Lanes random_;
};

TEST_F(PairedMotionTest, PairsAreTheNumbers) {
  const BodyMotion<double> m = motion(), same = plain(PairedMotion::of(m));
  EXPECT_EQ(dense(same.omega), dense(m.omega));
  EXPECT_EQ(dense(same.alpha), dense(m.alpha));
  EXPECT_EQ(dense(same.a), dense(m.a));
  EXPECT_EQ(dense(same.Om), dense(m.Om));
}

TEST_F(PairedMotionTest, VectorsTurnByE) {
  for_turns([&]<ChainKind kind>(const PairedPlacement& P, const PairedTurn& t, const auto& X) {
    const Vec3<double> v = random_.vec<double>(), w = random_.vec<double>();
    const double x = random_.any<double>();
    const PairedVector paired = PairedVector::of(v);
    const Vector3d turned = dense(X.E) * dense(v);
    expect_close(dense(plain(rotate_to_child<kind>(P, t, paired))), turned);
    expect_close(dense(plain(rotate_to_child<kind>(P, t, paired, x))), turned + Vector3d(0, 0, x));
    PairedVector sum = paired;
    expect_close(dense(plain(sum += PairedVector::of(w))), dense(v) + dense(w));
  });
}

TEST_F(PairedMotionTest, ChildTurnsOnAboutItsAxis) {
  const Vec3<double> alpha = random_.vec<double>(), omega = random_.vec<double>();
  const double qd = random_.any<double>(), qdd = random_.any<double>();
  PairedVector coasting = PairedVector::of(alpha), driven = coasting;
  add_turning<false>(coasting, PairedVector::of(omega), qd, qdd);
  add_turning<true>(driven, PairedVector::of(omega), qd, qdd);
  const Vector3d expected = dense(alpha) + dense(omega).cross(Vector3d(0, 0, qd)).eval();
  expect_close(dense(plain(coasting)), expected);
  expect_close(dense(plain(driven)), expected + Vector3d(0, 0, qdd));
}

TEST_F(PairedMotionTest, AccelerationMatrixTimesTheOffset) {
  for_turns([&]<ChainKind kind>(const PairedPlacement& P, const PairedTurn&, const auto& X) {
    const Mat3<double> Om = random_.mat<double>();
    expect_close(dense(plain(swept<kind>(P, PairedOm::of(Om)))), dense(Om) * dense(X.r));
  });
}

TEST_F(PairedMotionTest, TurningMatrixIsTheAccelerationMatrix) {
  const BodyMotion<double> m = motion();
  const PairedOm Om = turning_matrix(PairedVector::of(m.omega), PairedVector::of(m.alpha));
  expect_close(dense(Om.plain()), dense(m.Om));
}

/// f = I a + v x* I v, where a is the spatial acceleration (alpha; a_point - omega x v): any linear
/// velocity of the frame gives the same.
TEST_F(PairedMotionTest, InertialWrenchIsTheEquationOfMotion) {
  PairedMoments b;
  static_cast<ChainMoments<double>&>(b) = random_.chain_moments<double>();
  const BodyMotion<double> m = motion();
  const Matrix6d I = dense_body<double>(b, 0);
  const Motion<double> v{m.omega, random_.Random::vec()};
  const Motion<double> a{m.alpha, m.a - cross(v.w, v.v)};
  expect_close(dense(inertial_wrench(b, PairedMotion::of(m)).plain()),
               I * dense(a) - crm(dense(v)).transpose() * (I * dense(v)));
}

}  // namespace
}  // namespace espalier::test::paired_motion_test
