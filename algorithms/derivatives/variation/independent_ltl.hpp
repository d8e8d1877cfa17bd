#pragma once

#include <algorithm>
#include <type_traits>
#include <vector>

#include "algorithms/linear_algebra/sparse_ltl.hpp"
#include "espalier/kernel/model/model.hpp"

/// M = L^T L over the independent rates of a cluster tree, and solves with many columns at once.
/// Rows of a cluster are dense among themselves and with those of the clusters that carry it.
/// Source: Featherstone (2008), section 6.5; theory/derivatives 15.

namespace espalier {

template <class T>
class IndependentLtl {
 public:
  explicit IndependentLtl(const Model& model)
      : parent(model.nv()), root_(model.nv()), end_(model.nv()),
        L(static_cast<std::size_t>(model.nv()) * model.nv()) {
    std::vector<int> last(model.clusters().size());
    for (std::size_t k = 0; k < model.clusters().size(); ++k) {
      const Cluster& c = model.clusters()[k];
      int on = c.parent < 0 ? -1 : last[c.parent];
      for (int i = c.v; i < c.v + c.nv; ++i) parent[i] = on, on = i;
      last[k] = on;
    }
    const int n = model.nv();
    for (int i = 0; i < n; ++i) root_[i] = parent[i] < 0 ? i : root_[parent[i]], end_[i] = i + 1;
    below_.resize(n);
    for (int k = 0; k < n; ++k) {
      for (int i = parent[k]; i >= 0; i = parent[i]) below_[i].push_back({k, at(k, i)});
    }
    lanes_.resize(3UL * n);
    for (int i = n - 1; i >= 0; --i) {
      if (parent[i] >= 0) end_[parent[i]] = std::max(end_[parent[i]], end_[i]);
    }
  }

