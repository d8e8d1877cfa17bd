#pragma once

#include <algorithm>
#include <array>
#include <span>
#include <vector>

#include "algorithms/derivatives/variation/mass_factor/branch_factor.hpp"

namespace espalier {

/// X = -M^-1 A and Y = -M^-1 B for matrices of which column j is zero but on rows that carry j or
/// that j carries. All columns go side by side, whatever carries them, in panels of a Pack each:
///     inward   A_a += W_s^T A_s          outward   X_s = -D_s A_s + W_s X_a
/// (theory/derivatives 15), and only panels that hold columns related to s have more than W_s X_a.
class BranchSolves {
 public:
  /// @param known  how many columns of X need not be solved for where the caller knows them
  explicit BranchSolves(const Model& model, int known = 0)
      : plan_(model),
        n_(plan_.rates()),
        stride_((n_ + width - 1) / width * width),
        A_(n_ * stride_ + 2 * width, 0.0),
        B_(A_),
        solution_(2 * (stride_ / width + 1) * n_ * width, 0.0) {
    for (const Branch& s : plan_.branches()) {
      list_panels(s, 0, all_panels_.emplace_back());
      list_panels(s, known, unknown_panels_.emplace_back());
    }
  }

  // Right-hand sides: rows of `stride` numbers, behind which a Pack may be written. Entries of
  // rates of which none carries the other are zero; solve() changes the others.
  double* A() { return A_.data(); }
  double* B() { return B_.data(); }
  long stride() const { return stride_; }

  /// @param M  factored, of the same model
  /// @param some_are_known  whether the first columns of X may be left without meaning
  /// @param[out] X, Y  rows of as many numbers as there are rates
  void solve(const BranchFactor& M, bool some_are_known, double* X, double* Y) {
    if (!plan_.is_one_tree()) {
      for (double* out : {X, Y}) std::fill_n(out, static_cast<long>(n_) * n_, 0.0);
    }
    const auto& panels = some_are_known ? unknown_panels_ : all_panels_;
    for (std::size_t b = plan_.branches().size(); b-- > 0;) {
      const Branch& s = plan_.branches()[b];
      SmallInverse::with_size(s.size(), [&]<int size>() { inward<size>(s, panels[b], M); });
    }
    for (std::size_t b = 0; b < plan_.branches().size(); ++b) {
      const Branch& s = plan_.branches()[b];
      SmallInverse::with_size(s.size(), [&]<int size>() {
        outward<size>(s, panels[b], M, {X, Y});
      });
    }
  }
  /// The same of matrices whose entries of related rates are read.
  void solve(const BranchFactor& M, const double* A, const double* B, double* X, double* Y) {
    std::fill(A_.begin(), A_.end(), 0.0), std::fill(B_.begin(), B_.end(), 0.0);
    for (const Branch& s : plan_.branches()) {
      for (int k = s.begin; k < s.end; ++k) {
        for (const BranchPlan::Stretch& a : plan_.stretches(s)) take(A, B, k, a.begin, a.size);
        take(A, B, k, s.begin, s.carried_end - s.begin);
      }
    }
    solve(M, false, X, Y);
  }

 private:
  using Branch = BranchPlan::Branch;
  using Out = std::array<double*, 2>;
  static constexpr int width = Pack::size;
  /// A Pack of columns of A or B.
  struct Panel {
    long matrix;      ///< 0 of A and X, 1 of B and Y
    long column;      ///< the first
    long solution;    ///< where its rows stand one after the other
    bool is_related;  ///< whether columns of it are related to the branch
    bool is_given;    ///< whether rows may be written to X or Y with what is behind their end
  };

  /// Panels of a branch from the last to the first: what is written behind the end of a row is
  /// written over with the first panel of the next one.
  void list_panels(const Branch& s, int first_of_A, std::vector<Panel>& panels) const {
    const int tree_begin = plan_.branches()[s.tree_begin].begin, tree_end = plan_.tree_end(s);
    const long last_row = static_cast<long>(s.end - 1) * n_, all = static_cast<long>(n_) * n_;
    for (int matrix = 0; matrix < 2; ++matrix) {
      const std::size_t first = panels.size();
      const int begin = matrix == 0 ? std::max(tree_begin, first_of_A) : tree_begin;
      for (int column = begin; column < tree_end; column += width) {
        Panel p{matrix, column, (matrix * (stride_ + width) + column) * n_, false, false};
        // Of few rates, a Pack ends several rows farther: the matrix has to have them.
        p.is_given =
            column + width <= n_ || (plan_.is_one_tree() && last_row + column + width <= all);
        p.is_related = s.begin < column + width && s.carried_end > column;
        for (const BranchPlan::Stretch& a : plan_.stretches(s)) {
          p.is_related |= a.begin < column + width && a.begin + a.size > column;
        }
        panels.push_back(p);
      }
      std::reverse(panels.begin() + static_cast<long>(first), panels.end());
    }
  }
  void take(const double* A, const double* B, long row, long column, long count) {
    const long from = row * n_ + column, to = row * stride_ + column;
    std::copy_n(A + from, count, A_.data() + to), std::copy_n(B + from, count, B_.data() + to);
  }

