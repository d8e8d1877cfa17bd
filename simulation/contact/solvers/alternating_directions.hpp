#pragma once

#include <algorithm>

#include "simulation/contact/solvers/block_sweeps.hpp"

namespace espalier::contact {

/// Alternating directions with de Saxcé's correction: robust where blocks are badly coupled.
///
/// Every contact is scaled by one number, so that its cone stays a cone; the Cholesky factor is
/// kept while the penalty stays.
/// Cost: O(m^3 / 6) a penalty and O(m^2) an iteration.
/// Source: Carpentier, Le Lidec, Montaut (2024); theory/contact 5.
template <class T>
class AlternatingDirections {
 public:
  void reserve(int contacts, int scalars) {
    const std::size_t m = 3 * static_cast<std::size_t>(contacts) + scalars;
    d_.reserve(contacts + scalars), S_.reserve(m * m), L_.reserve(m * m);
    for (std::vector<T>* x : {&s_, &g_, &x_, &y_, &gamma_, &right_, &lam_, &u_}) x->reserve(m);
  }
  void prepare(const ImpulseProblem<T>& p) {
    const int m = p.size();
    d_.resize(p.contacts + p.scalars);
    scales(p, d_.data());
    s_.resize(m), S_.resize(static_cast<std::size_t>(m) * m), L_.resize(S_.size());
    for (std::vector<T>* x : {&g_, &x_, &y_, &gamma_, &right_, &lam_, &u_}) x->resize(m);
    const auto G = [&](int i, int j) -> const T& {
      return p.G[static_cast<std::size_t>(i) * m + j];
    };
    for (int c = 0; c < p.contacts; ++c) {
      const T trace = G(3 * c, 3 * c) + G(3 * c + 1, 3 * c + 1) + G(3 * c + 2, 3 * c + 2);
      const T s = T(1.0) / sqrt(larger(trace / T(3.0), T(1e-300)));
      for (int k = 0; k < 3; ++k) s_[3 * c + k] = s;
    }
    for (int i = 3 * p.contacts; i < m; ++i) s_[i] = T(1.0) / sqrt(larger(G(i, i), T(1e-300)));
    for (int i = 0; i < m; ++i) {
      for (int j = 0; j < m; ++j) S_[static_cast<std::size_t>(i) * m + j] = s_[i] * G(i, j) * s_[j];
      g_[i] = s_[i] * p.g[i];
    }
  }

