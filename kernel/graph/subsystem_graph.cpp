#include "espalier/kernel/graph/subsystem_graph.hpp"

#include <boost/graph/depth_first_search.hpp>

#include <algorithm>
#include <sstream>
#include <utility>

#include "espalier/kernel/errors.hpp"
#include "espalier/kernel/graph/text.hpp"

namespace espalier::graph {
namespace {

using text::dot_string;
using text::listed;
using text::quoted;

struct Recorder : boost::default_dfs_visitor {
  std::vector<int>* order = nullptr;

  template <class Vertex, class Graph>
  void discover_vertex(Vertex unit, const Graph&) {
    order->push_back(static_cast<int>(unit));
  }
};

int index_of(const std::vector<std::string>& names, std::string_view name) {
  const auto found = std::find(names.begin(), names.end(), name);
  return found == names.end() ? -1 : static_cast<int>(found - names.begin());
}

}  // namespace

int SubsystemGraph::add_unit(std::string name, std::string type, std::vector<std::string> inputs,
                             std::vector<std::string> outputs) {
  const int number = unit_count();
  if (name.empty()) {
    throw InvalidModel("subsystem graph: the name of unit number " + std::to_string(number) +
                       " is empty, expected a unique name");
  }
  std::vector<std::string> ports = inputs;
  ports.insert(ports.end(), outputs.begin(), outputs.end());
  for (const std::string& port : ports) {
    if (port.empty() || port.find('.') != std::string::npos) {
      throw InvalidModel("unit " + quoted(name) + ": the name of a port is " + quoted(port) +
                         ", expected a name without dots (ports are written 'unit.port')");
    }
    if (std::count(ports.begin(), ports.end(), port) > 1) {
      throw DuplicateName("unit " + quoted(name) + ": the name of two ports is " + quoted(port) +
                          ", expected different names (inputs and outputs share their names)");
    }
  }
  if (!numbers_.emplace(name, number).second) {
    throw DuplicateName("subsystem graph: the name of unit number " + std::to_string(number) +
                        " is " + quoted(name) + ", expected a name not yet taken (unit number " +
                        std::to_string(numbers_[name]) + " has it; rename one of them)");
  }
  input_connection_.emplace_back(inputs.size(), -1);
  units_.push_back({std::move(name), std::move(type), std::move(inputs), std::move(outputs)});
  boost::add_vertex(topology_);
  return number;
}

std::string SubsystemGraph::port_name(const PortRef& port) const {
  const Unit& unit = units_[port.unit];
  return unit.name + "." + (port.input ? unit.inputs : unit.outputs)[port.port];
}

PortRef SubsystemGraph::port(std::string_view name) const {
  const auto dot = name.rfind('.');
  if (dot == std::string_view::npos) {
    throw UnknownName("subsystem graph: a port is " + quoted(name) +
                      ", expected 'unit.port' (a unit's name, a dot and the name of a port)");
  }
  const std::string unit_name(name.substr(0, dot));
  const std::string_view port_name = name.substr(dot + 1);
  const auto found = numbers_.find(unit_name);
  if (found == numbers_.end()) {
    std::vector<std::string> known;
    for (const Unit& unit : units_) known.push_back(unit.name);
    throw UnknownName("port " + quoted(name) + ": its unit is " + quoted(unit_name) +
                      ", expected one of the known units (" + listed(known, 50) + ")");
  }
  const Unit& unit = units_[found->second];
  const int input = index_of(unit.inputs, port_name);
  if (input >= 0) return {found->second, input, true};
  const int output = index_of(unit.outputs, port_name);
  if (output >= 0) return {found->second, output, false};
  throw UnknownName("port " + quoted(name) + ": its name is " + quoted(port_name) +
                    ", expected one of the ports of unit " + quoted(unit_name) + " (inputs: " +
                    listed(unit.inputs, 50) + "; outputs: " + listed(unit.outputs, 50) + ")");
}

bool SubsystemGraph::is_open(std::string_view input) const {
  const PortRef ref = port(input);
  return ref.input && input_connection_[ref.unit][ref.port] < 0;
}

void SubsystemGraph::connect(std::string_view port, std::string_view other_port) {
  add_connection(port, other_port, false);
}

void SubsystemGraph::close(std::string_view port, std::string_view other_port) {
  add_connection(port, other_port, true);
}

void SubsystemGraph::add_connection(std::string_view port_text, std::string_view other_text,
                                    bool closure) {
  const std::string who = std::string(closure ? "closure" : "connection") + " of " +
                          quoted(port_text) + " and " + quoted(other_text);
  PortRef from = port(port_text);
  PortRef to = port(other_text);
  if (from.input) std::swap(from, to);
  if (from.unit == to.unit) {
    throw InvalidModel(who + ": both ports are of unit " + quoted(units_[to.unit].name) +
                       ", expected ports of two different units");
  }
  if (from.input) {
    throw InvalidModel(who +
                       ": both ports are inputs, expected at least one output (inputs are "
                       "bases; connect each of them to an output of another unit)");
  }
  if (!to.input && !closure) {
    throw InvalidModel(who +
                       ": both ports are outputs, expected one output and one input (to "
                       "close a cycle of units, declare it a closure)");
  }
  if (to.input) {
    int& taken_by = input_connection_[to.unit][to.port];
    if (taken_by >= 0) {
      throw InvalidModel(who + ": input " + quoted(port_name(to)) + " is already connected to " +
                         quoted(port_name(connections_[taken_by].from)) +
                         ", expected an open input (an input is connected once)");
    }
    taken_by = static_cast<int>(connections_.size());
  }
  connections_.push_back({from, to, closure});
  if (!closure) boost::add_edge(from.unit, to.unit, topology_);
}

SubsystemOrder SubsystemGraph::resolve() const {
  if (units_.empty()) {
    throw InvalidModel("subsystem graph: the number of units is 0, expected at least a root");
  }
  SubsystemOrder result;
  result.parent.assign(unit_count(), -1);
  std::vector<const Connection*> via(unit_count(), nullptr);
  for (const Connection& c : connections_) {
    if (c.closure) continue;
    const Connection*& first = via[c.to.unit];
    if (first != nullptr && first->from.unit != c.from.unit) {
      throw InvalidModel("unit " + quoted(units_[c.to.unit].name) +
                         ": the units that it hangs on "
                         "are " +
                         quoted(units_[first->from.unit].name) + " (at " +
                         quoted(port_name(first->from)) + ") and " +
                         quoted(units_[c.from.unit].name) + " (at " + quoted(port_name(c.from)) +
                         "), expected one (the second closes a cycle of units: declare it a "
                         "closure)");
    }
    if (first == nullptr) first = &c;
    result.parent[c.to.unit] = c.from.unit;
  }

  std::vector<int> roots;
  std::vector<std::string> root_names;
  for (int u = 0; u < unit_count(); ++u) {
    if (via[u] != nullptr) continue;
    roots.push_back(u);
    root_names.push_back(units_[u].name);
  }
  if (roots.size() > 1) {
    throw InvalidModel("subsystem graph: the set of units that hang on no other is " +
                       listed(root_names) +
                       ", expected exactly one root (connect an input of the others)");
  }
  if (!roots.empty()) {
    Recorder recorder;
    recorder.order = &result.order;
    std::vector<boost::default_color_type> colors(unit_count());
    boost::depth_first_visit(
        topology_, roots.front(), recorder,
        boost::make_iterator_property_map(colors.begin(), get(boost::vertex_index, topology_)));
  }
  if (static_cast<int>(result.order.size()) < unit_count()) {
    std::vector<char> reached(unit_count(), 0);
    for (const int u : result.order) reached[u] = 1;
    std::vector<std::string> names;
    for (int u = 0; u < unit_count(); ++u) {
      if (!reached[u]) names.push_back(units_[u].name);
    }
    throw InvalidModel(
        "subsystem graph: the set of units that hang on one another in a circle, or "
        "on such units, is " +
        listed(names) +
        ", expected every unit to hang on the root (connect one of them to it, and "
        "declare the connection that closes the circle a closure)");
  }
  for (const int u : result.order) {
    if (result.parent[u] < 0) continue;  // the root's inputs are the robot's own bases
    for (int i = 0; i < static_cast<int>(units_[u].inputs.size()); ++i) {
      if (input_connection_[u][i] >= 0) continue;
      throw InvalidModel("unit " + quoted(units_[u].name) + ": its input " +
                         quoted(units_[u].inputs[i]) +
                         " is open, expected a connection (only the root has open inputs)");
    }
  }
  return result;
}

std::string subsystem_dot(const SubsystemGraph& graph) {
  std::ostringstream dot;
  dot << "digraph subsystems {\n  node [shape=box];\n";
  for (int u = 0; u < graph.unit_count(); ++u) {
    const Unit& unit = graph.unit(u);
    dot << "  u" << u << " [label=" << dot_string(unit.name + "\n(" + unit.type + ")") << "];\n";
  }
  for (const Connection& c : graph.connections()) {
    const auto port = [&](const PortRef& p) {
      const Unit& unit = graph.unit(p.unit);
      return dot_string((p.input ? unit.inputs : unit.outputs)[p.port]);
    };
    dot << "  u" << c.from.unit << " -> u" << c.to.unit << " [taillabel=" << port(c.from)
        << ", headlabel=" << port(c.to) << (c.closure ? ", style=dashed" : "") << "];\n";
  }
  dot << "}\n";
  return dot.str();
}

}  // namespace espalier::graph
