#pragma once

#include "algorithms/inverse_dynamics/rnea.hpp"
#include "algorithms/mass_matrix/crba.hpp"

namespace espalier {

/// Forward dynamics of a tree from the joint-space inertia matrix H and its factor H = L^T L, which
/// fills in nothing where branches leave H zero.
/// Frame: body.  Cost: O(n d^2), d the depth of the tree.
/// Source: Featherstone (2008), Tables 6.2 to 6.5; SPEC section 4.
template <class T>
class CrbaLtl final : public ForwardDynamics<T> {
 public:
  explicit CrbaLtl(ModelPtr model)
      : ForwardDynamics<T>(model),
        rnea_(model),
        crba_(model),
        H_(static_cast<std::size_t>(model->nv()) * model->nv()) {}

 private:
  void compute(const T* q, const T* v, const T* tau, T* vdot,
               const Wrenches<T>* wrenches) override {
    const int nv = this->model().nv();
    rnea_.set_gravity(this->gravity());
    rnea_.compute(q, v, nullptr, vdot, wrenches);
    for (int k = 0; k < nv; ++k) vdot[k] = tau[k] - vdot[k];
    crba_.compute(rnea_.kinematics(), H_.data());
    factor();
    substitute(vdot);
  }

  /// H = L^T L in place: row k of the lower triangle holds row k of L, whose entries are those of
  /// the rates that support rate k.
  void factor() {
    const auto parent = this->model().rate_parents();
    const long nv = this->model().nv();
    for (long k = nv - 1; k >= 0; --k) {
      T* L_k = H_.data() + k * nv;
      L_k[k] = sqrt(L_k[k]);
      const T inverse = T(1.0) / L_k[k];
      for (int i = parent[k]; i >= 0; i = parent[i]) L_k[i] *= inverse;
      for (int i = parent[k]; i >= 0; i = parent[i]) {
        T* H_i = H_.data() + i * nv;
        for (int j = i; j >= 0; j = parent[j]) H_i[j] -= L_k[i] * L_k[j];
      }
    }
  }

  /// x = L^-1 L^-T x.
  void substitute(T* x) const {
    const auto parent = this->model().rate_parents();
    const long nv = this->model().nv();
    for (long k = nv - 1; k >= 0; --k) {
      const T* L_k = H_.data() + k * nv;
      x[k] /= L_k[k];
      for (int i = parent[k]; i >= 0; i = parent[i]) x[i] -= L_k[i] * x[k];
    }
    for (long k = 0; k < nv; ++k) {
      const T* L_k = H_.data() + k * nv;
      for (int i = parent[k]; i >= 0; i = parent[i]) x[k] -= L_k[i] * x[i];
      x[k] /= L_k[k];
    }
  }

  Rnea<T> rnea_;
  Crba<T> crba_;
  std::vector<T> H_;
};

}  // namespace espalier
