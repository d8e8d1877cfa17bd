#pragma once

#include <algorithm>
#include <vector>

#include "algorithms/derivatives/variation/mass_factor/branch_plan.hpp"
#include "algorithms/derivatives/variation/mass_factor/lane_products.hpp"

namespace espalier {

/// BranchFactor and BranchSolves with robots as lanes: the same factors and products, of the
/// columns that are wanted and no more.
template <class T>
class LaneMassFactor {
 public:
  explicit LaneMassFactor(const Model& model)
      : plan_(model),
        n_(plan_.rates()),
        M_(static_cast<std::size_t>(n_) * n_, T(0.0)),
        W_(M_),
        D_(plan_.branches().size() * most * most, T(0.0)) {
    for (const Branch& s : plan_.branches()) {
      Columns& columns = columns_.emplace_back();
      int at = plan_.branches()[s.tree_begin].begin;
      const auto relate = [&](int begin, int end) {
        add(at, begin, columns.others), add(begin, end, columns.related);
        at = end;
      };
      for (const BranchPlan::Stretch& a : plan_.stretches(s)) {
        relate(static_cast<int>(a.begin), static_cast<int>(a.begin + a.size));
      }
      relate(s.begin, s.carried_end);
      add(at, plan_.tree_end(s), columns.others);
    }
    terms_.reserve(n_ + 1);
  }

  /// Factors M, of which it reads entries of rates that carry a row's, and its own.
  void factor(const T* M) {
    for (const Branch& s : plan_.branches()) {
      for (long k = s.begin; k < s.end; ++k) {
        for (const int j : plan_.carriers(s)) M_[k * n_ + j] = M[k * n_ + j];
        for (int j = s.begin; j <= k; ++j) M_[k * n_ + j] = M[k * n_ + j];
      }
    }
    for (std::size_t b = plan_.branches().size(); b-- > 0;) {
      const Branch& s = plan_.branches()[b];
      invert_own(s, D(b));
      for (const BranchPlan::Stretch& a : plan_.stretches(s)) {
        terms_.assign(1, {D(b), most, 1, M_.data() + s.begin * n_ + a.begin, n_, s.size(), true});
        Products::write(terms_, s.size(), a.size, W_.data() + s.begin * n_ + a.begin, n_);
      }
      update_carriers(s);
    }
  }
  /// x = M^-1 x.
  void solve(T* x) const {
    for (std::size_t b = plan_.branches().size(); b-- > 0;) {
      const Branch& s = plan_.branches()[b];
      for (long k = s.begin; k < s.end; ++k) {
        for (const int j : plan_.carriers(s)) x[j] += W_[k * n_ + j] * x[k];
      }
    }
    for (std::size_t b = 0; b < plan_.branches().size(); ++b) {
      const Branch& s = plan_.branches()[b];
      T own[most];
      for (int k = 0; k < s.size(); ++k) {
        T sum(0.0);
        for (int i = 0; i < s.size(); ++i) sum += D(b)[k * most + i] * x[s.begin + i];
        for (const int j : plan_.carriers(s)) sum += W_[(s.begin + k) * n_ + j] * x[j];
        own[k] = sum;
      }
      std::copy_n(own, s.size(), x + s.begin);
    }
  }
  /// Writes Z = M^-1, row-major.
  void invert(T* Z) {
    const long n = n_;
    if (!plan_.is_one_tree()) std::fill_n(Z, n * n, T(0.0));
    for (std::size_t b = 0; b < plan_.branches().size(); ++b) {
      const Branch& s = plan_.branches()[b];
      const int tree = plan_.branches()[s.tree_begin].begin;
      terms_.clear();
      add_carriers(s, Z + tree);
      Products::write(terms_, s.size(), s.begin - tree, Z + s.begin * n + tree, n);
      for (long k = s.begin; k < s.end; ++k) {
        for (long j = tree; j < s.begin; ++j) Z[j * n + k] = Z[k * n + j];
        std::copy_n(D(b) + (k - s.begin) * most, s.size(), Z + k * n + s.begin);
      }
      terms_.clear();
      add_carriers(s, Z + s.begin);
      Products::write(terms_, s.size(), s.size(), Z + s.begin * n + s.begin, n, true);
    }
  }
  /// Writes X = -M^-1 A, row-major, from a column on: see BranchSolves.
  /// @param A  whose entries of related rates it changes; others are not read
  void solve(T* A, T* X, int first = 0) {
    const long n = n_;
    if (!plan_.is_one_tree()) std::fill_n(X, n * n, T(0.0));
    for (std::size_t b = plan_.branches().size(); b-- > 0;) {
      const Branch& s = plan_.branches()[b];
      for (const Range& r : columns_[b].related) {
        if (r.end > first) hand(s, A, {std::max(r.begin, first), r.end});
      }
    }
    for (std::size_t b = 0; b < plan_.branches().size(); ++b) {
      const Branch& s = plan_.branches()[b];
      const auto write = [&](Range r, bool related) {
        if (r.end <= first) return;
        r.begin = std::max(r.begin, first);
        terms_.clear();
        if (related) {
          terms_.push_back({D(b), most, 1, A + s.begin * n + r.begin, n, s.size(), true});
        }
        add_carriers(s, X + r.begin);
        Products::write(terms_, s.size(), r.end - r.begin, X + s.begin * n + r.begin, n);
      };
      for (const Range& r : columns_[b].related) write(r, true);
      for (const Range& r : columns_[b].others) write(r, false);
    }
  }