  /// At most `iterations` in the lanes whose residual is above the tolerance.
  /// @param[in,out] lam     m; out: the best that was met
  /// @param[in,out] report  residual at lam; iterations are counted
  void run(const ImpulseProblem<T>& p, int iterations, double tolerance, std::vector<T>& lam,
           ImpulseReport<T>& report) {
    const int m = p.size();
    Mask<T> live = ~less_equal(report.residual, T(tolerance));
    if (!live.any()) return;
    T rho(0.1);
    rates(p, lam.data(), u_.data());
    for (int i = 0; i < m; ++i) {
      y_[i] = x_[i] = lam[i] / s_[i];
      gamma_[i] = -s_[i] * u_[i];
    }
    for (int c = 0; c < p.contacts; ++c) {
      const int i = 3 * c;
      gamma_[i] -= p.mu[c] * sqrt(gamma_[i + 1] * gamma_[i + 1] + gamma_[i + 2] * gamma_[i + 2]);
    }
    factor(m, rho);
    for (int iteration = 1; iteration <= iterations; ++iteration) {
      for (int i = 0; i < m; ++i) {
        right_[i] = -g_[i] + rho * y_[i] - gamma_[i] + T(shift) * x_[i];
      }
      for (int c = 0; c < p.contacts; ++c) {
        const int i = 3 * c;
        right_[i] -= p.mu[c] * sqrt(gamma_[i + 1] * gamma_[i + 1] + gamma_[i + 2] * gamma_[i + 2]);
      }
      solve(m);
      T primal(0.0), dual(0.0);
      const T inverse = T(1.0) / rho;
      const auto move = [&](int i, const T& y) {
        primal = larger(abs(right_[i] - y), primal);
        dual = larger(rho * abs(y - y_[i]), dual);
        gamma_[i] = select(live, gamma_[i] + rho * (right_[i] - y), gamma_[i]);
        x_[i] = select(live, right_[i], x_[i]);
        y_[i] = select(live, y, y_[i]);
      };
      for (int c = 0; c < p.contacts; ++c) {
        const int i = 3 * c;
        T a[3], y[3];
        for (int k = 0; k < 3; ++k) a[k] = right_[i + k] + gamma_[i + k] * inverse;
        project(p.mu[c], a, y);
        for (int k = 0; k < 3; ++k) move(i + k, y[k]);
      }
      for (int k = 0; k < p.scalars; ++k) {
        const int i = 3 * p.contacts + k;
        const T scaled = T(1.0) / s_[i];
        Bounds<T> within;
        if (k < p.first_turning()) {
          within = bounds(p, k, lam.data());
        } else {
          const int n = 3 * p.contact_of_turning(k);
          const T most = p.upper[k] * s_[n] * larger(y_[n], T(0.0));
          within = {-most, most};
        }
        move(i, clip(right_[i] + gamma_[i] * inverse, within.low * scaled, within.high * scaled));
      }
      report.rounds += select(live, T(1.0), T(0.0));
      if (iteration % 5 == 0 || iteration == iterations) {
        for (int i = 0; i < m; ++i) lam_[i] = s_[i] * y_[i];
        clip_all(p, lam_.data());  // scaling rounds
        rates(p, lam_.data(), u_.data());
        const T r = residual(p, d_.data(), lam_.data(), u_.data());
        const Mask<T> gain = live & less(r, report.residual);
        report.residual = select(gain, r, report.residual);
        for (int i = 0; i < m; ++i) lam[i] = select(gain, lam_[i], lam[i]);
        live = live & ~less_equal(report.residual, T(tolerance));
        if (!live.any()) return;
      }
      if (iteration % 10 == 0) {
        const Mask<T> up = live & less(T(10.0) * dual, primal);
        const Mask<T> down = live & less(T(10.0) * primal, dual);
        if ((up | down).any()) {
          rho = select(up, smaller(T(4.0) * rho, T(1e3)), rho);
          rho = select(down, larger(T(0.25) * rho, T(1e-6)), rho);
          factor(m, rho);
        }
      }
    }
  }

 private:
  static constexpr double shift = 1e-9;

  /// Cholesky factor of S + rho + shift, reciprocals on its diagonal.
  void factor(int m, const T& rho) {
    std::copy(S_.begin(), S_.end(), L_.begin());
    for (int j = 0; j < m; ++j) {
      T* pivot = L_.data() + static_cast<std::size_t>(j) * m;
      T sum = pivot[j] + rho + T(shift);
      for (int k = 0; k < j; ++k) sum -= pivot[k] * pivot[k];
      pivot[j] = T(1.0) / sqrt(sum);
      for (int i = j + 1; i < m; ++i) {
        T* row = L_.data() + static_cast<std::size_t>(i) * m;
        T x = row[j];
        for (int k = 0; k < j; ++k) x -= row[k] * pivot[k];
        row[j] = x * pivot[j];
      }
    }
  }
  void solve(int m) {
    for (int i = 0; i < m; ++i) {
      const T* row = L_.data() + static_cast<std::size_t>(i) * m;
      T x = right_[i];
      for (int k = 0; k < i; ++k) x -= row[k] * right_[k];
      right_[i] = x * row[i];
    }
    for (int i = m - 1; i >= 0; --i) {
      const T x = right_[i] * L_[static_cast<std::size_t>(i) * (m + 1)];
      right_[i] = x;
      const T* row = L_.data() + static_cast<std::size_t>(i) * m;
      for (int k = 0; k < i; ++k) right_[k] -= row[k] * x;
    }
  }

  std::vector<T> d_, s_, S_, L_, g_, x_, y_, gamma_, right_, lam_, u_;
};

}  // namespace espalier::contact
