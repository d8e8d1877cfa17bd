#include "espalier/kernel/model/compile/compiler.hpp"

#include "espalier/kernel/errors.hpp"

/// Connectivity graph, spanning tree and cluster tree.

namespace espalier {

void Compiler::connect() {
  std::string ground = "ground";
  while (link_number_.contains(ground)) ground += "'";
  graph_ = graph::ConnectivityGraph(ground);
  for (std::size_t g = 1; g < groups_.size(); ++g) {
    graph_.add_body(robot_.links[groups_[g].links.front()].name);
  }
  for (std::size_t j = 0; j < joints_.size(); ++j) {
    if (joint_types_[j]->nv() == 0) continue;
    const int parent = joints_[j].parent.empty() ? 0 : group_of(joints_[j].parent);
    const int child = group_of(joints_[j].child);
    if (parent == child) {
      findings_.error(joints_[j].where, "joint '" + joints_[j].name + "': its links '" +
                                            joints_[j].parent + "' and '" + joints_[j].child +
                                            "' are welded together, expected links that can move");
      return;
    }
    graph_.add_joint(joints_[j].name, parent, child);
    edge_joint_.push_back(static_cast<int>(j));
  }
  for (std::size_t l = 0; l < robot_.loops.size(); ++l) {
    const LoopDescription& loop = robot_.loops[l];
    const int p = group_of(loop.predecessor), s = group_of(loop.successor);
    if (p == s) {
      findings_.error(loop.where, "loop '" + loop.name + "': its links '" + loop.predecessor +
                                      "' and '" + loop.successor +
                                      "' belong to one body, expected two bodies");
      return;
    }
    std::string name = loop.name;
    if (graph_.find_joint(name) >= 0) name += " (loop)";
    graph_.add_loop(name, p, s);
    loop_of_edge_[static_cast<int>(edge_joint_.size())] = static_cast<int>(l);
    edge_joint_.push_back(-1);
  }
  try {
    tree_ = graph::spanning_tree(graph_);
  } catch (const Error& error) {
    findings_.error(robot_.where, error.what());
    return;
  }
  for (int b = 1; b < tree_.body_count(); ++b) {
    if (!tree_.reversed(b)) continue;
    const JointDescription& joint = joints_[edge_joint_[tree_.joint(b)]];
    findings_.error(joint.where, "joint '" + joint.name + "': leads towards the root, expected '" +
                                     joint.child + "' as its parent and '" + joint.parent +
                                     "' as its child (exchange them)");
  }
  ties_ = detail::find_ties({robot_, joints_, joint_types_, edge_joint_, tree_,
                             [this](const std::string& link) { return group_of(link); }},
                            graph_, findings_);
}

void Compiler::cluster() {
  clusters_ = graph::cluster_tree(graph_, tree_);
  for (int number = 0; number < clusters_.size(); ++number) {
    const graph::Cluster& c = clusters_.cluster(number);
    for (int g : c.bodies) groups_[g].joint = edge_joint_[tree_.joint(g)];
  }
}

}  // namespace espalier
