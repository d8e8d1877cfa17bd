#pragma once

#include "simulation/contact/solvers/alternating_directions.hpp"
#include "simulation/contact/solvers/newton.hpp"

namespace espalier::contact {

/// Sweeps of exact blocks, then semismooth Newton rounds; where a lane is left, alternating
/// directions and Newton once more. Exact to the tolerance or said not to be.
/// Source: theory/contact 4 and 5.
template <class T>
class GaussSeidelNewton final : public ContactImpulses<T> {
 public:
  explicit GaussSeidelNewton(ModelPtr model) : ContactImpulses<T>(std::move(model)) {}

  void reserve(int contacts, int scalars) override {
    const std::size_t m = 3 * static_cast<std::size_t>(contacts) + scalars;
    sweeps_.reserve(contacts), newton_.reserve(contacts, scalars);
    directions_.reserve(contacts, scalars);
    for (std::vector<T>* x : {&u_, &kept_}) x->reserve(m);
  }

  ImpulseReport<T> solve_impulses(ImpulseProblem<T>& p, const Effort& effort) override {
    ImpulseReport<T> report;
    if (p.size() == 0) return report;
    newton_.prepare(p);
    u_.resize(p.size());
    report.residual = natural(p);
    Mask<T> live = ~less_equal(report.residual, T(effort.tolerance));
    if (!live.any()) return report;
    sweeps_.prepare(p);
    const int sweeps = effort.sweeps >= 0 ? effort.sweeps : usual_sweeps;
    sweeps_.run(p, 0, sweeps, live, p.lam.data(), p.slip.data());
    report.residual = select(live, natural(p), report.residual);
    newton_.run(p, sweeps_, effort.rounds >= 0 ? effort.rounds : most_rounds, effort.tolerance,
                u_.data(), p.lam, p.slip, report);
    if (effort.rounds >= 0) return report;  // a caller that rations asks again
    live = ~less_equal(report.residual, T(effort.tolerance));
    if (!live.any()) return report;
    complete(p);
    directions_.prepare(p);
    directions_.run(p, 200, effort.tolerance, p.lam, report);
    finish(p, effort.tolerance, report);
    // Redundant points at the edge of slipping hold Newton's method up: directions go on from
    // there.
    directions_.run(p, patience, effort.tolerance, p.lam, report);
    // Once more from no impulses at all, and longer: a bad start can hold directions up.
    again(p, effort.tolerance, report, [&](Mask<T> left) {
      for (T& lam : p.lam) lam = select(left, T(0.0), lam);
      report.residual = select(left, natural(p), report.residual);
      directions_.run(p, 1000, effort.tolerance, p.lam, report);
    });
    // Sweeps creep where directions go round in circles.
    again(p, effort.tolerance, report, [&](Mask<T> left) {
      sweeps_.run(p, 0, 500, left, p.lam.data(), p.slip.data());
      report.residual = select(left, natural(p), report.residual);
    });
    return report;
  }

 private:
  /// More sweeps save fewer Newton rounds than they cost, also with 160 rows.
  static constexpr int usual_sweeps = 2, most_rounds = 12, patience = 3000;

  /// Newton's rounds from what directions have found.
  void finish(ImpulseProblem<T>& p, double tolerance, ImpulseReport<T>& report) {
    rates(p, p.lam.data(), u_.data());
    newton_.run(p, sweeps_, most_rounds, tolerance, u_.data(), p.lam, p.slip, report);
  }
  /// f(lanes that are left) and Newton's rounds from there; what was better before is kept.
  template <class F>
  void again(ImpulseProblem<T>& p, double tolerance, ImpulseReport<T>& report, F&& f) {
    const Mask<T> live = ~less_equal(report.residual, T(tolerance));
    if (!live.any()) return;
    const T before = report.residual;
    kept_ = p.lam;
    f(live);
    finish(p, tolerance, report);
    const Mask<T> worse = ~less_equal(report.residual, before);
    report.residual = select(worse, before, report.residual);
    for (std::size_t i = 0; i < kept_.size(); ++i) {
      p.lam[i] = select(worse, kept_[i], p.lam[i]);
    }
  }

  T natural(const ImpulseProblem<T>& p) {
    rates(p, p.lam.data(), u_.data());
    return residual(p, newton_.row_scale(), p.lam.data(), u_.data());
  }

  BlockSweeps<T> sweeps_;
  NewtonRounds<T> newton_;
  AlternatingDirections<T> directions_;
  std::vector<T> u_, kept_;
};

/// Sweeps of exact blocks alone, at most 500.
template <class T>
class BlockGaussSeidel final : public ContactImpulses<T> {
 public:
  explicit BlockGaussSeidel(ModelPtr model) : ContactImpulses<T>(std::move(model)) {}

  void reserve(int contacts, int scalars) override {
    sweeps_.reserve(contacts), d_.reserve(contacts + scalars);
    u_.reserve(3 * static_cast<std::size_t>(contacts) + scalars);
  }

