#include "espalier/kernel/graph/kept_graphs.hpp"

#include <utility>

namespace espalier::graph {

KeptGraphs::KeptGraphs(const ConnectivityGraph& graph,
                       std::shared_ptr<const SubsystemGraph> composition)
    : bodies_(graph.body_count()), composition_(std::move(composition)) {
  const int joints = graph.joint_count(), couplings = graph.coupling_count();
  ends_.reserve(bodies_ + joints + couplings);
  joints_.reserve(joints), couplings_.reserve(couplings);
  for (int b = 0; b < bodies_; ++b) add_name(graph.body_name(b));
  for (int j = 0; j < joints; ++j) {
    const Joint& joint = graph.joint(j);
    add_name(joint.name);
    joints_.push_back({joint.predecessor, joint.successor, joint.loop});
  }
  for (int k = 0; k < couplings; ++k) {
    add_name(graph.coupling(k).name);
    couplings_.push_back(graph.coupling(k).joints);
  }
  names_.shrink_to_fit();
}

void KeptGraphs::add_name(std::string_view name) {
  names_ += name;
  ends_.push_back(static_cast<int>(names_.size()));
}

MechanismGraphs KeptGraphs::make() const {
  int begin = 0, number = 0;
  const auto next_name = [&] {
    const int start = std::exchange(begin, ends_[number++]);
    return names_.substr(start, begin - start);
  };
  MechanismGraphs all{ConnectivityGraph(next_name()), {}, {}, composition_};
  ConnectivityGraph& graph = all.connectivity;
  while (number < bodies_) graph.add_body(next_name());
  for (const Edge& edge : joints_) {
    if (edge.loop) {
      graph.add_loop(next_name(), edge.predecessor, edge.successor);
    } else {
      graph.add_joint(next_name(), edge.predecessor, edge.successor);
    }
  }
  for (const std::vector<int>& joints : couplings_) graph.add_coupling(next_name(), joints);
  graph.finish();
  all.tree = spanning_tree(graph);
  all.clusters = cluster_tree(graph, all.tree);
  return all;
}

const MechanismGraphs& KeptGraphs::graphs() const {
  std::call_once(made_once_, [this] { made_ = std::make_unique<const MechanismGraphs>(make()); });
  return *made_;
}

}  // namespace espalier::graph
