#pragma once

#include <Eigen/Dense>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "algorithms/derivatives/variation/adjoint_sweep.hpp"
#include "espalier/kernel/errors.hpp"

namespace espalier {

/// How the spanning joints of one cluster move as its couplings and laws change along a family of
/// robots, and what the forces do of it: (18.1). The explicit derivatives of phi, K and k are
/// differences of the neighbours' at one position; nothing is closed anew.
/// Source: theory/derivatives 18.
class LawVariation {
 public:
  /// @param per   1 over the distance of the neighbours
  /// @throws Unsupported where loop joints of the cluster, or placements between them, differ
  LawVariation(const Model& model, const Model& less, const Model& more, int cluster, double per,
               const std::string& family)
      : model_(model),
        c_(model.clusters()[cluster]),
        less_(less.clusters()[cluster]),
        more_(more.clusters()[cluster]),
        per_(per) {
    if (c_.constraint == nullptr) return;
    const ClusterConstraint& constraint = *c_.constraint;
    if (!constraint.loops.empty()) {
      expect_same_loops(less, more, family);
      return;
    }
    const auto rows = constraint.rows();
    K_.resize(rows, constraint.columns);
    r_.resize(rows);
    changed_ = true;
  }

  /// Contribution to the derivative of lambda^T tau, and the cluster's entries of `out`.
  template <class Spanning>
  double evaluate(const VariationState<double>& s, const AdjointSweep<double>& sweep,
                  const double* q, const double* v, const double* vdot, const double* lambda,
                  Spanning& out) {
    const int rows = c_.rows();
    Eigen::VectorXd dq = Eigen::VectorXd::Zero(rows), dqd = dq, dqdd = dq, dw = dq;
    if (c_.constraint == nullptr) {
      vary_coupling(q, v, vdot, lambda, dq, dqd, dqdd, dw);
    } else if (changed_) {
      vary_laws(s, sweep, q, dq, dqd, dqdd, dw);
    } else {
      return 0.0;
    }
    double sum = 0.0;
    for (int i = 0; i < rows; ++i) {
      const int rate = c_.rate(i);
      out.q[rate] = dq[i], out.qd[rate] = dqd[i], out.qdd[rate] = dqdd[i];
      sum += sweep.by_position()[rate] * dq[i] + sweep.by_rate()[rate] * dqd[i] +
             sweep.by_acceleration()[rate] * dqdd[i] + s.tau_s[rate] * dw[i];
    }
    return sum;
  }

 private:
  using Vector = Eigen::VectorXd;

  void expect_same_loops(const Model& less, const Model& more, const std::string& family) const {
    bool same = less_.constraint->loops.size() == more_.constraint->loops.size();
    const auto differ = [](const Transform<double>& a, const Transform<double>& b) {
      bool other = dot(a.r - b.r, a.r - b.r) != 0.0;
      for (int k = 0; k < 3; ++k) {
        const Vec3<double> d = a.E.row[k] - b.E.row[k];
        other = other || dot(d, d) != 0.0;
      }
      return other;
    };
    for (std::size_t l = 0; same && l < c_.constraint->loops.size(); ++l) {
      const auto &a = less_.constraint->loops[l], &b = more_.constraint->loops[l];
      same = !differ(a.at_predecessor, b.at_predecessor) &&
             !differ(a.at_successor, b.at_successor) && a.rows.size() == b.rows.size();
      for (std::size_t k = 0; same && k < a.rows.size(); ++k) {
        same = a.rows[k].value == b.rows[k].value;
      }
    }
    for (int i = c_.first; same && i < c_.first + c_.count; ++i) {
      same = model_.body(i).parent < c_.first ||
             !differ(less.body(i).placement, more.body(i).placement);
    }
    for (std::size_t l = 0; same && l < c_.constraint->linear.size(); ++l) {
      same = less_.constraint->linear[l].terms == more_.constraint->linear[l].terms &&
             less_.constraint->linear[l].constant == more_.constraint->linear[l].constant;
    }
    for (std::size_t l = 0; same && l < c_.constraint->laws.size(); ++l) {
      same = same_law(*less_.constraint->laws[l].law, *more_.constraint->laws[l].law);
    }
    if (same) return;
    throw Unsupported("design variation: family '" + family + "' changes cluster '" + c_.name +
                      "', which is closed by loop joints, expected couplings and laws alone (state "
                      "the mechanism as a law, or difference the dynamics)");
  }

