#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "espalier/kernel/model/motion/spanning_motion.hpp"
#include "espalier/simulation/contact/problems/step.hpp"

namespace espalier::contact {

/// Forces on spanning rates besides rows: dampers, springs, drives within their bounds or at them,
/// and dry friction without rows; each with what it changes by with the rate at the step's end.
/// Source: theory/contact 2.1 and 3.
template <class T>
class ImplicitForces {
 public:
  explicit ImplicitForces(const Plan& plan)
      : plan_(plan),
        force_(plan.model().spanning_nv()),
        weight_(plan.model().spanning_nv()),
        line_(plan.drives().size(), T(0.0)),
        side_(plan.drives().size(), T(0.0)),
        sticks_(plan.dry().size(), T(0.0)) {
    std::size_t entries = 0;
    for (const Cluster& c : plan.model().clusters()) entries += c.nv * (c.nv + 1) / 2;
    kept_.resize(entries);
    bounded_ = !plan.dry().empty() ||
               std::any_of(plan.drives().begin(), plan.drives().end(), [](const Plan::Drive& d) {
                 return std::isfinite(d.is.most) || d.is.stall > 0.0;
               });
  }

  /// Whether drives have bounds or joints stick: which forces act may depend on the rates at the
  /// step's end.
  bool bounded() const { return bounded_; }
  const std::vector<T>& force() const { return force_; }
  /// h d + h^2 k.
  const std::vector<T>& weight() const { return weight_; }
  /// Of drives: +1, -1 at a bound, else 0; and 1 if that is the torque-speed line, else 0.
  const std::vector<T>& sides() const { return side_; }
  const std::vector<T>& lines() const { return line_; }
  /// Of dry joints: 0, or the sign of the slip.
  const std::vector<T>& slips() const { return sticks_; }

