#pragma once

#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "espalier/kernel/model/motion/spanning_motion.hpp"
#include "espalier/kernel/problems/algorithm.hpp"
#include "espalier/kernel/problems/setup.hpp"

namespace espalier {

/// The equations of motion and the sensors as one sparse linear system over everything that moves
/// and pushes a robot at one state,
///   [D] d = [-b          ]
///   [C]     [y - offset  ].
/// Unknowns d, in this order, with folded rotors as the bodies that they are:
///   a_i    spatial acceleration of each body less gravity, body frame
///   f_i    wrench that each body's joint transmits to it, body frame, about its origin
///   qdd    accelerations of all spanning rates
///   tau    torques of the motors: of joints that are driven (see Sensor)
///   fx     external wrench on each link that a sensor or contact stands on, link frame
///   lambda multipliers of the constraints of clusters
/// Equations D d + b = 0:
///   (a_i)   -a_i + X_i a_parent + S_i qdd_i + [v_i × S_i qd_i + (dS_i/dt) qd_i]           = 0
///   (f_i)   -f_i + I_i a_i + sum of X_j^T f_j - sum of X_l^T fx_l - W_i lambda
///           + [v_i ×* I_i v_i]                                                              = 0
///   (tau_i) S_i^T f_i + armature qdd_i - K_i^T lambda - tau_i                              = 0
///   (loops) K qdd - [k]                                                                     = 0
/// Constraint forces of loop joints act as wrenches W_i on their two bodies, those of couplings and
/// laws as torques K_i^T. Joints that bring equations of their own (elastic beams) add theirs to
/// the rows (f) of the body they stand on and to their rows (tau). Where a loop has more
/// constraints than it needs, the rest bears nothing.
/// The pattern holds every entry that is not zero at some position; update() writes values only.
/// Source: Nori (2017), eqs 4-12; theory/sparse 6; Featherstone (2008), section 8.2.
class ESPALIER_API SensorSystem {
 public:
  /// @param model    outlives this
  /// @param sensors  at least one, where anything moves
  /// @throws Unsupported for gyroscopes on fixed bases; UnknownName for joints and links;
  ///         InvalidModel for sensors that cannot be what they are; DuplicateName; SizeMismatch for
  ///         no sensors, and for covariances
  SensorSystem(const Model& model, const std::vector<Sensor>& sensors);
  SensorSystem(const SensorSystem&) = delete;
  SensorSystem& operator=(const SensorSystem&) = delete;

  /// Size of d.
  int unknowns() const { return static_cast<int>(unknown_names_.size()); }
  int model_rows() const { return model_rows_; }  ///< equations of motion and of loops
  /// Equations of the sensors.
  int sensor_rows() const { return static_cast<int>(measured_.size()); }
  int rows() const { return model_rows_ + sensor_rows(); }  ///< equations in all
  /// As many equations as unknowns.
  bool square() const { return rows() == unknowns(); }
  /// Numbers that all sensors measure, gyroscope included.
  int measurements() const { return static_cast<int>(measurement_names_.size()); }

  // The matrix, compressed columns; rows of a column ascend. Rows of the model come first.
  const std::vector<int>& column_start() const { return column_start_; }  ///< one more than columns
  const std::vector<int>& row_index() const { return row_index_; }        ///< by entry
  const std::vector<double>& values() const { return values_; }           ///< likewise
  const std::vector<double>& right_side() const { return rhs_; }          ///< by row
  /// Writes values and right side. Allocates nothing.
  /// @param q, v      as in ForwardDynamics
  /// @param y         measured values, size measurements(); nullptr: zeros
  /// @param gravity   world axes [m/s²]
  /// @param wrenches  external wrenches that are known besides, or nullptr
  void update(const double* q, const double* v, const double* y, const Vec3<double>& gravity,
              const Wrenches<double>* wrenches);

  /// What sensors measure where a state says so: torques and accelerations of joints with
  /// independent rates from tau and vdot, either of which may be empty; all else zero.
  /// @throws SizeMismatch
  std::vector<double> measurements_of(In<double> tau, In<double> vdot) const;

  /// What the sensors measure, without noise, of a robot that moves and is pushed as d says, at the
  /// state of the last update. @param d  size unknowns()  @returns size measurements()
  std::vector<double> predict(const double* d) const;

  /// Noise of the sensors' rows: square blocks on the diagonal, row-major.
  struct Covariance {
    int first = 0;               ///< sensor row
    int size = 0;                ///< rows
    std::vector<double> values;  ///< size x size
  };
  const std::vector<Covariance>& covariance() const { return covariance_; }  ///< all blocks

