#pragma once

#include <utility>
#include <vector>

#include "espalier/kernel/scalar/reciprocal.hpp"
#include "espalier/simulation/contact/plan.hpp"

namespace espalier::contact {

/// n numbers side by side, written out: a loop becomes a copy of bytes, which keeps what it fills
/// in memory instead of registers.
template <int n, class T>
inline void copy_to_registers(const T* from, T* to) {
  [&]<int... k>(std::integer_sequence<int, k...>) { ((to[k] = from[k]), ...); }
  (std::make_integer_sequence<int, n>());
}

/// M = L^T L with the sparsity of the cluster tree: no fill-in where every row has entries at its
/// ancestors alone. Rows of L stand one after the other, each with its entries at the ancestors by
/// growing rates, of which those of an ancestor are the first ones, and the reciprocal of its
/// diagonal.
///
/// Up to three rates of which each carries the next alone are a block: its sums over what it
/// carries are in registers, which takes loops of a known count.
/// Source: Featherstone (2008), section 6.5.
template <class T>
class TreeFactor {
 public:
  explicit TreeFactor(const Plan& plan) : plan_(plan), n_(plan.model().nv()), ways_(n_) {
    std::vector<int> start;
    std::vector<std::vector<Row>> carried(n_);  // tips first
    for (int k = 0; k < n_; ++k) {
      start.push_back(static_cast<int>(size_));
      size_ += plan.ancestors(k).size() + 1;
    }
    for (int k = n_ - 1; k >= 0; --k) {
      for (const int i : plan.ancestors(k)) {
        carried[i].push_back({k, start[k]});
        ways_[k].push_back(start[i]);
      }
      ways_[k].push_back(start[k]);
    }
    for (int k = 0; k < n_; ++k) {
      const std::vector<int>& above = plan.ancestors(k);
      const bool goes_on = k > 0 && blocks_.back().count < 3 && !above.empty() &&
                           above.back() == k - 1 && carried[k - 1].size() == carried[k].size() + 1;
      if (!goes_on) {
        blocks_.push_back({k, 0, static_cast<int>(above.size()), {}, {}});
      }
      Block& b = blocks_.back();
      b.start[b.count++] = start[k];
      b.carried = carried[k];
    }
  }

  /// Numbers of L.
  std::size_t size() const { return size_; }

  /// L from the tips, and y = L^-T y.
  /// @param M  nv x nv, row-major; the lower triangle is read
  void factor(const T* M, T* L, T* y) const {
    for (auto b = blocks_.rbegin(); b != blocks_.rend(); ++b) {
      with_count(*b, [&]<int t>() { factor<t>(*b, M, L, y); });
    }
  }
  /// y = L^-T y.
  void solve_transposed(const T* L, T* y) const {
    for (int k = n_ - 1; k >= 0; --k) down<1>(L, k, y);
  }
  /// The same for p rows of nv numbers, one after the other, that have entries at a support alone,
  /// which is closed under ancestors.
  template <int p>
  void solve_transposed(const T* L, T* y, const std::vector<int>& support) const {
    for (auto i = support.rbegin(); i != support.rend(); ++i) down<p>(L, *i, y);
  }
  /// The same for p rows that have entries at the ancestors of a rate and at itself alone, by
  /// growing rates: y = L^-T x.
  /// @param stride  from row to row
  template <int p>
  void solve_transposed_on_way(const T* L, int rate, int stride, const T* x, T* y) const {
    const std::vector<int>& way = ways_[rate];
    int first = static_cast<int>(way.size());
    for (; first >= 3; first -= 3) solve_columns<p, 3>(L, way, first - 3, stride, x, y);
    if (first == 2) solve_columns<p, 2>(L, way, 0, stride, x, y);
    if (first == 1) solve_columns<p, 1>(L, way, 0, stride, x, y);
  }
  /// x = L^-1 x.
  void solve(const T* L, T* x) const {
    for (const Block& b : blocks_) {
      with_count(b, [&]<int t>() { solve<t>(b, L, x); });
    }
  }

 private:
  /// A rate and where its row of L starts.
  struct Row {
    int rate, start;
  };
  struct Block {
    int first, count, depth;   ///< its rates, and the ancestors of the first one
    int start[3];              ///< of its rows
    std::vector<Row> carried;  ///< by its last rate
  };

  template <class F>
  static void with_count(const Block& b, F&& f) {
    if (b.count == 3) return f.template operator()<3>();
    if (b.count == 2) return f.template operator()<2>();
    f.template operator()<1>();
  }

