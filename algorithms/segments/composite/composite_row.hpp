#pragma once

#include <array>
#include <vector>

#include "algorithms/segments/composite/composite_body.hpp"
#include "algorithms/segments/row_step.hpp"

namespace espalier {

/// Bodies side by side in the composite-rigid-body recursion; a plain one in composite_body.hpp.
template <class T>
struct CompositeRow {
  using V = typename RowLanes<T>::V;
  static constexpr int lanes = RowLanes<T>::size;
  /// A body on the way to the ground, and where the rate there meets the row's in M.
  struct Step : RowStep<T> {
    using RowStep<T>::RowStep;
    long entry[lanes];     ///< of M, per used lane
    long mirrored[lanes];  ///< the same in the other triangle
  };

  /// All but `way` and `diagonal`, which depend on the rows before and on the size of M.
  /// @param bodies  per lane, 0: idle
  /// @param armature_of  per rate
  CompositeRow(const Model& model, const std::array<int, lanes>& bodies,
               const std::vector<double>& armature_of) {
    int other = 0;
    for (const int b : bodies) other = b > 0 ? b : other;
    for (int k = 0; k < lanes; ++k) {
      const bool idle = bodies[k] == 0;
      const int b = body[k] = idle ? other : bodies[k];
      const Body& joint = model.body(b);
      set(k, joint, idle ? RigidInertia<double>::zero() : model.folded_inertia(b),
          armature_of[joint.v]);
      if (idle) continue;
      lane[size] = k, rate[size] = joint.v;
      ++size;
    }
  }

  /// An inertia from ten numbers, and into them.
  static RigidInertia<V> get(const V* I) {
    return {I[0], {I[1], I[2], I[3]}, {I[4], I[5], I[6], I[7], I[8], I[9]}};
  }
  static void put(const RigidInertia<V>& I, V* out) {
    out[0] = I.m, out[1] = I.h.x, out[2] = I.h.y, out[3] = I.h.z;
    out[4] = I.I.xx, out[5] = I.I.xy, out[6] = I.I.xz;
    out[7] = I.I.yy, out[8] = I.I.yz, out[9] = I.I.zz;
  }

  Mat3<V> E() const {
    return {
        {{seen[0], seen[1], seen[2]}, {seen[3], seen[4], seen[5]}, {seen[6], seen[7], seen[8]}}};
  }
  Vec3<V> x() const { return {seen[9], seen[10], seen[11]}; }

  // What rows further out read: real arrays, since lanes are picked out of them by number.
  V seen[15] = {};  ///< E, x and the linear part of J, whose angular part is the last row of E
  V Ic[10] = {};    ///< composite inertia: m, h, I
  Vec3<V> r = {};   ///< from the parent's origin
  Mat3<V> placement_E;
  Vec3<V> placement_r;
  RigidInertia<V> inertia;  ///< body axes
  V armature;
  int size = 0;          ///< lanes in use
  int lane[lanes];       ///< these
  int body[lanes];       ///< per lane, those of idle ones another's
  long diagonal[lanes];  ///< entry of M, per used lane
  long rate[lanes];      ///< per used lane
  std::vector<Step> way;

 private:
  void set(int k, const Body& joint, const RigidInertia<double>& I, double inertia_of_rate) {
    const auto put_in = [&](V& x, double value) { row_of<T>(&x, k) = T(value); };
    for (int a = 0; a < 3; ++a) {
      for (int b = 0; b < 3; ++b) put_in(placement_E(a, b), joint.placement.E(a, b));
      put_in(placement_r[a], joint.placement.r[a]);
      put_in(inertia.h[a], I.h[a]);
    }
    put_in(inertia.m, I.m), put_in(armature, inertia_of_rate);
    put_in(inertia.I.xx, I.I.xx), put_in(inertia.I.xy, I.I.xy);
    put_in(inertia.I.xz, I.I.xz), put_in(inertia.I.yy, I.I.yy);
    put_in(inertia.I.yz, I.I.yz), put_in(inertia.I.zz, I.I.zz);
  }
};

}  // namespace espalier
