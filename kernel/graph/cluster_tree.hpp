#pragma once

#include <boost/graph/adjacency_list.hpp>

#include <string>
#include <vector>

#include "espalier/kernel/export.hpp"
#include "espalier/kernel/graph/spanning_tree.hpp"

namespace espalier::graph {

/// Bodies that constraints tie together: a node of the cluster tree. All bodies are numbered as in
/// the connectivity graph.
struct Cluster {
  int first = 0;            ///< new number of its first body; its bodies are numbered from there
  std::vector<int> bodies;  ///< parents before children, else as inserted
  int parent = -1;          ///< cluster; -1: the ground
  /// Nearest supporting body outside the cluster, for each of `bodies`.
  std::vector<int> output_of;
  std::vector<int> supports;    ///< the different ones among them, by new number; 0: the ground
  std::vector<int> cut_joints;  ///< cut joints (loop joints among them) whose cycles are in it
  std::vector<int> couplings;   ///< couplings of its joints
};

/// The tree that remains when every cluster is taken as one node.
///
/// Clusters and bodies are numbered depth first, so that chains stay together: a cluster comes
/// after its parent, the bodies of a cluster follow one another, a body comes after its parent.
/// Where this leaves a choice, the order of insertion decides.
struct ClusterTree {
  /// Vertex k is cluster k; edges lead from parent to child. Clusters on the ground are its roots.
  using Topology = boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS, Cluster>;

  int size() const { return static_cast<int>(num_vertices(topology)); }  ///< clusters
  const Cluster& cluster(int k) const { return topology[k]; }            ///< of vertex k
  Cluster& cluster(int k) { return topology[k]; }                        ///< of vertex k

  Topology topology;            ///< the tree
  std::vector<int> cluster_of;  ///< of a body; -1 for the ground
  std::vector<int> body_order;  ///< bodies by new number; the ground is 0 in both numberings
  std::vector<int> new_number;  ///< of a body
};

/// Which of several valid partitions into clusters is meant.
struct ClusterOptions {
  /// What a coupling between joints far apart on different chains ties, when nothing else ties what
  /// these joints stand on.
  /// false: one cluster of the coupled bodies and all bodies between them and the common ancestor.
  /// true: the chains are tied in layers, level by level, from the common ancestor outwards; each
  ///       layer is a small cluster with several supporting bodies. No valid partition is finer.
  bool layered = false;
};

/// Finds the bodies that constraints tie together.
///
/// A cut joint ties the bodies of its cycle without the nearest common ancestor. A coupling ties
/// the bodies that hang on its joints (if one of these is cut: the bodies of its cycle). What
/// overlaps is one cluster, and clusters grow as little as is needed for all their bodies to have
/// their parents in the cluster or in one common parent cluster (or the ground); there, they may
/// have several supporting bodies. The partition does not depend on the order in which bodies,
/// joints and constraints were added. Cost: near-linear; a coupling across chains costs in addition
/// the number of clusters between its bodies and their common ancestor.
///
/// Source: Chignoli et al. (2023), section IV; Jain (2012) calls it constraint embedding.
ESPALIER_API ClusterTree cluster_tree(const ConnectivityGraph& graph, const SpanningTree& tree,
                                      const ClusterOptions& options = {});

/// Graphviz of the cluster tree: the bodies of each cluster, supporting bodies on the edges.
ESPALIER_API std::string cluster_dot(const ConnectivityGraph& graph, const ClusterTree& clusters);

}  // namespace espalier::graph