  template <int t>
  void factor(const Block& b, const T* M, T* L, T* y) const {
    T B[t][t], v[t];
    for (int r = 0; r < t; ++r) {
      copy_to_registers<t>(M + static_cast<std::size_t>(b.first + r) * n_ + b.first, B[r]);
    }
    copy_to_registers<t>(y + b.first, v);
    for (const Row& below : b.carried) {
      const T* x = L + below.start + b.depth;
      for (int r = 0; r < t; ++r) {
        v[r] -= x[r] * y[below.rate];
        for (int c = 0; c < t; ++c) {
          if (c <= r) B[r][c] -= x[r] * x[c];
        }
      }
    }
#pragma GCC unroll 3
    for (int k = 1; k <= t; ++k) {
      const int r = t - k;
      T* row = L + b.start[r] + b.depth;
      const T inverse = reciprocal_root(B[r][r]);
      row[r] = inverse;
      y[b.first + r] = v[r] = v[r] * inverse;
      for (int c = 0; c < t; ++c) {
        if (c < r) row[c] = B[r][c] = B[r][c] * inverse;
      }
      for (int c = 0; c < t; ++c) {
        if (c < r) v[c] -= B[r][c] * v[r];
        for (int e = 0; e < t; ++e) {
          if (c < r && e <= c) B[c][e] -= B[r][c] * B[r][e];
        }
      }
    }
    int a = 0;
    for (; a + 4 <= b.depth; a += 4) factor_columns<t, 4>(b, M, L, a);
    if (b.depth - a == 3) factor_columns<t, 3>(b, M, L, a);
    if (b.depth - a == 2) factor_columns<t, 2>(b, M, L, a);
    if (b.depth - a == 1) factor_columns<t, 1>(b, M, L, a);
  }
  /// Entries of a block's rows at some of its ancestors.
  template <int t, int w>
  void factor_columns(const Block& b, const T* M, T* L, int first) const {
    const int* above = plan_.ancestors(b.first).data() + first;
    T sum[t][w];
    for (int r = 0; r < t; ++r) {
      const T* from = M + static_cast<std::size_t>(b.first + r) * n_;
      for (int c = 0; c < w; ++c) sum[r][c] = from[above[c]];
    }
    for (const Row& below : b.carried) {
      const T* row = L + below.start;
      for (int r = 0; r < t; ++r) {
        for (int c = 0; c < w; ++c) sum[r][c] -= row[b.depth + r] * row[first + c];
      }
    }
#pragma GCC unroll 3
    for (int k = 1; k <= t; ++k) {
      const int r = t - k;
      T* row = L + b.start[r];
      for (int c = 0; c < w; ++c) row[first + c] = sum[r][c] = sum[r][c] * row[b.depth + r];
      for (int q = 0; q < t; ++q) {
        for (int c = 0; c < w; ++c) {
          if (q < r) sum[q][c] -= row[b.depth + q] * sum[r][c];
        }
      }
    }
  }
  /// Entries [first, first + w) of y, with those beyond there.
  template <int p, int w>
  void solve_columns(const T* L, const std::vector<int>& way, int first, int stride, const T* x,
                     T* y) const {
    T sum[p][w];
    for (int r = 0; r < p; ++r) copy_to_registers<w>(x + r * stride + first, sum[r]);
    for (int b = static_cast<int>(way.size()) - 1; b >= first + w; --b) {
      const T* row = L + way[b] + first;
      for (int r = 0; r < p; ++r) {
        for (int c = 0; c < w; ++c) sum[r][c] -= row[c] * y[r * stride + b];
      }
    }
    for (int k = 1; k <= w; ++k) {
      const int c = w - k;
      const T* row = L + way[first + c] + first;
      for (int r = 0; r < p; ++r) {
        y[r * stride + first + c] = sum[r][c] = sum[r][c] * row[c];
        for (int d = 0; d < w; ++d) {
          if (d < c) sum[r][d] -= row[d] * sum[r][c];
        }
      }
    }
  }
  template <int t>
  void solve(const Block& b, const T* L, T* x) const {
    const std::vector<int>& above = plan_.ancestors(b.first);
    T sum[t];
    copy_to_registers<t>(x + b.first, sum);
    for (int a = 0; a < b.depth; ++a) {
      const T by = x[above[a]];
      for (int r = 0; r < t; ++r) sum[r] -= L[b.start[r] + a] * by;
    }
    for (int r = 0; r < t; ++r) {
      x[b.first + r] = sum[r] = sum[r] * L[b.start[r] + b.depth + r];
      for (int q = 0; q < t; ++q) {
        if (q > r) sum[q] -= L[b.start[q] + b.depth + r] * sum[r];
      }
    }
  }
  template <int p>
  void down(const T* L, int i, T* y) const {
    const std::vector<int>& above = plan_.ancestors(i);
    const T* row = L + ways_[i].back();
    T x[p];
    for (int r = 0; r < p; ++r) y[r * n_ + i] = x[r] = y[r * n_ + i] * row[above.size()];
    for (std::size_t a = 0; a < above.size(); ++a) {
      for (int r = 0; r < p; ++r) y[r * n_ + above[a]] -= row[a] * x[r];
    }
  }

  const Plan& plan_;
  int n_;
  std::size_t size_ = 0;
  std::vector<Block> blocks_;
  std::vector<std::vector<int>> ways_;  ///< where the rows of a rate's ancestors start, and its own
};

}  // namespace espalier::contact
