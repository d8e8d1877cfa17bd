// What ties which bodies, and how deep is the tree that is left? The cluster tree is a Boost graph:
// any of Boost's algorithms, or a visitor of one's own, walks it.
//
//   12_walk_the_graphs ROBOT

#include <algorithm>
#include <boost/graph/breadth_first_search.hpp>
#include <cstdio>
#include <espalier/espalier.hpp>

#include "espalier/kernel/graph/mechanism_graphs.hpp"

using espalier::graph::ClusterTree;

namespace {

/// Writes down how many clusters are between each cluster and the ground.
struct Depths : boost::default_bfs_visitor {
  std::vector<int>& depth;

  explicit Depths(std::vector<int>& depth) : depth(depth) {}
  void tree_edge(ClusterTree::Topology::edge_descriptor edge,
                 const ClusterTree::Topology& tree) const {
    depth[target(edge, tree)] = depth[source(edge, tree)] + 1;
  }
};

}  // namespace

int main(int count, char** words) {
  if (count < 2) return std::fputs("usage: 12_walk_the_graphs ROBOT\n", stderr), 2;
  const espalier::Host host;
  const auto robot = host.load(words[1]);
  const auto& graphs = robot->graphs();
  const ClusterTree& clusters = graphs.clusters;

  std::vector<int> depth(clusters.size(), 0);
  for (int k = 0; k < clusters.size(); ++k) {
    if (clusters.cluster(k).parent >= 0) continue;  // on the ground: a root
    breadth_first_search(clusters.topology, k, boost::visitor(Depths(depth)));
  }
  for (int k = 0; k < clusters.size(); ++k) {
    const auto& cluster = clusters.cluster(k);
    std::printf("%*s", 2 * depth[k], "");
    for (const int body : cluster.bodies) {
      std::printf("%s ", graphs.connectivity.body_name(body).c_str());
    }
    for (const int joint : cluster.cut_joints) {
      std::printf("[closed by %s] ", graphs.connectivity.joint(joint).name.c_str());
    }
    for (const int coupling : cluster.couplings) {
      std::printf("[tied by %s] ", graphs.connectivity.coupling(coupling).name.c_str());
    }
    std::printf("\n");
  }

  // How the file composes it; where it does not, a unit for each cluster.
  const espalier::graph::SubsystemGraph subsystems = graphs.subsystems();
  std::printf("%d clusters, %d deep, %d subsystems\n", clusters.size(),
              1 + *std::max_element(depth.begin(), depth.end()), subsystems.unit_count());
  return 0;
}
