#pragma once

#include "algorithms/derivatives/variation/derivative_sweep.hpp"
#include "espalier/kernel/problems/dynamics/coriolis_matrix.hpp"

namespace espalier {

/// C(q, v) on a cluster tree. Source: Echeandia, Wensing (2021); theory/derivatives 16 for clusters
/// and rotors.
template <class T>
class CompositeCoriolisMatrix final : public CoriolisMatrix<T> {
 public:
  explicit CompositeCoriolisMatrix(ModelPtr model)
      : CoriolisMatrix<T>(std::move(model)), state_(this->model()), sweep_(state_) {}

 private:
  void compute(const T* q, const T* v, T* C) override {
    state_.update(q, v, this->gravity(), nullptr);
    state_.compose();
    sweep_.coriolis(state_, C);
  }

  VariationState<T> state_;
  DerivativeSweep<T> sweep_;
};

}  // namespace espalier
