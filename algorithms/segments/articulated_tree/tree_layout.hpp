#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "algorithms/segments/articulated_tree/tree_state.hpp"

namespace espalier {

/// The nodes of an articulated tree, and where their numbers stand in its state.
template <class T>
class TreeLayout {
 public:
  /// @param rotors  folded rotors (bodies) that rows speak of
  /// @returns  the state
  static TreeState<T>& lay_out(TreeState<T>& state, std::span<const int> rotors) {
    TreeLayout layout(state);
    for (const Cluster& c : state.model.clusters()) layout.add_node(c);
    for (const int rotor : rotors) layout.add_rotor_site(rotor);
    for (MultiSupportCluster<T>& w : state.multi_support) w.connect(state.multi_support);
    for (const TreeNode& node : state.nodes) {
      for (const int support : node.supports) {
        std::vector<int>& parents = state.nodes[state.body[support].node].parents;
        if (std::find(parents.begin(), parents.end(), support) == parents.end()) {
          parents.push_back(support);
        }
      }
    }
    state.U.resize(layout.U_), state.D.resize(layout.D_), state.L.resize(layout.L_);
    return state;
  }
  /// Which support of a node a body is; -1: none.
  static int slot(const TreeNode& node, int body) {
    const auto at = std::find(node.supports.begin(), node.supports.end(), body);
    return at == node.supports.end() ? -1 : static_cast<int>(at - node.supports.begin());
  }

 private:
  using Kind = TreeNode::Kind;

  explicit TreeLayout(TreeState<T>& state) : state_(state) {}

  void add_node(const Cluster& c) {
    std::vector<int> bodies;  // that are not welded to others
    for (int i = c.first; i < c.first + c.count; ++i) {
      if (!state_.is_welded(i)) bodies.push_back(i);
    }
    TreeNode node;
    node.cluster = &c;
    node.v = c.v, node.n = c.nv;
    if (c.constrained && (c.supports.size() > 1 || has_multi_support_child(c))) {
      node.kind = Kind::multi_support;
      node.multi_support = static_cast<int>(state_.multi_support.size());
      state_.multi_support.emplace_back(state_.model, c);
    } else if (is_joint(c, bodies)) {
      node.body = bodies[0];
      node.kind = kind_of(bodies[0]);
    } else {
      node.kind = Kind::cluster;
    }
    for (const int o : c.supports) {
      if (o != 0) node.supports.push_back(o);
    }
    if (!node.supports.empty()) node.parent = state_.body[node.supports[0]].node;
    node.U = U_, node.D = D_, node.L = L_;
    U_ += std::max(1, static_cast<int>(node.supports.size())) * node.n;
    D_ += node.n;
    if (node.n > 1) L_ += node.n * node.n;
    state_.largest = std::max(state_.largest, node.n);
    if (node.kind == Kind::revolute || node.kind == Kind::prismatic) add_reflected(node);
    if (node.kind == Kind::cluster) {
      std::vector<std::vector<RateRange>> moving = moving_rates(state_.model, c);
      for (const int i : bodies) state_.moving[i] = std::move(moving[i - c.first]);
    }
    const int index = static_cast<int>(state_.nodes.size());
    for (const int i : bodies) {
      TreeBody<T>& b = state_.body[i];
      b.node = index;
      b.support = b.parent >= c.first ? state_.body[b.parent].support : slot(node, b.parent);
      b.J = state_.model.body(i).v;
      if (node.kind == Kind::multi_support || node.kind == Kind::cluster) add_columns(b, node.n);
    }
    state_.nodes.push_back(std::move(node));
  }

  /// Armature and rotors on the rate of a joint of one.
  void add_reflected(TreeNode& node) const {
    const Cluster& c = *node.cluster;
    node.inertia = state_.armature[state_.model.body(node.body).v];
    if (state_.links != nullptr) {
      node.inertia += state_.links->armature[c.v];
      return;
    }
    node.gears = c.rotors;
    for (int k = 0; k < c.rotors; ++k) {
      const double rho = c.G[c.spanning_nv + k];
      node.inertia += rho * rho * state_.model.rotors()[c.rotor + k].inertia;
    }
  }
  void add_columns(TreeBody<T>& b, int n) {
    b.J = static_cast<int>(state_.columns.size());
    state_.columns.resize(state_.columns.size() + n);
  }
  bool has_multi_support_child(const Cluster& c) const {
    const auto all = state_.model.clusters();
    return std::any_of(all.begin(), all.end(), [&](const Cluster& child) {
      return child.supports.size() > 1 && child.parent >= 0 && &all[child.parent] == &c;
    });
  }
  /// One body whose rates are the independent ones, all rotors on its parent.
  bool is_joint(const Cluster& c, const std::vector<int>& bodies) const {
    if (!c.constrained) return true;
    if (bodies.size() != 1 || c.constraint != nullptr) return false;
    const Body& body = state_.model.body(bodies[0]);
    if (body.nv != c.nv || body.parent >= c.first) return false;
    for (int i = 0; i < c.nv; ++i) {
      for (int j = 0; j < c.nv; ++j) {
        if (c.G[(c.row(body.v) + i) * c.nv + j] != (i == j ? 1.0 : 0.0)) return false;
      }
    }
    const auto rotors = state_.model.rotors().subspan(c.rotor, c.rotors);
    return state_.links != nullptr ||
           (c.nv == 1 && std::all_of(rotors.begin(), rotors.end(),
                                     [&](const Rotor& r) { return r.parent == body.parent; }));
  }
  Kind kind_of(int body) const {
    const Body& b = state_.model.body(body);
    switch (state_.model.runs()[b.run].subspace) {
      case SubspaceKind::revolute_z:
        return Kind::revolute;
      case SubspaceKind::prismatic_z:
        return Kind::prismatic;
      case SubspaceKind::free: {
        const auto first = state_.armature.begin() + b.v;
        const bool bare = std::all_of(first, first + b.nv, [](double a) { return a == 0.0; });
        return b.parent == 0 && bare ? Kind::free : Kind::joint;
      }
      default:
        return Kind::joint;
    }
  }
  void add_rotor_site(int body) {
    for (const Cluster& c : state_.model.clusters()) {
      for (int k = 0; k < c.rotors; ++k) {
        const Rotor& rotor = state_.model.rotors()[c.rotor + k];
        if (rotor.body != body) continue;
        TreeBody<T>& b = state_.body[body];
        b.parent = rotor.parent;
        b.node = static_cast<int>(&c - state_.model.clusters().data());
        b.support = b.parent >= c.first && b.parent < c.first + c.count
                        ? state_.body[b.parent].support
                        : slot(state_.nodes[b.node], b.parent);
        add_columns(b, c.nv);
        state_.rotor_sites.push_back({&rotor, &c, c.spanning_nv + k});
      }
    }
  }

  TreeState<T>& state_;
  int U_ = 0, D_ = 0, L_ = 0;  ///< numbers so far
};

}  // namespace espalier
