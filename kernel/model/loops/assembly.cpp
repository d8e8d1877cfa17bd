// First assembly: positions on all loops from any guess.

#include "espalier/kernel/model/closure.hpp"
#include "espalier/kernel/model/loops/cluster_equations.hpp"
#include "espalier/kernel/uniform.hpp"

namespace espalier {

namespace {

using detail::all_finite;
using detail::ClusterEquations;
using detail::Loops;
using detail::refusal;
using detail::report;
using detail::speak_of;

/// Closes one cluster from far away, where Newton's method runs to and fro: Levenberg's descent of
/// the squares of all rows. Those that tell a mirror image from the mechanism push, too, so that it
/// does not end at frames that face away from each other.
/// Source: Levenberg (1944); slopes by differences, since this is far from where they matter.
class Descent {
 public:
  Descent(Loops& loops, ClusterEquations& cluster) : loops_(loops), cluster_(cluster) {}

  /// @param guess    where to start, before other guesses are tried
  /// @param[out] q   closed, or as it was
  bool close(const std::vector<double>& guess, double* q) {
    const Model& model = loops_.model();
    const Cluster& c = cluster_.cluster();
    if (c.rows() > most_columns) return false;
    const std::vector<double> before(q, q + model.nq());
    UniformNumbers uniform(7);
    for (int attempt = 0; attempt < attempts; ++attempt) {
      std::vector<double> now = before, step(model.spanning_nv(), 0.0);
      const double spread = std::min(3.0, 0.3 * attempt);
      for (int k = 0; k < c.rows(); ++k) {
        const Joint& joint = model.joint_of_rate(c.rate(k));
        std::copy_n(guess.begin() + joint.q, joint.nq, now.begin() + joint.q);
        step[c.rate(k)] = spread * uniform();
      }
      loops_.move(now.data(), step);
      if (!descend(now) || !polish(now)) continue;
      std::copy(now.begin(), now.end(), q);
      return true;
    }
    std::copy(before.begin(), before.end(), q);
    return false;
  }

 private:
  static constexpr int most_columns = 200;  ///< of what is thought of: beyond, it takes minutes
  static constexpr int attempts = 16, iterations = 100;
  static constexpr double near = 1e-3;  ///< where Newton's method takes over

  Eigen::VectorXd rows(const std::vector<double>& q) {
    loops_.update(q.data(), cluster_);
    return cluster_.smooth_rows();
  }

  Eigen::MatrixXd slopes(const std::vector<double>& q, const Eigen::VectorXd& r) {
    constexpr double h = 1e-7;
    const Cluster& c = cluster_.cluster();
    Eigen::MatrixXd J(r.size(), c.rows());
    std::vector<double> step(loops_.model().spanning_nv(), 0.0);
    for (int k = 0; k < c.rows(); ++k) {
      std::vector<double> beside = q;
      step[c.rate(k)] = h;
      loops_.move(beside.data(), step);
      step[c.rate(k)] = 0.0;
      J.col(k) = (rows(beside) - r) / h;
    }
    return J;
  }

  bool descend(std::vector<double>& q) {
    const Cluster& c = cluster_.cluster();
    Eigen::VectorXd r = rows(q);
    double damping = 1e-2;
    for (int i = 0; i < iterations && r.cwiseAbs().maxCoeff() > near; ++i) {
      const Eigen::MatrixXd J = slopes(q, r);
      const Eigen::MatrixXd square = J.transpose() * J;
      const Eigen::VectorXd gradient = J.transpose() * r;
      bool better = false;
      for (int halved = 0; halved < 12 && !better; ++halved) {
        Eigen::MatrixXd damped = square;
        damped.diagonal().array() += damping;
        const Eigen::VectorXd dx = -detail::solve_symmetric(damped, gradient);
        std::vector<double> next = q, step(loops_.model().spanning_nv(), 0.0);
        for (int k = 0; k < c.rows(); ++k) step[c.rate(k)] = dx(k);
        loops_.move(next.data(), step);
        const Eigen::VectorXd there = rows(next);
        better = there.squaredNorm() < r.squaredNorm();
        damping = std::clamp(better ? 0.3 * damping : 4.0 * damping, 1e-9, 1e6);
        if (better) q = next, r = there;
      }
      if (!better) break;
    }
    return r.cwiseAbs().maxCoeff() <= near;
  }

