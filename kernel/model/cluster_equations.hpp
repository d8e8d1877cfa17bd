#pragma once

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <vector>

#include "espalier/kernel/model/closure.hpp"
#include "espalier/kernel/model/tree_kinematics.hpp"

/// The loops of a model as Newton's method sees them; inside of closure.cpp. Written for clarity:
/// it allocates (LoopProjector does not).

namespace espalier::detail {

using RowMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// Smallest of the first `rank` singular values of A over `measure`; 1 for rank 0.
inline double margin_of(const RowMatrix& A, Eigen::Index rank, double measure) {
  if (rank == 0) return 1.0;
  if (A.rows() < rank || !A.allFinite() || !(measure > 0.0)) return 0.0;
  return Eigen::JacobiSVD<RowMatrix>(A).singularValues()(rank - 1) / measure;
}

/// One cluster whose G depends on the position.
class ClusterEquations {
 public:
  ClusterEquations(const Model& model, const Cluster& cluster)
      : model_(model), c_(cluster), constraint_(*cluster.constraint) {
    constraint_.allocate(cluster, work_);
  }

  const Cluster& cluster() const { return c_; }
  const ClusterConstraint& constraint() const { return constraint_; }

  /// @param joints  of the model at q
  void update(const double* q, const TreeKinematics<double>& joints) {
    using Rows = ClusterConstraint::Rows;
    const SpanningView<double> at{q, nullptr, joints.X.data(), joints.S.data(), nullptr};
    constraint_.jacobian(model_, c_, at, work_);
    constraint_.residual(model_, c_, at, Rows::all, work_, all_);
    constraint_.residual(model_, c_, at, Rows::kept, work_, kept_);
    K = Eigen::Map<const RowMatrix>(work_.K.data(), constraint_.rows(), constraint_.columns);
    K_dependent = columns(constraint_.dependent);
  }
  double residual() const {
    double largest = 0.0;
    for (const double x : all_) largest = std::abs(x) <= largest ? largest : std::abs(x);
    return largest;
  }
  Eigen::VectorXd phi() const {
    return Eigen::Map<const Eigen::VectorXd>(kept_.data(), kept_.size());
  }

  RowMatrix columns(const std::vector<int>& which) const {
    RowMatrix some(K.rows(), which.size());
    for (std::size_t j = 0; j < which.size(); ++j) some.col(j) = K.col(which[j]);
    return some;
  }
  double size() const {
    return K.size() == 0 || !K.allFinite() ? 0.0
                                           : Eigen::JacobiSVD<RowMatrix>(K).singularValues()(0);
  }
  /// Smallest singular value of the dependent columns, measured by the largest of all columns.
  double margin() const { return margin_of(K_dependent, K_dependent.cols(), size()); }
  /// The same of K itself: not more than this can any choice of independent joints have.
  double regularity() const { return margin_of(K, K_dependent.cols(), size()); }

  /// Adds a step of the dependent columns (or of all, the shortest) to a tangent vector of the
  /// model.
  void newton_step(bool dependent_only, double longest, double* dv) const {
    const RowMatrix& A = dependent_only ? K_dependent : K;
    if (A.size() == 0) return;  // constraints that are always met
    Eigen::VectorXd step = -A.completeOrthogonalDecomposition().solve(phi());
    const double length = step.size() > 0 ? step.cwiseAbs().maxCoeff() : 0.0;
    if (length > longest) step *= longest / length;
    for (int i = 0; i < step.size(); ++i) {
      dv[constraint_.rate[dependent_only ? constraint_.dependent[i] : i]] += step(i);
    }
  }

  /// The columns that would determine the others best: those that pivoting leaves over.
  std::vector<int> best_independent() const {
    if (K_dependent.cols() == 0) return constraint_.independent;
    Eigen::ColPivHouseholderQR<Eigen::MatrixXd> pivoted(K);
    std::vector<int> rest;
    for (int i = static_cast<int>(K_dependent.cols()); i < K.cols(); ++i) {
      rest.push_back(pivoted.colsPermutation().indices()(i));
    }
    std::sort(rest.begin(), rest.end());
    return rest;
  }

  RowMatrix K, K_dependent;

 private:
  const Model& model_;
  const Cluster& c_;
  const ClusterConstraint& constraint_;
  ConstraintWorkspace<double> work_;
  std::vector<double> all_, kept_;
};

/// Whether the dependent columns have passed a singularity between two positions that are near.
inline bool turned_over(const RowMatrix& before, const RowMatrix& after) {
  if (before.cols() == 0) return false;
  return !((before.transpose() * after).determinant() > 0.0);
}

/// All clusters of a model whose positions have to be solved for.
class Loops {
 public:
  Loops(const Model& model, const CloseOptions& options)
      : model_(model), options_(options), joints_(model), dv_(model.spanning_nv()) {
    for (const Cluster& c : model.clusters()) {
      if (c.constraint != nullptr) clusters_.emplace_back(model, c);
    }
  }

  const Model& model() const { return model_; }
  const CloseOptions& options() const { return options_; }
  std::vector<ClusterEquations>& clusters() { return clusters_; }
  bool empty() const { return clusters_.empty(); }

  void update(const double* q, ClusterEquations& cluster) {
    joints_.update(model_, q, nullptr);
    cluster.update(q, joints_);
  }
  void update(const double* q) {
    joints_.update(model_, q, nullptr);
    for (ClusterEquations& cluster : clusters_) cluster.update(q, joints_);
  }
  double residual() const {
    double largest = 0.0;
    for (const ClusterEquations& cluster : clusters_) {
      const double r = cluster.residual();
      largest = r <= largest ? largest : r;
    }
    return largest;
  }
  void move(double* q, const std::vector<double>& dv) { model_.integrate(q, dv.data(), q); }

  /// Newton's method on the dependent positions of one cluster. Stops as soon as it does not get
  /// better any more; leaves the cluster updated at q.
  bool newton(double* q, ClusterEquations& cluster) {
    update(q, cluster);
    double last = cluster.residual();
    for (int k = 0; k < options_.iterations && last > options_.tolerance; ++k) {
      std::fill(dv_.begin(), dv_.end(), 0.0);
      cluster.newton_step(true, 0.5, dv_.data());
      const std::vector<double> before(q, q + model_.nq());
      move(q, dv_);
      update(q, cluster);
      const double now = cluster.residual();
      if (!(now < last)) {
        // Rounding ends the descent a little above zero.
        if (last < 100.0 * options_.tolerance) {
          std::copy(before.begin(), before.end(), q);
          update(q, cluster);
          return true;
        }
        if (!(now < 2.0 * last)) return false;
      }
      last = now;
    }
    return last <= options_.tolerance;
  }

 private:
  const Model& model_;
  const CloseOptions& options_;
  TreeKinematics<double> joints_;
  std::vector<ClusterEquations> clusters_;
  std::vector<double> dv_;
};

}  // namespace espalier::detail
