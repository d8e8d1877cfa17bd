#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "espalier/kernel/export.hpp"
#include "espalier/kernel/model/geometry.hpp"
#include "espalier/kernel/model/joint_properties.hpp"
#include "espalier/kernel/spatial/inertia.hpp"

/// A robot as it was read: names, frames and numbers in the file's own terms, nothing derived.
/// Formats fill a Description; Model::compile turns it into what is computed on.

namespace espalier {

namespace graph {
class SubsystemGraph;
}

/// Mass properties of a link.
struct Inertial {
  Pose origin;                       ///< frame of the inertia at the centre of mass, in the link
  double mass = 0.0;                 ///< [kg]
  Sym3<double> I{0, 0, 0, 0, 0, 0};  ///< xx xy xz yy yz zz about it, axes of `origin` [kg·m²]

  /// The same as ten numbers about the link's origin, link axes.
  ESPALIER_API RigidInertia<double> about_link() const;
};
/// A link as it was read.
struct LinkDescription {
  std::string name;                                       ///< of the link
  std::optional<Inertial> inertial;                       ///< none: massless
  SourceLocation where;                                   ///< in the file
  std::vector<ShapeDescription> visuals{}, collisions{};  ///< touched
  std::vector<FrameDescription> frames{};                 ///< named frames: sites, sensors
};

/// q = multiplier q(joint) + offset.
struct Mimic {
  std::string joint;        ///< the other joint
  double multiplier = 1.0;  ///< how many times its position
  double offset = 0.0;      ///< beside it [rad or m]
};
/// A joint as it was read.
struct JointDescription {
  std::string name;            ///< of the joint
  std::string type;            ///< name of a registered joint type
  std::string parent, child;   ///< link
  Pose origin;                 ///< joint frame (and child link frame at q = neutral) in the parent
  Vec3<double> axis{1, 0, 0};  ///< in the joint frame; any length but 0
  Parameters parameters;       ///< of its type
  Limits limits;               ///< of its position, rate and force
  PassiveDynamics passive;     ///< damping, friction, spring
  double armature = 0.0;       ///< inertia added on the joint's own rates [kg·m² or kg]
  std::optional<Mimic> mimic;  ///< what it follows
  std::optional<bool> independent;  ///< whether its rates are among the independent ones
  SourceLocation where;             ///< in the file
};

/// A joint that closes a kinematic loop: never part of the spanning tree.
struct LoopDescription {
  std::string name;                           ///< of the loop
  std::string type;                           ///< name of a registered joint type
  std::string predecessor, successor;         ///< link
  Pose predecessor_origin, successor_origin;  ///< frame in the link
  Vec3<double> axis{1, 0, 0};                 ///< in the predecessor's frame
  Parameters parameters;                      ///< of its type
  SourceLocation where;                       ///< in the file
};

/// ratio * (sum of q from the nearest common ancestor to the predecessor) = (sum of q from it to
/// the successor).
struct CouplingDescription {
  std::string name;                    ///< of the coupling
  std::string predecessor, successor;  ///< link
  double ratio = 1.0;                  ///< see above
  SourceLocation where;                ///< in the file
};

/// A law between the positions of joints of one rate, by the name of its registered type.
struct LawDescription {
  std::string name;                 ///< of the law
  std::string type;                 ///< name of a registered law
  std::vector<std::string> joints;  ///< in the order of the law's positions
  Parameters parameters;            ///< of its type
  SourceLocation where;             ///< in the file
};

/// A state by name: positions and spanning rates of joints, each as long as its joint's. Joints
/// that are not named are neutral and at rest.
struct NamedState {
  std::string name;                                                  ///< of the state
  std::map<std::string, std::vector<double>> positions, velocities;  ///< by joint
  SourceLocation where;                                              ///< in the file
};

/// An input: a force on the rates of joints, in proportion to one number.
struct ActuatorDescription {
  std::string name;                                 ///< of the input
  std::map<std::string, std::vector<double>> gear;  ///< force per unit input, for each rate
  std::optional<double> lower, upper;               ///< bound of the input
  SourceLocation where;                             ///< in the file
};

/// Two links, or two shapes, by name.
struct PairDescription {
  std::string first, second;  ///< name
  SourceLocation where;       ///< in the file
};

/// Something that the reader of a file or the model doctor found.
struct Finding {
  enum class Severity { error, warning };
  Severity severity = Severity::error;  ///< how bad it is
  std::string text;                     ///< who, what is, what was expected and what to do
  std::string where;                    ///< file:line
  /// For errors: whether `CompileOptions::lenient` makes a warning of it. For warnings: whether
  /// `strict` makes an error of it.
  bool negotiable = false;
};

/// A robot as it was read. One link, the root, is no joint's child: it is the ground, or hangs on
/// a floating joint if so asked at compile time.
struct Description {
  std::string name;                   ///< of the robot
  Vec3<double> gravity{0, 0, -9.81};  ///< [m/s²], world axes
  /// Whether the root link floats, where the file says so; CompileOptions::root says otherwise.
  std::optional<bool> floating;
  std::vector<LinkDescription> links;          ///< the root among them
  std::vector<JointDescription> joints;        ///< of the spanning tree
  std::vector<LoopDescription> loops;          ///< joints that close loops
  std::vector<CouplingDescription> couplings;  ///< gears and belts
  std::vector<LawDescription> laws;            ///< between positions of joints
  /// How the file composes the robot of subsystems; null: it does not.
  std::shared_ptr<const graph::SubsystemGraph> subsystems;
  std::vector<NamedState> states;                  ///< named states of the file
  std::vector<ActuatorDescription> actuators;      ///< inputs
  std::vector<PairDescription> excluded_contacts;  ///< of links that may pass through each other
  std::vector<PairDescription> contact_pairs;      ///< of collision shapes that touch all the same
  std::vector<Finding> findings;                   ///< what the file says and this does not
  SourceLocation where;                            ///< the file
};

}  // namespace espalier
