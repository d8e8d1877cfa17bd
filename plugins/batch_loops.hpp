#pragma once

#include <vector>

#include "espalier/kernel/model/tree_kinematics.hpp"

/// How far loops are open, eight states at a time. Belongs to one thread. Not for plugins.

namespace espalier::detail {

class BatchLoops {
 public:
  explicit BatchLoops(ModelPtr model);

  /// Largest |phi| of couplings, laws and loops in each lane; not a number where q is not.
  /// @param q  spanning positions, size nq
  Pack residual(const Pack* q);
  /// Model::apply_couplings() for packs.
  void follow(Pack* q) const;

 private:
  /// A position that constant couplings give: offset + sum of factor * q.
  struct Follower {
    int position = 0;
    double offset = 0.0;
    std::vector<std::pair<int, double>> terms;
  };
  struct Loop {
    const Cluster* cluster = nullptr;
    ConstraintWorkspace<Pack> work;
  };

  ModelPtr model_;
  std::vector<Follower> followers_;
  std::vector<Loop> loops_;
  std::vector<int> placed_runs_;  ///< of the model: of bodies of loops
  TreeKinematics<Pack> joints_;   ///< of these
  std::vector<Pack> phi_;
};

}  // namespace espalier::detail
