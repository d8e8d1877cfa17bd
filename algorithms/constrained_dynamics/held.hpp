#pragma once

#include <cmath>

#include "algorithms/inverse_dynamics/rnea.hpp"
#include "algorithms/linear_algebra/semidefinite_factor.hpp"
#include "algorithms/task_bias.hpp"
#include "espalier/kernel/problems/dynamics/constrained_dynamics.hpp"

namespace espalier {

/// What methods of constrained dynamics have in common. Velocity products and gravity are taken out
/// first: with C by inverse dynamics and (dJ/dt) v by kinematics at vdot = 0 there remain
///   M vdot = r + J^T f,  r = tau - C   and   J vdot = a - (dJ/dt) v - c f,  c the compliance.
template <class T>
class HeldRobot : public ConstrainedDynamics<T> {
 protected:
  using Answer = typename ConstrainedDynamics<T>::Answer;

  explicit HeldRobot(const Setup& setup)
      : ConstrainedDynamics<T>(setup),
        rnea_(setup.model),
        bias_(this->model(), this->task()),
        factor_(this->task().size()),
        r_(this->model().nv()),
        wanted_(this->task().size()) {
    answer_.vdot.resize(this->model().nv());
    answer_.force.resize(this->task().size());
  }

  /// r and what J vdot is to be.
  void prepare(const T* q, const T* v, const T* tau, const T* acceleration,
               const Wrenches<T>* wrenches) {
    rnea_.set_gravity(this->gravity());
    rnea_.compute(q, v, nullptr, r_.data(), wrenches);
    for (std::size_t k = 0; k < r_.size(); ++k) r_[k] = tau[k] - r_[k];
    bias_.compute(q, v, wanted_.data());
    for (std::size_t i = 0; i < wanted_.size(); ++i) wanted_[i] = acceleration[i] - wanted_[i];
  }
  /// f from J M^-1 J^T and J M^-1 r.
  void solve_forces(const T* inverse_osim, const T* free) {
    factor_.compute(inverse_osim, 0.0);
    answer_.rank = factor_.rank();
    if (this->compliance() != 0.0) factor_.compute(inverse_osim, this->compliance());
    for (std::size_t i = 0; i < wanted_.size(); ++i) answer_.force[i] = wanted_[i] - free[i];
    factor_.solve(answer_.force.data());
    // J vdot = J M^-1 r + J M^-1 J^T f.
    const std::size_t m = wanted_.size();
    answer_.conflict = T(0.0);
    for (std::size_t i = 0; i < m; ++i) {
      T rest = free[i] - wanted_[i];
      for (std::size_t j = 0; j < m; ++j) rest += inverse_osim[i * m + j] * answer_.force[j];
      answer_.conflict = std::max(answer_.conflict, std::abs(rest));
    }
  }

  Rnea<T> rnea_;
  TaskBias<T> bias_;
  SemidefiniteFactor factor_;
  std::vector<T> r_, wanted_;
  Answer answer_;
};

}  // namespace espalier
