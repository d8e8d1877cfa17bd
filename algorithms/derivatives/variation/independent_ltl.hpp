#pragma once

#include <algorithm>
#include <array>
#include <initializer_list>
#include <memory>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "espalier/kernel/model/model.hpp"
#include "espalier/kernel/scalar/pack.hpp"
#include "espalier/kernel/scalar/structure_of_arrays.hpp"

/// M = L^T D L over the independent rates of a cluster tree, and solves with many columns at once.
/// Rows of a cluster are dense among themselves and with those of the clusters that carry it.
/// Source: Featherstone (2008), section 6.5; theory/derivatives 15 and 20.

namespace espalier {

/// A row of L holds the entries of the rates that carry it, from the root on, without gaps. So the
/// row of a rate that carries another has the places of the beginning of the other's row, and
/// elimination is a sum of pieces of rows. At Pack, robots are the lanes of the factor; many
/// columns are solved for one robot after the other, whose columns are lanes then.
template <class T>
class IndependentLtl {
 public:
  explicit IndependentLtl(const Model& model) : n_(model.nv()), rows_(n_), inverse_(n_) {
    list_rows(model);
    if constexpr (!std::is_same_v<T, double>) {
      one_ = std::make_unique<IndependentLtl<double>>(model);
      list_entries();
      return;
    }
    list_below();
    list_groups(groups_, pair);
    list_groups(wide_groups_, widest);
    lanes_.resize(static_cast<std::size_t>(std::max(3 * pair, widest)) * n_);
    for (const Group& g : groups_) whole_ = whole_ && g.begin == 0 && g.end == n_;
  }

