#pragma once

#include <boost/graph/adjacency_list.hpp>

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "espalier/kernel/export.hpp"

namespace espalier::graph {

/// A unit from which a robot is composed.
struct Unit {
  std::string name;                  ///< different from that of every other unit
  std::string type;                  ///< name of what it is an instance of
  std::vector<std::string> inputs;   ///< ports by which it hangs on other units: its bases
  std::vector<std::string> outputs;  ///< ports to which other units attach
};

/// A port of a unit.
struct PortRef {
  int unit = 0;        ///< its number
  int port = 0;        ///< index among the unit's inputs or outputs
  bool input = false;  ///< among which of the two
};

/// Two ports joined. In a connection `from` is an output and `to` is an input; in a closure `to`
/// may also be an output.
struct Connection {
  PortRef from;          ///< an output
  PortRef to;            ///< an input, or of a closure any
  bool closure = false;  ///< closes a cycle of units; not part of their tree
};

/// The tree of units that connections make; closures stay outside of it.
struct SubsystemOrder {
  std::vector<int> order;   ///< units depth first, the root first; children as inserted
  std::vector<int> parent;  ///< of a unit; -1 for the root
};

/// How a robot is composed: vertices are units, edges join port to port.
///
/// Ports are written "unit.port"; units may have dots in their names, ports may not. An output port
/// carries any number of units, an input port is connected once. A unit may hang on several
/// supports of one parent unit; hanging on a second unit closes a cycle, and must be declared by
/// close().
class ESPALIER_API SubsystemGraph {
 public:
  /// The vertex of a unit has the unit's number.
  using Topology = boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS>;

  /// @returns the number of the new unit
  /// @throws DuplicateName for a unit, or a port within it, whose name is taken; InvalidModel for
  ///         an empty name or a port name with a dot
  int add_unit(std::string name, std::string type, std::vector<std::string> inputs,
               std::vector<std::string> outputs);

  /// Joins an output port and an input port, in either order.
  /// @throws UnknownName listing the known units or ports; InvalidModel if the ports are not one
  ///         output and one input of different units, or if the input is already connected
  void connect(std::string_view port, std::string_view other_port);

  /// Joins two ports so that a cycle of units closes; at least one is an output.
  /// @throws as connect
  void close(std::string_view port, std::string_view other_port);

  int unit_count() const { return static_cast<int>(units_.size()); }           ///< so far
  const Unit& unit(int unit) const { return units_[unit]; }                    ///< by number
  const std::vector<Connection>& connections() const { return connections_; }  ///< and closures

  /// "unit.port".
  std::string port_name(const PortRef& port) const;
  /// Finds a port by "unit.port".
  /// @throws UnknownName listing the known units or ports
  PortRef port(std::string_view name) const;

  /// Whether an input port is not connected yet. @throws as port()
  bool is_open(std::string_view input) const;

  /// Checks the graph as a whole and orders the units.
  /// @throws InvalidModel if there is no unit, not exactly one root (a unit that hangs on no
  ///         other), an input port left open, a unit that hangs on two units, or a circle of units
  SubsystemOrder resolve() const;

  /// Connections without closures, from parent to child; the vertex of a unit has its number.
  const Topology& topology() const { return topology_; }

 private:
  void add_connection(std::string_view port, std::string_view other_port, bool closure);

  std::vector<Unit> units_;
  std::unordered_map<std::string, int> numbers_;
  std::vector<std::vector<int>> input_connection_;  ///< by unit and input: connection, or -1
  std::vector<Connection> connections_;
  Topology topology_;  ///< connections without closures, from parent to child
};

/// Graphviz of the subsystem graph: ports on the edges, closures dashed.
ESPALIER_API std::string subsystem_dot(const SubsystemGraph& graph);

}  // namespace espalier::graph
