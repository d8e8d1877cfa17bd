#pragma once

#include <span>
#include <utility>
#include <vector>

#include "espalier/kernel/model/loops/constraint.hpp"
#include "espalier/kernel/scalar/structure_of_arrays.hpp"

namespace espalier {

namespace detail {
struct BodyPlacements;
}

/// A position that constant couplings give: offset + sum of factor * q.
struct CoupledPosition {
  int position = 0;
  double offset = 0.0;
  std::vector<std::pair<int, double>> terms;  ///< (position, factor)
};

/// What the kernel and batches compute on packs and registers, apart from algorithms. The plugin
/// espalier_packs has it compiled for each instruction set; a registry without that plugin has it
/// for plain x86-64.
///
/// The functions on clusters are those of kernel/model/loops/constraint_code.hpp and
/// loop_elimination.hpp of the same names. Packs go by reference.
class ESPALIER_API PackCode {
 public:
  virtual ~PackCode();

#define ESPALIER_ON_PACKS(P)                                                                       \
  virtual void jacobian(const ClusterConstraint& constraint, const Model& model,                   \
                        const Cluster& cluster, const SpanningView<P>& at,                         \
                        ConstraintWorkspace<P>& w) const = 0;                                      \
  virtual void eliminate_loops(const Model& model, std::span<const Cluster* const> loops,          \
                               std::span<ConstraintWorkspace<P>> work, const SpanningView<P>& at,  \
                               const P* v, P* G, P* qd, P* g) const = 0;                           \
  virtual void eliminate_biases(const Model& model, std::span<const Cluster* const> loops,         \
                                std::span<ConstraintWorkspace<P>> work, const SpanningView<P>& at, \
                                P* g) const = 0;                                                   \
  virtual void residual(const ClusterConstraint& constraint, const Model& model,                   \
                        const Cluster& cluster, const SpanningView<P>& at,                         \
                        ClusterConstraint::Rows which, ConstraintWorkspace<P>& w,                  \
                        std::vector<P>& phi) const = 0;                                            \
  virtual void expand(std::span<const Cluster* const> clusters, const P* G, const P* x, P* out)    \
      const = 0;                                                                                   \
  virtual void reduce(std::span<const Cluster* const> clusters, const P* G, const P* x, P* out)    \
      const = 0;                                                                                   \
  virtual void expand_in_blocks(const Cluster& cluster, ConstraintWorkspace<P>& w, const P* x,     \
                                P* out) const = 0;                                                 \
  virtual void reduce_in_blocks(const Cluster& cluster, ConstraintWorkspace<P>& w, P* x, P* out)   \
      const = 0;                                                                                   \
  /** least: the smaller of it and the singularity margin of K as jacobian() left it, a lower      \
      bound; see LoopProjector. What eliminate_loops() keeps is overwritten. */                    \
  virtual void take_margin(const ClusterConstraint& constraint, ConstraintWorkspace<P>& w,         \
                           P& least) const = 0;                                                    \
  /** Those of loop_closing_code.hpp. */                                                           \
  virtual void newton_step(const ClusterConstraint& constraint, ConstraintWorkspace<P>& w, P* phi, \
                           P* step) const = 0;                                                     \
  virtual void take_branch(const ClusterConstraint& constraint, ConstraintWorkspace<P>& w,         \
                           P* branch) const = 0;                                                   \
  /** same: 1 stays where no dead point lies between the two, else 0. */                           \
  virtual void take_same_branch(const ClusterConstraint& constraint, ConstraintWorkspace<P>& w,    \
                                const P* last, const P* now, P& same) const = 0;                   \
  /** most: the largest of it and all |x|, or of what positions miss of their couplings; NaN       \
      where one of these is NaN. */                                                                \
  virtual void take_largest(std::span<const P> numbers, P& most) const = 0;                        \
  virtual void take_largest_miss(std::span<const CoupledPosition> coupled, const P* q, P& most)    \
      const = 0;                                                                                   \
  /** zero: stays zero in the lanes in which all numbers are finite. */                            \
  virtual void take_not_finite(std::span<const P> numbers, P& zero) const = 0;                     \
  /** Whole packs of states that stand one after the other, number r of pack k in packs[k][r], and \
      back. */                                                                                     \
  virtual void load(const double* first, const detail::Strides& at, int rows,                      \
                    std::span<P* const> packs) const = 0;                                          \
  virtual void store(std::span<const P* const> packs, int rows, double* first,                     \
                     const detail::Strides& at) const = 0;
  ESPALIER_ON_PACKS(Pack)
  ESPALIER_ON_PACKS(FloatPack)
#undef ESPALIER_ON_PACKS

  /// Doubles to floats: row r of to[k] from row r of from[2 k] and from[2 k + 1].
  virtual void round(std::span<const Pack* const> from, int rows,
                     std::span<FloatPack* const> to) const = 0;

  /// Where bodies are, of one robot in four numbers at once: body_placements.hpp.
  virtual void place_bodies(detail::BodyPlacements& bodies) const = 0;

  /// For plain x86-64.
  static const PackCode& plain();
};

}  // namespace espalier
