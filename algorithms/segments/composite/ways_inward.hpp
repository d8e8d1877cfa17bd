#pragma once

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "algorithms/chains/composites/composites.hpp"

namespace espalier {

/// The entries of a mass matrix that the wrench F of a rate makes on its way to the ground,
/// M(i,j) = F^T J_j for every rate j that moves the body: up to the ground or to a body whose axes
/// stand for the world's. That is the floating root, whose rates meet the wrench itself, or a body
/// of a chain, whose attachment takes it.
///
/// Frames: world axes; wrenches and the motions J that they meet about the origin of the first
/// body, or of the one that stands for the world, where J of bodies lie side by side in memory.
template <class T>
class WaysInward {
 public:
  /// Columns of J that lie side by side in memory and in M.
  struct Range {
    int column, rate, count;
  };
  struct Way {
    int support = 0;            ///< the body that it starts from; 0: the ground
    int end = 0;                ///< the body that stands for the world; 0: the ground
    int rates = 0;              ///< whose wrenches go it
    std::vector<Range> ranges;  ///< by growing rates, up to there
    /// Of a branching tree: each column and its rate alone, both triangles of M at once; empty
    /// where ranges are long.
    std::vector<std::pair<int, int>> entries;
  };

  explicit WaysInward(int size) : size_(size) {}

  /// Room for columns of J. @returns the first
  int add_columns(int count) {
    columns_ += count;
    return columns_ - count;
  }
  /// After all have been added.
  /// @param root    the floating root, or 0
  /// @param chains   or nullptr
  /// @param sparse  whether M is full of zeros where nothing is written
  void lay_out(int root, ChainComposites<T>* chains, bool sparse) {
    root_ = root, chains_ = chains, sparse_ = sparse;
    J_.assign(static_cast<std::size_t>(6) * columns_, T(0.0));
  }
  /// Puts ranges in order, those together that follow each other.
  /// @param way  with ranges from its start on
  static void join(Way& way) {
    std::vector<Range> joined;
    for (auto r = way.ranges.rbegin(); r != way.ranges.rend(); ++r) {
      Range* last = joined.empty() ? nullptr : &joined.back();
      if (last != nullptr && last->column + last->count == r->column &&
          last->rate + last->count == r->rate) {
        last->count += r->count;
      } else {
        joined.push_back(*r);
      }
    }
    way.ranges = std::move(joined);
  }

  /// Where a way's ranges are short, and M is sparse, their columns are met one by one.
  static void divide(Way& way) {
    constexpr int few = 4;  // as many as a register holds
    int columns = 0;
    for (const Range& r : way.ranges) columns += r.count;
    if (columns >= few * static_cast<int>(way.ranges.size())) return;
    for (const Range& r : way.ranges) {
      for (int k = 0; k < r.count; ++k) way.entries.emplace_back(r.column + k, r.rate + k);
    }
  }

  /// A motion at x, seen from where the frames of the class begin, kept as one about there.
  void store(int column, const Motion<T>& m, const Vec3<T>& x) {
    const Vec3<T> v = m.v + cross(x, m.w);
    T* J = J_.data() + column;
    const long n = columns_;
    J[0] = m.w.x, J[n] = m.w.y, J[2 * n] = m.w.z;
    J[3 * n] = v.x, J[4 * n] = v.y, J[5 * n] = v.z;
  }

