#pragma once

#include <array>

#include "algorithms/derivatives/variation/pairs/pair_slots.hpp"

/// (12.2): the columns of a floating root are unit vectors in the common frame.

namespace espalier {

/// Pairs of a coordinate with those of the floating root that carries it; entries are set.
/// @param t       of the coordinate  @param wrenches  whether its t5 counts
/// @param v       twist of the root  @param ground    acceleration that stands for gravity
/// @param row     the coordinate     @param base      the root's first one
template <class T>
void base_with_coordinate(const PairTerms<T>& t, bool wrenches, const Motion<T>& v,
                          const Vec3<T>& ground, long n, long row, long base, T* Dq, T* Dv, T* M) {
  const Force<T> v_t1 = cross_star(v, t.t1);
  const Vec3<T> by_turn = cross(t.t1.f, ground), by_spin = t.t2 - v_t1.n;
  T *q_row = Dq + row * n + base, *v_row = Dv + row * n + base;
  for (int k = 0; k < 3; ++k) {
    q_row[k] = by_turn[k], q_row[k + 3] = T(0.0);
    v_row[k] = by_spin[k], v_row[k + 3] = -v_t1.f[k];
  }
  for (int k = 0; k < 6; ++k) {
    const long at = (base + k) * n + row;
    Dq[at] = t.t4[k];
    Dv[at] = t.t3[k];
    if (M != nullptr) M[row * n + base + k] = M[at] = t.t1[k];
    if (wrenches) q_row[k] += t.t5[k];
  }
}

/// Pairs of a floating root with itself; entries are set.
/// @param IC, B  composite inertia and its rate  @param E  variation of wrenches, or nullptr
template <class T>
void base_with_itself(const RigidInertia<T>& IC, const InertiaRate<T>& B, const Motion<T>& v,
                      const Vec3<T>& ground, const WrenchVariation<T>* E,
                      const std::array<double, 6>& armature, long n, long base, T* Dq, T* Dv,
                      T* M) {
  for (int k = 0; k < 6; ++k) {
    Motion<T> S = Motion<T>::zero();
    S[k] = T(1.0);
    const Force<T> t1 = IC * S, t3 = B.times(S.w) + IC * cross(v, S);
    Force<T> t4 = IC * Motion<T>{Vec3<T>::zero(), cross(ground, S.w)};
    if (E != nullptr) t4 += E->times(S);
    for (int j = 0; j < 6; ++j) {
      const long at = (base + j) * n + base + k;
      if (M != nullptr) M[at] = j == k ? t1[j] + T(armature[k]) : t1[j];
      Dq[at] = t4[j];
      Dv[at] = t3[j];
    }
  }
}

}  // namespace espalier
