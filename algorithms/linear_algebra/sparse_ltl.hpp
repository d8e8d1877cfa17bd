#pragma once

#include <span>
#include <type_traits>
#include <vector>

#include "espalier/kernel/scalar/pack.hpp"
#include "espalier/kernel/scalar/scalar.hpp"

// Loops of few rounds, for which code for many rounds at a time is more work than the loop itself.
#ifdef __clang__
#define ESPALIER_ROUND_BY_ROUND \
  _Pragma("clang loop unroll(disable) vectorize_width(1) interleave_count(1)")
#else
#define ESPALIER_ROUND_BY_ROUND _Pragma("GCC unroll 1")
#endif

namespace espalier {

/// The way from the ground to each rate of a tree, in lists that fill whole registers.
class RatePaths {
 public:
  static constexpr int width = Quad::size;

  /// @param parent  of each rate, smaller than the rate, -1 for none (Model::rate_parents())
  explicit RatePaths(std::span<const int> parent) {
    for (int k = 0; k < static_cast<int>(parent.size()); ++k) {
      const int above = parent[k] < 0 ? 0 : depth_[parent[k]] + 1;
      first_.push_back(static_cast<int>(rates_.size()));
      depth_.push_back(above);
      for (int p = 0; p < above; ++p) rates_.push_back(rates_[first_[parent[k]] + p]);
      do {
        rates_.push_back(k);
      } while (rates_.size() % width != 0);
    }
  }

  int rates() const { return static_cast<int>(depth_.size()); }

  /// Number of rates that support rate k, without itself.
  int depth(int k) const { return depth_[k]; }

  /// These rates, depth(k) of them from the ground on, then k until a register is full.
  const int* to(int k) const { return rates_.data() + first_[k]; }

  /// The last of the rates that support rate k, -1 for none.
  int parent(int k) const { return depth_[k] == 0 ? -1 : to(k)[depth_[k] - 1]; }

  /// Of to(k) in all lists.
  int first(int k) const { return first_[k]; }

  /// Length of all lists.
  int size() const { return static_cast<int>(rates_.size()); }

 private:
  std::vector<int> rates_;  ///< the lists one after the other
  std::vector<int> first_, depth_;
};

/// The factor H = L^T L of an inertia matrix over the rates of a tree, which fills in nothing where
/// branches leave H zero. Row k of L has an entry for each rate that supports rate k. These stand
/// side by side from the ground on, so that the row of each of these rates is a beginning of row k
/// and takes its multiple of it without looking up columns.
/// Source: Featherstone (2008), Tables 6.3 to 6.5.
template <class T>
class SparseLtl {
 public:
  explicit SparseLtl(std::span<const int> parent)
      : paths_(parent), L_(paths_.size() / width, Piece(0.0)) {
    row_.reserve(paths_.size());
    for (int i = 0; i < paths_.size(); ++i) row_.push_back(paths_.first(paths_.to(0)[i]) / width);
  }

  const RatePaths& paths() const { return paths_; }

  /// @param H  n x n, row-major; entries of the lower triangle that can be other than zero are read
  void factor(const T* H) {
    const int n = paths_.rates();
    for (int k = 0; k < n; ++k) gather(H + static_cast<long>(k) * n, k);
    Piece* const all = L_.data();
    for (int k = n - 1; k >= 0; --k) {
      const int* const rows = row_.data() + paths_.first(k);
      const int d = paths_.depth(k);
      Piece* const L_k = pieces(k);
      T* const L = row(k);
      const T pivot = sqrt(L[d]);
      const Piece inverse(inverse_of(pivot, L[d]));
      ESPALIER_ROUND_BY_ROUND
      for (int p = 0; p < d; p += width) L_k[p / width] *= inverse;
      for (int i = 0; i * width < d; ++i) {
        const Piece l = L_k[i];
        ESPALIER_ROUND_BY_ROUND
        for (int p = i * width; p < d; ++p) all[rows[p] + i] -= Piece(L[p]) * l;
      }
      L[d] = pivot;  // not before: whole registers are not loaded past a store of a part of them
    }
  }

