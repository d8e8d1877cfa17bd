#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "espalier/kernel/graph/connectivity_graph.hpp"
#include "espalier/kernel/graph/spanning_tree.hpp"
#include "espalier/kernel/model/compile/validation/validate.hpp"
#include "espalier/kernel/model/joint.hpp"
#include "espalier/kernel/model/loops/couplings.hpp"

/// The pass of the model compiler that finds what ties joint positions: mimics and couplings as
/// linear equations, and laws.

namespace espalier::detail {

/// A law as the file has it, with its joints found.
struct LawSource {
  const LawDescription* law = nullptr;
  std::vector<int> bodies;  ///< of the graph, in the order of the law's positions
};

/// What ties a cluster beside loop joints, in the order of the graph's couplings: one of the two.
struct Tie {
  std::optional<Equation> equation;
  std::optional<LawSource> law;
};

/// What the pass reads.
struct TieSources {
  const Description& robot;
  const std::vector<JointDescription>& joints;  ///< of the file, and the floating root
  const std::vector<const JointType*>& types;   ///< of these
  const std::vector<int>& joint_of_edge;        ///< of the graph; -1 for loops
  const graph::SpanningTree& tree;
  std::function<int(const std::string&)> body_of_link;  ///< of the graph
};

/// Adds every tie to the graph, as a coupling of the joints that it names.
std::vector<Tie> find_ties(const TieSources& from, graph::ConnectivityGraph& graph,
                           Findings& findings);

}  // namespace espalier::detail
