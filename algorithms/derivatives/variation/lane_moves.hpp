#pragma once

#include <cstddef>

#include "algorithms/derivatives/variation/lane_tree.hpp"
#include "espalier/kernel/spatial/transform.hpp"

/// How structs of scalars move between bodies one by one and bodies in lanes: `One` holds doubles,
/// `Four` is the same struct of Quads.

namespace espalier::lane_moves {

/// The numbers of a struct of doubles or Quads, one after the other.
template <class Struct>
double* numbers(Struct& x) {
  return reinterpret_cast<double*>(&x);
}
template <class Struct>
const double* numbers(const Struct& x) {
  return reinterpret_cast<const double*>(&x);
}
/// How many numbers a body has in `One` and `Four`.
template <class One, class Four>
constexpr std::size_t count() {
  static_assert(sizeof(Four) == LaneTree::lanes * sizeof(One));
  return sizeof(One) / sizeof(double);
}

/// Entries of a vector, one for each lane.
inline Quad taken(const double* from, const std::array<int, LaneTree::lanes>& at) {
  return Quad(from[at[0]], from[at[1]], from[at[2]], from[at[3]]);
}

/// The parents of a group's bodies, which are roots or stand in lanes elsewhere.
/// @param root   root(k): of the tree's root k, a One
/// @param group  group(k): of group k, a Four
template <class One, class Four, class Root, class Group>
void gather_parents(const LaneTree::Group& g, const Root& root, const Group& group, Four& to) {
  constexpr std::size_t n = count<One, Four>();
  for (int l = 0; l < LaneTree::lanes; ++l) {
    const int lane = g.parent_lane[l];
    double* out = numbers(to) + l;
    if (g.parent_group[l] < 0) {
      const double* from = numbers(root(lane));
      for (std::size_t k = 0; k < n; ++k) out[Quad::size * k] = from[k];
    } else {
      const double* from = numbers(group(g.parent_group[l])) + lane;
      for (std::size_t k = 0; k < n; ++k) out[Quad::size * k] = from[Quad::size * k];
    }
  }
}
/// Adds what the bodies of a group hand on to their parents.
template <class One, class Four, class Root, class Group>
void add_to_parents(const LaneTree::Group& g, const Four& from, const Root& root,
                    const Group& group) {
  constexpr std::size_t n = count<One, Four>();
  for (int l = 0; l < LaneTree::lanes; ++l) {
    if (g.body[l] == 0) continue;
    const int lane = g.parent_lane[l];
    const double* in = numbers(from) + l;
    if (g.parent_group[l] < 0) {
      double* to = numbers(root(lane));
      for (std::size_t k = 0; k < n; ++k) to[k] += in[Quad::size * k];
    } else {
      double* to = numbers(group(g.parent_group[l])) + lane;
      for (std::size_t k = 0; k < n; ++k) to[Quad::size * k] += in[Quad::size * k];
    }
  }
}

/// Poses of a group's bodies and axes of their joints. @param parent  poses of their parents
inline void place(const LaneTree::Group& g, const Transform<Quad>& parent, const Quad& position,
                  Transform<Quad>& X, Motion<Quad>& S) {
  const Mat3<Quad> A = g.placement.E * parent.E;
  X.r = parent.r + transpose_times(parent.E, g.placement.r);
  if (g.turns) {
    Quad sine, cosine;
    sincos(position, sine, cosine);
    X.E.row[0] = scale(cosine, A.row[0]) + scale(sine, A.row[1]);
    X.E.row[1] = scale(cosine, A.row[1]) - scale(sine, A.row[0]);
    X.E.row[2] = A.row[2];
    S = {A.row[2], cross(X.r, A.row[2])};
  } else {
    X.E = A;
    X.r += scale(position, A.row[2]);
    S = {Vec3<Quad>::zero(), A.row[2]};
  }
}

}  // namespace espalier::lane_moves
