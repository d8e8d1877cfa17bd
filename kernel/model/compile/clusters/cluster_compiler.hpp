#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "espalier/kernel/graph/cluster_tree.hpp"
#include "espalier/kernel/model/compile/clusters/ties.hpp"
#include "espalier/kernel/model/compile/validation/validate.hpp"
#include "espalier/kernel/model/loops/constraint.hpp"
#include "espalier/kernel/model/loops/loop_peeling.hpp"

namespace espalier {

namespace detail {

/// A cut joint: a loop of the file, or a joint whose child hangs on another one, too.
struct LoopSource {
  std::string name, type;
  Vec3<double> axis;
  Parameters parameters;
  SourceLocation where;
  int predecessor = 0, successor = 0;              ///< bodies of the model
  Transform<double> at_predecessor, at_successor;  ///< from body to loop frame
};

}  // namespace detail

/// The passes of the model compiler that tie clusters: constraints, rank, independent coordinates,
/// G where it is constant. Runs when bodies, runs and names of the model are there.
class ClusterCompiler {
 public:
  struct Source {
    const ModelTypes& types;
    const graph::ClusterTree& clusters;
    std::vector<const JointDescription*> joints;  ///< per body of the model
    std::vector<detail::Tie> ties;                ///< per coupling of the graph
    std::vector<detail::LoopSource> loops;        ///< per edge of the graph; used for cut ones
    std::vector<int> body;                        ///< of the model, per body of the graph
    SourceLocation where;
    std::set<std::string> driven = {};  ///< joints that an actuator acts on
  };

  ClusterCompiler(const Source& source, Model& model, detail::Findings& findings)
      : source_(source), model_(model), findings_(findings) {}

  void run();

  // Of a compiled model: see kernel/model/compile/variants.hpp, which checks what is asked for.
  static ModelPtr with_independent(const Model& from, int cluster, std::span<const int> columns);
  static ModelPtr with_armature(const Model& from, std::span<const double> added);

 private:
  static void number_joints(Model& model);
  static void regroup_inertia(const Model& from, Model& model);
  void tie_constant(const graph::Cluster& from, Cluster& c);

  // constraints.cpp
  void build_constraint(const graph::Cluster& from, Cluster& c);
  void add_linear(const detail::Equation& equation, const Cluster& c,
                  ClusterConstraint& constraint) const;
  bool add_law(const detail::LawSource& source, const Cluster& c, ClusterConstraint& constraint);
  bool add_loop(const detail::LoopSource& source, const Cluster& c, ClusterConstraint& constraint);
  void find_path(const Cluster& c, ClusterConstraint::Loop& loop) const;

  // assembly.cpp
  void assemble_variable();
  void report_open();
  std::vector<std::vector<double>> closed_poses() const;

  // ranks.cpp
  void settle(std::size_t cluster, const std::vector<std::vector<double>>& poses);
  int largest_rank(std::size_t cluster, const std::vector<std::vector<double>>& poses,
                   std::vector<detail::RowMajorMatrix>& K);
  static void measure_laws(ClusterConstraint& constraint,
                           const std::vector<detail::RowMajorMatrix>& K);
  static void keep_rows(ClusterConstraint& constraint, std::vector<detail::RowMajorMatrix>& K);
  std::size_t best_pose(const Cluster& c, const std::vector<detail::RowMajorMatrix>& K, int rank,
                        bool sparse) const;
  void leave_dead_point(std::size_t cluster, const std::vector<double>& pose);
  void keep_rows_of_loops(const Cluster& c, ClusterConstraint& constraint,
                          const std::vector<std::vector<double>>& poses);

  // independents.cpp
  void choose_independent(Cluster& c, ClusterConstraint& constraint, int dependents,
                          const std::vector<detail::RowMajorMatrix>& K_at);
  std::vector<int> priorities(const Cluster& c, const ClusterConstraint& constraint) const;
  bool are_as_declared(const Cluster& c, const std::vector<int>& priority,
                       const std::vector<bool>& independent, int dependents, int chosen);
  const JointDescription& description_of(const Cluster& c, int column) const;

  void number_independent();
  void recognise();
  std::string names_of_joints(const Cluster& c) const;

  const Source& source_;
  Model& model_;
  detail::Findings& findings_;
  std::vector<std::vector<bool>> independent_;                   ///< per cluster and row
  std::vector<std::shared_ptr<ClusterConstraint>> constraints_;  ///< per cluster or null
  std::vector<SourceLocation> where_;  ///< of each cluster's first constraint
};

}  // namespace espalier
