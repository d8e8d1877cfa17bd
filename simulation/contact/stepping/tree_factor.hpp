#pragma once

#include "espalier/simulation/contact/plan.hpp"

namespace espalier::contact {

/// M = L^T L with the sparsity of the cluster tree: no fill-in where every row has entries at its
/// ancestors alone. The diagonal of L is kept as reciprocals. All matrices nv x nv, row-major; only
/// the lower triangle is read and written.
/// Source: Featherstone (2008), section 6.5.
template <class T>
class TreeFactor {
 public:
  explicit TreeFactor(const Plan& plan)
      : plan_(plan), n_(plan.model().nv()), descendants_(plan.model().nv()) {
    for (int k = n_ - 1; k >= 0; --k) {
      for (const int i : plan.ancestors(k)) descendants_[i].push_back(k);
    }
  }

  /// Row by row from the tips, sums of a few entries at a time in registers.
  void factor(T* M) const {
    for (int k = n_ - 1; k >= 0; --k) {
      T* row = M + static_cast<std::size_t>(k) * n_;
      T pivot = row[k];
      for (const int i : descendants_[k]) {
        const T x = M[static_cast<std::size_t>(i) * n_ + k];
        pivot -= x * x;
      }
      row[k] = T(1.0) / sqrt(pivot);
      const std::vector<int>& above = plan_.ancestors(k);
      std::size_t a = 0;
      for (; a + 4 <= above.size(); a += 4) entries<4>(M, k, above.data() + a);
      for (; a < above.size(); ++a) entries<1>(M, k, above.data() + a);
    }
  }
  /// y = L^-T y.
  void solve_transposed(const T* L, T* y) const {
    for (int i = n_ - 1; i >= 0; --i) {
      T sum = y[i];
      for (const int k : descendants_[i]) sum -= L[static_cast<std::size_t>(k) * n_ + i] * y[k];
      y[i] = sum * L[static_cast<std::size_t>(i) * (n_ + 1)];
    }
  }
  /// The same for p rows, one after the other, that have entries at a support alone, which is
  /// closed under ancestors.
  template <int p>
  void solve_transposed(const T* L, T* y, const std::vector<int>& support) const {
    for (auto i = support.rbegin(); i != support.rend(); ++i) down<p>(L, *i, y);
  }
  /// The same for a support that is one way from the ground, each rate of which carries all later
  /// ones: y = L^-T x with sums in registers.
  template <int p>
  void solve_transposed_on_way(const T* L, const T* x, T* y,
                               const std::vector<int>& support) const {
    const int size = static_cast<int>(support.size());
    for (int a = size - 1; a >= 0; --a) {
      const int i = support[a];
      T sum[p];
      for (int r = 0; r < p; ++r) sum[r] = x[r * n_ + i];
      for (int b = size - 1; b > a; --b) {
        const int k = support[b];
        const T factor = L[static_cast<std::size_t>(k) * n_ + i];
        for (int r = 0; r < p; ++r) sum[r] -= factor * y[r * n_ + k];
      }
      const T inverse = L[static_cast<std::size_t>(i) * (n_ + 1)];
      for (int r = 0; r < p; ++r) y[r * n_ + i] = sum[r] * inverse;
    }
  }
  /// x = L^-1 x.
  void solve(const T* L, T* x) const {
    for (int i = 0; i < n_; ++i) {
      const T* row = L + static_cast<std::size_t>(i) * n_;
      T sum = x[i];
      for (const int j : plan_.ancestors(i)) sum -= row[j] * x[j];
      x[i] = sum * row[i];
    }
  }

 private:
  /// Entries of row k at some of its ancestors.
  template <int p>
  void entries(T* M, int k, const int* at) const {
    T* row = M + static_cast<std::size_t>(k) * n_;
    T sum[p];
    for (int r = 0; r < p; ++r) sum[r] = row[at[r]];
    for (const int i : descendants_[k]) {
      const T* below = M + static_cast<std::size_t>(i) * n_;
      const T x = below[k];
      for (int r = 0; r < p; ++r) sum[r] -= x * below[at[r]];
    }
    for (int r = 0; r < p; ++r) row[at[r]] = sum[r] * row[k];
  }
  template <int p>
  void down(const T* L, int i, T* y) const {
    const T* row = L + static_cast<std::size_t>(i) * n_;
    T x[p];
    for (int r = 0; r < p; ++r) y[r * n_ + i] = x[r] = y[r * n_ + i] * row[i];
    for (const int j : plan_.ancestors(i)) {
      for (int r = 0; r < p; ++r) y[r * n_ + j] -= row[j] * x[r];
    }
  }

  const Plan& plan_;
  int n_;
  std::vector<std::vector<int>> descendants_;  ///< of rates, tips first
};

}  // namespace espalier::contact
