#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "espalier/kernel/export.hpp"
#include "espalier/kernel/model/joint_properties.hpp"
#include "espalier/kernel/model/model_types.hpp"
#include "espalier/kernel/spatial/transform.hpp"

namespace espalier {

struct Body;
struct BodyRun;
struct Cluster;
struct Description;
struct Finding;
struct ModelExtras;
struct PlacedShape;
struct Rotor;
template <class T>
struct RigidInertia;

namespace graph {
class KeptGraphs;
struct MechanismGraphs;
}  // namespace graph
namespace detail {
struct InertiaGroup;
}

/// A link of the file: its body and its frame on it.
struct Link {
  std::string name;     ///< of the link
  int body = 0;         ///< 0 if welded to the ground
  Transform<double> X;  ///< from the body's frame to the link's
  double mass = 0.0;    ///< [kg]
};

/// A joint of the file that moves.
struct Joint {
  std::string name;         ///< of the joint
  std::string type;         ///< name of its registered type
  int body = 0;             ///< the body that hangs on it
  int q = 0, v = 0;         ///< where its spanning rates start
  int nq = 0, nv = 0;       ///< number of rates
  int independent = -1;     ///< where its rates start among the independent ones; -1: dependent
  Limits limits;            ///< as in the file
  PassiveDynamics passive;  ///< as in the file
};

/// Which coordinates of a vector belong to which joint.
struct Coordinate {
  std::string joint;        ///< whose rates they are
  int start = 0, size = 0;  ///< entries
  int component = 0;        ///< rate of the joint that is the first; not 0 only inside loops

  /// "joint", or "joint[k]" for one rate of several.
  std::string name;
};

/// A named frame of the file, on the body that moves it.
struct PlacedFrame {
  std::string name;     ///< of the frame
  int link = 0;         ///< among Model::links()
  int body = 0;         ///< 0 if welded to the ground
  Transform<double> X;  ///< from the body's frame to this one
};

/// What compiling a Description is told.
struct CompileOptions {
  enum class Root { fixed, floating };
  enum class MimicRule { honour, ignore };
  enum class Rotors { fold, keep };
  /// floating: the root link hangs on a floating joint named "root"; unset: as the file says, and
  /// fixed where it says nothing.
  std::optional<Root> root = {};
  MimicRule mimic = MimicRule::honour;  ///< honour: they are couplings
  Rotors rotors = Rotors::fold;  ///< axisymmetric rotors: into their parents (exact), or bodies
  bool strict = false;           ///< refuses what is computed as written but physically doubtful
  bool lenient = false;          ///< leaves out what the format's reader cannot express
};

/// A robot that algorithms compute on: validated, flat, immutable, shared by threads.
class ESPALIER_API Model {
 public:
  /// Compiles a Description: validates, folds fixed joints, finds tree and clusters, turns joint
  /// axes onto z, lays out coordinates.
  /// @throws InvalidModel naming link, joint, file and line; UnknownName for joint types
  static std::shared_ptr<const Model> compile(const Description& description,
                                              const ModelTypes& types,
                                              const CompileOptions& options = {});

  const std::string& name() const { return name_; }  ///< of the robot
  Vec3<double> gravity() const { return gravity_; }  ///< [m/s²], world axes

  int body_count() const { return body_count_; }    ///< without the ground
  int nq() const { return nq_; }                    ///< spanning positions
  int nv() const { return nv_; }                    ///< independent rates
  int spanning_nv() const { return spanning_nv_; }  ///< rates of all spanning joints

  // Bodies and clusters: include kernel/model/layout.hpp to call these.
  inline const Body& body(int i) const;          ///< 0: the ground
  inline std::span<const BodyRun> runs() const;  ///< of all bodies
  /// Bodies that are not folded rotors, and their runs: they come first.
  inline int active_body_count() const;
  inline std::span<const BodyRun> active_runs() const;
  inline std::span<const Rotor> rotors() const;  ///< folded ones
  /// Inertia of a body with the rotors that are folded into it, about its frame's origin.
  inline const RigidInertia<double>& folded_inertia(int i) const;
  inline std::span<const Cluster> clusters() const;  ///< regular numbering

  std::span<const Joint> joints() const { return joints_; }  ///< that move
  std::span<const Link> links() const { return links_; }     ///< of the file
  /// Inertia added on spanning rates: (rate, inertia) where there is any [kg·m² or kg].
  std::span<const std::pair<int, double>> armature() const { return armature_; }
  /// Parent of every spanning rate among the rates (-1 for none): joints of several rates are
  /// expanded into chains (Featherstone 2008, section 6.5).
  std::span<const int> rate_parents() const { return rate_parents_; }

  /// First cluster that couplings or loops tie, or nullptr: the model is a tree.
  const Cluster* first_constrained() const;
  /// Whether some cluster's G depends on the position.
  bool has_variable_constraints() const;
  bool is_tree() const { return first_constrained() == nullptr; }  ///< nothing is tied
  /// Bodies whose joints bring equations of their own (JointType::has_equations), ascending.
  std::span<const int> bodies_with_equations() const { return bodies_with_equations_; }
  /// The equations of such a body's joint: JointRun::equations.
  /// q, qd: of all joints; w_parent [rad/s], parent's frame; M, h: size 6 + nv of the joint.
  template <class T>
  void equations(int body, const T* q, const T* qd, const Vec3<T>& w_parent, T* M, T* h) const;