  /// Whether two laws say the same at positions that are nowhere special.
  static bool same_law(const Law& a, const Law& b) {
    std::vector<double> q(a.positions()), x(a.equations()), y(x);
    for (int sample = 1; sample <= 3; ++sample) {
      for (std::size_t l = 0; l < q.size(); ++l)
        q[l] = 0.37 * sample - 0.21 * static_cast<double>(l);
      a.phi(q.data(), x.data()), b.phi(q.data(), y.data());
      if (x != y) return false;
    }
    return true;
  }

  /// qd = G v with constant G, q = G y + offset.
  void vary_coupling(const double* q, const double* v, const double* vdot, const double* lambda,
                     Vector& dq, Vector& dqd, Vector& dqdd, Vector& dw) const {
    for (int i = 0; i < c_.rows(); ++i) {
      if (!c_.offset.empty()) dq[i] = per_ * (more_.offset[i] - less_.offset[i]);
      for (int j = 0; j < c_.nv; ++j) {
        const std::size_t at = static_cast<std::size_t>(i) * c_.nv + j;
        const double dG = per_ * (more_.G[at] - less_.G[at]);
        if (dG == 0.0) continue;
        const Joint& leads = model_.joint_of_rate(model_.independent_rates()[c_.v + j]);
        dq[i] += dG * q[leads.q];
        dqd[i] += dG * v[c_.v + j];
        dqdd[i] += dG * vdot[c_.v + j];
        dw[i] += dG * lambda[c_.v + j];
      }
    }
  }

  /// Explicit derivatives of phi, K w and K qdd - k at one position, for columns w, qd, qdd; and
  /// the directional ones of the model's own laws.
  void vary_laws(const VariationState<double>& s, const AdjointSweep<double>& sweep,
                 const double* q, Vector& dq, Vector& dqd, Vector& dqdd, Vector& dw) {
    const ClusterConstraint& constraint = *c_.constraint;
    const int n = constraint.columns;
    Vector qd(n), qdd(n), w(n);
    for (int l = 0; l < n; ++l) {
      const int rate = constraint.rate[l];
      qd[l] = s.motion.qd()[rate], qdd[l] = s.motion.qdd()[rate], w[l] = sweep.lambda()[rate];
    }
    stack_K(q);
    const int dependents = static_cast<int>(constraint.dependent.size());
    Eigen::MatrixXd Kd(K_.rows(), dependents);
    for (int i = 0; i < dependents; ++i) Kd.col(i) = K_.col(constraint.dependent[i]);
    const Eigen::ColPivHouseholderQR<Eigen::MatrixXd> factor(Kd);
    const auto solve = [&](Vector& out) {
      const Vector x = factor.solve(r_);
      for (int i = 0; i < dependents; ++i) out[constraint.dependent[i]] = -x[i];
    };
    const Vector rest = Vector::Zero(n);
    explicit_part(q, rest, rest, Part::position), solve(dq);
    explicit_part(q, qd, rest, Part::rate), directional(q, qd, rest, dq, rest, 1), solve(dqd);
    explicit_part(q, w, rest, Part::rate), directional(q, w, rest, dq, rest, 1), solve(dw);
    explicit_part(q, qd, qdd, Part::acceleration), directional(q, qd, qdd, dq, dqd, 2), solve(dqdd);
  }

  void stack_K(const double* q) {
    const ClusterConstraint& constraint = *c_.constraint;
    K_.setZero();
    int row = 0;
    for (const auto& linear : constraint.linear) {
      for (const auto& [column, factor] : linear.terms) K_(row, column) += factor;
      ++row;
    }
    for (const auto& use : constraint.laws) {
      const LawNumbers at = numbers(*use.law, use.positions, q, Vector(), use.columns);
      const int m = use.law->equations(), p = use.law->positions();
      for (int e = 0; e < m; ++e) {
        if (!use.kept[e]) continue;
        for (int l = 0; l < p; ++l) K_(row, use.columns[l]) += at.K[e * p + l];
        ++row;
      }
    }
  }

