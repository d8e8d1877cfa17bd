#pragma once

#include <type_traits>
#include <vector>

#include "algorithms/chains/kernels.hpp"
#include "algorithms/segments/clusters/moving_rates.hpp"
#include "espalier/kernel/model/motion/subspace.hpp"
#include "espalier/kernel/spatial/inertia.hpp"

namespace espalier {

/// A body of the composite-rigid-body recursion, world axes at its origin.
template <class T>
struct CompositeBody {
  RigidInertia<double> inertia;  ///< body axes
  int parent = 0;
  int support = 0;       ///< nearest supporting body outside of its cluster
  int rate = 0;          ///< spanning rate at which its joint starts
  int v = 0, nv = 0;     ///< rates in M that move it on its support
  int way = 0;           ///< of wrenches from the support on, in CompositeState::ways
  int column = -1;       ///< of its J about the first body; -1: nothing hangs on it
  int J = 0;             ///< in a cluster: where its J about its own origin starts
  Mat3<T> E;             ///< world to body axes
  Vec3<T> r;             ///< from the parent's origin to the body's
  Vec3<T> from_support;  ///< from the support's origin to the body's
  Vec3<T> x;             ///< from the origin of the first body, or of what stands for the world
  RigidInertia<T> Ic;    ///< composite inertia
  /// Rates of its cluster that can move it, the other columns of its J being zero; empty: all.
  std::vector<RateRange> moving;

  /// Column k of its joint's motion subspace. @param S  of the joint, body axes
  template <class Ops>
  Motion<T> unit(const Motion<T>* S, int k) const {
    if constexpr (std::is_same_v<Ops, SubspaceOps<RevoluteAxes>>) {
      return {E.row[2], Vec3<T>::zero()};
    } else {
      const Motion<T> c = Ops::column(S, k);
      return {transpose_times(E, c.w), transpose_times(E, c.v)};
    }
  }
  /// Ic S for a column of the subspace, without the half of S that is zero.
  template <class Ops>
  Force<T> composite_times(const Motion<T>& S) const {
    if constexpr (std::is_same_v<Ops, SubspaceOps<RevoluteAxes>>) {
      return {Ic.I * S.w, cross(S.w, Ic.h)};
    } else {
      return Ic * S;
    }
  }
};

/// Adds an inertia about a point from which its own is seen at r, by Steiner:
///   h' = h + m r,  I' = I + (r·h + r·h') 1 - (r h^T + h' r^T).
template <class T>
ESPALIER_ALWAYS_INLINE void add_shifted(const RigidInertia<T>& I, const Vec3<T>& r,
                                        RigidInertia<T>& sum) {
  const Vec3<T>& h = I.h;
  const Vec3<T> g = h + scale(I.m, r);
  const T xx = r.x * (h.x + g.x), yy = r.y * (h.y + g.y), zz = r.z * (h.z + g.z);
  sum.m += I.m;
  sum.h += g;
  sum.I.xx += I.I.xx + (yy + zz);
  sum.I.yy += I.I.yy + (xx + zz);
  sum.I.zz += I.I.zz + (xx + yy);
  sum.I.xy += I.I.xy - (r.x * h.y + g.x * r.y);
  sum.I.xz += I.I.xz - (r.x * h.z + g.x * r.z);
  sum.I.yz += I.I.yz - (r.y * h.z + g.y * r.z);
}

/// Adds an inertia of body axes to one of world axes about the same point.
/// @param E  world to body axes
template <class T>
ESPALIER_ALWAYS_INLINE void add_turned(const RigidInertia<T>& I, const Mat3<T>& E,
                                       RigidInertia<T>& sum) {
  sum.m += I.m;
  sum.h += transpose_times(E, I.h);
  sum.I += congruence(E, I.I);
}

}  // namespace espalier
