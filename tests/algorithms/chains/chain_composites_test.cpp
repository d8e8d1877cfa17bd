#include "algorithms/chains/columns/wrench_columns.hpp"
#include "algorithms/chains/pairs.hpp"
#include "tests/algorithms/chains/chain_kernels.hpp"
#include "tests/support/dense_algebra.hpp"

// chains/composites/composites.hpp at every scalar, and chains/pairs.hpp at double, the one that it
// is for.

namespace espalier::test::chain_composites_test {
namespace {

template <class Types>
class ChainCompositeTest : public ChainKernelTest<Types> {};
using AllScalars =
    testing::Types<Scalars<double, double>, Scalars<Quad, Quad>, Scalars<Pack, double>,
                   Scalars<FloatPack, double>, Scalars<Count, double>>;
TYPED_TEST_SUITE(ChainCompositeTest, AllScalars);

template <class S>
CompositeMoments<S> random_composite(Lanes& random) {
  return {random.any<S>(), random.vec<S>(), random.sym<S>()};
}

TYPED_TEST(ChainCompositeTest, CompositeToTheParentIsTheCongruence) {
  ESPALIER_HERE;
  this->for_placements([&]<ChainKind kind>(const ChainPlacement<C>& P, const Turn<S>& t) {
    const auto I = random_composite<S>(random);
    CompositeMoments<S> at_parent = I;
    to_parent<kind>(P, t, at_parent);
    for (int k = 0; k < lanes; ++k) {
      const Matrix6d X = dense(transform_of(P, t, k));
      this->expect_close(dense_body(at_parent, k), X.transpose() * dense_body(I, k) * X);
    }
  });
}

/// What others exchange with a body of a chain, against the transform that the frame is.
TYPED_TEST(ChainCompositeTest, ModelFrameIsItsTransform) {
  ESPALIER_HERE;
  for (const double slide : {0.0, 0.7}) {
    const auto turn = random.template turn<double>();
    const Transform<double> F{rotation_z(turn.s, turn.c), {0.0, 0.0, slide}};
    const ModelFrame frame(F);
    EXPECT_EQ(frame.slide(), slide);
    const auto v = random.template vec<S>();
    const auto m = random.template motion<S>();
    const auto f = random.template force<S>();
    const auto I = random.template articulated<S>();
    const auto body = random_composite<S>(random);
    const Matrix6d X = dense(F), back = inverse(X);
    for (int k = 0; k < lanes; ++k) {
      const Eigen::Matrix3d E = dense(F.E);
      this->expect_close(dense(one(frame.to_model(v), k)), E.transpose() * dense(one(v, k)));
      this->expect_close(dense(one(frame.to_model(m), k)), back * dense(one(m, k)));
      this->expect_close(dense(one(frame.to_chain(f), k)), back.transpose() * dense(one(f, k)));
      this->expect_close(dense(one(frame.to_chain(I), k)),
                         back.transpose() * dense(one(I, k)) * back);
      this->expect_close(dense_body(frame.to_chain(body), k),
                         back.transpose() * dense_body(body, k) * back);
    }
  }
}

TYPED_TEST(ChainCompositeTest, BodyIsAddedToTheComposite) {
  ESPALIER_HERE;
  const auto b = random.template chain_moments<C>();
  const auto I = random_composite<S>(random);
  CompositeMoments<S> sum = I;
  add_body(b, sum);
  for (int k = 0; k < lanes; ++k) {
    this->expect_close(dense_body(sum, k), dense_body(I, k) + dense_body(b, k));
  }
}

TYPED_TEST(ChainCompositeTest, CompositeShifts) {
  ESPALIER_HERE;
  const auto I = random_composite<S>(random);
  const auto r = random.template vec<C>();
  CompositeMoments<S> shifted_one = I;
  shift(shifted_one, r);
  for (int k = 0; k < lanes; ++k) {
    const Matrix6d X = dense(Transform<double>{Mat3<double>::identity(), one(r, k)});
    this->expect_close(dense_body(shifted_one, k), X.transpose() * dense_body(I, k) * X);
  }
}

/// Wrenches that pass a chain side by side meet the constants of one body.
class CarriedWrenchTest : public ChainKernelTest<Scalars<Quad, double>> {};

TEST_F(CarriedWrenchTest, LanesAreWrenchesOfOneBody) {
  for_placements([&]<ChainKind kind>(const ChainPlacement<double>& P, const Turn<Quad>& t) {
    const auto f = random_.force<Quad>();
    Force<Quad> at_parent = f;
    to_parent<kind>(P, t, at_parent);
    for (int k = 0; k < Quad::size; ++k) {
      const Matrix6d X = dense(transform_of(P, t, k));
      expect_close(dense(one(at_parent, k)), X.transpose() * dense(one(f, k)));
    }
  });
}

/// Wrenches of a lone chain, side by side, against each of them taken from body to body.
class WrenchColumnsTest : public testing::Test {
 protected:
  struct Numbered {
    int rate[1];
  };
  static constexpr int most = 9;  // bodies: two whole blocks and one begun
  static constexpr int before = 2, size = before + most + 1;

