#pragma once

#include "algorithms/segments/composite/composite_state.hpp"

namespace espalier {

/// Serial chains in the composite-rigid-body algorithm (chains/composites/composites.hpp), and what
/// takes over where they end: to the body that carries it, a chain is a rigid body, and the
/// wrenches of its rates go their way to the ground.

template <class T>
void place(const ChainGroup&, CompositeState<T>&) {}

/// What a chain gives to the floating base: apart from ChainParent, since it is most, and with
/// less to ask a quadruped takes 0.8 of the time.
template <class T>
struct ChainOnBase {
  RigidInertia<T>& Ic;
  MassEntries<T> to;

  void operator()(const RigidInertia<T>& I) const { Ic += I; }
  ESPALIER_ALWAYS_INLINE void operator()(int rate, const Force<T>& F) const {
    T *row = to.M + rate * to.size, *column = to.M + rate;
    if (to.both) {
      for (int i = 0; i < 6; ++i) row[i] = column[i * to.size] = F[i];
    } else {
      for (int i = 0; i < 6; ++i) row[i] = F[i];
    }
  }
};
/// To any other body that is in no chain.
template <class T>
struct ChainParent {
  const CompositeState<T>& state;
  const typename CompositeState<T>::Way& way;
  CompositeBody<T>& b;
  MassEntries<T> M;

  void operator()(const RigidInertia<T>& I) const { add_turned(I, b.E, b.Ic); }
  void operator()(int rate, const Force<T>& F) const {
    const Vec3<T> f = transpose_times(b.E, F.f);
    state.inward.write_both(way, {transpose_times(b.E, F.n) + cross(b.x, f), f}, rate, M);
  }
};
template <class T>
struct ChainParents {
  CompositeState<T>& state;
  MassEntries<T> M;

  template <class F>
  ESPALIER_ALWAYS_INLINE void with_parent(int chain, F&& f) const {
    const auto& way = state.way_of_chain[chain];
    CompositeBody<T>& b = state.body[way.support];
    if (way.support == state.root) {
      f(ChainOnBase<T>{b.Ic, M});
    } else {
      f(ChainParent<T>{state, way, b, M});
    }
  }
};

template <class T>
void collect(const ChainGroup& s, CompositeState<T>& state, T* M) {
  state.chains->inward(s.group, state.entries(M), ChainParents<T>{state, state.entries(M)});
}

/// Chains write both triangles.
template <class T>
void mirror(const ChainGroup&, const CompositeState<T>&, T*) {}

}  // namespace espalier
