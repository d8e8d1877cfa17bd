#pragma once

#include <boost/graph/adjacency_list.hpp>

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "espalier/kernel/export.hpp"

namespace espalier::graph {

class SpanningTree;

/// An edge of the connectivity graph.
struct Joint {
  std::string name;     ///< different from that of every other joint
  int predecessor = 0;  ///< body
  int successor = 0;    ///< body
  bool loop = false;    ///< closes a kinematic loop: never part of the spanning tree
};

/// Joints whose positions are tied by an equation, without a physical edge: a gear ratio, a mimic.
struct Coupling {
  std::string name;         ///< different from that of every other coupling
  std::vector<int> joints;  ///< that it ties
};

/// Which body is joined to which: vertices are bodies, edges are joints, and couplings tie joints.
///
/// Body 0 is the ground (or whatever else the tree shall be rooted at). Bodies, joints and
/// couplings are numbered as they are added; joints and loop joints share one numbering and one set
/// of names. Two bodies may be joined by several joints.
///
/// Source: Featherstone (2008), section 4.1; Jain (2012).
class ESPALIER_API ConnectivityGraph {
 public:
  /// The vertex of a body has the body's number; edges carry the joint's number.
  using Topology =
      boost::adjacency_list<boost::vecS, boost::vecS, boost::undirectedS, boost::no_property,
                            boost::property<boost::edge_index_t, int>>;

  /// @param ground  name of body 0
  explicit ConnectivityGraph(std::string ground = "ground");

  /// @returns the number of the new body
  /// @throws DuplicateName, InvalidModel if the name is empty
  int add_body(std::string name);

  /// Adds a joint that may become part of the spanning tree.
  /// @returns the number of the new joint
  /// @throws DuplicateName; InvalidModel for an empty name, an unknown body or a joint from a body
  ///         to itself
  int add_joint(std::string name, int predecessor, int successor);

  /// Adds a joint that closes a kinematic loop and is never part of the spanning tree.
  /// @returns the number of the new joint; throws as add_joint
  int add_loop(std::string name, int predecessor, int successor);

  /// Adds an equation between the positions of joints; loop joints have no position of their own.
  /// @returns the number of the new coupling
  /// @throws DuplicateName; InvalidModel for an empty name, no joints, an unknown joint, a loop
  ///         joint, or a joint named twice
  int add_coupling(std::string name, std::vector<int> joints);

  int body_count() const { return static_cast<int>(bodies_.size()); }         ///< with the ground
  int joint_count() const { return static_cast<int>(joints_.size()); }        ///< with loop joints
  int coupling_count() const { return static_cast<int>(couplings_.size()); }  ///< so far

  const std::string& body_name(int body) const { return bodies_[body]; }         ///< by number
  const Joint& joint(int joint) const { return joints_[joint]; }                 ///< by number
  const Coupling& coupling(int coupling) const { return couplings_[coupling]; }  ///< by number

  /// Number of the body of this name, -1 if there is none.
  int find_body(std::string_view name) const;
  int find_joint(std::string_view name) const;  ///< likewise of a joint

  const Topology& topology() const { return topology_; }  ///< to walk by Boost.Graph

  /// Gives memory back when nothing more is added: names are then found by looking through them.
  void finish();

 private:
  int add_edge(Joint joint);

  std::vector<std::string> bodies_;
  std::vector<Joint> joints_;
  std::vector<Coupling> couplings_;
  std::unordered_map<std::string, int> body_numbers_, joint_numbers_, coupling_numbers_;
  Topology topology_;
  bool finished_ = false;
};

/// Graphviz of the connectivity graph: joints solid, loop joints dashed (with a tree: all cut
/// joints), couplings dotted.
ESPALIER_API std::string connectivity_dot(const ConnectivityGraph& graph,
                                          const SpanningTree* tree = nullptr);

}  // namespace espalier::graph
