#pragma once

#include <vector>

#include "algorithms/chains/columns/row_lanes.hpp"
#include "algorithms/chains/composites/mass_entries.hpp"
#include "algorithms/chains/pairs.hpp"

namespace espalier {

/// Composite inertia and rates on a body of a chain; model's frame. Each rate comes once
/// (composite_chains_of()).
template <class T>
struct CompositeAttachment {
  using V = typename RowLanes<T>::V;
  static constexpr int width = RowLanes<T>::size;

  RigidInertia<T> composite;
  std::vector<int> rates;          ///< independent ones, in the order in which they came
  std::vector<Force<V>> wrenches;  ///< that unit accelerations of these take, side by side

  void operator()(const RigidInertia<T>& I) { composite += I; }
  void operator()(int rate, const Force<T>& f) {
    const int n = static_cast<int>(rates.size()), lane_of_n = n % width;
    if (lane_of_n == 0) wrenches.push_back({Vec3<V>::zero(), Vec3<V>::zero()});
    Force<V>& to = wrenches.back();
    for (int a = 0; a < 6; ++a) row_of<T>(&to[a], lane_of_n) = f[a];
    rates.push_back(rate);
  }
};

/// One lane of a chain's state, T, or of the robot's constants, double.
template <class T, class S>
ESPALIER_ALWAYS_INLINE T number_of(const S& x, int lane) {
  return reinterpret_cast<const T*>(&x)[lane];
}
template <class C>
Turn<double> turn_of(const Turn<C>& t, int lane) {
  const auto one = [&](const C& x) { return number_of<double>(x, lane); };
  return {one(t.c), one(t.s), one(t.ss), one(t.sc)};
}

template <class T, class S>
ESPALIER_ALWAYS_INLINE Force<T> wrench_of_lane(const Force<S>& f, int k) {
  return {{number_of<T>(f.n.x, k), number_of<T>(f.n.y, k), number_of<T>(f.n.z, k)},
          {number_of<T>(f.f.x, k), number_of<T>(f.f.y, k), number_of<T>(f.f.z, k)}};
}
template <class T>
ESPALIER_ALWAYS_INLINE Force<double> wrench_of_lane(const PairedForce& f, int) {
  return f.plain();
}

/// An entry of M for each chain, and its mirror image.
template <class T, int lanes, class S>
ESPALIER_ALWAYS_INLINE void write(int used, const S& x, const int* row, const int* column,
                                  const MassEntries<T>& M) {
  for (int k = 0; k < (lanes == 1 ? 1 : used); ++k) M.put(row[k], column[k], number_of<T>(x, k));
}

/// Takes wrenches side by side from body to body down one chain of a unit. Calls visit(b, F) at
/// each body, F in its frame.
/// @param body  of the unit, where F comes from
/// @return  F at the chain base frame; in the axes of the first body where that stands on the
/// ground
template <class T, class Unit, class V, class Visit>
ESPALIER_ALWAYS_INLINE Force<V> carry_to_base(const Unit& unit, int lane, int body, bool on_ground,
                                              Force<V> F, Visit&& visit) {
  for (int i = body; i >= 0; --i) {
    const auto& b = unit.bodies[i];
    visit(b, F);
    if (i == 0 && on_ground) break;
    const ChainPlacement<double> P{turn_of(b.P.alpha, lane), number_of<double>(b.P.a, lane),
                                   number_of<double>(b.P.d, lane)};
    const auto t = Turn<V>::of(V(number_of<T>(b.c, lane)), V(number_of<T>(b.s, lane)));
    with_kind(b.kind, [&]<ChainKind kind>() ESPALIER_INLINED { to_parent<kind>(P, t, F); });
  }
  return F;
}
/// From the chain base frame to the frame of the chain's parent.
template <class Unit, class V>
ESPALIER_ALWAYS_INLINE Force<V> base_to_parent(const Unit& unit, int lane, Force<V> F) {
  rotate_to_parent<0, 1>(F, turn_of(unit.base_frame, lane));
  const auto r = [&](const auto& x) { return number_of<double>(x, lane); };
  F.n += cross(Vec3<double>{r(unit.r.x), r(unit.r.y), r(unit.r.z)}, F.f);
  return F;
}

}  // namespace espalier
