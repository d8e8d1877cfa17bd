#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>
#include <set>

#include "algorithms/forward_dynamics/c_aba.hpp"
#include "cli/allocations.hpp"
#include "tests/support/big_clusters.hpp"
#include "tests/support/dense_algebra.hpp"
#include "tests/support/host.hpp"

/// Fronts against dense linear algebra, and the articulated-body algorithm with and without them.

namespace espalier::test::fronts_test {
namespace {

using Matrix = Eigen::MatrixXd;
using Vector = Eigen::VectorXd;
using Pairs = std::vector<std::pair<int, int>>;

// The dense systems have up to 150 unknowns, and K a condition of some 1e4.
constexpr double agreed = 1e-9;

/// The one cluster of a mechanism in a closed position, its constraints factored.
struct Tied {
  explicit Tied(const Description& robot) : model(host().compile(robot)), motion(*model) {
    std::vector<bool> without(model->clusters().size(), false);
    for (const Cluster& one : model->clusters()) {
      if (one.constraint != nullptr) c = &one;
    }
    without[c - model->clusters().data()] = true;
    motion.leave_out_G(without);
    state = big_cluster_state(*model, 5);
    motion.update(state.q.data(), state.v.data());
  }
  const ClusterConstraint& constraint() const { return *c->constraint; }
  const ConstraintWorkspace<double>& work() const { return motion.constraint_work(*c); }
  int columns() const { return constraint().columns; }
  /// Those of the tree's inertia, and all with what is kept.
  Pairs pairs(int kept) const {
    Pairs out;
    for_each_inertia(*model, *c, [&](int row, int column) {
      if (column < columns()) out.emplace_back(row, column);
    });
    for (int i = 0; i < columns(); ++i) {
      for (int k = 0; k < kept; ++k) out.emplace_back(i, columns() + k);
    }
    return out;
  }
  Matrix K() const {
    Matrix out = Matrix::Zero(constraint().rows(), columns());
    for (int i = 0; i < out.rows(); ++i) {
      constraint().each_in_row(work(), i, [&](int column, double x) { out(i, column) = x; });
    }
    return out;
  }

