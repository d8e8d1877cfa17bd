#pragma once

#include <memory>
#include <mutex>
#include <span>
#include <string_view>
#include <vector>

#include "espalier/kernel/model/layout.hpp"
#include "espalier/kernel/model/loops/constraint.hpp"

/// Which joints of a cluster determine the others best, and models of one robot that differ in that
/// choice (docs/theory/dead-points.md).

namespace espalier {

/// Looks at the K of one cluster for the columns that had better be independent, by QR with column
/// pivoting. Takes nothing from the heap after it was made; belongs to one thread.
class ESPALIER_API IndependentChoice {
 public:
  explicit IndependentChoice(const ClusterConstraint& constraint);

  /// Looks at K as ClusterConstraint::jacobian() left it.
  void look(const ClusterConstraint& constraint, const ConstraintWorkspace<double>& at);
  /// Singularity margin of the present dependent columns and of the best ones, both by Frobenius
  /// norms over all of K: 0 at a dead point of the coordinates, and the latter only where K itself
  /// loses rank.
  double present() const { return present_; }
  double best() const { return best_; }
  /// The independent columns of that best choice, ascending.
  std::span<const int> columns() const { return columns_; }

 private:
  double margin(std::span<const int> dependent);

  std::vector<double> K_, A_, beta_, right_;
  std::vector<int> order_, columns_;
  std::vector<double> rest_;
  double present_ = 0.0, best_ = 0.0;
  int rows_ = 0, all_ = 0, rank_ = 0;
};

/// Models of one robot that differ in which joints of its loops are independent: made on demand,
/// kept, and shared by all who ask. Any thread may ask.
class ESPALIER_API Alternatives {
 public:
  explicit Alternatives(ModelPtr model);
  /// Those of a model, the same object for everybody while somebody holds it.
  static std::shared_ptr<Alternatives> of(const ModelPtr& model);

  /// The robot as `present` has it, with other independent columns in one cluster.
  /// @param present  the model itself or one of its alternatives
  /// @throws as with_independent()
  ModelPtr with(const Model& present, int cluster, std::span<const int> columns);
  /// How many there are besides the model itself.
  std::size_t size() const;

 private:
  ModelPtr find(std::span<const int> rates) const;

  mutable std::mutex mutex_;
  ModelPtr model_;
  std::vector<ModelPtr> known_;
};

/// The same robot with all rates of a joint among the independent ones, in place of those that
/// leave the best margin at a position.
/// @param q      spanning positions with closed loops, size nq
/// @param joint  of a cluster whose G depends on the position, or independent already
/// @throws UnknownName; Unsupported for a joint that follows others at constant ratios;
///         SingularMechanism where it is no choice at q, since it stands still there
ESPALIER_API ModelPtr with_joint_independent(const ModelPtr& model, const double* q,
                                             std::string_view joint);

/// Rates in other coordinates at one position: out = qd[independent rates of `to`], exactly.
/// @param qd       spanning rates, size spanning_nv
/// @param[out] v   size nv
ESPALIER_API void rates_in(const Model& to, const double* qd, double* v);

}  // namespace espalier
