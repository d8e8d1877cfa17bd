#pragma once

#include <span>
#include <vector>

#include "espalier/kernel/model/closure.hpp"
#include "espalier/kernel/model/motion/tree_kinematics.hpp"
#include "espalier/kernel/model/packs/pack_code.hpp"

/// Loops of eight robots closed at once. Belongs to one thread. Not for plugins.

namespace espalier::detail {

/// What LoopProjector does for one robot, lane by lane, for lanes that close as most do: by a few
/// Newton steps, away from dead points. The others are left as they were, for LoopProjector to
/// judge. What becomes of a lane depends on that lane alone.
class ESPALIER_API BatchProjector {
 public:
  /// For loops of a model, closed as the options of close() say.
  explicit BatchProjector(ModelPtr model, const CloseOptions& options = {});

  /// Closes loops; positions that constant couplings give are there already.
  /// @param[in,out] q       spanning positions, size nq
  /// @param[in,out] memory  as LoopProjector::save() writes it, LoopProjector::memory_size()
  /// @return 1 in lanes that are closed on the branch that `memory` is on; in the others 0, q and
  ///         memory as before
  Pack project(Pack* q, Pack* memory);
  /// Singularity margin of a loop in lanes that project() has just closed, as
  /// LoopProjector::margin_of() has it; loops are in its order.
  const Pack& margin_of(int loop) const { return loops_[loop].margin; }

 private:
  /// What is kept for one cluster whose G depends on the position.
  struct Loop {
    const Cluster* cluster = nullptr;
    ConstraintWorkspace<Pack> work;
    std::vector<Pack> phi, branch;
    std::vector<double> measure;  ///< of the rows of phi; empty: ones
    std::vector<Pack> judged;     ///< measure times phi
    Pack residual, margin;
  };

  Pack evaluate(const Pack* q);
  SpanningView<Pack> view(const Pack* q) const;
  void step(Pack* q, const Pack& live);
  Pack judge(const Pack* q, const Pack* memory);

  ModelPtr model_;
  CloseOptions options_;
  std::vector<Loop> loops_;
  std::vector<int> moved_, placed_;  ///< runs of the model: of their rates; of bodies of loops
  TreeKinematics<Pack> joints_;      ///< of the latter
  std::vector<Pack> start_, before_, move_;
};

}  // namespace espalier::detail