  /// Shortest Newton steps to the end.
  bool polish(std::vector<double>& q) {
    const CloseOptions& options = loops_.options();
    std::vector<double> dv(loops_.model().spanning_nv());
    loops_.update(q.data(), cluster_);
    for (int k = 0; k < options.iterations && cluster_.residual() > options.tolerance; ++k) {
      std::fill(dv.begin(), dv.end(), 0.0);
      cluster_.newton_step(false, 0.3, dv.data());
      loops_.move(q.data(), dv);
      loops_.update(q.data(), cluster_);
    }
    return cluster_.residual() <= 10.0 * options.tolerance;
  }

  Loops& loops_;
  ClusterEquations& cluster_;
};

}  // namespace

Closure assemble(const Model& model, double* q, const CloseOptions& options) {
  Closure closure;
  if (!all_finite(q, model.nq())) return refusal();
  model.normalize(q);
  model.apply_couplings(q);
  Loops loops(model, options);
  if (loops.empty()) return closure;
  UniformNumbers uniform(1);
  std::vector<double> dv(model.spanning_nv());
  const std::vector<double> guess(q, q + model.nq());
  loops.update(q);
  std::vector<bool> open(loops.clusters().size());
  for (std::size_t i = 0; i < open.size(); ++i) {
    open[i] = !(loops.clusters()[i].residual() <= options.tolerance);
  }
  for (int attempt = 0; attempt < options.attempts; ++attempt) {
    if (std::none_of(open.begin(), open.end(), [](bool o) { return o; })) break;
    if (attempt > 0) {  // another guess for what is still open, farther and farther away
      const double spread = std::min(3.0, 0.1 * attempt);
      std::fill(dv.begin(), dv.end(), 0.0);
      for (std::size_t i = 0; i < open.size(); ++i) {
        const Cluster& c = loops.clusters()[i].cluster();
        if (!open[i]) continue;
        for (int k = 0; k < c.rows(); ++k) {
          const Joint& joint = model.joint_of_rate(c.rate(k));
          std::copy_n(guess.begin() + joint.q, joint.nq, q + joint.q);
          dv[c.rate(k)] = spread * uniform();
        }
      }
      loops.move(q, dv);
      loops.update(q);
    }
    for (int k = 0; k < options.iterations; ++k) {
      std::fill(dv.begin(), dv.end(), 0.0);
      bool moving = false;
      for (std::size_t i = 0; i < open.size(); ++i) {
        ClusterEquations& cluster = loops.clusters()[i];
        if (!open[i]) continue;
        if (cluster.phi().size() == 0 || cluster.phi().cwiseAbs().maxCoeff() <= options.tolerance) {
          continue;
        }
        cluster.newton_step(false, 0.3, dv.data());
        moving = true;
      }
      if (!moving) break;
      loops.move(q, dv);
      loops.update(q);
    }
    for (std::size_t i = 0; i < open.size(); ++i) {
      open[i] = open[i] && !(loops.clusters()[i].residual() <= 10.0 * options.tolerance);
    }
  }
  for (std::size_t i = 0; i < open.size(); ++i) {
    if (!open[i]) continue;
    open[i] = !Descent(loops, loops.clusters()[i]).close(guess, q);
    loops.update(q);
  }
  for (std::size_t i = 0; i < open.size(); ++i) {
    if (closure.verdict != Closure::Verdict::closed) continue;
    report(closure, loops.clusters()[i]);
    if (!open[i]) continue;
    speak_of(closure, loops.clusters()[i], Closure::Verdict::out_of_reach);
    closure.reached = 0.0;
  }
  return closure;
}

}  // namespace espalier
