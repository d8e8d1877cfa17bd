#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "espalier/kernel/graph/cluster_tree.hpp"
#include "espalier/kernel/model/compile/clusters/cluster_compiler.hpp"
#include "espalier/kernel/model/compile/clusters/ties.hpp"
#include "espalier/kernel/model/compile/validation/validate.hpp"
#include "espalier/kernel/model/inertia/inertia_groups.hpp"

namespace espalier {

/// Description -> Model, one function per pass, one file for what belongs together. A pass that
/// finds errors lets the following ones not run; warnings are collected to the end.
class Compiler {
 public:
  Compiler(const Description& robot, const ModelTypes& types, const CompileOptions& options);

  void run();
  detail::Findings& findings() { return findings_; }
  std::shared_ptr<const Model> take();

 private:
  /// A set of links welded together; becomes a body.
  struct Group {
    std::vector<int> links;  ///< the first is the one that the others' frames are given in
    int joint = -1;          ///< tree joint it hangs on, index into joints_
    int body = 0;            ///< number in the model
    RigidInertia<double> inertia = RigidInertia<double>::zero();  ///< in the body's frame
  };

  void run_passes();
  void blame_plugin();

  // links.cpp: who is who, and what fixed joints weld together
  void index_links();
  void find_root();
  void fold_fixed_joints();
  void grow_group(int group, int first, const std::vector<std::vector<int>>& welds);
  static bool same_frame(const Transform<double>& a, const Transform<double>& b);
  int group_of(const std::string& link) const { return group_of_[link_number_.at(link)]; }

  // topology.cpp: spanning tree, couplings, clusters
  void connect();
  void cluster();

  // rotors.cpp: those whose attitude does not matter
  void fold_rotors();
  static bool is_axisymmetric(const RigidInertia<double>& I);
  void number_bodies();
  void list_rotors();

  // placement.cpp: frames and inertias; joint axes onto z
  void place_bodies();
  void place_links(int g, const Mat3<double>& turn);
  void place_geometry();
  static Transform<double> clean(Transform<double> X);

  // coordinates.cpp
  void lay_out_coordinates();
  void make_runs();
  void index_names();

  // clusters.cpp: constraints and independent coordinates
  void tie_clusters();
  Cluster cluster_of(int number, int& rotor);
  detail::LoopSource loop_source(int e);

  // inertia.cpp: can every joint be driven?
  void check_inertia();
  void judge(detail::InertiaGroup& group);
  void report_weightless(const detail::WeightlessMotion& motion, bool at_neutral);
  std::string moves_no_inertia(int body, const std::string& motion) const;
  const JointDescription& joint_of(int body) const {
    return joints_[groups_[order_[body - 1]].joint];
  }

  const Description& robot_;
  const ModelTypes& types_;
  CompileOptions options_;  ///< with a root
  std::shared_ptr<Model> model_;
  std::shared_ptr<ModelExtras> extras_ = std::make_shared<ModelExtras>();
  detail::Findings findings_;

  std::map<std::string, int> link_number_;
  std::vector<JointDescription> joints_;  ///< of the file, and the floating root
  std::vector<const JointType*> joint_types_;
  int root_link_ = 0;
  std::vector<Group> groups_;
  std::vector<int> group_of_;                ///< of each link
  std::vector<Transform<double>> in_group_;  ///< of each link: from the group's first link to it
  graph::ConnectivityGraph graph_;
  graph::SpanningTree tree_;
  graph::ClusterTree clusters_;
  std::vector<int> edge_joint_;             ///< edge of the graph -> joints_, -1 for loops
  std::map<int, int> loop_of_edge_;         ///< edge of the graph -> robot_.loops
  std::vector<detail::Tie> ties_;           ///< in the order of the graph's couplings
  std::vector<bool> folded_;                ///< groups that are folded rotors
  int active_ = 0;                          ///< bodies that are not
  std::vector<int> order_;                  ///< groups in the order of the model's bodies 1..n
  std::vector<JointSpec> specs_;            ///< of bodies 1..n
  std::vector<std::vector<double>> poses_;  ///< closed: neutral, then random ones
};

}  // namespace espalier
