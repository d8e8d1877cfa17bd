#include "algorithms/mass_matrix/composite_bodies.hpp"

#include "tests/algorithms/chains/chain_kernels.hpp"
#include "tests/support/host.hpp"
#include "tests/support/random_cluster_robot.hpp"
#include "tests/support/random_robot.hpp"
#include "tests/support/state.hpp"

// Kernels and segments of the composite-rigid-body algorithm: algorithms/segments/composite/,
// ways_inward.hpp, and chains/carried_wrenches.hpp.

namespace espalier::test::composite_bodies_test {
namespace {

// --- kernels
// --------------------------------------------------------------------------------------

TEST(CompositeKernelsTest, InertiaFromElsewhereIsTheDenseCongruence) {
  Random random;
  for (int k = 0; k < 10; ++k) {
    const RigidInertia<double> I = random.rigid(), own = random.rigid();
    const Vec3<double> r = random.vec();
    RigidInertia<double> sum = own;
    add_shifted(I, r, sum);
    const Matrix6d X = dense(Transform<double>{Mat3<double>::identity(), r});
    expect_near(dense(sum), dense(own) + X.transpose() * dense(I) * X);
  }
}

TEST(CompositeKernelsTest, InertiaInOtherAxesIsTheDenseCongruence) {
  Random random;
  for (int k = 0; k < 10; ++k) {
    const RigidInertia<double> I = random.rigid(), own = random.rigid();
    const Mat3<double> E = random.transform().E;
    RigidInertia<double> sum = own;
    add_turned(I, E, sum);
    const Matrix6d X = dense(Transform<double>{E, Vec3<double>::zero()});
    expect_near(dense(sum), dense(own) + X.transpose() * dense(I) * X);
  }
}

TEST(CompositeKernelsTest, UnitAndItsWrenchAreThoseOfTheSubspace) {
  Random random;
  CompositeBody<double> b;
  b.E = random.transform().E;
  b.Ic = random.rigid();
  const Matrix6d to_world = dense(Transform<double>{b.E.transposed(), Vec3<double>::zero()});
  const auto expect_unit = [&](auto ops, const Motion<double>& S) {
    const Motion<double> unit = b.unit<decltype(ops)>(&S, 0);
    expect_near(dense(unit), to_world * dense(S));
    expect_near(dense(b.composite_times<decltype(ops)>(unit)), dense(b.Ic) * dense(unit));
  };
  expect_unit(SubspaceOps<RevoluteAxes>{}, {{0, 0, 1}, {0, 0, 0}});
  expect_unit(SubspaceOps<PrismaticAxes>{}, {{0, 0, 0}, {0, 0, 1}});
}

/// Two bodies that a wrench passes on its way, after six rates of a floating root.
class WaysInwardTest : public testing::Test {
 protected:
  static constexpr int size = 10, root = 1;  // rates 0 to 5, 6 and 7, 8; of the wrench: 9
  WaysInwardTest() : ways_(size), M_(size * size, 3.0) {
    const int first = ways_.add_columns(2), second = ways_.add_columns(1);
    way_.support = 3, way_.end = root;
    way_.ranges = {{second, 8, 1}, {first, 6, 2}};  // from the support on
    WaysInward<double>::join(way_);
    ways_.lay_out(root, nullptr, true);
    for (int k = 0; k < 3; ++k) {
      J_[k] = random_.motion(), x_[k] = random_.vec();
      ways_.store(first + k, J_[k], x_[k]);
    }
    F_ = random_.force();
  }
  MassEntries<double> all() { return {M_.data(), size}; }
  MassEntries<double> lower() { return {M_.data(), size, false}; }
  /// F^T J_k, both about the first origin: J at x is J' there with v' = v + x x w.
  double expected(int k) const {
    return dense(F_).dot(dense(Motion<double>{J_[k].w, J_[k].v + cross(x_[k], J_[k].w)}));
  }

