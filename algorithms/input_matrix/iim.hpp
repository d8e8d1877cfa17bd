#pragma once

#include <cstring>
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
        plan_(ChainColumns<T>::leaf_chains(this->model(), rotors())),
        tree_(this->model(), nullptr, rotors(), &plan_),
        bias_(this->model(), plan_),
        chains_(this->model(), std::move(plan_)),
        sweeps_(tree_, chains_, this->inputs(), task_bodies()),
        row_(sweeps_.blocks()) {
    tree_.motion().leave_out(chains_.columns().whole_runs(), chains_.columns().whole_clusters());
    if (this->task() != nullptr) task_bias_.emplace(this->model(), *this->task());
    find_spans();
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
    tree_.place(q);
    bias_.compute(tree_.motion(), q, v, this->gravity(), wrenches);
    chains_.eliminate(tree_, bias_, q, v, tau, wrenches);
    for (std::size_t k = tree_.order().size(); k-- > 0;) {
      const int node = tree_.order()[k];
      if (!sweeps_.floats(node)) tree_.backward_pass(node);
    }
    sweeps_.solve(tree_.motion(), bias_, tau);
    write_rates(answer);
    if (this->task() == nullptr) return;
    for (const Task::Part& part : this->task()->parts()) write_task(part, answer);
    task_bias_->compute(q, v, bias_rows_.data());
    for (std::size_t i = 0; i < bias_rows_.size(); ++i) {
      answer.task_free_acceleration[i] += bias_rows_[i];
    }
  }

  /// Columns that stand side by side in the sweeps and in the setup.
  struct Span {
    int place, column, count;
  };
  void find_spans() {
    const std::vector<int>& place = sweeps_.plan().place;
    for (int k = 0; k < static_cast<int>(place.size()); ++k) {
      if (k > 0 && place[k] == place[k - 1] + 1) {
        ++spans_.back().count;
      } else {
        spans_.push_back({place[k], k, 1});
      }
    }
    // Short ones are copied one by one.
    const auto end = std::stable_partition(spans_.begin(), spans_.end(),
                                           [](const Span& s) { return s.count >= Sweeps::lanes; });
    for (auto s = end; s != spans_.end(); ++s) {
      for (int k = 0; k < s->count; ++k) singles_.push_back({s->place + k, s->column + k});
    }
    spans_.erase(end, spans_.end());
  }
  /// All rows of M^-1 B and of the free acceleration.
  void write_rates(typename InputMatrix<T>::Answer& answer) {
    const std::size_t m = sweeps_.plan().place.size(), nv = this->model().nv();
    const std::size_t stride = static_cast<std::size_t>(sweeps_.blocks()) * Sweeps::lanes;
    const T* in = &row_of<T>(sweeps_.rate(0), 0);
    for (const auto& [place, column] : singles_) {
      T* out = answer.input_matrix.data() + column;
      for (std::size_t i = 0; i < nv; ++i) out[i * m] = in[i * stride + place];
    }
    const int free = sweeps_.plan().free;
    for (std::size_t i = 0; i < nv; ++i) {
      T* out = answer.input_matrix.data() + i * m;
      for (const Span& s : spans_) copy(in + i * stride + s.place, s.count, out + s.column);
      answer.free_acceleration[i] = in[i * stride + free];
    }
  }
  /// A row of an answer, from the order of the sweeps to that of the setup.
  void write(const V* x, int row, std::vector<T>& matrix, std::vector<T>& free) const {
    T* out = matrix.data() + row * sweeps_.plan().place.size();
    const T* in = &row_of<T>(x, 0);
    for (const auto& [place, column] : singles_) out[column] = in[place];
    for (const Span& s : spans_) copy(in + s.place, s.count, out + s.column);
    free[row] = in[sweeps_.plan().free];
  }
  /// Copies `lanes` and more numbers, the last of them perhaps twice.
  static void copy(const T* from, int count, T* to) {
    constexpr int lanes = Sweeps::lanes;
    for (int k = 0; k + lanes <= count; k += lanes) std::memcpy(to + k, from + k, sizeof(V));
    std::memcpy(to + count - lanes, from + count - lanes, sizeof(V));
  }

  /// Rows of an end-effector times its body's accelerations.
  void write_task(const Task::Part& part, typename InputMatrix<T>::Answer& answer) {
    const Mat3<T>& E = sweeps_.attitude(part.body);
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

  ChainPlan plan_;  ///< until chains_ take it
  ArticulatedTree<T> tree_;
  BiasForces<T> bias_;
  LeafChains<T> chains_;
  Sweeps sweeps_;
  std::vector<Span> spans_;                   ///< as long as a V, and longer
  std::vector<std::pair<int, int>> singles_;  ///< place and column of the others
  std::vector<V> row_;
  std::optional<TaskBias<T>> task_bias_;
  std::vector<T> bias_rows_ = std::vector<T>(this->task_size());
};

}  // namespace espalier
