#include "espalier/kernel/model/compile/clusters/cluster_compiler.hpp"

#include <cmath>

#include "espalier/kernel/errors.hpp"
#include "espalier/kernel/guard.hpp"
#include "espalier/kernel/model/adapters/plugin_checks.hpp"

/// Laws and loop joints: rows of K.

namespace espalier {

void ClusterCompiler::build_constraint(const graph::Cluster& from, Cluster& c) {
  const auto constraint = std::make_shared<ClusterConstraint>();
  const auto index = &c - model_.clusters_.data();
  constraint->columns = c.rows();
  for (int i = 0; i < c.rows(); ++i) {
    const Joint& joint = model_.joint_of_rate(c.rate(i));
    constraint->rate.push_back(c.rate(i));
    constraint->position.push_back(joint.nq == 1 ? joint.q : -1);
  }
  for (const int k : from.couplings) {
    const detail::Tie& tie = source_.ties[k];
    if (tie.equation) {
      where_[index] = tie.equation->where;
      add_linear(*tie.equation, c, *constraint);
    } else {
      where_[index] = tie.law->law->where;
      if (!add_law(*tie.law, c, *constraint)) return;
    }
  }
  for (const int e : from.cut_joints) {
    where_[index] = source_.loops[e].where;
    if (!add_loop(source_.loops[e], c, *constraint)) return;
  }
  constraint->all_linear = constraint->linear;
  constraint->choose(std::vector<bool>(c.rows(), true));  // none dependent yet
  constraints_[index] = constraint;
  c.constraint = constraint;
}

void ClusterCompiler::add_linear(const detail::Equation& equation, const Cluster& c,
                                 ClusterConstraint& constraint) const {
  ClusterConstraint::Linear linear;
  linear.name = equation.name;
  linear.constant = equation.constant;
  for (const auto& term : equation.terms) {
    linear.terms.emplace_back(c.row(model_.bodies_[source_.body[term.body]].v), term.coefficient);
  }
  constraint.linear.push_back(std::move(linear));
}

/// @returns whether it could be made
bool ClusterCompiler::add_law(const detail::LawSource& source, const Cluster& c,
                              ClusterConstraint& constraint) {
  const LawDescription& law = *source.law;
  ClusterConstraint::LawUse use;
  use.name = law.name;
  PartSpec spec;
  spec.what = "law", spec.name = law.name, spec.parameters = law.parameters;
  spec.where = law.where.text();
  try {
    const LawType& type = source_.types.law(law.type);
    use.law = detail::guarded([&] { return "law '" + law.name + "' of type '" + law.type + "'"; },
                              "its constructor", [&] { return type.make(spec); });
    use.type = &type, use.spec = spec;
  } catch (const Error& error) {
    findings_.error(law.where, error.what());
    return false;
  }
  // Where the sample's parameters hide a mistake, these may not.
  const std::string fault =
      detail::fault_of(*use.law, std::vector<double>(use.law->positions(), 0.1));
  if (!fault.empty()) {
    findings_.error(law.where, "law '" + law.name + "' of type '" + law.type + "': " + fault);
    return false;
  }
  for (const int b : source.bodies) {
    const Body& body = model_.bodies_[source_.body[b]];
    use.columns.push_back(c.row(body.v));
    use.positions.push_back(body.q);
  }
  use.kept.assign(use.law->equations(), true);
  use.measure.assign(use.law->equations(), 1.0);
  constraint.laws.push_back(std::move(use));
  return true;
}

/// @returns whether its joint can close one
bool ClusterCompiler::add_loop(const detail::LoopSource& source, const Cluster& c,
                               ClusterConstraint& constraint) {
  ClusterConstraint::Loop loop;
  loop.name = source.name;
  loop.predecessor = source.predecessor, loop.successor = source.successor;
  loop.at_predecessor = source.at_predecessor, loop.at_successor = source.at_successor;
  JointSpec spec;
  spec.what = "loop", spec.name = source.name, spec.parameters = source.parameters;
  spec.where = source.where.text();
  spec.axis = scale(1.0 / std::sqrt(dot(source.axis, source.axis)), source.axis);
  try {
    const LoopJoint& type = source_.types.loop_joint(source.type);
    loop.all_rows =
        detail::guarded([&] { return "loop '" + source.name + "' of type '" + source.type + "'"; },
                        "its loop_rows", [&] { return type.loop_rows(spec); });
  } catch (const Error& error) {
    findings_.error(source.where, error.what());
    return false;
  }
  if (loop.all_rows.empty()) {
    findings_.error(source.where, "loop '" + loop.name + "': type is '" + source.type +
                                      "', expected a joint that can close a loop");
    return false;
  }
  for (const LoopRow& row : loop.all_rows) {
    if (row.kind != LoopRow::Kind::facing) loop.rows.push_back(row);
  }
  find_path(c, loop);
  constraint.loops.push_back(std::move(loop));
  return true;
}

/// The path between a loop's two bodies, without what supports both.
void ClusterCompiler::find_path(const Cluster& c, ClusterConstraint::Loop& loop) const {
  std::vector<int> to_p, to_s;
  const auto inside = [&](int b) { return b >= c.first && b < c.first + c.count; };
  for (int b = loop.predecessor; inside(b); b = model_.bodies_[b].parent) to_p.push_back(b);
  for (int b = loop.successor; inside(b); b = model_.bodies_[b].parent) to_s.push_back(b);
  while (!to_p.empty() && !to_s.empty() && to_p.back() == to_s.back()) {
    to_p.pop_back(), to_s.pop_back();
  }
  for (const int b : to_p) loop.path.emplace_back(b, -1.0);
  for (const int b : to_s) loop.path.emplace_back(b, 1.0);
  for (const auto& member : loop.path) {
    const Body& body = model_.bodies_[member.first];
    for (int k = 0; k < body.nv; ++k) loop.columns.push_back(body.v - c.spanning_v + k);
  }
}

}  // namespace espalier
