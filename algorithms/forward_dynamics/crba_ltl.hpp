#pragma once

#include "algorithms/inverse_dynamics/rnea.hpp"
#include "algorithms/linear_algebra/sparse_ltl.hpp"
#include "algorithms/mass_matrix/composite_bodies.hpp"
#include "espalier/kernel/problems/dynamics/forward_dynamics.hpp"

namespace espalier {

/// Forward dynamics of a tree from the joint-space inertia matrix H and its factor H = L^T L, which
/// fills in nothing where branches leave H zero.
/// Frame: body.  Cost: O(n d^2), d the depth of the tree.
/// Source: Featherstone (2008), Tables 6.2 to 6.5; theory/delassus 4.
template <class T>
class CrbaLtl final : public ForwardDynamics<T> {
 public:
  explicit CrbaLtl(ModelPtr model)
      : ForwardDynamics<T>(model),
        rnea_(model, Rnea<T>::Joints::all),
        crba_(this->model(), CompositeBodies<T>::Rates::independent),
        bias_(model->nv()),
        H_(static_cast<std::size_t>(model->nv()) * model->nv()),
        ltl_(model->rate_parents()) {}

 private:
  void compute(const T* q, const T* v, const T* tau, T* vdot,
               const Wrenches<T>* wrenches) override {
    const int nv = this->model().nv();
    rnea_.set_gravity(this->gravity());
    rnea_.compute(q, v, nullptr, bias_.data(), wrenches);
    for (int k = 0; k < nv; ++k) vdot[k] = tau[k] - bias_[k];
    crba_.compute(q, rnea_.motion(), H_.data());
    ltl_.factor(H_.data());
    ltl_.solve_transposed(vdot);
    ltl_.solve(vdot);
  }

  Rnea<T> rnea_;
  CompositeBodies<T> crba_;
  std::vector<T> bias_, H_;
  SparseLtl<T> ltl_;
};

}  // namespace espalier
