#include "espalier/kernel/model/closure.hpp"

#include <cstdio>

#include "espalier/kernel/model/loops/cluster_equations.hpp"
#include "espalier/kernel/model/motion/quaternions.hpp"
#include "espalier/kernel/uniform.hpp"

namespace espalier {

namespace {

using detail::all_finite;
using detail::ClusterEquations;
using detail::Loops;
using detail::refusal;
using detail::report;
using detail::speak_of;
using Vector = Eigen::VectorXd;

/// Below this, K itself counts as singular where a way ends: no choice of independent joints helps.
constexpr double least_regularity = 1e-3;

/// Names of the independent joints that are better in one cluster, at a position that it is
/// updated at.
std::vector<std::string> better_in(const Model& model, const ClusterEquations& cluster) {
  const ClusterConstraint& constraint = cluster.constraint();
  std::vector<int> independent = constraint.independent;
  if (!(cluster.regularity() >= least_regularity)) return {};
  const std::vector<int> best = cluster.best_independent();
  std::vector<int> rest;
  for (int i = 0; i < constraint.columns; ++i) {
    if (std::find(best.begin(), best.end(), i) == best.end()) rest.push_back(i);
  }
  const double margin = detail::margin_of(cluster.columns(rest), rest.size(), cluster.size());
  if (margin > 2.0 * cluster.margin()) independent = best;
  std::vector<std::string> names;
  for (const int column : independent) {
    const int rate = constraint.rate[column];
    const Joint& joint = model.joint_of_rate(rate);
    names.push_back(joint.nv == 1 ? joint.name
                                  : joint.name + "[" + std::to_string(rate - joint.v) + "]");
  }
  return names;
}

/// Dependent joints that follow their cluster's independent ones along a straight way.
class Follower {
 public:
  Follower(Loops& loops, ClusterEquations& cluster, std::vector<double>& q, const double* target)
      : loops_(loops),
        cluster_(cluster),
        constraint_(cluster.constraint()),
        q_(q),
        target_(target),
        dy_(constraint_.independent.size()) {
    std::vector<double> way(model().spanning_nv());
    model().difference(q.data(), target, way.data());
    for (int j = 0; j < dy_.size(); ++j) dy_(j) = way[constraint_.rate[constraint_.independent[j]]];
  }

  /// Moves q as far as it goes; what came of it goes into the closure.
  void follow(Closure& closure) {
    if (!loops_.newton(q_.data(), cluster_)) {
      return stop(closure, Closure::Verdict::out_of_reach, 0.0);
    }
    double s = 0.0, h = 1.0;
    bool dead_point = cluster_.margin() < loops_.options().least_margin;
    bool at_once = constraint_.unit_dependents && evaluate();
    if (dead_point && !at_once) s = leave_dead_point();
    const int most_steps = this->most_steps();
    for (int steps = 0; s < 1.0 && !at_once; ++steps) {
      const double speed = this->speed();
      at_once = s == 0.0 && steps == 0 && speed > many_steps * largest_step && go_straight();
      if (at_once) break;
      // Dependent joints that slide off towards infinity would be followed for ever.
      if (steps == most_steps) return stop(closure, obstacle(s), s);
      h = std::min({h, 1.0 - s, speed > 0.0 ? largest_step / speed : 1.0});
      if (take(h, speed)) {
        s += h;
        h *= 2.0;
        dead_point = dead_point || cluster_.margin() < loops_.options().least_margin;
        continue;
      }
      loops_.update(q_.data(), cluster_);
      h *= 0.5;
      if (h * speed < smallest_step) return stop(closure, obstacle(s), s);
    }
    if (at_once) dead_point = dead_point || cluster_.margin() < loops_.options().least_margin;
    // The independent joints to their targets to the last bit.
    for (const int column : constraint_.independent) {
      const Joint& joint = model().joint_of_rate(constraint_.rate[column]);
      if (joint.independent >= 0) std::copy_n(target_ + joint.q, joint.nq, q_.begin() + joint.q);
    }
    if (!loops_.newton(q_.data(), cluster_)) stop(closure, Closure::Verdict::out_of_reach, 1.0);
    if (dead_point) stop(closure, Closure::Verdict::singular, 1.0);
  }

