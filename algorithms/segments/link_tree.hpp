#pragma once

#include <algorithm>
#include <vector>

#include "algorithms/chains/plan.hpp"

namespace espalier {

/// A robot as common approximations see it: links alone, what transmissions turn beside them being
/// welded to its parent and reflected into an inertia of the independent rates.
///
/// Reflected are folded rotors and, symmetric or not, rotors that the model keeps as bodies: those
/// that couplings drive faster than the joint that they follow and that carry nothing. They are
/// welded where they are at the zero of their joints. Links that follow others, as a finger's, are
/// slower and remain. Source: Chignoli et al. (2023), section II-C.
struct LinkTree {
  struct Reflected {
    int body, parent;
    const Cluster* cluster;
    int row;              ///< of G
    bool slides = false;  ///< prismatic: mass instead of inertia
    double inertia;       ///< about (along) its axis, armature included [kg·m² or kg]
  };

  explicit LinkTree(const Model& model);

  /// Whether the rates of a cluster's links are the independent ones, in their order.
  bool is_free(const Model& m, const Cluster& c) const;
  enum class Rotors { reflected, left_out };
  /// Joints of links that chains may consist of, and what is reflected on their rates: those that
  /// turn about z and whose rates are the independent ones of the same place in their cluster (a
  /// welded body may come before).
  ChainJoints chain_joints(const Model& m, Rotors rotors) const;

  bool is_reflected(int body) const {
    return std::any_of(reflected.begin(), reflected.end(),
                       [&](const Reflected& r) { return r.body == body; });
  }

  std::vector<BodyRun> runs;                  ///< of the links
  std::vector<RigidInertia<double>> inertia;  ///< per body, with what is welded to it
  std::vector<bool> welded;                   ///< per body that is no folded rotor
  std::vector<Reflected> reflected;
  std::vector<double> armature;  ///< per independent rate j: sum of inertia rho_j^2 [kg·m² or kg]

 private:
  void reflect(const Reflected& r);
};

}  // namespace espalier
