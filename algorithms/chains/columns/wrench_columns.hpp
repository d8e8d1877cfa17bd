#pragma once

#include <algorithm>

#include "algorithms/chains/carried_wrenches.hpp"

namespace espalier {

/// The wrenches that unit accelerations of the rates of a lone chain take, as many side by side as
/// a register holds: blocks of neighbours from the tip on, in the order of their bodies. All are in
/// the frame of the body that they have come to.
template <class T>
class WrenchColumns {
 public:
  using V = typename RowLanes<T>::V;
  static constexpr unsigned width = RowLanes<T>::size;

  /// @param blocks  blocks_of<T>(bodies)
  /// @param bodies  of the chain
  /// @param held    whose wrenches are there, from the tip on
  WrenchColumns(Force<V>* blocks, int bodies, int held)
      : blocks_(blocks), bodies_(bodies), held_(held) {}

  /// The next body's joins; all pass to the body before.
  /// @param n, f_x, f_y  moment, and force, which has no z
  template <ChainKind kind>
  ESPALIER_ALWAYS_INLINE void add(const Vec3<T>& n, const T& f_x, const T& f_y,
                                  const ChainPlacement<double>& P, const Turn<V>& t) {
    const unsigned last = held_ / width;
    for (unsigned k = 0; k < last; ++k) {
      Force<V> F = blocks_[k];
      to_parent<kind>(P, t, F);
      blocks_[k] = F;
    }
    const V here = unit(held_);
    Force<V> F{{here * n.x, here * n.y, here * n.z}, {here * f_x, here * f_y, V(0.0)}};
    if (held_ % width != 0) F += blocks_[last];
    to_parent<kind>(P, t, F);
    blocks_[last] = F;
    ++held_;
  }
  /// Adds a moment to the one that came last.
  void add_moment(const Vec3<double>& n) {
    const V here = unit(held_ - 1);
    blocks_[(held_ - 1) / width].n += Vec3<V>{here * n.x, here * n.y, here * n.z};
  }
  /// Calls f(F) for the wrenches of neighbours at a time.
  template <class Change>
  void for_each(Change&& f) {
    for (unsigned k = 0; k * width < held_; ++k) f(blocks_[k]);
  }
  /// That of a body's rate.
  Force<T> of(int body) const {
    const unsigned k = bodies_ - 1 - body;
    return wrench_of_lane<T>(blocks_[k / width], static_cast<int>(width - 1 - k % width));
  }

  /// Moments about the axis of the body that all have come to: what its rate and theirs share of M,
  /// in both triangles.
  /// @param bodies       of the chain, with their rates
  /// @param in_sequence  whether the chain's rates follow each other; entries of those for which
  ///   nothing has come yet are then written, too
  template <class Body>
  ESPALIER_ALWAYS_INLINE void write_moments(const Body* bodies, const Body& b, bool in_sequence,
                                            T* M, long size) const {
    T *const row = M + b.rate[0] * size, *const column = M + b.rate[0];
    int first = bodies_;
    for (unsigned k = 0; k * width < held_; ++k) {
      const T* z = reinterpret_cast<const T*>(&blocks_[k].n.z);
      first -= static_cast<int>(width);
      if (in_sequence && first >= 0) {
        const int rate = bodies[first].rate[0];
        blocks_[k].n.z.store(row + rate);
        T* to = column + rate * size;
        for (unsigned l = 0; l < width; ++l, to += size) *to = z[l];
        continue;
      }
      const int begin = std::max(0, bodies_ - static_cast<int>(held_) - first);
      for (int l = begin; l < static_cast<int>(width); ++l) {
        const int rate = bodies[first + l].rate[0];
        row[rate] = column[rate * size] = z[l];
      }
    }
  }

 private:
  /// 1 in the lane of the body with k bodies after it, 0 in others.
  static V unit(unsigned k) {
    alignas(V) static constexpr T units[4][4] = {
        {0, 0, 0, 1}, {0, 0, 1, 0}, {0, 1, 0, 0}, {1, 0, 0, 0}};
    static_assert(width == 4);
    return V::load(units[k % width]);
  }

  Force<V>* blocks_;
  int bodies_;
  unsigned held_;
};

}  // namespace espalier