 private:
  static constexpr double largest_step = 0.1;    ///< [rad, m]: predictions beyond it are no guide
  static constexpr double smallest_step = 1e-5;  ///< where halving ends
  static constexpr double many_steps = 100.0;    ///< beside which a look at the way is nothing

  const Model& model() const { return loops_.model(); }

  /// Some times as many as the independent joints' own way takes without obstacles.
  int most_steps() const {
    const double own = dy_.size() > 0 ? dy_.cwiseAbs().maxCoeff() / largest_step : 0.0;
    return own < 49500.0 ? static_cast<int>(2000.0 + 4.0 * own) : 200000;
  }

  void stop(Closure& closure, Closure::Verdict verdict, double reached) const {
    if (closure.verdict != Closure::Verdict::closed) return;
    closure.verdict = verdict;
    closure.reached = reached;
    closure.cluster = cluster_.cluster().name;
    closure.margin = cluster_.margin();
    if (verdict != Closure::Verdict::out_of_reach) closure.better = better_in(model(), cluster_);
  }

  /// Rates of the dependent joints for dy: G_dep dy.
  Vector slope() const { return cluster_.follow(dy_); }
  double speed() const {
    const Vector dependent = slope();
    return std::max(dependent.size() > 0 ? dependent.cwiseAbs().maxCoeff() : 0.0,
                    dy_.size() > 0 ? dy_.cwiseAbs().maxCoeff() : 0.0);
  }
  /// q moved by h along dy, the dependent joints by `dependent`.
  std::vector<double> moved(double h, const Vector& dependent) const {
    std::vector<double> step(model().spanning_nv(), 0.0), next = q_;
    for (int j = 0; j < dy_.size(); ++j) {
      step[constraint_.rate[constraint_.independent[j]]] = h * dy_(j);
    }
    for (int i = 0; i < dependent.size(); ++i) {
      step[constraint_.rate[constraint_.dependent[i]]] = dependent(i);
    }
    model().integrate(next.data(), step.data(), next.data());
    return next;
  }
  double distance(const std::vector<double>& a, const std::vector<double>& b) const {
    std::vector<double> between(model().spanning_nv());
    model().difference(a.data(), b.data(), between.data());
    double largest = 0.0;
    for (const int rate : constraint_.rate) largest = std::max(largest, std::abs(between[rate]));
    return largest;
  }

  /// The whole way at once where dependent joints are functions of the independent ones: a value
  /// has no branches, and no way is too long.
  bool evaluate() {
    loops_.update(moved(1.0, Vector::Zero(constraint_.dependent.size())).data(), cluster_);
    return arrive(-cluster_.phi());  // what they miss
  }
  /// The same where all equations are linear, as those of gears.
  bool go_straight() {
    const Vector dependent = slope();
    return is_linear(dependent) && arrive(dependent);
  }
  /// At the end of the way, corrected; else it stays.
  bool arrive(const Vector& dependent) {
    std::vector<double> next = moved(1.0, dependent);
    if (loops_.newton(next.data(), cluster_)) {
      q_ = next;
      return true;
    }
    loops_.update(q_.data(), cluster_);
    return false;
  }
  /// Whether K is the same all along the way: two places tell, whose distances from the start have
  /// no common measure, as those of what repeats after a turn would have.
  bool is_linear(const Vector& slope) {
    const auto K = cluster_.full();
    if (K.size() == 0) return false;
    bool same = true;
    for (const double part : {0.3819660112501051, 1.0}) {
      std::vector<double> next = moved(part, part * slope);
      loops_.update(next.data(), cluster_);
      same = same && (cluster_.full() - K).cwiseAbs().maxCoeff() <= 1e-14 * K.cwiseAbs().maxCoeff();
    }
    loops_.update(q_.data(), cluster_);
    return same;
  }

  /// One step along the tangent, corrected. It is taken if the correction is small beside it: else
  /// it may be another branch.
  bool take(double h, double speed) {
    const ClusterEquations::Orientation before = cluster_.orientation();
    const std::vector<double> predicted = moved(h, h * slope());
    std::vector<double> next = predicted;
    if (!loops_.newton(next.data(), cluster_) || cluster_.turned_over(before) ||
        !(distance(predicted, next) <= 0.3 * h * speed + 1e-9)) {
      return false;
    }
    q_ = next;
    return true;
  }

