#include <gtest/gtest.h>

#include "algorithms/segments/clusters/cluster_on_several.hpp"
#include "algorithms/segments/schedule.hpp"
#include "tests/support/big_clusters.hpp"
#include "tests/support/host.hpp"
#include "tests/support/random_cluster_robot.hpp"

// Which bodies of clusters have their accelerations computed: those that other clusters hang on,
// and those between these and the supporting body.

namespace espalier::test::followed_bodies_test {
namespace {

/// For each body of a model, by the definition.
std::vector<bool> carrying(const Model& model) {
  std::vector<bool> out(model.body_count() + 1, false);
  for (int i = 1; i <= model.active_body_count(); ++i) {
    int at = model.body(i).parent;
    const int cluster = model.body(at).cluster;
    if (at == 0 || cluster == model.body(i).cluster) continue;
    for (; at > 0 && model.body(at).cluster == cluster; at = model.body(at).parent) out[at] = true;
  }
  return out;
}

/// @return how many bodies are followed, and how many are not though something hangs on them
std::pair<int, int> expect_followed(const ModelPtr& model) {
  Schedule<ClusterOnSeveral> schedule(*model, 1);
  const ClusterState<double> state(*model, schedule);
  const std::vector<bool> wanted = carrying(*model);
  int followed = 0, left = 0;
  for (std::size_t i = 1; i < state.body.size(); ++i) {
    EXPECT_EQ(state.body[i].followed, wanted[i]) << model->name() << ", body " << i;
    followed += wanted[i], left += state.body[i].seen && !wanted[i];
  }
  return {followed, left};
}

TEST(FollowedBodiesTest, AreThoseWhoseMotionLeavesTheirCluster) {
  ClusterRobotOptions options;
  options.parts = 8;
  int followed = 0;
  for (const int seed : {1, 2, 3}) {
    options.seed = seed;
    followed +=
        expect_followed(host().compile(random_cluster_robot(host().registry(), options))).first;
  }
  EXPECT_GT(followed, 10);
}

TEST(FollowedBodiesTest, NobodyAsksForThoseOfAClusterAtTheEnd) {
  const auto [followed, left] = expect_followed(host().compile(ladder(6)));
  EXPECT_EQ(followed, 0);
  EXPECT_GT(left, 2);
}

}  // namespace
}  // namespace espalier::test::followed_bodies_test
