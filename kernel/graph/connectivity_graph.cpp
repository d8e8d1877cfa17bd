#include "espalier/kernel/graph/connectivity_graph.hpp"

#include <algorithm>
#include <sstream>
#include <utility>

#include "espalier/kernel/errors.hpp"
#include "espalier/kernel/graph/spanning_tree.hpp"
#include "espalier/kernel/graph/text.hpp"

namespace espalier::graph {
namespace {

using text::dot_string;
using text::quoted;

using Numbers = std::unordered_map<std::string, int>;

void register_name(Numbers& numbers, const char* kind, const std::string& name, int number) {
  if (name.empty()) {
    throw InvalidModel("connectivity graph: the name of " + std::string(kind) + " number " +
                       std::to_string(number) + " is empty, expected a unique name");
  }
  const auto [existing, is_new] = numbers.emplace(name, number);
  if (!is_new) {
    throw DuplicateName("connectivity graph: the name of " + std::string(kind) + " number " +
                        std::to_string(number) + " is " + quoted(name) +
                        ", expected a name not yet taken (" + kind + " number " +
                        std::to_string(existing->second) + " has it; rename one of them)");
  }
}

int find(const Numbers& numbers, std::string_view name) {
  const auto found = numbers.find(std::string(name));
  return found == numbers.end() ? -1 : found->second;
}

}  // namespace

ConnectivityGraph::ConnectivityGraph(std::string ground) { add_body(std::move(ground)); }

int ConnectivityGraph::add_body(std::string name) {
  const int number = body_count();
  register_name(body_numbers_, "body", name, number);
  bodies_.push_back(std::move(name));
  boost::add_vertex(topology_);
  return number;
}

int ConnectivityGraph::add_joint(std::string name, int predecessor, int successor) {
  return add_edge({std::move(name), predecessor, successor, false});
}

int ConnectivityGraph::add_loop(std::string name, int predecessor, int successor) {
  return add_edge({std::move(name), predecessor, successor, true});
}

int ConnectivityGraph::add_edge(Joint joint) {
  const std::string who = (joint.loop ? "loop joint " : "joint ") + quoted(joint.name);
  const auto check = [&](const char* end, int body) {
    if (body >= 0 && body < body_count()) return;
    throw InvalidModel(who + ": its " + end + " is body number " + std::to_string(body) +
                       ", expected 0 to " + std::to_string(body_count() - 1) +
                       " (add the body before its joints)");
  };
  check("predecessor", joint.predecessor);
  check("successor", joint.successor);
  if (joint.predecessor == joint.successor) {
    throw InvalidModel(who + ": its predecessor and its successor are both " +
                       quoted(body_name(joint.predecessor)) +
                       ", expected two different bodies (a body cannot move against itself)");
  }
  const int number = joint_count();
  register_name(joint_numbers_, "joint", joint.name, number);
  boost::add_edge(joint.predecessor, joint.successor, number, topology_);
  joints_.push_back(std::move(joint));
  return number;
}

int ConnectivityGraph::add_coupling(std::string name, std::vector<int> joints) {
  const std::string who = "coupling " + quoted(name);
  if (joints.empty()) {
    throw InvalidModel(who + ": its list of joints is empty, expected at least one joint");
  }
  for (const int number : joints) {
    if (number < 0 || number >= joint_count()) {
      throw InvalidModel(who + ": one of its joints is number " + std::to_string(number) +
                         ", expected 0 to " + std::to_string(joint_count() - 1) +
                         " (add the joints before their coupling)");
    }
    if (joints_[number].loop) {
      throw InvalidModel(who + ": one of its joints is the loop joint " +
                         quoted(joints_[number].name) +
                         ", expected a joint that can be part of the spanning tree (loop joints "
                         "have no position of their own)");
    }
  }
  std::vector<int> sorted = joints;
  std::sort(sorted.begin(), sorted.end());
  const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
  if (twice != sorted.end()) {
    throw InvalidModel(who + ": one of its joints is " + quoted(joints_[*twice].name) +
                       " and so is another, expected different joints");
  }
  const int number = coupling_count();
  register_name(coupling_numbers_, "coupling", name, number);
  couplings_.push_back({std::move(name), std::move(joints)});
  return number;
}

int ConnectivityGraph::find_body(std::string_view name) const {
  if (!finished_) return find(body_numbers_, name);
  const auto found = std::find(bodies_.begin(), bodies_.end(), name);
  return found == bodies_.end() ? -1 : static_cast<int>(found - bodies_.begin());
}
int ConnectivityGraph::find_joint(std::string_view name) const {
  if (!finished_) return find(joint_numbers_, name);
  const auto found = std::find_if(joints_.begin(), joints_.end(),
                                  [&](const Joint& joint) { return joint.name == name; });
  return found == joints_.end() ? -1 : static_cast<int>(found - joints_.begin());
}

void ConnectivityGraph::finish() {
  finished_ = true;
  body_numbers_ = joint_numbers_ = coupling_numbers_ = {};
  bodies_.shrink_to_fit();
  joints_.shrink_to_fit();
  couplings_.shrink_to_fit();
}

std::string connectivity_dot(const ConnectivityGraph& graph, const SpanningTree* tree) {
  std::ostringstream dot;
  dot << "digraph connectivity {\n  node [shape=box];\n";
  for (int b = 0; b < graph.body_count(); ++b) {
    dot << "  b" << b << " [label=" << dot_string(graph.body_name(b))
        << (b == 0 ? ", shape=doublecircle" : "") << "];\n";
  }
  for (int j = 0; j < graph.joint_count(); ++j) {
    const Joint& joint = graph.joint(j);
    const bool cut = joint.loop || (tree != nullptr && tree->child(j) < 0);
    dot << "  b" << joint.predecessor << " -> b" << joint.successor
        << " [label=" << dot_string(joint.name) << (cut ? ", style=dashed" : "") << "];\n";
  }
  for (int c = 0; c < graph.coupling_count(); ++c) {
    const Coupling& coupling = graph.coupling(c);
    dot << "  c" << c << " [label=" << dot_string(coupling.name) << ", shape=ellipse, "
        << "style=dotted];\n";
    for (const int j : coupling.joints) {
      const int body =
          tree != nullptr && tree->child(j) >= 0 ? tree->child(j) : graph.joint(j).successor;
      dot << "  c" << c << " -> b" << body << " [label=" << dot_string(graph.joint(j).name)
          << ", style=dotted, dir=none, constraint=false];\n";
    }
  }
  dot << "}\n";
  return dot.str();
}

}  // namespace espalier::graph
