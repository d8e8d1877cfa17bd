#include <gtest/gtest.h>

#include <Eigen/Core>

#include "espalier/kernel/model/spanning_motion.hpp"
#include "tests/support/host.hpp"
#include "tests/support/random_cluster_robot.hpp"

namespace espalier::test {
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
    const Eigen::Map<const Matrix> K(w.K.data(), m, n), G(motion.G(c), n, c.nv);
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
}  // namespace espalier::test
