#include "espalier/kernel/model/loops/loop_peeling.hpp"

#include <algorithm>

#include "espalier/kernel/model/loops/constraint.hpp"

namespace espalier::detail {

namespace {

/// A column counts as determined if what it has beside the others taken is no less than this, of
/// the largest column that the loop can be solved for: worse choices lose digits
/// (theory/large-clusters C.5). Where this leaves loops over, the next one decides: smaller pivots
/// are better than what has to be solved together.
constexpr double least_pivots[] = {0.05, 0.01, 0.002};
/// And that one is no less than this of the loop's largest column: far up in a deep net small turns
/// move a loop by long levers, which is no sign that its own columns are nearly dependent.
constexpr double least_lever = 0.005;

/// The columns, of those given, that a loop's rows determine best in their worst position; empty if
/// there are fewer of these than rows.
std::vector<int> pivots(const std::vector<RowMajorMatrix>& K, int first, int rows,
                        const std::vector<int>& own, const std::vector<int>& all,
                        const std::vector<int>& priority, double least_pivot) {
  std::vector<Eigen::MatrixXd> rest;
  for (const RowMajorMatrix& one : K) {
    const Eigen::MatrixXd of_loop = one.middleRows(first, rows);
    double largest = 0.0, largest_own = 0.0;
    for (const int column : all) largest = std::max(largest, of_loop.col(column).norm());
    for (const int column : own) largest_own = std::max(largest_own, of_loop.col(column).norm());
    if (!(largest_own > least_lever * largest)) return {};
    rest.push_back(of_loop(Eigen::all, own) / largest_own);
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

/// Loops that are taken away one by one. Rows of one loop, law or coupling follow one another and
/// are a group.
class Peeler {
 public:
  Peeler(const ClusterConstraint& constraint, const std::vector<RowMajorMatrix>& K,
         const std::vector<int>& priority)
      : K_(K), priority_(priority), in_(constraint.columns), count_(constraint.columns, 0) {
    find_groups(constraint);
    const int groups = static_cast<int>(first_.size()) - 1;
    columns_.resize(groups);
    for (int g = 0; g < groups; ++g) {
      std::vector<int>& columns = columns_[g];
      for (int i = first_[g]; i < first_[g + 1]; ++i) {
        columns.insert(columns.end(), constraint.entries(i).begin(), constraint.entries(i).end());
      }
      std::sort(columns.begin(), columns.end());
      columns.erase(std::unique(columns.begin(), columns.end()), columns.end());
      for (const int column : columns) in_[column].push_back(g), ++count_[column];
    }
    there_.assign(groups, true);
    waits_.assign(groups, false);
  }

  Peeling peel(double least_pivot) {
    const int groups = static_cast<int>(there_.size());
    for (int g = 0; g < groups; ++g) wait(g);
    while (!queue_.empty()) {
      const int g = queue_.back();
      queue_.pop_back();
      waits_[g] = false;
      if (there_[g]) try_to_take(g, least_pivot);
    }
    for (int g = 0; g < groups; ++g) {
      for (int i = first_[g]; there_[g] && i < first_[g + 1]; ++i) out_.rest.push_back(i);
    }
    return std::move(out_);
  }

 private:
  void find_groups(const ClusterConstraint& constraint) {
    int rows = 0;
    const auto add = [&](std::size_t count) {
      if (count > 0) first_.push_back(rows), rows += static_cast<int>(count);
    };
    for (std::size_t i = 0; i < constraint.linear.size(); ++i) add(1);
    for (const auto& use : constraint.laws) {
      add(std::count(use.kept.begin(), use.kept.end(), true));
    }
    for (const auto& loop : constraint.loops) add(loop.rows.size());
    first_.push_back(rows);
  }
  void wait(int g) {
    if (!waits_[g]) waits_[g] = true, queue_.push_back(g);
  }
  /// Takes a group away if columns that only it reads determine it.
  void try_to_take(int g, double least_pivot) {
    std::vector<int> own;
    for (const int column : columns_[g]) {
      if (count_[column] == 1 && priority_[column] < 2) own.push_back(column);
    }
    const int size = first_[g + 1] - first_[g];
    if (static_cast<int>(own.size()) < size) return;
    const std::vector<int> taken =
        pivots(K_, first_[g], size, own, columns_[g], priority_, least_pivot);
    if (taken.empty()) return;
    out_.dependent.insert(out_.dependent.end(), taken.begin(), taken.end());
    there_[g] = false;
    for (const int column : columns_[g]) {
      if (--count_[column] != 1) continue;
      for (const int other : in_[column]) {
        if (there_[other]) wait(other);
      }
    }
  }

  const std::vector<RowMajorMatrix>& K_;
  const std::vector<int>& priority_;
  std::vector<int> first_;                      ///< row of each group, and the number of rows
  std::vector<std::vector<int>> columns_, in_;  ///< of each group; groups of each column
  std::vector<int> count_;                      ///< of groups still there, per column
  std::vector<bool> there_, waits_;
  std::vector<int> queue_;
  Peeling out_;
};

}  // namespace

Peeling peel_loops(const ClusterConstraint& constraint, const std::vector<RowMajorMatrix>& K,
                   const std::vector<int>& priority) {
  // From the beginning for each bound: a loop that is left out stands in the way of its neighbours,
  // and who goes around it ties together what is far apart.
  Peeling out;
  for (const double least_pivot : least_pivots) {
    out = Peeler(constraint, K, priority).peel(least_pivot);
    if (out.rest.empty()) break;
  }
  return out;
}

}  // namespace espalier::detail