  // Where unknowns stand.
  int acceleration(int body) const { return 6 * (body - 1); }            ///< six unknowns
  int joint_wrench(int body) const { return 6 * (bodies_ + body - 1); }  ///< six unknowns
  int qdd(int rate) const { return 12 * bodies_ + rate; }                ///< of a spanning rate
  int torque(int rate) const { return torque_[rate]; }                   ///< -1: not driven, zero
  /// A link on which an unknown external wrench acts.
  struct Contact {
    std::string link;     ///< its name
    int body = 0;         ///< whose part it is
    Transform<double> X;  ///< from the body's frame to the link's
    int first = 0;        ///< unknown
  };
  const std::vector<Contact>& contacts() const { return contacts_; }  ///< in the order of unknowns
  int multipliers() const { return first_multiplier_; }  ///< the first; they are the last unknowns
  /// A joint that closes a loop. Its wrench on its successor is the sum of multiplier times unit.
  struct Loop {
    std::string name;                 ///< of the joint
    std::vector<int> multiplier;      ///< by row; -1: bears nothing
    std::vector<Force<double>> unit;  ///< by row, at the last update, in the loop's frame there
  };
  const std::vector<Loop>& loops() const { return loops_; }  ///< of the model, in its order

  // Where equations stand.
  int acceleration_row(int body) const { return 6 * (body - 1); }     ///< the first of rows (a)
  int force_row(int body) const { return 6 * (bodies_ + body - 1); }  ///< the first of rows (f)
  int torque_row(int rate) const { return 12 * bodies_ + rate; }      ///< of rows (tau)
  /// Of a loop's equation.
  int constraint_row(int multiplier) const { return torque_row(model_.spanning_nv()) + multiplier; }
  /// The sensor row that measures one unknown alone, or -1.
  int direct_row(int unknown) const { return direct_row_[unknown]; }
  /// Of couplings: the dependent rate that a multiplier stands for, with coefficient 1; else -1.
  int coupled_rate(int multiplier) const { return coupled_rate_[multiplier]; }
  /// Multipliers of a cluster: first and how many.
  std::pair<int, int> multipliers_of(int cluster) const { return multipliers_of_[cluster]; }

  /// Names of what told() tells.
  const std::vector<std::string>& unknown_names() const { return unknown_names_; }
  /// An unknown as people read it: accelerations of bodies and wrenches of joints in the axes of
  /// the body's link (Model::body_names()), where the system has the body's own axes.
  struct Told {
    int first = 0;                   ///< of the unknowns that it is a combination of
    int count = 1;                   ///< of these
    std::array<double, 6> row{1.0};  ///< factors of these
  };
  const Told& told(int unknown) const { return told_[unknown]; }  ///< by unknown_names()
  /// Its value where the unknowns are d.
  double told(int unknown, const double* d) const {
    const Told& t = told_[unknown];
    double sum = 0.0;
    for (int k = 0; k < t.count; ++k) sum += t.row[k] * d[t.first + k];
    return sum;
  }
  /// From a body's frame to that of its link, which gives the body its name.
  const Transform<double>& to_link(int body) const { return to_link_[body]; }
  /// Of measured values: "name", or "name[fz]" where a sensor has several rows.
  const std::vector<std::string>& measurement_names() const { return measurement_names_; }
  /// Of the sensors' rows: without the gyroscope's.
  const std::string& sensor_row_name(int row) const { return measurement_names_[measured_[row]]; }
  /// A text of everything that the pattern depends on: the same for the same robot and sensors.
  const std::string& fingerprint() const { return fingerprint_; }

  const Model& model() const { return model_; }  ///< the robot
  /// Independent rates of the last update: the state's, or what the gyroscope makes of them.
  const double* velocity() const { return v_.data(); }
  /// Gravity in the frame of a body at the last update [m/s²].
  const Vec3<double>& gravity_on(int body) const { return gravity_on_[body]; }

  /// An assembled position for sampling: neutral moved at random, loops closed where they can be.
  std::vector<double> sample_position(unsigned long long seed) const;

