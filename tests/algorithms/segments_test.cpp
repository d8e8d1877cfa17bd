#include <gtest/gtest.h>

#include "algorithms/forward_dynamics/c_aba.hpp"
#include "tests/support/host.hpp"
#include "tests/support/random_cluster_robot.hpp"
#include "tests/support/random_robot.hpp"
#include "tests/support/state.hpp"

namespace espalier::test {
namespace {

/// What a robot is divided into changes the order of operations alone.
template <class... Kinds>
void expect_same_with() {
  for (const char* file : {"humanoid.urdf", "mini_cheetah_geared.yaml", "mit_humanoid.yaml",
                           "tello.yaml", "jvrc1_geared.yaml", "four_bar_leg.yaml",
                           "rod_ankle.yaml", "elastic_arm.yaml"}) {
    const std::string name = file;
    CompileOptions options;
    if (name != "rod_ankle.yaml" && name != "elastic_arm.yaml" && name != "four_bar_leg.yaml") {
      options.root = CompileOptions::Root::floating;
    }
    const ModelPtr model =
        host().load(std::string(ESPALIER_SOURCE_DIR "/robots/") + file, options);
    CAba<double> all(model);
    CAbaOver<double, Kinds...> some(model);
    for (int k = 0; k < 4; ++k) {
      const State s = model->is_tree() ? random_state(*model, k) : random_cluster_state(*model, k);
      std::vector<double> expected(model->nv()), vdot(model->nv());
      all.evaluate(s.q, s.v, s.tau, expected);
      some.evaluate(s.q, s.v, s.tau, vdot);
      double largest = 1.0;
      for (const double x : expected) largest = std::max(largest, std::fabs(x));
      for (int i = 0; i < model->nv(); ++i) {
        EXPECT_NEAR(vdot[i], expected[i], 1e-9 * largest) << file << ", rate " << i;
      }
    }
  }
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

}  // namespace
}  // namespace espalier::test