  /// From a dead point a short step onto whatever branch is found; returns how far.
  double leave_dead_point() {
    const double length = dy_.size() > 0 ? dy_.cwiseAbs().maxCoeff() : 0.0;
    if (length == 0.0) return 0.0;
    const double h = std::min(1.0, 0.05 / length);
    const std::vector<double> start = q_;
    UniformNumbers uniform(1);
    for (int attempt = 0; attempt < 20; ++attempt) {
      Vector dependent(constraint_.dependent.size());
      for (double& x : dependent) x = 0.1 * uniform();
      std::vector<double> next = moved(h, dependent);
      if (!loops_.newton(next.data(), cluster_) || distance(start, next) > 0.3 ||
          cluster_.margin() < loops_.options().least_margin) {
        continue;
      }
      q_ = next;
      return h;
    }
    loops_.update(q_.data(), cluster_);
    return 0.0;
  }

  /// What it is that the way ends at.
  Closure::Verdict obstacle(double s) {
    if (cluster_.regularity() < least_regularity) return Closure::Verdict::singular;
    std::vector<double> other = moved(1.0 - s, Vector::Zero(constraint_.dependent.size()));
    const bool closes = loops_.newton(other.data(), cluster_);
    loops_.update(q_.data(), cluster_);
    return closes ? Closure::Verdict::branch_lost : Closure::Verdict::out_of_reach;
  }

