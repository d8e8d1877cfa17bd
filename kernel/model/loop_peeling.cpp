#include "espalier/kernel/model/loop_peeling.hpp"

#include <algorithm>
#include <numeric>

#include "espalier/kernel/model/constraint.hpp"

namespace espalier::detail {

namespace {

/// A column counts as determined if what it has beside the others taken is no less than this, of
/// the loop's largest column: worse choices lose digits (theory/large-clusters C.5).
constexpr double least_pivot = 0.05;

/// The columns, of those given, that a loop's rows determine best in their worst position; empty if
/// there are fewer of these than rows.
std::vector<int> pivots(const std::vector<RowMajorMatrix>& K, int first, int rows,
                        const std::vector<int>& own, const std::vector<int>& all,
                        const std::vector<int>& priority) {
  std::vector<Eigen::MatrixXd> rest;
  for (const RowMajorMatrix& one : K) {
    const Eigen::MatrixXd of_loop = one.middleRows(first, rows);
    double largest = 0.0;
    for (const int column : all) largest = std::max(largest, of_loop.col(column).norm());
    if (!(largest > 0.0)) return {};
    rest.push_back(of_loop(Eigen::all, own) / largest);
  }
  std::vector<int> taken;
  std::vector<bool> free(own.size(), true);
  for (int level = 0; level < 2; ++level) {
    while (static_cast<int>(taken.size()) < rows) {
      int best = -1;
      double largest = least_pivot;
      for (std::size_t j = 0; j < own.size(); ++j) {
        if (!free[j] || priority[own[j]] != level) continue;
        double worst = 1.0;
        for (const Eigen::MatrixXd& one : rest) worst = std::min(worst, one.col(j).norm());
        if (worst > largest * (1.0 + 1e-9)) best = static_cast<int>(j), largest = worst;
      }
      if (best < 0) break;
      free[best] = false;
      taken.push_back(own[best]);
      for (Eigen::MatrixXd& one : rest) {
        const Eigen::VectorXd direction = one.col(best).normalized();
        one -= direction * (direction.transpose() * one).eval();
      }
    }
  }
  if (static_cast<int>(taken.size()) < rows) taken.clear();
  return taken;
}

}  // namespace

Peeling peel_loops(const ClusterConstraint& constraint, const std::vector<RowMajorMatrix>& K,
                   const std::vector<int>& priority) {
  // Rows of one loop, law or coupling follow one another.
  std::vector<int> first;
  int rows = 0;
  const auto add = [&](std::size_t count) {
    if (count > 0) first.push_back(rows), rows += static_cast<int>(count);
  };
  for (std::size_t i = 0; i < constraint.linear.size(); ++i) add(1);
  for (const auto& use : constraint.laws) add(std::count(use.kept.begin(), use.kept.end(), true));
  for (const auto& loop : constraint.loops) add(loop.rows.size());
  const int groups = static_cast<int>(first.size());
  first.push_back(rows);

  std::vector<std::vector<int>> columns(groups), in(constraint.columns);
  std::vector<int> count(constraint.columns, 0);  // of groups still there
  for (int g = 0; g < groups; ++g) {
    for (int i = first[g]; i < first[g + 1]; ++i) {
      columns[g].insert(columns[g].end(), constraint.entries(i).begin(),
                        constraint.entries(i).end());
    }
    std::sort(columns[g].begin(), columns[g].end());
    columns[g].erase(std::unique(columns[g].begin(), columns[g].end()), columns[g].end());
    for (const int column : columns[g]) in[column].push_back(g), ++count[column];
  }

  Peeling out;
  std::vector<bool> there(groups, true), waits(groups, true);
  std::vector<int> queue(groups);
  std::iota(queue.begin(), queue.end(), 0);
  while (!queue.empty()) {
    const int g = queue.back();
    queue.pop_back();
    waits[g] = false;
    if (!there[g]) continue;
    std::vector<int> own;
    for (const int column : columns[g]) {
      if (count[column] == 1 && priority[column] < 2) own.push_back(column);
    }
    const int size = first[g + 1] - first[g];
    if (static_cast<int>(own.size()) < size) continue;
    const std::vector<int> taken = pivots(K, first[g], size, own, columns[g], priority);
    if (taken.empty()) continue;
    out.dependent.insert(out.dependent.end(), taken.begin(), taken.end());
    there[g] = false;
    for (const int column : columns[g]) {
      if (--count[column] != 1) continue;
      for (const int other : in[column]) {
        if (there[other] && !waits[other]) waits[other] = true, queue.push_back(other);
      }
    }
  }
  for (int g = 0; g < groups; ++g) {
    for (int i = first[g]; there[g] && i < first[g + 1]; ++i) out.rest.push_back(i);
  }
  return out;
}

}  // namespace espalier::detail