  /// Factors M, of which it reads the rows' entries alone.
  void factor(const T* M) {
    clear_rows();
    for (int k = 0; k < n_; ++k) {
      const int* path = path_.data() + rows_[k].start;
      for (int s = 0; s <= rows_[k].depth; ++s) at(k)[s] = M[static_cast<long>(k) * n_ + path[s]];
    }
    factor_rows();
  }
  /// For who has M's rows: clears them, hands out that of a rate (entries of the rates that carry
  /// it, from the root on, and its own; behind it are three numbers for whole registers, rows are
  /// written in the order of rates), and factors what was written there.
  void clear_rows() { std::fill(L_.begin(), L_.end(), T(0.0)); }
  T* row(int k) { return at(k); }
  void factor_rows() {
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
  /// Writes X = -M^-1 A, Y = -M^-1 B and Z = M^-1, row-major. Column j of A and B is zero but on
  /// rows that carry j or that j carries, the others are not read. Columns are lanes: an entry of L
  /// is loaded once for all of a group.
  /// @param A, B  with readable numbers behind their ends for a Pack
  void solve(const T* A, const T* B, T* X, T* Y, T* Z) {
    if constexpr (std::is_same_v<T, double>) {
      solve_columns(A, B, X, Y, Z);
    } else {
      Robots& r = *robots_;
      for (int lane = 0; lane < T::size; ++lane) {
        one_->take(*this, lane);
        for (const int e : r.entries) r.A[e] = A[e][lane], r.B[e] = B[e][lane];
        const long at = lane * r.size;
        one_->solve(r.A.data(), r.B.data(), r.X.data() + at, r.Y.data() + at, r.Z.data() + at);
      }
      r.write(r.X, X), r.write(r.Y, Y), r.write(r.Z, Z);
    }
  }
  /// Writes Z = M^-1, row-major.
  void invert(T* Z) {
    if constexpr (std::is_same_v<T, double>) {
      invert_columns(Z);
    } else {
      Robots& r = *robots_;
      for (int lane = 0; lane < T::size; ++lane) {
        one_->take(*this, lane);
        one_->invert(r.Z.data() + lane * r.size);
      }
      r.write(r.Z, Z);
    }
  }
  int size() const { return n_; }

 private:
  struct Row {
    int start = 0;                 ///< of its entries in L_ and path_
    int depth = 0;                 ///< rates that carry it; its own entry comes behind theirs
    int below = 0, below_end = 0;  ///< entries of the rates that it carries
  };
  struct Below {
    int rate;
    int at;  ///< in L_
  };
  struct GroupRow {
    int rate;
    int below, below_end;  ///< those among its rows that may differ from zero
  };
  /// Columns that are solved at once: as many packs as hide the time that a product takes.
  struct Group {
    std::vector<int> first;      ///< column of each pack
    int begin = 0, end = 0;      ///< rows of the trees that the columns belong to
    int last = 0;                ///< behind the last column
    std::vector<GroupRow> rows;  ///< that carry a column or that one carries; deepest first
    std::vector<int> idle;       ///< the others from begin to end
    std::vector<int> outward;    ///< all from begin to end, each behind those that carry it
  };
  static constexpr int pair = 2, widest = 5;
  /// Matrices of one robot after the other, where robots are lanes of T.
  struct Robots {
    std::vector<int> entries;     ///< of coordinates of which one carries the other
    long size = 0;                ///< nv * nv
    std::vector<double> A, B;     ///< of one robot; zero elsewhere
    std::vector<double> X, Y, Z;  ///< of all

    void write(const std::vector<double>& from, Pack* to) const {
      detail::load_states<Pack>(from.data(), static_cast<int>(size),
                                std::span<Pack* const>(&to, 1));
    }
  };
  template <class>
  friend class IndependentLtl;

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
  /// The factor of one robot of several.
  template <class P>
  void take(const IndependentLtl<P>& robots, int lane) {
    for (std::size_t e = 0; e < L_.size(); ++e) L_[e] = robots.L_[e][lane];
    for (int k = 0; k < n_; ++k) inverse_[k] = robots.inverse_[k][lane];
  }
  void list_entries() {
    robots_ = std::make_unique<Robots>();
    Robots& r = *robots_;
    r.size = static_cast<long>(n_) * n_;
    for (int k = 0; k < n_; ++k) {
      for (int s = 0; s <= rows_[k].depth; ++s) {
        const int j = path_[rows_[k].start + s];
        r.entries.push_back(k * n_ + j);
        if (j != k) r.entries.push_back(j * n_ + k);
      }
    }
    std::sort(r.entries.begin(), r.entries.end());
    for (auto* x : {&r.A, &r.B}) x->assign(r.size + Pack::size, 0.0);
    for (auto* x : {&r.X, &r.Y, &r.Z}) x->resize(r.size * Pack::size);
  }
  void solve_columns(const double* A, const double* B, double* X, double* Y, double* Z) {
    clear({X, Y, Z});
    for (const Group& g : groups_) {
      if (g.first.size() == 1) {
        solve_group<1>(g, A, B, {X, Y, Z});
      } else {
        solve_group<2>(g, A, B, {X, Y, Z});
      }
    }
  }
  void invert_columns(double* Z) {
    clear({Z});
    for (const Group& g : wide_groups_) {
      switch (g.first.size()) {
        case 1:
          invert_group<1>(g, Z);
          break;
        case 2:
          invert_group<2>(g, Z);
          break;
        case 3:
          invert_group<3>(g, Z);
          break;
        case 4:
          invert_group<4>(g, Z);
          break;
        default:
          invert_group<widest>(g, Z);
      }
    }
  }
  /// One in a lane, which may be none of the pack's.
  static Pack unit(int lane) {
    if (lane < 0 || lane >= Pack::size) return Pack(0.0);
    static constexpr double window[2 * Pack::size - 1] = {0, 0, 0, 0, 0, 0, 0, 1};
    return Pack::load(window + Pack::size - 1 - lane);
  }
  void clear(std::initializer_list<double*> out) const {
    if (whole_) return;
    for (double* x : out) std::fill(x, x + static_cast<long>(n_) * n_, 0.0);
  }

  /// Packs of a row: those of A, of B and of the unit matrix.
  template <int width>
  void solve_group(const Group& g, const double* A, const double* B, std::array<double*, 3> out) {
    constexpr int count = 3 * width;
    for (const int k : g.idle) {
      for (int m = 0; m < count; ++m) lanes_[count * k + m] = Pack(0.0);
    }
    for (const GroupRow& row : g.rows) {
      const int k = row.rate;
      Pack x[count];
      for (int i = 0; i < width; ++i) {
        const long from = static_cast<long>(k) * n_ + g.first[i];
        x[i] = -Pack::load(A + from);
        x[width + i] = -Pack::load(B + from);
        x[2 * width + i] = unit(k - g.first[i]);
      }
      if (k < g.last) {
        gather<count, count>(row, x);
      } else {
        gather<count, 2 * width>(row, x);  // the unit matrix is zero there
      }
      for (int m = 0; m < count; ++m) lanes_[count * k + m] = x[m];
    }
    outward<3, width>(g, out);
  }
  template <int width>
  void invert_group(const Group& g, double* Z) {
    for (const int k : g.idle) {
      for (int i = 0; i < width; ++i) lanes_[width * k + i] = Pack(0.0);
    }
    for (const GroupRow& row : g.rows) {
      const int k = row.rate;
      Pack x[width];
      for (int i = 0; i < width; ++i) x[i] = unit(k - g.first[i]);
      if (k < g.last) gather<width, width>(row, x);
      for (int i = 0; i < width; ++i) lanes_[width * k + i] = x[i];
    }
    outward<1, width>(g, std::array<double*, 1>{Z});
  }
  /// x -= L^T times the rows below.
  template <int stride, int count>
  void gather(const GroupRow& row, Pack* x) const {
    for (int e = row.below; e < row.below_end; ++e) {
      const Pack L = Pack(L_[below_[e].at]);
      const Pack* from = lanes_.data() + stride * below_[e].rate;
      for (int m = 0; m < count; ++m) x[m] -= L * from[m];
    }
  }
  template <int matrices, int width>
  void outward(const Group& g, const std::array<double*, matrices>& out) {
    constexpr int count = matrices * width;
    for (const int k : g.outward) {
      const double* L = at(k);
      const int* path = path_.data() + rows_[k].start;
      const Pack inverse = Pack(inverse_[k]);
      Pack x[count];
      for (int m = 0; m < count; ++m) x[m] = inverse * lanes_[count * k + m];
      for (int s = 0; s < rows_[k].depth; ++s) {
        const Pack L_ks = Pack(L[s]);
        const Pack* from = lanes_.data() + count * path[s];
        for (int m = 0; m < count; ++m) x[m] -= L_ks * from[m];
      }
      for (int m = 0; m < count; ++m) lanes_[count * k + m] = x[m];
      for (int m = 0; m < count; ++m) {
        write(x[m], static_cast<long>(k) * n_ + g.first[m % width], out[m / width]);
      }
    }
  }
  /// Of a matrix of fewer columns than lanes, the next row overwrites what is too much.
  void write(const Pack& x, long at, double* out) const {
    if (at + Pack::size <= static_cast<long>(n_) * n_) {
      x.store(out + at);
    } else {
      for (int l = 0; l < n_; ++l) out[at + l] = x[l];
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
    L_.assign(size + Quad::size, T(0.0));  // room behind the last row
    inward_.resize(n_);
    std::iota(inward_.rbegin(), inward_.rend(), 0);
    std::stable_sort(inward_.begin(), inward_.end(),
                     [&](int a, int b) { return rows_[a].depth > rows_[b].depth; });
  }
  void list_below() {
    std::vector<std::vector<Below>> below(n_);
    for (int k = 0; k < n_; ++k) {
      for (int s = 0; s < rows_[k].depth; ++s) {
        below[path_[rows_[k].start + s]].push_back({k, rows_[k].start + s});
      }
    }
    for (int k = 0; k < n_; ++k) {
      rows_[k].below = static_cast<int>(below_.size());
      below_.insert(below_.end(), below[k].begin(), below[k].end());
      rows_[k].below_end = static_cast<int>(below_.size());
    }
  }
  void list_groups(std::vector<Group>& groups, int width) const {
    // The last pack overlaps the one before, so that all are whole.
    std::vector<int> firsts{0};
    for (int first = Pack::size; first < n_; first += Pack::size) {
      firsts.push_back(std::min(first, n_ - Pack::size));
    }
    const int count = static_cast<int>(firsts.size()), parts = (count + width - 1) / width;
    for (int part = 0; part < parts; ++part) {
      groups.push_back(group(
          {firsts.begin() + count * part / parts, firsts.begin() + count * (part + 1) / parts}));
    }
  }
  Group group(std::vector<int> firsts) const {
    Group g;
    g.begin = n_;
    g.last = std::min(firsts.back() + Pack::size, n_);
    std::vector<bool> related(n_, false);
    for (int j = firsts.front(); j < g.last; ++j) {
      for (int s = 0; s <= rows_[j].depth; ++s) related[path_[rows_[j].start + s]] = true;
      for (int e = rows_[j].below; e < rows_[j].below_end; ++e) related[below_[e].rate] = true;
      const int root = path_[rows_[j].start];
      g.begin = std::min(g.begin, root), g.end = std::max(g.end, root + 1);
      if (rows_[root].below < rows_[root].below_end) {
        g.end = std::max(g.end, below_[rows_[root].below_end - 1].rate + 1);
      }
    }
    for (const int k : inward_) {
      if (k < g.begin || k >= g.end) continue;
      g.outward.push_back(k);
      if (!related[k]) {
        g.idle.push_back(k);
        continue;
      }
      GroupRow row{k, rows_[k].below, rows_[k].below_end};
      while (row.below < row.below_end && !related[below_[row.below].rate]) ++row.below;
      while (row.below < row.below_end && !related[below_[row.below_end - 1].rate]) {
        --row.below_end;
      }
      g.rows.push_back(row);
    }
    std::reverse(g.outward.begin(), g.outward.end());
    if (n_ < Pack::size) std::sort(g.outward.begin(), g.outward.end());  // write()
    g.first = std::move(firsts);
    return g;
  }

  int n_;
  bool whole_ = true;  ///< every group covers all rows
  std::vector<Row> rows_;
  std::vector<T> inverse_;  ///< of D
  std::vector<T> L_;        ///< its rows, each filled up to whole Quads
  std::vector<int> path_;   ///< the rate of every entry of L_
  std::vector<Below> below_;
  /// All rates, deepest first: branches alternate, and what one waits for another computes.
  std::vector<int> inward_;
  std::vector<Group> groups_, wide_groups_;
  std::vector<Pack> lanes_;  ///< rows of a group of columns
  // Where robots are lanes:
  std::unique_ptr<IndependentLtl<double>> one_;
  std::unique_ptr<Robots> robots_;
};

}  // namespace espalier
