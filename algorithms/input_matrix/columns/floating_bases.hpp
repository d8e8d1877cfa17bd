#pragma once

#include <vector>

#include "algorithms/input_matrix/columns/column_state.hpp"
#include "algorithms/input_matrix/columns/column_steps.hpp"
#include "algorithms/segments/free_body.hpp"

namespace espalier {

/// Columns at bases that float, which move as their inverse articulated inertias say:
///   P = [Q, -Q B C^-1; -(Q B C^-1)^T, C^-1 + C^-1 B^T Q B C^-1],  Q = (A - B C^-1 B^T)^-1.
/// Source: theory/input-matrix 3.1.
template <class T>
class FloatingBases {
 public:
  using V = typename RowLanes<T>::V;

  FloatingBases(const ArticulatedTree<T>& tree, ColumnState<T>& state)
      : tree_(tree), state_(state), number_(tree.nodes().size(), -1) {}

  /// A free joint on the ground, whose body alone moves with it.
  void add(int node) {
    number_[node] = static_cast<int>(bases_.size());
    bases_.emplace_back();
    bases_.back().node = node;
  }
  bool contains(int node) const { return number_[node] >= 0; }

  /// Inverts the articulated inertias at the tree's last update: best before the columns go inward,
  /// whose steps fill the time of the divisions.
  void invert() {
    for (Base& base : bases_) {
      const int body = tree_.nodes()[base.node].body;
      const ArticulatedInertia<T>& IA = tree_.articulated_inertia(body);
      const Sym3<T> C = inverse(IA.C);
      const Mat3<T> BC{{C * IA.B.row[0], C * IA.B.row[1], C * IA.B.row[2]}};
      const auto entry = [&](int i, int j) { return dot(BC.row[i], IA.B.row[j]); };
      const Sym3<T> Q =
          inverse(Sym3<T>{IA.A.xx - entry(0, 0), IA.A.xy - entry(0, 1), IA.A.xz - entry(0, 2),
                          IA.A.yy - entry(1, 1), IA.A.yz - entry(1, 2), IA.A.zz - entry(2, 2)});
      base.Q = Sym3<V>::from(Q), base.C = Sym3<V>::from(C), base.BC = Mat3<V>::from(BC);
      base.E = Mat3<V>::from(tree_.attitude(body));
    }
  }
  /// Motions and rates of a base in all blocks, once all wrenches on it have been written.
  void move(int n, const std::vector<ColumnStep>& steps) {
    const Base& base = bases_[number_[n]];
    const auto& node = tree_.nodes()[n];
    const std::size_t B = state_.blocks;
    Force<V>* const F = state_.wrenches(node.body);
    for (const ColumnStep& s : steps) {
      for (int b = s.begin; b < s.end && s.driven; ++b) {
        const V* f = state_.force(node.v) + b;
        const auto at = [&](int j) { return f[static_cast<std::size_t>(j) * B]; };
        write(F[b],
              {transpose_times(base.E, Vec3<V>{at(0), at(1), at(2)}),
               transpose_times(base.E, Vec3<V>{at(3), at(4), at(5)})},
              s.first);
      }
    }
    Motion<V>* const a = state_.motion(node.body);
    V* const rates = state_.rate(node.v);
    for (std::size_t b = 0; b < B; ++b) {
      const Force<V> f = F[b];
      Motion<V> m;
      m.w = base.Q * (f.n - base.BC * f.f);
      m.v = base.C * f.f - transpose_times(base.BC, m.w);
      a[b] = m;
      const Vec3<V> w = base.E * m.w, v = base.E * m.v;
      rates[b] = w.x, rates[B + b] = w.y, rates[2 * B + b] = w.z;
      rates[3 * B + b] = v.x, rates[4 * B + b] = v.y, rates[5 * B + b] = v.z;
    }
  }

 private:
  /// A base, with its numbers in all lanes.
  struct Base {
    int node = -1;
    Sym3<V> Q = Sym3<V>::zero(), C = Sym3<V>::zero();
    Mat3<V> BC = Mat3<V>::identity();
    Mat3<V> E = Mat3<V>::identity();  ///< world to body axes
  };

  const ArticulatedTree<T>& tree_;
  ColumnState<T>& state_;
  std::vector<int> number_;  ///< per node: among the bases, or -1
  std::vector<Base> bases_;
};

}  // namespace espalier
