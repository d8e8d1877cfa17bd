#pragma once

#include <algorithm>
#include <array>
#include <vector>

#include "algorithms/derivatives/variation/branch_plan.hpp"
#include "algorithms/derivatives/variation/slot_moves.hpp"

namespace espalier {

/// M^-1 and products with it. Eliminating branch s from the tips on leaves D_s, the inverse of its
/// own block, and W_s = -D_s M_sa to the rates a that carry it, with which M_aa += M_as W_s. Then
/// M x = r is
///     inward   r_a += W_s^T r_s          outward   x_s = D_s r_s + W_s x_a,
/// which is L^T D L with dense blocks (theory/derivatives 15): branches of which a column says
/// nothing need W alone, blocks of M^-1 are computed once and not twice, and no rate waits for the
/// one before it.
class BranchFactor {
 public:
  explicit BranchFactor(const Model& model)
      : plan_(model),
        n_(plan_.rates()),
        rows_(plan_.row_numbers() + Quad::size, 0.0),
        factors_(plan_.factor_numbers() + Pack::size, 0.0),
        inverse_stride_((n_ + 2 * Pack::size - 1) / Pack::size * Pack::size),
        inverse_((n_ + Quad::size) * static_cast<std::size_t>(inverse_stride_) + Pack::size, 0.0),
        right_(2 * n_, Pack(0.0)),
        solution_(2 * n_, Pack(0.0)),
        carriers_(n_ + Quad::size, 0.0),
        sums_(n_ + 2 * Pack::size, 0.0) {}

  /// Room for the row of M of a rate: entries of the rates that carry it, from the root on, and its
  /// own. Three numbers behind it may be written, too, where rows are written in the order of
  /// rates.
  double* row(int k) { return rows_.data() + plan_.row(k); }
  /// Takes M, of which it reads the rows' entries alone, and factors it.
  void factor(const double* M) {
    for (const Branch& s : plan_.branches()) {
      for (int k = s.begin; k < s.end; ++k) {
        const double* from = M + static_cast<long>(k) * n_;
        double* to = row(k);
        for (const int j : plan_.carriers(s)) *to++ = from[j];
        for (int j = s.begin; j <= k; ++j) *to++ = from[j];
      }
    }
    factor_rows();
  }
  /// Factors what was written to the rows, which do not survive it.
  void factor_rows() {
    for (std::size_t b = plan_.branches().size(); b-- > 0;) {
      const Branch& s = plan_.branches()[b];
      SmallInverse::with_size(s.size(), [&]<int size>() {
        invert_own<size>(s);
        multiply_carriers<size>(s);
        update_carriers<size>(s);
      });
    }
  }

  /// x = M^-1 x.
  void solve(double* x) {
    for (std::size_t b = plan_.branches().size(); b-- > 0;) {
      const Branch& s = plan_.branches()[b];
      const double* w = W(s);
      for (int t = 0; t < s.depth; t += Quad::size) {
        Quad sum(0.0);
        for (int k = 0; k < s.size(); ++k) {
          sum += Quad(x[s.begin + k]) * Quad::load(w + k * s.W_width + t);
        }
        sum.store(sums_.data() + t);
      }
      const auto path = plan_.carriers(s);
      for (int t = 0; t < s.depth; ++t) x[path[t]] += sums_[t];
    }
    for (const Branch& s : plan_.branches()) {
      const auto path = plan_.carriers(s);
      const double *d = D(s), *w = W(s);
      for (int t = 0; t < s.depth; ++t) carriers_[t] = x[path[t]];
      for (int i = 0; i < s.size(); i += Quad::size) {
        Quad sum(0.0);  // D is symmetric
        for (int k = 0; k < s.size(); ++k) {
          sum += Quad(x[s.begin + k]) * Quad::load(d + k * s.D_width + i);
        }
        sum.store(sums_.data() + i);
      }
      for (int k = 0; k < s.size(); ++k) {
        double sum = sums_[k];
        for (int t = 0; t < s.depth; ++t) sum += w[k * s.W_width + t] * carriers_[t];
        x[s.begin + k] = sum;
      }
    }
  }

