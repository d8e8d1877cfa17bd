#pragma once

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "algorithms/input_matrix/columns/column_sweeps.hpp"
#include "algorithms/input_matrix/crowded_links.hpp"
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
        columns_(this->inputs()),
        sweeps_(tree_, chains_, columns_, task_bodies()),
        crowded_(columns_, sweeps_.plan().place),
        row_(sweeps_.blocks()) {
    tree_.motion().leave_out(chains_.columns().whole_runs(), chains_.columns().whole_clusters());
    if (this->task() != nullptr) task_bias_.emplace(this->model(), *this->task());
    find_moves();
  }

 private:
  using Sweeps = ColumnSweeps<T>;
  using V = typename Sweeps::V;

  /// Folded rotors on which inputs or end-effectors act.
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
    prefetch(answer.input_matrix);
    crowded_.turn([&](int body) -> const Mat3<T>& { return sweeps_.attitude(body); });
    write_rates(answer);
    if (this->task() == nullptr) return;
    for (const Task::Part& part : this->task()->parts()) write_task(part, answer);
    task_bias_->compute(q, v, bias_rows_.data());
    for (std::size_t i = 0; i < bias_rows_.size(); ++i) {
      answer.task_free_acceleration[i] += bias_rows_[i];
    }
  }

  /// Finds runs of columns that are adjacent both in the sweeps and in the setup. Each run is
  /// copied as packs, the last of which may overlap the one before it.
  void find_moves() {
    constexpr int lanes = Sweeps::lanes;
    std::vector<int> place;  // of columns of the setup; -1: a combination
    for (const int column : columns_.of_setup()) {
      place.push_back(column < 0 ? -1 : sweeps_.plan().place[column]);
    }
    const int m = static_cast<int>(place.size());
    for (int k = 0, end = 0; k < m; k = end) {
      end = k + 1;
      if (place[k] < 0) continue;
      while (end < m && place[end] == place[end - 1] + 1) ++end;
      if (end - k < lanes) {
        for (int i = k; i < end; ++i) singles_.push_back({place[i], i});
        continue;
      }
      for (int i = k; i < end; i += lanes) {
        const int at = std::min(i, end - lanes);
        packs_.push_back({place[at], at});
      }
    }
  }
  /// Asks for the lines that write_rates() fills: a call touches more than the first cache holds,
  /// so that they have left it since the last one. Just before, all are under way at once; as
  /// stores they would be waited for one after the other.
  static void prefetch(const std::vector<T>& numbers) {
    constexpr std::size_t line = 64, most = 32 << 10;  // more would push one another out
    const std::size_t size = numbers.size() * sizeof(T);
    if (size > most) return;
    const char* const first = reinterpret_cast<const char*>(numbers.data());
    for (std::size_t i = 0; i < size; i += line) __builtin_prefetch(first + i, 1);
  }
  /// All rows of M^-1 B and of the free acceleration.
  void write_rates(typename InputMatrix<T>::Answer& answer) {
    const std::size_t m = this->inputs().size(), nv = this->model().nv();
    if (nv == 0) return;
    const std::size_t stride = static_cast<std::size_t>(sweeps_.blocks()) * Sweeps::lanes;
    const T* in = &row_of<T>(sweeps_.rate(0), 0);
    T* out = answer.input_matrix.data();
    // First, since evaluate() looks at these numbers side by side, for which single ones that have
    // just been written would have to reach the cache.
    const std::pair<int, int> free{sweeps_.plan().free, 0};
    move_rows<T, 1>(&free, in, stride, nv, answer.free_acceleration.data(), 1);
    std::size_t k = 0;
    for (; k + 3 <= packs_.size(); k += 3) move_rows<V, 3>(&packs_[k], in, stride, nv, out, m);
    for (; k < packs_.size(); ++k) move_rows<V, 1>(&packs_[k], in, stride, nv, out, m);
    for (const auto& single : singles_) move_rows<T, 1>(&single, in, stride, nv, out, m);
    crowded_.combine(in, stride, nv, m, out);
  }
  /// Copies `count` parts of all rows, each a column or adjacent ones: no decision inside the loop.
  /// @param moves  place in a row of `from`, and in one of `to`
  template <class Part, int count>
  static void move_rows(const std::pair<int, int>* moves, const T* from, std::size_t stride,
                        std::size_t rows, T* to, std::size_t next) {
    std::size_t place[count], column[count];
    for (int k = 0; k < count; ++k) place[k] = moves[k].first, column[k] = moves[k].second;
    for (std::size_t i = 0; i < rows; ++i, from += stride, to += next) {
      for (int k = 0; k < count; ++k) {
        std::memcpy(static_cast<void*>(to + column[k]), from + place[k], sizeof(Part));
      }
    }
  }
  /// A row of an answer, from the order of the sweeps to that of the setup.
  void write(const V* x, int row, std::vector<T>& matrix, std::vector<T>& free) const {
    const std::size_t m = this->inputs().size();
    T* out = matrix.data() + row * m;
    const T* in = &row_of<T>(x, 0);
    for (const auto& [place, column] : singles_) out[column] = in[place];
    for (const auto& [place, column] : packs_) {
      std::memcpy(static_cast<void*>(out + column), in + place, sizeof(V));
    }
    crowded_.combine(in, 0, 1, m, out);
    free[row] = in[sweeps_.plan().free];
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
  ActingColumns columns_;
  Sweeps sweeps_;
  CrowdedLinks<T> crowded_;
  /// Place in the sweeps and column in the setup, of packs and of single columns that are copied.
  std::vector<std::pair<int, int>> packs_, singles_;
  std::vector<V> row_;
  std::optional<TaskBias<T>> task_bias_;
  std::vector<T> bias_rows_ = std::vector<T>(this->task_size());
};

}  // namespace espalier
