#pragma once

#include <optional>

#include "algorithms/input_matrix/column_sweeps.hpp"
#include "algorithms/task_bias.hpp"

namespace espalier {

/// Implicit inversion method in its recursive form, on trees and cluster trees: M^-1 B and the free
/// acceleration from one pass for the articulated inertias and two for all columns. J M^-1 B comes
/// from the bodies' accelerations, without a Jacobian.
/// Cost: O(n m), the size of the answer.
/// Frames: those of ArticulatedTree.
/// Source: Krög, Gattringer, Müller; theory/input-matrix 3.1, 3.4 and theory/clusters 5.6.
template <class T>
class Iim final : public InputMatrix<T> {
 public:
  explicit Iim(const Setup& setup)
      : InputMatrix<T>(setup),
        tree_(this->model(), nullptr, rotors()),
        bias_(this->model()),
        sweeps_(tree_, this->inputs(), task_bodies()),
        row_(sweeps_.blocks()) {
    if (this->task() != nullptr) task_bias_.emplace(this->model(), *this->task());
  }

 private:
  using Sweeps = ColumnSweeps<T>;
  using V = typename Sweeps::V;

  /// Folded rotors that inputs or end-effectors speak of.
  std::vector<int> rotors() const {
    std::vector<int> bodies;
    const auto add = [&](const std::vector<Task::Part>& parts) {
      for (const Task::Part& part : parts) {
        if (part.body > this->model().active_body_count() &&
            std::find(bodies.begin(), bodies.end(), part.body) == bodies.end()) {
          bodies.push_back(part.body);
        }
      }
    };
    add(this->inputs().contacts());
    if (this->task() != nullptr) add(this->task()->parts());
    return bodies;
  }
  std::vector<int> task_bodies() const {
    std::vector<int> bodies;
    if (this->task() == nullptr) return bodies;
    for (const Task::Part& part : this->task()->parts()) bodies.push_back(part.body);
    return bodies;
  }

  void compute(const T* q, const T* v, const T* tau, const Wrenches<T>* wrenches,
               typename InputMatrix<T>::Answer& answer) override {
    tree_.update(q);
    bias_.compute(tree_.motion(), q, v, this->gravity(), wrenches);
    sweeps_.solve(tree_.motion(), bias_, tau);
    for (int i = 0; i < this->model().nv(); ++i) {
      write(sweeps_.rate(i), i, answer.input_matrix, answer.free_acceleration);
    }
    if (this->task() == nullptr) return;
    for (const Task::Part& part : this->task()->parts()) write_task(part, answer);
    task_bias_->compute(q, v, bias_rows_.data());
    for (std::size_t i = 0; i < bias_rows_.size(); ++i) {
      answer.task_free_acceleration[i] += bias_rows_[i];
    }
  }

  /// A row of an answer, from the order of the sweeps to that of the setup.
  void write(const V* x, int row, std::vector<T>& matrix, std::vector<T>& free) const {
    const std::vector<int>& place = sweeps_.plan().place;
    const std::size_t m = place.size();
    T* out = matrix.data() + row * m;
    for (std::size_t k = 0; k < m; ++k) out[k] = row_of<T>(x, place[k]);
    free[row] = row_of<T>(x, sweeps_.plan().free);
  }

  /// Rows of an end-effector times its body's accelerations.
  void write_task(const Task::Part& part, typename InputMatrix<T>::Answer& answer) {
    const Mat3<T>& E = tree_.attitude(part.body);
    const Motion<V>* a = sweeps_.motion(part.body);  // zero for the ground
    for (int i = 0; i < part.size(); ++i) {
      Force<T> K = Force<T>::from(part.rows[i]);
      if (part.world) {
        K.n += cross(transpose_times(E, part.point), K.f);
      } else {
        K = {transpose_times(E, K.n), transpose_times(E, K.f)};
      }
      for (int b = 0; b < sweeps_.blocks(); ++b) row_[b] = dot(a[b], K);
      write(row_.data(), part.first + i, answer.task_input_matrix, answer.task_free_acceleration);
    }
  }

  ArticulatedTree<T> tree_;
  BiasForces<T> bias_;
  Sweeps sweeps_;
  std::vector<V> row_;
  std::optional<TaskBias<T>> task_bias_;
  std::vector<T> bias_rows_ = std::vector<T>(this->task_size());
};

}  // namespace espalier