  /// Entries of M by wrenches that pass the last `bodies` ones, and what the columns write.
  template <ChainKind kind>
  void expect_moments(Placement which, bool offset, int bodies, bool in_sequence) {
    std::vector<Numbered> rates(bodies);
    for (int i = 0; i < bodies; ++i) rates[i].rate[0] = before + (in_sequence ? i : bodies - 1 - i);
    constexpr double untouched = 1e300;
    std::vector<double> M(size * size, untouched), expected = M;
    std::vector<Force<Quad>> blocks(blocks_of<double>(bodies), random_.force<Quad>());
    WrenchColumns<double> columns(blocks.data(), bodies, 0);
    std::vector<Vector6d> F(bodies);
    const auto entry = [&](std::vector<double>& m, int i, int j) -> double& {
      return m[rates[i].rate[0] * size + rates[j].rate[0]];
    };
    for (int i = bodies - 1; i >= 0; --i) {
      columns.write_moments(rates.data(), rates[i], in_sequence, M.data(), size);
      for (int j = i + 1; j < bodies; ++j) entry(expected, i, j) = entry(expected, j, i) = F[j][2];
      const auto own = random_.force<double>();
      const auto P = random_placement<double>(random_, which, offset);
      const Turn<double> t = random_.turn<double>();
      columns.add<kind>(own.n, own.f.x, own.f.y, P, Turn<Quad>::of(Quad(t.c), Quad(t.s)));
      F[i] = dense(Force<double>{own.n, {own.f.x, own.f.y, 0.0}});
      const Matrix6d X = dense(transform_of<double, double>(P, t, 0));
      for (int j = i; j < bodies; ++j) F[j] = X.transpose() * F[j];
      const auto n = random_.vec<double>();
      columns.add_moment(n);
      F[i].head<3>() += Eigen::Vector3d(n.x, n.y, n.z);
    }
    for (int i = 0; i < bodies; ++i) entry(M, i, i) = entry(expected, i, i) = 0.0;  // others' work
    for (int k = 0; k < size * size; ++k) {
      // A wrench passes nine bodies, of arms up to 1 m.
      EXPECT_NEAR(M[k], expected[k], most * tolerance<double>) << bodies << " bodies, entry " << k;
    }
    for (int i = 0; i < bodies; ++i) {
      expect_near(dense(columns.of(i)), F[i], most * tolerance<double>);
    }
  }

  Lanes random_;
};

TEST_F(WrenchColumnsTest, AreThoseThatPassOneByOne) {
  for_kernels([&]<ChainKind kind>(Placement which, bool offset) {
    for (int bodies = 1; bodies <= most; ++bodies) {
      for (const bool in_sequence : {false, true}) {
        expect_moments<kind>(which, offset, bodies, in_sequence);
      }
    }
  });
}

// --- chains/pairs.hpp: double alone
// ----------------------------------------------------------------

class ChainPairsTest : public testing::Test {
 protected:
  static void expect_close(const Matrix6d& a, const Matrix6d& b) {
    expect_near(a, b, tolerance<double>);
  }
  static void expect_close(const Vector6d& a, const Vector6d& b) {
    expect_near(a, b, tolerance<double>);
  }

