#pragma once

#include <algorithm>
#include <numeric>
#include <type_traits>
#include <vector>

#include "espalier/kernel/model/layout.hpp"
#include "espalier/kernel/scalar/pack.hpp"

/// M = L^T D L over the independent rates of a cluster tree. Rows of a cluster are dense among
/// themselves and with those of the clusters that carry it.
/// Source: Featherstone (2008), section 6.5; theory/derivatives 15.

namespace espalier {

/// A row of L holds the entries of the rates that carry it, from the root on, without gaps. So the
/// row of a rate that carries another has the places of the beginning of the other's row, and
/// elimination is a sum of pieces of rows. BranchFactor is for many columns.
template <class T>
class IndependentLtl {
 public:
  explicit IndependentLtl(const Model& model) : n_(model.nv()), rows_(n_), inverse_(n_) {
    list_rows(model);
  }

  /// Factors M, of which it reads the rows' entries alone.
  void factor(const T* M) {
    for (int k = 0; k < n_; ++k) {
      const int* path = path_.data() + rows_[k].start;
      for (int s = 0; s <= rows_[k].depth; ++s) at(k)[s] = M[static_cast<long>(k) * n_ + path[s]];
    }
    for (const int k : inward_) {
      T* L = at(k);
      const int depth = rows_[k].depth;
      const int* path = path_.data() + rows_[k].start;
      const T inverse = inverse_[k] = T(1.0) / L[depth];
      for (int s = 0; s < depth; ++s) subtract(inverse * L[s], L, s + 1, at(path[s]));
      for (int s = 0; s < depth; ++s) L[s] *= inverse;
    }
  }
  /// x = M^-1 x.
  void solve(T* x) const {
    for (const int k : inward_) {
      const T* L = at(k);
      const int* path = path_.data() + rows_[k].start;
      const T x_k = x[k];
      for (int s = 0; s < rows_[k].depth; ++s) x[path[s]] -= L[s] * x_k;
    }
    for (int k = 0; k < n_; ++k) {
      const T* L = at(k);
      const int* path = path_.data() + rows_[k].start;
      T sum = inverse_[k] * x[k];
      for (int s = 0; s < rows_[k].depth; ++s) sum -= L[s] * x[path[s]];
      x[k] = sum;
    }
  }

 private:
  struct Row {
    int start = 0;  ///< of its entries in L_ and path_
    int depth = 0;  ///< rates that carry it; its own entry comes behind theirs
  };

  T* at(int k) { return L_.data() + rows_[k].start; }
  const T* at(int k) const { return L_.data() + rows_[k].start; }
  /// row -= x L, of count entries.
  static void subtract(const T& x, const T* L, int count, T* row) {
    if constexpr (std::is_same_v<T, double>) {
      // Places behind a row's end take what nobody reads.
      const Quad all = Quad(x);
      for (int j = 0; j < count; j += Quad::size) {
        (Quad::load(row + j) - all * Quad::load(L + j)).store(row + j);
      }
    } else {
      for (int j = 0; j < count; ++j) row[j] -= x * L[j];
    }
  }
  void list_rows(const Model& model) {
    std::vector<int> last(model.clusters().size());
    std::vector<int> parent(n_);
    for (std::size_t k = 0; k < model.clusters().size(); ++k) {
      const Cluster& c = model.clusters()[k];
      int on = c.parent < 0 ? -1 : last[c.parent];
      for (int i = c.v; i < c.v + c.nv; ++i) parent[i] = on, on = i;
      last[k] = on;
    }
    std::size_t size = 0;
    for (int k = 0; k < n_; ++k) {
      Row& row = rows_[k];
      row.depth = parent[k] < 0 ? 0 : rows_[parent[k]].depth + 1;
      row.start = static_cast<int>(size);
      size += (row.depth + Quad::size) / Quad::size * Quad::size;
      path_.resize(size, -1);
      if (parent[k] >= 0) {
        const int on = rows_[parent[k]].start;
        std::copy_n(path_.begin() + on, row.depth, path_.begin() + row.start);
      }
      path_[row.start + row.depth] = k;
    }
    L_.assign(size, T(0.0));
    inward_.resize(n_);
    std::iota(inward_.rbegin(), inward_.rend(), 0);
    std::stable_sort(inward_.begin(), inward_.end(),
                     [&](int a, int b) { return rows_[a].depth > rows_[b].depth; });
  }

  int n_;
  std::vector<Row> rows_;
  std::vector<T> inverse_;  ///< of D
  std::vector<T> L_;        ///< its rows, each filled up to whole Quads
  std::vector<int> path_;   ///< the rate of every entry of L_
  /// All rates, deepest first: branches alternate, and what one waits for another computes.
  std::vector<int> inward_;
};

}  // namespace espalier