  /// By the rates of the step's start.
  void first_sides(const StepState<T>& s) {
    for (std::size_t k = 0; k < side_.size(); ++k) {
      const Plan::Drive& d = plan_.drives()[k];
      bound(d, command(s, k, s.qd[d.rate]), s.qd[d.rate], side_[k], line_[k]);
    }
    std::fill(sticks_.begin(), sticks_.end(), T(0.0));
  }
  /// With the spanning rates that the forces lead to. @return whether some lane has changed sides
  bool change_sides(const StepState<T>& s, const T* qd) {
    Mask<T> changed = Mask<T>::none();
    for (std::size_t k = 0; k < side_.size(); ++k) {
      const Plan::Drive& d = plan_.drives()[k];
      T side, line;
      bound(d, command(s, k, qd[d.rate]), qd[d.rate], side, line);
      changed = changed | less(T(0.5), abs(side - side_[k])) | less(T(0.5), abs(line - line_[k]));
      side_[k] = side, line_[k] = line;
    }
    for (std::size_t k = 0; k < sticks_.size(); ++k) {
      const T rate = qd[plan_.dry()[k].rate];
      const Mask<T> slips = less(T(plan_.options().friction_rate), abs(rate));
      sticks_[k] = select(slips, select(less(rate, T(0.0)), T(-1.0), T(1.0)), T(0.0));
      changed = changed | slips;
    }
    return changed.any();
  }
  /// Forces on spanning rates at the start, and what they change by with the rate, h d + h^2 k.
  void gather(const StepState<T>& s, double h) {
    std::copy(s.forces.begin(), s.forces.end(), force_.begin());
    std::fill(weight_.begin(), weight_.end(), T(0.0));
    const auto implicit = [&](int rate, const T& stiffness, const T& stretch, const T& damping,
                              const T& slip) {
      const T& qd = s.qd[rate];
      force_[rate] -= stiffness * (stretch + T(h) * qd) + damping * slip;
      weight_[rate] += T(h) * damping + T(h * h) * stiffness;
    };
    for (const Plan::Passive& p : plan_.passive()) {
      const T stretch = p.position >= 0 ? s.q[p.position] - T(p.rest) : T(0.0);
      implicit(p.rate, T(p.stiffness), stretch, T(p.damping), s.qd[p.rate]);
    }
    for (std::size_t k = 0; k < plan_.drives().size(); ++k) {
      const Plan::Drive& d = plan_.drives()[k];
      const T* target = s.target.data() + 3 * k;
      if (!bounded_) {
        force_[d.rate] += target[2];
        implicit(d.rate, T(d.is.kp), s.q[d.position] - target[0], T(d.is.kd),
                 s.qd[d.rate] - target[1]);
        continue;
      }
      const T side = side_[k];
      // Within its bounds a drive is a spring and a damper; on its line a damper; else constant.
      const Mask<T> inside = less(abs(side), T(0.5));
      const T zero(0.0);
      force_[d.rate] += select(inside, target[2], zero);
      implicit(d.rate, select(inside, T(d.is.kp), zero), s.q[d.position] - target[0],
               select(inside, T(d.is.kd), zero), s.qd[d.rate] - target[1]);
      const T line = line_[k];  // 1: on the torque-speed line, 0: at the largest torque
      const double slope = d.is.stall > 0.0 ? d.is.stall / d.is.no_load_rate : 0.0;
      const T on_line = select(inside, zero, line);
      force_[d.rate] += on_line * (side * T(d.is.stall) - T(slope) * s.qd[d.rate]);
      weight_[d.rate] += on_line * T(h * slope);
      if (std::isfinite(d.is.most)) {
        force_[d.rate] += select(inside, zero, (T(1.0) - line) * side * T(d.is.most));
      }
    }
    for (std::size_t k = 0; k < plan_.dry().size(); ++k) {
      const Plan::Dry& dry = plan_.dry()[k];
      const double damping = dry.force / plan_.options().friction_rate;
      // sticks: 0; slips: the sign of the slip.
      const Mask<T> sticks = less(abs(sticks_[k]), T(0.5));
      force_[dry.rate] -= select(sticks, T(damping) * s.qd[dry.rate], sticks_[k] * T(dry.force));
      weight_[dry.rate] += select(sticks, T(h * damping), T(0.0));
    }
  }
  /// M += G^T diag(weight) G, in place of what was added before.
  /// @param again  M has the weights of the last call
  void add_weights(const SpanningMotion<T>& motion, T* M, bool again) {
    const std::size_t nv = plan_.model().nv();
    T* kept = kept_.data();
    for (const Cluster& c : plan_.model().clusters()) {
      for (int a = 0; a < c.nv && bounded_; ++a) {
        T* row = M + (c.v + a) * nv + c.v;
        again ? std::copy_n(kept, a + 1, row) : std::copy_n(row, a + 1, kept);
        kept += a + 1;
      }
      if (!c.constrained) {
        for (int k = 0; k < c.nv; ++k) {
          const int i = c.v + k;
          M[i * (nv + 1)] += weight_[c.rate(k)];
        }
        continue;
      }
      const T* G = motion.G(c);
      for (int r = 0; r < c.rows(); ++r) {
        const T& w = weight_[c.rate(r)];
        const T* row = G + static_cast<std::size_t>(r) * c.nv;
        for (int a = 0; a < c.nv; ++a) {
          for (int b = 0; b <= a; ++b) {
            M[(c.v + a) * nv + c.v + b] += w * row[a] * row[b];
          }
        }
      }
    }
  }

 private:
  /// Whether a drive's command is beyond what it can do at a rate: +1, -1, else 0, and how.
  void bound(const Plan::Drive& d, const T& command, const T& rate, T& side, T& line) const {
    T most(d.is.most), least(-d.is.most);
    T line_up(0.0), line_down(0.0);
    if (d.is.stall > 0.0) {
      const T x = rate / T(d.is.no_load_rate);
      const T up = T(d.is.stall) * (T(1.0) - x), down = T(-d.is.stall) * (T(1.0) + x);
      line_up = select(less(up, most), T(1.0), T(0.0)), most = smaller(up, most);
      line_down = select(less(least, down), T(1.0), T(0.0)), least = larger(down, least);
    }
    const Mask<T> above = less(most, command), below = less(command, least);
    side = select(above, T(1.0), select(below, T(-1.0), T(0.0)));
    line = select(above, line_up, select(below, line_down, T(0.0)));
  }
  T command(const StepState<T>& s, std::size_t k, const T& rate) const {
    const Plan::Drive& d = plan_.drives()[k];
    const T* target = s.target.data() + 3 * k;
    return T(d.is.kp) * (target[0] - s.q[d.position]) + T(d.is.kd) * (target[1] - rate) + target[2];
  }

  const Plan& plan_;
  bool bounded_ = false;
  std::vector<T> force_, weight_;
  std::vector<T> kept_;         ///< of M without weights: lower triangles of the clusters
  std::vector<T> line_, side_;  ///< of drives
  std::vector<T> sticks_;       ///< of dry joints
};

}  // namespace espalier::contact
