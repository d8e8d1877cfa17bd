#pragma once

#include <algorithm>

#include "simulation/contact/solvers/cones.hpp"
#include "simulation/contact/stepping/rows/pair_rows.hpp"

namespace espalier::contact {

/// Torsional and rolling friction: how two surfaces turn against each other about the normal, about
/// the axis that they roll about without impulses, and about the third. Moments are bounded by
/// lengths times the normal force, each on its own; since the second axis is that of rolling, the
/// box of the rolling moments is a disc to first order in the step.
/// Source: theory/contact 2.2.
template <class T>
class TurningRows {
 public:
  explicit TurningRows(const Plan& plan) : plan_(plan), nv_(plan.model().nv()) {}

  /// Rows [row, row + 3) of contact c, their axes and bounds; s.vf is there.
  void add(StepState<T>& s, PairRows<T>& pairs, int c, int row) const {
    const int point = s.contacts[c];
    const Plan::Pair& pair = plan_.pairs()[plan_.pair_of(point)];
    const T zero(0.0), one(1.0);
    std::array<Vec3<T>, 3>& axes = s.roll[c];
    axes = {s.touch[point].normal, s.t1[c], s.t2[c]};
    pairs.add(s, pair, row, [&](const Plan::Site& /*site*/, double sign, Force<T>* on) {
      for (int k = 0; k < 3; ++k) {
        for (int i = 0; i < 3; ++i) {
          on[k].n[i] = select(s.near[point], T(sign) * axes[k][i], zero);
          on[k].f[i] = zero;
        }
      }
    });
    T rate[3];
    rates_of<3>(s, row, nv_, s.vf, rate);
    const T length = sqrt(rate[1] * rate[1] + rate[2] * rate[2]);
    const Mask<T> rolls = less(T(1e-12), length);
    const T inverse = one / select(rolls, length, one);
    const T x = select(rolls, rate[1] * inverse, one), y = select(rolls, rate[2] * inverse, zero);
    const auto turn = [&](T& a, T& b) {
      const T before = a;
      a = x * before + y * b, b = x * b - y * before;
    };
    for (int i = 0; i < 3; ++i) turn(axes[1][i], axes[2][i]);
    T* rows = s.J.data() + static_cast<std::size_t>(row) * nv_;
    for (std::size_t e = 0; e < pair.support.size(); ++e) turn(rows[nv_ + e], rows[2 * nv_ + e]);
    const int scalar = row - 3 * s.problem.contacts;
    for (int k = 0; k < 3; ++k) {
      const Surface& is = pair.surface;
      const T most = T(k == 0 ? is.torsional_friction : is.rolling_friction) * s.friction;
      s.problem.upper[scalar + k] = most;
      s.problem.lower[scalar + k] = -most;
    }
  }

  /// Warm start from the moments that are kept, in world axes; impulses of contacts are there.
  void start(StepState<T>& s) const {
    ImpulseProblem<T>& p = s.problem;
    for (std::size_t c = 0; c < s.roll.size(); ++c) {
      const T* kept = moment(s, s.contacts[c]);
      const Vec3<T> impulse(kept[0], kept[1], kept[2]);
      for (int r = 0; r < 3; ++r) {
        const int k = p.first_turning() + 3 * static_cast<int>(c) + r;
        const Bounds<T> within = bounds(p, k, p.lam.data());
        p.lam[3 * p.contacts + k] = clip(dot(s.roll[c][r], impulse), within.low, within.high);
      }
    }
  }
  /// Zero moments of a point.
  void forget(StepState<T>& s, int point) const {
    if (plan_.turning_rows() > 0) std::fill_n(moment(s, point), 3, T(0.0));
  }
  /// Moments into the memory of the next step, which is zero.
  void remember(StepState<T>& s) const {
    const ImpulseProblem<T>& p = s.problem;
    for (std::size_t c = 0; c < s.roll.size(); ++c) {
      const T* lam = p.lam.data() + 3 * p.contacts + p.first_turning() + 3 * c;
      T* kept = moment(s, s.contacts[c]);
      const std::array<Vec3<T>, 3>& axes = s.roll[c];
      for (int k = 0; k < 3; ++k) {
        const T impulse = lam[0] * axes[0][k] + lam[1] * axes[1][k] + lam[2] * axes[2][k];
        kept[k] = select(s.near[s.contacts[c]], impulse, T(0.0));
      }
    }
  }

 private:
  T* moment(StepState<T>& s, int point) const {
    return s.memory.data() + 4 * static_cast<std::size_t>(plan_.points()) + plan_.scalar_rows() +
           3 * static_cast<std::size_t>(point);
  }

  const Plan& plan_;
  int nv_;
};

}  // namespace espalier::contact
