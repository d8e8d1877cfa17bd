#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>

#include "espalier/kernel/model/motion/spanning_motion.hpp"
#include "tests/support/big_clusters.hpp"
#include "tests/support/dense_algebra.hpp"
#include "tests/support/host.hpp"
#include "tests/support/random_cluster_robot.hpp"

namespace espalier::test::loop_elimination_test {
namespace {

using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
constexpr double agreed = 1e-9;

/// By the equations themselves, each cluster's in memory of its own: K G = 0, K qd = 0, K g = k.
void expect_equations(const Model& model, const State& s, const SpanningMotion<double>& motion) {
  const TreeKinematics<double>& joints = motion.joints;
  const SpanningView<double> at{s.q.data(), motion.qd(), joints.X.data(), joints.S.data(),
                                joints.bias.data()};
  for (const Cluster& c : model.clusters()) {
    if (c.constraint == nullptr) continue;
    SCOPED_TRACE(c.name);
    ConstraintWorkspace<double> w;
    c.constraint->allocate(c, w);
    c.constraint->jacobian(model, c, at, w);
    c.constraint->bias(model, c, at, w);
    const int m = c.constraint->rows(), n = c.rows();
    Matrix K = Matrix::Zero(m, n);
    for (int i = 0; i < m; ++i) {
      c.constraint->each_in_row(w, i, [&](int column, double x) { K(i, column) = x; });
    }
    const Eigen::Map<const Matrix> G(motion.G(c), n, c.nv);
    const Eigen::Map<const Eigen::VectorXd> k(w.k.data(), m);
    Eigen::VectorXd qd(n), g(n);
    for (int i = 0; i < n; ++i) qd(i) = motion.qd()[c.rate(i)], g(i) = motion.g()[c.rate(i)];
    EXPECT_LE((K * G).norm(), agreed * K.norm() * G.norm());
    EXPECT_LE((K * qd).norm(), agreed * K.norm() * qd.norm());
    EXPECT_LE((K * g - k).norm(), agreed * (K.norm() * g.norm() + k.norm()));
    for (int j = 0; j < c.nv; ++j) {
      const int row = c.row(model.independent_rates()[c.v + j]);
      EXPECT_EQ(G.row(row), Eigen::RowVectorXd::Unit(c.nv, j));
      EXPECT_EQ(qd(row), s.v[c.v + j]);
      EXPECT_EQ(g(row), 0.0);
    }
  }
}

/// Lane by lane what SpanningMotion<double> says.
void expect_same_on_packs(const Model& model, const std::vector<State>& states) {
  std::vector<Pack> q(model.nq()), v(model.nv());
  for (int k = 0; k < Pack::size; ++k) {
    for (int i = 0; i < model.nq(); ++i) q[i].set(k, states[k].q[i]);
    for (int i = 0; i < model.nv(); ++i) v[i].set(k, states[k].v[i]);
  }
  SpanningMotion<Pack> packs(model);
  packs.update(q.data(), v.data());
  SpanningMotion<double> motion(model);
  for (int k = 0; k < Pack::size; ++k) {
    motion.update(states[k].q.data(), states[k].v.data());
    std::vector<double> one, lane;
    for (int i = 0; i < model.spanning_nv(); ++i) {
      one.insert(one.end(), {motion.qd()[i], motion.g()[i]});
      lane.insert(lane.end(), {packs.qd()[i][k], packs.g()[i][k]});
    }
    EXPECT_LE(relative_difference(lane, one), agreed);
  }
}

class LoopEliminationTest : public testing::TestWithParam<std::vector<std::string>> {};

// Clusters of unlike shapes follow one another in the same memory, as do states.
TEST_P(LoopEliminationTest, MeetsTheEquationsOfEveryCluster) {
  int loops = 0;
  for (unsigned long long seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE(seed);
    ClusterRobotOptions options;
    options.seed = seed, options.parts = 8;
    options.kinds = GetParam();
    const ModelPtr model = host().compile(random_cluster_robot(host().registry(), options));
    int of_this = 0;
    for (const Cluster& c : model->clusters()) of_this += c.constraint != nullptr;
    if (of_this == 0) continue;
    loops += of_this;
    SpanningMotion<double> motion(*model);
    std::vector<State> states;
    for (int k = 0; k < Pack::size; ++k) {
      states.push_back(random_cluster_state(*model, Pack::size * seed + k));
      motion.update(states[k].q.data(), states[k].v.data());
      expect_equations(*model, states[k], motion);
    }
    expect_same_on_packs(*model, states);
  }
  EXPECT_GT(loops, 100);
}

/// The one cluster of a mechanism.
const Cluster& only_cluster(const Model& model) {
  const Cluster* found = nullptr;
  for (const Cluster& c : model.clusters()) {
    if (c.constraint != nullptr) found = &c;
  }
  return *found;
}

std::vector<Description> big_clusters() {
  return {ladder(3),
          ladder(6),
          ladder(16, 7),
          ladder(31, 0),
          ladder(31, 30),
          scissor_lift(5),
          scissor_lift(30),
          net(2, 2),
          net(4, 4),
          stewart_platform(),
          random_loops(20, 2, 1),
          random_loops(30, 3, 2),
          random_loops(40, 4, 3)};
}

TEST(BigClusters, MeetTheirEquations) {
  for (const Description& robot : big_clusters()) {
    SCOPED_TRACE(robot.name);
    const ModelPtr model = host().compile(robot);
    SpanningMotion<double> motion(*model);
    std::vector<State> states;
    for (int k = 0; k < Pack::size; ++k) {
      states.push_back(big_cluster_state(*model, k + 1));
      ASSERT_LE(examine(*model, states.back().q.data()).residual, 1e-9);
      motion.update(states[k].q.data(), states[k].v.data());
      expect_equations(*model, states[k], motion);
    }
    expect_same_on_packs(*model, states);
  }
}

/// qd, g, G x and G^T x of a model at each lane's state, all numbers of a lane after one another.
template <class T>
std::vector<std::vector<double>> passes(const Model& model, const std::vector<State>& states,
                                        bool with_G) {
  SpanningMotion<T> motion(model);
  if (!with_G) {
    std::vector<bool> without;
    for (const Cluster& c : model.clusters()) {
      without.push_back(c.constraint != nullptr && c.constraint->blocks && c.rotors == 0);
    }
    motion.leave_out_G(without);
  }
  constexpr int lanes = sizeof(T) / sizeof(double);
  const auto take = [](T& x, int lane, double value) {
    if constexpr (lanes > 1) {
      x.set(lane, value);
    } else {
      x = value;
    }
  };
  const int n = model.spanning_nv();
  std::vector<T> q(model.nq()), v(model.nv()), x(model.nv()), f(n), qdd(n), tau(model.nv());
  std::vector<std::vector<double>> out;
  for (std::size_t first = 0; first + lanes <= states.size(); first += lanes) {
    for (int k = 0; k < lanes; ++k) {
      const State& s = states[first + k];
      for (int i = 0; i < model.nq(); ++i) take(q[i], k, s.q[i]);
      for (int i = 0; i < model.nv(); ++i) take(v[i], k, s.v[i]), take(x[i], k, s.vdot[i]);
      for (int i = 0; i < n; ++i) take(f[i], k, std::sin(i + 1.0 + k));
    }
    motion.update(q.data(), v.data());
    motion.expand(x.data(), qdd.data());
    motion.reduce(f.data(), tau.data());
    for (int k = 0; k < lanes; ++k) {
      const auto lane = [&](const T& number) {
        if constexpr (lanes > 1) {
          return number[k];
        } else {
          return number;
        }
      };
      out.emplace_back();
      for (int i = 0; i < n; ++i) {
        out.back().insert(out.back().end(),
                          {lane(motion.qd()[i]), lane(motion.g()[i]), lane(qdd[i])});
      }
      for (const T& force : tau) out.back().push_back(lane(force));
    }
  }
  return out;
}

// Blocks of one, two, three and more, several of these in one cluster.
TEST(BigClusters, PassRatesAndForcesWithoutG) {
  for (const Description& robot : big_clusters()) {
    SCOPED_TRACE(robot.name);
    const ModelPtr model = host().compile(robot);
    if (!only_cluster(*model).constraint->blocks) continue;
    std::vector<State> states;
    for (int k = 0; k < Pack::size; ++k) states.push_back(big_cluster_state(*model, k + 1));
    const auto expected = passes<double>(*model, states, true);
    const auto one = passes<double>(*model, states, false);
    for (std::size_t k = 0; k < one.size(); ++k) {
      EXPECT_LE(relative_difference(one[k], expected[k]), agreed);
    }
    const auto lanes = passes<Pack>(*model, states, false);
    const auto expected_lanes = passes<Pack>(*model, states, true);
    for (std::size_t k = 0; k < lanes.size(); ++k) {
      EXPECT_LE(relative_difference(lanes[k], expected_lanes[k]), agreed);
    }
  }
}

// Deep nets have levers that dwarf the columns that their loops are solved for.
TEST(BigClusters, NetsAreSolvedLoopByLoop) {
  for (const Description& robot : {net(4, 4), net(3, 10), net(12, 5)}) {
    EXPECT_EQ(only_cluster(*host().compile(robot)).constraint->blocks->largest, 3) << robot.name;
  }
}

/// Dependent columns of K at a position, in the order of the constraint.
Matrix dependent_columns(const Model& model, const Cluster& c, const State& s,
                         SpanningMotion<double>& motion) {
  motion.update(s.q.data(), s.v.data());
  ConstraintWorkspace<double> w;
  c.constraint->allocate(c, w);
  c.constraint->jacobian(model, c,
                         SpanningView<double>{s.q.data(), nullptr, motion.joints.X.data(),
                                              motion.joints.S.data(), nullptr},
                         w);
  Matrix K = Matrix::Zero(c.constraint->rows(), c.constraint->columns);
  for (int i = 0; i < K.rows(); ++i) {
    c.constraint->each_in_row(w, i, [&](int column, double x) { K(i, column) = x; });
  }
  return K;
}

// Nothing above the blocks, and none of them falls apart into smaller ones: else a row of it would
// not need the others.
TEST(BigClusters, AreBlockTriangular) {
  for (const Description& robot : big_clusters()) {
    SCOPED_TRACE(robot.name);
    const ModelPtr model = host().compile(robot);
    const Cluster& c = only_cluster(*model);
    if (c.rows() <= 8) continue;  // small ones are eliminated at once
    ASSERT_TRUE(c.constraint->blocks.has_value());
    const LoopBlocks& all = *c.constraint->blocks;
    SpanningMotion<double> motion(*model);
    const Matrix K = dependent_columns(*model, c, big_cluster_state(*model, 1), motion);
    ASSERT_EQ(all.rows.size(), c.constraint->dependent.size());
    ASSERT_EQ(all.columns.size(), c.constraint->dependent.size());
    const Matrix ordered = K(all.rows, all.columns);
    double log_of_blocks = 0.0;
    for (const LoopBlocks::Block& block : all.blocks) {
      const int n = block.size, end = block.first + n;
      EXPECT_EQ(ordered.block(block.first, end, n, ordered.cols() - end).norm(), 0.0);
      const Matrix own = ordered.block(block.first, block.first, n, n);
      log_of_blocks += log_of_determinant(own);
    }
    const Matrix whole = K(Eigen::all, c.constraint->dependent);
    const double log_of_all = log_of_determinant(whole);
    EXPECT_NEAR(log_of_blocks, log_of_all, 1e-9 * std::abs(log_of_all) + 1e-9);
  }
}

// A chain of four-bars is solved one after the other, from wherever it is driven.
TEST(BigClusters, LaddersAndScissorLiftsHaveBlocksOfTwo) {
  for (const int crank : {0, 9, 30}) {
    EXPECT_EQ(only_cluster(*host().compile(ladder(31, crank))).constraint->blocks->largest, 2);
  }
  EXPECT_EQ(only_cluster(*host().compile(scissor_lift(20))).constraint->blocks->largest, 2);
}

TEST(BigClusters, StewartPlatformDrivenBySlidesIsOneBlock) {
  const ModelPtr model = host().compile(stewart_platform());
  EXPECT_EQ(model->nv(), 6);
  EXPECT_EQ(only_cluster(*model).constraint->blocks->largest, 15);
}

// Five legs have a loop of three rows each, in which two columns have entries; five columns of the
// leg that carries the platform have entries in all.
TEST(BigClusters, LargeBlocksBeginWithColumnsOfFewRows) {
  const ModelPtr model = host().compile(stewart_platform());
  const LoopBlocks& blocks = *only_cluster(*model).constraint->blocks;
  ASSERT_EQ(blocks.blocks.size(), 1u);
  std::vector<int> entries(15, 0), of_pivots(15, 0);
  for (const LoopBlocks::Inside& e : blocks.inside) {
    const int row = e.position / 15, column = e.position % 15;
    ++entries[column];
    if (row <= column) ++of_pivots[column];
  }
  for (int j = 0; j < 15; ++j) {
    EXPECT_EQ(entries[j], j < 10 ? 3 : 15) << j;
    // Its leg's first column, then the second, then a row that waits for all legs.
    if (j < 10) {
      EXPECT_EQ(of_pivots[j], 1 + j % 2) << j;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Robots, LoopEliminationTest,
    testing::Values(
        // Biases that wait for rates among them: each cluster has memory of its own.
        std::vector<std::string>{},
        // None: one memory for laws, couplings, loops in planes and in space.
        std::vector<std::string>{"planar_loop", "four_bar_with_gears", "floating_inside",
                                 "tello_hip", "tello_knee_ankle", "four_bar", "slider_crank",
                                 "geared"}),
    [](const auto& kinds) { return kinds.param.empty() ? "OfAllKinds" : "WithoutBiases"; });

}  // namespace
}  // namespace espalier::test::loop_elimination_test
