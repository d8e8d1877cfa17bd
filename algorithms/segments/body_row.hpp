#pragma once

#include "algorithms/chains/columns/row_lanes.hpp"
#include "espalier/kernel/spatial/inertia.hpp"

namespace espalier {

/// Bodies on revolute joints that are computed at once, one in each lane of a V. Idle lanes have no
/// mass and move as another does.
template <class T>
struct BodyRow {
  using V = typename RowLanes<T>::V;
  static constexpr int lanes = RowLanes<T>::size;

  bool follows_before(int of_body) const {
    for (int k = 0; k < size; ++k) {
      if (body[k] == of_body) return follows[lane[k]];
    }
    return false;
  }
  /// Others than followers hang on a body.
  void collect(int on_body) {
    collects = true;
    for (int k = 0; k < size; ++k) {
      if (body[k] == on_body) collector[lane[k]] = on_body;
    }
  }
  void set_constants(int k, const RigidInertia<double>& of_body, double of_rate) {
    const auto set = [&](V& x, double value) { row_of<T>(&x, k) = T(value); };
    set(m, of_body.m);
    set(inertia, of_rate);
    for (int a = 0; a < 3; ++a) set(h[a], of_body.h[a]);
    set(I.xx, of_body.I.xx), set(I.xy, of_body.I.xy), set(I.xz, of_body.I.xz);
    set(I.yy, of_body.I.yy), set(I.yz, of_body.I.yz), set(I.zz, of_body.I.zz);
  }

  int size = 0;  ///< lanes that are used: the first `size` of lane and body
  int lane[lanes];
  int body[lanes];
  int source[lanes];     ///< per lane: body whose joint is taken
  int parent[lanes];     ///< per lane: its parent
  int collector[lanes];  ///< per lane: body if others than followers hang on it, else the ground
  bool follows[lanes];   ///< per lane: whether the parent is in this lane of the row before
  int before = -1;       ///< row of these parents
  bool all_follow = false, collects = false, gears = false;
  V share;       ///< per lane: 1 where it follows, else 0
  V m, inertia;  ///< inertia: armature and rotors on the rate
  Vec3<V> h;
  Sym3<V> I;
  Mat3<V> E;
  Vec3<V> r;
  ArticulatedInertia<V> IA;
};

/// Calls f(x, number) for every number x of an inertia; number(other) is the same of another one.
template <class A, class F>
void for_numbers(A& I, F&& f) {
  const auto symmetric = [&](auto part) {
    f(
        part(I).xx, [&](auto& o) -> auto& { return part(o).xx; });
    f(
        part(I).xy, [&](auto& o) -> auto& { return part(o).xy; });
    f(
        part(I).xz, [&](auto& o) -> auto& { return part(o).xz; });
    f(
        part(I).yy, [&](auto& o) -> auto& { return part(o).yy; });
    f(
        part(I).yz, [&](auto& o) -> auto& { return part(o).yz; });
    f(
        part(I).zz, [&](auto& o) -> auto& { return part(o).zz; });
  };
  symmetric([](auto& o) -> auto& { return o.A; });
  symmetric([](auto& o) -> auto& { return o.C; });
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) {
      f(
          I.B(i, j), [&](auto& o) -> auto& { return o.B(i, j); });
    }
  }
}

}  // namespace espalier
