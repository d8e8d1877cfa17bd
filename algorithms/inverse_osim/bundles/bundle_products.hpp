#pragma once

#include <type_traits>
#include <vector>

#include "algorithms/inverse_osim/bundles/bundle_state.hpp"

namespace espalier {

/// What a node adds to the w of bundles that cross it: Kq D^-1 Kq^T.
template <class T>
class BundleProducts {
 public:
  using V = typename RowLanes<T>::V;
  using Plan = BundlePlan<T>;
  using Term = typename Plan::Term;
  using RowBundle = typename Plan::RowBundle;
  static constexpr int lanes = Plan::lanes;

  explicit BundleProducts(BundleState<T>& state) : state_(state) {}

  /// Code of its own for joints of one rate and free ones; 0 stands for any number.
  template <class F>
  static void with_rates(int n, F&& f) {
    switch (n) {
      case 1:
        return f(std::integral_constant<int, 1>{});
      case 6:
        return f(std::integral_constant<int, 6>{});
      default:
        return f(std::integral_constant<int, 0>{});
    }
  }
  /// w += x^T y for n rows of x and y, or w = where it is the first of them; lower triangle by
  /// blocks.
  template <bool first, int fixed>
  void add_rows(const RowBundle& p, int n, const V* x, const V* y) {
    const int blocks = p.blocks;
    V* w = state_.w.data() + p.w;
    const bool two = lanes > 1 && blocks == 2;  // six rows: by far the most frequent
    for (const int row : p.rows) {
      V* w_row = w + row * blocks;
      const int last = two ? 1 : row / lanes;
      add_row<fixed>(n, blocks, x, y, row, 0, last,
                     [&](int b, const V& sum) { w_row[b] = first ? sum : w_row[b] + sum; });
    }
  }
  /// Whether a bundle is the six rows of one end-effector, in the lanes of two blocks.
  static bool is_six(const RowBundle& p) {
    return lanes == 4 && p.blocks == 2 && p.rows.size() == 6 && p.rows.back() == 5;
  }
  /// add_rows() of these for one rate: nothing has to be looked up.
  template <bool first>
  void add_six(const RowBundle& p, const V* x, const V* y) {
    V* w = state_.w.data() + p.w;
    const V y_0 = y[0], y_1 = y[1];
    for (int row = 0; row < 6; ++row, w += 2) {
      const V x_row(row_of<T>(x, row));
      w[0] = first ? x_row * y_0 : w[0] + x_row * y_0;
      w[1] = first ? x_row * y_1 : w[1] + x_row * y_1;
    }
  }
  /// The same where bundles have just been stacked: their w stand beside each other.
  template <int fixed>
  void add_stacked(const RowBundle& p, const std::vector<int>& from, int n, const V* x,
                   const V* y) {
    const int blocks = p.blocks;
    V* w = state_.w.data() + p.w;
    int start = 0;
    for (const int f : from) {
      const RowBundle& part = state_.plan.bundles()[f];
      for (const int own : part.rows) {
        const int row = start * lanes + own;
        V* w_row = w + row * blocks;
        const V* w_own = state_.w.data() + part.w + own * part.blocks;
        add_row<fixed>(n, blocks, x, y, row, 0, start - 1,
                       [&](int b, const V& sum) { w_row[b] = sum; });
        add_row<fixed>(n, blocks, x, y, row, start, row / lanes, [&](int b, const V& sum) {
          w_row[b] = part.has_w ? w_own[b - start] + sum : sum;
        });
      }
      start += part.blocks;
    }
  }
  /// Passes to f blocks `begin` to `last` of a row of x^T y.
  template <int fixed, class F>
  static void add_row(int n, int blocks, const V* x, const V* y, int row, int begin, int last,
                      F&& f) {
    if constexpr (fixed > 0) {
      V s[fixed];
      for (int j = 0; j < fixed; ++j) s[j] = V(row_of<T>(x + j * blocks, row));
      for (int b = begin; b <= last; ++b) {
        V sum = s[0] * y[b];
        for (int j = 1; j < fixed; ++j) sum += s[j] * y[j * blocks + b];
        f(b, sum);
      }
    } else {
      for (int b = begin; b <= last; ++b) {
        V sum = V(0.0);
        for (int j = 0; j < n; ++j) sum += row_of<T>(x + j * blocks, row) * y[j * blocks + b];
        f(b, sum);
      }
    }
  }

 private:
  BundleState<T>& state_;
};

}  // namespace espalier
