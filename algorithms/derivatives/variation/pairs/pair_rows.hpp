#pragma once

#include <algorithm>
#include <array>
#include <span>
#include <vector>

#include "algorithms/derivatives/variation/lanes/joint_lanes.hpp"
#include "algorithms/derivatives/variation/pairs/root_pairs.hpp"
#include "algorithms/linear_algebra/aligned_numbers.hpp"

namespace espalier {

/// Rows of dtau/dq, dtau/dv and M of a tree whose rates are numbered depth first: the rates that a
/// rate carries follow it, and those that carry it are few stretches. So a row is products with
/// stretches of columns and of terms, which stand number by number, and no entry is written twice
/// but where a register is longer than what is left of a stretch. Source: (12.1),
/// theory/derivatives
/// 20. Columns of floating roots are columns like others.
class PairRows {
 public:
  /// Numbers of a rate: its column, then the terms that it hands to those that carry it, then what
  /// it has with itself.
  enum Number {
    S = 0,
    psi1 = 6,  ///< angular
    psi2 = 9,
    ups = 15,
    t1 = 21,
    t2 = 27,  ///< angular
    t3 = 30,
    t4 = 36,
    own_q = 42,
    own_v,
    own_mass,
    numbers
  };
  explicit PairRows(const Model& model, const JointLanes& plan)
      : n_(model.nv()), address_(n_), blocks_(plan.roots().size()), rows_(n_) {
    number_columns(plan);
    std::vector<std::vector<Stretch>> ways(plan.slots());  // of what a slot's joint carries
    for (std::size_t r = 0; r < plan.roots().size(); ++r) {
      const JointLanes::Root& root = plan.roots()[r];
      for (int k = 0; k < 6; ++k) {
        rows_[root.rate + k] = {
            {}, stretches_of(root.rate + 6, root.end, {}), root.end, static_cast<int>(r), k};
        *at(S + k, root.rate + k) = 1.0;
      }
      ways[root.slot] = stretches(root.rate, root.rate + 6, {});
    }
    for (const JointLanes::Joint& j : plan.joints()) {
      const std::vector<Stretch>& way = ways[j.parent];
      rows_[j.rate] = {listed(way), stretches_of(j.rate + 1, j.end, {}), j.end, -1, 0};
      ways[j.slot] = stretches(j.rate, j.rate + 1, way);
    }
    for (auto& x : spare_) x.assign(n_ + Pack::size, 0.0);
    is_chain_ = plan.roots().empty() && n_ >= Quad::size && n_ <= block_columns;
    for (int i = 0; i < n_; ++i) is_chain_ = is_chain_ && carries_what_follows(i);
  }

  double* at(int number, int rate) { return numbers_.data() + address_[rate] + number * stride; }
  /// Sets numbers of a group's joints. @param group  at(0, its first rate)
  template <int number>
  static void put(double* group, const Quad& x) {
    x.store(group + number * stride);
  }
  template <int number>
  static void put(double* group, const Vec3<Quad>& x) {
    put<number>(group, x.x), put<number + 1>(group, x.y), put<number + 2>(group, x.z);
  }
  template <int number>
  static void put(double* group, const Motion<Quad>& x) {
    put<number>(group, x.w), put<number + 3>(group, x.v);
  }
  template <int number>
  static void put(double* group, const Force<Quad>& x) {
    put<number>(group, x.n), put<number + 3>(group, x.f);
  }
  /// What was set of a group's joints.
  template <int number>
  static Vec3<Quad> get(const double* group) {
    return {some<Quad, number>(group, 0), some<Quad, number>(group, 1),
            some<Quad, number>(group, 2)};
  }
  RootPairs& block(std::size_t root) { return blocks_[root]; }