  ModelPtr model;
  const Cluster* c = nullptr;
  SpanningMotion<double> motion;
  State state;
};

Description undeclared(Description robot) {
  for (JointDescription& joint : robot.joints) joint.independent.reset();
  return robot;
}

std::vector<Description> mechanisms() {
  return {net(3, 3),
          net(2, 5),
          net(6, 2),
          net(1, 6),
          ladder(8),
          scissor_lift(8),
          stewart_platform(),
          undeclared(stewart_platform()),
          random_loops(40, 4, 3)};
}

/// Random numbers of H, and all of it.
Matrix random_inertia(const Pairs& pairs, int size, Rng& rng, double* H) {
  Matrix all = Matrix::Zero(size, size);
  for (const auto& [i, j] : pairs) {
    *H = rng.uniform() + (i == j ? 20.0 : 0.0);
    all(i, j) = all(j, i) = *H++;
  }
  return all;
}

/// [H -K^T; K 0] for the variables that go.
Matrix kkt(const Matrix& H, const Matrix& K) {
  const Eigen::Index n = K.cols(), m = K.rows();
  Matrix all = Matrix::Zero(n + m, n + m);
  all.topLeftCorner(n, n) = H.topLeftCorner(n, n);
  all.topRightCorner(n, m) = -K.transpose();
  all.bottomLeftCorner(m, n) = K;
  return all;
}

TEST(FrontsTest, SayWhatTheDenseSystemSays) {
  Rng rng(1);
  for (const Description& robot : mechanisms()) {
    for (const int kept : {0, 6}) {
      SCOPED_TRACE(robot.name + ", kept " + std::to_string(kept));
      const Tied tied(robot);
      const int n = tied.columns();
      const Pairs pairs = tied.pairs(kept);
      Fronts<double> fronts(tied.constraint(), plan_fronts(tied.constraint(), kept, pairs));
      const Matrix H = random_inertia(pairs, n + kept, rng, fronts.H());
      for (int i = 0; i < n; ++i) fronts.r()[i] = rng.uniform();
      const Matrix K = tied.K();
      Matrix right = Matrix::Zero(n + K.rows(), kept + 1);
      right.topLeftCorner(n, kept) = H.topRightCorner(n, kept);
      right.col(kept).head(n) = Eigen::Map<const Vector>(fronts.r(), n);
      const Matrix solved = test::solved(kkt(H, K), right).topRows(n);

      fronts.factor(tied.work());
      const Matrix left = -H.topRightCorner(n, kept).transpose() * solved;
      for (int i = 0; i < kept; ++i) {
        for (int j = i; j <= kept; ++j) {
          const double got = j < kept ? fronts.left(i, j) : fronts.left(i);
          EXPECT_NEAR(got, left(i, j), agreed * (left.norm() + 1.0));
        }
      }
      Vector x(n + kept);
      for (double& one : x) one = rng.uniform();
      const Vector expected = solved.col(kept) - solved.leftCols(kept) * x.tail(kept);
      fronts.solve(x.data());
      EXPECT_LE((x.head(n) - expected).norm(), agreed * (expected.norm() + 1.0));
    }
  }
}

// A second system in the same memory.
TEST(FrontsTest, NothingStaysOfTheLastSystem) {
  Rng rng(2);
  const Tied tied(net(3, 3));
  const int n = tied.columns();
  const Pairs pairs = tied.pairs(0);
  const FrontPlan plan = plan_fronts(tied.constraint(), 0, pairs);
  Fronts<double> used(tied.constraint(), plan), fresh(tied.constraint(), plan);
  for (int k = 0; k < 2; ++k) {
    random_inertia(pairs, n, rng, used.H());
    for (int i = 0; i < n; ++i) used.r()[i] = rng.uniform();
    used.factor(tied.work());
  }
  std::copy(used.H(), used.H() + pairs.size(), fresh.H());
  std::copy(used.r(), used.r() + n, fresh.r());
  fresh.factor(tied.work());
  std::vector<double> x(n), y(n);
  used.solve(x.data());
  fresh.solve(y.data());
  EXPECT_EQ(x, y);
}

TEST(FrontsTest, EveryVariableGoesOnceAndAfterItsReaders) {
  for (const Description& robot : mechanisms()) {
    SCOPED_TRACE(robot.name);
    const Tied tied(robot);
    const LoopBlocks& blocks = *tied.constraint().blocks;
    const FrontPlan plan = plan_fronts(tied.constraint(), 0, tied.pairs(0));
    std::set<int> gone, blocks_gone;
    const auto& fronts = plan.fronts;
    for (std::size_t f = 0; f < fronts.size(); ++f) {
      for (const FrontPlan::Child& child : fronts[f].children) {
        EXPECT_LT(child.front, static_cast<int>(f));
      }
      for (const FrontPlan::Step& step : fronts[f].steps) {
        for (int i = 0; i < step.size; ++i) {
          const int variable = fronts[f].variables[step.first + i];
          EXPECT_TRUE(gone.insert(variable).second);
          for (std::size_t b = 0; b < blocks.blocks.size(); ++b) {  // readers
            const LoopBlocks::Block& block = blocks.blocks[b];
            for (int e = block.outside; e < block.outside_end; ++e) {
              if (blocks.outside[e].column == variable) EXPECT_TRUE(blocks_gone.count(b));
            }
          }
        }
        if (step.block >= 0) EXPECT_TRUE(blocks_gone.insert(step.block).second);
      }
    }
    EXPECT_EQ(static_cast<int>(gone.size()), tied.columns());
    EXPECT_EQ(blocks_gone.size(), blocks.blocks.size());
  }
}

// What a net takes grows with its length, its other side being the same.
TEST(FrontsTest, CostGrowsLinearlyAlongANet) {
  const auto cost = [](int wide) {
    const Tied tied(net(wide, 3));
    return plan_fronts(tied.constraint(), 0, tied.pairs(0)).multiplications;
  };
  EXPECT_LT(cost(16), 2.2 * cost(8));
}

TEST(FrontsTest, ASingularBlockLeavesNoNumber) {
  const Tied tied(net(2, 2));
  const LoopBlocks& blocks = *tied.constraint().blocks;
  ConstraintWorkspace<double> work = tied.work();
  for (int e = blocks.blocks[1].inside; e < blocks.blocks[1].inside_end; ++e) {
    work.K[blocks.inside[e].value] = 0.0;
  }
  ::espalier::detail::factor_checked_blocks(blocks, work);
  const Pairs pairs = tied.pairs(0);
  Rng rng(3);
  Fronts<double> fronts(tied.constraint(), plan_fronts(tied.constraint(), 0, pairs));
  random_inertia(pairs, tied.columns(), rng, fronts.H());
  fronts.factor(work);
  std::vector<double> x(tied.columns());
  fronts.solve(x.data());
  double sum = 0.0;
  for (const double one : x) sum += one;
  EXPECT_TRUE(std::isnan(sum));
}

// --- in the articulated-body algorithm
// --------------------------------------------------------------

template <class T>
using CAbaWithG =
    CAbaOver<T, ChainGroup, PlainRun, FloatingBase, GearedBody, ClusterOnOne, ClusterOnSeveral>;

bool has_fronts(const ModelPtr& model) {
  const Schedule<ClusterByFronts, ClusterOnOne, PlainRun> schedule(*model, 1);
  return !schedule.by_fronts.empty();
}

TEST(ClusterByFrontsTest, IsForManyIndependentRates) {
  EXPECT_TRUE(has_fronts(host().compile(net(3, 3))));
  EXPECT_TRUE(has_fronts(host().compile(net(8, 2))));
  EXPECT_FALSE(has_fronts(host().compile(ladder(31))));
  EXPECT_FALSE(has_fronts(host().compile(scissor_lift(20))));
  EXPECT_FALSE(has_fronts(host().compile(stewart_platform())));  // all legs are one block
}

TEST(ClusterByFrontsTest, AgreesWithG) {
  for (const Description& robot : {net(4, 4), net(10, 3), net(2, 8)}) {
    SCOPED_TRACE(robot.name);
    const ModelPtr model = host().compile(robot);
    ASSERT_TRUE(has_fronts(model));
    CAba<double> fronts(model);
    CAbaWithG<double> with_G(model);
    for (int k = 0; k < 4; ++k) {
      const State s = big_cluster_state(*model, k);
      const Wrenches<double> wrenches = s.wrenches(model);
      std::vector<double> vdot(model->nv()), expected(model->nv());
      fronts.evaluate(s.q, s.v, s.tau, vdot, &wrenches);
      with_G.evaluate(s.q, s.v, s.tau, expected, &wrenches);
      EXPECT_LE(relative_difference(vdot, expected), agreed);
    }
  }
}

// One call after the other gives what a fresh object gives.
TEST(ClusterByFrontsTest, KeepsNothingOfTheLastCall) {
  const ModelPtr model = host().compile(net(3, 4));
  CAba<double> used(model);
  std::vector<double> vdot(model->nv()), expected(model->nv());
  for (int k = 0; k < 3; ++k) {
    const State s = big_cluster_state(*model, k);
    used.evaluate(s.q, s.v, s.tau, vdot);
    CAba<double>(model).evaluate(s.q, s.v, s.tau, expected);
    EXPECT_EQ(vdot, expected);
  }
}

/// vdot of c-aba at a scalar, all lanes in one state, and the memory blocks that the call took.
template <class T>
std::vector<T> evaluate(const ModelPtr& model, const State& s, std::optional<long>& blocks) {
  const auto all = [](const std::vector<double>& x) { return std::vector<T>(x.begin(), x.end()); };
  const std::vector<T> q = all(s.q), v = all(s.v), tau = all(s.tau);
  std::vector<T> vdot(model->nv());
  const auto c_aba = host().create<ForwardDynamics<T>>("c-aba", ::espalier::Setup{model});
  const std::optional<long> before = cli::allocation_count();
  c_aba->evaluate(q, v, tau, vdot);
  blocks = cli::allocation_count();
  if (blocks) *blocks -= *before;
  return vdot;
}

TEST(ClusterByFrontsTest, TakesNoMemoryAndAgreesInFloats) {
  const ModelPtr model = host().compile(net(3, 3));
  const State s = big_cluster_state(*model, 1);
  std::optional<long> blocks;
  const std::vector<double> expected = evaluate<double>(model, s, blocks);
  EXPECT_EQ(blocks.value_or(0), 0);
  const std::vector<FloatPack> lanes = evaluate<FloatPack>(model, s, blocks);
  EXPECT_EQ(blocks.value_or(0), 0);
  evaluate<Pack>(model, s, blocks);
  EXPECT_EQ(blocks.value_or(0), 0);
  for (int k = 0; k < FloatPack::size; ++k) {
    std::vector<double> lane;
    for (const FloatPack& x : lanes) lane.push_back(x[k]);
    EXPECT_LE(relative_difference(lane, expected), 1e-3);  // seven digits, a condition of 1e4
  }
}

}  // namespace
}  // namespace espalier::test::fronts_test
