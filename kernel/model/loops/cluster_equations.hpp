#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "espalier/kernel/linear_algebra/decompositions.hpp"
#include "espalier/kernel/model/closure.hpp"
#include "espalier/kernel/model/loops/loop_elimination.hpp"
#include "espalier/kernel/model/motion/tree_kinematics.hpp"

/// The loops of a model as Newton's method sees them; inside of closure.cpp and assembly.cpp.
/// Written for clarity: it allocates (LoopProjector does not).

namespace espalier::detail {

/// Smallest of the first `rank` singular values of A over `measure`; 1 for rank 0.
double margin_of(const RowMatrix& A, Eigen::Index rank, double measure);
/// The largest singular value.
double largest_of(const RowMatrix& A);

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
    if (constraint_.blocks) return factor_blocks(*constraint_.blocks, work_);
    if (constraint_.is_sparse() && constraint_.dependent.empty()) return;
    K = full();
    K_dependent = columns(constraint_.dependent);
  }
  /// All rows, also those that follow from others. Those that tell a mechanism from its mirror
  /// image are 1 - a · b, which has a slope wherever the directions point.
  Eigen::VectorXd smooth_rows() const {
    Eigen::VectorXd rows =
        Eigen::Map<const Eigen::VectorXd>(all_.data(), static_cast<Eigen::Index>(all_.size()));
    Eigen::Index at = rows.size();
    for (const ClusterConstraint::Loop& loop : constraint_.loops) {
      at -= static_cast<Eigen::Index>(loop.all_rows.size());
    }
    const auto axes = [&](int body, const Transform<double>& place) {
      const bool inside = body >= c_.first && body < c_.first + c_.count;
      return inside ? place.E * work_.pose[body - c_.first].E : place.E;
    };
    for (const ClusterConstraint::Loop& loop : constraint_.loops) {
      const Mat3<double> p = axes(loop.predecessor, loop.at_predecessor);
      const Mat3<double> s = axes(loop.successor, loop.at_successor);
      for (const LoopRow& row : loop.all_rows) {
        if (row.kind == LoopRow::Kind::facing) {
          rows(at) = 1.0 - dot(transpose_times(p, row.a), transpose_times(s, row.b));
        }
        ++at;
      }
    }
    return rows;
  }
  double residual() const {
    double largest = 0.0;
    for (const double x : all_) largest = std::abs(x) <= largest ? largest : std::abs(x);
    return largest;
  }
  Eigen::VectorXd phi() const {
    return Eigen::Map<const Eigen::VectorXd>(kept_.data(), kept_.size());
  }

  /// K, row after row.
  RowMatrix full() const {
    RowMatrix all = RowMatrix::Zero(constraint_.rows(), constraint_.columns);
    for (int i = 0; i < all.rows(); ++i) {
      constraint_.each_in_row(work_, i, [&](int column, double x) { all(i, column) = x; });
    }
    return all;
  }
  RowMatrix columns(const std::vector<int>& which) const {
    const RowMatrix all = full();
    RowMatrix some(all.rows(), which.size());
    for (std::size_t j = 0; j < which.size(); ++j) some.col(j) = all.col(which[j]);
    return some;
  }
  double size() const {
    const RowMatrix all = full();
    return all.size() == 0 || !all.allFinite() ? 0.0 : largest_of(all);
  }
  /// Smallest singular value of the dependent columns, measured by the largest of all columns; of a
  /// cluster in blocks the least of its blocks', measured by the largest of their rows.
  double margin() const {
    if (constraint_.blocks) return least_block_margin();
    return constraint_.dependent.empty() ? 1.0 : margin_of(K_dependent, K_dependent.cols(), size());
  }
  /// The same of K itself: not more than this can any choice of independent joints have.
  double regularity() const {
    const auto rank = static_cast<Eigen::Index>(constraint_.dependent.size());
    return rank == 0 ? 1.0 : margin_of(full(), rank, size());
  }

  /// How the dependent columns lie, for turned_over().
  struct Orientation {
    RowMatrix K;
    std::vector<bool> negative;  ///< per block: its determinant
  };
  Orientation orientation() const {
    Orientation now;
    if (!constraint_.blocks) {
      now.K = K_dependent;
      return now;
    }
    for (const LoopBlocks::Block& block : constraint_.blocks->blocks) {
      now.negative.push_back(detail::negative(block, work_) != 0.0);
    }
    return now;
  }
  /// Whether the dependent columns have passed a singularity since; the positions are near.
  bool turned_over(const Orientation& before) const;

  /// Rates of the dependent joints for those of the independent ones: G_dep dy.
  Eigen::VectorXd follow(const Eigen::VectorXd& dy) const;

  /// Adds a step of the dependent columns (or of all, the shortest) to a tangent vector of the
  /// model.
  void newton_step(bool dependent_only, double longest, double* dv) const;

  /// The columns that would determine the others best: those that pivoting leaves over.
  std::vector<int> best_independent() const;

 private:
  Eigen::VectorXd dependents_of(const std::vector<double>& rates) const;
  /// -K^T (K K^T + e)^-1 phi: rows that say a thing twice are no harm, and e, ten digits below K's
  /// size, delays convergence by no step that counts.
  Eigen::VectorXd shortest_step() const;
  double least_block_margin() const;

  RowMatrix K, K_dependent;  ///< of what is not in blocks
  const Model& model_;
  const Cluster& c_;
  const ClusterConstraint& constraint_;
  mutable ConstraintWorkspace<double> work_;
  std::vector<double> all_, kept_;
};

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

/// assemble() by Newton's method alone, for who has another guess where that fails.
Closure assemble_nearby(const Model& model, double* q, const CloseOptions& options);

inline bool all_finite(const double* x, int n) {
  return std::all_of(x, x + n, [](double xi) { return std::isfinite(xi); });
}

/// Takes what is largest and what is smallest over all clusters into a closure.
inline void report(Closure& closure, const ClusterEquations& cluster) {
  const double margin = cluster.margin(), residual = cluster.residual();
  if (closure.cluster.empty() || margin < closure.margin) {
    closure.margin = margin;
    closure.cluster = cluster.cluster().name;
  }
  closure.residual = residual <= closure.residual ? closure.residual : residual;
}

/// Speaks of one cluster alone: its name beside its own residual and margin.
inline void speak_of(Closure& closure, const ClusterEquations& cluster, Closure::Verdict verdict) {
  closure.verdict = verdict;
  closure.cluster = cluster.cluster().name;
  closure.residual = cluster.residual();
  closure.margin = cluster.margin();
}

/// The answer to positions that are not finite.
inline Closure refusal() {
  Closure closure;
  closure.verdict = Closure::Verdict::out_of_reach;
  closure.residual = std::numeric_limits<double>::quiet_NaN();
  closure.margin = closure.reached = 0.0;
  return closure;
}

}  // namespace espalier::detail
