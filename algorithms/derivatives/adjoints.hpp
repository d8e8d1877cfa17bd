#pragma once

#include <memory>

#include "algorithms/derivatives/variation/adjoint_sweep.hpp"
#include "algorithms/derivatives/variation/derivative_sweep.hpp"
#include "algorithms/derivatives/variation/lanes/lane_adjoint.hpp"
#include "algorithms/derivatives/variation/mass_factor/independent_ltl.hpp"
#include "espalier/kernel/problems/derivatives/forward_dynamics_adjoint.hpp"
#include "espalier/kernel/problems/derivatives/inverse_dynamics_adjoint.hpp"

namespace espalier {

/// Gradient of lambda^T tau. Four joints of a tree share a register. Source: theory/derivatives
/// 19.1.
template <class T>
class CRneaAdjoint final : public InverseDynamicsAdjoint<T> {
 public:
  explicit CRneaAdjoint(ModelPtr model)
      : InverseDynamicsAdjoint<T>(std::move(model)),
        state_(this->model(), VariationState<T>::Columns::skip),
        sweep_(this->model()) {
    if constexpr (std::is_same_v<T, double>) {
      if (LaneAdjoint::pays(this->model())) lanes_ = std::make_unique<LaneAdjoint>(this->model());
    }
  }

  T margin() override { return state_.motion.margin(); }

 private:
  void compute(const T* q, const T* v, const T* vdot, const T* lambda, T* by_q, T* by_v, T* by_vdot,
               const Loads<T>* loads) override {
    if constexpr (std::is_same_v<T, double>) {
      if (lanes_ != nullptr && !any_load(loads)) {
        lanes_->evaluate(q, v, vdot, lambda, this->gravity(), by_q, by_v, by_vdot);
        return;
      }
    }
    state_.update(q, v, this->gravity(), loads);
    state_.accelerate(vdot);
    sweep_.evaluate(state_, lambda, by_q, by_v, by_vdot);
  }

  VariationState<T> state_;
  AdjointSweep<T> sweep_;
  std::unique_ptr<LaneAdjoint> lanes_;
};

/// Gradient of nu^T vdot: that of -(M^-1 nu)^T tau at the accelerations. M is factored sparsely.
/// Source: theory/derivatives 15 and 19.1.
template <class T>
class CAbaAdjoint final : public ForwardDynamicsAdjoint<T> {
 public:
  explicit CAbaAdjoint(ModelPtr model)
      : ForwardDynamicsAdjoint<T>(std::move(model)),
        state_(this->model()),
        derivatives_(state_),
        sweep_(this->model()),
        factor_(this->model()),
        M_(static_cast<std::size_t>(this->model().nv()) * this->model().nv()),
        by_vdot_(this->model().nv()) {}

  /// x = M^-1 x at the position of the last evaluate().
  void apply_inverse_mass(T* x) const { factor_.solve(x); }
  T margin() override { return state_.motion.margin(); }

 private:
  void compute(const T* q, const T* v, const T* tau, const T* nu, T* vdot, T* by_q, T* by_v,
               T* by_tau, const Loads<T>* loads) override {
    const int n = this->model().nv();
    state_.update(q, v, this->gravity(), loads);
    state_.compose_inertias();
    state_.accelerate(nullptr);
    derivatives_.forces(state_, vdot);
    derivatives_.mass_matrix(state_, M_.data());
    factor_.factor(M_.data());
    for (int i = 0; i < n; ++i) vdot[i] = tau[i] - vdot[i], by_tau[i] = nu[i];
    factor_.solve(vdot);
    factor_.solve(by_tau);
    state_.accelerate(vdot);
    sweep_.evaluate(state_, by_tau, by_q, by_v, by_vdot_.data());
    for (int i = 0; i < n; ++i) by_q[i] = -by_q[i], by_v[i] = -by_v[i];
  }

  VariationState<T> state_;
  DerivativeSweep<T> derivatives_;
  AdjointSweep<T> sweep_;
  IndependentLtl<T> factor_;
  std::vector<T> M_;  ///< zero where no coordinate carries the other
  std::vector<T> by_vdot_;
};

}  // namespace espalier
