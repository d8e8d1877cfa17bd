#pragma once

#include "algorithms/chains/kernels.hpp"

namespace espalier {

// --- kernels of the composite-rigid-body recursion on serial chains, by classes of placements
// (theory/chains 3)
// ---------------------------------------------------------------------------------

/// A composite body of a chain. Bodies of the chain have no mass, by regrouping (chains/plan.hpp):
/// it has the mass of what the chain carries.
template <class S>
using CompositeMoments = Moments<S, S>;

template <class S, class C>
ESPALIER_ALWAYS_INLINE void add_body(const ChainMoments<C>& b, CompositeMoments<S>& I) {
  I.h.x += b.x, I.h.y += b.y;
  I.Sigma.xx += b.xx, I.Sigma.xy += b.xy, I.Sigma.xz += b.xz;
  I.Sigma.yy += b.yy, I.Sigma.yz += b.yz;
}
template <int i, int j, class S, class C>
ESPALIER_ALWAYS_INLINE void rotate_to_parent(CompositeMoments<S>& I, const Turn<C>& t) {
  rotate_to_parent(I.h[i], I.h[j], t);
  rotate_to_parent<i, j, false>(I.Sigma, t);
}
/// Moments about the origin of the body before, in its axes: h' = h + m r,
/// Sigma' = Sigma + r h^T + h' r^T.
template <ChainKind kind, class S, class C>
ESPALIER_ALWAYS_INLINE void to_parent(const ChainPlacement<C>& P, const Turn<S>& t,
                                      CompositeMoments<S>& I) {
  rotate_to_parent<0, 1>(I, t);
  Vec3<S>& h = I.h;
  Sym3<S>& m = I.Sigma;
  if constexpr (kind.twist == Twist::right) {
    h = {h.x, -h.z, h.y};
    m = Sym3<S>(m.xx, -m.xz, m.xy, m.zz, -m.yz, m.yy);
  }
  if constexpr (kind.twist == Twist::any) rotate_to_parent<1, 2>(I, P.alpha);
  if constexpr (kind.offset) {  // r = (a, 0, d); parallel: (a, 0, 0)
    const S x = h.x + P.a * I.m;
    m.xx += P.a * (h.x + x);
    m.xy += P.a * h.y;
    m.xz += P.a * h.z;
    if constexpr (kind.twist != Twist::parallel) {
      const S z = h.z + P.d * I.m;
      m.zz += P.d * (h.z + z);
      m.xz += P.d * x;
      m.yz += P.d * h.y;
      h.z = z;
    }
    h.x = x;
  }
}
/// Moments about a point from which their own is seen at r.
template <class S, class C>
inline void shift(CompositeMoments<S>& I, const Vec3<C>& r) {
  const Vec3<S> h = I.h, g = h + Vec3<S>{r.x * I.m, r.y * I.m, r.z * I.m};
  I.Sigma += Sym3<S>{r.x * (h.x + g.x), r.x * h.y + g.x * r.y, r.x * h.z + g.x * r.z,
                     r.y * (h.y + g.y), r.y * h.z + g.y * r.z, r.z * (h.z + g.z)};
  I.h = g;
}

}  // namespace espalier
