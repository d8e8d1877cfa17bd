#pragma once

#include "algorithms/derivatives/variation/derivative_sweep.hpp"
#include "espalier/kernel/problems/derivatives/inverse_dynamics_derivatives.hpp"

namespace espalier {

/// Derivatives of inverse dynamics on a cluster tree: a forward pass over bodies, composites by
/// addition, and one product for each pair of coordinates of which one carries the other.
/// Source: Singh, Russell, Wensing (2022); theory/derivatives 12 and 13 for clusters and folded
/// rotors.
template <class T>
class CRneaDerivatives final : public InverseDynamicsDerivatives<T> {
 public:
  explicit CRneaDerivatives(ModelPtr model)
      : InverseDynamicsDerivatives<T>(std::move(model)),
        state_(this->model()),
        sweep_(state_, DerivativeSweep<T>::Lanes::where_they_pay) {}

  T margin() override { return state_.motion.margin(); }

 private:
  void compute(const T* q, const T* v, const T* vdot, T* tau, T* dtau_dq, T* dtau_dv, T* M,
               const Loads<T>* loads) override {
    if constexpr (std::is_same_v<T, double>) {
      if (LaneDerivatives* lanes = sweep_.lanes(loads)) {
        lanes->update(q, v, this->gravity());
        lanes->accelerate(vdot, tau);
        lanes->inverse_dynamics(dtau_dq, dtau_dv, M);
        return;
      }
      const long n = this->model().nv();  // one long stretch is faster than many short ones
      for (T* out : {dtau_dq, dtau_dv, M}) std::fill(out, out + n * n, T(0.0));
    } else {
      sweep_.clear_unrelated({dtau_dq, dtau_dv, M});
    }
    state_.update(q, v, this->gravity(), loads);
    state_.accelerate(vdot);
    state_.compose();
    sweep_.inverse_dynamics(state_, tau, dtau_dq, dtau_dv, M);
  }

  VariationState<T> state_;
  DerivativeSweep<T> sweep_;
};

}  // namespace espalier