  /// The row of M of a joint's rate as a factor takes it: entries of the rates that carry it, from
  /// the root on, and its own. Writes up to three numbers behind it.
  void mass_row(int rate, double* out) const {
    const double* own = from(rate);
    Quad term[6];
    for (int k = 0; k < 6; ++k) term[k] = all<t1>(own, k);
    for (const Stretch& s : list(rows_[rate].ancestors)) {
      const double* columns = numbers_.data() + s.address;
      const int size = s.end - s.begin;
      for (int j = 0; j < size; j += Quad::size) {
        Quad sum(0.0);
        for (int k = 0; k < 6; ++k) sum += term[k] * some<Quad, S>(columns + j, k);
        sum.store(out + j);
      }
      out += size;
    }
    *out = own[own_mass * stride];
  }

  /// Writes all entries of the matrices. @param M  or nullptr where it is not wanted
  void write(double* Dq, double* Dv, double* M) {
    if (M != nullptr) {
      write_rows<3>({Dq, Dv, M});
    } else {
      write_rows<2>({Dq, Dv});
    }
  }
  /// Writes those by q and v as right-hand sides: rows of `apart` numbers, behind which a Pack may
  /// be written. Entries of rates of which none carries the other stay zero; what registers write
  /// behind a stretch is zeroed again.
  /// @param first  columns before it are left out: 0, or 6 of a root that carries everything
  void write_right_sides(int first, double* A, double* B, long apart) const {
    if (is_chain_) return write_chain<2>({A, B}, apart);
    for (int i = 0; i < n_; ++i) write_related(i, first, {A + i * apart, B + i * apart});
  }

 private:
  /// Rates whose numbers stand side by side.
  struct Stretch {
    int begin, end;
    int address;  ///< of the first number of the first
  };
  struct Part {
    int begin = 0, end = 0;  ///< in stretches_
  };
  struct Row {
    Part ancestors, descendants;
    int end = 0;    ///< behind the last rate that it carries
    int root = -1;  ///< whose rate this is, or -1
    int place = 0;  ///< among the root's rates
  };
  // Where numbers are is known at compile time: blocks of columns, of which all have the first
  // number, then all the second. Registers read a little behind a block's end.
  static constexpr int block_columns = 64, stride = block_columns + Pack::size;
  static constexpr int block_size = numbers * stride;

  /// A column for each rate; those of a group's joints begin and end with whole registers.
  void number_columns(const JointLanes& plan) {
    std::vector<int> first(n_, -1);  // among four columns
    for (const JointLanes::Root& r : plan.roots()) first[r.rate] = 2;
    for (const JointLanes::Group& g : plan.groups()) first[g.rate] = 0;
    int column = 0;
    for (int i = 0; i < n_; ++i) {
      while (first[i] >= 0 && column % Quad::size != first[i]) ++column;
      address_[i] = column / block_columns * block_size + column % block_columns;
      ++column;
    }
    numbers_.assign((column / block_columns + 1) * static_cast<std::size_t>(block_size), 0.0);
  }
  /// Stretches with those of some more rates.
  std::vector<Stretch> stretches(int begin, int end, std::vector<Stretch> to) const {
    for (int i = begin; i < end; ++i) {
      if (!to.empty() && to.back().end == i && address_[i - 1] + 1 == address_[i]) {
        ++to.back().end;
      } else {
        to.push_back({i, i + 1, address_[i]});
      }
    }
    return to;
  }
  Part listed(const std::vector<Stretch>& some) {
    const Part part{static_cast<int>(stretches_.size()),
                    static_cast<int>(stretches_.size() + some.size())};
    stretches_.insert(stretches_.end(), some.begin(), some.end());
    return part;
  }
  Part stretches_of(int begin, int end, const std::vector<Stretch>& to) {
    return listed(stretches(begin, end, to));
  }
  std::span<const Stretch> list(const Part& part) const {
    return {stretches_.data() + part.begin, stretches_.data() + part.end};
  }
  /// Whether a rate follows that which carries it, and columns stand side by side.
  bool carries_what_follows(int i) const {
    return rows_[i].end == n_ && address_[i] == address_[0] + i;
  }
  const double* from(int rate) const { return numbers_.data() + address_[rate]; }
  template <class P, int number>
  static P some(const double* rate, int k) {
    return P::load(rate + (number + k) * stride);
  }
  template <int number, class P = Quad>
  static P all(const double* rate, int k) {
    return P(rate[(number + k) * stride]);
  }
  template <int matrices>
  using Out = std::array<double*, matrices>;

