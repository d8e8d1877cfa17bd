#pragma once

#include <vector>

#include "algorithms/segments/articulated/world_body.hpp"
#include "algorithms/segments/row_step.hpp"

namespace espalier {

/// Bodies side by side in the articulated-body recursion; a plain one in world_body.hpp.
template <class T>
struct ArticulatedRow {
  using V = typename RowLanes<T>::V;
  static constexpr int lanes = RowLanes<T>::size;

  /// @param armature  per rate
  ArticulatedRow(const Model& model, const typename TurningRows<lanes>::Row& plan,
                 const std::vector<double>& armature)
      : on_root(plan.ways.empty()) {
    if (!on_root) parent = RowStep<T>(plan.ways[0]);
    int other = 0;
    for (const int b : plan.body) other = b > 0 ? b : other;
    for (int k = 0; k < lanes; ++k) {
      const bool idle = plan.body[k] == 0;
      const int b = body[k] = idle ? other : plan.body[k];
      const Body& joint = model.body(b);
      lane_rate[k] = joint.v;
      set(k, joint, idle ? RigidInertia<double>::zero() : model.folded_inertia(b),
          idle ? 1.0 : armature[joint.v]);  // an idle lane's D is not zero
      if (idle) continue;
      lane[size] = k, rate[size] = joint.v;
      ++size;
    }
  }

  Mat3<V> E() const {
    return {
        {{seen[0], seen[1], seen[2]}, {seen[3], seen[4], seen[5]}, {seen[6], seen[7], seen[8]}}};
  }

  // What rows further out read, and add to: real arrays, since lanes are picked out of them by
  // number.
  V seen[18] = {};  ///< E, and the motion at vdot = 0: omega, alpha, a
  V IA[27] = {};    ///< inertia and bias wrench of what hangs on the body: A, B, C, pA
  V da[6] = {};     ///< acceleration beyond that at vdot = 0
  Vec3<V> r = {};   ///< from the parent's origin
  Force<V> U = {};  ///< IA S / D
  V u = {};         ///< (tau - S^T pA) / D
  Mat3<V> placement_E;
  Vec3<V> placement_r;
  Moments<V, V> moments;  ///< body axes
  V armature;
  RowStep<T> parent;
  bool on_root = false, leaf = true;
  int size = 0;          ///< lanes in use
  int lane[lanes];       ///< these
  long rate[lanes];      ///< per used lane
  int body[lanes];       ///< per lane, those of idle ones another's
  int lane_rate[lanes];  ///< per lane, likewise

 private:
  void set(int k, const Body& joint, const RigidInertia<double>& I, double inertia_of_rate) {
    const auto put_in = [&](V& x, double value) { row_of<T>(&x, k) = T(value); };
    for (int a = 0; a < 3; ++a) {
      for (int b = 0; b < 3; ++b) put_in(placement_E(a, b), joint.placement.E(a, b));
      put_in(placement_r[a], joint.placement.r[a]);
      put_in(moments.h[a], I.h[a]);
    }
    const Sym3<double> Sigma = Moments<double>::from(I).Sigma;
    put_in(moments.m, I.m);
    put_in(armature, inertia_of_rate);
    put_in(moments.Sigma.xx, Sigma.xx), put_in(moments.Sigma.xy, Sigma.xy);
    put_in(moments.Sigma.xz, Sigma.xz), put_in(moments.Sigma.yy, Sigma.yy);
    put_in(moments.Sigma.yz, Sigma.yz), put_in(moments.Sigma.zz, Sigma.zz);
  }
};

/// An articulated inertia from 21 numbers, and into them.
template <class S>
ArticulatedInertia<S> get_inertia(const S* I) {
  return {{I[0], I[1], I[2], I[3], I[4], I[5]},
          {{{I[6], I[7], I[8]}, {I[9], I[10], I[11]}, {I[12], I[13], I[14]}}},
          {I[15], I[16], I[17], I[18], I[19], I[20]}};
}
template <class S>
void put_inertia(const ArticulatedInertia<S>& I, S* x) {
  x[0] = I.A.xx, x[1] = I.A.xy, x[2] = I.A.xz, x[3] = I.A.yy, x[4] = I.A.yz, x[5] = I.A.zz;
  for (int a = 0; a < 3; ++a) {
    for (int b = 0; b < 3; ++b) x[6 + 3 * a + b] = I.B(a, b);
  }
  x[15] = I.C.xx, x[16] = I.C.xy, x[17] = I.C.xz, x[18] = I.C.yy, x[19] = I.C.yz, x[20] = I.C.zz;
}

}  // namespace espalier
