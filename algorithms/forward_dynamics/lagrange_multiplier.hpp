#pragma once

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "algorithms/inverse_dynamics/projected_rnea.hpp"
#include "algorithms/linear_algebra/large_ldlt.hpp"
#include "algorithms/linear_algebra/sparse_ltl.hpp"
#include "algorithms/mass_matrix/composite_bodies.hpp"
#include "espalier/kernel/model/inertia/inertia_terms.hpp"

namespace espalier {

/// Forward dynamics by constraint forces: the equations of the whole spanning tree, rotors
/// included, H qdd + C = B tau + K^T lambda and K qdd = k, by the sparse factor H = L^T L and the
/// Schur complement of the constraints,
///   Y = L^-T K^T,  (Y^T Y) lambda = k - Y^T L^-T (B tau - C).
/// Rows of K are [-G_dep 1], the cluster's constraints with the dependent rates solved for: they
/// span what the loops' own rows span, also where these say a thing twice. B puts tau on the
/// independent rates of the tree. Exact, and kept as the method that C-ABA is measured against.
/// Frames: those of CompositeBodies and SpanningRnea.  Cost: O(n d^2 + m d^2 + m^2 d + m^3) for m
/// dependent rates.
/// Source: Featherstone (2008), sections 6.5 and 8.5; Chignoli et al. (2023), section II-D.
template <class T>
class LagrangeMultiplier final : public ForwardDynamics<T> {
 public:
  /// @throws Unsupported if the tree's H is singular in an independent rate: a joint that moves
  ///         no inertia of its own
  explicit LagrangeMultiplier(ModelPtr model)
      : ForwardDynamics<T>(std::move(model)),
        motion_(this->model()),
        rnea_(this->model()),
        crba_(this->model(), CompositeBodies<T>::Rates::spanning),
        H_(static_cast<std::size_t>(this->model().spanning_nv()) * this->model().spanning_nv()),
        ltl_(this->model().rate_parents()),
        x_(this->model().spanning_nv()) {
    find_massless();
    find_rows();
    Y_.assign(rows_.size() * x_.size(), T(0.0));
    A_.resize(rows_.size() * rows_.size());
    lambda_.resize(rows_.size());
    if constexpr (std::is_same_v<T, double>) {
      expect_independent_constraints();
    } else {
      LagrangeMultiplier<double>(this->model_ptr());
    }
  }

 private:
  /// One constraint: rate - sum of G_j times the cluster's independent rates.
  struct Row {
    const Cluster* cluster;
    int row;                   ///< of G
    int rate;                  ///< dependent
    std::vector<int> support;  ///< rates that Y has entries for, last first
  };

  /// A dependent rate that moves no inertia at all, so that its constraint force is what is applied
  /// to it: that acts on the independent rates at once, and the rate keeps a unit inertia of
  /// its own and no constraint.
  struct Massless {
    const Cluster* cluster;
    int row;  ///< of G
    int rate;
  };

  /// @throws Unsupported for an independent one
  void find_massless() {
    const Model& m = this->model();
    const int n = m.spanning_nv();
    SpanningMotion<double> motion(m);
    CompositeBodies<double> bodies(m, CompositeBodies<double>::Rates::spanning);
    std::vector<double> q(m.nq()), H(H_.size());
    std::vector<bool> moves_inertia(n, false);
    for (unsigned seed = 1; seed <= 3; ++seed) {
      m.random(seed, q.data());
      motion.update(q.data(), nullptr);
      bodies.compute(q.data(), motion, H.data());
      const std::vector<double> sizes = sizes_of_terms(m, motion);
      for (int k = 0; k < n; ++k) {
        // Rounding of inertias that cancel, of what this rate moves alone: the heaviest part of the
        // robot says nothing about its smallest rotor. Products of inverses must not overflow.
        const double rounding = std::max(1e-14 * sizes[k], 1e-60);
        if (std::abs(H[k * (n + 1L)]) > rounding) moves_inertia[k] = true;
      }
    }
    for (int k = 0; k < n; ++k) {
      if (moves_inertia[k]) continue;
      const auto independent = m.independent_rates();
      if (std::find(independent.begin(), independent.end(), k) != independent.end()) {
        throw Unsupported("algorithm 'lagrange-multiplier': joint '" + m.joint_of_rate(k).name +
                          "' is independent and moves no inertia of its own, expected some (use "
                          "'c-aba', which needs it only together with what the loop moves)");
      }
      const Cluster& c = m.clusters()[m.body(m.joint_of_rate(k).body).cluster];
      massless_.push_back({&c, c.row(k), k});
    }
  }

  /// Of each spanning rate, the inertias that its entry of H's diagonal is summed from, by their
  /// norms: what is left of them where they cancel is rounding.
  static std::vector<double> sizes_of_terms(const Model& m, const SpanningMotion<double>& motion) {
    const int bodies = m.body_count();
    std::vector<double> mass(bodies + 1, 0.0), gyration(bodies + 1, 0.0);  // gyration: sqrt(J)
    std::vector<double> out(m.spanning_nv());
    for (int i = bodies; i > 0; --i) {
      const Body& body = m.body(i);
      const Sym3<double>& I = body.inertia.I;
      const double J = std::abs(I.xx) + std::abs(I.yy) + std::abs(I.zz);
      mass[i] += std::abs(body.inertia.m);
      gyration[i] = std::hypot(gyration[i], std::sqrt(J));
      for (int k = 0; k < body.nv; ++k) {
        const Motion<double> s = detail::unit_motion(m, i, k, motion.joints.S.data());
        out[body.v + k] = dot(s.w, s.w) * gyration[i] * gyration[i] + dot(s.v, s.v) * mass[i];
      }
      const Vec3<double> r = motion.joints.X[i].r;
      mass[body.parent] += mass[i];
      gyration[body.parent] =
          std::hypot(gyration[body.parent], gyration[i] + std::sqrt(mass[i] * dot(r, r)));
    }
    return out;
  }

