#include "espalier/kernel/model/compile/compiler.hpp"

#include "espalier/kernel/errors.hpp"
#include "espalier/kernel/model/compile/clusters/cluster_compiler.hpp"

/// Clusters of the model and what ties them.

namespace espalier {

/// Cluster `number` of the graph. @param rotor  the next folded rotor, counted on
Cluster Compiler::cluster_of(int number, int& rotor) {
  Model& m = *model_;
  const graph::Cluster& c = clusters_.cluster(number);
  Cluster out;
  out.parent = c.parent;
  for (int o : c.supports) out.supports.push_back(groups_[o].body);
  out.constrained = !c.cut_joints.empty() || !c.couplings.empty();
  out.implicit = !c.cut_joints.empty();
  for (int e : c.cut_joints) out.constraints.push_back(graph_.joint(e).name);
  for (int k : c.couplings) {
    out.constraints.push_back(graph_.coupling(k).name);
    out.implicit = out.implicit || ties_[k].law;
    if (ties_[k].law) out.laws.push_back(ties_[k].law->law->type);
  }
  out.rotor = rotor;
  for (int g : c.bodies) {
    Body& body = m.bodies_[groups_[g].body];
    body.cluster = number;
    out.name += (out.name.empty() ? "" : "+") + joints_[groups_[g].joint].name;
    if (folded_[g]) {
      ++out.rotors;
    } else {
      if (out.count++ == 0) out.first = groups_[g].body, out.spanning_v = body.v;
      out.spanning_nv += body.nv;
    }
  }
  if (out.rotors > 0) out.rotor_v = m.rotors_[rotor].v;
  rotor += out.rotors;
  return out;
}

void Compiler::tie_clusters() {
  int rotor = 0;
  model_->clusters_.reserve(clusters_.size());
  for (int number = 0; number < clusters_.size(); ++number) {
    model_->clusters_.push_back(cluster_of(number, rotor));
  }
  ClusterCompiler::Source source{types_, clusters_, {}, ties_, {}, {}, robot_.where};
  for (const ActuatorDescription& actuator : robot_.actuators) {
    for (const auto& [joint, gear] : actuator.gear) source.driven.insert(joint);
  }
  source.joints.push_back(nullptr);
  for (int g : order_) source.joints.push_back(&joints_[groups_[g].joint]);
  for (const Group& group : groups_) source.body.push_back(group.body);
  for (int e = 0; e < graph_.joint_count(); ++e) source.loops.push_back(loop_source(e));
  if (findings_.failed()) return;
  ClusterCompiler(source, *model_, findings_).run();
}

/// Edge e of the graph as a loop, if it is cut.
detail::LoopSource Compiler::loop_source(int e) {
  detail::LoopSource out;
  if (tree_.child(e) >= 0) return out;
  const auto place = [&](const std::string& link, const Pose& pose, int& body,
                         Transform<double>& at) {
    if (link.empty()) {  // the world under a floating root
      body = 0, at = pose.transform();
      return;
    }
    const Link& l = model_->links_[link_number_.at(link)];
    body = l.body, at = pose.transform() * l.X;
  };
  if (edge_joint_[e] >= 0) {
    const JointDescription& joint = joints_[edge_joint_[e]];
    out.name = joint.name, out.type = joint.type, out.axis = joint.axis;
    out.parameters = joint.parameters, out.where = joint.where;
    place(joint.parent, joint.origin, out.predecessor, out.at_predecessor);
    place(joint.child, Pose{}, out.successor, out.at_successor);
    const PassiveDynamics& p = joint.passive;
    if (joint.armature != 0.0 || p.damping != 0.0 || p.friction != 0.0 || p.stiffness != 0.0) {
      findings_.error(joint.where,
                      "joint '" + joint.name +
                          "': closes a loop and has armature or passive forces, expected none "
                          "there (put them on a joint of the spanning tree: list this joint "
                          "before the other one of link '" +
                          joint.child + "')");
    }
    return out;
  }
  const LoopDescription& loop = robot_.loops[loop_of_edge_.at(e)];
  out.name = loop.name, out.type = loop.type, out.axis = loop.axis;
  out.parameters = loop.parameters, out.where = loop.where;
  place(loop.predecessor, loop.predecessor_origin, out.predecessor, out.at_predecessor);
  place(loop.successor, loop.successor_origin, out.successor, out.at_successor);
  return out;
}

}  // namespace espalier