  template <int matrices>
  void write_rows(const Out<matrices>& all) {
    if (is_chain_) return write_chain<matrices>(all, n_);
    for (int i = 0; i < n_; ++i) {
      // Registers that are longer than a row go on in the next ones, which are written later.
      const long at = static_cast<long>(i) * n_;
      const bool last = at + n_ + Quad::size > static_cast<long>(n_) * n_;
      Out<matrices> out;
      for (int m = 0; m < matrices; ++m) out[m] = last ? spare_[m].data() : all[m] + at;
      write_row<matrices>(i, out);
      for (int m = 0; last && m < matrices; ++m) std::copy_n(out[m], n_, all[m] + at);
    }
  }
  /// Rows of a chain, whose columns are one stretch: nothing is zero, and nothing is written behind
  /// the last row.
  template <int matrices>
  void write_chain(const Out<matrices>& all, long apart) const {
    const int last = n_ - 1, tail = n_ - Quad::size, first = address_[0];
    for (int i = 0; i <= last; ++i) {
      const double* own = from(i);
      Out<matrices> out;
      for (int m = 0; m < matrices; ++m) out[m] = all[m] + i * apart;
      with_ancestors<matrices>(own, {0, i < last ? i : tail, first}, out);
      if (i == last) with_ancestors<matrices>(own, {tail, last, first + tail}, out);
      write_own<matrices>(i, own, out);
      with_descendants<matrices>(own, {i + 1, n_, first + i + 1}, out);
    }
  }
  template <int matrices>
  static void write_own(int i, const double* own, const Out<matrices>& out) {
    constexpr int with_itself[3] = {own_q, own_v, own_mass};
    for (int m = 0; m < matrices; ++m) out[m][i] = own[with_itself[m] * stride];
  }
  template <int matrices>
  static void clear(int begin, int end, const Out<matrices>& out) {
    for (int j = begin; j < end; j += Quad::size) {
      for (int m = 0; m < matrices; ++m) Quad(0.0).store(out[m] + j);
    }
  }
  template <int matrices>
  void write_row(int i, const Out<matrices>& out) const {
    const Row& row = rows_[i];
    if (row.root >= 0) {
      clear<matrices>(0, i - row.place, out);
      write_root<matrices>(i, row, out);
    } else {
      const double* own = from(i);
      int at = 0;
      for (const Stretch& s : list(row.ancestors)) {
        clear<matrices>(at, s.begin, out);
        with_ancestors<matrices>(own, s, out);
        at = s.end;
      }
      clear<matrices>(at, i, out);
      write_own<matrices>(i, own, out);
      for (const Stretch& s : list(row.descendants)) with_descendants<matrices>(own, s, out);
    }
    clear<matrices>(row.end, n_, out);
  }
  /// Related entries of a row from a column on, and zeros behind their stretches.
  void write_related(int i, int first, const Out<2>& out) const {
    const Row& row = rows_[i];
    if (row.root >= 0) {
      write_root<2>(i, row, out);
    } else {
      const double* own = from(i);
      for (Stretch s : list(row.ancestors)) {
        const int known = std::max(0, first - s.begin);
        s.begin += known, s.address += known;
        if (s.begin >= s.end) continue;
        with_ancestors<2>(own, s, out);
        clear<2>(s.end, s.end + Quad::size, out);
      }
      write_own<2>(i, own, out);
      for (const Stretch& s : list(row.descendants)) with_descendants<2>(own, s, out);
    }
    clear<2>(row.end, row.end + Quad::size, out);
  }
  /// What a row of a floating root, whose columns are unit vectors, has with what it carries.
  template <int matrices>
  void write_root(int i, const Row& row, const Out<matrices>& out) const {
    const RootPairs& block = blocks_[row.root];
    const double* own[3] = {block.q, block.v, block.mass};
    constexpr int terms[3] = {t4, t3, t1};
    for (int m = 0; m < matrices; ++m) {
      std::copy_n(own[m] + row.place * RootPairs::width, 6, out[m] + i - row.place);
      for (const Stretch& s : list(row.descendants)) {
        const double* term = numbers_.data() + s.address + (terms[m] + row.place) * stride;
        const int size = s.end - s.begin;
        for (int j = 0; j < size; j += Quad::size) {
          Quad::load(term + j).store(out[m] + s.begin + j);
        }
      }
    }
  }
  /// Entries of a rate's row in columns that carry it. @param own  numbers of the rate
  template <int matrices>
  [[gnu::always_inline]] void with_ancestors(const double* own, const Stretch& s,
                                             const Out<matrices>& out) const {
    const double* columns = numbers_.data() + s.address;
    const int size = s.end - s.begin;
    int j = 0;
    for (; j + Quad::size < size; j += Pack::size) {
      with_ancestor<matrices, Pack>(own, columns + j, s.begin + j, out);
    }
    if (j < size) with_ancestor<matrices, Quad>(own, columns + j, s.begin + j, out);
  }
  template <int matrices, class P>
  static void with_ancestor(const double* own, const double* columns, int j,
                            const Out<matrices>& out) {
    P q(0.0), v(0.0), mass(0.0);
    for (int k = 0; k < 6; ++k) {
      const P x1 = all<t1, P>(own, k), s = some<P, S>(columns, k);
      q += x1 * some<P, psi2>(columns, k);
      v += x1 * some<P, ups>(columns, k);
      if (matrices > 2) mass += x1 * s;
      if (k < 3) {
        const P x2 = all<t2, P>(own, k);
        q += x2 * some<P, psi1>(columns, k);
        v += x2 * s;
      }
    }
    q.store(out[0] + j), v.store(out[1] + j);
    if constexpr (matrices > 2) mass.store(out[2] + j);
  }
  /// Entries of a rate's row in columns that it carries.
  template <int matrices>
  [[gnu::always_inline]] void with_descendants(const double* own, const Stretch& s,
                                               const Out<matrices>& out) const {
    const double* terms = numbers_.data() + s.address;
    const int size = s.end - s.begin;
    int j = 0;
    for (; j + Quad::size < size; j += Pack::size) {
      with_descendants<matrices, Pack>(own, terms + j, s.begin + j, out);
    }
    if (j < size) with_descendants<matrices, Quad>(own, terms + j, s.begin + j, out);
  }
  template <int matrices, class P>
  static void with_descendants(const double* own, const double* terms, int j,
                               const Out<matrices>& out) {
    P q(0.0), v(0.0), mass(0.0);
    for (int k = 0; k < 6; ++k) {
      const P s = all<S, P>(own, k);
      q += s * some<P, t4>(terms, k);
      v += s * some<P, t3>(terms, k);
      if (matrices > 2) mass += s * some<P, t1>(terms, k);
    }
    q.store(out[0] + j), v.store(out[1] + j);
    if constexpr (matrices > 2) mass.store(out[2] + j);
  }

  int n_;
  bool is_chain_ = false;     ///< whether every rate carries all that follow
  std::vector<int> address_;  ///< of rates: their first numbers
  AlignedNumbers numbers_;
  std::vector<RootPairs> blocks_;
  std::vector<Row> rows_;
  std::vector<Stretch> stretches_;
  std::array<std::vector<double>, 3> spare_;  ///< a row that must not be written behind its end
};

}  // namespace espalier
