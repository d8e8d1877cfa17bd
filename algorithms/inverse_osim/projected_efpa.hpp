#pragma once

#include "algorithms/inverse_osim/task_jacobian.hpp"
#include "algorithms/linear_algebra/large_ldlt.hpp"
#include "algorithms/mass_matrix/projected_inertia.hpp"
#include "espalier/kernel/problems/operational_space/inverse_osim.hpp"

namespace espalier {

/// Inverse operational-space inertia with loops by projection: M = G^T H G and J G from the whole
/// spanning tree, then a dense factor. Exact, and kept as the method that C-EFPA is measured
/// against in Chignoli et al. (2023), which calls it Projected EFPA. Frames: those of TaskJacobian
/// and ProjectedInertia.  Cost: O(n d + nv^3 + m nv^2 + m^2 nv). Source: Chignoli et al. (2023),
/// section II-E.
template <class T>
class ProjectedEfpa final : public InverseOsim<T> {
 public:
  explicit ProjectedEfpa(const Setup& setup)
      : InverseOsim<T>(setup),
        jacobian_(this->model(), this->task()),
        inertia_(this->model()),
        J_(static_cast<std::size_t>(this->task().size()) * this->model().nv()),
        x_(this->model().nv()) {}

 private:
  void compute(const T* q, T* inverse_osim) override {
    const long nv = this->model().nv(), m = this->task().size();
    jacobian_.compute(q, J_.data());
    T* M = inertia_.compute(q, jacobian_.motion());
    large_ldlt(M, nv);
    for (long r = 0; r < m; ++r) {
      std::copy_n(J_.data() + r * nv, nv, x_.data());
      large_ldlt_solve(M, nv, x_.data());
      for (long s = 0; s <= r; ++s) {
        const T* J = J_.data() + s * nv;
        T sum = T(0.0);
        for (long k = 0; k < nv; ++k) sum += J[k] * x_[k];
        inverse_osim[r * m + s] = inverse_osim[s * m + r] = sum;
      }
    }
  }

  TaskJacobian<T> jacobian_;
  ProjectedInertia<T> inertia_;
  std::vector<T> J_, x_;
};

}  // namespace espalier
