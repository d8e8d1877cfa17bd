#pragma once

#include <algorithm>
#include <vector>

#include "algorithms/chains/columns/columns.hpp"
#include "algorithms/input_matrix/bias_forces.hpp"
#include "algorithms/segments/articulated/world_body.hpp"
#include "algorithms/segments/articulated_tree/articulated_tree.hpp"

namespace espalier {

/// Serial chains that carry nothing, beside an articulated tree of the other bodies: the exchange
/// at the bodies that they hang on. Chains are eliminated by the kernels of the articulated-body
/// algorithm with their bias wrenches, so that their free motion comes with them.
template <class T>
class LeafChains {
 public:
  LeafChains(const Model& model, ChainPlan plan) : model_(model), columns_(model, std::move(plan)) {
    for (const std::vector<int>& of_group : columns_.attachments().parents) {
      parents_.insert(parents_.end(), of_group.begin(), of_group.end());
    }
    for (const Cluster& c : model.clusters()) {
      if (c.rotors > 0 && contains(c.first)) geared_.push_back(&c);
    }
    if (!geared_.empty()) tau_.resize(model.nv());
  }

  bool contains(int body) const {
    return body <= model_.active_body_count() && columns_.contains(body);
  }
  ChainColumns<T>& columns() { return columns_; }

  /// Inertias and wrenches to the parents. After tree.place() and bias.compute().
  void eliminate(ArticulatedTree<T>& tree, BiasForces<T>& bias, const T* q, const T* v,
                 const T* tau, const Wrenches<T>* wrenches) {
    columns_.turn(q);
    columns_.set_ground(bias.motion(0).a);
    for (const int i : parents_) {
      const BodyMotion<T>& m = bias.motion(i);
      BoundaryState<T>& boundary = columns_.boundary(i);
      boundary.omega = m.omega, boundary.alpha = m.alpha, boundary.a = m.a;
      boundary.IA = ArticulatedInertia<T>::zero(), boundary.pA = Force<T>::zero();
    }
    for (int g = 0; g < columns_.group_count(); ++g) columns_.outward_motion(g, v, nullptr);
    if (wrenches != nullptr) tau = apply(*wrenches, tree, bias, tau);
    for (int g = columns_.group_count(); g-- > 0;) {
      columns_.inward_inertia(g, tau);
      columns_.take(g);
    }
    for (const int i : parents_) {
      const BoundaryState<T>& boundary = columns_.boundary(i);
      tree.add_inertia(i, congruence(tree.attitude(i), boundary.IA));
      bias.add(i, boundary.pA);
    }
    for (std::size_t l = 0; l < columns_.columns().size(); ++l) {
      columns_.place(static_cast<int>(l), tree.attitude(columns_.columns()[l].parent));
    }
  }

  /// Accelerations of the free motion.
  /// @param motion  motion(i) of parent i at its origin, world axes
  /// @param[out] ydd  of the independent rates in chains
  template <class MotionOf>
  void accelerate(const ArticulatedTree<T>& tree, MotionOf&& motion, T* ydd) {
    for (const int i : parents_) {
      const Motion<T> a = motion(i);
      const Mat3<T>& E = tree.attitude(i);
      columns_.boundary(i).da = {E * a.w, E * a.v};
    }
    for (int g = 0; g < columns_.group_count(); ++g) columns_.outward_acceleration(g, ydd);
  }

 private:
  /// Subtracts external wrenches on bodies, and on rotors that chains reflect.
  /// @returns  forces on the independent rates, with those of the rotors
  const T* apply(const Wrenches<T>& wrenches, ArticulatedTree<T>& tree, BiasForces<T>& bias,
                 const T* tau) {
    for (int i = 1; i <= model_.active_body_count(); ++i) {
      if (contains(i)) columns_.apply_wrench(i, wrenches[i]);
    }
    if (geared_.empty()) return tau;
    std::copy_n(tau, tau_.size(), tau_.begin());
    for (const Cluster* c : geared_) {
      for (int r = 0; r < c->rotors; ++r) {
        const Rotor& rotor = model_.rotors()[c->rotor + r];
        const Force<T>& wrench = wrenches[rotor.body];
        const Force<T> on_parent = tree.motion().joints.X[rotor.body].transpose_times_force(wrench);
        if (contains(rotor.parent)) {
          columns_.apply_wrench(rotor.parent, on_parent);
        } else {
          bias.add(rotor.parent, -on_parent);
        }
        const double* rho = c->G.data() + (c->spanning_nv + r) * c->nv;
        for (int j = 0; j < c->nv; ++j) tau_[c->v + j] += rho[j] * wrench.n.z;
      }
    }
    return tau_.data();
  }

  const Model& model_;
  ChainColumns<T> columns_;
  std::vector<int> parents_;            ///< without the ground, each once
  std::vector<const Cluster*> geared_;  ///< in chains, with folded rotors
  std::vector<T> tau_;                  ///< with wrenches on these
};

}  // namespace espalier