  /// Writes Z = M^-1, row-major. Registers that are longer than they write what is set later.
  void invert(double* Z) {
    for (const Branch& s : plan_.branches()) {
      for (int j = 0; j < s.begin; j += Pack::size) inverse_rows(s, j, false);
      mirror(s);
      inverse_rows(s, s.begin, true);
    }
    for (int k = 0; k < n_; ++k) {
      const double* from = inverse_.data() + k * inverse_stride_;
      double* to = Z + static_cast<long>(k) * n_;
      if (k + 1 < n_ && n_ >= Pack::size) {
        for (int j = 0; j < n_; j += Pack::size) Pack::load(from + j).store(to + j);
      } else {
        for (int j = 0; j < n_; ++j) to[j] = from[j];
      }
    }
  }
  /// x = M^-1 x with what invert() found.
  void times_inverse(double* x) {
    for (int j = 0; j < n_; j += 2 * Pack::size) {
      const double* columns = inverse_.data() + j;
      Pack first(0.0), second(0.0);
      for (int k = 0; k < n_; ++k, columns += inverse_stride_) {
        const Pack x_k(x[k]);
        first += x_k * Pack::load(columns), second += x_k * Pack::load(columns + Pack::size);
      }
      first.store(sums_.data() + j), second.store(sums_.data() + j + Pack::size);
    }
    std::copy_n(sums_.data(), n_, x);
  }

  /// invert(Z), then the next.
  void solve(const double* A, const double* B, double* X, double* Y, double* Z) {
    invert(Z);
    solve(A, B, X, Y);
  }
  /// Writes X = -M^-1 A and Y = -M^-1 B, row-major. Column j of A and B is zero but on rows that
  /// carry j or that j carries; the others are not read. A branch's columns are lanes.
  /// @param A, B  with readable numbers behind their ends for a Pack
  void solve(const double* A, const double* B, double* X, double* Y) {
    if (!plan_.is_one_tree()) {
      for (double* out : {X, Y}) std::fill_n(out, static_cast<long>(n_) * n_, 0.0);
    }
    for (std::size_t b = 0; b < plan_.branches().size(); ++b) {
      if (plan_.branches()[b].size() > Quad::size) {
        solve_branch<Pack>(static_cast<int>(b), A, B, X, Y);
      } else {
        solve_branch<Quad>(static_cast<int>(b), A, B, X, Y);
      }
    }
  }

 private:
  using Branch = BranchPlan::Branch;

  double* D(const Branch& s) { return factors_.data() + s.D; }
  double* W(const Branch& s) { return factors_.data() + s.W; }

  /// D_s = M_ss^-1.
  template <int size>
  void invert_own(const Branch& s) {
    constexpr int width = SmallInverse::width(size);
    double* d = D(s);
    for (int k = 0; k < size; ++k) {
      const double* from = row(s.begin + k) + s.depth;
      for (int j = 0; j <= k; ++j) d[k * width + j] = d[j * width + k] = from[j];
    }
    SmallInverse::invert<size>(d);
  }
  /// W_s = -D_s M_sa.
  template <int size>
  void multiply_carriers(const Branch& s) {
    constexpr int width = SmallInverse::width(size);
    const double* d = D(s);
    double* w = W(s);
    const double* rows[size];
    for (int j = 0; j < size; ++j) rows[j] = row(s.begin + j);
    for (int t = 0; t < s.depth; t += Quad::size) {
      Quad from[size];
      for (int j = 0; j < size; ++j) from[j] = -Quad::load(rows[j] + t);
      for (int k = 0; k < size; ++k) {
        Quad sum(0.0);
        for (int j = 0; j < size; ++j) sum += Quad(d[k * width + j]) * from[j];
        sum.store(w + k * s.W_width + t);
      }
    }
  }
  /// M_aa += M_as W_s, lower triangle.
  template <int size>
  void update_carriers(const Branch& s) {
    const auto path = plan_.carriers(s);
    const double *rows[size], *w[size];
    for (int k = 0; k < size; ++k) rows[k] = row(s.begin + k), w[k] = W(s) + k * s.W_width;
    for (int t = 0; t < s.depth; ++t) {
      double* to = row(path[t]);
      for (int j = 0; j <= t; j += Quad::size) {
        Quad sum = Quad::load(to + j);
        for (int k = 0; k < size; ++k) sum += Quad(rows[k][t]) * Quad::load(w[k] + j);
        sum.store(to + j);
      }
    }
  }

