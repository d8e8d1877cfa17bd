#pragma once

#include <algorithm>
#include <vector>

#include "espalier/simulation/contact/problems/step.hpp"
#include "simulation/contact/stepping/tree_factor.hpp"

namespace espalier::contact {

/// What impulses of rows do to rates: G = J Mh^-1 J^T = Y Y^T with Y = J L^-1, and Mh^-1 J^T lam =
/// L^-1 Y^T lam.
/// Cost: O(m d + m^2 d), d the depth, m the rows.
template <class T>
class RowResponse {
 public:
  RowResponse(const Plan& plan, const TreeFactor<T>& tree)
      : plan_(plan),
        tree_(tree),
        nv_(plan.model().nv()),
        change_(plan.model().nv()),
        sums_(plan.model().nv()),
        row_(plan.forks() ? 3 * static_cast<std::size_t>(nv_) : 0) {
    if (!plan.forks()) find_shared_ways();
  }

  /// Y = L^-T J^T by rows, and the problem's G: where Newton's systems do not eliminate it, its
  /// blocks on the diagonal alone.
  void find(StepState<T>& s) {
    const int m = s.problem.size();
    for (int i = 0; i < m; i += rows_of_block(s, i)) {
      rows_of_block(s, i) == 3 ? respond_to<3>(s, i) : respond_to<1>(s, i);
    }
    // The three rows of a contact have one support; a row that stands alone is a block of one.
    if (plan_.factors_rows()) {
      for (int i = 0; i < m; i += rows_of_block(s, i)) {
        rows_of_block(s, i) == 3 ? write_block<3, 3>(s, i, i) : write_block<1, 1>(s, i, i);
      }
      s.problem.factors = factors(s);
      return;
    }
    for (int i = 0; i < m; i += rows_of_block(s, i)) {
      for (int j = 0; j <= i; j += rows_of_block(s, j)) {
        if (rows_of_block(s, i) == 1) {
          rows_of_block(s, j) == 1 ? write_block<1, 1>(s, i, j) : write_block<1, 3>(s, i, j);
        } else {
          write_block<3, 3>(s, i, j);  // contacts come first
        }
      }
    }
  }
  /// Views of a state's rows; none where G is written.
  RowFactors<T> factors(const StepState<T>& s) {
    if (!plan_.factors_rows()) return {};
    return {s.Y.data(),       static_cast<std::size_t>(nv_),
            s.support.data(), s.compliance.data(),
            sums_.data(),     nv_};
  }
  /// x += L^-1 Y^T lam.
  void add(const StepState<T>& s, const T* lam, T* x) {
    std::fill(change_.begin(), change_.end(), T(0.0));
    for (int i = 0; i < s.problem.size(); i += rows_of_block(s, i)) {
      if (rows_of_block(s, i) == 1) {
        s.each_entry(i, [&](int k, std::size_t at) { change_[k] += s.Y[at] * lam[i]; });
        continue;
      }
      s.each_entry(i, [&](int k, std::size_t at) {
        const T* Y = s.Y.data() + at;
        change_[k] += Y[0] * lam[i] + Y[nv_] * lam[i + 1] + Y[2 * nv_] * lam[i + 2];
      });
    }
    tree_.solve(s.factor.data(), change_.data());
    for (int i = 0; i < nv_; ++i) x[i] += change_[i];
  }

