#pragma once

#include <type_traits>

#include "algorithms/segments/articulated_tree/tree_state.hpp"

namespace espalier {

/// Bodies one by one in an articulated tree: their places, and the elimination of those on a joint.
/// Source: Featherstone (2008), section 7.3.

/// Attitude, rigid inertia and S of a body.
template <class Ops, class T>
void place_body(int i, TreeState<T>& state) {
  TreeBody<T>& b = state.body[i];
  state.place(b, state.motion.joints.X[i]);
  const int v = state.model.body(i).v;
  Motion<T>* S = state.columns.data() + v;
  for (int j = 0; j < Ops::n; ++j) {
    if constexpr (std::is_same_v<Ops, SubspaceOps<RevoluteAxes>>) {
      S[j] = {b.E.row[2], Vec3<T>::zero()};
    } else {
      const Motion<T> s = Ops::column(state.motion.joints.S.data() + v, j);
      S[j] = {transpose_times(b.E, s.w), transpose_times(b.E, s.v)};
    }
  }
  b.IA = ArticulatedInertia<T>::from(RigidInertia<T>{
      T(b.inertia.m), transpose_times(b.E, b.inertia.h), congruence(b.E, b.inertia.I)});
}
template <class T>
void place(int i, TreeState<T>& state) {
  with_subspace(state.model.runs()[state.model.body(i).run],
                [&](auto ops) { place_body<decltype(ops)>(i, state); });
}

/// U, D; IA to the parent.
template <class Ops, class T>
void eliminate_one(const TreeNode& node, TreeState<T>& state) {
  const TreeBody<T>& b = state.body[node.body];
  const Motion<T>& S = state.columns[b.J];
  Force<T> U;
  T D;
  if constexpr (std::is_same_v<Ops, SubspaceOps<RevoluteAxes>>) {
    U = {b.IA.A * S.w, transpose_times(b.IA.B, S.w)};
    D = dot(S.w, U.n);
  } else {
    U = {b.IA.B * S.v, b.IA.C * S.v};
    D = dot(S.v, U.f);
  }
  U.n += cross(b.r, U.f);
  for (int k = 0; k < node.gears; ++k) U.n += state.gear_momentum(*node.cluster, k);
  if (node.inertia != 0.0) D += T(node.inertia);
  const T inverse = T(1.0) / D;
  state.D[node.D] = inverse;
  if (node.supports.empty()) return;
  state.U[node.U] = U;
  ArticulatedInertia<T> Ia = shifted(b.IA, b.r);
  Ia.subtract_outer(inverse, U);
  state.body[b.parent].IA += Ia;
}
template <class T>
void eliminate(const RevoluteBody& s, TreeState<T>& state) {
  eliminate_one<SubspaceOps<RevoluteAxes>>(state.nodes[s.node], state);
}
template <class T>
void eliminate(const PrismaticBody& s, TreeState<T>& state) {
  eliminate_one<SubspaceOps<PrismaticAxes>>(state.nodes[s.node], state);
}

/// S is the identity: Mqq = IA.
template <class T>
void eliminate(const FreeBody& s, TreeState<T>& state) {
  const TreeNode& node = state.nodes[s.node];
  const ArticulatedInertia<T>& IA = state.body[node.body].IA;
  T* L = state.L.data() + node.L;
  Motion<T>* J = state.columns.data() + state.body[node.body].J;
  for (int i = 0; i < 6; ++i) {
    const Force<T> column = IA.column(i);
    for (int k = i; k < 6; ++k) L[k * 6 + i] = column[k];
  }
  state.factor(node);
  for (int j = 0; j < 6; ++j) {  // the columns of L^-T
    for (int k = 0; k < 6; ++k) J[j][k] = T(k == j ? 1.0 : 0.0);
    for (int l = 0; l < j; ++l) {
      for (int k = 0; k <= l; ++k) J[j][k] -= L[j * 6 + l] * J[l][k];
    }
  }
}

template <class T>
void eliminate(const JointBody& s, TreeState<T>& state) {
  const TreeNode& node = state.nodes[s.node];
  const TreeBody<T>& b = state.body[node.body];
  const int n = node.n, v = state.model.body(node.body).v;
  T* M = n == 1 ? state.D.data() + node.D : state.L.data() + node.L;
  Force<T>* U = state.U.data() + node.U;
  Motion<T>* J = state.columns.data() + b.J;
  for (int j = 0; j < n; ++j) {
    U[j] = b.IA * J[j];
    for (int l = j; l < n; ++l) M[l * n + j] = dot(J[l], U[j]);
    double inertia = state.armature[v + j];
    if (state.links != nullptr) inertia += state.links->armature[node.v + j];
    if (inertia != 0.0) M[j * n + j] += T(inertia);
    U[j].n += cross(b.r, U[j].f);
  }
  state.factor(node);
  state.change_rates(node, J);
  if (node.supports.empty()) return;
  state.change_rates(node, U);
  ArticulatedInertia<T> Ia = shifted(b.IA, b.r);
  state.take_off(node, Ia);
  state.body[b.parent].IA += Ia;
}

}  // namespace espalier
