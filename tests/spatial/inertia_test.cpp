#include "tests/spatial/dense.hpp"

namespace espalier::inertia_test {
namespace {

using namespace test;

/// 6 x 6 congruences: some thirty products for each entry, of numbers up to about 10.
constexpr double many = 1e-13;

TEST(RigidInertiaTest, ActsAsTheDenseMatrix) {
  Random random;
  const RigidInertia<double> I = random.rigid();
  const Motion<double> v = random.motion();
  expect_near(dense(I * v), dense(I) * dense(v));
}

TEST(RigidInertiaTest, FromCentreOfMassFollowsSteiner) {
  Random random;
  const double m = 2.5;
  const Vec3<double> c = random.vec();
  const Sym3<double> I = random.sym();
  const Matrix3d C = skew(dense(c));
  expect_near(
      dense(RigidInertia<double>::from_com(m, c, I)),
      blocks(dense(I) + m * C * C.transpose(), m * C, m * C.transpose(), m * Matrix3d::Identity()));
}

TEST(RigidInertiaTest, DumbbellHasTheInertiaOfItsTwoMasses) {
  // By hand: 1 kg at x = 1 and 1 kg at x = 3: 0 about x, 10 about y and z.
  auto I = RigidInertia<double>::from_com(1.0, {1, 0, 0}, Sym3<double>::zero());
  I += RigidInertia<double>::from_com(1.0, {3, 0, 0}, Sym3<double>::zero());
  EXPECT_EQ(I.m, 2.0);
  EXPECT_EQ(dense(I.h), Vector3d(4, 0, 0));
  EXPECT_EQ(dense(I.I), Matrix3d(Vector3d(0, 10, 10).asDiagonal()));
}

TEST(RigidInertiaTest, CongruenceIsThatOfTheDenseMatrices) {
  Random random;
  for (const Transform<double>& X : transforms(random)) {
    const RigidInertia<double> I = random.rigid();
    expect_near(dense(congruence(X, I)), dense(X).transpose() * dense(I) * dense(X), many);
  }
}

TEST(RigidInertiaTest, MassDoesNotMatterToAnInertiaWithoutMass) {
  // Rotors may have rotational inertia and no mass: it stays what it is, wherever seen from.
  Random random;
  RigidInertia<double> I = RigidInertia<double>::zero();
  I.I = random.sym();
  const Vec3<double> r = random.vec();
  const auto moved = congruence(Transform<double>{Mat3<double>::identity(), r}, I);
  EXPECT_EQ(moved.m, 0.0);
  EXPECT_EQ(dense(moved.h), Vector3d(0, 0, 0));
  EXPECT_EQ(dense(moved.I), dense(I.I));
  const auto nothing = congruence(random.transform(), RigidInertia<double>::zero());
  EXPECT_EQ(dense(nothing), Matrix6d(Matrix6d::Zero()));
}

TEST(ArticulatedInertiaTest, ActsAsTheDenseMatrix) {
  Random random;
  const ArticulatedInertia<double> I = random.articulated();
  const Motion<double> a = random.motion();
  expect_near(dense(I * a), dense(I) * dense(a));
  for (int k = 0; k < 6; ++k) expect_near(dense(I.column(k)), dense(I).col(k));
}

TEST(ArticulatedInertiaTest, SumsAndOuterProductsAreThoseOfTheDenseMatrices) {
  Random random;
  ArticulatedInertia<double> I = random.articulated();
  const ArticulatedInertia<double> J = random.articulated();
  const RigidInertia<double> R = random.rigid();
  Matrix6d expected = dense(I) + dense(J) + dense(R);
  I += J;
  I += ArticulatedInertia<double>::from(R);
  expect_near(dense(I), expected);
  const Force<double> u = random.force();
  I.subtract_outer(1.7, u);
  expected -= 1.7 * dense(u) * dense(u).transpose();
  expect_near(dense(I), expected);
  expect_near(dense(ArticulatedInertia<double>::zero()), Matrix6d::Zero());
}

TEST(ArticulatedInertiaTest, CongruenceIsThatOfTheDenseMatrices) {
  Random random;
  for (const Transform<double>& X : transforms(random)) {
    const ArticulatedInertia<double> I = random.articulated();
    expect_near(dense(congruence(X, I)), dense(X).transpose() * dense(I) * dense(X), many);
    const Transform<double> shift{Mat3<double>::identity(), X.r};
    expect_near(dense(shifted(I, X.r)), dense(shift).transpose() * dense(I) * dense(shift), many);
  }
}

TEST(ArticulatedInertiaTest, CongruenceOfARigidBodyIsTheRigidOne) {
  Random random;
  for (const Transform<double>& X : transforms(random)) {
    const RigidInertia<double> I = random.rigid();
    expect_near(dense(congruence(X, ArticulatedInertia<double>::from(I))), dense(congruence(X, I)),
                many);
  }
}

TEST(ArticulatedInertiaTest, LanesOfAPackAndCountedNumbersGiveTheSame) {
  Random random;
  const Transform<double> X = random.transform();
  const ArticulatedInertia<double> I = random.articulated();
  const RigidInertia<double> R = random.rigid();
  const Transform<Pack> Xp = Transform<Pack>::from(X);
  const auto Ip = congruence(Xp, ArticulatedInertia<Pack>::zero() += I);
  const auto Rp = congruence(Xp, R);  // parameters are plain doubles at every scalar
  const auto Ic = congruence(Transform<Count>::from(X), ArticulatedInertia<Count>::zero() += I);
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) {
      for (int l = 0; l < Pack::size; ++l) {
        EXPECT_NEAR(Ip.A(i, j)[l], congruence(X, I).A(i, j), many);
        EXPECT_NEAR(Ip.B(i, j)[l], congruence(X, I).B(i, j), many);
        EXPECT_NEAR(Ip.C(i, j)[l], congruence(X, I).C(i, j), many);
        EXPECT_NEAR(Rp.I(i, j)[l], congruence(X, R).I(i, j), many);
      }
      EXPECT_NEAR(Ic.A(i, j).value(), congruence(X, I).A(i, j), many);
      EXPECT_NEAR(Ic.B(i, j).value(), congruence(X, I).B(i, j), many);
    }
  }
}

}  // namespace
}  // namespace espalier::inertia_test