 private:
  using Branch = BranchPlan::Branch;
  using Products = LaneProducts<T>;
  static constexpr int most = SmallInverse::most;
  struct Range {
    int begin, end;
  };
  /// Columns of a branch's tree, those of rates that are related to the branch apart.
  struct Columns {
    std::vector<Range> related, others;
  };

  static void add(int begin, int end, std::vector<Range>& ranges) {
    if (begin >= end) return;
    if (!ranges.empty() && ranges.back().end == begin) {
      ranges.back().end = end;
    } else {
      ranges.push_back({begin, end});
    }
  }
  T* D(std::size_t branch) { return D_.data() + branch * most * most; }
  const T* D(std::size_t branch) const { return D_.data() + branch * most * most; }

  /// Terms W_s X_a. @param X  row 0, at the first column
  void add_carriers(const Branch& s, const T* X) {
    for (const BranchPlan::Stretch& a : plan_.stretches(s)) {
      terms_.push_back({W_.data() + s.begin * n_ + a.begin, n_, 1, X + a.begin * n_, n_, a.size});
    }
  }
  /// D_s = M_ss^-1 (Gauss and Jordan).
  void invert_own(const Branch& s, T* d) const {
    const int size = s.size();
    for (int k = 0; k < size; ++k) {
      const T* from = M_.data() + (s.begin + k) * n_ + s.begin;
      for (int j = 0; j <= k; ++j) d[k * most + j] = d[j * most + k] = from[j];
    }
    for (int p = 0; p < size; ++p) {
      T* pivot = d + p * most;
      const T inverse = T(1.0) / pivot[p];
      pivot[p] = T(1.0);
      for (int j = 0; j < size; ++j) pivot[j] *= inverse;
      for (int k = 0; k < size; ++k) {
        if (k == p) continue;
        T* to = d + k * most;
        const T factor = to[p];
        to[p] = T(0.0);
        for (int j = 0; j < size; ++j) to[j] -= factor * pivot[j];
      }
    }
  }
  /// M_aa += M_as W_s, lower triangle.
  void update_carriers(const Branch& s) {
    constexpr int rows = 3;
    for (const BranchPlan::Stretch& to : plan_.stretches(s)) {
      for (const BranchPlan::Stretch& by : plan_.stretches(s)) {
        if (by.begin > to.begin) break;
        for (long r = 0; r < to.size; r += rows) {
          const long count = std::min<long>(rows, to.size - r), row = to.begin + r;
          terms_.assign(1, {M_.data() + s.begin * n_ + row, 1, n_,
                            W_.data() + s.begin * n_ + by.begin, n_, s.size()});
          Products::write(terms_, count, by.begin == to.begin ? r + count : by.size,
                          M_.data() + row * n_ + by.begin, n_, true);
        }
      }
    }
  }
  /// A_a += W_s^T A_s of some columns.
  void hand(const Branch& s, T* A, const Range& r) {
    for (const BranchPlan::Stretch& a : plan_.stretches(s)) {
      terms_.assign(
          1, {W_.data() + s.begin * n_ + a.begin, 1, n_, A + s.begin * n_ + r.begin, n_, s.size()});
      Products::write(terms_, a.size, r.end - r.begin, A + a.begin * n_ + r.begin, n_, true);
    }
  }

  BranchPlan plan_;
  long n_;
  std::vector<T> M_;  ///< as far as it is eliminated
  std::vector<T> W_;  ///< rows of all rates
  std::vector<T> D_;  ///< of each branch
  std::vector<Columns> columns_;
  std::vector<typename Products::Term> terms_;  ///< in use
};

}  // namespace espalier