  /// x = L^-T x.
  void solve_transposed(T* x) const {
    for (int k = paths_.rates() - 1; k >= 0; --k) solve_transposed_step(k, x);
  }

  /// One step of that: x of rate k, and what it takes off the rates that support k. Steps go from
  /// the last rate to the first; a rate whose x is zero by then needs none.
  void solve_transposed_step(int k, T* x) const {
    const int* const path = paths_.to(k);
    const int d = paths_.depth(k);
    const T* const L = row(k);
    const T x_k = x[k] / L[d];
    x[k] = x_k;
    ESPALIER_ROUND_BY_ROUND
    for (int p = 0; p < d; ++p) x[path[p]] -= L[p] * x_k;
  }

  /// y = L^-T x, for an x of the way to rate k alone.
  /// @param x       of all rates
  /// @param[out] y  of those on the way, side by side
  void solve_transposed_along(int k, const T* x, T* y) const {
    const int* const path = paths_.to(k);
    const int d = paths_.depth(k);
    ESPALIER_ROUND_BY_ROUND
    for (int p = 0; p <= d; ++p) y[p] = x[path[p]];
    for (int i = d; i >= 0; --i) {
      const T* const L = row(path[i]);
      const T y_i = y[i] / L[i];
      y[i] = y_i;
      ESPALIER_ROUND_BY_ROUND
      for (int p = 0; p < i; ++p) y[p] -= L[p] * y_i;
    }
  }

  /// x = L^-1 x.
  void solve(T* x) const {
    for (int k = 0; k < paths_.rates(); ++k) {
      const int* const path = paths_.to(k);
      const int d = paths_.depth(k);
      const T* const L = row(k);
      T x_k = x[k];
      ESPALIER_ROUND_BY_ROUND
      for (int p = 0; p < d; ++p) x_k -= L[p] * x[path[p]];
      x[k] = x_k / L[d];
    }
  }

 private:
  /// What rows are computed by. Those of doubles are filled up to whole registers, with numbers
  /// that nobody reads.
  using Piece = std::conditional_t<std::is_same_v<T, double>, Quad, T>;
  static constexpr int width = sizeof(Piece) / sizeof(T);

  /// 1 / root for root = sqrt(square). On a chain each pivot waits for the one before, so that
  /// doubles divide while the root is taken; other scalars have the fewest operations.
  static T inverse_of(const T& root, const T& square) {
    if constexpr (std::is_same_v<T, double>) return root * (1.0 / square);
    return T(1.0) / root;
  }

  Piece* pieces(int k) { return L_.data() + paths_.first(k) / width; }
  T* row(int k) { return reinterpret_cast<T*>(pieces(k)); }
  const T* row(int k) const {
    return reinterpret_cast<const T*>(L_.data() + paths_.first(k) / width);
  }

  /// Row k by whole registers, since these are read soon.
  void gather(const T* H_k, int k) {
    const int* const path = paths_.to(k);
    for (int p = 0; p <= paths_.depth(k); p += width) {
      if constexpr (width == 1) {
        pieces(k)[p] = H_k[path[p]];
      } else {
        pieces(k)[p / width] =
            Quad(H_k[path[p]], H_k[path[p + 1]], H_k[path[p + 2]], H_k[path[p + 3]]);
      }
    }
  }

  RatePaths paths_;
  std::vector<int> row_;  ///< of each rate of the paths' lists, where its row begins in L_
  std::vector<Piece> L_;
};

/// x . y of their first n numbers.
template <class T>
inline T beginnings_product(int n, const T* x, const T* y) {
  T sum = T(0.0);
  ESPALIER_ROUND_BY_ROUND
  for (int p = 0; p < n; ++p) sum += x[p] * y[p];
  return sum;
}

}  // namespace espalier

#undef ESPALIER_ROUND_BY_ROUND
