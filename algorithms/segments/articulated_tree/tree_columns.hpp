#pragma once

#include <span>

#include "algorithms/segments/articulated_tree/tree_state.hpp"

namespace espalier {

/// Right-hand sides through the nodes of an articulated tree whose inertias are known: rows on the
/// twists of bodies (wrenches) inward, motions that answer forces outward; `blocks` of them, in the
/// lanes of a V. Rates are eta (articulated_tree.hpp).

/// Right-hand sides side by side.
template <class T>
using RowBlock = typename RowLanes<T>::V;

template <class T>
void carry_rows_of_one(const TreeState<T>& state, const TreeNode& node, int blocks,
                       const Force<RowBlock<T>>* K, RowBlock<T>* Kq, RowBlock<T>* z,
                       Force<RowBlock<T>>* out) {
  const TreeBody<T>& site = state.body[node.body];
  const Vec3<T> S = state.columns[site.J].w;
  const T inverse = state.D[node.D];
  for (int b = 0; b < blocks; ++b) {
    Kq[b] = dot(S, K[b].n);
    z[b] = inverse * Kq[b];
  }
  if (node.supports.empty()) return;
  const Vec3<T> x = site.x;
  const Force<T> U = state.U[node.U];
  for (int b = 0; b < blocks; ++b) {
    const Vec3<RowBlock<T>> f = K[b].f;
    out[b].n = K[b].n + cross(x, f) - scale(z[b], U.n);
    out[b].f = f - scale(z[b], U.f);
  }
}

/// carry_rows() of any node.
template <class T>
void carry_rows_of_any(const TreeState<T>& state, const TreeNode& node, std::span<const int> sites,
                       int blocks, const Force<RowBlock<T>>* K, RowBlock<T>* Kq, RowBlock<T>* z,
                       Force<RowBlock<T>>* out, const RowBlock<T>* extra) {
  const int n = node.n;
  for (int j = 0; j < n; ++j) {
    RowBlock<T>* Kq_j = Kq + j * blocks;
    for (int b = 0; b < blocks; ++b)
      Kq_j[b] = extra == nullptr ? RowBlock<T>(0.0) : extra[j * blocks + b];
    for (std::size_t s = 0; s < sites.size(); ++s) {
      const Motion<T>& J = state.columns[state.body[sites[s]].J + j];
      for (int b = 0; b < blocks; ++b) Kq_j[b] += dot(J, K[s * blocks + b]);
    }
    for (int b = 0; b < blocks; ++b) z[j * blocks + b] = state.D[node.D + j] * Kq_j[b];
  }
  for (std::size_t o = 0; o < node.supports.size(); ++o) {
    for (int b = 0; b < blocks; ++b) {
      Force<RowBlock<T>> sum = Force<RowBlock<T>>::zero();
      for (std::size_t s = 0; s < sites.size(); ++s) {
        const TreeBody<T>& site = state.body[sites[s]];
        if (site.support != static_cast<int>(o)) continue;
        const Force<RowBlock<T>>& f = K[s * blocks + b];
        sum += Force<RowBlock<T>>{f.n + cross(site.x, f.f), f.f};
      }
      for (int j = 0; j < n; ++j) sum -= scale(z[j * blocks + b], state.U[node.U + o * n + j]);
      out[o * blocks + b] = sum;
    }
  }
}

/// Takes rows through a node.
/// @param sites     bodies of the node that the rows speak of
/// @param K         rows as wrenches about the bodies' origins: sites x blocks
/// @param[out] Kq   rows times J: n x blocks
/// @param[out] z    Kq D^-1: n x blocks
/// @param[out] out  rows on the supports: supports x blocks; may be K where both are single
/// @param extra     if given, is added to Kq: forces on the rates (from_rates()), n x blocks
template <class T>
inline void carry_rows(const TreeState<T>& state, const TreeNode& node, std::span<const int> sites,
                       int blocks, const Force<RowBlock<T>>* K, RowBlock<T>* Kq, RowBlock<T>* z,
                       Force<RowBlock<T>>* out, const RowBlock<T>* extra = nullptr) {
  if (node.kind == TreeNode::Kind::revolute && extra == nullptr && sites.size() == 1 &&
      sites[0] == node.body) {
    carry_rows_of_one(state, node, blocks, K, Kq, z, out);
  } else {
    carry_rows_of_any(state, node, sites, blocks, K, Kq, z, out, extra);
  }
}

/// Rates of a node whose supports move by a.
/// @param a            supports x blocks
/// @param[in,out] eta  n x blocks: D^-1 times the forces on the rates; then the rates
template <class T>
void carry_motions(const TreeState<T>& state, const TreeNode& node, int blocks,
                   const Motion<RowBlock<T>>* a, RowBlock<T>* eta) {
  for (std::size_t o = 0; o < node.supports.size(); ++o) {
    for (int j = 0; j < node.n; ++j) {
      const Force<T> U = scale(state.D[node.D + j], state.U[node.U + o * node.n + j]);
      for (int b = 0; b < blocks; ++b) eta[j * blocks + b] -= dot(a[o * blocks + b], U);
    }
  }
}

/// How a body of a node moves. @param[out] out  blocks
template <class T>
void motion_of(const TreeState<T>& state, const TreeNode& node, int body, int blocks,
               const Motion<RowBlock<T>>* a, const RowBlock<T>* eta, Motion<RowBlock<T>>* out) {
  const TreeBody<T>& site = state.body[body];
  for (int b = 0; b < blocks; ++b) {
    Motion<RowBlock<T>> m = Motion<RowBlock<T>>::zero();
    if (site.support >= 0) {
      const Motion<RowBlock<T>>& o = a[site.support * blocks + b];
      m = {o.w, o.v + cross(o.w, site.x)};
    }
    for (int j = 0; j < node.n; ++j) m += scale(eta[j * blocks + b], state.columns[site.J + j]);
    out[b] = m;
  }
}

/// Turns both halves of six rates.
template <class T, class Turned>
void turn_halves(int blocks, RowBlock<T>* x, Turned&& turned) {
  for (int b = 0; b < blocks; ++b) {
    for (int half = 0; half < 6; half += 3) {
      const auto at = [&](int j) -> RowBlock<T>& { return x[(half + j) * blocks + b]; };
      const Vec3<RowBlock<T>> y = turned(Vec3<RowBlock<T>>{at(0), at(1), at(2)});
      at(0) = y.x, at(1) = y.y, at(2) = y.z;
    }
  }
}

/// The model's rates of a node from those used here, in place. @param x  n x blocks
template <class T>
void to_rates(const TreeState<T>& state, const TreeNode& node, int blocks, RowBlock<T>* x) {
  const int n = node.n;
  const T* L = state.L.data() + node.L;
  for (int i = n - 1; i > 0; --i) {
    for (int k = 0; k < i; ++k) {
      for (int b = 0; b < blocks; ++b) x[k * blocks + b] -= L[i * n + k] * x[i * blocks + b];
    }
  }
  if (node.kind == TreeNode::Kind::free) {
    turn_halves<T>(blocks, x,
                   [&](const Vec3<RowBlock<T>>& v) { return state.body[node.body].E * v; });
  }
}

/// Forces on the rates used here from those on the model's, in place. @param x  n x blocks
template <class T>
void from_rates(const TreeState<T>& state, const TreeNode& node, int blocks, RowBlock<T>* x) {
  if (node.kind == TreeNode::Kind::free) {
    turn_halves<T>(blocks, x, [&](const Vec3<RowBlock<T>>& v) {
      return transpose_times(state.body[node.body].E, v);
    });
  }
  const int n = node.n;
  const T* L = state.L.data() + node.L;
  for (int i = 1; i < n; ++i) {
    for (int k = 0; k < i; ++k) {
      for (int b = 0; b < blocks; ++b) x[i * blocks + b] -= L[i * n + k] * x[k * blocks + b];
    }
  }
}

}  // namespace espalier
