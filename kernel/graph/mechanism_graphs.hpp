#pragma once

#include <memory>

#include "espalier/kernel/graph/cluster_tree.hpp"
#include "espalier/kernel/graph/connectivity_graph.hpp"
#include "espalier/kernel/graph/spanning_tree.hpp"
#include "espalier/kernel/graph/subsystem_graph.hpp"

namespace espalier::graph {

/// The graphs of a mechanism, each a Boost graph with its properties, for who wants to walk them.
/// Bodies are numbered as in the connectivity graph; ClusterTree::new_number leads to the numbers
/// of cluster_tree(), from which a Model's differ by its folded rotors, which come last.
struct MechanismGraphs {
  ConnectivityGraph connectivity;  ///< bodies, joints and couplings
  SpanningTree tree;               ///< and cut joints
  ClusterTree clusters;            ///< bodies that constraints tie, as one node
  /// How the file composes the robot of subsystems; null: it does not.
  std::shared_ptr<const SubsystemGraph> composition;

  /// The composition or, where there is none, a unit for each cluster, as in Bremer's method.
  ESPALIER_API SubsystemGraph subsystems() const;
};

/// A unit for each cluster, with an input for each body that it hangs on, below the unit of the
/// ground.
ESPALIER_API SubsystemGraph subsystems_of_clusters(const ConnectivityGraph& graph,
                                                   const ClusterTree& clusters);

}  // namespace espalier::graph