  /// Where ratios of a joint are huge, the rows of two dependent rates differ by less than
  /// rounding: a pivot of the Schur complement is then no number that anything may be divided by.
  /// @throws Unsupported naming the dependent joint
  void expect_independent_constraints() {
    const Model& m = this->model();
    const std::size_t n = x_.size();
    std::vector<double> q(m.nq()), zero(m.nv(), 0.0), vdot(m.nv());
    m.random(1, q.data());
    compute(q.data(), zero.data(), zero.data(), vdot.data(), nullptr);
    for (std::size_t a = 0; a < rows_.size(); ++a) {
      double diagonal = 0.0;
      for (const int k : rows_[a].support) diagonal += Y_[a * n + k] * Y_[a * n + k];
      const double inverse = A_[a * (rows_.size() + 1)];
      // Not a number at a dead point, of which nothing follows elsewhere.
      if (!(1.0 <= least_pivot * diagonal * std::abs(inverse))) continue;
      throw Unsupported("algorithm 'lagrange-multiplier': the constraint of joint '" +
                        m.joint_of_rate(rows_[a].rate).name +
                        "' is one of others up to rounding, expected ratios and inertias that tell "
                        "them apart (use 'c-aba', which needs no forces of constraints)");
    }
  }
  static constexpr double least_pivot = 1e-10;  ///< six digits of the forces are left

  bool is_massless(int rate) const {
    return std::any_of(massless_.begin(), massless_.end(),
                       [&](const Massless& m) { return m.rate == rate; });
  }

  void find_rows() {
    const Model& m = this->model();
    const auto independent = m.independent_rates();
    const auto parent = m.rate_parents();
    for (const Cluster& c : m.clusters()) {
      if (!c.constrained) continue;
      for (int i = 0; i < c.rows(); ++i) {
        const int rate = c.rate(i);
        if (is_massless(rate) ||
            std::find(independent.begin(), independent.end(), rate) != independent.end()) {
          continue;
        }
        Row row{&c, i, rate, {}};
        std::vector<bool> touched(m.spanning_nv(), false);
        const auto touch = [&](int r) {
          for (; r >= 0 && !touched[r]; r = parent[r]) touched[r] = true;
        };
        touch(rate);
        for (int j = 0; j < c.nv; ++j) touch(independent[c.v + j]);
        for (int r = m.spanning_nv() - 1; r >= 0; --r) {
          if (touched[r]) row.support.push_back(r);
        }
        rows_.push_back(std::move(row));
      }
    }
  }

  void compute(const T* q, const T* v, const T* tau, T* vdot,
               const Wrenches<T>* wrenches) override {
    const Model& model = this->model();
    const long n = model.spanning_nv(), m = static_cast<long>(rows_.size());
    const auto independent = model.independent_rates();
    motion_.update(q, v);
    rnea_.compute(motion_, this->gravity(), nullptr, wrenches, x_.data());
    for (long k = 0; k < n; ++k) x_[k] = -x_[k];
    for (int j = 0; j < model.nv(); ++j) x_[independent[j]] += tau[j];
    crba_.compute(q, motion_, H_.data());
    for (const auto& [c, row, rate] : massless_) {
      for (int j = 0; j < c->nv; ++j) {
        x_[independent[c->v + j]] += motion_.G(*c)[row * c->nv + j] * x_[rate];
      }
      x_[rate] = T(0.0);
      H_[rate * (n + 1)] = T(1.0);
    }
    ltl_.factor(H_.data());
    ltl_.solve_transposed(x_.data());

    for (long a = 0; a < m; ++a) {
      solve_row(rows_[a], Y_.data() + a * n);
      const T* g = motion_.g();
      lambda_[a] = g == nullptr ? T(0.0) : g[rows_[a].rate];
      for (const int k : rows_[a].support) lambda_[a] -= Y_[a * n + k] * x_[k];
    }
    for (long a = 0; a < m; ++a) {
      for (long b = a; b < m; ++b) {  // entries beside the support of either are zero
        T sum = T(0.0);
        for (const int k : rows_[a].support) sum += Y_[a * n + k] * Y_[b * n + k];
        A_[a * m + b] = sum;
      }
    }
    large_ldlt(A_.data(), m);
    large_ldlt_solve(A_.data(), m, lambda_.data());
    for (long a = 0; a < m; ++a) {
      for (const int k : rows_[a].support) x_[k] += lambda_[a] * Y_[a * n + k];
    }
    ltl_.solve(x_.data());
    for (int j = 0; j < model.nv(); ++j) vdot[j] = x_[independent[j]];
  }

  /// Y = L^-T of one row of K.
  void solve_row(const Row& row, T* Y) const {
    const Model& model = this->model();
    const Cluster& c = *row.cluster;
    for (const int k : row.support) Y[k] = T(0.0);
    Y[row.rate] = T(1.0);
    for (int j = 0; j < c.nv; ++j) {
      Y[model.independent_rates()[c.v + j]] = -motion_.G(c)[row.row * c.nv + j];
    }
    for (const int k : row.support) ltl_.solve_transposed_step(k, Y);
  }

  SpanningMotion<T> motion_;
  SpanningRnea<T> rnea_;
  CompositeBodies<T> crba_;
  std::vector<Massless> massless_;
  std::vector<Row> rows_;
  std::vector<T> H_;
  SparseLtl<T> ltl_;
  std::vector<T> x_;
  std::vector<T> Y_;  ///< rows x spanning_nv: the columns of Y one after the other
  std::vector<T> A_, lambda_;
};

}  // namespace espalier
