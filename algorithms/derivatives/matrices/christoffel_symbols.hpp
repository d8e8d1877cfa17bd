#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "algorithms/derivatives/variation/derivative_sweep.hpp"
#include "espalier/kernel/problems/dynamics/christoffel_symbols.hpp"

namespace espalier {

/// Christoffel symbols from composite bodies: on trees of joints of one rate (16.2), else the
/// Coriolis matrix at each unit rate.
/// Source: Echeandia, Wensing (2021); theory/derivatives 16.
template <class T>
class CompositeChristoffel final : public ChristoffelSymbols<T> {
 public:
  explicit CompositeChristoffel(ModelPtr model)
      : ChristoffelSymbols<T>(std::move(model)),
        state_(this->model()),
        sweep_(state_),
        unit_(this->model().nv(), T(0.0)),
        wrench_(this->model().nv()),
        rate_(this->model().nv()) {
    for (const Cluster& c : this->model().clusters()) {
      plain_ = plain_ && state_.is_plain(c) && c.nv == 1;
    }
    if (!plain_) C_.resize(unit_.size() * unit_.size());
  }

 private:
  void compute(const T* q, T* Gamma) override {
    if (plain_) {
      recurse(q, Gamma);
      return;
    }
    const std::size_t n = unit_.size();
    for (std::size_t k = 0; k < n; ++k) {
      unit_[k] = T(1.0);
      state_.update(q, unit_.data(), this->gravity(), nullptr);
      state_.compose();
      sweep_.coriolis(state_, C_.data());
      for (std::size_t ij = 0; ij < n * n; ++ij) Gamma[ij * n + k] = C_[ij];
      unit_[k] = T(0.0);
    }
  }
  /// (16.2): body i with pairs of those that carry it, itself included. A composite's relative
  /// variation along a column of the way gives f, and all symbols of i with that column.
  void recurse(const T* q, T* Gamma) {
    const Model& model = this->model();
    const long n = model.nv();
    state_.update_positions(q);
    state_.compose_inertias();
    std::fill(Gamma, Gamma + n * n * n, T(0.0));
    for (int i = 1; i <= model.active_body_count(); ++i) {
      const RigidInertia<T>& I = state_.body[i].IC;
      const long row = rate(i);
      const Motion<T>& S = state_.S[row];
      const Force<T> momentum = I * S;
      for (int a = i; a != 0; a = model.body(a).parent) {
        const Motion<T>& S_a = state_.S[rate(a)];
        rate_[rate(a)] = {inertia_rate(I, S_a), I * S_a};
        wrench_[rate(a)] = scale(T(0.5), rate_[rate(a)].times(S.w)) + I * cross(S_a, S);
      }
      for (int a = i; a != 0; a = model.body(a).parent) {
        const long k = rate(a);
        for (int b = i; b != 0; b = model.body(b).parent) {
          const long j = rate(b);
          Gamma[(j * n + row) * n + k] = Gamma[(j * n + k) * n + row] =
              dot(state_.S[j], wrench_[k]);
        }
        // From here outward: k carries j.
        for (int b = i; b != a; b = model.body(b).parent) symbol(row, rate(b), k, momentum, Gamma);
        symbol(row, k, k, momentum, Gamma);
      }
    }
  }
  void symbol(long i, long j, long k, const Force<T>& momentum, T* Gamma) const {
    const long n = this->model().nv();
    const Motion<T>&S_j = state_.S[j], &S_k = state_.S[k];
    Gamma[(i * n + j) * n + k] = Gamma[(i * n + k) * n + j] =
        T(0.5) * dot(state_.S[i], rate_[k].times(S_j.w)) + dot(cross(S_k, S_j), momentum);
  }
  long rate(int body) const { return this->model().body(body).v; }

  VariationState<T> state_;
  DerivativeSweep<T> sweep_;
  std::vector<T> unit_, C_;
  std::vector<Force<T>> wrench_;      ///< per rate of the way
  std::vector<InertiaRate<T>> rate_;  ///< of the composite body along the rate
  bool plain_ = true;  ///< bodies on joints of one rate, whose rates are the independent ones
};

}  // namespace espalier
