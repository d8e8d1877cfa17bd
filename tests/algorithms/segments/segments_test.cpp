#include <gtest/gtest.h>

#include "algorithms/forward_dynamics/c_aba.hpp"
#include "algorithms/inverse_dynamics/rnea.hpp"
#include "tests/support/host.hpp"
#include "tests/support/random_cluster_robot.hpp"
#include "tests/support/random_robot.hpp"
#include "tests/support/state.hpp"

namespace espalier::test::segments_test {
namespace {

/// Calls f(name, model) for robots of all kinds.
template <class F>
void for_robots(F&& f) {
  for (const char* file :
       {"humanoid.urdf", "mini_cheetah_geared.yaml", "mit_humanoid.yaml", "tello.yaml",
        "jvrc1_geared.yaml", "four_bar_leg.yaml", "rod_ankle.yaml", "elastic_arm.yaml"}) {
    const std::string name = file;
    CompileOptions options;
    if (name != "rod_ankle.yaml" && name != "elastic_arm.yaml" && name != "four_bar_leg.yaml") {
      options.root = CompileOptions::Root::floating;
    }
    const ModelPtr model = host().load(std::string(ESPALIER_SOURCE_DIR "/robots/") + file, options);
    f(name, model);
  }
}

/// A sum of a few thousand products, where motors' rotors of large ratios cancel four digits.
constexpr double agreed = 1e-9;

void expect_same(const std::vector<double>& result, const std::vector<double>& expected,
                 const std::string& name) {
  double largest = 1.0;
  for (const double x : expected) largest = std::max(largest, std::fabs(x));
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_NEAR(result[i], expected[i], agreed * largest) << name << ", rate " << i;
  }
}
State any_state(const Model& model, int k) {
  return model.is_tree() ? random_state(model, k) : random_cluster_state(model, k);
}

/// What a robot is divided into changes the order of operations alone.
template <class... Kinds>
void expect_same_with() {
  for_robots([](const std::string& name, const ModelPtr& model) {
    CAba<double> all(model);
    CAbaOver<double, Kinds...> some(model);
    for (int k = 0; k < 4; ++k) {
      const State s = any_state(*model, k);
      std::vector<double> expected(model->nv()), vdot(model->nv());
      all.evaluate(s.q, s.v, s.tau, expected);
      some.evaluate(s.q, s.v, s.tau, vdot);
      expect_same(vdot, expected, name);
    }
  });
}

TEST(SegmentsTest, OneGeneralKindPassesEveryRobot) { expect_same_with<ClusterOnSeveral>(); }
TEST(SegmentsTest, ChainsAreRunsOfBodies) {
  expect_same_with<PlainRun, FloatingBase, GearedBody, ClusterOnOne, ClusterOnSeveral>();
}
TEST(SegmentsTest, GearedBodiesAreClusters) {
  expect_same_with<PlainRun, FloatingBase, ClusterOnOne, ClusterOnSeveral>();
}
TEST(SegmentsTest, FloatingBaseIsAPlainBody) {
  expect_same_with<ChainGroup, PlainRun, GearedBody, ClusterOnOne, ClusterOnSeveral>();
}

/// With wrenches, so that those on rotors that chains reflect are met, too.
TEST(SegmentsTest, ClustersDissolveInInverseDynamics) {
  for_robots([](const std::string& name, const ModelPtr& model) {
    Rnea<double> all(model);
    RneaOver<double, PlainRun> runs(model);
    for (int k = 0; k < 4; ++k) {
      const State s = any_state(*model, k);
      const Wrenches<double> wrenches = s.wrenches(model);
      std::vector<double> expected(model->nv()), tau(model->nv());
      all.evaluate(s.q, s.v, s.vdot, expected, &wrenches);
      runs.evaluate(s.q, s.v, s.vdot, tau, &wrenches);
      expect_same(tau, expected, name);
      all.compute(s.q.data(), s.v.data(), nullptr, expected.data(), &wrenches);
      runs.compute(s.q.data(), s.v.data(), nullptr, tau.data(), &wrenches);
      expect_same(tau, expected, name + " at vdot = 0");
    }
  });
}

}  // namespace
}  // namespace espalier::test::segments_test