  Lanes random_;
};

TEST_F(ChainPairsTest, PairsAreTheNumbers) {
  const auto f = random_.force<double>();
  const auto I = random_.articulated<double>();
  EXPECT_EQ(dense(PairedForce::of(f).plain()), dense(f));
  EXPECT_EQ(dense(QuadInertia::of(I).plain()), dense(I));
  EXPECT_EQ(dense(PairedForce::zero().plain()), Vector6d(Vector6d::Zero()));
  EXPECT_EQ(dense(QuadInertia::zero().plain()), Matrix6d(Matrix6d::Zero()));
}

TEST_F(ChainPairsTest, WrenchToTheParentIsXTransposed) {
  for_kernels([&]<ChainKind kind>(Placement which, bool offset) {
    const PairedPlacement P = random_paired_placement(random_, which, offset);
    const Turn<double> t = random_.turn<double>();
    const auto f = random_.force<double>();
    PairedForce at_parent = PairedForce::of(f);
    to_parent<kind>(P, Turn<Pair>::of(Pair(t.c), Pair(t.s)), at_parent);
    const Matrix6d X = dense(transform_of<double, double>(P, t, 0));
    expect_close(dense(at_parent.plain()), X.transpose() * dense(f));
  });
}

/// The column of I for the axis, and the wrench on the body, beside each other.
TEST_F(ChainPairsTest, BothWrenchesToTheParentAreXTransposed) {
  for_kernels([&]<ChainKind kind>(Placement which, bool offset) {
    const PairedPlacement P = random_paired_placement(random_, which, offset);
    const Turn<double> t = random_.turn<double>();
    const auto f = random_.force<double>();
    const auto I = random_.articulated<double>();
    QuadWrenches at_parent = QuadWrenches::zero();
    at_parent.set_wrench(f);
    at_parent.set_column(QuadInertia::of(I));
    to_parent<kind>(P, Turn<Quad>::of(Quad(t.c), Quad(t.s)), at_parent);
    const Matrix6d X = dense(transform_of<double, double>(P, t, 0));
    expect_close(dense(at_parent.wrench()), X.transpose() * dense(f));
    expect_close(dense(at_parent.column().plain()), X.transpose() * dense(I).col(2));
  });
}

TEST_F(ChainPairsTest, InertiaToTheParentIsTheCongruence) {
  for_kernels([&]<ChainKind kind>(Placement which, bool offset) {
    const PairedPlacement P = random_paired_placement(random_, which, offset);
    const Turn<double> t = random_.turn<double>();
    const auto I = random_.articulated<double>();
    QuadInertia at_parent = QuadInertia::of(I);
    to_parent<kind>(P, Turn<Quad>::of(Quad(t.c), Quad(t.s)), at_parent);
    const Matrix6d X = dense(transform_of<double, double>(P, t, 0));
    expect_close(dense(at_parent.plain()), X.transpose() * dense(I) * X);
  });
}

TEST_F(ChainPairsTest, BodyIsAddedToTheInertia) {
  PairedMoments b;
  static_cast<ChainMoments<double>&>(b) = random_.chain_moments<double>();
  b.make_pairs();
  const auto I = random_.articulated<double>();
  QuadInertia sum = QuadInertia::of(I);
  add_body(b, sum);
  expect_close(dense(sum.plain()), dense(I) + dense_body<double>(b, 0));
}

TEST_F(ChainPairsTest, AxisIsTheThirdColumn) {
  const auto I = random_.articulated<double>();
  const auto f = random_.force<double>();
  const auto n = random_.vec<double>();
  EXPECT_EQ(axis_inertia(QuadInertia::of(I)), dense(I)(2, 2));
  EXPECT_EQ(axis_moment(PairedForce::of(f)), dense(f)(2));
  PairedForce axial = PairedForce::of(f), moved = axial;
  add_axis_moment(axial, 0.5);
  add_moment(moved, n);
  Vector6d expected = dense(f);
  expected(2) += 0.5;
  expect_close(dense(axial.plain()), expected);
  expected = dense(f);
  expected.head<3>() += dense(n);
  expect_close(dense(moved.plain()), expected);
}

TEST_F(ChainPairsTest, Sums) {
  const auto f = random_.force<double>(), g = random_.force<double>();
  PairedForce sum = PairedForce::of(f);
  sum += PairedForce::of(g);
  expect_close(dense(sum.plain()), dense(f) + dense(g));
  const Sym3<double> A = random_.sym<double>();
  const auto I = random_.articulated<double>();
  QuadInertia with_rotation = QuadInertia::of(I);
  add_rotation(with_rotation, A);
  Matrix6d expected = dense(I);
  expected.topLeftCorner<3, 3>() += dense(A);
  expect_close(dense(with_rotation.plain()), expected);
}

/// What is added to the column of the inertia and to the wrench, each by itself.
TEST_F(ChainPairsTest, ColumnAndWrench) {
  const auto f = random_.force<double>(), g = random_.force<double>(), h = random_.force<double>();
  const auto I = random_.articulated<double>();
  QuadWrenches w = QuadWrenches::zero();
  w.set_wrench(f);
  w.add_wrench(PairedForce::of(g));
  w.set_column(QuadInertia::of(I));
  EXPECT_NEAR(w.axis_moment(), f.n.z + g.n.z, tolerance<double>);
  w.add_to_column(h);
  w.add_axis_moment_to_column(0.5);
  w.add_moments(g.n, f.n);
  Vector6d column = dense(I).col(2) + dense(h), wrench = dense(f) + dense(g);
  column(2) += 0.5;
  column.head<3>() += dense(g.n), wrench.head<3>() += dense(f.n);
  expect_close(dense(w.column().plain()), column);
  expect_close(dense(w.wrench()), wrench);
}

TEST_F(ChainPairsTest, Elimination) {
  const auto I = random_.articulated<double>();
  const auto U = random_.force<double>(), p = random_.force<double>();
  const double s = random_.number(), u = random_.number();
  QuadInertia rest = QuadInertia::of(I);
  QuadWrenches w = QuadWrenches::zero();
  w.set_wrench(p);
  w.add_to_column(U);
  const PairedForce over_D = eliminate(rest, w, s, u);
  expect_close(dense(rest.plain()), dense(I) - s * dense(U) * dense(U).transpose());
  expect_close(dense(w.wrench()), dense(p) + u * dense(U));
  expect_close(dense(over_D.plain()), s * dense(U));
}

}  // namespace
}  // namespace espalier::test::chain_composites_test
