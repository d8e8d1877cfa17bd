#pragma once

#include "algorithms/segments/articulated_tree/tree_state.hpp"

namespace espalier {

/// Bodies on revolute joints side by side, in an articulated tree.

/// Attitudes and rigid inertias.
template <class T>
void place(const RevoluteRow& s, TreeState<T>& state) {
  using V = typename BodyRow<T>::V;
  BodyRow<T>& g = state.rows[s.row];
  const auto& joints = state.motion.joints.X;
  Transform<V> X;
  for (int a = 0; a < 3; ++a) {
    for (int b = 0; b < 3; ++b) {
      X.E(a, b) = side_by_side<T>([&](int k) { return joints[g.source[k]].E(a, b); });
    }
    X.r[a] = side_by_side<T>([&](int k) { return joints[g.source[k]].r[a]; });
  }
  Mat3<V> E;
  if (g.all_follow) {
    E = state.rows[g.before].E;
  } else {
    for (int a = 0; a < 3; ++a) {
      for (int b = 0; b < 3; ++b) {
        E(a, b) = side_by_side<T>([&](int k) { return state.body[g.parent[k]].E(a, b); });
      }
    }
  }
  g.E = X.E * E;
  g.r = transpose_times(E, X.r);
  g.IA = ArticulatedInertia<V>::from(
      RigidInertia<V>{g.m, transpose_times(g.E, g.h), congruence(g.E, g.I)});
  for (int k = 0; k < g.size; ++k) {
    const int lane = g.lane[k];
    TreeBody<T>& b = state.body[g.body[k]];
    for (int a = 0; a < 3; ++a) {
      for (int c = 0; c < 3; ++c) b.E(a, c) = row_of<T>(&g.E(a, c), lane);
      b.x[a] = row_of<T>(&g.r[a], lane);
    }
    state.columns[b.J] = {b.E.row[2], Vec3<T>::zero()};
    if (g.collects) b.IA = ArticulatedInertia<T>::zero();
  }
}

/// U, D; IA to the parents, in the row before or one by one.
template <class T>
void eliminate(const RevoluteRow& s, TreeState<T>& state) {
  using V = typename BodyRow<T>::V;
  BodyRow<T>& g = state.rows[s.row];
  if (g.collects) {
    for_numbers(g.IA, [&](V& x, auto&& number) {
      x += side_by_side<T>([&](int k) { return number(state.body[g.collector[k]].IA); });
    });
  }
  const Vec3<V>& S = g.E.row[2];
  Force<V> U{g.IA.A * S, transpose_times(g.IA.B, S)};
  const V D = dot(S, U.n) + g.inertia;
  U.n += cross(g.r, U.f);
  for (int k = 0; k < g.size && g.gears; ++k) {
    const TreeNode& node = state.nodes[state.body[g.body[k]].node];
    for (int r = 0; r < node.gears; ++r) {
      const Vec3<T> momentum = state.gear_momentum(*node.cluster, r);
      for (int a = 0; a < 3; ++a) row_of<T>(&U.n[a], g.lane[k]) += momentum[a];
    }
  }
  const V inverse = V(1.0) / D;
  ArticulatedInertia<V> Ia = shifted(g.IA, g.r);
  Ia.subtract_outer(inverse, U);
  if (g.all_follow) {
    state.rows[g.before].IA += Ia;
  } else if (g.before >= 0) {
    // A lane that does not follow is idle there, and idle lanes stay without mass.
    for_numbers(state.rows[g.before].IA, [&](V& x, auto&& number) { x += g.share * number(Ia); });
  }
  for (int k = 0; k < g.size; ++k) {
    const int lane = g.lane[k];
    TreeBody<T>& b = state.body[g.body[k]];
    const TreeNode& node = state.nodes[b.node];
    state.D[node.D] = row_of<T>(&inverse, lane);
    for (int a = 0; a < 6; ++a) state.U[node.U][a] = row_of<T>(&U[a], lane);
    if (g.follows[lane] || b.parent == 0) continue;
    for_numbers(state.body[b.parent].IA,
                [&](T& x, auto&& number) { x += row_of<T>(&number(Ia), lane); });
  }
}

}  // namespace espalier
