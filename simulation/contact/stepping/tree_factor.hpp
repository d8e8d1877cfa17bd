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
  explicit TreeFactor(const Plan& plan) : plan_(plan), n_(plan.model().nv()) {}

  void factor(T* M) const {
    for (int k = n_ - 1; k >= 0; --k) {
      T* row = M + static_cast<std::size_t>(k) * n_;
      const T inverse = T(1.0) / sqrt(row[k]);
      row[k] = inverse;
      const std::vector<int>& above = plan_.ancestors(k);
      for (const int i : above) row[i] *= inverse;
      for (std::size_t a = 0; a < above.size(); ++a) {
        T* other = M + static_cast<std::size_t>(above[a]) * n_;
        const T x = row[above[a]];
        for (std::size_t b = 0; b <= a; ++b) other[above[b]] -= x * row[above[b]];
      }
    }
  }
  /// y = L^-T y.
  void solve_transposed(const T* L, T* y) const {
    for (int i = n_ - 1; i >= 0; --i) down<1>(L, i, y);
  }
  /// The same for p rows, one after the other, that have entries at a support alone, which is
  /// closed under ancestors.
  template <int p>
  void solve_transposed(const T* L, T* y, const std::vector<int>& support) const {
    for (auto i = support.rbegin(); i != support.rend(); ++i) down<p>(L, *i, y);
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
};

}  // namespace espalier::contact
