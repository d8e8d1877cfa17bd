#pragma once

#include <algorithm>
#include <array>
#include <span>
#include <type_traits>
#include <vector>

#include "algorithms/derivatives/variation/mass_factor/branch_factor.hpp"

namespace espalier {

/// X = -M^-1 A and Y = -M^-1 B for matrices of which column j is zero but on rows that carry j or
/// that j carries. All columns go side by side, whatever carries them, in panels of a Pack each:
///     inward   A_a += W_s^T A_s          outward   X_s = -D_s A_s + W_s X_a
/// (theory/derivatives 15). Columns that are not related to s have W_s X_a alone; this is known for
/// each half of a panel.
class BranchSolves {
 public:
  /// @param floats_alone  whether solve() may leave columns of the root to write_root_solution()
  explicit BranchSolves(const Model& model, bool floats_alone = false)
      : plan_(model),
        n_(plan_.rates()),
        shift_(floats_alone ? width - root_rates : 0),
        stride_((n_ + shift_ + width - 1) / width * width),
        A_(n_ * stride_ + 2 * width, 0.0),
        B_(A_),
        solution_((2 * (stride_ / width) + 1) * n_ * width, 0.0) {
    for (const Branch& s : plan_.branches()) {
      list_panels(s, false, all_panels_.emplace_back());
      list_panels(s, floats_alone, unknown_panels_.emplace_back());
    }
  }

  // Right-hand sides: rows of `stride` numbers, behind which a Pack may be written. Entries of
  // rates of which none carries the other are zero and stay so, unless the factor is not finite;
  // solve() changes the others.
  double* A() { return A_.data() + shift_; }
  double* B() { return B_.data() + shift_; }
  long stride() const { return stride_; }
  /// Makes all entries zero.
  void clear() { std::fill(A_.begin(), A_.end(), 0.0), std::fill(B_.begin(), B_.end(), 0.0); }