  /// Z_sj = W_s Z_aj of a Pack of columns, and D_s where they are the branch's own.
  void inverse_rows(const Branch& s, int column, bool own) {
    int k = 0;
    for (; k + 4 <= s.size(); k += 4) inverse_rows<4>(s, k, column, own);
    if (k + 2 <= s.size()) inverse_rows<2>(s, k, column, own), k += 2;
    if (k < s.size()) inverse_rows<1>(s, k, column, own);
  }
  template <int count>
  void inverse_rows(const Branch& s, int k, int column, bool own) {
    const int* path = plan_.carriers(s).data();
    const double *d = D(s) + k * s.D_width, *w = W(s) + k * s.W_width;
    double* columns = inverse_.data() + column;
    Pack sum[count];
    for (int c = 0; c < count; ++c) sum[c] = own ? Pack::load(d + c * s.D_width) : Pack(0.0);
    for (int t = 0; t < s.depth; ++t) {
      const Pack z = Pack::load(columns + path[t] * inverse_stride_);
      for (int c = 0; c < count; ++c) sum[c] += Pack(w[c * s.W_width + t]) * z;
    }
    for (int c = 0; c < count; ++c) sum[c].store(columns + (s.begin + k + c) * inverse_stride_);
  }
  /// Z_js = Z_sj^T for the rates j before the branch.
  void mirror(const Branch& s) {
    for (int k = s.begin; k < s.end; k += Quad::size) {
      const double* from = inverse_.data() + k * inverse_stride_;
      double* to = inverse_.data() + k;
      for (int j = 0; j < s.begin; j += Quad::size) {
        slot_moves::transpose(from + j, to + j * inverse_stride_, inverse_stride_);
      }
    }
  }

  // As many rows at once as registers hold sums of, which hide the time that a product takes.
#ifdef __AVX512F__
  static constexpr int rows_at_once = 4;
#else
  static constexpr int rows_at_once = 2;
#endif
  // Rows of right-hand sides and solutions: lanes of A's columns, then of B's.
  template <class P>
  static constexpr int both = 2 * P::size;
  template <class P>
  struct Lanes {
    P a, b;

    static Lanes load(const double* from) { return {P::load(from), P::load(from + P::size)}; }
    void store(double* to) const { a.store(to), b.store(to + P::size); }
    void add(const P& factor, const Lanes& x) { a += factor * x.a, b += factor * x.b; }
  };

