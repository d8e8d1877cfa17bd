#pragma once

#include <optional>

#include "algorithms/inverse_osim/task_jacobian.hpp"
#include "algorithms/task_bias.hpp"
#include "espalier/kernel/problems/operational_space/input_matrix.hpp"

namespace espalier {

/// The task's part of an answer, as products with J, for algorithms that have no other way to it.
/// Cost: O(n + t d + t nv m).
template <class T>
class TaskAnswer {
 public:
  /// @param task  may be nullptr: then there is nothing to do
  TaskAnswer(const Model& model, const Task* task) {
    if (task == nullptr) return;
    jacobian_.emplace(model, *task);
    bias_.emplace(model, *task);
    J_.resize(static_cast<std::size_t>(task->size()) * model.nv());
  }

  /// @param[in,out] answer  with input matrix and free acceleration
  void complete(const T* q, const T* v, typename InputMatrix<T>::Answer& answer) {
    if (!jacobian_) return;
    jacobian_->compute(q, J_.data());
    bias_->compute(q, v, answer.task_free_acceleration.data());
    const std::size_t t = answer.task_free_acceleration.size();
    const std::size_t nv = answer.free_acceleration.size();
    const std::size_t m = answer.task_input_matrix.size() / t;
    std::fill(answer.task_input_matrix.begin(), answer.task_input_matrix.end(), T(0.0));
    for (std::size_t i = 0; i < t; ++i) {
      for (std::size_t k = 0; k < nv; ++k) {
        const T& x = J_[i * nv + k];
        answer.task_free_acceleration[i] += x * answer.free_acceleration[k];
        for (std::size_t j = 0; j < m; ++j) {
          answer.task_input_matrix[i * m + j] += x * answer.input_matrix[k * m + j];
        }
      }
    }
  }

 private:
  std::optional<TaskJacobian<T>> jacobian_;
  std::optional<TaskBias<T>> bias_;
  std::vector<T> J_;  ///< t x nv, row-major
};

}  // namespace espalier
