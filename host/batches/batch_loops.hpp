#pragma once

#include <vector>

#include "espalier/kernel/model/motion/tree_kinematics.hpp"
#include "espalier/kernel/model/packs/pack_code.hpp"

/// How far loops are open and how near to singular, eight states at a time. Belongs to one thread.
/// Not for plugins.

namespace espalier::detail {

class ESPALIER_API BatchLoops {
 public:
  explicit BatchLoops(ModelPtr model);

  /// Largest |phi| of couplings, laws and loops in each lane; not a number where q is not.
  /// @param q  spanning positions, size nq
  Pack residual(const Pack* q);
  /// Smallest singularity margin in each lane, where residual() was called last; see LoopProjector.
  Pack margin(const Pack* q);
  /// Model::apply_couplings() for packs.
  void follow(Pack* q) const;

 private:
  SpanningView<Pack> view(const Pack* q) const;

  ModelPtr model_;
  std::vector<CoupledPosition> followers_;
  std::vector<const Cluster*> loops_;
  ConstraintWorkspace<Pack> work_;  ///< of one loop after the other
  std::vector<int> placed_runs_;    ///< of the model: of bodies of loops
  TreeKinematics<Pack> joints_;     ///< of these
  std::vector<Pack> phi_;
};

}  // namespace espalier::detail
