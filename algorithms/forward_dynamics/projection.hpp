#pragma once

#include "algorithms/inverse_dynamics/projected_rnea.hpp"
#include "algorithms/linear_algebra/large_ldlt.hpp"
#include "algorithms/mass_matrix/projected_inertia.hpp"

namespace espalier {

/// Forward dynamics by projection: inertia matrix H and bias C of the whole spanning tree, rotors
/// included, onto the independent rates,
///   (G^T H G) vdot = tau - G^T (C + H g),
/// solved by a dense factor. Exact, and kept as the method that C-ABA is measured against.
/// Frames: those of CompositeBodies and SpanningRnea.  Cost: O(n d + nv^3).
/// Source: Featherstone (2008), section 8.5; Chignoli et al. (2023), section II-D.
template <class T>
class Projection final : public ForwardDynamics<T> {
 public:
  explicit Projection(ModelPtr model)
      : ForwardDynamics<T>(std::move(model)),
        motion_(this->model()),
        rnea_(this->model()),
        inertia_(this->model()),
        spanning_(this->model().spanning_nv()),
        bias_(this->model().nv()) {}

 private:
  void compute(const T* q, const T* v, const T* tau, T* vdot,
               const Wrenches<T>* wrenches) override {
    const int nv = this->model().nv();
    motion_.update(q, v);
    rnea_.compute(motion_, this->gravity(), motion_.g(), wrenches, spanning_.data());
    motion_.reduce(spanning_.data(), bias_.data());
    for (int j = 0; j < nv; ++j) vdot[j] = tau[j] - bias_[j];
    T* M = inertia_.compute(q, motion_);
    large_ldlt(M, nv);
    large_ldlt_solve(M, nv, vdot);
  }

  SpanningMotion<T> motion_;
  SpanningRnea<T> rnea_;
  ProjectedInertia<T> inertia_;
  std::vector<T> spanning_, bias_;
};

}  // namespace espalier