  /// Row of M up to `end`; where M is not sparse, with zeros where nothing moves both rates.
  void write_row(const Way& way, const Force<T>& F, int rate, int end,
                 const MassEntries<T>& M) const {
    T* row = M.M + static_cast<long>(rate) * size_;
    if (!way.entries.empty()) return write_entries(way, F, rate, M);
    int next = reach_end(way, F, rate, [&](int i, const T& x) { row[i] = x; });
    for (const Range& range : way.ranges) {
      if (!sparse_) std::fill(row + next, row + range.rate, T(0.0));
      meet(J_.data() + range.column, columns_, range.count, F, row + range.rate);
      next = range.rate + range.count;
    }
    if (!sparse_) std::fill(row + next, row + end, T(0.0));
  }
  /// Onto what the row has.
  void add_row(const Way& way, const Force<T>& F, int rate, T* M) const {
    T* row = M + static_cast<long>(rate) * size_;
    const auto add = [&](int i, const T& x) { row[i] += x; };
    reach_end(way, F, rate, add);
    for (const Range& range : way.ranges) meet(range, F, add);
  }
  /// Row and column of M, which is sparse.
  void write_both(const Way& way, const Force<T>& F, int rate, const MassEntries<T>& M) const {
    const auto write = [&](int i, const T& x) { M.put(rate, i, x); };
    reach_end(way, F, rate, write);
    for (const Range& range : way.ranges) meet(range, F, write);
  }
  void write_entries(const Way& way, const Force<T>& F, int rate, const MassEntries<T>& M) const {
    const auto write = [&](int i, const T& x) { M.put(rate, i, x); };
    reach_end(way, F, rate, write);
    for (const auto& [J, i] : way.entries) write(i, met(J_.data() + J, columns_, F));
  }
  /// Whether a rate that writes its row leaves its column to be copied: not where it meets chains
  /// alone, or entry by entry.
  bool leaves_column(const Way& way) const {
    return way.entries.empty() && (!way.ranges.empty() || ends_at_root(way));
  }
  /// Copies the rows of a segment's rates to columns, where they are not zero.
  /// @param ways  that they have written, besides their own block
  void mirror_rates(std::span<const Way> ways, int first, int count, T* M) const {
    const long n = size_;
    for (int i = first; i < first + count; ++i) {
      const T* row = M + i * n;
      for (const Way& way : ways) mirror(way, i, M);
      for (int j = first; j < i; ++j) M[j * n + i] = row[j];
    }
  }
  /// Copies the lower triangle to the upper one, in blocks that stay in the cache.
  void mirror_all(T* M) const {
    constexpr int block = 16;
    const long n = size_;
    for (long I = 0; I < n; I += block) {
      const long i_end = std::min(n, I + block);
      for (long J = 0; J <= I; J += block) {
        for (long i = I; i < i_end; ++i) {
          const long j_end = std::min(i, J + block);
          for (long j = J; j < j_end; ++j) M[j * n + i] = M[i * n + j];
        }
      }
    }
  }

 private:
  void mirror(const Way& way, int rate, T* M) const {
    if (!way.entries.empty()) return;
    const T* row = M + static_cast<long>(rate) * size_;
    T* column = M + rate;
    const int root_rates = ends_at_root(way) ? 6 : 0;
    for (long i = 0; i < root_rates; ++i) column[i * size_] = row[i];
    for (const Range& range : way.ranges) {
      for (long i = range.rate; i < range.rate + range.count; ++i) column[i * size_] = row[i];
    }
  }
  bool ends_at_root(const Way& way) const { return way.end > 0 && way.end == root_; }

  /// @returns the first rate beyond those of the root
  template <class Take>
  ESPALIER_ALWAYS_INLINE int reach_end(const Way& way, const Force<T>& F, int rate,
                                       Take&& take) const {
    if (way.end == 0) return 0;
    if (way.end != root_) {
      chains_->attachment(way.end)(rate, F);
      return 0;
    }
    for (int i = 0; i < 6; ++i) take(i, F[i]);
    return 6;
  }
  /// J^T F for the columns of a range, `take` for each.
  template <class Take>
  void meet(const Range& range, const Force<T>& F, Take&& take) const {
    const T* J = J_.data() + range.column;
    for (int k = 0; k < range.count; ++k) take(range.rate + k, met(J + k, columns_, F));
  }
  /// The same into a row, apart from all else in memory: that several at once can be computed.
  static void meet(const T* J, long n, int count, const Force<T>& F, T* __restrict out) {
    for (int k = 0; k < count; ++k) out[k] = met(J + k, n, F);
  }
  ESPALIER_ALWAYS_INLINE static T met(const T* J, long n, const Force<T>& F) {
    return J[0] * F.n.x + J[n] * F.n.y + J[2 * n] * F.n.z + J[3 * n] * F.f.x + J[4 * n] * F.f.y +
           J[5 * n] * F.f.z;
  }

  int size_, columns_ = 0;
  int root_ = 0;
  ChainComposites<T>* chains_ = nullptr;
  bool sparse_ = false;
  std::vector<T> J_;  ///< 6 rows
};

}  // namespace espalier