  /// A_a += W_s^T A_s.
  template <int size>
  void inward(const Branch& s, std::span<const Panel> panels, const BranchFactor& M) {
    constexpr int step = SmallInverse::width(size);
    const Out right{A_.data(), B_.data()};
    const long own = s.begin * stride_;
    for (const Panel& p : panels) {
      if (!p.is_related) continue;
      double* rows = right[p.matrix] + p.column;
      const double* w = M.W_columns(s);
      for (const BranchPlan::Stretch& a : plan_.stretches(s)) {
        double* to = rows + a.begin * stride_;
        long t = a.size;
        for (; t >= 6; t -= 6, w += 6 * step, to += 6 * stride_) hand<size, 6>(w, rows + own, to);
        for (; t >= 3; t -= 3, w += 3 * step, to += 3 * stride_) hand<size, 3>(w, rows + own, to);
        for (; t > 0; --t, w += step, to += stride_) hand<size, 1>(w, rows + own, to);
      }
    }
  }
  template <int size, int rows>
  void hand(const double* W_columns, const double* own, double* to) const {
    constexpr int step = SmallInverse::width(size);
    Pack sum[rows];
    for (int r = 0; r < rows; ++r) sum[r] = Pack::load(to + r * stride_);
    row_products::accumulate<true, rows, step>(sum, W_columns, 1, own, stride_, size);
    for (int r = 0; r < rows; ++r) sum[r].store(to + r * stride_);
  }

  /// X_s = -D_s A_s + W_s X_a.
  template <int size>
  void outward(const Branch& s, std::span<const Panel> panels, const BranchFactor& M,
               const Out& out) {
    constexpr int first = row_products::first_part<size>;
    outward<size, first>(s, 0, panels, M, out);
    if constexpr (first < size) outward<size, size - first>(s, first, panels, M, out);
  }
  template <int size, int rows>
  void outward(const Branch& s, int k, std::span<const Panel> panels, const BranchFactor& M,
               const Out& out) {
    constexpr int step = SmallInverse::width(size);
    const double *D = M.D(s) + k, *W = M.W_columns(s) + k;
    const auto carriers = plan_.stretches(s);
    const std::array<const double*, 2> right{A_.data() + s.begin * stride_,
                                             B_.data() + s.begin * stride_};
    const long row = s.begin + k, n = n_;
    for (const Panel& p : panels) {
      Pack sum[rows];
      for (int r = 0; r < rows; ++r) sum[r] = Pack(0.0);
      if (p.is_related) {
        row_products::accumulate<false, rows, 1>(sum, D, step, right[p.matrix] + p.column, stride_,
                                                 size);
      }
      double* solution = solution_.data() + p.solution;
      const double* w = W;
      for (const BranchPlan::Stretch& a : carriers) {
        row_products::accumulate<true, rows, 1>(sum, w, step, solution + a.begin * width, width,
                                                a.size);
        w += a.size * step;
      }
      if (s.carries || !p.is_given) {
        for (int r = 0; r < rows; ++r) sum[r].store(solution + (row + r) * width);
      }
      double* to = out[p.matrix] + row * n + p.column;
      if (p.is_given) {
        for (int r = 0; r < rows; ++r) sum[r].store(to + r * n);
      } else {
        for (int r = 0; r < rows; ++r) {
          std::copy_n(solution + (row + r) * width, n - p.column, to + r * n);
        }
      }
    }
  }

  BranchPlan plan_;
  int n_;
  long stride_;
  // Per branch; of the latter, panels of A begin behind known columns.
  std::vector<std::vector<Panel>> all_panels_, unknown_panels_;
  std::vector<double> A_, B_;     ///< right-hand sides
  std::vector<double> solution_;  ///< panels of X and Y on branches that carry others
};

}  // namespace espalier
