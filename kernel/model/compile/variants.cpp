#include "espalier/kernel/model/compile/variants.hpp"

#include <algorithm>
#include <cmath>

#include "espalier/kernel/errors.hpp"
#include "espalier/kernel/model/compile/clusters/cluster_compiler.hpp"
#include "espalier/kernel/model/inertia/inertia_groups.hpp"
#include "espalier/kernel/text.hpp"

namespace espalier {

/// Groups point to the clusters of their model, so that each model has its own. A motion without
/// inertia is none of the coordinates: where the first model is regular everywhere, so are all.
void ClusterCompiler::regroup_inertia(const Model& from, Model& model) {
  const auto& known = from.inertia_groups();
  auto groups = std::make_shared<std::vector<detail::InertiaGroup>>();
  if (std::any_of(known.begin(), known.end(), [](const auto& group) { return group.guarded; })) {
    const bool everything = known.size() == 1 && static_cast<int>(known.front().members.size()) ==
                                                     model.active_body_count();
    *groups = detail::find_inertia_groups(model, detail::RatesOf::clusters, everything);
  }
  model.inertia_groups_ = std::move(groups);
  model.weightless_in_tree_ = detail::weightless_in_tree(model);
}

ModelPtr ClusterCompiler::with_independent(const Model& from, int cluster,
                                           std::span<const int> columns) {
  const auto model = std::make_shared<Model>(from);
  Cluster& c = model->clusters_[cluster];
  const auto constraint = std::make_shared<ClusterConstraint>(*c.constraint);
  std::vector<bool> independent(constraint->columns, false);
  for (const int column : columns) independent[column] = true;
  constraint->unit_dependents = false;
  constraint->choose(independent);
  constraint->choose_blocks();
  c.constraint = constraint;
  for (int j = 0; j < c.nv; ++j) {
    model->independent_rates_[c.v + j] = constraint->rate[constraint->independent[j]];
  }
  number_joints(*model);
  regroup_inertia(from, *model);
  return model;
}

ModelPtr ClusterCompiler::with_armature(const Model& from, std::span<const double> added) {
  const auto model = std::make_shared<Model>(from);
  std::vector<double> all(added.begin(), added.end());
  for (const auto& [rate, inertia] : model->armature_) all[rate] += inertia;
  model->armature_.clear();
  for (std::size_t rate = 0; rate < all.size(); ++rate) {
    if (all[rate] > 0.0) model->armature_.emplace_back(static_cast<int>(rate), all[rate]);
  }
  for (Rotor& rotor : model->rotors_) rotor.inertia += added[rotor.v];
  regroup_inertia(from, *model);
  return model;
}

ModelPtr with_independent(const Model& model, int cluster, std::span<const int> columns) {
  const auto refuse = [](const std::string& what) { throw InvalidModel("independent: " + what); };
  const int count = static_cast<int>(model.clusters().size());
  if (cluster < 0 || cluster >= count) {
    refuse("cluster is number " + std::to_string(cluster) + ", expected one below " +
           std::to_string(count));
  }
  const Cluster& c = model.clusters()[cluster];
  const std::string who = "cluster " + text::quoted(c.name);
  if (c.constraint == nullptr) {
    refuse(who + " has a constant G, expected one whose G depends on the position");
  }
  if (static_cast<int>(columns.size()) != c.nv) {
    refuse(who + " is given " + std::to_string(columns.size()) + " columns, expected " +
           std::to_string(c.nv));
  }
  std::vector<bool> taken(c.constraint->columns, false);
  for (const int column : columns) {
    if (column < 0 || column >= c.constraint->columns || taken[column]) {
      refuse(who + " is given column " + std::to_string(column) +
             ", expected each once and below " + std::to_string(c.constraint->columns));
    }
    taken[column] = true;
  }
  return ClusterCompiler::with_independent(model, cluster, columns);
}

ModelPtr with_armature(const Model& model, std::span<const double> added) {
  if (static_cast<int>(added.size()) != model.spanning_nv()) {
    throw SizeMismatch("armature: size is " + std::to_string(added.size()) + ", expected " +
                       std::to_string(model.spanning_nv()));
  }
  for (const double x : added) {
    if (x >= 0.0 && std::isfinite(x)) continue;
    throw InvalidModel("armature: added inertia is " + text::number(x) +
                       ", expected a number not below zero");
  }
  return ClusterCompiler::with_armature(model, added);
}

}  // namespace espalier
