#pragma once

#include "espalier/kernel/spatial/inertia.hpp"

namespace espalier {

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
  const Vec3<T> &b0 = I.B.row[0], &b1 = I.B.row[1], &b2 = I.B.row[2];
  const Vec3<T> c0 = C * b0, c1 = C * b1, c2 = C * b2;  // rows of B C^-1
  const Sym3<T> S{I.A.xx - dot(c0, b0), I.A.xy - dot(c0, b1), I.A.xz - dot(c0, b2),
                  I.A.yy - dot(c1, b1), I.A.yz - dot(c1, b2), I.A.zz - dot(c2, b2)};
  const Vec3<T> n{force.n.x - dot(c0, force.f), force.n.y - dot(c1, force.f),
                  force.n.z - dot(c2, force.f)};
  const Vec3<T> w = inverse(S) * n;
  return {w, C * (force.f - transpose_times(I.B, w))};
}

}  // namespace espalier
