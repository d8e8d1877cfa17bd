#pragma once

#include <span>
#include <vector>

#include "espalier/kernel/model/layout.hpp"
#include "espalier/kernel/model/loops/constraint.hpp"
#include "espalier/kernel/model/motion/tree_kinematics.hpp"

namespace espalier {

/// From independent to spanning rates at one state, qd = G v and qdd = G vdot + g, together with
/// what the spanning joints say: the first pass of every algorithm that knows clusters.
/// On a tree it costs no more than TreeKinematics. Source: theory/clusters 5.1.
template <class T>
class ESPALIER_API SpanningMotion {
 public:
  /// Whether joints of folded rotors are evaluated.
  enum class Rotors { skip, place };
  explicit SpanningMotion(const Model& model, Rotors rotors = Rotors::place);  ///< at no state

  /// Leaves out what somebody else evaluates.
  /// @param runs      per active run of the model: whether its joints are not evaluated; none of
  ///                  their bodies is in a loop that a joint closes
  /// @param clusters  per cluster: whether its rates are not expanded, and its forces not reduced;
  ///                  none of their constraints has a G that depends on q
  void leave_out(std::vector<bool> runs, const std::vector<bool>& clusters);

  /// Computes no G of some clusters: rates and forces then pass through K block by block, at a cost
  /// that does not grow with the number of independent rates. Nobody asks for their G().
  /// @param clusters  per cluster: whether; these are eliminated in blocks
  ///                  (ClusterConstraint::blocks)
  void leave_out_G(const std::vector<bool>& clusters);
  /// K of such a cluster, and its factored blocks.
  const ConstraintWorkspace<T>& constraint_work(const Cluster& c) const;

  /// Takes sines and cosines from somebody who updates them before update(); nullptr: no longer.
  void use(const JointTurns<T>* turns) { turns_ = turns; }
  /// What was given last.
  const JointTurns<T>* turns() const { return turns_; }

  /// @param q  spanning positions
  /// @param v  independent rates, or nullptr: then qd, bias and g are those of rest
  void update(const T* q, const T* v) {
    moving_ = v != nullptr;
    qd_now_ = v;
    if (!idle_) evaluate(q, v);  // a call into the kernel, for nothing where chains are the robot
  }
  /// Evaluates the joints of folded rotors after all, for those who skip them: an external wrench
  /// on a rotor has to be carried to its parent.
  void place_rotors(const T* q);

  TreeKinematics<T> joints;  ///< of the spanning tree

  /// Rates of all spanning joints, valid until the next update (on a tree, v itself).
  const T* qd() const { return qd_now_; }
  /// Spanning accelerations at vdot = 0, or nullptr where they all are zero.
  const T* g() const { return !g_.empty() && moving_ ? g_.data() : nullptr; }
  /// G of a constrained cluster, rows x nv, row-major; rows as Cluster::rate() says.
  const T* G(const Cluster& c) const { return G_.data() + c.G_start; }

  /// out = G x for independent rates or accelerations x (g not added). What is left out keeps its
  /// entries of out, here and there.
  void expand(const T* x, T* out) const;
  /// out = G^T x for forces x on spanning rates.
  void reduce(const T* x, T* out) const;

 private:
  void evaluate(const T* q, const T* v);
  void expand_rows(std::span<const Cluster* const> clusters, const T* x, T* out) const;
  void reduce_in_blocks(const T* x, T* out) const;
  void eliminate(std::span<const Cluster* const> clusters, std::span<ConstraintWorkspace<T>> work,
                 const SpanningView<T>& at, const T* v, T* G, T* g);
  void eliminate_biases(std::span<const Cluster* const> clusters,
                        std::span<ConstraintWorkspace<T>> work, const SpanningView<T>& at);

  const Model& model_;
  bool all_;            ///< rotors are placed
  bool tree_;           ///< no constraint: spanning rates are the independent ones
  bool idle_ = false;   ///< a tree whose joints all are left out
  bool waits_ = false;  ///< g needs biases of joints, and these need qd
  bool moving_ = false;
  std::vector<bool> left_out_;
  std::vector<const Cluster*> constant_;      ///< whose G is constant and who are not left out
  std::vector<const Cluster*> loops_;         ///< whose G depends on the position
  std::vector<const Cluster*> in_blocks_;     ///< likewise, of whom no G is computed
  std::vector<ConstraintWorkspace<T>> work_;  ///< one for all loops; if waits_, one for each
  mutable std::vector<ConstraintWorkspace<T>> block_work_;  ///< one for each in blocks
  mutable std::vector<T> forces_;  ///< spanning, where some are in blocks: a copy to reduce
  const T* qd_now_ = nullptr;
  const JointTurns<T>* turns_ = nullptr;
  std::vector<T> G_, qd_, g_;
};

#define ESPALIER_EXTERN(T) extern template class SpanningMotion<T>;
ESPALIER_SCALARS(ESPALIER_EXTERN)
#undef ESPALIER_EXTERN

}  // namespace espalier
