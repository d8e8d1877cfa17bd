#pragma once

#include "algorithms/segments/composite/composite_state.hpp"

namespace espalier {

/// A run of plain bodies in the composite-rigid-body algorithm (Featherstone 2008, Table 6.2):
///   F = Ic S,  M(i,i) = S^T F,  M(i,j) = F^T S_j for every joint j on the way to the ground,
///   Ic of the parent += Ic.

/// Pass 1: attitude, place, inertia, and S about the first body.
template <class T>
void place(const PlainRun& s, CompositeState<T>& state) {
  const TreeKinematics<T>& joints = state.motion->joints;
  with_subspace(*s.run, [&](auto ops) {
    using Ops = decltype(ops);
    for (int k = s.begin; k < s.end; ++k) {
      const int i = s.body(k);
      CompositeBody<T>& b = state.body[i];
      state.place(b, joints.X[i]);
      const Motion<T>* S = joints.S.data() + b.rate;
      for (int j = 0; j < Ops::n; ++j) {
        state.inward.store(b.column + j, b.template unit<Ops>(S, j), b.x);
      }
    }
  });
}

/// Pass 2: rows of M up to the diagonal, and Ic to the parent.
template <class T>
void collect(const PlainRun& s, CompositeState<T>& state, T* M) {
  const TreeKinematics<T>& joints = state.motion->joints;
  with_subspace(*s.run, [&](auto ops) {
    using Ops = decltype(ops);
    for (int k = s.end; k-- > s.begin;) {
      const CompositeBody<T>& b = state.body[s.body(k)];
      Motion<T> S[Ops::n];
      for (int j = 0; j < Ops::n; ++j) {
        S[j] = b.template unit<Ops>(joints.S.data() + b.rate, j);
        const Force<T> U = b.template composite_times<Ops>(S[j]);
        T* row = state.row(M, b.v + j);
        for (int l = 0; l <= j; ++l) row[b.v + l] = dot(S[l], U);
        row[b.v + j] += T(state.armature[b.rate + j]);
        const Force<T> F{U.n + cross(b.x, U.f), U.f};
        state.inward.write_row(state.ways[b.way], F, b.v + j, b.v, state.entries(M));
      }
      state.propagate_to_support(b);
    }
  });
}

/// Pass 3, where M is sparse: rows to columns.
template <class T>
void mirror(const PlainRun& s, const CompositeState<T>& state, T* M) {
  for (int k = s.begin; k < s.end; ++k) {
    const CompositeBody<T>& b = state.body[s.body(k)];
    const auto& way = state.ways[b.way];
    if (b.nv == 1 && !state.inward.leaves_column(way)) continue;
    state.inward.mirror_rates({&way, 1}, b.v, b.nv, M);
  }
}

}  // namespace espalier
