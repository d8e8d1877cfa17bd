#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "espalier/kernel/graph/mechanism_graphs.hpp"

namespace espalier::graph {

/// What a Model keeps of its graphs: names and ends of edges, a tenth of the memory of Boost's
/// graphs. Few programs walk these, so that they are made when one asks for them.
class ESPALIER_API KeptGraphs {
 public:
  /// @param graph        of bodies and joints
  /// @param composition  of subsystems; null: there is none
  KeptGraphs(const ConnectivityGraph& graph, std::shared_ptr<const SubsystemGraph> composition);

  /// The same graphs as those that the robot was compiled from; on any thread, made once.
  /// Cost: O(n) for the first caller.
  const MechanismGraphs& graphs() const;

 private:
  struct Edge {
    int predecessor, successor;
    bool loop;
  };

  void add_name(std::string_view name);
  MechanismGraphs make() const;

  std::string names_;      ///< of bodies, joints and couplings, one after the other
  std::vector<int> ends_;  ///< where each of these ends
  int bodies_ = 0;
  std::vector<Edge> joints_;
  std::vector<std::vector<int>> couplings_;  ///< joints of each
  std::shared_ptr<const SubsystemGraph> composition_;
  mutable std::once_flag made_once_;
  mutable std::unique_ptr<const MechanismGraphs> made_;
};

}  // namespace espalier::graph
