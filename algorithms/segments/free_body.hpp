#pragma once

#include <algorithm>

#include "espalier/kernel/model/layout.hpp"
#include "espalier/kernel/spatial/inertia.hpp"

namespace espalier {

/// The floating body that all of a robot hangs on, whose axes may then stand for the world's; 0 if
/// there is none.
/// @param bodies  that count, from the first on: without folded rotors, or all
inline int floating_root(const Model& model, int bodies) {
  if (bodies == 0 || model.clusters()[model.body(1).cluster].constrained) return 0;
  if (model.runs()[model.body(1).run].subspace != SubspaceKind::free) return 0;
  for (const Cluster& c : model.clusters()) {
    if (c.first > 1 && std::find(c.supports.begin(), c.supports.end(), 0) != c.supports.end())
      return 0;
  }
  for (int i = 2; i <= bodies; ++i) {
    if (model.body(i).parent == 0) return 0;
  }
  for (const Rotor& rotor : model.rotors()) {
    if (rotor.parent == 0) return 0;
  }
  return 1;
}

/// By cofactors: one division.
template <class T>
inline Sym3<T> inverse(const Sym3<T>& m) {
  const T xx = m.yy * m.zz - m.yz * m.yz, xy = m.xz * m.yz - m.xy * m.zz,
          xz = m.xy * m.yz - m.xz * m.yy;
  const T scale = T(1.0) / (m.xx * xx + m.xy * xy + m.xz * xz);
  return {scale * xx,
          scale * xy,
          scale * xz,
          scale * (m.xx * m.zz - m.xz * m.xz),
          scale * (m.xy * m.xz - m.xx * m.yz),
          scale * (m.xx * m.yy - m.xy * m.xy)};
}

/// Acceleration of a body that nothing holds: a in I a = f, by blocks,
///   w = (A - B C^-1 B^T)^-1 (n - B C^-1 f),  v = C^-1 (f - B^T w),
/// whose two divisions wait for each other, where a factorisation has six.
template <class T>
inline Motion<T> free_acceleration(const ArticulatedInertia<T>& I, const Force<T>& force) {
  const Sym3<T> C = inverse(I.C);
  const Vec3<T>&b0 = I.B.row[0], &b1 = I.B.row[1], &b2 = I.B.row[2];
  const Vec3<T> c0 = C * b0, c1 = C * b1, c2 = C * b2;  // rows of B C^-1
  const Sym3<T> S{I.A.xx - dot(c0, b0), I.A.xy - dot(c0, b1), I.A.xz - dot(c0, b2),
                  I.A.yy - dot(c1, b1), I.A.yz - dot(c1, b2), I.A.zz - dot(c2, b2)};
  const Vec3<T> n{force.n.x - dot(c0, force.f), force.n.y - dot(c1, force.f),
                  force.n.z - dot(c2, force.f)};
  const Vec3<T> w = inverse(S) * n;
  return {w, C * (force.f - transpose_times(I.B, w))};
}

}  // namespace espalier
