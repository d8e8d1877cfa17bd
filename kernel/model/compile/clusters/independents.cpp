#include "espalier/kernel/model/compile/clusters/cluster_compiler.hpp"

#include <algorithm>

#include "espalier/kernel/model/compile/clusters/sparse_rank.hpp"
#include "espalier/kernel/model/loops/loop_peeling.hpp"
#include "espalier/kernel/text.hpp"

namespace espalier {

namespace {
/// How willingly a column is made dependent.
enum Priority { declared = 0, written = 1, silent = 2, driven = 3, never = 4 };
/// Undriven columns below this share of the largest number of K depend poorly: a driven one that is
/// better takes their place.
constexpr double good_pivot = 0.05;
}  // namespace

/// Dependent columns are those declared so; then those that a law or coupling writes as following
/// others; then, in large clusters of which nothing is declared, those that let loops be solved one
/// after the other; then those with the largest pivots, of joints without actuators first: what is
/// driven is what forces are given for.
/// @param K_at  at some positions, the first of which decides
void ClusterCompiler::choose_independent(Cluster& c, ClusterConstraint& constraint, int dependents,
                                         const std::vector<detail::RowMajorMatrix>& K_at) {
  const int n = constraint.columns;
  const detail::RowMajorMatrix& K = K_at.front();
  const double size = K.size() > 0 ? K.cwiseAbs().maxCoeff() : 0.0;
  const std::vector<int> priority = priorities(c, constraint);
  std::vector<bool> independent(n, true), allowed(n);
  int chosen = 0;
  detail::RowMajorMatrix rest = K;
  const bool any_declared = std::any_of(priority.begin(), priority.end(), [](int level) {
    return level == declared || level == never;
  });
  const bool any_driven = std::count(priority.begin(), priority.end(), driven) > 0;
  if (constraint.is_sparse() && !any_declared) {
    std::vector<int> order(n);
    for (int i = 0; i < n; ++i) order[i] = priority[i] - written;
    const detail::Peeling peeled = detail::peel_loops(constraint, K_at, order);
    for (const int column : peeled.dependent) independent[column] = false;
    chosen = static_cast<int>(peeled.dependent.size());
    rest = K(peeled.rest, Eigen::all);
  }
  detail::ColumnPivots pivots(rest.sparseView());
  for (int level = declared; level < never; ++level) {
    for (int i = 0; i < n; ++i) {
      const bool rest_of_silent = level == driven && priority[i] == silent;
      allowed[i] = (priority[i] == level || rest_of_silent) && independent[i];
    }
    const double least = level == silent && any_driven ? good_pivot : 1e-7;
    while (chosen < dependents) {
      const int best = pivots.best(allowed, least * size);
      if (best < 0) break;
      pivots.take(best);
      independent[best] = false;
      ++chosen;
    }
  }
  if (!are_as_declared(c, priority, independent, dependents, chosen)) return;
  constraint.choose(independent);
  independent_[&c - model_.clusters_.data()] = independent;
}

const JointDescription& ClusterCompiler::description_of(const Cluster& c, int column) const {
  return *source_.joints[model_.joint_of_rate(c.rate(column)).body];
}

std::vector<int> ClusterCompiler::priorities(const Cluster& c,
                                             const ClusterConstraint& constraint) const {
  std::vector<int> priority(constraint.columns, silent);
  for (const auto& linear : constraint.all_linear) {
    if (!linear.terms.empty()) priority[linear.terms.front().first] = written;
  }
  for (const auto& use : constraint.laws) {
    const int first = use.law->positions() - use.law->equations();
    for (int e = 0; use.law->is_explicit() && e < use.law->equations(); ++e) {
      priority[use.columns[first + e]] = written;
    }
  }
  for (int i = 0; i < constraint.columns; ++i) {
    const JointDescription& joint = description_of(c, i);
    if (priority[i] == silent && source_.driven.contains(joint.name)) priority[i] = driven;
    if (joint.independent) priority[i] = *joint.independent ? never : declared;
  }
  return priority;
}

/// Whether all declared dependent are so, and as many could be found as there have to be.
bool ClusterCompiler::are_as_declared(const Cluster& c, const std::vector<int>& priority,
                                      const std::vector<bool>& independent, int dependents,
                                      int chosen) {
  const int n = static_cast<int>(priority.size());
  const SourceLocation& where = where_[&c - model_.clusters_.data()];
  for (int i = 0; i < n; ++i) {
    if (priority[i] != declared || !independent[i]) continue;
    findings_.error(where, "joint '" + description_of(c, i).name +
                               "': is declared dependent, but the constraints of cluster " +
                               text::quoted(c.name) + " leave " + std::to_string(n - dependents) +
                               " degrees of freedom and do not determine it beside the "
                               "other dependent joints, expected independent=\"true\" on it "
                               "or on another");
    return false;
  }
  if (chosen >= dependents) return true;
  std::vector<std::string> names;
  for (int i = 0; i < n; ++i) {
    if (priority[i] == never) names.push_back(description_of(c, i).name);
  }
  if (names.empty()) {
    findings_.error(where, "cluster " + text::quoted(c.name) +
                               ": its constraints determine no choice of joints beyond rounding, "
                               "expected lengths between 1e-4 and 1e4 (describe the robot in other "
                               "units, or leave out constraints that say nothing)");
    return false;
  }
  // As many as there are degrees of freedom, or fewer: then these do not determine the others.
  const int freedom = n - dependents, count = static_cast<int>(names.size());
  findings_.error(
      where, "cluster " + text::quoted(c.name) + ": " + (count == 1 ? "joint " : "joints ") +
                 detail::list_of(names) + (count == 1 ? " is" : " are") +
                 " declared independent, expected " +
                 (count > freedom
                      ? "at most " + std::to_string(freedom) +
                            ", the degrees of freedom (leave out 'independent' of the others)"
                      : "joints that determine the others (at the neutral position and beside it "
                        "these are at a dead point, or part of a loop that they do not move: "
                        "declare another joint of the cluster, or move the neutral position)"));
  return false;
}

}  // namespace espalier
