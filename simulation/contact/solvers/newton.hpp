#pragma once

#include "simulation/contact/newton/elimination.hpp"
#include "simulation/contact/solvers/block_sweeps.hpp"

namespace espalier::contact {

/// Semismooth Newton rounds on the conditions of contact, as Alart and Curnier (1991) write them.
///
/// Each row is apart, sticking or slipping by its state; the linear system A x = -F, A = Q G + D,
/// is solved by the problem's own way, or by an elimination without exchange of rows, the same in
/// every lane, and the residual decides which part of the step is taken. A proximal term in A alone
/// carries redundant points.
/// Cost: O(m^3 / 3 + 5 m^2) a round by elimination.  Source: theory/contact 4.4.
template <class T>
class NewtonRounds {
 public:
  static constexpr double proximal = 1e-6;

  void reserve(int contacts, int scalars) {
    const std::size_t m = 3 * static_cast<std::size_t>(contacts) + scalars;
    d_.reserve(contacts + scalars), A_.reserve(m * m);
    Q_.reserve(9 * contacts + scalars), D_.reserve(9 * contacts + scalars);
    tie_.reserve(scalars);
    for (std::vector<T>* x : {&u_, &F_, &now_, &next_, &next_u_, &best_, &best_u_}) x->reserve(m);
  }
  void prepare(const ImpulseProblem<T>& p) {
    const std::size_t m = p.size();
    d_.resize(p.contacts + p.scalars);
    scales(p, d_.data());
    if (p.system == nullptr) A_.resize(m * m);
    Q_.resize(9 * p.contacts + p.scalars), D_.resize(Q_.size());
    tie_.resize(static_cast<std::size_t>(p.turning) * p.contacts);
    for (std::vector<T>* x : {&u_, &F_, &next_, &next_u_, &best_, &best_u_}) x->resize(m);
  }
  const T* row_scale() const { return d_.data(); }

  /// At most `rounds` in the lanes whose residual is above the tolerance.
  /// @param sweeps           prepared for p; taken where a round gains too little
  /// @param u                m, rates at lam
  /// @param[in,out] lam      m, in cones and bounds; out: the best that was met
  /// @param[in,out] slip     of contacts
  /// @param[in,out] report   residual at lam; rounds are counted
  void run(const ImpulseProblem<T>& p, const BlockSweeps<T>& sweeps, int rounds, double tolerance,
           const T* u, std::vector<T>& lam, std::vector<T>& slip, ImpulseReport<T>& report) {
    const int m = p.size();
    std::vector<T>& now = now_;
    now = lam;
    std::copy_n(u, m, u_.begin());
    T residual_now = report.residual;
    for (int round = 0; round < rounds; ++round) {
      // Not "above": a NaN is not solved, and ends with the rounds.
      const Mask<T> live = ~less_equal(report.residual, T(tolerance));
      if (!live.any()) return;
      linearize(p, now.data());
      eliminate(p);
      T best = select(live, T(1e300), T(-1.0));
      const T enough = larger(T(0.5) * residual_now, T(tolerance));
      for (const double part : {1.0, 0.5, 0.25, 0.0625}) {
        for (int i = 0; i < m; ++i) next_[i] = now[i] + T(part) * F_[i];
        clip_all(p, next_.data());
        rates(p, next_.data(), next_u_.data());
        const T r = residual(p, d_.data(), next_.data(), next_u_.data());
        // A lane that has what it needs takes no other candidate, whatever its neighbours try.
        const Mask<T> better = less(r, best) & ~less_equal(best, enough);
        best = select(better, r, best);
        for (int i = 0; i < m; ++i) {
          best_[i] = select(better, next_[i], best_[i]);
          best_u_[i] = select(better, next_u_[i], best_u_[i]);
        }
        if (!(live & ~less_equal(best, enough)).any()) break;
      }
      const Mask<T> found = live & less(best, T(1e299));
      const Mask<T> poor = live & ~less(best, T(0.9) * residual_now);
      for (int i = 0; i < m; ++i) {
        now[i] = select(found, best_[i], now[i]);
        u_[i] = select(found, best_u_[i], u_[i]);
      }
      residual_now = select(found, best, residual_now);
      if (poor.any()) {
        sweeps.run(p, 0, 4, poor, now.data(), slip.data());
        rates(p, now.data(), next_u_.data());
        const T r = residual(p, d_.data(), now.data(), next_u_.data());
        residual_now = select(poor, r, residual_now);
        for (int i = 0; i < m; ++i) u_[i] = select(poor, next_u_[i], u_[i]);
      }
      // A lane whose best is NaN as well takes what there is.
      const Mask<T> gain = live & ~less_equal(report.residual, residual_now);
      report.residual = select(gain, residual_now, report.residual);
      for (int i = 0; i < m; ++i) lam[i] = select(gain, now[i], lam[i]);
      report.rounds += select(live, T(1.0), T(0.0));
    }
  }

