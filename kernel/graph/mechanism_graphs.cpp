#include "espalier/kernel/graph/mechanism_graphs.hpp"

#include <algorithm>
#include <set>

namespace espalier::graph {

namespace {

/// A body's name as that of a port, which has no dots.
std::string port_of(const ConnectivityGraph& graph, int body) {
  std::string name = graph.body_name(body);
  std::replace(name.begin(), name.end(), '.', '_');
  return name;
}

}  // namespace

SubsystemGraph MechanismGraphs::subsystems() const {
  return composition != nullptr ? *composition : subsystems_of_clusters(connectivity, clusters);
}

SubsystemGraph subsystems_of_clusters(const ConnectivityGraph& graph, const ClusterTree& clusters) {
  // Ports are the bodies that something hangs on; bodies whose names differ in dots alone share
  // one.
  std::vector<std::set<std::string>> outputs(clusters.size() + 1);  // the ground's come first
  const auto unit_of = [&](int body) { return body == 0 ? 0 : clusters.cluster_of[body] + 1; };
  for (int k = 0; k < clusters.size(); ++k) {
    for (const int body : clusters.cluster(k).supports) {
      outputs[unit_of(body)].insert(port_of(graph, body));
    }
  }
  std::vector<std::string> names{graph.body_name(0)};
  SubsystemGraph result;
  result.add_unit(names[0], "ground", {}, {outputs[0].begin(), outputs[0].end()});
  for (int k = 0; k < clusters.size(); ++k) {
    const Cluster& cluster = clusters.cluster(k);
    std::string name;
    for (const int b : cluster.bodies) name += (name.empty() ? "" : "+") + graph.body_name(b);
    if (name == names[0]) name += " (moving)";  // only a link may have the ground's name
    std::vector<std::string> inputs;
    for (const int body : cluster.supports) {
      inputs.push_back("on " + port_of(graph, body));
      if (std::count(inputs.begin(), inputs.end(), inputs.back()) > 1) inputs.pop_back();
    }
    result.add_unit(name, "cluster", inputs, {outputs[k + 1].begin(), outputs[k + 1].end()});
    names.push_back(name);
    for (const int body : cluster.supports) {
      const std::string port = port_of(graph, body);
      const std::string input = name + ".on " + port;
      if (result.is_open(input)) result.connect(names[unit_of(body)] + "." + port, input);
    }
  }
  return result;
}

}  // namespace espalier::graph