  /// @param M  factored, of the same model
  /// @param root_is_known  whether columns that write_root_solution() writes may be left without
  ///                       meaning
  /// @param[out] X, Y  rows of as many numbers as there are rates
  void solve(const BranchFactor& M, bool root_is_known, double* X, double* Y) {
    if (!plan_.is_one_tree()) {
      for (double* out : {X, Y}) std::fill_n(out, static_cast<long>(n_) * n_, 0.0);
    }
    const auto& panels = root_is_known ? unknown_panels_ : all_panels_;
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
    clear();
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
  static constexpr int width = Pack::size, root_rates = 6;
  /// Which columns of a panel are related to a branch.
  enum class Related { none, first_half, second_half, all };
  /// A Pack of columns of A or B, or a Quad.
  struct Panel {
    long matrix;    ///< 0 of A and X, 1 of B and Y
    long column;    ///< the first
    long solution;  ///< where its rows stand one after the other
    Related related = Related::none;
    bool is_narrow = false;  ///< a Quad
    bool is_given = false;  ///< whether rows may be written to X or Y with what is behind their end
  };

  /// Panels of a branch from the last to the first: what is written behind the end of a row is
  /// written over with the first panel of the next one.
  void list_panels(const Branch& s, bool root_is_known, std::vector<Panel>& panels) const {
    for (int matrix = 0; matrix < 2; ++matrix) {
      const int begin = plan_.branches()[s.tree_begin].begin + (root_is_known ? root_rates : 0);
      const std::size_t first = panels.size();
      if (root_is_known && matrix == 1) panels.push_back(panel(s, matrix, 0, true));
      for (int column = begin; column < plan_.tree_end(s); column += width) {
        panels.push_back(panel(s, matrix, column, false));
      }
      std::reverse(panels.begin() + static_cast<long>(first), panels.end());
    }
  }
  Panel panel(const Branch& s, long matrix, long column, bool is_narrow) const {
    const long last_row = static_cast<long>(s.end - 1) * n_, all = static_cast<long>(n_) * n_;
    const long end = column + (is_narrow ? Quad::size : width);
    Panel p{matrix, column, (matrix * (stride_ / width) + (column + shift_) / width) * n_ * width};
    p.is_narrow = is_narrow;
    // Of few rates, a Pack ends several rows farther: the matrix has to have them.
    p.is_given = end <= n_ || (plan_.is_one_tree() && last_row + end <= all);
    const bool first = is_related(s, column), second = is_related(s, column + Quad::size);
    if (is_narrow) {
      p.related = first ? Related::first_half : Related::none;
    } else if (row_products::halves_pay) {
      p.related = first ? (second ? Related::all : Related::first_half)
                        : (second ? Related::second_half : Related::none);
    } else {
      p.related = first || second ? Related::all : Related::none;
    }
    return p;
  }
  /// Whether some of the four columns from one on are related to a branch.
  bool is_related(const Branch& s, long column) const {
    bool related = s.begin < column + Quad::size && s.carried_end > column;
    for (const BranchPlan::Stretch& a : plan_.stretches(s)) {
      related |= a.begin < column + Quad::size && a.begin + a.size > column;
    }
    return related;
  }
  void take(const double* A, const double* B, long row, long column, long count) {
    const long from = row * n_ + column, to = row * stride_ + column;
    std::copy_n(A + from, count, this->A() + to), std::copy_n(B + from, count, this->B() + to);
  }

  /// A_a += W_s^T A_s.
  template <int size>
  void inward(const Branch& s, std::span<const Panel> panels, const BranchFactor& M) {
    const Out right{A(), B()};
    for (const Panel& p : panels) {
      double* rows = right[p.matrix] + p.column;
      if (p.related == Related::all) hand_to_ancestors<size, Pack>(s, M, rows);
      if (p.related == Related::first_half) hand_to_ancestors<size, Quad>(s, M, rows);
      if (p.related == Related::second_half) hand_to_ancestors<size, Quad>(s, M, rows + Quad::size);
    }
  }
  template <int size, class P>
  void hand_to_ancestors(const Branch& s, const BranchFactor& M, double* rows) const {
    constexpr int step = SmallInverse::width(size);
    const double *w = M.W_columns(s), *own = rows + s.begin * stride_;
    for (const BranchPlan::Stretch& a : plan_.stretches(s)) {
      double* to = rows + a.begin * stride_;
      long t = a.size;
      for (; t >= 6; t -= 6, w += 6 * step, to += 6 * stride_) hand<size, 6, P>(w, own, to);
      for (; t >= 3; t -= 3, w += 3 * step, to += 3 * stride_) hand<size, 3, P>(w, own, to);
      for (; t > 0; --t, w += step, to += stride_) hand<size, 1, P>(w, own, to);
    }
  }
  template <int size, int rows, class P>
  void hand(const double* W_columns, const double* own, double* to) const {
    constexpr int step = SmallInverse::width(size);
    P sum[rows];
    for (int r = 0; r < rows; ++r) sum[r] = P::load(to + r * stride_);
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
    for (const Panel& p : panels) {
      if (p.is_narrow) {
        outward_panel<size, rows, Quad>(s, k, p, M, out);
      } else {
        outward_panel<size, rows, Pack>(s, k, p, M, out);
      }
    }
  }
  template <int size, int rows, class P>
  [[gnu::always_inline]] void outward_panel(const Branch& s, int k, const Panel& p,
                                            const BranchFactor& M, const Out& out) {
    constexpr int step = SmallInverse::width(size);
    const long row = s.begin + k, n = n_;
    P sum[rows];
    start_sums<size>(sum, M.D(s) + k, p.related,
                     (p.matrix == 0 ? A() : B()) + s.begin * stride_ + p.column);
    double* solution = solution_.data() + p.solution;
    const double* w = M.W_columns(s) + k;
    for (const BranchPlan::Stretch& a : plan_.stretches(s)) {
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
      const long count = std::min<long>(n - p.column, P::size);
      for (int r = 0; r < rows; ++r) {
        std::copy_n(solution + (row + r) * width, count, to + r * n);
      }
    }
  }
  /// sum = -D_s A_s, zero in columns that are not related.
  template <int size, int rows, class P>
  [[gnu::always_inline]] void start_sums(P (&sum)[rows], const double* D, Related related,
                                         const double* A) const {
    constexpr int step = SmallInverse::width(size);
    for (int r = 0; r < rows; ++r) sum[r] = P(0.0);
    if (related == Related::none) return;
    if (related == Related::all || std::is_same_v<P, Quad>) {
      row_products::accumulate<false, rows, 1>(sum, D, step, A, stride_, size);
      return;
    }
    if constexpr (std::is_same_v<P, Pack>) {
      const bool first = related == Related::first_half;
      Quad half[rows];
      for (int r = 0; r < rows; ++r) half[r] = Quad(0.0);
      row_products::accumulate<false, rows, 1>(half, D, step, first ? A : A + Quad::size, stride_,
                                               size);
      for (int r = 0; r < rows; ++r) {
        const Quad zero(0.0);
        sum[r] = first ? row_products::halves(half[r], zero) : row_products::halves(zero, half[r]);
      }
    }
  }

  BranchPlan plan_;
  int n_;
  long shift_;  ///< so that panels begin where lines of the cache do
  long stride_;
  // Per branch; the latter without columns that write_root_solution() writes.
  std::vector<std::vector<Panel>> all_panels_, unknown_panels_;
  AlignedNumbers A_, B_;     ///< right-hand sides, `shift_` numbers before the first column
  AlignedNumbers solution_;  ///< panels of X and Y on branches that carry others
};

}  // namespace espalier
