#pragma once

#include "algorithms/derivatives/variation/derivative_sweep.hpp"
#include "algorithms/derivatives/variation/mass_factor/mass_factor.hpp"
#include "espalier/kernel/problems/dynamics/inverse_mass_matrix.hpp"

namespace espalier {

/// M^-1 from M by composite bodies and its sparse factor L^T L.
/// Source: Featherstone (2008), Tables 6.2 to 6.5; theory/derivatives 15.
template <class T>
class LtlInverseMassMatrix final : public InverseMassMatrix<T> {
 public:
  explicit LtlInverseMassMatrix(ModelPtr model)
      : InverseMassMatrix<T>(std::move(model)),
        state_(this->model()),
        sweep_(state_, DerivativeSweep<T>::Lanes::where_they_pay),
        factor_(this->model()),
        M_(static_cast<std::size_t>(this->model().nv()) * this->model().nv()) {}

 private:
  void compute(const T* q, T* M_inverse) override {
    if constexpr (std::is_same_v<T, double>) {
      if (LaneDerivatives* lanes = sweep_.lanes(nullptr)) {
        lanes->update_positions(q);
        lanes->mass_rows(factor_);
        factor_.factor_rows();
        factor_.invert(M_inverse);
        return;
      }
    }
    state_.update_positions(q);
    state_.compose_inertias();
    sweep_.mass_matrix(state_, M_.data());
    factor_.factor(M_.data());
    factor_.invert(M_inverse);
  }

  VariationState<T> state_;
  DerivativeSweep<T> sweep_;
  MassFactor<T> factor_;
  std::vector<T> M_;
};

}  // namespace espalier
