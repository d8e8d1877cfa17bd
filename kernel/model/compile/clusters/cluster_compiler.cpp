#include "espalier/kernel/model/compile/clusters/cluster_compiler.hpp"

#include <algorithm>

#include "espalier/kernel/errors.hpp"
#include "espalier/kernel/model/compile/clusters/recognise.hpp"

namespace espalier {

void ClusterCompiler::run() {
  for (std::size_t i = 0; i < model_.clusters_.size(); ++i) {
    const graph::Cluster& from = source_.clusters.cluster(i);
    Cluster& c = model_.clusters_[i];
    independent_.emplace_back(c.rows(), true);
    constraints_.push_back(nullptr);
    where_.push_back(source_.where);
    c.nv = c.rows();
    if (!c.constrained) {
      const JointDescription& joint = *source_.joints[c.first];
      if (joint.independent == false) {
        findings_.warning(joint.where, "joint '" + joint.name +
                                           "': is declared dependent, but no coupling or loop "
                                           "ties it, expected independent=\"true\" (it is free)");
      }
      continue;
    }
    if (c.implicit) {
      build_constraint(from, c);
    } else {
      tie_constant(from, c);
    }
    if (findings_.failed()) return;
  }
  number_independent();
  model_.neutral_.resize(model_.nq_);
  for (const BodyRun& run : model_.runs_) run.joints->neutral(model_.neutral_.data() + run.q);
  model_.apply_couplings(model_.neutral_.data());
  if (model_.has_variable_constraints()) {
    assemble_variable();
    if (findings_.failed()) return;
    number_independent();
  }
  recognise();
}

/// Couplings alone: G is constant.
void ClusterCompiler::tie_constant(const graph::Cluster& from, Cluster& c) {
  std::vector<detail::CoupledJoint> members;
  for (int i = 0; i < c.count + c.rotors; ++i) {
    const Body& body =
        model_.bodies_[i < c.count ? c.first + i : model_.rotors_[c.rotor + i - c.count].body];
    const int number = static_cast<int>(&body - model_.bodies_.data());
    const JointDescription& joint = *source_.joints[number];
    members.push_back({number, joint.name, c.row(body.v), body.nv, joint.independent});
  }
  std::vector<detail::Equation> equations;
  for (const int k : from.couplings) {
    equations.push_back(*source_.ties[k].equation);
    for (auto& term : equations.back().terms) term.body = source_.body[term.body];
  }
  std::vector<const detail::Equation*> pointers;
  for (const auto& equation : equations) pointers.push_back(&equation);
  detail::Coupled coupled;
  try {
    coupled = detail::solve_couplings(members, c.rows(), pointers);
  } catch (const InvalidModel& error) {
    findings_.error(equations.front().where, error.what());
    return;
  }
  c.nv = coupled.nv;
  c.G = std::move(coupled.G);
  c.offset = std::move(coupled.offset);
  std::vector<bool>& independent = independent_[&c - model_.clusters_.data()];
  for (std::size_t k = 0; k < members.size(); ++k) {
    for (int i = 0; i < members[k].nv; ++i) independent[members[k].v + i] = coupled.independent[k];
  }
}

/// Independent rates in the order of clusters, inside them in the order of rows.
void ClusterCompiler::number_independent() {
  Model& m = model_;
  m.nv_ = 0;
  m.independent_rates_.clear();
  m.G_size_ = 0;
  for (std::size_t i = 0; i < m.clusters_.size(); ++i) {
    Cluster& c = m.clusters_[i];
    c.v = m.nv_;
    m.nv_ += c.nv;
    if (c.constrained) {
      c.G_start = m.G_size_;
      m.G_size_ += c.rows() * c.nv;
    }
    for (int row = 0; row < c.rows(); ++row) {
      if (independent_[i][row]) m.independent_rates_.push_back(c.rate(row));
    }
  }
  number_joints(m);
}

/// Where the rates of each joint start among the independent ones, if all of them are there.
void ClusterCompiler::number_joints(Model& m) {
  for (Joint& joint : m.joints_) joint.independent = -1;
  const auto& rates = m.independent_rates_;
  for (std::size_t v = 0; v < rates.size(); ++v) {
    Joint& joint = m.joints_[m.joint_of_rate_[rates[v]]];
    const bool whole = rates[v] == joint.v && v + joint.nv <= rates.size() &&
                       rates[v + joint.nv - 1] == joint.v + joint.nv - 1;
    if (whole) joint.independent = static_cast<int>(v);
  }
}

void ClusterCompiler::recognise() {
  for (Cluster& c : model_.clusters_) {
    if (c.constrained) c.recognised = detail::recognise(model_, c);
  }
}

std::string ClusterCompiler::names_of_joints(const Cluster& c) const {
  std::vector<std::string> names;
  for (int row = 0; row < c.rows(); ++row) {
    const std::string& name = model_.joint_of_rate(c.rate(row)).name;
    if (names.empty() || names.back() != name) names.push_back(name);
  }
  return detail::list_of(names);
}

}  // namespace espalier
