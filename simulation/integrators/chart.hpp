#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "espalier/kernel/model/joint.hpp"
#include "espalier/kernel/model/layout.hpp"

namespace espalier {

/// Tangent coordinates x of positions near a start q0: q = q0 moved by the constant rates x for
/// unit time. Good for turns of less than half a revolution.
class Chart {
 public:
  explicit Chart(const Model& model)
      : model_(model), q0_(model.nq()), q_(model.nq()), moved_(model.nq()) {
    int largest = 0;
    for (const BodyRun& run : model.runs()) largest = std::max(largest, run.count * run.nv);
    step_.resize(largest);
    for (auto& x : x_) x.resize(largest);
  }

  void start(const double* q) { std::copy_n(q, q0_.size(), q0_.begin()); }

  /// The position at x.
  const double* position(const double* x) {
    model_.integrate(q0_.data(), x, q_.data());
    return q_.data();
  }

  /// dx/dt of a robot that moves with rates qd at the last position(). In joints of one rate they
  /// are qd itself. In the others they are the derivative of Model::difference along qd, by
  /// central differences of fourth order, since joints only say how to integrate and to take
  /// differences: truncation (1e-3)^4 / 30, rounding 1e-16 / 1e-3, so about 1e-13 in all.
  void rates(const double* qd, double* xd) {
    for (const BodyRun& run : model_.runs()) {
      const int n = run.count * run.nv;
      std::copy_n(qd + run.v, n, xd + run.v);
      if (run.nv == 1) continue;
      double largest = 1.0;
      for (int i = 0; i < n; ++i) largest = std::max(largest, std::abs(qd[run.v + i]));
      const double h = 1e-3 / largest;
      constexpr double at[4] = {1.0, -1.0, 2.0, -2.0};
      for (int k = 0; k < 4; ++k) {
        for (int i = 0; i < n; ++i) step_[i] = at[k] * h * qd[run.v + i];
        run.joints->integrate(q_.data() + run.q, step_.data(), moved_.data() + run.q);
        run.joints->difference(q0_.data() + run.q, moved_.data() + run.q, x_[k].data());
      }
      for (int i = 0; i < n; ++i) {
        xd[run.v + i] = (8.0 * (x_[0][i] - x_[1][i]) - (x_[2][i] - x_[3][i])) / (12.0 * h);
      }
    }
  }

  /// For how long rates stay inside the chart: joints of several rates turn or move by at most one.
  double reach(const double* qd) const {
    double largest = 0.0;
    for (const BodyRun& run : model_.runs()) {
      if (run.nv == 1) continue;
      for (int i = run.v; i < run.v + run.count * run.nv; ++i) {
        largest = std::max(largest, std::abs(qd[i]));
      }
    }
    return largest > 0.0 ? 1.0 / largest : HUGE_VAL;
  }

 private:
  const Model& model_;
  std::vector<double> q0_, q_, moved_, step_;
  std::vector<double> x_[4];
};

}  // namespace espalier