  Random random_;
  WaysInward<double> ways_;
  WaysInward<double>::Way way_;
  std::vector<double> M_;
  Motion<double> J_[3];
  Vec3<double> x_[3];
  Force<double> F_;
};

TEST_F(WaysInwardTest, ColumnsSideBySideAreOneRange) {
  ASSERT_EQ(way_.ranges.size(), 1u);
  EXPECT_EQ(way_.ranges[0].rate, 6);
  EXPECT_EQ(way_.ranges[0].count, 3);
}
TEST_F(WaysInwardTest, WrenchMeetsTheRatesOnItsWay) {
  ways_.write_row(way_, F_, 9, 9, all());
  for (int i = 0; i < 6; ++i) EXPECT_EQ(M_[90 + i], F_[i]);
  for (int k = 0; k < 3; ++k) EXPECT_NEAR(M_[96 + k], expected(k), rounding);
  EXPECT_EQ(M_[99], 3.0);
}
TEST_F(WaysInwardTest, RowsAddUp) {
  ways_.add_row(way_, F_, 9, M_.data());
  for (int i = 0; i < 6; ++i) EXPECT_NEAR(M_[90 + i], 3.0 + F_[i], rounding);
  for (int k = 0; k < 3; ++k) EXPECT_NEAR(M_[96 + k], 3.0 + expected(k), rounding);
}
TEST_F(WaysInwardTest, ShortRangesAreMetOneByOneInBothTriangles) {
  WaysInward<double>::divide(way_);
  ASSERT_EQ(way_.entries.size(), 3u);
  ways_.write_row(way_, F_, 9, 9, all());
  for (int i = 0; i < 6; ++i) EXPECT_EQ(M_[90 + i], F_[i]);
  for (int k = 0; k < 3; ++k) EXPECT_NEAR(M_[96 + k], expected(k), rounding);
  for (int i = 0; i < 9; ++i) EXPECT_EQ(M_[90 + i], M_[10 * i + 9]) << i;
  EXPECT_EQ(M_[99], 3.0);
}
TEST_F(WaysInwardTest, ColumnsAreLeftWhereTheLowerTriangleIsEnough) {
  ways_.write_both(way_, F_, 9, lower());
  const std::vector<double> both = M_;
  std::fill(M_.begin(), M_.end(), 3.0);
  WaysInward<double>::divide(way_);
  ways_.write_row(way_, F_, 9, 9, lower());
  EXPECT_EQ(M_, both);
  for (int i = 0; i < 6; ++i) EXPECT_EQ(M_[90 + i], F_[i]);
  for (int i = 0; i < 9; ++i) EXPECT_EQ(M_[10 * i + 9], 3.0) << i;
}
TEST_F(WaysInwardTest, LongRangesStayRanges) {
  way_.ranges = {{0, 5, 4}};
  WaysInward<double>::divide(way_);
  EXPECT_TRUE(way_.entries.empty());
}
TEST_F(WaysInwardTest, RowAndColumnAreTheSame) {
  std::vector<double> mirrored(size * size, 3.0);
  ways_.write_both(way_, F_, 9, all());
  ways_.write_row(way_, F_, 9, 9, {mirrored.data(), size});
  ways_.mirror_rates({&way_, 1}, 9, 1, mirrored.data());
  for (int i = 0; i < 9; ++i) {
    EXPECT_EQ(M_[90 + i], M_[10 * i + 9]) << i;
    EXPECT_NEAR(M_[90 + i], mirrored[10 * i + 9], rounding) << i;
  }
}

/// A chain of a few bodies as carry_to_base() knows it; lanes of the state are chains.
struct FewBodies {
  struct Body {
    ChainKind kind;
    ChainPlacement<Quad> P;
    Quad c, s;
  };
  std::vector<Body> bodies;
  Turn<Quad> base_frame;
  Vec3<Quad> r;
};

TEST(CarriedWrenchesTest, PassTheChainOfTheirLane) {
  Lanes random;
  FewBodies unit;
  std::vector<Turn<Quad>> t;
  for (const Placement placement : {Placement::parallel, Placement::right, Placement::any}) {
    t.push_back(random.turn<Quad>());
    unit.bodies.push_back({{Twist::any, true, false},
                           random_placement<Quad>(random, placement, true),
                           t.back().c,
                           t.back().s});
  }
  unit.base_frame = random.turn<Quad>();
  unit.r = random.vec<Quad>();
  const auto F = random.force<Quad>();  // lanes are wrenches here
  for (int chain = 0; chain < Quad::size; ++chain) {
    int visited = 0;
    const auto at_base = carry_to_base<double>(unit, chain, 2, false, F,
                                               [&](const auto&, const auto&) { ++visited; });
    EXPECT_EQ(visited, 3);
    Matrix6d X = Matrix6d::Identity();
    for (int i = 2; i >= 0; --i) X = X * dense(transform_of(unit.bodies[i].P, t[i], chain));
    const auto at_parent = base_to_parent(unit, chain, at_base);
    const double c = lane(unit.base_frame.c, chain), s = lane(unit.base_frame.s, chain);
    const Matrix6d base = dense(
        Transform<double>{Mat3<double>{{{c, s, 0}, {-s, c, 0}, {0, 0, 1}}}, one(unit.r, chain)});
    for (int k = 0; k < Quad::size; ++k) {
      const Vector6d at_tip = dense(one(F, k)), expected = X.transpose() * at_tip;
      expect_near(dense(one(at_base, k)), expected, tolerance<Quad>);
      expect_near(dense(one(at_parent, k)), Vector6d(base.transpose() * expected), tolerance<Quad>);
    }
    // On the ground, the first body is the last that they pass.
    visited = 0;
    const auto at_first = carry_to_base<double>(unit, chain, 2, true, F,
                                                [&](const auto&, const auto&) { ++visited; });
    const Matrix6d X1 = dense(transform_of(unit.bodies[1].P, t[1], chain)),
                   X2 = dense(transform_of(unit.bodies[2].P, t[2], chain));
    for (int k = 0; k < Quad::size; ++k) {
      const Vector6d expected = (X2 * X1).transpose() * dense(one(F, k));
      expect_near(dense(one(at_first, k)), expected, tolerance<Quad>);
    }
    EXPECT_EQ(visited, 3);
  }
}

// --- segments
// ---------------------------------------------------------------------------------------

/// Calls f(name, model) for robots of all kinds whose joints supply no dynamics of their own.
template <class F>
void for_robots(F&& f) {
  for (const char* file :
       {"humanoid.urdf", "panda.urdf", "mini_cheetah_geared.yaml", "mit_humanoid.yaml",
        "tello.yaml", "jvrc1_geared.yaml", "four_bar_leg.yaml", "rod_ankle.yaml"}) {
    for (const auto root : {CompileOptions::Root::fixed, CompileOptions::Root::floating}) {
      CompileOptions options;
      options.root = root;
      ModelPtr model;
      try {
        model = host().load(std::string(ESPALIER_SOURCE_DIR "/robots/") + file, options);
      } catch (const InvalidModel&) {
        continue;  // a root that the file settles
      }
      f(std::string(file) + (root == CompileOptions::Root::fixed ? "" : ", floating"), model);
    }
  }
}

/// A sum of some hundred products, where rotors' large ratios cancel four digits.
constexpr double agreed = 1e-11;

void expect_same(const std::vector<double>& M, const std::vector<double>& expected,
                 const std::string& name) {
  const double scale = std::max(1.0, largest(expected));
  EXPECT_LT(largest_difference(M, expected), agreed * scale) << name;
}
State any_state(const Model& model, int k) {
  return model.is_tree() ? random_state(model, k) : random_cluster_state(model, k);
}

/// What a robot is divided into changes the order of operations alone.
template <class... Kinds>
void expect_same_with() {
  int robots = 0;
  for_robots([&](const std::string& name, const ModelPtr& model) {
    ++robots;
    SpanningMotion<double> motion(*model);
    CompositeBodies<double> all(*model);
    CompositeBodiesOver<double, Kinds...> some(*model);
    const std::size_t n = model->nv() * model->nv();
    std::vector<double> expected(n), M(n);
    for (int k = 0; k < 3; ++k) {
      const State s = any_state(*model, k);
      motion.update(s.q.data(), nullptr);
      all.compute(s.q.data(), motion, expected.data());
      some.compute(s.q.data(), motion, M.data());
      expect_same(M, expected, name);
    }
  });
  EXPECT_GE(robots, 8);
}

TEST(CompositeBodiesTest, OneGeneralKindPassesEveryRobot) { expect_same_with<ClusterOnSeveral>(); }
TEST(CompositeBodiesTest, ChainsAreRunsOfBodies) {
  expect_same_with<PlainRun, FloatingBase, ClusterOnOne, ClusterOnSeveral>();
}
TEST(CompositeBodiesTest, FloatingBaseIsAPlainBody) {
  expect_same_with<ChainGroup, PlainRun, ClusterOnOne, ClusterOnSeveral>();
}

/// Trees so bushy that most of M is zero: each body's way is met column by column.
TEST(CompositeBodiesTest, BushyTreesAreTheSameAsGeneralClusters) {
  for (int seed = 0; seed < 12; ++seed) {
    RobotOptions options;
    options.seed = seed;
    options.bodies = 60;
    options.floating_base = seed % 2 == 1;
    if (seed % 3 != 0) options.types = {"revolute"};
    if (seed % 4 < 2) options.shape = RobotOptions::Shape::binary;
    const ModelPtr model = host().compile(random_robot(host().registry(), options));
    SpanningMotion<double> motion(*model);
    CompositeBodies<double> all(*model);
    CompositeBodiesOver<double, ClusterOnSeveral> general(*model);
    const std::size_t n = model->nv() * model->nv();
    std::vector<double> expected(n), M(n, 7.0);
    const State s = random_state(*model, seed);
    motion.update(s.q.data(), nullptr);
    general.compute(s.q.data(), motion, expected.data());
    all.compute(s.q.data(), motion, M.data());
    expect_same(M, expected, "seed " + std::to_string(seed));
  }
}

/// M = G^T H G: rotors are bodies in H, and folded in M.
TEST(CompositeBodiesTest, SpanningRatesGiveTheProjectedInertia) {
  for_robots([](const std::string& name, const ModelPtr& model) {
    SpanningMotion<double> motion(*model);
    using Bodies = CompositeBodies<double>;
    Bodies independent(*model), spanning(*model, Bodies::Rates::spanning);
    const int n = model->spanning_nv(), nv = model->nv();
    std::vector<double> H(n * n), M(nv * nv), unit(nv), column(n), projected(nv * nv);
    for (int k = 0; k < 2; ++k) {
      const State s = any_state(*model, k);
      motion.update(s.q.data(), nullptr);
      independent.compute(s.q.data(), motion, M.data());
      spanning.compute(s.q.data(), motion, H.data());
      std::vector<std::vector<double>> G;  // columns
      for (int j = 0; j < nv; ++j) {
        unit.assign(nv, 0.0), unit[j] = 1.0;
        motion.expand(unit.data(), column.data());
        G.push_back(column);
      }
      for (int i = 0; i < nv; ++i) {
        for (int j = 0; j < nv; ++j) {
          double sum = 0.0;
          for (int a = 0; a < n; ++a) {
            if (G[i][a] == 0.0) continue;
            for (int b = 0; b < n; ++b) sum += G[i][a] * H[a * n + b] * G[j][b];
          }
          projected[i * nv + j] = sum;
        }
      }
      expect_same(M, projected, name);
    }
  });
}

}  // namespace
}  // namespace espalier::test::composite_bodies_test