  /// Factors a copy of M.
  void factor(const T* M) {
    std::copy(M, M + L.size(), L.data());
    ltl(L.data(), parent);
    for (int i = 0; i < size(); ++i) L[at(i, i)] = T(1.0) / L[at(i, i)];  // as multiplier
  }
  /// x = M^-1 x.
  void solve(T* x) const {
    for (int k = size() - 1; k >= 0; --k) {
      x[k] *= L[at(k, k)];
      for (int i = parent[k]; i >= 0; i = parent[i]) x[i] -= L[at(k, i)] * x[k];
    }
    for (int k = 0; k < size(); ++k) {
      for (int i = parent[k]; i >= 0; i = parent[i]) x[k] -= L[at(k, i)] * x[i];
      x[k] *= L[at(k, k)];
    }
  }
  /// X = M^-1 X for a square X whose column j is zero but on rows that carry j or that j carries.
  void solve_matrix(T* X) const {
    const long n = size();
    for (long k = n - 1; k >= 0; --k) {
      // Row k of L^-T X is zero but between its tree's root and the last rate that it carries.
      T* row = X + k * n;
      const long begin = root_[k], end = end_[k];
      scale_row(row, L[at(k, k)], begin, end);
      for (long i = parent[k]; i >= 0; i = parent[i]) {
        subtract(X + i * n, L[at(k, i)], row, begin, end);
      }
    }
    for (long k = 0; k < n; ++k) {
      T* row = X + k * n;
      // All of a row's tree.
      const long begin = root_[k], end = end_[root_[k]];
      for (long i = parent[k]; i >= 0; i = parent[i]) {
        subtract(row, L[at(k, i)], X + i * n, begin, end);
      }
      scale_row(row, L[at(k, k)], begin, end);
    }
  }
  /// Several square matrices of that kind at once: eight columns of each in the lanes of a register,
  /// so that an entry of L is loaded once for all.
  template <int count>
  void solve_matrices(T* const (&X)[count]) {
    if constexpr (!std::is_same_v<T, double>) {
      for (T* x : X) solve_matrix(x);
    } else {
      constexpr int lanes = Pack::size;
      const long n = size();
      lanes_.resize(static_cast<std::size_t>(count) * n);
      for (long first = 0; first < n; first += lanes) {
        const long width = std::min<long>(lanes, n - first);
        // Rows of the trees that the block's columns belong to.
        const long begin = root_[first], end = end_[root_[first + width - 1]];
        for (long k = end - 1; k >= begin; --k) {
          Pack x[count];
          for (int m = 0; m < count; ++m) {
            const double* from = X[m] + k * n + first;
            if (width == lanes) {
              x[m] = Pack::load(from);
            } else {
              x[m] = Pack(0.0);
              for (long l = 0; l < width; ++l) x[m].set(static_cast<int>(l), from[l]);
            }
          }
          for (const Entry& d : below_[k]) {
            const Pack L_dk = Pack(L[d.at]);
            for (int m = 0; m < count; ++m) x[m] -= L_dk * lanes_[count * d.rate + m];
          }
          const Pack inverse = Pack(L[at(k, k)]);
          for (int m = 0; m < count; ++m) lanes_[count * k + m] = x[m] * inverse;
        }
        for (long k = begin; k < end; ++k) {
          Pack x[count];
          for (int m = 0; m < count; ++m) x[m] = lanes_[count * k + m];
          for (long i = parent[k]; i >= 0; i = parent[i]) {
            const Pack L_ki = Pack(L[at(k, i)]);
            for (int m = 0; m < count; ++m) x[m] -= L_ki * lanes_[count * i + m];
          }
          const Pack inverse = Pack(L[at(k, k)]);
          for (int m = 0; m < count; ++m) {
            x[m] *= inverse;
            lanes_[count * k + m] = x[m];
            double* to = X[m] + k * n + first;
            if (width == lanes) {
              x[m].store(to);
            } else {
              for (long l = 0; l < width; ++l) to[l] = x[m][static_cast<int>(l)];
            }
          }
        }
      }
    }
  }
  /// X = M^-1.
  void invert(T* X) const {
    const long n = size();
    std::fill(X, X + n * n, T(0.0));
    for (long k = 0; k < n; ++k) X[k * n + k] = T(1.0);
    for (long k = n - 1; k >= 0; --k) {
      T* row = X + k * n;
      scale_row(row, L[at(k, k)], k, end_[k]);
      for (long i = parent[k]; i >= 0; i = parent[i]) {
        subtract(X + i * n, L[at(k, i)], row, k, end_[k]);
      }
    }
    // The lower triangle follows from symmetry: columns from k on suffice.
    for (long k = 0; k < n; ++k) {
      T* row = X + k * n;
      const long end = end_[root_[k]];
      for (long i = parent[k]; i >= 0; i = parent[i]) {
        subtract(row, L[at(k, i)], X + i * n, k, end);
      }
      scale_row(row, L[at(k, k)], k, end);
      for (long j = k + 1; j < end; ++j) X[j * n + k] = row[j];
    }
  }
  int size() const { return static_cast<int>(parent.size()); }

  std::vector<int> parent;  ///< of each independent rate, -1 for none

 private:
  std::size_t at(long i, long j) const { return static_cast<std::size_t>(i * size() + j); }
  static void scale_row(T* row, const T& factor, long begin, long end) {
    for (long j = begin; j < end; ++j) row[j] *= factor;
  }
  static void subtract(T* __restrict row, const T& factor, const T* __restrict other, long begin,
                       long end) {
    for (long j = begin; j < end; ++j) row[j] -= factor * other[j];
  }

  struct Entry {
    int rate;
    std::size_t at;  ///< in L
  };

  std::vector<int> root_, end_;
  std::vector<std::vector<Entry>> below_;  ///< per rate: those that it carries
  std::vector<Pack> lanes_;                ///< rows of a block of columns
  std::vector<T> L;  ///< row-major; its diagonal inverted
};

}  // namespace espalier
