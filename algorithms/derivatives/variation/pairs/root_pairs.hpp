#pragma once

#include <algorithm>
#include <array>

#include "algorithms/derivatives/variation/variation_state.hpp"
#include "espalier/kernel/scalar/pack.hpp"

namespace espalier {

/// Pairs of a floating root's rates with one another, of all entries of dtau/dq, dtau/dv and M:
/// rows of `width` numbers. What base_with_itself() adds to matrices, columns as lanes.
struct RootPairs {
  static constexpr int width = 8;
  alignas(64) double q[6 * width] = {}, v[6 * width] = {}, mass[6 * width] = {};

  /// @param IC, B   of everything that the root carries, and of itself
  /// @param ground  acceleration that stands for gravity in the root's frame
  void fill(const RigidInertia<double>& IC, const InertiaRate<double>& B,
            const Motion<double>& twist, const Vec3<double>& ground,
            const std::array<double, 6>& armature) {
    const auto all = RigidInertia<Quad>{Quad(IC.m), Vec3<Quad>::from(IC.h), Sym3<Quad>::from(IC.I)};
    const InertiaRate<Quad> rate{Sym3<Quad>::from(B.J),
                                 {Vec3<Quad>::from(B.h.n), Vec3<Quad>::from(B.h.f)}};
    const auto lanes_v = Motion<Quad>::from(twist);
    const auto up = Vec3<Quad>::from(ground);
    static constexpr double unit[6][width] = {{1},          {0, 1},          {0, 0, 1},
                                              {0, 0, 0, 1}, {0, 0, 0, 0, 1}, {0, 0, 0, 0, 0, 1}};
    for (int k = 0; k < width; k += Quad::size) {
      Motion<Quad> S;
      for (int i = 0; i < 6; ++i) S[i] = Quad::load(unit[i] + k);
      const Force<Quad> t1 = all * S, t3 = rate.times(S.w) + all * cross(lanes_v, S);
      const Force<Quad> t4 = all * Motion<Quad>{Vec3<Quad>::zero(), cross(up, S.w)};
      for (int i = 0; i < 6; ++i) {
        t1[i].store(mass + i * width + k);
        t3[i].store(v + i * width + k), t4[i].store(q + i * width + k);
      }
    }
    for (int i = 0; i < 6; ++i) mass[i * width + i] += armature[i];
  }
};

/// Whether a floating body without inertia about its own rates carries everything.
template <class T>
bool floats_alone(const VariationState<T>& s) {
  const Model& model = s.model();
  const int n = model.active_body_count();
  if (n == 0 || !s.is_free_root(1) || model.clusters()[model.body(1).cluster].v != 0) return false;
  for (int i = 1; i <= n; ++i) {
    if (s.root(i) != 1) return false;
  }
  for (int k = 0; k < 6; ++k) {
    if (s.armature(model.body(1).v + k) != 0.0) return false;
  }
  return true;
}
/// Columns of -M^-1 dtau/dq by the coordinates of a root that floats_alone(), without loads. Where
/// it turns, gravity turns in its frame, and where it moves nothing changes: dtau/dq e_k = M (0;
/// ground x e_k), (12.2), which needs no solve.
/// @param X  rows of n numbers, those of the root first
template <class T>
void write_root_solution(const Vec3<T>& ground, long n, T* X) {
  for (long k = 0; k < n; ++k) std::fill_n(X + k * n, 6, T(0.0));
  for (int k = 0; k < 3; ++k) {
    Vec3<T> e = Vec3<T>::zero();
    e[k] = T(1.0);
    const Vec3<T> turned = cross(ground, e);
    for (int i = 0; i < 3; ++i) X[(3 + i) * n + k] = -turned[i];
  }
}

/// The same of -M^-1 dtau/dv by the linear rates of the root. A velocity that all bodies
/// have, constant in world axes, needs no force: dtau/dv e_k = M (v x e_k), which is (12.2). No
/// loads depend on it.
/// @param twist  of the root
template <class T>
void write_root_rate_solution(const Motion<T>& twist, long n, T* Y) {
  for (long k = 0; k < n; ++k) std::fill_n(Y + k * n + 3, 3, T(0.0));
  for (int k = 0; k < 3; ++k) {
    Vec3<T> e = Vec3<T>::zero();
    e[k] = T(1.0);
    const Vec3<T> turned = cross(twist.w, e);
    for (int i = 0; i < 3; ++i) Y[(3 + i) * n + 3 + k] = -turned[i];
  }
}

}  // namespace espalier
