#include "espalier/kernel/model/compile/clusters/cluster_compiler.hpp"

#include <Eigen/Core>
#include <algorithm>
#include <cmath>

#include "espalier/kernel/linear_algebra/decompositions.hpp"
#include "espalier/kernel/model/compile/clusters/sparse_rank.hpp"
#include "espalier/kernel/model/motion/tree_kinematics.hpp"
#include "espalier/kernel/text.hpp"

/// Which rows of K say something, and where independent joints determine the others.

namespace espalier {

namespace {

using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Vector = Eigen::VectorXd;

using text::quoted;

/// Rank of K with its rows measured by their largest entries: what is a zero row at all poses is
/// redundant, not small.
int rank_of(const Matrix& K) {
  if (K.size() == 0) return 0;
  const Vector sigma = detail::singular_values_by_rotations(K);
  int rank = 0;
  for (int i = 0; i < sigma.size(); ++i) rank += sigma(i) > 1e-8 * sigma(0) && sigma(i) > 1e-10;
  return rank;
}
double smallest_of(const Matrix& K, int rank) {
  if (rank == 0) return 1.0;
  const Vector sigma = detail::singular_values_by_rotations(K);
  return sigma(rank - 1) / sigma(0);
}

/// K at a position, rows x columns.
Matrix jacobian(const Model& model, const Cluster& c, const ClusterConstraint& constraint,
                const std::vector<double>& q, TreeKinematics<double>& joints) {
  joints.update(model, q.data(), nullptr);
  ConstraintWorkspace<double> work;
  constraint.allocate(c, work);
  constraint.jacobian(
      model, c, SpanningView<double>{q.data(), nullptr, joints.X.data(), joints.S.data(), nullptr},
      work);
  Matrix K = Matrix::Zero(constraint.rows(), constraint.columns);
  for (int i = 0; i < K.rows(); ++i) {
    constraint.each_in_row(work, i, [&](int column, double x) { K(i, column) = x; });
  }
  return K;
}

/// Ranks of K at some positions, dense for few joints, sparse for many. Both measure pivots by the
/// largest.
int rank_at(const Matrix& K, bool sparse) {
  return sparse ? detail::row_rank(K.sparseView()).rank : rank_of(K);
}
double least_at(const Matrix& K, int rank, bool sparse) {
  if (!sparse) return smallest_of(K, rank);
  const detail::RowRank found = detail::row_rank(K.sparseView());
  return rank == 0 ? 1.0 : found.rank < rank ? 0.0 : found.least;
}
/// Rows that say something at some of the positions that are side by side, and how many.
int rows_that_count(const Matrix& all, bool sparse, std::vector<bool>& kept) {
  if (sparse) {
    detail::RowRank found = detail::row_rank(all.sparseView());
    kept = std::move(found.kept);
    return found.rank;
  }
  const int rank = rank_of(all);
  const std::vector<int> order = detail::pivot_order(all.transpose());
  kept.assign(all.rows(), false);
  for (int i = 0; i < rank; ++i) kept[order[i]] = true;
  return rank;
}

}  // namespace

void ClusterCompiler::settle(std::size_t index, const std::vector<std::vector<double>>& poses) {
  Cluster& c = model_.clusters_[index];
  ClusterConstraint& constraint = *constraints_[index];
  const bool sparse = constraint.is_sparse();
  if (sparse) keep_rows_of_loops(c, constraint, poses);
  std::vector<Matrix> K;
  const int rank = largest_rank(index, poses, K);
  if (rank < 0) return;
  const int n = constraint.columns;
  measure_laws(constraint, K);
  keep_rows(constraint, K);
  const std::size_t at = best_pose(c, K, rank, sparse);
  if (at != 0) leave_dead_point(index, poses[at]);
  std::swap(K.front(), K[at]);
  choose_independent(c, constraint, rank, K);
  if (findings_.failed()) return;
  c.nv = n - rank;
  constraint.planar = PlanarLoops::find(model_, c, constraint);
  constraint.choose_blocks();
}

/// The rank that K has where it is largest, and K at all poses; -1 where the cluster is refused.
int ClusterCompiler::largest_rank(std::size_t index, const std::vector<std::vector<double>>& poses,
                                  std::vector<Matrix>& K) {
  const Cluster& c = model_.clusters_[index];
  const ClusterConstraint& constraint = *constraints_[index];
  TreeKinematics<double> joints(model_);
  int rank = 0;
  for (const auto& q : poses) {
    K.push_back(jacobian(model_, c, constraint, q, joints));
    if (!K.back().allFinite()) {
      findings_.error(where_[index], "cluster " + quoted(c.name) +
                                         ": derivatives of its constraints are not finite near the "
                                         "neutral position, expected numbers (move the joints' "
                                         "zeros away from where a law is undefined)");
      return -1;
    }
    rank = std::max(rank, rank_at(K.back(), constraint.is_sparse()));
  }
  if (rank >= constraint.columns) {
    findings_.error(where_[index],
                    "cluster " + quoted(c.name) + ": its " + std::to_string(rank) +
                        " independent constraints leave the joints " + names_of_joints(c) +
                        " no motion, expected at least one degree of freedom (remove constraints, "
                        "or close the loop by a joint that is freer)");
    return -1;
  }
  if (rank == 0) {
    findings_.warning(where_[index], "cluster " + quoted(c.name) +
                                         ": its constraints are met whatever its joints " +
                                         names_of_joints(c) +
                                         " do, expected constraints that tie them (remove them)");
  }
  return rank;
}

/// Finds by what the residuals of laws are multiplied before they are judged: such that the largest
/// slope of each is that of a lever of a centimetre, where it is smaller.
void ClusterCompiler::measure_laws(ClusterConstraint& constraint, const std::vector<Matrix>& K) {
  constexpr double small = 1e-2, largest = 1e5;  // phi of a metre has roundings of 2e-16
  auto row = static_cast<Eigen::Index>(constraint.linear.size());
  for (ClusterConstraint::LawUse& use : constraint.laws) {
    for (std::size_t e = 0; e < use.kept.size(); ++e) {
      if (!use.kept[e]) continue;
      double slope = 0.0;
      for (const Matrix& one : K) slope = std::max(slope, one.row(row).cwiseAbs().maxCoeff());
      if (slope > 0.0 && slope < small) use.measure[e] = std::min(small / slope, largest);
      ++row;
    }
  }
}

/// Keeps the rows that say something at some position.
void ClusterCompiler::keep_rows(ClusterConstraint& constraint, std::vector<Matrix>& K) {
  const int m = constraint.rows(), n = constraint.columns;
  Matrix all(m, static_cast<Eigen::Index>(K.size()) * n);
  for (std::size_t k = 0; k < K.size(); ++k) all.middleCols(k * n, n) = K[k];
  std::vector<bool> kept;
  const int row_rank = rows_that_count(all, constraint.is_sparse(), kept);
  constraint.keep(kept);
  for (Matrix& one : K) {
    Matrix some(row_rank, n);
    for (int i = 0, next = 0; i < m; ++i) {
      if (kept[i]) some.row(next++) = one.row(i);
    }
    one = some;
  }
}

/// The neutral position, unless it is a dead point of the declared joints or of all.
std::size_t ClusterCompiler::best_pose(const Cluster& c, const std::vector<Matrix>& K, int rank,
                                       bool sparse) const {
  std::vector<int> candidates, declared;  // columns that may, and that have to be dependent
  for (int i = 0; i < c.rows(); ++i) {
    const auto& flag = source_.joints[model_.joint_of_rate(c.rate(i)).body]->independent;
    if (flag != true) candidates.push_back(i);
    if (flag == false) declared.push_back(i);
  }
  const auto fitness = [&](const Matrix& one) {
    const int least = static_cast<int>(candidates.size()), most = static_cast<int>(declared.size());
    if (rank_at(one, sparse) < rank || least < rank || most > rank) return 0.0;
    const Matrix may = one(Eigen::all, candidates), must = one(Eigen::all, declared);
    // Of the declared ones the columns have to be independent, not the rows.
    return std::min(least_at(may, rank, sparse), least_at(must.transpose(), most, sparse));
  };
  std::size_t at = 0;
  if (fitness(K[0]) >= 1e-6) return at;
  for (std::size_t k = 1; k < K.size(); ++k) {
    if (fitness(K[k]) > fitness(K[at])) at = k;
  }
  return at;
}

void ClusterCompiler::leave_dead_point(std::size_t index, const std::vector<double>& pose) {
  const Cluster& c = model_.clusters_[index];
  findings_.warning(where_[index],
                    "cluster " + quoted(c.name) +
                        ": is at a dead point at the neutral position, expected a regular one "
                        "(there its independent joints do not determine the others; Espalier "
                        "starts from a position beside it)");
  for (int i = 0; i < c.rows(); ++i) {
    const Joint& joint = model_.joint_of_rate(c.rate(i));
    std::copy_n(pose.begin() + joint.q, joint.nq, model_.neutral_.begin() + joint.q);
  }
}

/// Of each loop by itself, the rows that say something: of many loops together that is found faster
/// once the rows that a planar loop has too many are gone.
void ClusterCompiler::keep_rows_of_loops(const Cluster& c, ClusterConstraint& constraint,
                                         const std::vector<std::vector<double>>& poses) {
  TreeKinematics<double> joints(model_);
  std::vector<Matrix> K;
  for (const auto& q : poses) K.push_back(jacobian(model_, c, constraint, q, joints));
  std::vector<bool> kept(constraint.rows(), true);
  int row = constraint.rows();
  for (std::size_t l = constraint.loops.size(); l-- > 0;) {
    const ClusterConstraint::Loop& loop = constraint.loops[l];
    const int count = static_cast<int>(loop.rows.size()), n = static_cast<int>(loop.columns.size());
    row -= count;
    Matrix of_loop(count, static_cast<Eigen::Index>(K.size()) * n);
    for (std::size_t k = 0; k < K.size(); ++k) {
      of_loop.middleCols(k * n, n) = K[k].middleRows(row, count)(Eigen::all, loop.columns);
    }
    if (!of_loop.allFinite()) return;  // refused by whoever asks next
    std::vector<bool> some;
    rows_that_count(of_loop, false, some);
    std::copy(some.begin(), some.end(), kept.begin() + row);
  }
  constraint.keep(kept);
}

}  // namespace espalier
