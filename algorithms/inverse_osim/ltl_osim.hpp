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
        ltl_(this->model().rate_parents()),
        J_(static_cast<std::size_t>(this->task().size()) * this->model().nv()),
        Y_(J_.size()),
        last_(this->task().size(), -1) {
    const Model& m = this->model();
    for (const Task::Part& part : this->task().parts()) {
      int body = part.body;  // the nearest that has rates
      while (body != 0 && m.body(body).nv == 0) body = m.body(body).parent;
      for (int i = 0; i < part.size() && body != 0; ++i) {
        last_[part.first + i] = m.body(body).v + m.body(body).nv - 1;
      }
    }
    for (const int k : last_) {
      for (const int l : last_) common_.push_back(common(k, l));
    }
  }

 private:
  /// Number of rates that move both of two rows.
  int common(int k, int l) const {
    while (k != l) (k > l ? k : l) = ltl_.paths().parent(std::max(k, l));
    return k < 0 ? 0 : ltl_.paths().depth(k) + 1;
  }

  void compute(const T* q, T* inverse_osim) override {
    const long nv = this->model().nv(), m = this->task().size();
    jacobian_.compute(q, J_.data());
    crba_.compute(q, jacobian_.motion(), H_.data());
    ltl_.factor(H_.data());
    for (long r = 0; r < m; ++r) {
      if (last_[r] < 0) continue;
      ltl_.solve_transposed_along(last_[r], J_.data() + r * nv, Y_.data() + r * nv);
    }
    for (long r = 0; r < m; ++r) {
      const T* const Y_r = Y_.data() + r * nv;
      const int* const common = common_.data() + r * m;
      for (long s = 0; s <= r; ++s) {
        const T sum = beginnings_product(common[s], Y_r, Y_.data() + s * nv);
        inverse_osim[r * m + s] = inverse_osim[s * m + r] = sum;
      }
    }
  }

  TaskJacobian<T> jacobian_;
  CompositeBodies<T> crba_;
  std::vector<T> H_;
  SparseLtl<T> ltl_;
  std::vector<T> J_;
  std::vector<T> Y_;         ///< of each row, the rates on its way from the ground, side by side
  std::vector<int> last_;    ///< per row: the last rate that moves it, -1: none
  std::vector<int> common_;  ///< per row and other row
};

}  // namespace espalier
