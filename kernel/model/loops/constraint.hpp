#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "espalier/kernel/model/law.hpp"
#include "espalier/kernel/model/loops/loop_blocks.hpp"
#include "espalier/kernel/model/loops/planar_loops.hpp"
#include "espalier/kernel/spatial/transform.hpp"

/// The constraints that tie one cluster, where its motion follows them with coefficients that
/// depend on the position: couplings, laws and loop joints as rows of one K, eliminated to
/// qd = G yd, qdd = G ydd + g.

namespace espalier {

class Model;
struct Cluster;

/// State of a model's spanning joints, arrays of the whole model. Pointers may be null where a
/// function does not ask for them.
template <class T>
struct SpanningView {
  const T* q = nullptr;
  const T* qd = nullptr;
  const Transform<T>* X = nullptr;  ///< per body, from its parent
  const Motion<T>* S = nullptr;     ///< per rate, dense subspaces only
  const Motion<T>* bias = nullptr;  ///< per body, dense subspaces only
};

/// Memory for clusters' eliminations at one scalar, one after the other. Vectors may be longer than
/// the present cluster needs.
template <class T>
struct ConstraintWorkspace {
  struct Pose {
    Mat3<T> E;   ///< supporting body's to this body's axes
    Vec3<T> x;   ///< origin, supporting body's axes, relative to the supporting body's origin
    Vec3<T> w;   ///< angular velocity relative to the supporting body
    Vec3<T> v;   ///< velocity of the origin
    Vec3<T> dw;  ///< angular acceleration at ydd = 0
    Vec3<T> a;   ///< acceleration of the origin at ydd = 0
  };
  std::vector<Pose> pose;    ///< per body of the cluster
  std::vector<Motion<T>> S;  ///< unit motion of each rate at its body's origin, support's axes
  std::vector<T> K;          ///< as ClusterConstraint::each_in_row() reads it
  std::vector<T> factor;     ///< dependent columns, factored
  std::vector<T> beta;       ///< of the Householder reflections
  std::vector<T> k;
  std::vector<T> right;             ///< right-hand sides of one block
  std::vector<T> law_q, law_terms;  ///< of all laws, in their order
  std::vector<T> law_qd, law_K;     ///< of one law
  PlanarLoops::Workspace<T> plane;
};

/// Equations between the spanning rates of one cluster. Columns are the cluster's rows of G: the
/// rates of its bodies, then those of its folded rotors. Immutable once its model is compiled.
class ESPALIER_API ClusterConstraint {
 public:
  /// sum of coefficient * q(column) = constant.
  struct Linear {
    std::string name;
    std::vector<std::pair<int, double>> terms;
    double constant = 0.0;
  };
  struct LawUse {
    std::string name;
    std::shared_ptr<const Law> law;
    const LawType* type = nullptr;  ///< that made it, of `spec`
    PartSpec spec{};
    std::vector<int> columns;    ///< of its positions
    std::vector<int> positions;  ///< in the model's q
    std::vector<bool> kept;      ///< per equation
    /// Per equation: what a residual is multiplied by before it is judged. Units of a law are its
    /// author's: where the slope of phi is small, so is phi far from the solution. 1 for others.
    std::vector<double> measure;
  };
  struct Loop {
    std::string name;
    int predecessor = 0, successor = 0;              ///< bodies
    Transform<double> at_predecessor, at_successor;  ///< from body to loop frame
    std::vector<LoopRow> rows;                       ///< that K has
    std::vector<LoopRow> all_rows;                   ///< that the residual has
    std::vector<std::pair<int, double>> path;  ///< bodies between the two, +1 towards successor
    std::vector<int> columns;                  ///< their rates, in the order of the path
  };

  std::vector<Linear> linear;      ///< that K has
  std::vector<Linear> all_linear;  ///< that the residual has
  std::vector<LawUse> laws;
  std::vector<Loop> loops;
  std::optional<PlanarLoops> planar;  ///< the loops once more, if they lie in a plane

  int columns = 0;
  std::vector<int> rate, position;          ///< of each column: spanning rate; position or -1
  std::vector<int> independent, dependent;  ///< columns
  bool unit_dependents = false;  ///< K's dependent columns are a unit matrix; set by choose()
  /// How a large cluster is eliminated, block by block; empty for small ones and for those with
  /// more rows than dependent columns. Set by choose_blocks().
  std::optional<LoopBlocks> blocks;
  int rows() const { return rows_; }  ///< of K, since choose() or keep()

  /// Whether K is stored by its entries, row after row, instead of as rows x columns: so it is for
  /// clusters of more than a few joints, each loop of which ties a few.
  bool is_sparse() const { return !row_start_.empty(); }
  /// The columns that a row has entries in, and where these start in ConstraintWorkspace::K; sparse
  /// ones only.
  std::span<const int> entries(int row) const {
    return std::span(entry_column_).subspan(row_start_[row], row_start_[row + 1] - row_start_[row]);
  }
  int first_entry(int row) const { return row_start_[row]; }
  /// Calls f(column, value) for the stored entries of a row of K, after jacobian().
  template <class T, class F>
  void each_in_row(const ConstraintWorkspace<T>& w, int row, F&& f) const {
    if (!is_sparse()) {
      for (int l = 0; l < columns; ++l) f(l, w.K[row * columns + l]);
      return;
    }
    for (int e = row_start_[row]; e < row_start_[row + 1]; ++e) f(entry_column_[e], w.K[e]);
  }

  /// phi: 0 on an assembled cluster. `kept`: of the rows that K has, in their order; `all`: to be
  /// judged, with redundant rows and violated `facing` conditions, laws times LawUse::measure.
  enum class Rows { kept, all };
  void residual(const Model& model, const Cluster& cluster, const SpanningView<double>& at,
                Rows which, std::vector<double>& phi) const;
  /// The same with memory of the caller's: allocates nothing after its first call.
  void residual(const Model& model, const Cluster& cluster, const SpanningView<double>& at,
                Rows which, ConstraintWorkspace<double>& w, std::vector<double>& phi) const;
  /// The constraint with the largest residual: its name and that residual.
  std::pair<std::string, double> worst(const Model& model, const Cluster& cluster,
                                       const SpanningView<double>& at) const;

  /// Makes room for this cluster.
  template <class T>
  void allocate(const Cluster& cluster, ConstraintWorkspace<T>& w) const;
  /// K at a position; what bias() needs of it stays in w.
  void jacobian(const Model& model, const Cluster& cluster, const SpanningView<double>& at,
                ConstraintWorkspace<double>& w) const;
  /// k from jacobian()'s leftovers, at.qd and at.bias. No residual() of another position between
  /// the two.
  void bias(const Model& model, const Cluster& cluster, const SpanningView<double>& at,
            ConstraintWorkspace<double>& w) const;

  /// Keeps the given rows of K, in their order before.
  void keep(const std::vector<bool>& kept);
  /// Settles which columns are independent, when linear, laws and loops are complete.
  void choose(const std::vector<bool>& is_independent);
  /// Then: the order of elimination of what is sparse.
  void choose_blocks() { blocks = LoopBlocks::find(*this); }

 private:
  void count_rows();
  void list_entries();
  int rows_ = 0;
  std::vector<int> row_start_, entry_column_;  ///< empty unless is_sparse()
};

}  // namespace espalier
