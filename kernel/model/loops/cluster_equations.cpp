#include "espalier/kernel/model/loops/cluster_equations.hpp"

#include <Eigen/Sparse>
#include <algorithm>
#include <cmath>

namespace espalier::detail {

namespace {

/// Singular values, largest first. Of large matrices by their squares, the eigenvalues of the
/// smaller product of A with itself: several times as fast, and good to eight digits below the
/// largest, while singular counts what is within six or three.
Eigen::VectorXd singular_values(const RowMatrix& A) {
  constexpr Eigen::Index small = 40;
  if (std::min(A.rows(), A.cols()) <= small) return singular_values_by_rotations(A);
  const bool wide = A.rows() < A.cols();
  const Eigen::MatrixXd square =
      wide ? Eigen::MatrixXd(A * A.transpose()) : Eigen::MatrixXd(A.transpose() * A);
  return eigenvalues_of_symmetric(square).reverse().cwiseMax(0.0).cwiseSqrt();
}

}  // namespace

double margin_of(const RowMatrix& A, Eigen::Index rank, double measure) {
  if (rank == 0) return 1.0;
  if (A.rows() < rank || !A.allFinite() || !(measure > 0.0)) return 0.0;
  return singular_values(A)(rank - 1) / measure;
}

double largest_of(const RowMatrix& A) { return singular_values(A)(0); }

bool ClusterEquations::turned_over(const Orientation& before) const {
  if (constraint_.blocks) return orientation().negative != before.negative;
  if (before.K.cols() == 0) return false;
  return !(determinant(before.K.transpose() * K_dependent) > 0.0);
}

Eigen::VectorXd ClusterEquations::follow(const Eigen::VectorXd& dy) const {
  const std::vector<int>& dependent = constraint_.dependent;
  if (dependent.empty()) return Eigen::VectorXd(0);  // all constraints are redundant
  if (!constraint_.blocks) {
    if (K_dependent.size() == 0) return Eigen::VectorXd();
    const Eigen::VectorXd moved = columns(constraint_.independent) * dy;
    return -least_squares(K_dependent, moved);
  }
  std::vector<double> rates(model_.spanning_nv(), 0.0), zero(constraint_.rows(), 0.0);
  for (int j = 0; j < dy.size(); ++j) {
    rates[constraint_.rate[constraint_.independent[j]]] = dy(j);
  }
  solve_blocks(constraint_, work_, zero.data(), rates.data());
  return dependents_of(rates);
}

void ClusterEquations::newton_step(bool dependent_only, double longest, double* dv) const {
  if (constraint_.rows() == 0) return;
  Eigen::VectorXd step;
  if (dependent_only && constraint_.blocks) {
    std::vector<double> rates(model_.spanning_nv(), 0.0);
    solve_blocks(constraint_, work_, kept_.data(), rates.data());
    step = -dependents_of(rates);
  } else if (!dependent_only && constraint_.is_sparse()) {
    step = shortest_step();
  } else {
    const RowMatrix& A = dependent_only ? K_dependent : K;
    if (A.size() == 0) return;  // constraints that are always met
    step = -least_squares(A, phi());
  }
  const double length = step.size() > 0 ? step.cwiseAbs().maxCoeff() : 0.0;
  if (length > longest) step *= longest / length;
  for (int i = 0; i < step.size(); ++i) {
    dv[constraint_.rate[dependent_only ? constraint_.dependent[i] : i]] += step(i);
  }
}

std::vector<int> ClusterEquations::best_independent() const {
  if (constraint_.dependent.empty()) return constraint_.independent;
  const std::vector<int> order = pivot_order(full());
  std::vector<int> rest;
  for (auto i = static_cast<int>(constraint_.dependent.size()); i < constraint_.columns; ++i) {
    rest.push_back(order[i]);
  }
  std::sort(rest.begin(), rest.end());
  return rest;
}

Eigen::VectorXd ClusterEquations::dependents_of(const std::vector<double>& rates) const {
  Eigen::VectorXd some(constraint_.dependent.size());
  for (int i = 0; i < some.size(); ++i) some(i) = rates[constraint_.rate[constraint_.dependent[i]]];
  return some;
}

Eigen::VectorXd ClusterEquations::shortest_step() const {
  std::vector<Eigen::Triplet<double>> entries;
  for (int i = 0; i < constraint_.rows(); ++i) {
    constraint_.each_in_row(work_, i, [&](int column, double x) {
      if (x != 0.0) entries.emplace_back(i, column, x);
    });
  }
  Eigen::SparseMatrix<double> all(constraint_.rows(), constraint_.columns);
  all.setFromTriplets(entries.begin(), entries.end());
  Eigen::SparseMatrix<double> square = all * Eigen::SparseMatrix<double>(all.transpose());
  const double size = square.diagonal().size() > 0 ? square.diagonal().maxCoeff() : 0.0;
  if (!(size > 0.0)) return Eigen::VectorXd::Zero(constraint_.columns);
  Eigen::SimplicialLDLT<Eigen::SparseMatrix<double>> factor;
  factor.setShift(1e-10 * size);
  factor.compute(square);
  return -(all.transpose() * factor.solve(phi()));
}

double ClusterEquations::least_block_margin() const {
  double least = 1.0;
  for (const LoopBlocks::Block& block : constraint_.blocks->blocks) {
    const int* rows = constraint_.blocks->rows.data() + block.first;
    RowMatrix all = RowMatrix::Zero(block.size, constraint_.columns), own(block.size, block.size);
    for (int i = 0; i < block.size; ++i) {
      constraint_.each_in_row(work_, rows[i], [&](int column, double x) { all(i, column) = x; });
    }
    for (int j = 0; j < block.size; ++j) {
      own.col(j) = all.col(constraint_.blocks->columns[block.first + j]);
    }
    if (!all.allFinite()) return 0.0;
    // Of its rows, by their products: few of them, but each as long as K.
    const RowMatrix square = all * all.transpose();
    const double margin = margin_of(own, block.size, std::sqrt(largest_of(square)));
    least = margin < least ? margin : least;
  }
  return least;
}

}  // namespace espalier::detail
