#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "espalier/kernel/export.hpp"
#include "espalier/kernel/spatial/inertia.hpp"

/// A robot as it was read: names, frames and numbers in the file's own terms, nothing derived.
/// Formats fill a Description; Model::compile turns it into what is computed on.

namespace espalier {

/// Where a thing was written, for error messages.
struct SourceLocation {
  std::string file;
  int line = 0;  ///< from 1; 0 if unknown

  /// "file:line", "file", or "" when nothing is known.
  ESPALIER_API std::string text() const;
};

/// Placement of a child frame in its parent: the child's origin and fixed-axis roll-pitch-yaw, as
/// in URDF.
struct Pose {
  Vec3<double> xyz{0, 0, 0};  ///< [m]
  Vec3<double> rpy{0, 0, 0};  ///< [rad]

  /// Plücker transform from the parent to the child frame.
  ESPALIER_API Transform<double> transform() const;
  /// The pose with the same transform; roll-pitch-yaw in their principal ranges.
  ESPALIER_API static Pose from(const Transform<double>& X);
  ESPALIER_API bool operator==(const Pose& other) const;
};

/// Mass properties of a link.
struct Inertial {
  Pose origin;                        ///< frame of the inertia at the centre of mass, in the link
  double mass = 0.0;                  ///< [kg]
  Sym3<double> I{0, 0, 0, 0, 0, 0};  ///< about the centre of mass, axes of `origin` [kg·m²]

  /// The same as ten numbers about the link's origin, link axes.
  ESPALIER_API RigidInertia<double> about_link() const;
};

struct LinkDescription {
  std::string name;
  std::optional<Inertial> inertial;  ///< none: massless
  SourceLocation where;
};

/// Named numbers of a joint or sub-mechanism ("pitch", "axis2", "ratio", ...).
using Parameters = std::map<std::string, std::vector<double>>;

struct Limits {
  std::optional<double> lower, upper;  ///< position [rad or m]
  std::optional<double> velocity;      ///< [rad/s or m/s]
  std::optional<double> effort;        ///< [N·m or N]
};

/// Passive forces of a joint; they act only where they are asked for.
struct PassiveDynamics {
  double damping = 0.0;    ///< tau -= damping v [N·m·s/rad or N·s/m]
  double friction = 0.0;   ///< tau -= friction sign(v) [N·m or N]
  double stiffness = 0.0;  ///< tau -= stiffness (q - rest) [N·m/rad or N/m]
  double rest = 0.0;       ///< [rad or m]
};

/// q = multiplier q(joint) + offset.
struct Mimic {
  std::string joint;
  double multiplier = 1.0;
  double offset = 0.0;
};

struct JointDescription {
  std::string name;
  std::string type;           ///< name of a registered joint type
  std::string parent, child;  ///< links
  Pose origin;                ///< joint frame (and child link frame at q = neutral) in the parent
  Vec3<double> axis{1, 0, 0};
  Parameters parameters;
  Limits limits;
  PassiveDynamics passive;
  double armature = 0.0;  ///< inertia added on the joint's own rates [kg·m² or kg]
  std::optional<Mimic> mimic;
  std::optional<bool> independent;  ///< whether its rates are among the independent ones
  SourceLocation where;
};

/// A joint that closes a kinematic loop: never part of the spanning tree.
struct LoopDescription {
  std::string name;
  std::string type;  ///< name of a registered joint type
  std::string predecessor, successor;
  Pose predecessor_origin, successor_origin;  ///< the two frames that the joint connects
  Vec3<double> axis{1, 0, 0};                 ///< in the predecessor's frame
  Parameters parameters;
  SourceLocation where;
};

/// ratio * (sum of q from the nearest common ancestor to the predecessor) = (sum of q from it to
/// the successor).
struct CouplingDescription {
  std::string name;
  std::string predecessor, successor;  ///< links
  double ratio = 1.0;
  SourceLocation where;
};

/// A law between the positions of joints of one rate, by the name of its registered type.
struct LawDescription {
  std::string name;
  std::string type;                 ///< name of a registered law
  std::vector<std::string> joints;  ///< in the order of the law's positions
  Parameters parameters;
  SourceLocation where;
};

/// A robot as it was read. One link, the root, is no joint's child: it is the ground, or hangs on
/// a floating joint if so asked at compile time.
struct Description {
  std::string name;
  Vec3<double> gravity{0, 0, -9.81};  ///< [m/s²], world axes
  std::vector<LinkDescription> links;
  std::vector<JointDescription> joints;
  std::vector<LoopDescription> loops;
  std::vector<CouplingDescription> couplings;
  std::vector<LawDescription> laws;
  SourceLocation where;
};

}  // namespace espalier
