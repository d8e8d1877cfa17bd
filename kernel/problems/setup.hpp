#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "espalier/kernel/export.hpp"
#include "espalier/kernel/model/model.hpp"

/// What an algorithm is bound to: the model, and what some problems need besides, by name.

namespace espalier {

/// Where a robot is constrained or controlled: rows that speak of the twist of a point fixed in a
/// link. A row is six numbers, angular first, that multiply the twist: its value is the row of the
/// task's velocity J v, and as a wrench it is the row of J^T.
struct EndEffector {
  /// What rows are fixed in.
  enum class Axes {
    link,  ///< rows are fixed in the link's axes; their rates are components of the spatial
           ///< acceleration of the point's frame
    world  ///< rows are fixed in world axes; their rates are components of the angular and of the
           ///< point's ordinary acceleration
  };
  using Row = std::array<double, 6>;  ///< angular, then linear

  std::string link;              ///< that it is a point of
  Vec3<double> offset{0, 0, 0};  ///< of the point from the link's origin, link axes [m]
  std::vector<Row> rows;         ///< one or more
  Axes axes = Axes::link;        ///< of the rows

  /// All six components of the point's twist ("6d").
  ESPALIER_API static EndEffector weld(std::string_view link,
                                       const Vec3<double>& offset = {0, 0, 0},
                                       Axes axes = Axes::link);
  /// The three components of the point's velocity ("3d").
  ESPALIER_API static EndEffector contact(std::string_view link,
                                          const Vec3<double>& offset = {0, 0, 0},
                                          Axes axes = Axes::world);
};

/// A weld on every link that moves and that no other link hangs on, at the link's origin: what
/// tools take where nobody says which end-effectors a robot has.
ESPALIER_API std::vector<EndEffector> tips(const Model& model);

/// Something that is known or measured. A list of sensors says all that is known besides the state
/// and the equations of motion. What nobody lists is as follows:
///   - a link on which no sensor of an external wrench or contact stands is touched by nothing;
///   - free joints, and joints that depend on others, have no motor: their torque is zero. A sensor
///     of their torque or `motor` gives them one. All other joints have a motor of unknown torque.
struct ESPALIER_API Sensor {
  /// What is known.
  enum class Kind {
    acceleration,   ///< of a joint's rates [rad/s², m/s²]
    torque,         ///< of a joint's motor [N·m, N]; in loops: what the motor gives, without
                    ///< what the constraints add
    wrench,         ///< all or some components of the external wrench on a link [N·m, N]
    joint_wrench,   ///< of what a joint transmits to its child [N·m, N]
    accelerometer,  ///< proper acceleration of a point: what it has besides falling [m/s²]
    angular_acceleration,  ///< of a link against the world [rad/s²]
    gyroscope,  ///< angular velocity of a link [rad/s]. Velocity belongs to the state, so it says
                ///< nothing of accelerations or forces: it replaces the angular velocity that the
                ///< state has for the floating base. One at most, of three components
    motor,      ///< measures nothing: says that a motor of unknown torque drives the joint
    contact     ///< measures nothing: says that an unknown wrench acts on the link
  };
  /// Six numbers that multiply moment and force, or angular and linear acceleration.
  using Row = std::array<double, 6>;

  Kind kind = Kind::torque;  ///< what it measures
  std::string name = {};     ///< empty: made of kind and place
  /// Of acceleration, torque, joint_wrench and motor: "joint", or "joint[k]" for one of its rates.
  std::string joint = {};
  /// That the sensor is fixed in. Of joint_wrench: one on either side of the joint; empty: the
  /// child.
  std::string link = {};
  Pose frame = {};             ///< of the sensor in its link
  std::vector<Row> rows = {};  ///< that it measures, sensor axes; empty: all of its kind
  /// Of its noise: empty: 1 for each row; one number: for each row; a number for each row; or all
  /// rows x rows, row-major. Zero: exact.
  std::vector<double> covariance = {};

  /// @throws UnknownName listing the known kinds
  static Kind kind_of(std::string_view name);
  /// The row of a component: "mx", "my", "mz", "fx", "fy", "fz", and of accelerations "wx", "wy",
  /// "wz", "ax", "ay", "az". @throws UnknownName
  static Row row_of(std::string_view component);
  /// name, or what takes its place: "torque of knee", "wrench on l_foot".
  std::string label() const;
};

/// "acceleration", "joint-wrench", ...
ESPALIER_API std::string_view to_string(Sensor::Kind kind);
/// All of them.
ESPALIER_API const std::vector<Sensor::Kind>& sensor_kinds();

/// Torques of all joints with independent rates, free ones included: forward dynamics.
ESPALIER_API std::vector<Sensor> forward_sensors(const Model& model);
/// Accelerations of all joints with independent rates, which are all driven: inverse dynamics.
ESPALIER_API std::vector<Sensor> inverse_sensors(const Model& model);
/// Accelerations of the joints named, torques of the others: hybrid dynamics.
/// @throws UnknownName; InvalidModel for joints of which other joints decide
ESPALIER_API std::vector<Sensor> hybrid_sensors(const Model& model,
                                                const std::vector<std::string>& accelerated);

/// Something that acts on a robot: a motor on a joint, or forces at a point of a link.
struct Input {
  std::string name = {};     ///< of its columns; empty: that of the joint or link
  std::string joint = {};    ///< any joint of the spanning tree, dependent ones too: one column for
                             ///< each of its rates; if empty, the next acts
  EndEffector contact = {};  ///< one column for each row: the wrench that the row is
};

/// Bodies that form a subsystem in the sense of Bremer, by the joints that they hang on.
struct SubsystemGroup {
  std::string name;                 ///< of the subsystem
  std::vector<std::string> joints;  ///< that its bodies hang on
};

/// What an algorithm is bound to. Problems that need more than a model have their members here.
struct Setup {
  ModelPtr model;                               ///< of every problem
  std::vector<EndEffector> end_effectors = {};  ///< of operational-space problems
  std::vector<Input> inputs = {};               ///< of the input matrix
  std::vector<SubsystemGroup> groups = {};      ///< of Bremer's method; others are single clusters
  std::vector<Sensor> sensors = {};             ///< of dynamics from sensors
  std::string symbolic = {};  ///< SensorDynamics::symbolic() of an earlier run, or empty
};

}  // namespace espalier
