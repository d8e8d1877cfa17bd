#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "espalier/kernel/model/layout.hpp"
#include "espalier/kernel/model/motion/spanning_motion.hpp"

/// Whether a mass matrix has an inverse: the one place that decides it, when a model is compiled
/// and before algorithms divide by it.
///
/// A motion without kinetic energy leaves every body with inertia at rest. So bodies are settled
/// from the ground outwards: if what carries a cluster rests, and its bodies by themselves have
/// inertia along each of its rates, it rests, too. What cannot be settled so, at any position, is
/// gathered with what hangs on it, up to the first bodies of full inertia; of such a group alone
/// the mass matrix sum of J^T I J is composed and its rank taken.

namespace espalier::detail {

/// Clusters that hang together and of which some motion may move no inertia.
struct InertiaGroup {
  /// A rate of the spanning tree, as a combination of the group's columns.
  struct Row {
    const Cluster* tied =
        nullptr;               ///< whose G has the coefficients; nullptr: it is a column itself
    int row = 0;               ///< of that G
    int first = 0, count = 0;  ///< columns
    double armature = 0.0;
  };
  struct Member {
    int body = 0;
    int parent = -1;  ///< member that carries it; -1: one that rests
    RigidInertia<double> inertia;
    std::vector<Row> rows;     ///< of its rates
    std::vector<int> columns;  ///< that move it, ascending
  };
  struct FoldedRotor {
    int parent = -1;  ///< member; -1: one that rests
    Vec3<double> momentum;
    double inertia = 0.0;
    Row row;
  };
  std::vector<Member> members;  ///< parents before children
  std::vector<FoldedRotor> rotors;
  std::vector<int> rates;  ///< of the spanning tree: the rate that each column is
  bool hopeless = false;   ///< fewer inertias than columns: singular everywhere
  bool guarded = false;    ///< regular, but not known to be so at every position
};

/// Rates of a mass matrix: the independent ones, or all of the spanning tree, loops being open.
enum class RatesOf { clusters, spanning_tree };

/// The groups of a model at whose rank one has to look; none of most models.
/// @param everything  all clusters make one group: some inertia is that of no body
ESPALIER_API std::vector<InertiaGroup> find_inertia_groups(const Model& model, RatesOf rates,
                                                           bool everything = false);

/// The mass matrix of a group.
template <class T>
class ESPALIER_API GroupInertia {
 public:
  GroupInertia(const Model& model, const InertiaGroup& group);

  /// @param at  joints that are placed, and G
  /// @param q   of the same position
  void compose(const SpanningMotion<T>& at, const T* q);
  /// Rows and columns.
  int size() const { return static_cast<int>(group_.rates.size()); }
  /// Entry of the last composed matrix.
  const T& operator()(int i, int j) const {
    return i >= j ? M_[i * size() + j] : M_[j * size() + i];
  }
  /// The smallest pivot of its Cholesky factor, each measured by its diagonal entry; in lanes. Ends
  /// with the matrix overwritten.
  T least_pivot();

 private:
  void add(const Motion<T>* J, const std::vector<int>& columns);
  void add_square(const InertiaGroup::Row& row, const T& inertia);
  T coefficient(const InertiaGroup::Row& row, int k) const;

  const Model& model_;
  const InertiaGroup& group_;
  const SpanningMotion<T>* at_ = nullptr;
  std::vector<std::vector<Motion<T>>> J_;  ///< of each member, per column that moves it
  std::vector<Force<T>> F_;
  std::vector<T> M_, diagonal_, still_, own_, bias_;
};

/// A motion without inertia.
struct ESPALIER_API WeightlessMotion {
  std::vector<std::pair<int, double>> rates;  ///< of the spanning tree, largest 1; the first moves
                                              ///< what lies nearest to the ground
  bool alone = false;  ///< each of the rates by itself moves no inertia; outermost first
  std::string text(const Model& model) const;  ///< "'a', 'b' (rates 1 : -0.5)"
};
/// The motion of least inertia where a group's matrix is singular; no rates where it is regular.
ESPALIER_API WeightlessMotion find_weightless_motion(const InertiaGroup& group,
                                                     const GroupInertia<double>& M);

/// What moves no inertia in the spanning tree of a compiled model, its loops being open, for
/// algorithms that factor that tree's inertia: "joint 'a'"; "" where everything does.
ESPALIER_API std::string weightless_in_tree(const Model& model);

/// Looks at the groups of a model that may become singular, before an algorithm divides by their
/// inertia.
template <class T>
class ESPALIER_API InertiaGuard {
 public:
  /// @param groups  kept by the model
  InertiaGuard(const Model& model, const std::vector<InertiaGroup>& groups);
  /// The smallest pivot of all guarded groups at q; below smallest_pivot<T> there is no inverse.
  T least_pivot(const T* q);
  /// The motion that has no inertia at q. At double alone.
  WeightlessMotion weightless_motion(const T* q);

 private:
  const std::vector<InertiaGroup>& all_;
  SpanningMotion<T> motion_;
  std::vector<GroupInertia<T>> groups_;
};
/// A pivot that rounding leaves of zero, over its diagonal entry, is some 1e-16 of it, in floats
/// 1e-7; at this bound three digits of the answer are left.
template <class T>
inline constexpr double smallest_pivot = is_single<T> ? 1e-5 : 1e-13;

}  // namespace espalier::detail