  struct LawNumbers {
    std::vector<double> phi, K, k;
  };
  /// A law at a position, and its k at rates of the cluster's columns, if there are any.
  static LawNumbers numbers(const Law& law, const std::vector<int>& positions, const double* q,
                            const Vector& qd, const std::vector<int>& columns) {
    const int m = law.equations(), p = law.positions();
    std::vector<double> lq(p), lqd(p, 0.0), terms(law.terms());
    LawNumbers out{std::vector<double>(m), std::vector<double>(m * p), std::vector<double>(m)};
    for (int l = 0; l < p; ++l) {
      lq[l] = q[positions[l]];
      if (qd.size() > 0) lqd[l] = qd[columns[l]];
    }
    law.phi(lq.data(), out.phi.data());
    law.jacobian(lq.data(), out.K.data(), terms.data());
    law.bias(lq.data(), lqd.data(), terms.data(), out.k.data());
    return out;
  }

  enum class Part { position, rate, acceleration };
  /// r = d_p of phi, of K qd, or of K qdd - k(qd).
  void explicit_part(const double* q, const Vector& qd, const Vector& qdd, Part part) {
    const ClusterConstraint& constraint = *c_.constraint;
    r_.setZero();
    int row = 0;
    for (std::size_t i = 0; i < constraint.linear.size(); ++i, ++row) {
      for (const auto& [side, sign] : sides()) {
        const auto& linear = side->constraint->linear[i];
        if (part == Part::position) r_[row] -= sign * linear.constant;
        for (const auto& [column, factor] : linear.terms) {
          const double x = part == Part::position ? q[constraint.position[column]]
                           : part == Part::rate   ? qd[column]
                                                  : qdd[column];
          r_[row] += sign * factor * x;
        }
      }
    }
    for (std::size_t i = 0; i < constraint.laws.size(); ++i) {
      const auto& use = constraint.laws[i];
      const int m = use.law->equations(), p = use.law->positions();
      for (const auto& [side, sign] : sides()) {
        const Law& law = *side->constraint->laws[i].law;
        const LawNumbers at = numbers(law, use.positions, q, qd, use.columns);
        int to = row;
        for (int e = 0; e < m; ++e) {
          if (!use.kept[e]) continue;
          double x = part == Part::position ? at.phi[e] : part == Part::rate ? 0.0 : -at.k[e];
          for (int l = 0; l < p && part != Part::position; ++l) {
            x += at.K[e * p + l] * (part == Part::rate ? qd : qdd)[use.columns[l]];
          }
          r_[to++] += sign * x;
        }
      }
      for (const bool kept : use.kept) row += kept;
    }
  }
  /// r += phi''(qd, x) for order 1; phi'''(qd, qd, x) + 2 phi''(qd, xd) + phi''(qdd, x) for 2.
  void directional(const double* q, const Vector& qd, const Vector& qdd, const Vector& x,
                   const Vector& xd, int order) {
    const ClusterConstraint& constraint = *c_.constraint;
    int row = static_cast<int>(constraint.linear.size());
    for (const auto& use : constraint.laws) {
      const int m = use.law->equations(), p = use.law->positions();
      std::vector<double> in(5UL * p), d(m), dd(m);
      for (int l = 0; l < p; ++l) {
        const int column = use.columns[l];
        in[l] = q[use.positions[l]], in[p + l] = qd[column], in[2 * p + l] = qdd[column];
        in[3 * p + l] = x[column], in[4 * p + l] = xd[column];
      }
      const double* a = in.data();
      use.law->vary(a, a + p, a + 2 * p, a + 3 * p, a + 4 * p, d.data(), dd.data());
      for (int e = 0; e < m; ++e) {
        if (use.kept[e]) r_[row++] += order == 1 ? d[e] : dd[e];
      }
    }
  }
  std::array<std::pair<const Cluster*, double>, 2> sides() const {
    return {{{&less_, -per_}, {&more_, per_}}};
  }

  const Model& model_;
  const Cluster &c_, &less_, &more_;
  double per_;
  bool changed_ = false;
  Eigen::MatrixXd K_;
  Vector r_;
};

}  // namespace espalier