 private:
  /// Q, D and -F at lam; F stands in F_.
  void linearize(const ImpulseProblem<T>& p, const T* lam) {
    const T eps(proximal), one(1.0), zero(0.0);
    for (int c = 0; c < p.contacts; ++c) {
      const int i = 3 * c;
      const T &d = d_[c], &mu = p.mu[c];
      // d a: modes and directions are those of a.
      const T a_n = d * lam[i] - u_[i];
      const T a1 = d * lam[i + 1] - u_[i + 1], a2 = d * lam[i + 2] - u_[i + 2];
      const Length<T> of(a1 * a1 + a2 * a2);
      const T &q = of.length, &inverse = of.inverse;
      const T e1 = a1 * inverse, e2 = a2 * inverse, k = mu * a_n * inverse;
      const Mask<T> apart = less_equal(a_n, zero), stick = ~apart & less_equal(q, mu * a_n);
      const Mask<T> slip = ~(apart | stick);
      const T P11 = k * (one - e1 * e1), P12 = -k * e1 * e2, P22 = k * (one - e2 * e2);

      T *Q = Q_.data() + 9 * c, *D = D_.data() + 9 * c;
      Q[0] = select(apart, zero, one);
      Q[1] = Q[2] = D[1] = D[2] = zero;
      Q[3] = select(slip, mu * e1, zero), Q[6] = select(slip, mu * e2, zero);
      Q[4] = select(apart, zero, select(stick, one, P11));
      Q[8] = select(apart, zero, select(stick, one, P22));
      Q[5] = Q[7] = select(slip, P12, zero);
      D[0] = d * select(apart, one, eps);
      D[3] = select(slip, -d * mu * e1, zero), D[6] = select(slip, -d * mu * e2, zero);
      D[4] = d * select(apart, one, select(stick, eps, one - P11 + eps));
      D[8] = d * select(apart, one, select(stick, eps, one - P22 + eps));
      D[5] = D[7] = select(slip, -d * P12, zero);

      F_[i] = -select(apart, d * lam[i], u_[i]);
      F_[i + 1] = -select(apart, d * lam[i + 1], select(stick, u_[i + 1], d * lam[i + 1] - k * a1));
      F_[i + 2] = -select(apart, d * lam[i + 2], select(stick, u_[i + 2], d * lam[i + 2] - k * a2));
    }
    for (int s = 0; s < p.scalars; ++s) {
      const int i = 3 * p.contacts + s;
      const T& d = d_[p.contacts + s];
      const T a = d * lam[i] - u_[i];
      const Bounds<T> within = bounds(p, s, lam);
      const Mask<T> below = less(a, d * within.low), above = less(d * within.high, a);
      const Mask<T> bound = below | above;
      Q_[9 * p.contacts + s] = select(bound, zero, one);
      D_[9 * p.contacts + s] = d * select(bound, one, eps);
      const T past = select(below, lam[i] - within.low, select(above, lam[i] - within.high, zero));
      F_[i] = -select(bound, d * past, u_[i]);
      if (s < p.first_turning()) continue;
      // The bound moves with the normal impulse.
      const T follow = d * p.upper[s];
      tie_[s - p.first_turning()] = select(below, follow, select(above, -follow, zero));
    }
  }

  /// A = Q G + D.
  void assemble(const ImpulseProblem<T>& p) {
    const int m = p.size();
    for (int c = 0; c < p.contacts; ++c) {
      const int i = 3 * c;
      const T *Q = Q_.data() + 9 * c, *D = D_.data() + 9 * c;
      const T *G0 = p.G.data() + static_cast<std::size_t>(i) * m, *G1 = G0 + m, *G2 = G1 + m;
      T *A0 = A_.data() + static_cast<std::size_t>(i) * m, *A1 = A0 + m, *A2 = A1 + m;
      for (int j = 0; j < m; ++j) {
        A0[j] = Q[0] * G0[j];
        A1[j] = Q[3] * G0[j] + Q[4] * G1[j] + Q[5] * G2[j];
        A2[j] = Q[6] * G0[j] + Q[7] * G1[j] + Q[8] * G2[j];
      }
      A0[i] += D[0];
      for (int k = 0; k < 3; ++k) A1[i + k] += D[3 + k], A2[i + k] += D[6 + k];
    }
    for (int s = 0; s < p.scalars; ++s) {
      const int i = 3 * p.contacts + s;
      const T* G = p.G.data() + static_cast<std::size_t>(i) * m;
      T* A = A_.data() + static_cast<std::size_t>(i) * m;
      for (int j = 0; j < m; ++j) A[j] = Q_[9 * p.contacts + s] * G[j];
      A[i] += D_[9 * p.contacts + s];
      if (s < p.first_turning()) continue;
      A[3 * p.contact_of_turning(s)] += tie_[s - p.first_turning()];
    }
  }

  /// F_ = A^-1 F_.
  void eliminate(const ImpulseProblem<T>& p) {
    if (p.system != nullptr) return p.system->solve(Q_.data(), D_.data(), F_.data());
    assemble(p);
    contact::eliminate(p.size(), A_.data(), 1, F_.data());
  }

  std::vector<T> tie_;  ///< of turning rows: what of A their contacts' normals have
  std::vector<T> d_, Q_, D_, A_, u_, F_, now_, next_, next_u_, best_, best_u_;
};

}  // namespace espalier::contact
