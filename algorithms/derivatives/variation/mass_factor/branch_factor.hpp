#pragma once

#include <algorithm>
#include <array>
#include <vector>

#include "algorithms/derivatives/variation/lanes/slot_moves.hpp"
#include "algorithms/derivatives/variation/mass_factor/branch_plan.hpp"
#include "algorithms/derivatives/variation/mass_factor/row_products.hpp"
#include "algorithms/linear_algebra/aligned_numbers.hpp"

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
        rows_(plan_.row_numbers() + Pack::size, 0.0),
        factors_(plan_.factor_numbers() + Pack::size, 0.0),
        small_(n_ < Pack::size ? Pack::size * small_stride : 0, 0.0),
        ancestors_(n_ + Quad::size, 0.0),
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
        for (const int j : plan_.ancestors(s)) *to++ = from[j];
        for (int j = s.begin; j <= k; ++j) *to++ = from[j];
      }
    }
    factor_rows();
  }
  /// Factors what was written to the rows, which do not survive it.
  void factor_rows() {
    // Tips first: pivots of one branch depend on each other, those of different tips overlap.
    for (std::size_t b = plan_.branches().size(); b-- > 0;) {
      const Branch& s = plan_.branches()[b];
      if (s.carries) continue;
      SmallInverse::with_size(s.size(), [&]<int size>() { invert_own<size>(s); });
    }
    for (std::size_t b = plan_.branches().size(); b-- > 0;) {
      const Branch& s = plan_.branches()[b];
      SmallInverse::with_size(s.size(), [&]<int size>() {
        if (s.carries) invert_own<size>(s);
        multiply_ancestors<size>(s);
        update_ancestors<size>(s);
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
      const auto path = plan_.ancestors(s);
      for (int t = 0; t < s.depth; ++t) x[path[t]] += sums_[t];
    }
    for (const Branch& s : plan_.branches()) {
      const auto path = plan_.ancestors(s);
      const double *d = D(s), *w = W(s);
      for (int t = 0; t < s.depth; ++t) ancestors_[t] = x[path[t]];
      for (int i = 0; i < s.size(); i += Quad::size) {
        Quad sum(0.0);  // D is symmetric
        for (int k = 0; k < s.size(); ++k) {
          sum += Quad(x[s.begin + k]) * Quad::load(d + k * s.D_width + i);
        }
        sum.store(sums_.data() + i);
      }
      for (int k = 0; k < s.size(); ++k) {
        double sum = sums_[k];
        for (int t = 0; t < s.depth; ++t) sum += w[k * s.W_width + t] * ancestors_[t];
        x[s.begin + k] = sum;
      }
    }
  }

  /// Writes Z = M^-1, row-major. Registers that are longer than they write what is set later.
  void invert(double* Z) {
    if (n_ >= Pack::size) return write_inverse(Z, n_, n_);
    write_inverse(small_.data(), small_stride, small_stride);
    for (long k = 0; k < n_; ++k) std::copy_n(small_.data() + k * small_stride, n_, Z + k * n_);
  }
  /// x = Z x. @param Z  of invert()
  void times_inverse(const double* Z, double* x) {
    constexpr int width = 2 * Pack::size;
    const long n = n_;
    if (n < Pack::size) {
      Pack sum(0.0);
      for (long k = 0; k < n; ++k) sum += Pack(x[k]) * Pack::load(small_.data() + k * small_stride);
      sum.store(sums_.data());
    } else if (n < width) {
      columns_of<Pack::size>(Z, 0, x), columns_of<Pack::size>(Z, n - Pack::size, x);
    }
    for (long j = 0; n >= width && j < n; j += width) {  // the last ones are computed again
      columns_of<width>(Z, std::min(j, n - width), x);
    }
    std::copy_n(sums_.data(), n, x);
  }

  const BranchPlan& plan() const { return plan_; }
  /// D_s: symmetric, rows of D_width numbers.
  const double* D(const BranchPlan::Branch& s) const { return factors_.data() + s.D; }
  /// W_s column by column, of D_width numbers each.
  const double* W_columns(const BranchPlan::Branch& s) const {
    return factors_.data() + s.W_columns;
  }

 private:
  using Branch = BranchPlan::Branch;

  /// Writes `count` numbers of Z x from the first on. Z is symmetric, so that its rows are read.
  template <int count>
  void columns_of(const double* Z, long first, const double* x) {
    constexpr int packs = count / Pack::size;
    Pack sum[packs];
    for (Pack& p : sum) p = Pack(0.0);
    for (long k = 0; k < n_; ++k) {
      const Pack x_k(x[k]);
      for (int p = 0; p < packs; ++p) {
        sum[p] += x_k * Pack::load(Z + k * n_ + first + p * Pack::size);
      }
    }
    for (int p = 0; p < packs; ++p) sum[p].store(sums_.data() + first + p * Pack::size);
  }
  /// W_s row by row, of W_width numbers each.
  const double* W(const Branch& s) const { return factors_.data() + s.W; }

  /// D_s = M_ss^-1.
  template <int size>
  void invert_own(const Branch& s) {
    std::array<const double*, size> rows;
    for (int k = 0; k < size; ++k) rows[k] = row(s.begin + k) + s.depth;
    SmallInverse::invert<size>(rows, factors_.data() + s.D);
  }
  /// W_s = -D_s M_sa.
  template <int size>
  void multiply_ancestors(const Branch& s) {
    constexpr int width = SmallInverse::width(size);
    const double* d = D(s);
    double *w = factors_.data() + s.W, *columns = factors_.data() + s.W_columns;
    const double* rows[size];
    for (int j = 0; j < size; ++j) rows[j] = row(s.begin + j);
    for (int t = 0; t < s.depth; t += Quad::size) {
      Quad from[size], sum[width];
      for (int j = 0; j < size; ++j) from[j] = Quad::load(rows[j] + t);
      for (int k = 0; k < width; ++k) {
        sum[k] = Quad(0.0);
        if (k >= size) continue;
        for (int j = 0; j < size; ++j) sum[k] -= Quad(d[j * width + k]) * from[j];
        sum[k].store(w + k * s.W_width + t);
      }
      for (int k = 0; k < width; k += Quad::size) {
        slot_moves::transpose(sum[k], sum[k + 1], sum[k + 2], sum[k + 3]);
        for (int l = 0; l < Quad::size; ++l) sum[k + l].store(columns + (t + l) * width + k);
      }
    }
  }
  /// M_aa += M_as W_s, lower triangle.
  template <int size>
  void update_ancestors(const Branch& s) {
    const auto path = plan_.ancestors(s);
    const double *rows[size], *w[size];
    for (int k = 0; k < size; ++k) rows[k] = row(s.begin + k), w[k] = W(s) + k * s.W_width;
    for (int t = 0; t < s.depth; ++t) {
      double* to = row(path[t]);
      Quad factor[size];
      for (int k = 0; k < size; ++k) factor[k] = Quad(rows[k][t]);
      for (int j = 0; j <= t; j += Quad::size) {
        Quad sum = Quad::load(to + j);
        for (int k = 0; k < size; ++k) sum += factor[k] * Quad::load(w[k] + j);
        sum.store(to + j);
      }
    }
  }

  /// Rows of Z that are `stride` numbers apart, of which each has `end` that may be written.
  struct Inverse {
    double* rows;
    long stride, end;
  };
  void write_inverse(double* rows, long stride, long end) {
    const Inverse Z{rows, stride, end};
    for (const Branch& s : plan_.branches()) {
      SmallInverse::with_size(s.size(), [&]<int size>() { inverse_rows<size>(s, Z); });
    }
  }
  /// Z_sj = W_s Z_aj of the rates j before the branch, then D_s and the same of its own.
  template <int size>
  void inverse_rows(const Branch& s, const Inverse& Z) {
    for (int j = 0; j < s.begin; j += Pack::size) inverse_block<size>(s, j, false, Z);
    mirror(s, Z);
    inverse_block<size>(s, s.begin, true, Z);
  }
  template <int size>
  void inverse_block(const Branch& s, int column, bool own, const Inverse& Z) {
    constexpr int first = row_products::first_part<size>;
    inverse_part<size, first>(s, 0, column, own, Z);
    if constexpr (first < size) inverse_part<size, size - first>(s, first, column, own, Z);
  }
  template <int size, int rows>
  void inverse_part(const Branch& s, int k, int column, bool own, const Inverse& Z) {
    constexpr int width = SmallInverse::width(size);
    const double *d = D(s) + k * width, *w = W_columns(s) + k;
    double* columns = Z.rows + column;
    Pack sum[rows];
    for (int r = 0; r < rows; ++r) sum[r] = own ? Pack::load(d + r * width) : Pack(0.0);
    for (const BranchPlan::Stretch& a : plan_.stretches(s)) {
      row_products::accumulate<true, rows, 1>(sum, w, width, columns + a.begin * Z.stride, Z.stride,
                                              a.size);
      w += a.size * width;
    }
    double* to = columns + (s.begin + k) * Z.stride;
    if (column + Pack::size <= Z.end) {
      for (int r = 0; r < rows; ++r) sum[r].store(to + r * Z.stride);
      return;
    }
    double whole[Pack::size];
    for (int r = 0; r < rows; ++r) {
      sum[r].store(whole);
      write_some(whole, Z.end - column, to + r * Z.stride);
    }
  }
  /// The first `count` of eight numbers, by registers that overlap.
  static void write_some(const double* from, long count, double* to) {
    if (count < Quad::size) {
      for (long k = 0; k < count; ++k) to[k] = from[k];
      return;
    }
    Quad::load(from).store(to);
    Quad::load(from + count - Quad::size).store(to + count - Quad::size);
  }
  /// Z_js = Z_sj^T for the rates j before the branch.
  void mirror(const Branch& s, const Inverse& Z) {
    // Of four or more numbers the last ones are written twice, and nothing is read behind them.
    for (int next = s.begin; next < s.end; next += Quad::size) {
      const int k = std::max(s.begin, std::min(next, s.end - Quad::size));
      const double* from[Quad::size];
      for (int l = 0; l < Quad::size; ++l) from[l] = Z.rows + std::min(k + l, s.end - 1) * Z.stride;
      const long count = std::min<long>(Quad::size, Z.end - k);
      for (int column = 0; column < s.begin; column += Quad::size) {
        const int j = std::max(0, std::min(column, s.begin - Quad::size));
        Quad x[Quad::size];
        for (int l = 0; l < Quad::size; ++l) x[l] = Quad::load(from[l] + j);
        slot_moves::transpose(x[0], x[1], x[2], x[3]);
        double* to = Z.rows + j * Z.stride + k;
        if (count == Quad::size && j + Quad::size <= s.begin) {
          for (int l = 0; l < Quad::size; ++l) x[l].store(to + l * Z.stride);
        } else {
          mirror_some(x, std::min<int>(Quad::size, s.begin - j), count, to, Z.stride);
        }
      }
    }
  }
  static void mirror_some(const Quad (&x)[Quad::size], int rows, long count, double* to,
                          long stride) {
    for (int l = 0; l < rows; ++l) {
      double whole[Quad::size];
      x[l].store(whole);
      write_some(whole, count, to + l * stride);
    }
  }

  BranchPlan plan_;
  int n_;
  AlignedNumbers rows_;     ///< of M
  AlignedNumbers factors_;  ///< D and W of each branch
  static constexpr long small_stride = 2 * Pack::size;
  AlignedNumbers small_;  ///< M^-1 where its rows are shorter than a Pack, filled up
  std::vector<double> ancestors_, sums_;
};

}  // namespace espalier
