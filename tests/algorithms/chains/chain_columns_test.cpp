#include "algorithms/chains/columns/columns.hpp"

#include <set>

#include "tests/algorithms/chains/chain_kernels.hpp"
#include "tests/support/host.hpp"
#include "tests/support/random_cluster_robot.hpp"
#include "tests/support/random_robot.hpp"
#include "tests/support/simple_robot.hpp"

// Blocks of right-hand sides through bodies of chains, at every scalar and every class of
// placements, against dense 6 x 6 algebra; and which chains of a robot they are for.

namespace espalier::test::chain_columns_test {
namespace {

/// A scalar of algorithms, by that of its blocks.
template <class T_>
struct Blocks : Scalars<typename RowLanes<T_>::V, typename RowLanes<T_>::V> {
  using T = T_;
};
template <class Types>
class ChainColumnsTest : public ChainKernelTest<Types> {
 protected:
  using T = typename Types::T;
  using S = typename Types::S;
  using Columns = ChainColumns<T>;
  static constexpr int blocks = 3;

  typename Columns::Body body(const ChainKind& kind, const ChainPlacement<S>& P, const Turn<S>& t) {
    typename Columns::Body b;
    b.body = 1, b.rate = 0, b.kind = kind, b.P = P, b.t = t;
    b.U = this->random_.template force<S>(), b.D = this->random_.template any<S>();
    return b;
  }
  /// A chain of one body on a parent.
  typename Columns::Column chain(const typename Columns::Body& b) {
    typename Columns::Column c;
    c.parent = 1;
    c.bodies = {b};
    return c;
  }
  template <class X, class Make>
  static std::vector<X> some(Make&& make) {
    std::vector<X> all;
    for (int i = 0; i < blocks; ++i) all.push_back(make());
    return all;
  }
};

using AllScalars = testing::Types<Blocks<double>, Blocks<Pack>, Blocks<FloatPack>, Blocks<Count>>;
TYPED_TEST_SUITE(ChainColumnsTest, AllScalars);

TYPED_TEST(ChainColumnsTest, InwardTakesTheRateOffTheWrenchAndPassesTheRestByXTransposed) {
  ESPALIER_HERE;
  this->for_placements([&]<ChainKind kind>(const ChainPlacement<C>& P, const Turn<S>& t) {
    const auto b = this->body({kind.twist, kind.offset, false}, P, t);
    const auto K = this->template some<Force<S>>([&] { return random.template force<S>(); });
    const auto forces = this->template some<S>([&] { return random.template any<S>(); });
    for (const bool divided : {true, false}) {
      auto passed = K;
      std::vector<S> z(K.size(), S(0.0));
      // The first block is left alone.
      ChainColumns<typename TypeParam::T>::inward(this->chain(b), 0, 1, this->blocks, forces.data(),
                                                  passed.data(), z.data(), z.size(), divided);
      for (int i = 0; i < this->blocks; ++i) {
        for (int k = 0; k < lanes; ++k) {
          const Vector6d wrench = dense(one(K[i], k)), U = dense(one(b.U, k));
          const Matrix6d X = dense(transform_of(P, t, k));
          const double Kq = wrench[2] + one(forces[i], k), by = divided ? one(b.D, k) : 1.0;
          const Vector6d expected = i == 0 ? wrench : Vector6d(X.transpose() * wrench - Kq * U);
          this->expect_close(dense(one(passed[i], k)), expected);
          EXPECT_NEAR(one(z[i], k), i == 0 ? 0.0 : by * Kq, tolerance<S>);
        }
      }
    }
  });
}

TYPED_TEST(ChainColumnsTest, FirstBodyOfAParentAtRestTurnsAboutItsAxisAlone) {
  ESPALIER_HERE;
  this->for_placements([&]<ChainKind kind>(const ChainPlacement<C>& P, const Turn<S>& t) {
    const auto c = this->chain(this->body({kind.twist, kind.offset, false}, P, t));
    const auto z = this->template some<S>([&] { return random.template any<S>(); });
    for (const bool by_outward : {false, true}) {
      std::vector<Motion<S>> m(z.size(), Motion<S>::zero());
      std::vector<S> rate(z.size(), S(0.0));
      using Columns = ChainColumns<typename TypeParam::T>;
      const std::size_t stride = z.size();
      if (by_outward) {
        Columns::outward(c, 0, 1, this->blocks, z.data(), m.data(), rate.data(), stride, true);
      } else {
        Columns::start(c, 1, this->blocks, z.data(), m.data(), rate.data(), stride);
      }
      for (int i = 0; i < this->blocks; ++i) {
        for (int k = 0; k < lanes; ++k) {
          const double ydd = i == 0 ? 0.0 : one(z[i], k);
          EXPECT_NEAR(one(rate[i], k), ydd, tolerance<S>);
          Vector6d expected = Vector6d::Zero();
          expected[2] = ydd;
          this->expect_close(dense(one(m[i], k)), expected);
        }
      }
    }
  });
}

TYPED_TEST(ChainColumnsTest, OutwardAddsTheRateToTheMotionPassedByX) {
  ESPALIER_HERE;
  this->for_placements([&]<ChainKind kind>(const ChainPlacement<C>& P, const Turn<S>& t) {
    const auto b = this->body({kind.twist, kind.offset, false}, P, t);
    const auto before = this->template some<Motion<S>>([&] { return random.template motion<S>(); });
    const auto z = this->template some<S>([&] { return random.template any<S>(); });
    for (const bool moves : {true, false}) {
      auto m = before;
      std::vector<S> rate(z.size(), S(0.0));
      ChainColumns<typename TypeParam::T>::outward(this->chain(b), 0, 1, this->blocks, z.data(),
                                                   m.data(), rate.data(), rate.size(), moves);
      for (int i = 0; i < this->blocks; ++i) {
        for (int k = 0; k < lanes; ++k) {
          const Vector6d a = dense(one(before[i], k)), U = dense(one(b.U, k));
          const double ydd = i == 0 ? 0.0 : one(z[i], k) - U.dot(a);
          EXPECT_NEAR(one(rate[i], k), ydd, tolerance<S>);
          Vector6d expected = a;
          if (i > 0 && moves) {
            expected = dense(transform_of(P, t, k)) * a;
            expected[2] += ydd;
          }
          this->expect_close(dense(one(m[i], k)), expected);
        }
      }
    }
  });
}

// theory/chains 6: z_1 = D_1^-1 (r_1 - c z_2), and ydd_2 = z_2 - U_2^T a - (c / D_2) ydd_1.
TYPED_TEST(ChainColumnsTest, RatesOfBeltPairsAreCoupled) {
  ESPALIER_HERE;
  this->for_placements([&]<ChainKind kind>(const ChainPlacement<C>& P, const Turn<S>& t) {
    using Columns = ChainColumns<typename TypeParam::T>;
    auto c = this->chain(this->body({kind.twist, kind.offset, false}, P, t));
    c.bodies.push_back(this->body({kind.twist, kind.offset, false}, P, t));
    c.bodies[0].leads_pair = true;
    auto& second = c.bodies[1];
    second.rate = 1, second.coupled = true;
    second.coupling = random.template any<S>(), second.coupling_over_D = random.template any<S>();
    const Force<S> K = random.template force<S>();
    const S forces[] = {random.template any<S>(), random.template any<S>()};
    Force<S> passed = K;
    S z[] = {S(0.0), S(0.0)};
    Columns::inward(c, 1, 0, 1, forces + 1, &passed, z, 1);
    const Force<S> on_first = passed;
    Columns::inward(c, 0, 0, 1, forces, &passed, z, 1);
    Force<S> again = K;
    S undivided[] = {S(0.0), S(0.0)};
    Columns::inward(c, 1, 0, 1, forces + 1, &again, undivided, 1, false);
    Columns::inward(c, 0, 0, 1, forces, &again, undivided, 1, false);
    const Motion<S> a = random.template motion<S>();
    Motion<S> m = a;
    S rate[2];
    Columns::outward(c, 0, 0, 1, z, &m, rate, 1, true);
    const Motion<S> of_first = m;
    Columns::outward(c, 1, 0, 1, z + 1, &m, rate, 1, true);
    for (int k = 0; k < lanes; ++k) {
      const double z2 = one(second.D, k) * (one(K.n.z, k) + one(forces[1], k));
      const double r1 = one(on_first.n.z, k) + one(forces[0], k);
      EXPECT_NEAR(one(z[1], k), z2, tolerance<S>);
      for (int i = 0; i < 2; ++i) {
        EXPECT_NEAR(one(z[i], k), one(c.bodies[i].D, k) * one(undivided[i], k), tolerance<S>);
      }
      EXPECT_NEAR(one(z[0], k), one(c.bodies[0].D, k) * (r1 - one(second.coupling, k) * z2),
                  tolerance<S>);
      const double rate1 = one(z[0], k) - dense(one(c.bodies[0].U, k)).dot(dense(one(a, k)));
      const double rate2 = z2 - dense(one(second.U, k)).dot(dense(one(of_first, k))) -
                           one(second.coupling_over_D, k) * rate1;
      EXPECT_NEAR(one(rate[0], k), rate1, tolerance<S>);
      EXPECT_NEAR(one(rate[1], k), rate2, tolerance<S>);
    }
  });
}

TYPED_TEST(ChainColumnsTest, ParentSeesTheWrenchAtItsOriginAndGivesTheMotionThere) {
  ESPALIER_HERE;
  using Columns = ChainColumns<typename TypeParam::T>;
  typename Columns::Column c;
  c.parent = 1;
  const Turn<double> t = random.template turn<double>(), u = random.template turn<double>();
  const Mat3<double> E =
      rotation_z(t.s, t.c) * Mat3<double>{{{1, 0, 0}, {0, u.c, u.s}, {0, -u.s, u.c}}};
  const Vec3<double> r = random.template vec<double>();
  c.E = Mat3<typename TypeParam::T>::from(E), c.r = Vec3<typename TypeParam::T>::from(r);
  const Matrix6d X = dense(Transform<double>{E, r});
  const Force<S> f = random.template force<S>();
  const Motion<S> a = random.template motion<S>();
  const Force<S> on_parent = Columns::on_parent(c, f);
  const Motion<S> at_base = Columns::at_base(c, a);
  for (int k = 0; k < lanes; ++k) {
    this->expect_close(dense(one(on_parent, k)), X.transpose() * dense(one(f, k)));
    this->expect_close(dense(one(at_base, k)), X * dense(one(a, k)));
  }
  c.parent = 0;
  for (int i = 0; i < 6; ++i) {
    for (int k = 0; k < lanes; ++k) EXPECT_EQ(one(Columns::at_base(c, a)[i], k), 0.0);
  }
}

// --- which chains ------------------------------------------------------------------------------

/// Whether anything but the next body of its chain hangs on a body of a chain.
bool carries(const Model& model, const ChainPlan& plan) {
  for (int i = 1; i <= model.active_body_count(); ++i) {
    const int on = plan.chain_of[model.body(i).parent];
    if (on >= 0 && on != plan.chain_of[i]) return true;
  }
  for (const Cluster& c : model.clusters()) {
    for (int r = c.rotor; r < c.rotor + c.rotors; ++r) {
      const int on = plan.chain_of[model.rotors()[r].parent];
      if (on >= 0 && on != plan.chain_of[c.first]) return true;
    }
    for (const int o : c.supports) {
      if (plan.chain_of[o] >= 0 && plan.chain_of[o] != plan.chain_of[c.first]) return true;
    }
  }
  return false;
}

TEST(LeafChainsTest, CarryNothing) {
  std::size_t chains = 0;
  for (int seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    RobotOptions tree;
    tree.seed = seed, tree.bodies = 12;
    ClusterRobotOptions clusters;
    clusters.seed = seed;
    for (const ModelPtr& model :
         {host().compile(random_robot(host().registry(), tree)),
          host().compile(random_cluster_robot(host().registry(), clusters))}) {
      const ChainPlan plan = ChainColumns<double>::leaf_chains(*model, {});
      EXPECT_FALSE(carries(*model, plan));
      chains += plan.chains.size();
    }
  }
  EXPECT_GT(chains, 20u);
}

TEST(LeafChainsTest, LimbsOfTheHumanoidAreChains) {
  CompileOptions options;
  options.root = CompileOptions::Root::floating;
  const ModelPtr model = host().load(ESPALIER_SOURCE_DIR "/robots/mit_humanoid.yaml", options);
  const ChainPlan plan = ChainColumns<double>::leaf_chains(*model, {});
  std::multiset<std::size_t> lengths;
  for (const Chain& chain : plan.chains) lengths.insert(chain.bodies.size());
  EXPECT_EQ(lengths, (std::multiset<std::size_t>{4, 4, 5, 5}));
}

TEST(LeafChainsTest, JointsOfGivenRotorsAreInNone) {
  CompileOptions options;
  options.root = CompileOptions::Root::floating;
  const ModelPtr model = host().load(ESPALIER_SOURCE_DIR "/robots/mit_humanoid.yaml", options);
  for (const Cluster& c : model->clusters()) {
    if (c.rotors == 0) continue;
    const int rotor[] = {model->rotors()[c.rotor].body};
    const ChainPlan plan = ChainColumns<double>::leaf_chains(*model, rotor);
    EXPECT_EQ(plan.chain_of[c.first], -1);
    EXPECT_FALSE(carries(*model, plan));
  }
}

}  // namespace
}  // namespace espalier::test::chain_columns_test