  template <class P>
  void solve_branch(int branch, const double* A, const double* B, double* X, double* Y) {
    const Branch& s = plan_.branches()[branch];
    double* right = reinterpret_cast<double*>(right_.data());
    const long n = n_;
    const auto take = [&, A_s = A + s.begin, B_s = B + s.begin](int k) {
      Lanes<P>{-P::load(A_s + k * n), -P::load(B_s + k * n)}.store(right + both<P> * k);
    };
    for (const int k : plan_.carriers(s)) take(k);
    for (int k = s.begin; k < s.carried_end; ++k) take(k);
    for (int t = s.last; t-- > branch;) inward<P>(plan_.branches()[t]);
    for (int t = s.parent; t >= 0; t = plan_.branches()[t].parent) inward<P>(plan_.branches()[t]);
    for (int t = s.tree_begin; t < s.tree_end; ++t) {
      const bool carries = t < branch && plan_.branches()[t].last > branch;
      outward<P>(plan_.branches()[t], carries || (t >= branch && t < s.last));
    }
    write<P>(s, X + s.begin, Y + s.begin);
  }
  /// What stands behind a branch's columns is written with the next ones of the tree.
  template <class P>
  void write(const Branch& s, double* X, double* Y) const {
    const double* x = reinterpret_cast<const double*>(solution_.data());
    const int begin = plan_.branches()[s.tree_begin].begin, end = plan_.tree_end(s);
    const long n = n_;
    if (s.begin + P::size <= end) {
      for (int k = begin; k < end; ++k) {
        const P a = P::load(x + both<P> * k), b = P::load(x + both<P> * k + P::size);
        a.store(X + k * n), b.store(Y + k * n);
      }
      return;
    }
    for (int k = begin; k < end; ++k) {
      std::copy_n(x + both<P> * k, s.size(), X + k * n);
      std::copy_n(x + both<P> * k + P::size, s.size(), Y + k * n);
    }
  }
  /// r_a += W_s^T r_s.
  template <class P>
  void inward(const Branch& s) {
    int t = 0;
    if constexpr (rows_at_once > 2) {
      for (; t + 4 <= s.depth; t += 4) inward<P, 4>(s, t);
    }
    for (; t + 2 <= s.depth; t += 2) inward<P, 2>(s, t);
    if (t < s.depth) inward<P, 1>(s, t);
  }
  template <class P, int count>
  void inward(const Branch& s, int t) {
    double* right = reinterpret_cast<double*>(right_.data());
    const double *w = W(s) + t, *from = right + both<P> * s.begin;
    const int size = s.size(), width = s.W_width;
    double* to[count];
    Lanes<P> sum[count];
    for (int c = 0; c < count; ++c) {
      to[c] = right + both<P> * plan_.carriers(s)[t + c];
      sum[c] = Lanes<P>::load(to[c]);
    }
    for (int k = 0; k < size; ++k, w += width, from += both<P>) {
      const Lanes<P> r = Lanes<P>::load(from);
      for (int c = 0; c < count; ++c) sum[c].add(P(w[c]), r);
    }
    for (int c = 0; c < count; ++c) sum[c].store(to[c]);
  }
  /// x_s = D_s r_s + W_s x_a. @param related  whether r_s differs from zero
  template <class P>
  void outward(const Branch& s, bool related) {
    const int own = related ? s.size() : 0;
    int k = 0;
    if constexpr (rows_at_once > 2) {
      for (; k + 4 <= s.size(); k += 4) outward<P, 4>(s, k, own);
    }
    for (; k + 2 <= s.size(); k += 2) outward<P, 2>(s, k, own);
    if (k < s.size()) outward<P, 1>(s, k, own);
  }
  template <class P, int count>
  void outward(const Branch& s, int k, int own) {
    const double* right = reinterpret_cast<const double*>(right_.data()) + both<P> * s.begin;
    double* solution = reinterpret_cast<double*>(solution_.data());
    const int *path = plan_.carriers(s).data(), depth = s.depth;
    const double* factor[count];
    Lanes<P> sum[count];
    for (int c = 0; c < count; ++c) {
      sum[c] = {P(0.0), P(0.0)};
      factor[c] = D(s) + (k + c) * s.D_width;
    }
    for (int j = 0; j < own; ++j) {
      const Lanes<P> r = Lanes<P>::load(right + both<P> * j);
      for (int c = 0; c < count; ++c) sum[c].add(P(factor[c][j]), r);
    }
    for (int c = 0; c < count; ++c) factor[c] = W(s) + (k + c) * s.W_width;
    for (int t = 0; t < depth; ++t) {
      const Lanes<P> x = Lanes<P>::load(solution + both<P> * path[t]);
      for (int c = 0; c < count; ++c) sum[c].add(P(factor[c][t]), x);
    }
    for (int c = 0; c < count; ++c) sum[c].store(solution + both<P> * (s.begin + k + c));
  }

  BranchPlan plan_;
  int n_;
  std::vector<double> rows_;     ///< of M
  std::vector<double> factors_;  ///< D and W of each branch
  long inverse_stride_;
  std::vector<double> inverse_;  ///< M^-1, rows filled up
  std::vector<Pack> right_, solution_;
  std::vector<double> carriers_, sums_;
};

}  // namespace espalier
