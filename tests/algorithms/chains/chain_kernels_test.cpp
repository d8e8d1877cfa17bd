#include "tests/algorithms/chains/chain_kernels.hpp"

// chains/kernels.hpp at every scalar and every class of placements that it is written out for.

namespace espalier::test::chain_kernels_test {
namespace {

TEST(ChainKindTest, KernelIsTheOneOfTheKindOrOneThatCoversIt) {
  int seen = 0;
  for (const Twist twist : {Twist::parallel, Twist::right, Twist::any}) {
    for (const bool offset : {false, true}) {
      for (const bool geared : {false, true}) {
        with_kind({twist, offset, geared}, [&]<ChainKind kind>() {
          EXPECT_EQ(kind.twist, twist);
          EXPECT_EQ(kind.offset, offset || geared);
          EXPECT_EQ(kind.geared, geared);
          ++seen;
        });
      }
    }
  }
  EXPECT_EQ(seen, 12);
}

using AllScalars =
    testing::Types<Scalars<double, double>, Scalars<Quad, Quad>, Scalars<Pack, double>,
                   Scalars<FloatPack, double>, Scalars<Count, double>>;
TYPED_TEST_SUITE(ChainKernelTest, AllScalars);

TYPED_TEST(ChainKernelTest, VectorsTurnByE) {
  ESPALIER_HERE;
  this->for_placements([&]<ChainKind kind>(const ChainPlacement<C>& P, const Turn<S>& t) {
    const auto v = random.template vec<S>();
    const auto x = random.template any<S>();
    const Vec3<S> turned = rotate_to_child<kind>(P, t, v);
    const Vec3<S> with_rate = rotate_to_child<kind>(P, t, v, x);
    for (int k = 0; k < lanes; ++k) {
      const Vector3d expected = dense(transform_of(P, t, k).E) * dense(one(v, k));
      this->expect_close(dense(one(turned, k)), expected);
      this->expect_close(dense(one(with_rate, k)), expected + Vector3d(0, 0, one(x, k)));
    }
  });
}

TYPED_TEST(ChainKernelTest, ChildTurnsOnAboutItsAxis) {
  ESPALIER_HERE;
  const auto alpha = random.template vec<S>(), omega = random.template vec<S>();
  const auto qd = random.template any<S>(), qdd = random.template any<S>();
  Vec3<S> coasting = alpha, driven = alpha;
  add_turning<false>(coasting, omega, qd, qdd);
  add_turning<true>(driven, omega, qd, qdd);
  for (int k = 0; k < lanes; ++k) {
    const Vector3d rate(0, 0, one(qd, k));
    const Vector3d expected = dense(one(alpha, k)) + dense(one(omega, k)).cross(rate).eval();
    this->expect_close(dense(one(coasting, k)), expected);
    this->expect_close(dense(one(driven, k)), expected + Vector3d(0, 0, one(qdd, k)));
  }
}

TYPED_TEST(ChainKernelTest, WrenchToTheParentIsXTransposed) {
  ESPALIER_HERE;
  this->for_placements([&]<ChainKind kind>(const ChainPlacement<C>& P, const Turn<S>& t) {
    const auto f = random.template force<S>();
    Force<S> at_parent = f;
    to_parent<kind>(P, t, at_parent);
    for (int k = 0; k < lanes; ++k) {
      const Matrix6d X = dense(transform_of(P, t, k));
      this->expect_close(dense(one(at_parent, k)), X.transpose() * dense(one(f, k)));
    }
  });
}

TYPED_TEST(ChainKernelTest, MotionToTheChildIsX) {
  ESPALIER_HERE;
  this->for_placements([&]<ChainKind kind>(const ChainPlacement<C>& P, const Turn<S>& t) {
    const auto m = random.template motion<S>();
    const Motion<S> at_child{rotate_to_child<kind>(P, t, m.w),
                             rotate_to_child<kind>(P, t, shifted_velocity<kind>(P, m))};
    for (int k = 0; k < lanes; ++k) {
      const Matrix6d X = dense(transform_of(P, t, k));
      this->expect_close(dense(one(at_child, k)), X * dense(one(m, k)));
    }
  });
}

TYPED_TEST(ChainKernelTest, AccelerationMatrixTimesTheOffset) {
  ESPALIER_HERE;
  this->for_placements([&]<ChainKind kind>(const ChainPlacement<C>& P, const Turn<S>& t) {
    const auto Om = random.template mat<S>();
    const Vec3<S> product = swept<kind>(P, Om);
    for (int k = 0; k < lanes; ++k) {
      const Vector3d r = dense(transform_of(P, t, k).r);
      this->expect_close(dense(one(product, k)), dense(one(Om, k)) * r);
    }
  });
}

TYPED_TEST(ChainKernelTest, InertiaToTheParentIsTheCongruence) {
  ESPALIER_HERE;
  this->for_placements([&]<ChainKind kind>(const ChainPlacement<C>& P, const Turn<S>& t) {
    const auto I = random.template articulated<S>();
    ArticulatedInertia<S> at_parent = I;
    to_parent<kind>(P, t, at_parent);
    for (int k = 0; k < lanes; ++k) {
      const Matrix6d X = dense(transform_of(P, t, k));
      this->expect_close(dense(one(at_parent, k)), X.transpose() * dense(one(I, k)) * X);
    }
  });
}

/// Once a joint is eliminated, nothing resists about its axis: the kernels leave those zeros out.
TYPED_TEST(ChainKernelTest, FlatInertiaToTheParentIsTheCongruence) {
  ESPALIER_HERE;
  this->for_placements([&]<ChainKind kind>(const ChainPlacement<C>& P, const Turn<S>& t) {
    auto I = random.template articulated<S>();
    I.A.xz = I.A.yz = I.A.zz = S(0.0);
    I.B.row[2] = Vec3<S>::zero();
    ArticulatedInertia<S> at_parent = I;
    to_parent<kind, true>(P, t, at_parent);
    for (int k = 0; k < lanes; ++k) {
      const Matrix6d X = dense(transform_of(P, t, k));
      this->expect_close(dense(one(at_parent, k)), X.transpose() * dense(one(I, k)) * X);
    }
  });
}

/// E^T A E for a turn about z (axes 0 and 1) and about x (axes 1 and 2).
TYPED_TEST(ChainKernelTest, MatricesTurnByTheCongruence) {
  ESPALIER_HERE;
  const Turn<S> t = random.template turn<S>();
  const auto A = random.template sym<S>();
  const auto B = random.template mat<S>();
  Sym3<S> A_z = A, A_x = A;
  Mat3<S> B_z = B, B_x = B;
  rotate_to_parent<0, 1, false>(A_z, t), rotate_to_parent<0, 1, false>(B_z, t);
  rotate_to_parent<1, 2, false>(A_x, t), rotate_to_parent<1, 2, false>(B_x, t);
  for (int k = 0; k < lanes; ++k) {
    const double c = one(t.c, k), s = one(t.s, k);
    Matrix3d Rz, Rx;
    Rz << c, s, 0, -s, c, 0, 0, 0, 1;
    Rx << 1, 0, 0, 0, c, s, 0, -s, c;
    this->expect_close(dense(one(A_z, k)), Rz.transpose() * dense(one(A, k)) * Rz);
    this->expect_close(dense(one(B_z, k)), Rz.transpose() * dense(one(B, k)) * Rz);
    this->expect_close(dense(one(A_x, k)), Rx.transpose() * dense(one(A, k)) * Rx);
    this->expect_close(dense(one(B_x, k)), Rx.transpose() * dense(one(B, k)) * Rx);
  }
}

TYPED_TEST(ChainKernelTest, TurningMatrixIsTheAccelerationMatrix) {
  ESPALIER_HERE;
  const auto omega = random.template vec<S>(), alpha = random.template vec<S>();
  const Mat3<S> Om = turning_matrix(omega, alpha), expected = acceleration_matrix(omega, alpha);
  for (int k = 0; k < lanes; ++k) this->expect_close(dense(one(Om, k)), dense(one(expected, k)));
}

/// f = I a + v x* I v, where a is the spatial acceleration (alpha; a_point - omega x v): any linear
/// velocity of the frame gives the same.
TYPED_TEST(ChainKernelTest, InertialWrenchIsTheEquationOfMotion) {
  ESPALIER_HERE;
  const auto b = random.template chain_moments<C>();
  BodyMotion<S> m;
  m.omega = random.template vec<S>(), m.alpha = random.template vec<S>();
  m.a = random.template vec<S>();
  m.Om = acceleration_matrix(m.omega, m.alpha);
  const Force<S> f = inertial_wrench(b, m);
  for (int k = 0; k < lanes; ++k) {
    const Matrix6d I = dense_body(b, k);
    const Motion<double> v{one(m.omega, k), random.Random::vec()};
    const Motion<double> a{one(m.alpha, k), one(m.a, k) - cross(v.w, v.v)};
    this->expect_close(dense(one(f, k)), I * dense(a) - crm(dense(v)).transpose() * (I * dense(v)));
  }
}

TYPED_TEST(ChainKernelTest, BodyIsAddedToTheInertia) {
  ESPALIER_HERE;
  const auto b = random.template chain_moments<C>();
  const auto I = random.template articulated<S>();
  ArticulatedInertia<S> sum = I;
  add_body(b, sum);
  for (int k = 0; k < lanes; ++k) {
    this->expect_close(dense(one(sum, k)), dense(one(I, k)) + dense_body(b, k));
  }
}

TYPED_TEST(ChainKernelTest, AxisIsTheThirdColumn) {
  ESPALIER_HERE;
  const auto I = random.template articulated<S>();
  const auto f = random.template force<S>();
  const auto x = random.template any<S>();
  const auto n = random.template vec<S>();
  Force<S> axial = f, moved = f;
  add_axis_moment(axial, x);
  add_moment(moved, n);
  for (int k = 0; k < lanes; ++k) {
    this->expect_close(dense(one(axis_column(I), k)), dense(one(I, k)).col(2));
    EXPECT_EQ(one(axis_inertia(I), k), dense(one(I, k))(2, 2));
    EXPECT_EQ(one(axis_moment(f), k), dense(one(f, k))(2));
    Vector6d expected = dense(one(f, k));
    expected(2) += one(x, k);
    this->expect_close(dense(one(axial, k)), expected);
    expected = dense(one(f, k));
    expected.head<3>() += dense(one(n, k));
    this->expect_close(dense(one(moved, k)), expected);
  }
}

TYPED_TEST(ChainKernelTest, EliminationIsARankOneUpdate) {
  ESPALIER_HERE;
  const auto I = random.template articulated<S>();
  const auto p = random.template force<S>();
  const auto s = random.template any<S>(), u = random.template any<S>();
  JointWrenches<S> w = JointWrenches<S>::zero();
  w.set_wrench(p);
  w.set_column(I);
  const Force<S> U = w.column();
  ArticulatedInertia<S> rest = I;
  const Force<S> over_D = eliminate(rest, w, s, u);
  for (int k = 0; k < lanes; ++k) {
    const Vector6d column = dense(one(U, k));
    this->expect_close(column, dense(one(I, k)).col(2));
    this->expect_close(dense(one(rest, k)),
                       dense(one(I, k)) - one(s, k) * column * column.transpose());
    this->expect_close(dense(one(w.wrench(), k)), dense(one(p, k)) + one(u, k) * column);
    this->expect_close(dense(one(over_D, k)), one(s, k) * column);
  }
}

}  // namespace
}  // namespace espalier::test::chain_kernels_test