  /// @throws UnknownName listing the known names
  const Link& link(std::string_view name) const;
  const Joint& joint(std::string_view name) const;       ///< @throws UnknownName
  const Joint* find_joint(std::string_view name) const;  ///< null if there is none
  const Link* find_link(std::string_view name) const;    ///< null if there is none
  /// The joint that a spanning rate belongs to.
  const Joint& joint_of_rate(int rate) const { return joints_[joint_of_rate_[rate]]; }

  /// Independent rates, in order.
  std::vector<Coordinate> coordinates() const;
  /// Spanning rate of every independent one.
  std::span<const int> independent_rates() const { return independent_rates_; }
  /// Size of the G of all constrained clusters together.
  int G_size() const { return G_size_; }
  /// What is computed on packs apart from algorithms.
  const PackCode& pack_code() const;
  /// Names of the bodies (their first link), ground first.
  std::span<const std::string> body_names() const { return body_names_; }

  /// Mass of everything that moves [kg], that of joints with equations of their own included.
  double mass() const;

  // Positions (size nq), each joint on its manifold.
  /// Every joint at its neutral position; clusters with loops are assembled near to it, and beside
  /// it where it is a dead point.
  void neutral(double* q) const;
  template <class T>
  void integrate(const T* q, const T* v_spanning, T* q_out) const;  ///< q moved by v for unit time
  template <class T>
  void difference(const T* q0, const T* q1, T* v_spanning) const;  ///< the v from q0 to q1
  template <class T>
  void normalize(T* q) const;  ///< brings q back onto its manifold
  /// Neutral moved by a random tangent vector, inside the limits where there are any.
  void random(unsigned long long seed, double* q) const;

  /// Sets the dependent positions of constant couplings from the independent ones.
  void apply_couplings(double* q) const;

  /// Shapes of all links on the bodies that move them, by links, visuals before collisions
  /// (kernel/model/placements.hpp: where they are). They are made for the first who asks; on any
  /// thread.
  std::span<const PlacedShape> shapes() const;
  /// Named frames (sites) of all links.
  std::span<const PlacedFrame> frames() const;
  /// @throws UnknownName listing the known names
  const PlacedFrame& frame(std::string_view name) const;
  /// Named states, inputs and contact rules of the file, and what compiling warned about.
  const ModelExtras& extras() const { return *extras_; }

  /// The graphs that the model was compiled from: connectivity graph, spanning tree, cluster tree
  /// and subsystem graph (kernel/graph/mechanism_graphs.hpp). Algorithms read the flat arrays.
  /// They are made for the first who asks; on any thread.
  const graph::MechanismGraphs& graphs() const;

  /// Clusters of which some motion may move no inertia at some position; algorithms that divide by
  /// inertia look at them first (kernel/model/inertia/inertia_groups.hpp). None of most robots.
  const std::vector<detail::InertiaGroup>& inertia_groups() const { return *inertia_groups_; }
  /// What moves no inertia where the loops are open, e.g. "joint 'a'"; "" where everything does.
  const std::string& weightless_in_tree() const { return weightless_in_tree_; }

 private:
  friend class Compiler;         // the passes of compile()
  friend class ClusterCompiler;  // those that tie clusters
  Model() = default;

  std::string name_;
  Vec3<double> gravity_{0, 0, -9.81};
  int body_count_ = 0, nq_ = 0, nv_ = 0, spanning_nv_ = 0;
  std::vector<Body> bodies_;
  std::vector<BodyRun> runs_;
  std::vector<Joint> joints_;
  std::vector<Link> links_;
  std::vector<Cluster> clusters_;
  std::vector<std::pair<int, double>> armature_;
  std::vector<int> rate_parents_;
  std::vector<int> independent_rates_;
  std::vector<int> joint_of_rate_;
  std::vector<Rotor> rotors_;
  std::vector<RigidInertia<double>> folded_inertia_;
  std::shared_ptr<LatePackCode> pack_code_;
  int active_runs_ = 0;
  int G_size_ = 0;
  std::vector<double> neutral_;
  std::vector<int> bodies_with_equations_;
  std::vector<std::string> body_names_;
  std::vector<int> joint_order_, link_order_;  ///< by name, for lookup
  std::shared_ptr<const graph::KeptGraphs> graphs_;
  std::shared_ptr<const ModelExtras> extras_;
  std::shared_ptr<const std::vector<detail::InertiaGroup>> inertia_groups_;
  std::string weightless_in_tree_;
};

using ModelPtr = std::shared_ptr<const Model>;

namespace detail {
/// @param who  asks for it
/// @throws InvalidModel where there is none
ESPALIER_API const ModelPtr& expect_model(std::string_view who, const ModelPtr& model);
}  // namespace detail

/// All that is wrong or suspicious in a description; errors are what compile() refuses.
ESPALIER_API std::vector<Finding> diagnose(const Description& description, const ModelTypes& types,
                                           const CompileOptions& options = {});

}  // namespace espalier
