#include "espalier/kernel/model/compile/clusters/ties.hpp"

#include <map>
#include <utility>

namespace espalier::detail {

namespace {

class TieFinder {
 public:
  TieFinder(const TieSources& from, graph::ConnectivityGraph& graph, Findings& findings)
      : from_(from), graph_(graph), findings_(findings) {}

  /// Mimics and couplings as linear equations between joint positions.
  void find_equations() {
    std::map<std::string, int> edge;  // joint name -> edge in the graph
    for (std::size_t e = 0; e < from_.joint_of_edge.size(); ++e) {
      if (from_.joint_of_edge[e] >= 0)
        edge[from_.joints[from_.joint_of_edge[e]].name] = static_cast<int>(e);
    }
    for (const JointDescription& joint : from_.joints) {
      if (!joint.mimic) continue;
      const auto self = edge.find(joint.name), other = edge.find(joint.mimic->joint);
      if (self == edge.end()) continue;  // a fixed joint follows nothing
      if (other == edge.end()) {
        findings_.error(joint.where, "joint '" + joint.name + "': mimics joint '" +
                                         joint.mimic->joint +
                                         "', which is fixed, expected one that moves (make '" +
                                         joint.name + "' fixed, too)");
        continue;
      }
      Equation equation;
      equation.name = "mimic of " + joint.name;
      equation.where = joint.where;
      equation.terms = {{from_.tree.child(self->second), 1.0},
                        {from_.tree.child(other->second), -joint.mimic->multiplier}};
      equation.constant = joint.mimic->offset;
      add_equation(std::move(equation));
    }
    find_laws(edge);
    for (const CouplingDescription& coupling : from_.robot.couplings) {
      const int p = from_.body_of_link(coupling.predecessor),
                s = from_.body_of_link(coupling.successor);
      const int ancestor = from_.tree.nearest_common_ancestor(p, s);
      Equation equation;
      equation.name = coupling.name;
      equation.where = coupling.where;
      for (int b : from_.tree.path(ancestor, s)) equation.terms.push_back({b, 1.0});
      for (int b : from_.tree.path(ancestor, p)) equation.terms.push_back({b, -coupling.ratio});
      add_equation(std::move(equation));
    }
  }

  std::vector<Tie> take() { return std::move(ties_); }

 private:
  void find_laws(const std::map<std::string, int>& edge) {
    for (const LawDescription& law : from_.robot.laws) {
      LawSource source;
      source.law = &law;
      std::vector<int> edges;
      for (const std::string& name : law.joints) {
        const auto found = edge.find(name);
        if (found == edge.end()) {
          findings_.error(law.where, "law '" + law.name + "': its joint '" + name +
                                         "' is fixed, expected joints that move");
          return;
        }
        source.bodies.push_back(from_.tree.child(found->second));
        if (!has_one_rate("law '" + law.name + "'", law.where, source.bodies.back())) return;
        edges.push_back(found->second);
      }
      graph_.add_coupling(law.name, edges);
      ties_.push_back({std::nullopt, std::move(source)});
    }
  }

  /// Whether a body hangs on a spanning-tree joint of one rate and one position.
  bool has_one_rate(const std::string& who, const SourceLocation& where, int body) {
    if (body < 0) {
      findings_.error(where, who +
                                 ": names a joint that closes a loop, expected joints of the "
                                 "spanning tree");
      return false;
    }
    const int j = from_.joint_of_edge[from_.tree.joint(body)];
    if (from_.types[j]->nv() == 1 && from_.types[j]->nq() == 1) return true;
    findings_.error(where, who + ": joint '" + from_.joints[j].name + "' of type '" +
                               from_.joints[j].type + "' has several " +
                               (from_.types[j]->nv() == 1 ? "positions" : "rates") +
                               ", expected joints of one rate");
    return false;
  }

  void add_equation(Equation equation) {
    std::vector<int> edges;
    for (const auto& term : equation.terms) {
      if (!has_one_rate("coupling '" + equation.name + "'", equation.where, term.body)) return;
      edges.push_back(from_.tree.joint(term.body));
    }
    if (edges.empty()) {
      findings_.error(equation.where, "coupling '" + equation.name +
                                          "': no joint lies between its links, expected two "
                                          "links that move to each other");
      return;
    }
    graph_.add_coupling(equation.name, edges);
    ties_.push_back({std::move(equation), std::nullopt});
  }

  const TieSources& from_;
  graph::ConnectivityGraph& graph_;
  Findings& findings_;
  std::vector<Tie> ties_;
};

}  // namespace

std::vector<Tie> find_ties(const TieSources& from, graph::ConnectivityGraph& graph,
                           Findings& findings) {
  TieFinder finder(from, graph, findings);
  finder.find_equations();
  return finder.take();
}

}  // namespace espalier::detail
