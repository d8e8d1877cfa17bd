#pragma once

#include <utility>

#include "espalier/kernel/model/joint.hpp"
#include "espalier/kernel/model/layout.hpp"
#include "espalier/kernel/spatial/inertia.hpp"

/// Operations with a joint's motion subspace S, with code of its own for each kind: unit axes cost
/// nothing, dense columns cost what they cost.

namespace espalier {

namespace detail {

/// The unit motion along axis k (0-2 angular, 3-5 linear), times x, added to m.
template <int k, class T>
inline void add_axis(Motion<T>& m, const T& x) {
  if constexpr (k == 0) m.w.x += x;
  if constexpr (k == 1) m.w.y += x;
  if constexpr (k == 2) m.w.z += x;
  if constexpr (k == 3) m.v.x += x;
  if constexpr (k == 4) m.v.y += x;
  if constexpr (k == 5) m.v.z += x;
}
template <int k, class T>
inline const T& entry(const Force<T>& f) {
  if constexpr (k == 0) return f.n.x;
  if constexpr (k == 1) return f.n.y;
  if constexpr (k == 2) return f.n.z;
  if constexpr (k == 3) return f.f.x;
  if constexpr (k == 4) return f.f.y;
  if constexpr (k == 5) return f.f.z;
}

}  // namespace detail

template <class Subspace>
struct SubspaceOps;

template <int... axis>
struct SubspaceOps<Axes<axis...>> {
  static constexpr int n = sizeof...(axis);
  static constexpr bool dense = false;

  /// m += S x.
  template <class T>
  static void add(Motion<T>& m, const Motion<T>* /*S*/, const T* x) {
    int j = 0;
    (detail::add_axis<axis>(m, x[j++]), ...);
  }
  /// Column j of S.
  template <class T>
  static Motion<T> column(const Motion<T>* /*S*/, int j) {
    Motion<T> m = Motion<T>::zero();
    m[Axes<axis...>::index[j]] = T(1.0);
    return m;
  }
  /// S^T f.
  template <class T>
  static void project(const Force<T>& f, const Motion<T>* /*S*/, T* out) {
    int j = 0;
    ((out[j++] = detail::entry<axis>(f)), ...);
  }
  /// I S.
  template <class T>
  static void times(const ArticulatedInertia<T>& I, const Motion<T>* /*S*/, Force<T>* U) {
    int j = 0;
    ((U[j++] = I.column(axis)), ...);
  }
};

template <int size>
struct SubspaceOps<Dense<size>> {
  static constexpr int n = size;
  static constexpr bool dense = true;

  template <class T>
  static void add(Motion<T>& m, const Motion<T>* S, const T* x) {
    for (int j = 0; j < n; ++j) m += scale(x[j], S[j]);
  }
  template <class T>
  static Motion<T> column(const Motion<T>* S, int j) {
    return S[j];
  }
  template <class T>
  static void project(const Force<T>& f, const Motion<T>* S, T* out) {
    for (int j = 0; j < n; ++j) out[j] = dot(S[j], f);
  }
  template <class T>
  static void times(const ArticulatedInertia<T>& I, const Motion<T>* S, Force<T>* U) {
    for (int j = 0; j < n; ++j) U[j] = I * S[j];
  }
};

/// Calls f with the SubspaceOps that a run of bodies has: one branch for the run.
template <class F>
inline void with_subspace(const BodyRun& run, F&& f) {
  switch (run.subspace) {
    case SubspaceKind::revolute_z:
      return f(SubspaceOps<RevoluteAxes>{});
    case SubspaceKind::prismatic_z:
      return f(SubspaceOps<PrismaticAxes>{});
    case SubspaceKind::spherical:
      return f(SubspaceOps<SphericalAxes>{});
    case SubspaceKind::free:
      return f(SubspaceOps<FreeAxes>{});
    case SubspaceKind::dense:
      break;
  }
  switch (run.nv) {
    case 1:
      return f(SubspaceOps<Dense<1>>{});
    case 2:
      return f(SubspaceOps<Dense<2>>{});
    case 3:
      return f(SubspaceOps<Dense<3>>{});
    case 4:
      return f(SubspaceOps<Dense<4>>{});
    case 5:
      return f(SubspaceOps<Dense<5>>{});
    case 6:
      return f(SubspaceOps<Dense<6>>{});
    default:
      break;  // a joint has at most six rates; the model compiler sees to it
  }
}

/// Symmetric positive definite n x n matrix, n <= 6, factored as L D L^T in place.
/// Only the lower triangle is read and written.
template <class T, int n>
struct Ldlt {
  T L[n][n];  ///< below the diagonal: unit factor L; on the diagonal: 1 / D

  void factor() {
    T D[n];
    for (int j = 0; j < n; ++j) {
      for (int k = 0; k < j; ++k) {
        const T w = L[j][k] * D[k];
        L[j][j] -= w * L[j][k];
        for (int i = j + 1; i < n; ++i) L[i][j] -= L[i][k] * w;
      }
      D[j] = L[j][j];
      L[j][j] = T(1.0) / D[j];
      for (int i = j + 1; i < n; ++i) L[i][j] *= L[j][j];
    }
  }
  void solve(T* x) const {
    for (int i = 1; i < n; ++i)
      for (int k = 0; k < i; ++k) x[i] -= L[i][k] * x[k];
    for (int i = n - 1; i >= 0; --i) {
      x[i] *= L[i][i];
      for (int k = i + 1; k < n; ++k) x[i] -= L[k][i] * x[k];
    }
  }
};

}  // namespace espalier