 private:
  /// How many first rates the ways of two rates from the ground have in common.
  void find_shared_ways() {
    shared_.assign(static_cast<std::size_t>(nv_) * nv_, 0);
    std::vector<std::vector<int>> ways;
    for (int i = 0; i < nv_; ++i) {
      ways.push_back(plan_.ancestors(i));
      ways.back().push_back(i);
      for (int j = 0; j <= i; ++j) {
        const auto end =
            std::mismatch(ways[i].begin(), ways[i].end(), ways[j].begin(), ways[j].end());
        const int count = static_cast<int>(end.first - ways[i].begin());
        shared_[static_cast<std::size_t>(i) * nv_ + j] = count;
        shared_[static_cast<std::size_t>(j) * nv_ + i] = count;
      }
    }
  }
  /// Whether the rates that move a row are those of one way from the ground.
  bool is_way(const StepState<T>& s, int row) const {
    if (!plan_.forks()) return true;
    int contact = row / 3;
    if (const int scalar = row - 3 * s.problem.contacts; scalar >= 0) {
      if (scalar < s.problem.first_turning()) return true;
      contact = s.problem.contact_of_turning(scalar);
    }
    const Plan::Pair& pair = plan_.pairs()[plan_.pair_of(s.contacts[contact])];
    return plan_.solids()[pair.a].site < 0 || plan_.solids()[pair.b].site < 0;
  }
  /// Rows [i, i + p) of Y.
  template <int p>
  void respond_to(StepState<T>& s, int i) {
    const std::size_t start = static_cast<std::size_t>(i) * nv_;
    const std::vector<int>& support = *s.support[i];
    if (support.empty()) return;
    if (is_way(s, i)) {
      tree_.template solve_transposed_on_way<p>(s.factor.data(), support.back(), nv_,
                                                s.J.data() + start, s.Y.data() + start);
      return;
    }
    for (int r = 0; r < p; ++r) {
      s.each_entry(i + r, [&](int k, std::size_t at) { row_[r * nv_ + k] = s.J[at]; });
    }
    tree_.template solve_transposed<p>(s.factor.data(), row_.data(), support);
    for (int r = 0; r < p; ++r) {
      s.each_entry(i + r, [&](int k, std::size_t at) { s.Y[at] = row_[r * nv_ + k]; });
    }
  }
  /// Calls f with the places of each rate that is in both supports.
  template <class F>
  void each_common(const std::vector<int>& a, const std::vector<int>& b, F&& f) const {
    if (a.empty() || b.empty()) return;
    if (!plan_.forks()) {
      const int count = shared_[static_cast<std::size_t>(a.back()) * nv_ + b.back()];
      for (int k = 0; k < count; ++k) f(k, k);
      return;
    }
    for (std::size_t i = 0, j = 0; i < a.size() && j < b.size();) {
      if (a[i] == b[j]) f(i, j);
      const bool first = a[i] <= b[j], second = b[j] <= a[i];
      i += first, j += second;
    }
  }
  static int rows_of_block(const StepState<T>& s, int row) {
    return row < 3 * s.problem.contacts ? 3 : 1;
  }
  /// Rows [i, i + p) and columns [j, j + q) of Y Y^T and their mirror image, from the rates that
  /// move both: all sums stay in registers.
  template <int p, int q>
  void write_block(StepState<T>& s, int i, int j) const {
    const T *a = s.Y.data() + static_cast<std::size_t>(i) * nv_,
            *b = s.Y.data() + static_cast<std::size_t>(j) * nv_;
    T sum[p][q];
    for (int r = 0; r < p; ++r) std::fill_n(sum[r], q, T(0.0));
    each_common(*s.support[i], *s.support[j], [&](std::size_t k, std::size_t l) {
      T x[p], y[q];
      for (int r = 0; r < p; ++r) x[r] = a[r * nv_ + k];
      for (int c = 0; c < q; ++c) y[c] = b[c * nv_ + l];
      for (int r = 0; r < p; ++r) {
        for (int c = 0; c < q; ++c) sum[r][c] += x[r] * y[c];
      }
    });
    const int m = s.problem.size();
    for (int r = 0; r < p; ++r) {
      for (int c = 0; c < q; ++c) {
        s.problem.G[static_cast<std::size_t>(i + r) * m + j + c] = sum[r][c];
        s.problem.G[static_cast<std::size_t>(j + c) * m + i + r] = sum[r][c];
      }
    }
  }

  const Plan& plan_;
  const TreeFactor<T>& tree_;
  int nv_;
  std::vector<T> change_, sums_;
  std::vector<T> row_;       ///< rows of a block at all rates, where supports fork
  std::vector<int> shared_;  ///< rates that ways have in common, by the last rates of both
};

}  // namespace espalier::contact
