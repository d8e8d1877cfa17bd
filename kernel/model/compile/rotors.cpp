#include "espalier/kernel/model/compile/compiler.hpp"

#include <algorithm>
#include <cmath>

/// Rotors whose attitude does not matter, and the numbers of bodies.

namespace espalier {

/// A rotor is folded if it turns about its own axis of symmetry, carries nothing and no loop joint
/// holds it. One body of each cluster stays.
void Compiler::fold_rotors() {
  folded_.assign(groups_.size(), false);
  if (options_.rotors == CompileOptions::Rotors::keep) return;
  std::vector<bool> holds(groups_.size(), false);
  for (int b = 1; b < tree_.body_count(); ++b) holds[tree_.parent(b)] = true;
  for (int e = 0; e < graph_.joint_count(); ++e) {
    if (tree_.child(e) >= 0) continue;
    holds[graph_.joint(e).predecessor] = holds[graph_.joint(e).successor] = true;
  }
  for (int number = 0; number < clusters_.size(); ++number) {
    const graph::Cluster& c = clusters_.cluster(number);
    if (c.couplings.empty()) continue;
    std::size_t left = c.bodies.size();
    for (auto g = c.bodies.rbegin(); g != c.bodies.rend() && left > 1; ++g) {
      const JointType& type = *joint_types_[groups_[*g].joint];
      if (holds[*g] || type.subspace() != SubspaceKind::revolute_z || type.nq() != 1 ||
          !is_axisymmetric(groups_[*g].inertia)) {
        continue;
      }
      folded_[*g] = true;
      --left;
    }
  }
}

/// About z, up to the rounding of its figures.
bool Compiler::is_axisymmetric(const RigidInertia<double>& I) {
  const double size = std::abs(I.I.xx) + std::abs(I.I.yy) + std::abs(I.I.zz);
  const double small = 1e-12 * size, offset = 1e-12 * (std::abs(I.h.z) + I.m);
  return std::abs(I.I.xx - I.I.yy) <= small && std::abs(I.I.xy) <= small &&
         std::abs(I.I.xz) <= small && std::abs(I.I.yz) <= small && std::abs(I.h.x) <= offset &&
         std::abs(I.h.y) <= offset;
}

/// Regular numbering by clusters, then the folded rotors by clusters; the ground stays 0.
void Compiler::number_bodies() {
  int next = 1;
  for (const bool rotors : {false, true}) {
    for (int number = 0; number < clusters_.size(); ++number) {
      const graph::Cluster& c = clusters_.cluster(number);
      for (int g : c.bodies) {
        if (folded_[g] != rotors) continue;
        groups_[g].body = next++;
        order_.push_back(g);
      }
    }
  }
  active_ = static_cast<int>(std::count(folded_.begin() + 1, folded_.end(), false));
}

void Compiler::list_rotors() {
  Model& m = *model_;
  m.folded_inertia_.reserve(m.bodies_.size());
  m.rotors_.reserve(m.bodies_.size() - 1 - active_);
  for (const Body& body : m.bodies_) m.folded_inertia_.push_back(body.inertia);
  for (std::size_t i = active_ + 1; i < m.bodies_.size(); ++i) {
    const Body& body = m.bodies_[i];
    const JointDescription& joint = joints_[groups_[order_[i - 1]].joint];
    Rotor rotor;
    rotor.body = static_cast<int>(i);
    rotor.parent = body.parent;
    rotor.inertia = body.inertia.I.zz + joint.armature;
    rotor.momentum = scale(body.inertia.I.zz, body.placement.E.row[2]);
    m.rotors_.push_back(rotor);
    m.folded_inertia_[body.parent] += congruence(body.placement, body.inertia);
  }
}

}  // namespace espalier