 private:
  /// One row of a sensor that is a product with six unknowns, or with one.
  struct Reading {
    Sensor::Kind kind = Sensor::Kind::torque;
    int body = 0;                ///< whose unknowns it reads
    int unknown = 0;             ///< the only one, or the first of six
    bool through_joint = false;  ///< a joint's wrench seen from the parent's side
    int count = 1;
    double row[6] = {};  ///< multiplies the six unknowns; from the parent's side: X_i row
    // Accelerometers: offset row · (0; w × v) at the sensor.
    Transform<double> X;  ///< from body to sensor
    Sensor::Row in_sensor{};
  };
  struct Gyroscope {
    int body = 0, base = 0;  ///< base: the floating body
    int rate = 0;            ///< the first of its rates among the independent ones
    int first = 0;           ///< measurement
    Transform<double> X;
  };
  /// A cluster whose constraint depends on the position.
  struct ClusterRows {
    int cluster = 0;
    int first_loop = 0;           ///< of its loops among loops()
    std::vector<int> multiplier;  ///< per row of the constraint; -1: says what others say
    std::vector<bool> named;      ///< rows of couplings and laws x columns: which they speak of
  };

  // What the constructor consists of.
  void declare(const std::vector<Sensor>& sensors);
  void choose_constraint_rows();
  std::vector<bool> needed_rows(const Cluster& cluster) const;
  void add_constraint(int cluster, int& next);
  void number_unknowns();
  void tell_in_link_axes();
  void read(const Sensor& sensor);
  void read_rates(const Sensor& sensor);
  void read_contact(const Sensor& sensor);
  void read_motion(const Sensor& sensor);
  void read_joint_wrench(const Sensor& sensor);
  void read_gyroscope(const Sensor& sensor);
  void add_rows(const Sensor& sensor, const std::vector<Reading>& readings,
                const std::vector<std::string>& components);
  void add_names(const Sensor& sensor, const std::vector<std::string>& components);
  void record_pattern();
  void write_fingerprint();
  std::vector<int> rates_of(const Sensor& sensor) const;
  const Link& link_of(const Sensor& sensor) const;

  // What update() consists of.
  void apply_gyroscope(const double* q, const double* y);
  void write_bodies(const Vec3<double>& gravity, const Wrenches<double>* wrenches);
  void write_own_equations(const double* q);
  void write_constraints(const double* q);
  void write_loops(const Cluster& cluster, Loop* loops);
  void write_sensors(const double* y);
  void put(int row, int column, double value, bool always = false);
  Transform<double> from_output(const Cluster& cluster, int body) const;
  void put_wrench(const Cluster& cluster, int body, int unknown, const Vec3<double>& x,
                  const Vec3<double>& couple, const Vec3<double>& force);
  Motion<double> column(const Body& body, int k) const;

  const Model& model_;
  SpanningMotion<double> motion_;
  int bodies_ = 0, model_rows_ = 0, first_multiplier_ = 0;
  std::vector<bool> driven_;  ///< per spanning rate
  std::vector<int> torque_;
  std::vector<Contact> contacts_;
  std::vector<ClusterRows> clusters_;
  ConstraintWorkspace<double> work_;  ///< of one cluster after the other
  std::vector<std::pair<int, int>> multipliers_of_;
  std::vector<std::string> multiplier_names_;
  std::vector<Loop> loops_;
  std::vector<int> coupled_rate_, direct_row_;
  std::vector<Reading> readings_;  ///< per sensor row
  std::vector<int> measured_;      ///< measurement of each sensor row
  std::vector<Covariance> covariance_;
  std::vector<Gyroscope> gyroscope_;  ///< none or one
  std::vector<std::string> unknown_names_, measurement_names_;
  std::vector<Told> told_;                  ///< by unknown
  std::vector<Transform<double>> to_link_;  ///< by body
  std::string fingerprint_;

  std::vector<double> v_;
  std::vector<Motion<double>> velocity_;  ///< per body
  std::vector<Vec3<double>> gravity_on_;
  std::vector<Transform<double>> from_output_;  ///< per body: from its cluster's output body
  std::vector<double> own_M_, own_h_;           ///< of a joint with equations of its own

  // put() is called in the same order at every update: its k-th call writes to slot_[k].
  std::vector<int> column_start_, row_index_, slot_;
  std::vector<double> values_, rhs_;
  std::vector<double> offset_;  ///< by sensor row: what it measures besides C d
  std::size_t next_ = 0;
  double missed_ = 0.0, largest_ = 1.0;  ///< values outside of the pattern; of its samples
  struct Recorded {
    int row, column;
    double largest;
  };
  std::vector<Recorded>* recording_ = nullptr;
};

}  // namespace espalier
