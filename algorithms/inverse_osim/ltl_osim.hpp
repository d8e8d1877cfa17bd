#pragma once

#include "algorithms/inverse_osim/task_jacobian.hpp"
#include "algorithms/linear_algebra/sparse_ltl.hpp"
#include "algorithms/mass_matrix/composite_bodies.hpp"
#include "espalier/kernel/problems/operational_space/inverse_osim.hpp"

namespace espalier {

/// Inverse operational-space inertia of a tree from the sparse factor M = L^T L, Y = J L^-1 and
/// Y Y^T over the rates that two rows have in common.
/// Cost: O(n d^2 + m d^2 + m^2 d).
/// Source: Featherstone (2010); theory/delassus 4.
template <class T>
class LtlOsim final : public InverseOsim<T> {
 public:
  explicit LtlOsim(const Setup& setup)
      : InverseOsim<T>(setup),
        jacobian_(this->model(), this->task()),
        crba_(this->model(), CompositeBodies<T>::Rates::independent),
        H_(static_cast<std::size_t>(this->model().nv()) * this->model().nv()),
        Y_(static_cast<std::size_t>(this->task().size()) * this->model().nv()),
        last_(this->task().size(), -1) {
    const Model& m = this->model();
    for (const Task::Part& part : this->task().parts()) {
      int body = part.body;  // the nearest that has rates
      while (body != 0 && m.body(body).nv == 0) body = m.body(body).parent;
      for (int i = 0; i < part.size() && body != 0; ++i) {
        last_[part.first + i] = m.body(body).v + m.body(body).nv - 1;
      }
    }
  }

 private:
  void compute(const T* q, T* inverse_osim) override {
    const auto parent = this->model().rate_parents();
    const long nv = this->model().nv(), m = this->task().size();
    jacobian_.compute(q, Y_.data());
    crba_.compute(q, jacobian_.motion(), H_.data());
    ltl(H_.data(), parent);
    for (long r = 0; r < m; ++r) {
      T* Y = Y_.data() + r * nv;
      for (int k = last_[r]; k >= 0; k = parent[k]) {
        const T* L = H_.data() + k * nv;
        Y[k] /= L[k];
        for (int j = parent[k]; j >= 0; j = parent[j]) Y[j] -= L[j] * Y[k];
      }
    }
    for (long r = 0; r < m; ++r) {
      for (long s = 0; s <= r; ++s) {
        // Where the two ways to the ground have met.
        int k = last_[r], l = last_[s];
        while (k != l) (k > l ? k : l) = parent[std::max(k, l)];
        T sum = T(0.0);
        for (; k >= 0; k = parent[k]) sum += Y_[r * nv + k] * Y_[s * nv + k];
        inverse_osim[r * m + s] = inverse_osim[s * m + r] = sum;
      }
    }
  }

  TaskJacobian<T> jacobian_;
  CompositeBodies<T> crba_;
  std::vector<T> H_, Y_;
  std::vector<int> last_;  ///< per row: the last rate that moves it, -1: none
};

}  // namespace espalier
