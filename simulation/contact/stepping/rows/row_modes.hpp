#pragma once

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "simulation/contact/stepping/open_moreau.hpp"

namespace espalier::contact {

/// Modes of a solved step's rows as matrices Q and D, and how far the rows are from others.
/// Source: theory/contact 4.4, with eps = 0.
class RowModes {
 public:
  using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  enum class Mode { apart, stick, slip, bound, free };

  explicit RowModes(const Plan& plan) : plan_(plan) {}

  Matrix Q, D;
  std::vector<Mode> modes;    ///< of contacts, then of scalar rows
  std::vector<double> scale;  ///< likewise
  double margin = 0.0;        ///< least distance from another mode, as a rate
  std::string nearest;        ///< of which row

  /// Q and D of the modes at the solution, without a proximal term, and how far others are.
  /// @param s  solved  @param q  positions at its start
  void find(const StepState<double>& s, const std::vector<double>& q, double h) {
    s_ = &s, q_ = &q, h_ = h;
    const ImpulseProblem<double>& p = s_->problem;
    const int m = p.size();
    std::vector<double> u(m);
    scale.resize(p.contacts + p.scalars), modes.resize(scale.size());
    row_scales(p, scale.data());
    natural_residual(p, p.lam.data(), u.data());
    Q = Matrix::Zero(m, m), D = Matrix::Zero(m, m);
    margin = std::numeric_limits<double>::infinity(), nearest.clear();
    for (int c = 0; c < p.contacts; ++c) find_contact(c, u.data() + 3 * c);
    for (int k = 0; k < p.scalars; ++k) {
      const int i = 3 * p.contacts + k;
      const double d = scale[p.contacts + k], a = p.lam[i] - u[i] / d;
      const bool bound = a < p.lower[k] || a > p.upper[k];
      modes[p.contacts + k] = bound ? Mode::bound : Mode::free;
      (bound ? D : Q)(i, i) = bound ? d : 1.0;
      const double away = std::min(std::abs(a - p.lower[k]), std::abs(p.upper[k] - a)) * d;
      near(away, [&] { return scalar_name(k); });
    }
  }
  /// Depths about to count, or to count no longer.
  void near_slop() {
    const double slop = plan_.options().slop, part = plan_.options().correction;
    if (part == 0.0) return;
    const auto corner = [&](double gap, auto&& name) {
      near(part * std::abs(gap + slop) / h_, name);
    };
    for (int c = 0; c < s_->problem.contacts; ++c) {
      const Plan::Pair& pair = plan_.pairs()[plan_.pair_of(s_->contacts[c])];
      if (pair.surface.stiffness > 0.0) continue;
      corner(s_->touch[s_->contacts[c]].gap, [&] { return contact_name(c); });
    }
    for (std::size_t k = 0; k < plan_.limits().size(); ++k) {
      corner(limit_gap(plan_.limits()[k]), [&] { return scalar_name(static_cast<int>(k)); });
    }
  }
  /// Pushes about to begin or to end. Rows that nothing pushes are at that corner and stay there.
  void near_push(const OpenMoreau& step) {
    const ImpulseProblem<double>& p = step.push();
    const int count = p.size();
    if (std::all_of(p.lam.begin(), p.lam.end(), [](double x) { return x == 0.0; })) return;
    for (int i = 0; i < count; ++i) {
      double w = p.g[i];
      for (int j = 0; j < count; ++j) w += p.G[entry(i, count, j)] * p.lam[j];
      // A redundant row parts from the others by nothing, whether it pushes or not.
      if (p.lam[i] == 0.0 && w < 1e-8) continue;
      const double away = p.lam[i] > 0.0 ? p.lam[i] * p.G[entry(i, count, i)] : w;
      const int row = step.pushed_rows()[i];
      near(away / h_, [&] {
        const int contacts = s_->problem.contacts;
        return row < 3 * contacts ? contact_name(row / 3) : scalar_name(row - 3 * contacts);
      });
    }
  }
  /// A drive near its largest torque: by how much its rate would have to differ.
  void near_bound(std::size_t k) {
    const Plan::Drive& d = plan_.drives()[k];
    const double gain = d.is.kd + h_ * d.is.kp;
    if (!std::isfinite(d.is.most) || gain == 0.0) return;
    const double* target = s_->target.data() + 3 * k;
    const double command = d.is.kp * (target[0] - (*q_)[d.position]) +
                           d.is.kd * (target[1] - s_->qd[d.rate]) + target[2];
    near(std::abs(std::abs(command) - d.is.most) / gain, [&] { return "drive of " + d.is.joint; });
  }
  double limit_gap(const Plan::JointRow& limit) const {
    return limit.side * ((*q_)[limit.position] - limit.bound);
  }

 private:
  void find_contact(int c, const double* u) {
    const ImpulseProblem<double>& p = s_->problem;
    const int i = 3 * c;
    const double d = scale[c], mu = p.mu[c], *l = p.lam.data() + i;
    const double a_n = l[0] - u[0] / d, a1 = l[1] - u[1] / d, a2 = l[2] - u[2] / d;
    const double q = std::max(std::hypot(a1, a2), 1e-300);
    const auto name = [&] { return contact_name(c); };
    near(std::abs(a_n) * d, name);
    const double gap = s_->touch[s_->contacts[c]].gap;
    if (a_n > 0.0) near(std::abs(gap) / h_, name);  // b has a corner there
    if (a_n <= 0.0) {
      modes[c] = Mode::apart;
      for (int k = 0; k < 3; ++k) D(i + k, i + k) = d;
      return;
    }
    if (mu > 0.0) near(std::abs(q - mu * a_n) * d, name);
    if (q <= mu * a_n) {
      modes[c] = Mode::stick;
      for (int k = 0; k < 3; ++k) Q(i + k, i + k) = 1.0;
      return;
    }
    modes[c] = Mode::slip;
    const double e[2] = {a1 / q, a2 / q}, k = mu * a_n / q;
    Q(i, i) = 1.0;
    for (int x = 0; x < 2; ++x) {
      Q(i + 1 + x, i) = mu * e[x];
      D(i + 1 + x, i) = -d * mu * e[x];
      for (int y = 0; y < 2; ++y) {
        const double P = k * ((x == y ? 1.0 : 0.0) - e[x] * e[y]);
        Q(i + 1 + x, i + 1 + y) = P;
        D(i + 1 + x, i + 1 + y) = d * ((x == y ? 1.0 : 0.0) - P);
      }
    }
  }
  template <class F>
  void near(double away, F&& name) {
    if (away < margin) margin = away, nearest = name();
  }
  std::string contact_name(int c) const {
    const Plan::Pair& pair = plan_.pairs()[plan_.pair_of(s_->contacts[c])];
    return plan_.solids()[pair.a].name + " on " + plan_.solids()[pair.b].name;
  }
  std::string scalar_name(int s) const {
    const int limits = static_cast<int>(plan_.limits().size());
    const int frictions = static_cast<int>(plan_.frictions().size());
    if (s < limits) return "limit of joint " + plan_.limits()[s].joint;
    if (s < limits + frictions) return "friction of joint " + plan_.frictions()[s - limits].joint;
    return "held link";
  }

  static std::size_t entry(int row, int n, int column) {
    return static_cast<std::size_t>(row) * n + column;
  }

  const Plan& plan_;
  const StepState<double>* s_ = nullptr;
  const std::vector<double>* q_ = nullptr;
  double h_ = 0.0;
};

}  // namespace espalier::contact
