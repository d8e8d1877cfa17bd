#pragma once

#include "algorithms/inverse_dynamics/rnea.hpp"
#include "algorithms/inverse_osim/task_jacobian.hpp"
#include "algorithms/linear_algebra/semidefinite_factor.hpp"
#include "algorithms/segments/articulated_tree/tree_response.hpp"
#include "algorithms/task_bias.hpp"
#include "espalier/kernel/problems/operational_space/operational_space.hpp"

namespace espalier {

/// Operational-space quantities from the robot's answer to unit forces along the task's rows: M^-1
/// J^T by one sweep inward and one outward for each end-effector, then products with J.
/// Cost: O(n m + m^2 nv + nv^2 m); no M is formed.
/// Frames: those of ArticulatedTree.
/// Source: Khatib (1987); theory/input-matrix 3.1, 3.4 and theory/delassus 4.
template <class T>
class RecursiveOperationalSpace final : public OperationalSpace<T> {
 public:
  explicit RecursiveOperationalSpace(const Setup& setup)
      : OperationalSpace<T>(setup),
        tree_(this->model(), nullptr, TaskRows<T>::rotors(this->model(), this->task())),
        rows_(this->task(), tree_),
        jacobian_(this->model(), this->task()),
        bias_(this->model(), this->task()),
        rnea_(setup.model),
        factor_(this->task().size()),
        C_(this->model().nv()) {
    for (const auto& part : rows_.parts()) {
      responses_.emplace_back(
          tree_, typename TreeResponse<T>::Load{{part.part->body}, false, part.blocks});
    }
    const std::size_t m = this->task().size(), nv = this->model().nv();
    for (auto* x : {&answer_.jacobian, &answer_.task_input, &answer_.consistent_inverse}) {
      x->resize(m * nv);
    }
    for (auto* x : {&answer_.inverse_osim, &answer_.osim}) x->resize(m * m);
    for (auto* x : {&answer_.task_bias, &answer_.free_acceleration, &answer_.bias_force}) {
      x->resize(m);
    }
    answer_.null_projector.resize(nv * nv);
  }

 private:
  using Answer = typename OperationalSpace<T>::Answer;

  const Answer& compute(const T* q, const T* v, const T* tau,
                        const Wrenches<T>* wrenches) override {
    const std::size_t m = this->task().size(), nv = this->model().nv();
    Answer& a = answer_;
    jacobian_.compute(q, a.jacobian.data());
    bias_.compute(q, v, a.task_bias.data());
    rnea_.set_gravity(this->gravity());
    rnea_.compute(q, v, nullptr, C_.data(), wrenches);
    respond(q);
    product(a.task_input.data(), a.jacobian.data(), m, nv, m, a.inverse_osim.data());
    factor_.compute(a.inverse_osim.data(), 0.0);
    a.rank = factor_.rank();
    for (std::size_t i = 0; i < m; ++i) {  // symmetric: rows are columns
      std::fill_n(a.osim.data() + i * m, m, T(0.0));
      a.osim[i * m + i] = T(1.0);
      factor_.solve(a.osim.data() + i * m);
    }
    for (std::size_t k = 0; k < nv; ++k) {
      for (std::size_t i = 0; i < m; ++i) {
        T sum = T(0.0);
        for (std::size_t j = 0; j < m; ++j) sum += a.task_input[j * nv + k] * a.osim[j * m + i];
        a.consistent_inverse[k * m + i] = sum;
      }
    }
    for (std::size_t k = 0; k < nv; ++k) {
      for (std::size_t l = 0; l < nv; ++l) {
        T sum = T(k == l ? 1.0 : 0.0);
        for (std::size_t i = 0; i < m; ++i) {
          sum -= a.jacobian[i * nv + k] * a.consistent_inverse[l * m + i];
        }
        a.null_projector[k * nv + l] = sum;
      }
    }
    for (std::size_t i = 0; i < m; ++i) {
      T driven = a.task_bias[i], held = -a.task_bias[i];
      for (std::size_t k = 0; k < nv; ++k) {
        driven += a.task_input[i * nv + k] * (tau[k] - C_[k]);
        held += a.task_input[i * nv + k] * C_[k];
      }
      a.free_acceleration[i] = driven;
      a.bias_force[i] = held;
    }
    factor_.solve(a.bias_force.data());
    return a;
  }

  /// task_input = (M^-1 J^T)^T.
  void respond(const T* q) {
    const std::size_t nv = this->model().nv();
    tree_.update(q);
    for (std::size_t e = 0; e < responses_.size(); ++e) {
      const auto& part = rows_.parts()[e];
      T* out = answer_.task_input.data() + part.part->first * nv;
      if (part.part->body == 0) {
        std::fill_n(out, part.part->size() * nv, T(0.0));
        continue;
      }
      TreeResponse<T>& response = responses_[e];
      response.clear();
      rows_.place(tree_, part, response.wrenches(part.part->body));
      response.solve();
      for (std::size_t k = 0; k < nv; ++k) {
        const auto* rates = response.rates() + k * part.blocks;
        for (int i = 0; i < part.part->size(); ++i) out[i * nv + k] = row_of<T>(rates, i);
      }
    }
  }
  /// out = A B^T for A rows x n and B columns x n.
  static void product(const T* A, const T* B, std::size_t rows, std::size_t n, std::size_t columns,
                      T* out) {
    for (std::size_t i = 0; i < rows; ++i) {
      for (std::size_t j = 0; j < columns; ++j) {
        T sum = T(0.0);
        for (std::size_t k = 0; k < n; ++k) sum += A[i * n + k] * B[j * n + k];
        out[i * columns + j] = sum;
      }
    }
  }

  ArticulatedTree<T> tree_;
  TaskRows<T> rows_;
  TaskJacobian<T> jacobian_;
  TaskBias<T> bias_;
  Rnea<T> rnea_;
  SemidefiniteFactor factor_;
  std::vector<TreeResponse<T>> responses_;  ///< per end-effector
  std::vector<T> C_;
  Answer answer_;
};

}  // namespace espalier
