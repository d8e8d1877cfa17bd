#pragma once

#include <algorithm>
#include <vector>

#include "algorithms/derivatives/variation/variation_state.hpp"
#include "espalier/kernel/scalar/pack.hpp"

namespace espalier {

/// The columns on the way from a body to the ground as lanes of registers: what one coordinate is
/// multiplied with at once. Bodies are visited depth first, so that most of a way stays where the
/// last one had it. Source: theory/derivatives 20.
class PathLanes {
 public:
  /// One of the products of a coordinate with the ways' columns, by place.
  enum Product { mass, q_row, v_row, q_column, v_column, products };

  /// A column on a body's way.
  struct Step {
    int column;      ///< among those of the state
    int coordinate;  ///< independent rate
  };

  /// @param paths   per body, from its own columns to the ground
  /// @param bodies  that are visited, in order; 0: none, its visit is empty
  void plan(const std::vector<std::vector<Step>>& paths, const std::vector<int>& bodies) {
    std::size_t longest = 0;
    for (const int i : bodies) longest = std::max(longest, paths[i].size());
    capacity_ = (longest + Pack::size - 1) / Pack::size * Pack::size;
    numbers_.assign(rows * capacity_, 0.0);
    out_.assign(products * capacity_, 0.0);
    std::vector<int> held(capacity_, -1);
    for (const int i : bodies) {
      Visit visit{static_cast<int>(loads_.size()), 0, static_cast<int>(coordinates_.size()),
                  static_cast<int>(paths[i].size())};
      for (int s = 0; s < visit.size; ++s) {
        const Step& step = paths[i][visit.size - 1 - s];
        coordinates_.push_back(step.coordinate);
        if (held[s] == step.column) continue;
        held[s] = step.column;
        loads_.push_back({step.column, s});
      }
      visit.loads_end = static_cast<int>(loads_.size());
      visits_.push_back(visit);
    }
  }

  /// Takes in the columns of a visited body's way.
  /// @param k       which of the visited bodies
  /// @param column  column(i): of the state's column i, a VariationColumn<double>
  template <class Column>
  void visit(int k, Column&& column) {
    at_ = visits_[k];
    for (int l = at_.loads; l < at_.loads_end; ++l) {
      const VariationColumn<double>& c = column(loads_[l].column);
      double* to = numbers_.data() + loads_[l].slot;
      put(c.S.w, to), put(c.S.v, to), put(c.psi1.w, to);
      put(c.psi2.w, to), put(c.psi2.v, to), put(c.ups.w, to), put(c.ups.v, to);
    }
  }
  /// The same of twists alone, for multiply_mass(). @param twist  twist(i): S of column i
  template <class Twist>
  void visit_twists(int k, Twist&& twist) {
    at_ = visits_[k];
    for (int l = at_.loads; l < at_.loads_end; ++l) {
      const Motion<double>& S = twist(loads_[l].column);
      double* to = numbers_.data() + loads_[l].slot;
      put(S.w, to), put(S.v, to);
    }
  }
  /// Products of t1 with the twists of the way, from the root on: size() numbers.
  const double* multiply_mass(const Force<double>& t1) {
    for (int s = 0; s < at_.size; s += Quad::size) {
      Quad sum = Quad(0.0);
      for (int k = 0; k < 6; ++k) {
        sum += Quad(t1[k]) * Quad::load(numbers_.data() + s + k * capacity_);
      }
      sum.store(out_.data() + s);
    }
    return out_.data();
  }
  /// (12.1) with all columns of the way; product() then has the results.
  /// @param t5  E^T S, or nullptr for zero
  void multiply(const Force<double>& t1, const Vec3<double>& t2, const Force<double>& t3,
                const Force<double>& t4, const Motion<double>* t5) {
    int s = 0;
    for (; s + Quad::size < at_.size; s += Pack::size) multiply<Pack>(s, t1, t2, t3, t4, t5);
    if (s < at_.size) multiply<Quad>(s, t1, t2, t3, t4, t5);
  }
  int size() const { return at_.size; }  ///< of the way
  int coordinate(int s) const { return coordinates_[at_.coordinates + s]; }
  double product(Product which, int s) const { return out_[which * capacity_ + s]; }
  /// Writes the products of coordinate `row` into matrices of n rows; M may be null.
  void write(long row, long n, double* Dq, double* Dv, double* M) const {
    for (int p = 0; p < at_.size; ++p) {
      const long j = coordinate(p);
      if (M != nullptr) M[row * n + j] = M[j * n + row] = product(mass, p);
      Dq[row * n + j] = product(q_row, p);
      Dv[row * n + j] = product(v_row, p);
      Dq[j * n + row] = product(q_column, p);
      Dv[j * n + row] = product(v_column, p);
    }
  }

 private:
  static constexpr int rows = 21;  ///< S, the angular part of psi1, psi2, ups
  struct Visit {
    int loads = 0, loads_end = 0, coordinates = 0, size = 0;
  };
  struct Load {
    int column, slot;
  };

  void put(const Vec3<double>& x, double*& to) const {
    to[0] = x.x, to[capacity_] = x.y, to[2 * capacity_] = x.z;
    to += 3 * capacity_;
  }
  template <class P>
  void multiply(int s, const Force<double>& t1, const Vec3<double>& t2, const Force<double>& t3,
                const Force<double>& t4, const Motion<double>* t5) {
    const double* from = numbers_.data() + s;
    const auto row = [&](int k) { return P::load(from + k * capacity_); };
    P m(0.0), q(0.0), v(0.0), Q(0.0), V(0.0);
    for (int k = 0; k < 6; ++k) {
      const P S = row(k), x1 = P(t1[k]);
      m += x1 * S;
      Q += P(t4[k]) * S;
      V += P(t3[k]) * S;
      q += x1 * row(9 + k);
      v += x1 * row(15 + k);
      if (k < 3) {
        const P x2 = P(t2[k]);
        v += x2 * S;
        q += x2 * row(6 + k);
      }
      if (t5 != nullptr) q += P((*t5)[k]) * S;
    }
    double* to = out_.data() + s;
    m.store(to + mass * capacity_);
    q.store(to + q_row * capacity_), v.store(to + v_row * capacity_);
    Q.store(to + q_column * capacity_), V.store(to + v_column * capacity_);
  }

  std::size_t capacity_ = 0;
  std::vector<double> numbers_, out_;  ///< a row for each number of a column; for each product
  std::vector<int> coordinates_;
  std::vector<Load> loads_;
  std::vector<Visit> visits_;
  Visit at_;
};

}  // namespace espalier
