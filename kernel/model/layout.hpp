#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "espalier/kernel/model/description.hpp"
#include "espalier/kernel/model/model.hpp"
#include "espalier/kernel/spatial/inertia.hpp"

/// How a model lays out bodies, clusters and folded rotors: what authors of algorithms, joints and
/// mechanisms read. A program that calls algorithms needs links, joints and coordinates alone
/// (kernel/model/model.hpp).

namespace espalier {

class ClusterConstraint;
class JointRun;
class KeptShapes;

/// What hangs on what, in the order in which recursions run. Body 0 is the ground; bodies 1..n
/// are in regular numbering (parent(i) < i), clusters are contiguous.
struct Body {
  int parent = 0;                ///< body
  int cluster = 0;               ///< among Model::clusters()
  int run = 0;                   ///< index of the JointRun it belongs to
  int joint = 0;                 ///< index among Model::joints()
  int q = 0, v = 0;              ///< where its spanning rates start
  int nq = 0, nv = 0;            ///< number of rates
  Transform<double> placement;   ///< from the parent body's frame to the joint's fixed frame
  RigidInertia<double> inertia;  ///< of all links welded to it, about the body frame's origin
};

/// Consecutive bodies whose joints are of one type.
struct BodyRun {
  int first = 0, count = 0;                     ///< bodies
  int q = 0, v = 0;                             ///< where the spanning rates start
  int nq = 0, nv = 0;                           ///< rates of each joint
  SubspaceKind subspace = SubspaceKind::dense;  ///< of all its joints
  const JointType* type = nullptr;              ///< of all its joints
  std::shared_ptr<const JointRun> joints;       ///< what computes them
};

/// A rotor that is folded into the body that carries it: it spins about an axis that is fixed in
/// the parent, and its inertia is the same at every angle. In the parent it counts as if it were
/// welded (Model::folded_inertia); what is left of it is its spin (theory/clusters 5.4).
struct Rotor {
  int body = 0;           ///< its own number: after all bodies that are not folded
  int parent = 0;         ///< body; 0: the ground
  int v = 0;              ///< its spanning rate
  double inertia = 0.0;   ///< about the axis, armature included [kg·m²]
  Vec3<double> momentum;  ///< for unit rate: inertia without armature times axis, parent's frame
};

/// Bodies tied together by loop constraints: a node of the cluster tree. A body that no loop ties
/// is a cluster of its own.
struct Cluster {
  int first = 0, count = 0;   ///< bodies, without folded rotors
  int parent = -1;            ///< cluster; -1: the ground
  std::vector<int> supports;  ///< distinct supporting bodies outside the cluster (0: ground)
  int v = 0, nv = 0;          ///< independent rates
  int spanning_v = 0, spanning_nv = 0;  ///< rates of its bodies
  int rotor = 0, rotors = 0;            ///< its folded ones
  int rotor_v = 0;                      ///< spanning rate of the first
  bool constrained = false;             ///< whether a coupling, law or loop ties it
  bool implicit = false;                ///< whether a law or loop joint is among the constraints
  /// Under couplings alone: qd = G yd and q = G y + offset with y the independent coordinates;
  /// G constant, rows() x nv, row-major. Empty for plain clusters and where G depends on q.
  std::vector<double> G;
  std::vector<double> offset;  ///< size rows() [rad or m]
  int G_start = 0;             ///< where its G starts among those of all constrained clusters
  std::shared_ptr<const ClusterConstraint> constraint;  ///< where G depends on q, else null
  std::vector<std::string> constraints;                 ///< names of its couplings, laws and loops
  std::vector<std::string> laws;                        ///< types of the laws among them
  std::string name;                                     ///< its joints, joined by '+'
  std::string recognised;  ///< what it is and why its kernel was chosen, for people

  /// Rows of G: the rates of its bodies, then of its folded rotors.
  int rows() const { return spanning_nv + rotors; }
  int rate(int row) const {
    return row < spanning_nv ? spanning_v + row : rotor_v + row - spanning_nv;
  }  ///< of a row
  int row(int rate) const {
    return rate >= rotor_v && rotors > 0 ? rate - rotor_v + spanning_nv : rate - spanning_v;
  }  ///< of a rate
};

/// A shape of the file, on the body that moves it.
struct PlacedShape {
  enum class Role { visual, collision };
  Role role = Role::visual;  ///< what it is for
  int link = 0;              ///< among Model::links()
  int body = 0;              ///< 0 if welded to the ground
  Transform<double> X;       ///< from the body's frame to the shape's
  ShapeDescription shape;    ///< as in the file
};

/// What a model carries for others than dynamics.
struct ModelExtras {
  std::shared_ptr<const KeptShapes> shapes;                       ///< see Model::shapes()
  std::vector<PlacedFrame> frames;                                ///< named frames
  std::vector<NamedState> states;                                 ///< named states
  std::vector<ActuatorDescription> actuators;                     ///< inputs
  std::vector<PairDescription> excluded_contacts, contact_pairs;  ///< of shapes
  std::vector<Finding> warnings;  ///< of reading and compiling, each once
};
/// Whether the root link floats: options.root, or what the file says; fixed if neither does.
inline CompileOptions::Root root_of(const Description& robot, const CompileOptions& options) {
  const bool floats = robot.floating.value_or(false);
  return options.root.value_or(floats ? CompileOptions::Root::floating
                                      : CompileOptions::Root::fixed);
}

inline const Body& Model::body(int i) const { return bodies_[i]; }
inline std::span<const BodyRun> Model::runs() const { return runs_; }
inline int Model::active_body_count() const {
  return body_count() - static_cast<int>(rotors_.size());
}
inline std::span<const BodyRun> Model::active_runs() const {
  return std::span(runs_).first(active_runs_);
}
inline std::span<const Rotor> Model::rotors() const { return rotors_; }
inline const RigidInertia<double>& Model::folded_inertia(int i) const { return folded_inertia_[i]; }
inline std::span<const Cluster> Model::clusters() const { return clusters_; }

}  // namespace espalier
