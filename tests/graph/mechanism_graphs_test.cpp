#include "espalier/kernel/graph/mechanism_graphs.hpp"

#include <gtest/gtest.h>

#include <boost/graph/depth_first_search.hpp>

#include <string>
#include <vector>

#include "tests/support/host.hpp"

// The graphs that a Model keeps, walked as Boost graphs.

namespace espalier::test::mechanism_graphs_test {
namespace {

const graph::MechanismGraphs& graphs_of(const ModelPtr& model) { return model->graphs(); }

ModelPtr robot(const std::string& file) {
  return host().load(ESPALIER_SOURCE_DIR "/robots/" + file);
}

TEST(MechanismGraphsTest, VerticesAndEdgesAreBodiesJointsAndClustersOfTheModel) {
  for (const char* file :
       {"tello.yaml", "mini_cheetah_geared.yaml", "four_bar_leg.yaml", "ur5.urdf"}) {
    const ModelPtr model = robot(file);
    const graph::MechanismGraphs& g = graphs_of(model);
    EXPECT_EQ(static_cast<int>(num_vertices(g.connectivity.topology())), model->body_count() + 1);
    EXPECT_EQ(static_cast<int>(num_edges(g.connectivity.topology())), g.connectivity.joint_count());
    ASSERT_EQ(g.clusters.size(), static_cast<int>(model->clusters().size()));
    for (int k = 0; k < g.clusters.size(); ++k) {
      EXPECT_EQ(g.clusters.cluster(k).parent, model->clusters()[k].parent) << file;
    }
  }
}

/// Records the clusters in the order in which a depth-first search meets them.
struct Recorder : boost::default_dfs_visitor {
  std::vector<int>* met;
  template <class Graph>
  void discover_vertex(typename Graph::vertex_descriptor k, const Graph&) const {
    met->push_back(static_cast<int>(k));
  }
};

TEST(MechanismGraphsTest, ADepthFirstSearchMeetsClustersInTheirNumbering) {
  const ModelPtr model = robot("tello.yaml");
  std::vector<int> met;
  Recorder recorder;
  recorder.met = &met;
  boost::depth_first_search(graphs_of(model).clusters.topology, boost::visitor(recorder));
  ASSERT_EQ(met.size(), model->clusters().size());
  for (std::size_t k = 0; k < met.size(); ++k) EXPECT_EQ(met[k], static_cast<int>(k));
}

TEST(MechanismGraphsTest, SubsystemsAreThoseOfTheFile) {
  const graph::SubsystemGraph units = graphs_of(robot("four_bar_leg.yaml")).subsystems();
  std::vector<std::string> types;
  for (int u = 0; u < units.unit_count(); ++u) types.push_back(units.unit(u).type);
  EXPECT_NE(std::find(types.begin(), types.end(), "four_bar"), types.end());
  EXPECT_NO_THROW(units.resolve());
}

TEST(MechanismGraphsTest, WithoutSubsystemsInTheFileEachClusterIsAUnit) {
  for (const char* file : {"ur5.urdf", "humanoid.urdf", "mini_cheetah.urdf"}) {
    const ModelPtr model = robot(file);
    const graph::SubsystemGraph units = graphs_of(model).subsystems();
    EXPECT_EQ(units.unit_count(), static_cast<int>(model->clusters().size()) + 1) << file;
    const graph::SubsystemOrder order = units.resolve();
    for (int u = 1; u < units.unit_count(); ++u) {
      EXPECT_EQ(order.parent[u], model->clusters()[u - 1].parent + 1) << file;
    }
  }
}

}  // namespace
}  // namespace espalier::test::mechanism_graphs_test
