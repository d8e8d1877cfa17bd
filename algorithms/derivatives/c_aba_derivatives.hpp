#pragma once

#include "algorithms/derivatives/variation/derivative_sweep.hpp"
#include "algorithms/derivatives/variation/mass_factor/mass_factor.hpp"
#include "algorithms/derivatives/variation/pairs/root_pairs.hpp"
#include "espalier/kernel/problems/derivatives/forward_dynamics_derivatives.hpp"

namespace espalier {

/// Derivatives of forward dynamics on a cluster tree: those of inverse dynamics at the
/// accelerations, solved with the factor of M, (15.1).
/// Source: Carpentier, Mansard (2018); theory/derivatives 15.
template <class T>
class CAbaDerivatives final : public ForwardDynamicsDerivatives<T> {
 public:
  explicit CAbaDerivatives(ModelPtr model)
      : ForwardDynamicsDerivatives<T>(std::move(model)),
        state_(this->model()),
        sweep_(state_, DerivativeSweep<T>::Lanes::where_they_pay),
        factor_(this->model()),
        known_(floats_alone(state_) ? 6 : 0),
        solves_(this->model(), known_ > 0),
        bias_(this->model().nv()),
        M_(static_cast<std::size_t>(this->model().nv()) * this->model().nv() + Pack::size),
        Dq_(M_.size()),
        Dv_(M_.size()) {}

  T margin() override { return state_.motion.margin(); }
  /// The same at any position; margin() speaks of it then, too.
  T margin_at(const T* q) {
    state_.motion.update(q, nullptr);
    return state_.motion.margin();
  }

 private:
  void compute(const T* q, const T* v, const T* tau, T* vdot, T* dvdot_dq, T* dvdot_dv,
               T* dvdot_dtau, const Loads<T>* loads) override {
    if constexpr (std::is_same_v<T, double>) {
      if (LaneDerivatives* lanes = sweep_.lanes(loads)) {
        lanes->update(q, v, this->gravity());
        lanes->accelerate(nullptr, bias_.data());
        lanes->mass_rows(factor_);
        factor_.factor_rows();
        solve_for_accelerations(tau, vdot, dvdot_dtau);
        lanes->accelerate(vdot, bias_.data());
        lanes->right_sides(known_ > 0, solves_);
        solves_.solve(factor_, known_ > 0, dvdot_dq, dvdot_dv);
        if (!detail::is_finite_sum(vdot, this->model().nv())) solves_.clear();
        if (known_ > 0) lanes->write_root_solution(dvdot_dq, dvdot_dv);
        return;
      }
    }
    state_.update(q, v, this->gravity(), loads);
    state_.compose();
    state_.accelerate(nullptr);
    sweep_.forces(state_, bias_.data());
    sweep_.mass_matrix(state_, M_.data());
    factor_.factor(M_.data());
    solve_for_accelerations(tau, vdot, dvdot_dtau);
    state_.accelerate(vdot);
    sweep_.inverse_dynamics(state_, bias_.data(), Dq_.data(), Dv_.data(), nullptr);
    if constexpr (std::is_same_v<T, double>) {
      solves_.solve(factor_, Dq_.data(), Dv_.data(), dvdot_dq, dvdot_dv);
    } else {
      factor_.invert(dvdot_dtau);
      const bool is_known = known_ > 0 && !any_load(loads);
      factor_.solve(Dq_.data(), dvdot_dq, is_known ? known_ : 0);
      factor_.solve(Dv_.data(), dvdot_dv);
      if (is_known) write_root_solution<T>(state_.ground(1).v, this->model().nv(), dvdot_dq);
    }
  }

  /// @param[out] M_inverse  at double, whose factor solves one column by it
  void solve_for_accelerations(const T* tau, T* vdot, T* M_inverse) {
    for (long i = 0; i < this->model().nv(); ++i) vdot[i] = tau[i] - bias_[i];
    if constexpr (std::is_same_v<T, double>) {
      factor_.invert(M_inverse);
      factor_.times_inverse(M_inverse, vdot);
    } else {
      factor_.solve(vdot);
    }
  }

  VariationState<T> state_;
  DerivativeSweep<T> sweep_;
  MassFactor<T> factor_;
  int known_;  ///< first columns of dvdot/dq that need no solve without loads
  std::conditional_t<std::is_same_v<T, double>, BranchSolves, NoSolves> solves_;
  std::vector<T> bias_;
  std::vector<T> M_, Dq_, Dv_;  ///< zero where no coordinate carries the other
};

}  // namespace espalier
