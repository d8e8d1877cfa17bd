#pragma once

#include "algorithms/segments/articulated_tree/tree_layout.hpp"

namespace espalier {

/// Clusters in an articulated tree: columns J of their bodies for the independent rates, the
/// factor of Mqq, and Moq as U.
/// Source: theory/clusters 5.4 to 5.6.

/// x and the columns J of a body of a cluster, after those of its parent.
template <class T>
const Motion<T>* place_in_cluster(const TreeNode& node, int i, const T* G, TreeState<T>& state) {
  const Cluster& c = *node.cluster;
  TreeBody<T>& b = state.body[i];
  const Body& body = state.model.body(i);
  const bool inside = b.parent >= c.first;
  const TreeBody<T>& p = state.body[b.parent];
  if (inside) b.x = p.x + b.r;
  Motion<T>* J = state.columns.data() + b.J;
  for (int j = 0; j < node.n; ++j) {
    J[j] = inside ? seen_at(state.columns[p.J + j], b.r) : Motion<T>::zero();
    for (int k = 0; k < body.nv; ++k) {
      J[j] += scale(G[(c.row(body.v) + k) * node.n + j], state.columns[body.v + k]);
    }
  }
  return J;
}
/// J of all bodies for eta.
template <class T>
void change_bodies(const TreeNode& node, TreeState<T>& state) {
  const Cluster& c = *node.cluster;
  for (int i = c.first; i < c.first + c.count; ++i) {
    if (!state.is_welded(i)) state.change_rates(node, state.columns.data() + state.body[i].J);
  }
}
/// Rotor number k of a cluster in its Mqq (D at first) and U.
template <class T>
void add_rotor(const TreeNode& node, int k, const T* G, T* D, Force<T>* U,
               const TreeState<T>& state) {
  const Cluster& c = *node.cluster;
  const int n = node.n;
  const Rotor& rotor = state.model.rotors()[c.rotor + k];
  const TreeBody<T>& parent = state.body[rotor.parent];
  const Vec3<T> momentum = transpose_times(parent.E, rotor.momentum);
  const T* rho = G + (c.spanning_nv + k) * n;
  add_square(T(rotor.inertia), rho, n, D);
  const bool inside = rotor.parent >= c.first;
  const Motion<T>* J = state.columns.data() + parent.J;
  for (int j = 0; j < n; ++j) {
    U[j].n += scale(rho[j], momentum);
    if (!inside) continue;
    for (int l = 0; l <= j; ++l) {
      D[j * n + l] += rho[j] * dot(J[l].w, momentum) + rho[l] * dot(J[j].w, momentum);
    }
  }
}

template <class T>
void eliminate(const TiedBodies& s, TreeState<T>& state) {
  const TreeNode& node = state.nodes[s.node];
  const Cluster& c = *node.cluster;
  const int n = node.n;
  const T* G = state.motion.G(c);
  T* D = n == 1 ? state.D.data() + node.D : state.L.data() + node.L;  // Mqq at first
  Force<T>* U = state.U.data() + node.U;
  for (int j = 0; j < n; ++j) {
    U[j] = Force<T>::zero();
    for (int l = 0; l <= j; ++l) D[j * n + l] = T(0.0);
  }
  ArticulatedInertia<T> Ia = ArticulatedInertia<T>::zero();
  for (int i = c.first; i < c.first + c.count; ++i) {
    if (state.is_welded(i)) continue;
    TreeBody<T>& b = state.body[i];
    const Motion<T>* J = place_in_cluster(node, i, G, state);
    with_rates(state.moving[i], n, [&](auto moving) {
      moving.for_each([&](int j) {
        const Force<T> f = b.IA * J[j];
        moving.for_each_up_to(j, [&](int l) { D[j * n + l] += dot(J[l], f); });
        U[j] += Force<T>{f.n + cross(b.x, f.f), f.f};
      });
    });
    const Body& body = state.model.body(i);
    for (int k = 0; k < body.nv; ++k) {
      const double armature = state.armature[body.v + k];
      if (armature != 0.0) add_square(T(armature), G + (c.row(body.v) + k) * n, n, D);
    }
    if (!node.supports.empty()) Ia += shifted(b.IA, b.x);
  }
  if (state.links != nullptr) {
    for (int j = 0; j < n; ++j) D[j * n + j] += T(state.links->armature[c.v + j]);
  } else {
    for (int k = 0; k < c.rotors; ++k) add_rotor(node, k, G, D, U, state);
  }
  state.factor(node);
  change_bodies(node, state);
  if (node.supports.empty()) return;
  state.change_rates(node, U);
  state.take_off(node, Ia);
  state.body[node.supports[0]].IA += Ia;
}

/// Bodies, armatures and rotors of a cluster to its system for all supports.
template <class T>
void fill(const TreeNode& node, const T* G, TreeState<T>& state, MultiSupportCluster<T>& system) {
  const Cluster& c = *node.cluster;
  system.start(state.zero.data());
  for (int i = c.first; i < c.first + c.count; ++i) {
    if (state.is_welded(i)) continue;
    const TreeBody<T>& b = state.body[i];
    const Body& body = state.model.body(i);
    place_in_cluster(node, i, G, state);
    system.add_body(
        i, b.parent, b.r, b.IA, Force<T>::zero(), G, body,
        [&](int k) { return state.columns[body.v + k]; },
        [&](int k) { return state.armature[body.v + k]; });
  }
  if (state.links != nullptr) {
    for (int j = 0; j < c.nv; ++j) system.add_armature(j, T(state.links->armature[c.v + j]));
    return;
  }
  for (int k = 0; k < c.rotors; ++k) {
    const Rotor& rotor = state.model.rotors()[c.rotor + k];
    system.add_rotor(rotor, transpose_times(state.body[rotor.parent].E, rotor.momentum), T(0.0),
                     G + (c.spanning_nv + k) * c.nv);
  }
}
template <class T>
void eliminate(const TiedOnSeveral& s, TreeState<T>& state) {
  const TreeNode& node = state.nodes[s.node];
  const Cluster& c = *node.cluster;
  MultiSupportCluster<T>& system = state.multi_support[node.multi_support];
  fill(node, state.motion.G(c), state, system);
  system.eliminate();
  const T* factor = system.factor();
  if (node.n > 1) std::copy_n(factor, node.n * node.n, state.L.data() + node.L);
  for (int j = 0; j < node.n; ++j) state.D[node.D + j] = factor[j * node.n + j];
  change_bodies(node, state);
  Force<T> none = Force<T>::zero();
  for (std::size_t o = 0; o < c.supports.size(); ++o) {
    const int at = TreeLayout<T>::slot(node, c.supports[o]);
    if (at < 0) continue;
    for (int j = 0; j < node.n; ++j) {
      state.U[node.U + at * node.n + j] = system.coupling(static_cast<int>(o), j);
    }
    state.change_rates(node, state.U.data() + node.U + at * node.n);
    system.propagate_to_parent(static_cast<int>(o), state.body[c.supports[o]].IA, none);
  }
}

/// Columns of a rotor that rows speak of, after those of its parent.
template <class T>
void place_rotor(const RotorSite& site, TreeState<T>& state) {
  TreeBody<T>& b = state.body[site.rotor->body];
  const TreeBody<T>& p = state.body[b.parent];
  const int n = site.cluster->nv;
  const T* rho = state.motion.G(*site.cluster) + site.row * n;
  const bool inside = b.parent >= site.cluster->first;
  if (inside) b.x = p.x + b.r;
  Motion<T>* J = state.columns.data() + b.J;
  for (int j = 0; j < n; ++j) J[j] = {scale(rho[j], b.E.row[2]), Vec3<T>::zero()};
  state.change_rates(state.nodes[b.node], J);
  for (int j = 0; j < n && inside; ++j) J[j] += seen_at(state.columns[p.J + j], b.r);
}

}  // namespace espalier