  Loops& loops_;
  ClusterEquations& cluster_;
  const ClusterConstraint& constraint_;
  std::vector<double>& q_;
  const double* target_;
  Vector dy_;
};

}  // namespace

std::string_view to_string(Closure::Verdict verdict) {
  switch (verdict) {
    case Closure::Verdict::closed:
      return "closed";
    case Closure::Verdict::out_of_reach:
      return "out of reach";
    case Closure::Verdict::singular:
      return "singular";
    case Closure::Verdict::branch_lost:
      return "branch lost";
  }
  return "unknown verdict";
}

std::string Closure::text() const {
  char numbers[160];
  std::snprintf(numbers, sizeof numbers, ": residual %.3g, singularity margin %.3g", residual,
                margin);
  std::string advice;
  if (reached > 0.0 && reached < 1.0) {
    char part[48];
    std::snprintf(part, sizeof part, ", %.4g of the way was closed", reached);
    advice = part;
  }
  if (verdict == Verdict::singular || verdict == Verdict::branch_lost) {
    std::string joints;
    for (const std::string& joint : better) joints += (joints.empty() ? "'" : ", '") + joint + "'";
    advice += better.empty()
                  ? " (no choice of independent joints determines the others there)"
                  : " (independent joints that determine the others there: " + joints + ")";
  }
  return (cluster.empty() ? std::string("loops") : "cluster '" + cluster + "'") + ": " +
         std::string(to_string(verdict)) + numbers + advice;
}

Closure close(const Model& model, const double* start, double* q, const CloseOptions& options) {
  Closure closure;
  if (!all_finite(q, model.nq()) || !all_finite(start, model.nq())) return refusal();
  expect_directions("close", model, q);
  model.normalize(q);
  model.apply_couplings(q);
  Loops loops(model, options);
  if (loops.empty()) return closure;
  const std::vector<double> target(q, q + model.nq());
  // Clusters do not see each other: all joints at the target but those of loops, cluster by
  // cluster.
  std::vector<double> now = target;
  for (ClusterEquations& cluster : loops.clusters()) {
    const Cluster& c = cluster.cluster();
    for (int i = 0; i < c.rows(); ++i) {
      const Joint& joint = model.joint_of_rate(c.rate(i));
      std::copy_n(start + joint.q, joint.nq, now.begin() + joint.q);
    }
  }
  for (ClusterEquations& cluster : loops.clusters()) {
    Follower(loops, cluster, now, target.data()).follow(closure);
  }
  std::copy(now.begin(), now.end(), q);
  const Closure after = examine(model, q, options);
  if (closure.verdict == Closure::Verdict::closed) {
    closure.residual = after.residual;
    closure.margin = after.margin;
    closure.cluster = after.cluster;
    return closure;
  }
  loops.update(q);
  for (const ClusterEquations& cluster : loops.clusters()) {
    if (cluster.cluster().name == closure.cluster) closure.residual = cluster.residual();
  }
  return closure;
}

Closure project(const Model& model, double* q, const CloseOptions& options) {
  Closure closure;
  if (!all_finite(q, model.nq())) return refusal();
  model.normalize(q);
  model.apply_couplings(q);
  Loops loops(model, options);
  if (loops.empty()) return closure;
  std::vector<double> dv(model.spanning_nv());
  loops.update(q);
  std::vector<ClusterEquations::Orientation> before;
  for (const ClusterEquations& cluster : loops.clusters()) before.push_back(cluster.orientation());
  double last = loops.residual();
  for (int k = 0; k < options.iterations && !(last <= options.tolerance); ++k) {
    std::fill(dv.begin(), dv.end(), 0.0);
    for (const ClusterEquations& cluster : loops.clusters()) {
      if (cluster.residual() > options.tolerance) cluster.newton_step(true, 0.5, dv.data());
    }
    loops.move(q, dv);
    loops.update(q);
    const double now = loops.residual();
    if (!(now < last) && (last < 100.0 * options.tolerance || !(now < 2.0 * last))) break;
    last = now;
  }
  for (std::size_t i = 0; i < before.size(); ++i) {
    const ClusterEquations& cluster = loops.clusters()[i];
    if (closure.verdict != Closure::Verdict::closed) continue;
    report(closure, cluster);
    if (!(cluster.residual() <= 100.0 * options.tolerance)) {
      speak_of(closure, cluster, Closure::Verdict::out_of_reach);
    } else if (cluster.turned_over(before[i])) {
      speak_of(closure, cluster, Closure::Verdict::branch_lost);
      closure.better = better_in(model, cluster);
    }
  }
  if (closure.verdict != Closure::Verdict::closed) closure.reached = 0.0;
  return closure;
}

Closure examine(const Model& model, const double* q, const CloseOptions& options) {
  Closure closure;
  Loops loops(model, options);
  if (loops.empty()) return closure;
  loops.update(q);
  const ClusterEquations* worst = nullptr;
  for (const ClusterEquations& cluster : loops.clusters()) {
    report(closure, cluster);
    if (worst == nullptr || !(cluster.residual() <= worst->residual())) worst = &cluster;
  }
  if (!(closure.residual <= 100.0 * options.tolerance)) {
    speak_of(closure, *worst, Closure::Verdict::out_of_reach);
    closure.reached = 0.0;
  } else if (closure.margin < options.least_margin) {
    closure.verdict = Closure::Verdict::singular;
    closure.better = better_independents(model, q, closure.cluster);
  }
  return closure;
}

std::vector<std::string> better_independents(const Model& model, const double* q,
                                             std::string_view only) {
  const CloseOptions options;
  Loops loops(model, options);
  std::vector<std::string> names;
  if (loops.empty()) return names;
  loops.update(q);
  for (const ClusterEquations& cluster : loops.clusters()) {
    if (!only.empty() && cluster.cluster().name != only) continue;
    for (std::string& name : better_in(model, cluster)) names.push_back(std::move(name));
  }
  return names;
}

std::vector<double> neutral_position(const Model& model) {
  std::vector<double> q(model.nq());
  model.neutral(q.data());
  return q;
}

std::vector<double> random_position(const Model& model, unsigned long long seed) {
  std::vector<double> q(model.nq());
  model.random(seed, q.data());
  return q;
}

Closure close(const Model& model, In<double> start, Out<double> q, const CloseOptions& options) {
  expect_size("close", "start", start.size(), model.nq());
  expect_size("close", "q", q.size(), model.nq());
  return close(model, start.data(), q.data(), options);
}

Closure project(const Model& model, Out<double> q, const CloseOptions& options) {
  expect_size("project", "q", q.size(), model.nq());
  return project(model, q.data(), options);
}

Closure assemble(const Model& model, Out<double> q, const CloseOptions& options) {
  expect_size("assemble", "q", q.size(), model.nq());
  return assemble(model, q.data(), options);
}

Closure examine(const Model& model, In<double> q, const CloseOptions& options) {
  expect_size("examine", "q", q.size(), model.nq());
  return examine(model, q.data(), options);
}

}  // namespace espalier
