#include "espalier/kernel/model/placements.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "algorithms/reference/bodies.hpp"
#include "espalier/kernel/model/packs/pack_code.hpp"
#include "tests/support/host.hpp"
#include "tests/support/random_cluster_robot.hpp"

// Placements of bodies against products of dense 6 x 6 matrices from body to body.

namespace espalier::test::placements_test {
namespace {

/// Products over some tens of bodies, lengths of some metres.
constexpr double rounding = 1e-13;

void expect_dense(const ModelPtr& model, const std::vector<double>& q) {
  Placements placements(model);
  placements.update(q.data());
  reference::Bodies bodies(*model);
  bodies.update(*model, q.data(), nullptr);
  std::vector<reference::Matrix6> X{reference::Matrix6::Identity()};
  for (int i = 1; i <= model->body_count(); ++i) {
    X.push_back(bodies.X[i] * X[model->body(i).parent]);
    const reference::Matrix6 difference = reference::matrix(placements.body(i)) - X[i];
    EXPECT_LE(difference.cwiseAbs().maxCoeff(), rounding * (1.0 + X[i].cwiseAbs().maxCoeff())) << i;
  }
}

TEST(PlacementsTest, AreProductsFromBodyToBody) {
  for (int seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE(seed);
    RobotOptions options;
    options.seed = seed;
    options.bodies = 1 + seed;
    options.floating_base = seed % 2 == 0;
    const ModelPtr tree = host().compile(random_robot(host().registry(), options));
    expect_dense(tree, random_state(*tree, seed).q);
    ClusterRobotOptions with_loops;
    with_loops.seed = seed;
    const ModelPtr clusters = host().compile(random_cluster_robot(host().registry(), with_loops));
    expect_dense(clusters, random_cluster_state(*clusters, seed).q);
  }
}

TEST(PlacementsTest, PlainCodeGivesThemToo) {
  const ModelPtr model = host().load(ESPALIER_SOURCE_DIR "/robots/humanoid.urdf",
                                     {.root = CompileOptions::Root::floating});
  const std::vector<double> q = random_state(*model, 2).q;
  Placements placements(model);
  placements.update(q.data());
  espalier::detail::BodyPlacements plain(*model);
  std::vector<Motion<double>> S(model->spanning_nv()), bias(model->body_count() + 1);
  for (const BodyRun& run : model->runs()) {
    plain.joints[run.first].turns
        ? run.joints->turns(&q[run.q], &plain.sine[run.first], &plain.cosine[run.first])
        : run.joints->kinematics(&q[run.q], nullptr,
                                 {&plain.X[run.first], &S[run.v], &bias[run.first]});
  }
  PackCode::plain().place_bodies(plain);
  for (int i = 0; i <= model->body_count(); ++i) {
    const Transform<double>&a = placements.body(i), &b = plain.placed[i];
    for (int r = 0; r < 3; ++r) {
      EXPECT_NEAR(a.r[r], b.r[r], 1e-14) << i;
      for (int c = 0; c < 3; ++c) EXPECT_NEAR(a.E(r, c), b.E(r, c), 1e-14) << i;
    }
  }
}

TEST(PlacementsTest, ACopyIsOnItsOwn) {
  const ModelPtr model = host().load(ESPALIER_SOURCE_DIR "/robots/ur5.urdf");
  std::vector<double> q(model->nq(), 0.3);
  Placements one(model);
  one.update(q.data());
  const Placements copy(one);
  q[0] = 1.0;
  one.update(q.data());
  EXPECT_NE(one.body(1).E(0, 0), copy.body(1).E(0, 0));
}

}  // namespace
}  // namespace espalier::test::placements_test
