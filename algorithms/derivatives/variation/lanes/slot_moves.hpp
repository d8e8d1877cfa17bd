#pragma once

#include "algorithms/derivatives/variation/lanes/joint_lanes.hpp"
#include "espalier/kernel/spatial/transform.hpp"

/// How vectors move between joints in lanes and slots of joints: a slot holds each vector as one
/// Quad, of which the last number counts where four are asked for.

namespace espalier::slot_moves {

inline void transpose(Quad& a, Quad& b, Quad& c, Quad& d) {
  using Lanes = Quad::Lanes;
  const Lanes ab = __builtin_shufflevector(a.lanes, b.lanes, 0, 4, 2, 6);
  const Lanes AB = __builtin_shufflevector(a.lanes, b.lanes, 1, 5, 3, 7);
  const Lanes cd = __builtin_shufflevector(c.lanes, d.lanes, 0, 4, 2, 6);
  const Lanes CD = __builtin_shufflevector(c.lanes, d.lanes, 1, 5, 3, 7);
  a.lanes = __builtin_shufflevector(ab, cd, 0, 1, 4, 5);
  b.lanes = __builtin_shufflevector(AB, CD, 0, 1, 4, 5);
  c.lanes = __builtin_shufflevector(ab, cd, 2, 3, 6, 7);
  d.lanes = __builtin_shufflevector(AB, CD, 2, 3, 6, 7);
}

/// Four rows of four numbers as four columns, of matrices of which rows are `stride` apart.
inline void transpose(const double* from, double* to, long stride) {
  Quad a = Quad::load(from), b = Quad::load(from + stride);
  Quad c = Quad::load(from + 2 * stride), d = Quad::load(from + 3 * stride);
  transpose(a, b, c, d);
  a.store(to), b.store(to + stride), c.store(to + 2 * stride), d.store(to + 3 * stride);
}

/// Four numbers of each of four slots that follow one another, as lanes.
/// @param width  Quads that a slot has
template <int width>
void take(const Quad* first, Quad& a, Quad& b, Quad& c, Quad& d) {
  a = first[0], b = first[width], c = first[2 * width], d = first[3 * width];
  transpose(a, b, c, d);
}
template <int width>
Vec3<Quad> take(const Quad* first) {
  Vec3<Quad> x;
  Quad rest;
  take<width>(first, x.x, x.y, x.z, rest);
  return x;
}
/// The same of slots anywhere.
template <int width>
Vec3<Quad> take(const Quad* slots, const std::array<int, JointLanes::lanes>& at) {
  Quad a = slots[width * at[0]], b = slots[width * at[1]];
  Quad c = slots[width * at[2]], d = slots[width * at[3]];
  transpose(a, b, c, d);
  return {a, b, c};
}
template <int width>
void give(Quad a, Quad b, Quad c, Quad d, Quad* first) {
  transpose(a, b, c, d);
  first[0] = a, first[width] = b, first[2 * width] = c, first[3 * width] = d;
}
template <int width>
void give(const Vec3<Quad>& x, Quad* first) {
  give<width>(x.x, x.y, x.z, Quad(0.0), first);
}
/// A vector of one slot.
inline Quad quad(const Vec3<double>& x) { return {x.x, x.y, x.z, 0.0}; }
inline Vec3<double> vec3(const Quad& x) { return {x[0], x[1], x[2]}; }

/// What joints hand to those that they carry: of a joint's own and what its parent has.
/// @param slots  `width` Quads each; those of roots are given
/// @param step   step(joint, parent's Quads, own Quads): makes the own ones of the parent's
template <int width, class Step>
void outward(const std::vector<JointLanes::Joint>& joints, Quad* slots, Step&& step) {
  Quad held[width];  // of the joint before, which mostly is the parent
  int holder = -1;
  for (const JointLanes::Joint& j : joints) {
    if (j.parent != holder) {
      for (int k = 0; k < width; ++k) held[k] = slots[width * j.parent + k];
    }
    Quad own[width];
    step(j, held, own);
    holder = j.slot;
    // Taken before the stores, after which a compiler would ask for the joint's slot again.
    Quad* const to = slots + width * holder;
    for (int k = 0; k < width; ++k) to[k] = held[k] = own[k];
  }
}
/// Adds to what every slot has of its own that of what carries it.
template <int width>
void sum_outward(const std::vector<JointLanes::Run>& runs, Quad* slots) {
  for (const JointLanes::Run& r : runs) {
    Quad held[width];
    for (int k = 0; k < width; ++k) held[k] = slots[width * r.parent + k];
    Quad* own = slots + width * r.slot;
    for (int i = 0; i < r.count; ++i, own += width) {
      for (int k = 0; k < width; ++k) own[k] = held[k] += own[k];
    }
  }
}
/// Adds to every slot those of the joints that it carries.
/// @param extra  of each slot: what is added to the parent's Quad `at` besides; or nullptr
template <int width, int count, int at>
void inward(const std::vector<JointLanes::Run>& runs, Quad* slots, const Quad* extra) {
  for (std::size_t n = runs.size(); n-- > 0;) {
    const JointLanes::Run& r = runs[n];
    Quad held[count];
    for (int k = 0; k < count; ++k) held[k] = Quad(0.0);
    Quad* own = slots + width * (r.slot + r.count - 1);
    for (int i = r.count; i-- > 0; own -= width) {
      for (int k = 0; k < count; ++k) own[k] = held[k] += own[k];
      if (extra != nullptr) held[at] += extra[r.slot + i];
    }
    Quad* parent = slots + width * r.parent;
    for (int k = 0; k < count; ++k) parent[k] += held[k];
  }
}

}  // namespace espalier::slot_moves