  ImpulseReport<T> solve_impulses(ImpulseProblem<T>& p, const Effort& effort) override {
    ImpulseReport<T> report;
    if (p.size() == 0) return report;
    d_.resize(p.contacts + p.scalars), u_.resize(p.size());
    scales(p, d_.data());
    sweeps_.prepare(p);
    const int most = effort.sweeps >= 0 ? effort.sweeps : 500;
    for (int k = 0;; ++k) {
      rates(p, p.lam.data(), u_.data());
      report.residual = residual(p, d_.data(), p.lam.data(), u_.data());
      const Mask<T> live = ~less_equal(report.residual, T(effort.tolerance));
      if (k >= most || !live.any()) return report;
      sweeps_.run(p, k, 1, live, p.lam.data(), p.slip.data());
      report.rounds += select(live, T(1.0), T(0.0));
    }
  }

 private:
  BlockSweeps<T> sweeps_;
  std::vector<T> d_, u_;
};

/// Alternating directions alone, at most 400 iterations.
template <class T>
class Admm final : public ContactImpulses<T> {
 public:
  explicit Admm(ModelPtr model) : ContactImpulses<T>(std::move(model)) {}

  void reserve(int contacts, int scalars) override {
    directions_.reserve(contacts, scalars), d_.reserve(contacts + scalars);
    u_.reserve(3 * static_cast<std::size_t>(contacts) + scalars);
  }

  ImpulseReport<T> solve_impulses(ImpulseProblem<T>& p, const Effort& effort) override {
    ImpulseReport<T> report;
    if (p.size() == 0) return report;
    d_.resize(p.contacts + p.scalars), u_.resize(p.size());
    scales(p, d_.data());
    rates(p, p.lam.data(), u_.data());
    report.residual = residual(p, d_.data(), p.lam.data(), u_.data());
    complete(p);
    directions_.prepare(p);
    directions_.run(p, effort.rounds >= 0 ? effort.rounds : 400, effort.tolerance, p.lam, report);
    return report;
  }

 private:
  AlternatingDirections<T> directions_;
  std::vector<T> d_, u_;
};

/// Row by row: normals are pushed until they do not approach, tangents are clipped by the friction
/// of the normal impulse. The baseline: what is left after some sweeps goes unseen unless the
/// residual is looked at.
template <class T>
class ProjectedGaussSeidel final : public ContactImpulses<T> {
 public:
  explicit ProjectedGaussSeidel(ModelPtr model) : ContactImpulses<T>(std::move(model)) {}

  void reserve(int contacts, int scalars) override {
    d_.reserve(contacts + scalars);
    u_.reserve(3 * static_cast<std::size_t>(contacts) + scalars);
  }

  ImpulseReport<T> solve_impulses(ImpulseProblem<T>& p, const Effort& effort) override {
    ImpulseReport<T> report;
    if (p.size() == 0) return report;
    complete(p);
    d_.resize(p.contacts + p.scalars), u_.resize(p.size());
    scales(p, d_.data());
    const int most = effort.sweeps >= 0 ? effort.sweeps : 500;
    for (int k = 0;; ++k) {
      rates(p, p.lam.data(), u_.data());
      report.residual = residual(p, d_.data(), p.lam.data(), u_.data());
      const Mask<T> live = ~less_equal(report.residual, T(effort.tolerance));
      if (k >= most || !live.any()) return report;
      sweep(p, live);
      report.rounds += select(live, T(1.0), T(0.0));
    }
  }

 private:
  static void sweep(ImpulseProblem<T>& p, Mask<T> live) {
    const int m = p.size();
    for (int c = 0; c < p.contacts; ++c) {
      T next[3];
      const std::size_t i = 3 * static_cast<std::size_t>(c);
      // One scale for both tangents, or the clipped step would turn away from the slip.
      const T tangent = larger(larger(p.G[(i + 1) * (m + 1)], p.G[(i + 2) * (m + 1)]), T(1e-300));
      next[0] = p.lam[i] - rate(p, i) / larger(p.G[i * (m + 1)], T(1e-300));
      next[0] = larger(next[0], T(0.0));
      p.lam[i] = select(live, next[0], p.lam[i]);
      for (int k = 1; k < 3; ++k) next[k] = p.lam[i + k] - rate(p, i + k) / tangent;
      clip_contact(p.mu[c], next);
      for (int k = 1; k < 3; ++k) p.lam[i + k] = select(live, next[k], p.lam[i + k]);
    }
    for (int k = 0; k < p.scalars; ++k) {
      const std::size_t i = 3 * static_cast<std::size_t>(p.contacts) + k;
      const Bounds<T> within = bounds(p, k, p.lam.data());
      const T next = clip(p.lam[i] - rate(p, i) / larger(p.G[i * (m + 1)], T(1e-300)), within.low,
                          within.high);
      p.lam[i] = select(live, next, p.lam[i]);
    }
  }
  static T rate(const ImpulseProblem<T>& p, std::size_t i) {
    const int m = p.size();
    T sum = p.g[i];
    for (int j = 0; j < m; ++j) sum += p.G[i * m + j] * p.lam[j];
    return sum;
  }

  std::vector<T> d_, u_;
};

}  // namespace espalier::contact
